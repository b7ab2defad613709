package main

import "syscall"

// endingWithThis returns the attributes of a process that is killed when the thread that starts it ends.
func endingWithThis() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
