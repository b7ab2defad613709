package host

import (
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// All pages of the memory are in place afterwards, also those of a last piece that is no whole page.
func TestPopulate(t *testing.T) {
	page := os.Getpagesize()
	const pages = 2100
	memory, err := unix.Mmap(-1, 0, pages*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(memory) }()
	Populate(memory[:len(memory)-page/2])
	in := make([]byte, pages)
	if _, _, e := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&memory[0])), uintptr(len(memory)), uintptr(unsafe.Pointer(&in[0]))); e != 0 {
		t.Fatal(e)
	}
	for i, there := range in {
		if there&1 == 0 {
			t.Fatalf("page %d of %d is not in place", i, pages)
		}
	}
}
