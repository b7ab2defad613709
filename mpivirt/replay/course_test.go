package replay_test

import (
	"bytes"
	"testing"

	"gigarank/mpivirt"
	"gigarank/mpivirt/record"
	"gigarank/mpivirt/replay"
	"gigarank/sync"
	"gigarank/trace"
	"gigarank/vtime"
)

// quick has messages of a microsecond, whatever their size, and polls of a tenth by default.
const quick = "name: quick\nnetwork: {model: flat, latency: 1us, bandwidth: 1000000GB/s}\n"

const us = vtime.Microsecond

// course is the outcome of a replay in which each rank's first burst takes another time.
func course(t *testing.T, ranks int, main func(r *mpivirt.Rank) error, first []vtime.Duration, recordedMessages bool) (recordedTime, replayedTime vtime.Time, d mpivirt.Departures) {
	t.Helper()
	var file bytes.Buffer
	w, err := trace.NewWriter(&file, trace.Header{Origin: "simulated", Tasks: ranks}, trace.Zstd)
	if err != nil {
		t.Fatal(err)
	}
	recording := record.New(w)
	c := mpivirt.Config{Target: target(t, quick, ranks), Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(main)}}}
	c.Transports, c.Recorder = sync.NewInProcess(1), recording.Recorder
	simulate := func() *mpivirt.Result {
		s, err := mpivirt.New(c)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Run()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	recordedTime = simulate().VirtualTime
	if err := recording.Close(""); err != nil {
		t.Fatal(err)
	}
	c.Recorder, c.NoContents = nil, true
	for engines := 1; engines <= 2; engines++ {
		f, err := trace.Open("file.grt", bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		begun := make([]bool, ranks)
		form := replay.New(f, replay.Options{Recorded: recordedMessages, Burst: func(rank int, cpu, _ vtime.Duration) vtime.Duration {
			if !begun[rank] {
				begun[rank] = true
				return first[rank]
			}
			return cpu
		}})
		c.Program.Forms, c.Transports = []mpivirt.Form{form}, sync.NewInProcess(engines)
		got := simulate()
		now := got.VirtualTime
		if engines > 1 && (now != replayedTime || got.Departures != d) {
			t.Errorf("%v and %+v on %d engines, %v and %+v on one", now, got.Departures, engines, replayedTime, d)
		}
		replayedTime, d = now, got.Departures
	}
	return recordedTime, replayedTime, d
}

// What the course of a program hung on is kept: each closed form follows from the course of the record.
func TestTheCourseOfTheRecordIsKept(t *testing.T) {
	sends := func(r *mpivirt.Rank, after vtime.Duration) error {
		r.Compute(after)
		return r.World().SendSize(8, 0, r.Rank())
	}
	// Rank 0 takes the message of rank 1 or 2 that comes first, computes, and takes the other.
	anyOfTwo := func(op string) func(r *mpivirt.Rank) error {
		return func(r *mpivirt.Rank) error {
			if r.Rank() > 0 {
				return sends(r, vtime.Duration(10*r.Rank())*us)
			}
			r.Compute(0)
			requests := make([]mpivirt.Request, 2)
			for i := range requests {
				var err error
				if requests[i], err = mpivirt.Irecv(r.World(), make([]byte, 8), i+1, i+1); err != nil {
					return err
				}
			}
			var err error
			if op == "any" {
				_, _, err = mpivirt.Waitany(requests)
			} else {
				_, _, err = mpivirt.Waitsome(requests)
			}
			r.Compute(5 * us)
			if err == nil {
				_, err = mpivirt.Waitall(requests)
			}
			return err
		}
	}
	// Rank 0 tests and computes in turn until the message of rank 1, which leaves after 3.5 us, is there.
	tests := func(r *mpivirt.Rank) error {
		if r.Rank() > 0 {
			return sends(r, 3500*vtime.Nanosecond)
		}
		r.Compute(0)
		q, err := mpivirt.Irecv(r.World(), make([]byte, 8), 1, 1)
		for found := false; err == nil && !found; {
			if _, found, err = q.Test(); !found {
				r.Compute(us)
			}
		}
		return err
	}
	// Rank 0 polls by Iprobe, without anything between.
	probes := func(r *mpivirt.Rank) error {
		if r.Rank() > 0 {
			return sends(r, 3500*vtime.Nanosecond)
		}
		r.Compute(0)
		for found := false; !found; {
			var err error
			if _, found, err = r.World().Iprobe(1, 1); err != nil {
				return err
			}
		}
		_, err := mpivirt.Recv(r.World(), make([]byte, 8), 1, 1)
		return err
	}
	// Rank 0 takes two messages from anyone, and computes for the rank that each is from.
	wildcards := func(r *mpivirt.Rank) error {
		if r.Rank() > 0 {
			return sends(r, vtime.Duration(10*r.Rank())*us)
		}
		r.Compute(0)
		for range 2 {
			if _, err := mpivirt.Recv(r.World(), make([]byte, 8), mpivirt.AnySource, mpivirt.AnyTag); err != nil {
				return err
			}
			r.Compute(5 * us)
		}
		return nil
	}
	waits := func(r *mpivirt.Rank) error {
		if r.Rank() > 0 {
			return sends(r, vtime.Duration(10*r.Rank())*us)
		}
		r.Compute(0)
		requests := make([]mpivirt.Request, 2)
		for i := range requests {
			var err error
			if requests[i], err = mpivirt.Irecv(r.World(), make([]byte, 8), mpivirt.AnySource, mpivirt.AnyTag); err != nil {
				return err
			}
		}
		for _, q := range requests {
			if _, err := mpivirt.Waitall([]mpivirt.Request{q}); err != nil {
				return err
			}
			r.Compute(5 * us)
		}
		return nil
	}
	// Rank 0 looks for a message of anyone, and takes it.
	looks := func(r *mpivirt.Rank) error {
		if r.Rank() > 0 {
			return sends(r, vtime.Duration(10*r.Rank())*us)
		}
		r.Compute(0)
		for range 2 {
			s, err := r.World().Probe(mpivirt.AnySource, mpivirt.AnyTag)
			if err == nil {
				_, err = mpivirt.Recv(r.World(), make([]byte, 8), s.Source, s.Tag)
			}
			if err != nil {
				return err
			}
			r.Compute(5 * us)
		}
		return nil
	}
	for _, c := range []struct {
		why            string
		main           func(r *mpivirt.Rank) error
		first          []vtime.Duration
		record, replay vtime.Duration
		departures     mpivirt.Departures
		recorded       bool
	}{
		{"Waitany as recorded", anyOfTwo("any"), []vtime.Duration{0, 10 * us, 20 * us}, 21 * us, 21 * us, mpivirt.Departures{}, false},
		// It waits for rank 1, until 51, then computes. A Waitany would have taken rank 2 at 21, computed, and ended at 51.
		{"Waitany, another first", anyOfTwo("any"), []vtime.Duration{0, 50 * us, 20 * us}, 21 * us, 56 * us, mpivirt.Departures{Passed: 1}, false},
		{"Waitsome, another first", anyOfTwo("some"), []vtime.Duration{0, 50 * us, 20 * us}, 21 * us, 56 * us, mpivirt.Departures{Passed: 1}, false},
		// Tests at 0, 1.1, 2.2, 3.3, 4.4 fail, each for 0.1 us, that at 5.5 finds the message of 4.5.
		{"tests as recorded", tests, []vtime.Duration{0, 3500 * vtime.Nanosecond}, 5500 * vtime.Nanosecond, 5500 * vtime.Nanosecond, mpivirt.Departures{}, false},
		{"a test that found something waits", tests, []vtime.Duration{0, 100 * us}, 5500 * vtime.Nanosecond, 101 * us, mpivirt.Departures{Waited: 1}, false},
		// The test at 1.1 finds the message: the later ones have no request left, and take no time.
		{"a test that found nothing finds", tests, []vtime.Duration{0, 0}, 5500 * vtime.Nanosecond, 5100 * vtime.Nanosecond, mpivirt.Departures{Found: 1}, false},
		{"probes as recorded", probes, []vtime.Duration{0, 3500 * vtime.Nanosecond}, 4500 * vtime.Nanosecond, 4500 * vtime.Nanosecond, mpivirt.Departures{}, false},
		{"a probe that found something waits", probes, []vtime.Duration{0, 100 * us}, 4500 * vtime.Nanosecond, 101 * us, mpivirt.Departures{Waited: 1}, false},
		{"receives with wildcards match anew", wildcards, []vtime.Duration{0, 30 * us, 20 * us}, 26 * us, 36 * us, mpivirt.Departures{Matched: 2}, false},
		{"as recorded", wildcards, []vtime.Duration{0, 30 * us, 20 * us}, 26 * us, 41 * us, mpivirt.Departures{}, true},
		{"receives with wildcards that wait match anew", waits, []vtime.Duration{0, 30 * us, 20 * us}, 26 * us, 36 * us, mpivirt.Departures{Matched: 2}, false},
		{"waits as recorded", waits, []vtime.Duration{0, 30 * us, 20 * us}, 26 * us, 41 * us, mpivirt.Departures{}, true},
		// The replay probes rank 2 first, whose message the receive, which names rank 1, leaves.
		{"probes with wildcards look anew", looks, []vtime.Duration{0, 30 * us, 20 * us}, 26 * us, 41 * us, mpivirt.Departures{Matched: 1}, false},
		{"probes with wildcards as recorded", looks, []vtime.Duration{0, 30 * us, 20 * us}, 26 * us, 41 * us, mpivirt.Departures{}, true},
	} {
		was, is, d := course(t, len(c.first), c.main, c.first, c.recorded)
		if was != vtime.Time(c.record) || is != vtime.Time(c.replay) || d != c.departures {
			t.Errorf("%s: recorded %v, replayed %v, %+v; want %v, %v, %+v", c.why, was, is, d, c.record, c.replay, c.departures)
		}
	}
}
