package cputime

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gigarank/vtime"
)

// script is a clock whose monotonic time and CPU time the test sets.
type script struct {
	now, cpu int64
	thread   int
	reads    int
}

func (s *script) Monotonic() int64     { return s.now }
func (s *script) Thread() (int64, int) { s.reads++; return s.cpu, s.thread }

// run lets the thread run, and wait while another thread has its core.
func (s *script) run(ns, preempted int64) { s.now, s.cpu = s.now+ns+preempted, s.cpu+ns }

// TestPreemptionIsNotCounted holds bursts, with preemptions of at least a time slice in
// them and between them, to the CPU time that the thread had.
func TestPreemptionIsNotCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &script{thread: 1}
		m := NewMeter(s)
		slice := func(label string) int64 {
			if rapid.IntRange(0, 3).Draw(t, label) > 0 {
				return 0
			}
			return rapid.Int64Range(recent+1, 50e6).Draw(t, "slice")
		}
		for range rapid.IntRange(1, 30).Draw(t, "bursts") {
			s.run(rapid.Int64Range(0, 5e6).Draw(t, "simulator"), slice("before"))
			m.Start()
			used := rapid.Int64Range(0, 5e6).Draw(t, "used")
			s.run(used, slice("within"))
			if got := m.Stop(); got != used {
				t.Fatalf("a burst counts %d ns, want %d", got, used)
			}
		}
	})
}

// late is a clock that preempts the thread as it reads its CPU clock, before it has the time or after.
type late struct {
	script
	before, after int64
}

func (l *late) Thread() (int64, int) {
	const reading = 700 // nanoseconds, of the thread itself
	l.run(reading, l.before)
	cpu := l.cpu
	l.run(0, l.after)
	return cpu, l.thread
}

// A thread that has to give way does so as a system call ends, as that which reads the CPU clock. That time
// is not taken from the burst.
func TestPreemptionInAReading(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &late{script: script{thread: 1}}
		m := NewMeter(l)
		for range rapid.IntRange(1, 30).Draw(t, "bursts") {
			slice := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(recent, 50e6))
			l.before, l.after = slice.Draw(t, "before"), slice.Draw(t, "after")
			m.Start()
			used := rapid.Int64Range(short, 5e6).Draw(t, "used")
			l.run(used, 0)
			if got := m.Stop(); got < used || got > used+1000 {
				t.Fatalf("a burst counts %d ns, want %d and at most the reading's", got, used)
			}
			l.run(recent+1, 0)
		}
	})
}

// A program that calls MPI every few microseconds pays for few system calls.
func TestShortBurstsReadTheCPUClockSeldom(t *testing.T) {
	s := &script{thread: 1}
	m := NewMeter(s)
	const bursts, length = 100_000, 5_000
	for range bursts {
		m.Start()
		s.run(length, 0)
		m.Stop()
	}
	if most := bursts * length / recent; s.reads > most+1 {
		t.Errorf("%d readings of the CPU clock in %d bursts of %d ns, want at most %d", s.reads, bursts, length, most+1)
	}
}

func TestBurstOnAnotherThreadCountsItsWallTime(t *testing.T) {
	s := &script{thread: 1}
	m := NewMeter(s)
	m.Start()
	s.thread = 2
	s.run(300_000, 0)
	if got := m.Stop(); got != 300_000 {
		t.Errorf("the burst counts %d ns, want 300000", got)
	}
}

// A thread that sleeps uses no CPU time; one that computes does.
func TestHostClock(t *testing.T) {
	runtime.LockOSThread() // the goroutine keeps its thread
	defer runtime.UnlockOSThread()
	m := NewMeter(HostClock())
	m.Start()
	time.Sleep(30 * time.Millisecond)
	if slept := m.Stop(); slept > 20e6 {
		t.Errorf("a burst that sleeps for 30 ms counts %d ns", slept)
	}
	m.Start()
	began, n := time.Now(), 0
	for time.Since(began) < 30*time.Millisecond {
		n++
	}
	if got := m.Stop(); n > 1e6 && got < 1e6 {
		t.Errorf("a burst that computes for 30 ms counts %d ns", got)
	}
}

// A recording of several processes is played back by any other number of engines.
func TestRecordingsPlayBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const ranks = 7
		s := &script{thread: 1}
		cut := rapid.IntRange(0, ranks).Draw(t, "cut")
		logs := []*Log{NewLog(0, cut), NewLog(cut, ranks-cut)}
		var want [ranks][]vtime.Duration
		for range rapid.IntRange(0, 40).Draw(t, "bursts") {
			rank := rapid.IntRange(0, ranks-1).Draw(t, "rank")
			log := logs[0]
			if rank >= cut {
				log = logs[1]
			}
			source := NewRecorded(s, log)
			source.Start()
			s.run(rapid.Int64Range(0, 1<<40).Draw(t, "ns"), 0)
			d, err := source.Stop(rank)
			if err != nil {
				t.Fatal(err)
			}
			want[rank] = append(want[rank], d)
		}
		var files [2]bytes.Buffer
		for i := range files {
			if err := Write(&files[i], Header{Program: "p", Ranks: ranks, Process: i, Processes: 2}, logs[i:i+1]); err != nil {
				t.Fatal(err)
			}
		}
		again := rapid.IntRange(0, ranks).Draw(t, "cut again")
		replay := []*Log{NewLog(0, again), NewLog(again, ranks-again)}
		for i := range files {
			if h, err := Read(&files[i], replay); err != nil || h.Process != i || h.Ranks != ranks {
				t.Fatalf("reads header %+v, %v", h, err)
			}
		}
		for rank := range ranks {
			source := NewReplayed(replay[0])
			if rank >= again {
				source = NewReplayed(replay[1])
			}
			for i, d := range want[rank] {
				source.Start()
				if got, err := source.Stop(rank); err != nil || got != d {
					t.Fatalf("burst %d of rank %d is %v, %v; want %v", i, rank, got, err, d)
				}
			}
			if _, err := source.Stop(rank); err == nil || !strings.Contains(err.Error(), "ends before") {
				t.Fatalf("after the last burst of rank %d the error is %v", rank, err)
			}
		}
	})
}

// A file in another version of the format, of which nothing but the name of the format is known, is told from
// one that is no recording.
func TestOtherFormatsAreRefused(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{`{"format":"gigarank-cpu-1","program":"./p","ranks":4,"process":0,"processes":1}` + "\n", "gigarank-cpu-1, which this gigarank does not read: record it again"},
		{`{"format":"gigarank-cpu-99","ranks":"many"}` + "\n", "gigarank-cpu-99, which this gigarank does not read: record it again"},
		{`{"format":"gigarank-memory-1","ranks":4}` + "\n", "is no recording of CPU times"},
		{"{}\n", "is no recording of CPU times"},
		{"text\n", "is no recording of CPU times"},
		{"", "is no recording of CPU times"},
	} {
		if _, err := Read(strings.NewReader(c.text), nil); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q is refused by %v, want %q", c.text, err, c.says)
		}
	}
}

// Each file that is cut short, or has one bit changed, is refused.
func TestDamagedRecordingsAreRefused(t *testing.T) {
	log := NewLog(0, 3)
	for rank := range 3 {
		log.append(rank, vtime.Duration(rank)*vtime.Microsecond)
	}
	var file bytes.Buffer
	if err := Write(&file, Header{Program: "p", Ranks: 3, Processes: 1}, []*Log{log}); err != nil {
		t.Fatal(err)
	}
	whole := file.Bytes()
	if _, err := Read(bytes.NewReader(whole), nil); err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if _, err := Read(bytes.NewReader(whole[:n]), nil); err == nil {
			t.Errorf("the first %d of %d bytes are taken for a recording", n, len(whole))
		}
		for bit := range 8 {
			damaged := bytes.Clone(whole)
			damaged[n] ^= 1 << bit
			if _, err := Read(bytes.NewReader(damaged), nil); err == nil {
				t.Errorf("a recording with bit %d of byte %d changed is taken", bit, n)
			}
		}
	}
}
