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
