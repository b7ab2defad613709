//go:build !linux

package host

import "syscall"

// EndingWithThis returns the usual attributes of a process.
func EndingWithThis() *syscall.SysProcAttr { return nil }
