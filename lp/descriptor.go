//go:build amd64 || arm64

package lp

// descriptor returns the address of the runtime's descriptor of the calling goroutine. It
// stays where it is.
func descriptor() uintptr
