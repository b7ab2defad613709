package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// endWithParent sends this process SIGTERM when the one that has started it ends, in whatever way.
func endWithParent() error {
	return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGTERM), 0, 0, 0)
}

// endingWithThis returns the attributes of a process that leads a group of its own and is sent
// SIGTERM when the thread that starts it ends.
func endingWithThis() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
