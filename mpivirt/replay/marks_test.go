package replay_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"gigarank/mpivirt"
	"gigarank/mpivirt/record"
	"gigarank/mpivirt/replay"
	"gigarank/sync"
	"gigarank/trace"
	"gigarank/vtime"
)

// A replay times the phases of the record, and the window between two of their marks.
func TestPhasesAndWindows(t *testing.T) {
	const ranks = 3
	var file bytes.Buffer
	w, err := trace.NewWriter(&file, trace.Header{Origin: "simulated", Tasks: ranks}, trace.Zstd)
	if err != nil {
		t.Fatal(err)
	}
	recording := record.New(w)
	// Iteration i of rank r computes (r + 1)(i + 1) us. Rank 0 sends a message of a microsecond to rank 1 in each, before it computes.
	main := func(r *mpivirt.Rank) error {
		r.Compute(100 * us)
		for i := range 4 {
			r.Phase("step")
			var err error
			if r.Rank() == 0 {
				err = r.World().SendSize(8, 1, 0)
			}
			r.Compute(vtime.Duration((r.Rank()+1)*(i+1)) * us)
			if r.Rank() == 1 {
				_, err = r.World().RecvSize(8, 0, 0)
			}
			if err != nil {
				return err
			}
			r.Phase("rest")
			r.Compute(us)
			r.Phase("")
		}
		return nil
	}
	c := mpivirt.Config{Target: target(t, quick, ranks), Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(main)}}}
	c.Recorder = recording.Recorder
	simulate := func(engines int) *mpivirt.Result {
		t.Helper()
		c.Transports = sync.NewInProcess(engines)
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
	recorded := simulate(1)
	if err := recording.Close(""); err != nil {
		t.Fatal(err)
	}
	c.Recorder, c.NoContents = nil, true
	f, err := trace.Open("file.grt", bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []struct {
		from, to   replay.Mark
		least, all vtime.Duration // of rank 0, and of rank 2, the slowest
	}{
		{replay.Mark{Name: "step", N: 2}, replay.Mark{Name: "step", N: 4}, 2*us + 5*us, 2*us + 3*5*us},
		{replay.Mark{}, replay.Mark{Name: "step", N: 1}, 100 * us, 100 * us},
		{replay.Mark{Name: "rest", N: 4}, replay.Mark{}, us, us},
		{replay.Mark{Name: "step", N: 1}, replay.Mark{Name: "rest", N: 1}, us, 3 * us},
	} {
		for engines := 1; engines <= 2; engines++ {
			window := &replay.Window{From: v.from, To: v.to}
			if err := window.Check(f); err != nil {
				t.Fatal(err)
			}
			c.Program.Forms = []mpivirt.Form{replay.New(f, replay.Options{Window: window})}
			r := simulate(engines)
			var phases []any
			for _, it := range r.Iterations {
				if it.Operation != replay.WindowName {
					phases = append(phases, it)
				} else if it.Min != v.least || it.Max != v.all || it.Count != ranks {
					t.Errorf("from %v to %v: %v to %v on %d ranks, want %v to %v", v.from, v.to, it.Min, it.Max, it.Count, v.least, v.all)
				}
			}
			var want []any
			for _, it := range recorded.Iterations {
				want = append(want, it)
			}
			if len(phases) != 8 || len(phases) == len(r.Iterations) || !reflect.DeepEqual(phases, want) {
				t.Errorf("phases %+v, want %+v", phases, want)
			}
		}
	}
	for _, v := range []struct {
		from, to replay.Mark
		want     string
	}{
		{replay.Mark{Name: "step", N: 5}, replay.Mark{}, "the task ends without the mark step#5: its last one of that phase is number 4"},
		{replay.Mark{}, replay.Mark{Name: "stop", N: 1}, "the task ends without the mark stop#1: its last one of that phase is number 0"},
		{replay.Mark{Name: "rest", N: 2}, replay.Mark{Name: "step", N: 2}, "the window ends here, at step#2, before it begins, at rest#2"},
	} {
		if err := (&replay.Window{From: v.from, To: v.to}).Check(f); err == nil || !strings.Contains(err.Error(), v.want) {
			t.Errorf("from %v to %v: %v, want %q", v.from, v.to, err, v.want)
		}
	}
}
