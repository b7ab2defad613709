//go:build !linux

package host

// Populate does nothing here: each page comes with its first touch.
func Populate([]byte) {}

// AskForHugePages does nothing here: memory stays as it is, which costs time only.
func AskForHugePages([]byte) {}
