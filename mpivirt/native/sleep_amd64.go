//go:build cgo && linux

package native

import "golang.org/x/sys/unix"

// moreWaits are the system calls that only this processor has.
var moreWaits = map[int]struct {
	name string
	file bool
}{
	unix.SYS_OPEN: {"open", false}, unix.SYS_POLL: {"poll", false}, unix.SYS_SELECT: {"select", false},
	unix.SYS_EPOLL_WAIT: {"epoll_wait", true}, unix.SYS_PAUSE: {"pause", false},
}
