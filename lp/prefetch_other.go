//go:build !amd64 && !arm64

package lp

func prefetch(uintptr) {}
