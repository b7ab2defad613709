//go:build cgo && linux

package native

// moreWaits are the system calls that only this processor has.
var moreWaits map[int]struct {
	name string
	file bool
}
