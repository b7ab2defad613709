//go:build !amd64 && !arm64

package lp

func descriptor() uintptr { return 0 }

func prefetch(_, _, _, _, _ uintptr) {}

func prefetchEnds(_, _ uintptr) {}
