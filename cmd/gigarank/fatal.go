package main

import (
	"os"
	"runtime/debug"
	"syscall"
	"unsafe"
)

// overrideWrite is the runtime's hook for what it writes by itself, such as the report of a
// fatal error. Its results are those of the system call: the bytes written or −errno.
//
//go:linkname overrideWrite runtime.overrideWrite
var overrideWrite func(fd uintptr, p unsafe.Pointer, n int32) int32

// exitOnFatalErrors makes a fatal error of the runtime end the process with exitHost. Such
// an error cannot be recovered from: no memory, no stack, a panic. The runtime itself ends
// with 2, which stands for wrong usage. It reports the stack of the failing goroutine. The
// stacks of the others are left out, since there may be one for each rank.
//
// A user who has set GOTRACEBACK gets the runtime's own report, core dump and exit code.
func exitOnFatalErrors() {
	if os.Getenv("GOTRACEBACK") != "" {
		return
	}
	debug.SetTraceback("system") // so that further goroutines follow the failing one
	overrideWrite = writeFatal
}

// The state of a report. The runtime prints under a lock, and nothing else uses it.
var (
	fatalStacks int  // that have begun
	fatalAsked  bool // the report is one that SIGQUIT asks for
)

const (
	stackBegins = "goroutine "
	quitBegins  = "SIGQUIT: "

	afterFatal = "gigarank: the process has failed, as the lines above say. If its memory ran out, use fewer ranks, " +
		"a smaller --payload, --lp event if the program has it, or more hosts. Else please report it as a fault of gigarank.\n"
)

// writeFatal writes for the runtime. At the second stack of a report it ends the process.
// It may run on a signal's stack: it neither grows the stack nor allocates.
//
//go:nosplit
//go:norace
//go:nocheckptr
func writeFatal(fd uintptr, p unsafe.Pointer, n int32) int32 {
	const stderr = 2
	if fd == stderr {
		if startsWith(p, n, quitBegins) {
			fatalAsked = true
		}
		if startsWith(p, n, stackBegins) && !fatalAsked {
			if fatalStacks++; fatalStacks > 1 {
				text := afterFatal
				_, _, _ = syscall.RawSyscall(syscall.SYS_WRITE, stderr, uintptr(unsafe.Pointer(unsafe.StringData(text))), uintptr(len(text)))
				_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, exitHost, 0, 0)
			}
		}
	}
	written, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(p), uintptr(n))
	if errno != 0 {
		return -int32(errno)
	}
	return int32(written)
}

// startsWith reports whether n bytes at p begin with a text.
//
//go:nosplit
//go:norace
//go:nocheckptr
func startsWith(p unsafe.Pointer, n int32, text string) bool {
	if int(n) < len(text) {
		return false
	}
	for i := range len(text) {
		if *(*byte)(unsafe.Add(p, i)) != text[i] {
			return false
		}
	}
	return true
}
