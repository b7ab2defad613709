package cputime

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// LetRun has no thread of this process take a processor from another that runs on it before that
// one's time slice is over. Threads of Go and of MPI wake every 100 us or so. Where a process is
// bound to one processor, each of them interrupted a burst, whose time has the interruptions in it,
// and what they leave in caches. Threads made later do likewise. A thread still gets at once a
// processor where nothing runs.
//
// It also gives the Go scheduler a second place to run goroutines, if it has one only and the
// environment does not say how many. The only place is taken from a thread that computes in C, after
// 20 us, and given to another thread that looks for work, which a burst then finds there when it ends. A
// place that is left over spares that.
func LetRun() error {
	if _, set := os.LookupEnv("GOMAXPROCS"); !set && runtime.GOMAXPROCS(0) == 1 {
		runtime.GOMAXPROCS(2)
	}
	for range 2 { // a thread may have been made by one that was still to be visited
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("the threads of this process are not known: %w", err)
		}
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil {
				continue
			}
			if err := waitForTurns(id); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("thread %d of this process does not let bursts run: %w", id, err)
			}
		}
	}
	return nil
}

// waitForTurns makes a thread of the normal policy one of the batch policy, which differs in this.
func waitForTurns(thread int) error {
	a, err := unix.SchedGetAttr(thread, 0)
	if err != nil || a.Policy != unix.SCHED_NORMAL {
		return err
	}
	a.Policy = unix.SCHED_BATCH
	return unix.SchedSetAttr(thread, a, 0)
}
