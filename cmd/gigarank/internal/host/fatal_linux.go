package host

import (
	"os"
	"runtime/debug"
	"syscall"
	"unsafe"

	"gigarank/cmd/gigarank/internal/terminal"
)

// overrideWrite is the runtime's hook for texts that it writes by itself, such as the report of a
// fatal error. Its results are those of the system call: the bytes written or −errno. The
// linker sets it, so that it holds before the runtime is ready.
//
//go:linkname overrideWrite runtime.overrideWrite
var overrideWrite func(fd uintptr, p unsafe.Pointer, n int32) int32 = writeFatal

// fatalStage is the part of a report of the runtime that is being written.
var fatalStage = starting

const (
	starting  = iota // the process lacks memory or threads to begin
	reporting        // it is the runtime's matter
	ending           // it ends the process with exit code 3
)

// Package main is initialised last.
func init() { fatalStage = reporting }

// ExitOnFatalErrors makes a fatal error of the runtime end the process with exit code 3. Such
// an error cannot be recovered from: no memory, no stack, a panic. The runtime itself ends
// with 2, which stands for wrong usage. It reports the stack of the failing goroutine, unless memory has
// run out. The stacks of the others are left out, since there may be one for each rank.
//
// A user who has set GOTRACEBACK gets the runtime's own report, core dump and exit code.
func ExitOnFatalErrors() {
	if os.Getenv("GOTRACEBACK") != "" {
		return
	}
	debug.SetTraceback("system") // so that further goroutines follow the failing one
	fatalStage = ending
}

// The state of a report. The runtime prints under a lock, and nothing else uses it.
var (
	fatalStacks int  // that have begun
	fatalAsked  bool // the report is one that SIGQUIT asks for
	fatalTold   bool // the runtime has begun to tell why
	fatalMemory bool // memory is why: the runtime may lack it for a report, too
)

const (
	stackBegins = "goroutine "
	quitBegins  = "SIGQUIT: "
	fatalBegins = "fatal error: "
	ownBegins   = "runtime stack:"

	afterFatal = "gigarank: the process has failed, as the lines above say. If its memory ran out, use fewer ranks, " +
		"a smaller --payload, --lp event if the program has it, or more hosts. Else please report it as a fault of gigarank."
)

const (
	neverBegan = "gigarank: the process has not begun, as the lines above say: it lacks memory or threads."
	noLimits   = " See the limits of ulimit and of the job.\n"
	noMore     = "\n"
	limited    = " ulimit -v limits its addresses to "
	raised     = " MB. Most of those that it reserves it never uses: raise the limit to 4000 MB, and limit memory by a control group.\n"
	high       = " MB. Most of those that it reserves it never uses: raise the limit, or limit memory by a control group instead.\n"
)

// writeFatal writes for the runtime. At the second stack of a report it ends the process,
// and at the first while the process starts: there is no other. Where memory has run out, it ends the process before the stacks.
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
		begins := startsWith(p, n, stackBegins)
		if startsWith(p, n, fatalBegins) {
			fatalTold = true
		} else if fatalTold {
			fatalTold, fatalMemory = false, contains(p, n, "memory")
		} else if fatalMemory && fatalStage != reporting {
			if fatalStage == starting {
				writeText("\n" + neverBegan)
				writeAddressLimit(noLimits)
			} else {
				writeText("\n" + afterFatal)
				writeAddressLimit(noMore)
			}
			exitRaw()
		}
		switch {
		case fatalStage == starting && (begins || startsWith(p, n, ownBegins) || startsWith(p, n, "\n"+ownBegins)):
			writeText(neverBegan)
			writeAddressLimit(noLimits)
			exitRaw()
		case fatalStage == ending && begins && !fatalAsked:
			if fatalStacks++; fatalStacks > 1 {
				writeText(afterFatal)
				writeAddressLimit(noMore)
				exitRaw()
			}
		}
	}
	written, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(p), uintptr(n))
	if errno != 0 {
		return -int32(errno)
	}
	return int32(written)
}

// writeText writes a text to standard error.
//
//go:nosplit
//go:norace
//go:nocheckptr
func writeText(text string) {
	_, _, _ = syscall.RawSyscall(syscall.SYS_WRITE, 2, uintptr(unsafe.Pointer(unsafe.StringData(text))), uintptr(len(text)))
}

// exitRaw ends the process with exit code 3.
//
//go:nosplit
//go:norace
func exitRaw() { _, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, terminal.ExitHost, 0, 0) }

// addressLimit and limitDigits are the memory of writeAddressLimit.
var (
	addressLimit syscall.Rlimit
	limitDigits  [20]byte
)

// writeAddressLimit ends a line with the limit of addresses, or with another text if there is
// none.
//
//go:nosplit
//go:norace
//go:nocheckptr
func writeAddressLimit(none string) {
	const most = 1 << 60
	_, _, errno := syscall.RawSyscall(syscall.SYS_GETRLIMIT, syscall.RLIMIT_AS, uintptr(unsafe.Pointer(&addressLimit)), 0)
	if errno != 0 || addressLimit.Cur > most {
		writeText(none)
		return
	}
	writeText(limited)
	first := len(limitDigits)
	for rest := addressLimit.Cur / 1e6; rest > 0 || first == len(limitDigits); rest /= 10 {
		first--
		limitDigits[first] = byte('0' + rest%10)
	}
	_, _, _ = syscall.RawSyscall(syscall.SYS_WRITE, 2, uintptr(unsafe.Pointer(&limitDigits[first])), uintptr(len(limitDigits)-first))
	if addressLimit.Cur >= 4000e6 {
		writeText(high)
		return
	}
	writeText(raised)
}

// contains reports whether n bytes at p contain a text.
//
//go:nosplit
//go:norace
//go:nocheckptr
func contains(p unsafe.Pointer, n int32, text string) bool {
	for i := range n {
		if startsWith(unsafe.Add(p, i), n-i, text) {
			return true
		}
	}
	return false
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
