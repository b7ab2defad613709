//go:build !race && !invariants

package main

import "syscall"

// Where the host gives huge pages without being asked, memory that nobody touches becomes resident beside what
// is touched. The processes that are measured inherit that they have none.
func init() {
	const setHugePagesDisabled = 41 // PR_SET_THP_DISABLE
	if _, _, err := syscall.RawSyscall6(syscall.SYS_PRCTL, setHugePagesDisabled, 1, 0, 0, 0, 0); err != 0 {
		panic(err)
	}
}
