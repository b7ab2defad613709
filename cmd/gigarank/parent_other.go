//go:build !linux

package main

import "syscall"

// endingWithThis returns the usual attributes of a process.
func endingWithThis() *syscall.SysProcAttr { return nil }
