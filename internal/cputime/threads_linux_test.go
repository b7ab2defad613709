package cputime

import (
	"os"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

func TestThreadsLetBurstsRun(t *testing.T) {
	if err := LetRun(); err != nil {
		t.Fatal(err)
	}
	made := make(chan uint32)
	go func() {
		runtime.LockOSThread() // and leaves the thread to end with the goroutine
		made <- policyOf(t, unix.Gettid())
	}()
	if p := <-made; p != unix.SCHED_BATCH {
		t.Errorf("a later thread has policy %d, want %d", p, unix.SCHED_BATCH)
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			t.Fatal(err)
		}
		if p := policyOf(t, id); p != unix.SCHED_BATCH && p != 0 { // 0: it has ended
			t.Errorf("thread %d has policy %d, want %d", id, p, unix.SCHED_BATCH)
		}
	}
}

// policyOf returns the policy of a thread, 0 if it has ended.
func policyOf(t *testing.T, thread int) uint32 {
	a, err := unix.SchedGetAttr(thread, 0)
	if err == unix.ESRCH {
		return 0
	}
	if err != nil {
		t.Error(err)
		return 0
	}
	return a.Policy
}

// A Go scheduler with a single place to run goroutines gets a second one, and one with more is left as it is.
func TestThreadsHaveASparePlace(t *testing.T) {
	t.Setenv("GOMAXPROCS", "1") // which restores it
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, c := range []struct {
		set        bool
		have, want int
	}{{false, 1, 2}, {false, 3, 3}, {true, 1, 1}} {
		if !c.set {
			_ = os.Unsetenv("GOMAXPROCS")
		} else {
			t.Setenv("GOMAXPROCS", "1")
		}
		runtime.GOMAXPROCS(c.have)
		if err := LetRun(); err != nil {
			t.Fatal(err)
		}
		if got := runtime.GOMAXPROCS(0); got != c.want {
			t.Errorf("%d places, in the environment %v: %d then, want %d", c.have, c.set, got, c.want)
		}
	}
}
