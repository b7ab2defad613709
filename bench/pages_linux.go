package bench

import (
	"encoding/binary"
	"os"
	stdsync "sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// readingTakesMemory reports whether a page takes memory once it is read, though nothing has been written to
// it. Linux has one page of zeros for all such pages, but for kernels of some virtual machines.
var readingTakesMemory = stdsync.OnceValue(func() bool {
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Munmap(page) }()
	return page[0] != 0 || isOwn(page)
})

// isOwn reports whether a page is present, and nothing else maps it: bits 63 and 56 of its entry in
// /proc/self/pagemap (Linux, Documentation/admin-guide/mm/pagemap.rst).
func isOwn(page []byte) bool {
	const present, exclusive = 1 << 63, 1 << 56
	file, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	var entry [8]byte
	if _, err := file.ReadAt(entry[:], int64(uintptr(unsafe.Pointer(unsafe.SliceData(page))))/int64(os.Getpagesize())*int64(len(entry))); err != nil {
		return false
	}
	return binary.NativeEndian.Uint64(entry[:])&(present|exclusive) == present|exclusive
}
