//go:build !linux

package host

// ExitOnFatalErrors does nothing here: a fatal error of the runtime ends the process with the
// runtime's own report and exit code.
func ExitOnFatalErrors() {}
