package terminal

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"gigarank/mpivirt"
	"gigarank/vtime"
)

// noMemory is the memory of a process in tests.
func noMemory() int64 { return 0 }

// The line of progress after 20 s, then after 30 s of a run whose clock is the
// test's.
func TestProgressLine(t *testing.T) {
	c := New()
	start := time.Unix(1000, 0)
	at := start
	c.Now = func() time.Time { return at }
	m := &meter{console: c, iterations: 10, memory: noMemory, began: start, last: start}
	for _, step := range []struct {
		why    string
		after  time.Duration
		p      mpivirt.Progress
		want   []string
		absent string
	}{
		{"set-up", time.Second, mpivirt.Progress{Ranks: 1e6, SetUp: 25e4},
			[]string{"setting up: 250k of 1.00M ranks"}, "iteration"},
		// 4 iterations in 20 s leave 6 of 5 s each.
		{"run", 20 * time.Second, mpivirt.Progress{Ranks: 1e6, SetUp: 1e6, Iteration: 4, Time: vtime.Time(3 * vtime.Millisecond), Events: 40e6},
			[]string{"iteration 4/10", "virtual time 3ms", "2.00M events/s", "30 s left"}, "setting"},
		// The rate is that of the last 10 s: 10 M events.
		{"later", 30 * time.Second, mpivirt.Progress{Ranks: 1e6, SetUp: 1e6, Iteration: 5, Events: 50e6},
			[]string{"iteration 5/10", "1.00M events/s", "30 s left"}, ""},
		// A program may record more than one operation in an iteration.
		{"end", 40 * time.Second, mpivirt.Progress{Ranks: 1e6, SetUp: 1e6, Iteration: 12, Events: 50e6},
			[]string{"iteration 10/10"}, "left"},
	} {
		at = start.Add(step.after)
		line := m.describe(step.p)
		for _, want := range step.want {
			if !strings.Contains(line, want) {
				t.Errorf("%s: %q does not say %q", step.why, line, want)
			}
		}
		if step.absent != "" && strings.Contains(line, step.absent) {
			t.Errorf("%s: %q says %q", step.why, line, step.absent)
		}
	}
}

func TestProgressNoneWritesNothing(t *testing.T) {
	stdout, stderr := new(bytes.Buffer), new(bytes.Buffer)
	c := New()
	c.Stdout, c.Stderr = NewWriter(stdout), NewWriter(stderr)
	end := WatchProgress(c, ProgressNone, nil, 10, noMemory)
	end()
	if stdout.Len()+stderr.Len() > 0 {
		t.Errorf("wrote %q and %q", stdout, stderr)
	}
}

// No call follows after end returns.
func TestEvery(t *testing.T) {
	ticks := make(chan int)
	n := 0
	end := Every(time.Microsecond, func() {
		n++
		select {
		case ticks <- n:
		default:
		}
	})
	for want := range 3 {
		if got := <-ticks; got <= want {
			t.Errorf("tick %d came %d ticks later", got, want)
		}
	}
	end()
	last := n // no race: the goroutine is gone
	if last < 3 {
		t.Errorf("%d ticks", last)
	}
}

func TestFormats(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Bytes(0), "0 B"},
		{Bytes(1023), "1023 B"},
		{Bytes(1280), "1.25 KiB"},
		{Bytes(3 << 30), "3.00 GiB"},
		{Count(0), "0"},
		{Count(999), "999"},
		{Count(1e6), "1.00M"},
		{Count(221184000), "221M"},
		{Count(2.5), "2.50"},
		{Seconds(0), "0 s"},
		{Seconds(3.18e-6), "3.18 us"},
		{Seconds(0.0009996), "0.001 s"},
		{Seconds(0.4123), "0.412 s"},
		{Seconds(90), "1.5 min"},
		{Seconds(7200), "2.0 h"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// later begins after its time and is ended. If it is ended before, it never begins.
func TestLater(t *testing.T) {
	began, ended := make(chan bool, 1), false
	end := Later(0, func() func() {
		began <- true
		return func() { ended = true }
	})
	<-began
	if end(); !ended {
		t.Error("what has begun is not ended")
	}
	Later(time.Hour, func() func() {
		t.Error("begun too early")
		return func() {}
	})()
}
