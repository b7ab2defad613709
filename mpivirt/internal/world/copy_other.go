//go:build !amd64 || race

package world

// copySideBySide copies nothing.
func copySideBySide(_, _ []byte) (done int) { return 0 }
