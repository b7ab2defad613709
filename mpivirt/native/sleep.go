//go:build cgo && linux && (amd64 || arm64)

package native

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// waits are the system calls in which a thread may wait for another rank. System calls that wait for a
// child, which goes on by itself, are left out. The first argument of some system calls is a file.
var waits = map[int]struct {
	name string
	file bool
}{
	unix.SYS_READ: {"read", true}, unix.SYS_READV: {"readv", true}, unix.SYS_PREAD64: {"pread", true},
	unix.SYS_OPENAT: {"open", false}, unix.SYS_PPOLL: {"poll", false}, unix.SYS_PSELECT6: {"select", false},
	unix.SYS_EPOLL_PWAIT: {"epoll_wait", true}, unix.SYS_FUTEX: {"a lock (futex)", false}, unix.SYS_FLOCK: {"flock", true},
	unix.SYS_FCNTL: {"fcntl", true}, unix.SYS_ACCEPT: {"accept", true}, unix.SYS_ACCEPT4: {"accept", true}, unix.SYS_CONNECT: {"connect", true},
	unix.SYS_RECVFROM: {"recv", true}, unix.SYS_RECVMSG: {"recvmsg", true}, unix.SYS_RT_SIGTIMEDWAIT: {"sigwait", false},
	unix.SYS_RT_SIGSUSPEND: {"sigsuspend", false}, unix.SYS_SEMOP: {"semop", false}, unix.SYS_MSGRCV: {"msgrcv", false},
}

// systemCall returns the fields of the system call in which a thread of this process is: number, six arguments, stack pointer,
// program counter. It returns nothing if the thread runs.
func systemCall(thread int) []string {
	state, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/syscall", thread))
	if f := strings.Fields(string(state)); err == nil && len(f) == 9 {
		return f
	}
	return nil
}

// runs reports whether a thread of this process is in no call of the system.
func runs(thread int) bool { return systemCall(thread) == nil }

// sleeps returns the system call in which a thread of this process waits, and from where the
// program has called it. It returns "" if the thread runs, or waits for the terminal or for a
// child.
func (b *body) sleeps(thread int) string {
	f := systemCall(thread)
	if f == nil {
		return ""
	}
	number, err := strconv.Atoi(f[0])
	what, known := waits[number]
	if err != nil || !known {
		what, known = moreWaits[number]
	}
	if !known {
		return ""
	}
	text := what.name
	if what.file {
		fd, err := strconv.ParseUint(f[1], 0, 64)
		if err != nil || fd == 0 {
			return ""
		}
		if name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil {
			text += " of " + name
		}
	}
	sp, err := strconv.ParseUint(f[7], 0, 64)
	if err != nil {
		return text
	}
	return text + b.caller(uintptr(sp))
}

// caller returns " in" the function of the program that the first return address on the
// running rank's stack, from sp up, lies in. The rank may go on meanwhile, and its stack be given back: the system copies
// the words, as far as there are any.
func (b *body) caller(sp uintptr) string {
	low, stack := uintptr(unsafe.Pointer(b.engine.stacks)), uintptr(b.engine.stack)
	if sp < low || sp >= low+stack*uintptr(b.stacks()) {
		return ""
	}
	var words [4096]uintptr
	const word = unsafe.Sizeof(words[0])
	top := sp + (stack - (sp-low)%stack)
	bytes := min(unsafe.Sizeof(words), top-sp)
	local := unix.Iovec{Base: (*byte)(unsafe.Pointer(&words))}
	local.SetLen(int(bytes))
	read, err := unix.ProcessVMReadv(os.Getpid(), []unix.Iovec{local}, []unix.RemoteIovec{{Base: sp, Len: int(bytes)}}, 0)
	if err != nil {
		return ""
	}
	p := b.engine.program
	for _, at := range words[:uintptr(read)/word] {
		if at >= uintptr(p.text) && at < uintptr(p.text)+uintptr(p.text_bytes) {
			return b.placeOf(b.form.path, uint64(at-uintptr(p.base))-1)
		}
	}
	return ""
}

// stacks returns the number of stacks of the engine.
func (b *body) stacks() int {
	if b.engine.copied != 0 {
		return 1
	}
	return len(b.ranks)
}
