package main

import "syscall"

// endWithParent sends this process SIGTERM when the one that has started it ends, in whatever way.
func endWithParent() error {
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0); errno != 0 {
		return errno
	}
	return nil
}

// endingWithThis returns the attributes of a process that leads a group of its own and is sent
// SIGTERM when the thread that starts it ends.
func endingWithThis() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
