package bench

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A page that has been written is the process's own, as one is that has been read where that takes memory.
func TestReadingTakesMemory(t *testing.T) {
	const pages = 4096
	area, err := unix.Mmap(-1, 0, pages*unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(area) }()
	if err := unix.Madvise(area, unix.MADV_NOHUGEPAGE); err != nil {
		t.Fatal(err)
	}
	if isOwn(area[:1]) {
		t.Error("a page that is not touched counts as the process's own")
	}
	before := residentPages(t)
	sum := byte(0)
	for at := 0; at < len(area); at += unix.Getpagesize() {
		sum += area[at]
	}
	if takes := residentPages(t)-before > pages/2; sum != 0 || takes != readingTakesMemory() {
		t.Errorf("reading %d pages takes memory: %v, but one: %v", pages, takes, readingTakesMemory())
	}
	area[0] = 1
	if !isOwn(area[:1]) {
		t.Error("a page that is written does not count as the process's own")
	}
}

// residentPages returns the resident memory of this process, in pages.
func residentPages(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var all, resident int
	if _, err := fmt.Sscan(string(text), &all, &resident); err != nil {
		t.Fatal(err)
	}
	return resident
}
