package mpivirt_test

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gigarank/mpivirt"
	"gigarank/mpivirt/record"
	traces "gigarank/mpivirt/replay"
	"gigarank/trace"
)

// programKinds returns the kinds of rank that random programs have a form for.
func programKinds() []*mpivirt.Kind {
	return slices.DeleteFunc(mpivirt.Kinds(), func(k *mpivirt.Kind) bool { return k == traces.Kind })
}

// replaysAlike records a program of goroutine ranks, and holds the fingerprint of its replays to that of the recorded run.
func replaysAlike(t *testing.T, machine string, ranks int, main func(r *mpivirt.Rank) error) {
	t.Helper()
	var file bytes.Buffer
	w, err := trace.NewWriter(&file, trace.Header{Origin: "simulated", Tasks: ranks}, trace.Zstd)
	if err != nil {
		t.Fatal(err)
	}
	recording := record.New(w)
	c := mpivirt.Config{Target: target(t, machine, ranks), Recorder: recording.Recorder, Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(main)}}}
	want, err := simulate(t, c, 2)
	if err == nil {
		err = recording.Close("")
	}
	if err != nil {
		t.Errorf("%s: the recorded run: %v", machine, err)
		return
	}
	f, err := trace.Open("file.grt", bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err == nil {
		err = f.Verify()
	}
	if err != nil {
		t.Fatal(err)
	}
	if faults, _, err := trace.Check(f, 5); err != nil || faults != nil {
		t.Errorf("%s: check: %v, %q", machine, err, faults)
	}
	c.Recorder, c.NoContents = nil, true
	for engines := 1; engines <= 3; engines++ {
		form := traces.New(f, traces.Options{})
		c.Strict, c.Program = engines == 2, mpivirt.Program{Name: "file.grt", Forms: []mpivirt.Form{form}}
		got, err := simulate(t, c, engines)
		if err != nil || got.Fingerprint != want.Fingerprint || got.Departures != (mpivirt.Departures{}) {
			t.Errorf("%s, %d engines: the replay of %s in %v ends with %v, %+v", machine, engines, want.Fingerprint, want.VirtualTime, err, got)
		}
	}
}

// A random program is recorded, whatever its kind of rank and hosting. Its replay has the same virtual times, in any hosting.
func TestRandomProgramsReplay(t *testing.T) {
	for _, c := range []struct {
		name     string
		programs *rapid.Generator[program]
	}{{"receivers without state", programs(20, 24)}, {"receivers with state", programsOn(randomLogGOPS, 16, 20)}} {
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p := c.programs.Draw(t, "program")
				var file bytes.Buffer
				w, err := trace.NewWriter(&file, trace.Header{Origin: "simulated", Tasks: len(p.ops)}, trace.Zstd)
				if err != nil {
					t.Fatal(err)
				}
				recording := record.New(w)
				h := hosts(len(p.ops)).Draw(t, "recorded host")
				h.recorder = recording.Recorder
				_, want := p.simulate(t, h)
				if err := recording.Close(""); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					h := hosts(len(p.ops)).Draw(t, "host")
					f, err := trace.Open("file.grt", bytes.NewReader(file.Bytes()), int64(file.Len()))
					if err == nil {
						err = f.Verify()
					}
					if err != nil {
						t.Fatal(err)
					}
					if faults, _, err := trace.Check(f, 5); err != nil || faults != nil {
						t.Fatalf("check: %v, %q", err, faults)
					}
					form := traces.New(f, traces.Options{})
					got, err := simulate(t, mpivirt.Config{
						Target: target(t, p.machine, len(p.ops)), Transports: h.transports(), Protocol: h.protocol, Strict: h.strict, Collectives: h.collectives,
						NoContents: true, Algorithms: p.algorithms, BufferLimit: h.bufferLimit, Window: h.window, Activities: h.activities,
						Program: mpivirt.Program{Name: "file.grt", Forms: []mpivirt.Form{form}},
					}, h.engines)
					if err != nil {
						t.Fatalf("%v: %v", h, err)
					}
					if got.Fingerprint != want.Fingerprint || got.Departures != (mpivirt.Departures{}) {
						t.Fatalf("%v: fingerprint %s, %v, %+v; recorded %s, %v", h, got.Fingerprint, got.VirtualTime, got.Departures, want.Fingerprint, want.VirtualTime)
					}
				}
			})
		})
	}
}
