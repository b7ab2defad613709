//go:build !linux

package main

// exitOnFatalErrors does nothing here: a fatal error of the runtime ends the process with the
// runtime's own report and exit code.
func exitOnFatalErrors() {}
