package host

import "syscall"

// EndingWithThis returns the attributes of a process that is killed when the thread that starts it ends.
func EndingWithThis() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
