package host

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Populate has the pages of a piece of memory in place. Linux does that in half of the time that
// a fault for each page takes; before 5.14 it cannot, and each page is written to.
func Populate(memory []byte) {
	const piece = 4 << 20 // for which the address space is locked
	for len(memory) > 0 {
		n := min(piece, len(memory))
		if unix.Madvise(memory[:n], unix.MADV_POPULATE_WRITE) != nil {
			for i := 0; i < n; i += os.Getpagesize() {
				memory[i] = 0
			}
		}
		memory = memory[n:]
	}
}

// hugePage is the size of a large page in bytes.
const hugePage = 2 << 20

// AskForHugePages asks the system to back memory by large pages. The ranks' first touch
// then faults once per 2 MiB instead of 4 KiB, and later accesses miss the translation
// cache less often. Where the system has no such pages, memory stays as it is, which
// costs time only.
func AskForHugePages(memory []byte) {
	if len(memory) < 2*hugePage {
		return
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(memory)))
	skip := -start % hugePage
	whole := (uintptr(len(memory)) - skip) / hugePage * hugePage
	_ = unix.Madvise(memory[skip:skip+whole], unix.MADV_HUGEPAGE)
}
