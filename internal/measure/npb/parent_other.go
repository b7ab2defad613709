//go:build !linux

package main

import "syscall"

// endWithParent does nothing here.
func endWithParent() error { return nil }

// endingWithThis returns the attributes of a process that leads a group of its own.
func endingWithThis() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
