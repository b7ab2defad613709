package replay_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/record"
	"gigarank/mpivirt/replay"
	"gigarank/network"
	"gigarank/sync"
	"gigarank/trace"
	"gigarank/vtime"
)

// machines are those on which programs are recorded and replayed: presets and documents.
var machines = []struct{ name, text string }{
	{"xt5", "xt5"},
	{"flat", "name: flat\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n"},
	{"loggops", "loggops-default"},
	{"jitter", `name: jittered
ranks_per_node: 3
network:
  model: twolevel
  intra: {latency: 0.5us, bandwidth: 6GB/s}
  inter: {latency: 2us, bandwidth: 2GB/s}
  overhead: {send: 0.2us, receive: 0.1us}
  eager_limit: 8KiB
  jitter: {distribution: exponential, mean: 3us}
`},
	{"rendezvous", "name: rendezvous\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, overhead: {send: 0.2us, receive: 0.1us}, eager_limit: 4}\n"},
	{"progress", "name: progress\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, overhead: {send: 0.2us, receive: 0.1us}, eager_limit: 4, progress: calls}\n"},
	{"interfaces", "name: interfaces\nranks_per_node: 4\nnetwork:\n  model: flat\n  latency: 1us\n  bandwidth: 10GB/s\nnode: {bandwidth: 5GB/s, message_gap: 100ns}\n"},
}

// target returns a machine for a number of ranks.
func target(t testing.TB, text string, ranks int) *network.Target {
	t.Helper()
	m, err := network.Load(text, os.ReadFile)
	if err != nil {
		m, err = network.Parse("test", []byte(text), nil)
	}
	var target *network.Target
	if err == nil {
		target, err = m.Target(int64(ranks))
	}
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// small returns options under which a program ends soon.
func small(program string) bench.Options {
	switch program {
	case "allreducetest", "barriertest":
		return bench.Options{Iterations: 2, Compute: 20 * vtime.Microsecond}
	case "matmul":
		return bench.Options{Iterations: 2, Payload: 80}
	}
	return bench.Options{Iterations: 2}
}

// recorded returns the trace of a run, and its result.
func recorded(t testing.TB, e bench.Entry, c bench.Config, engines int) ([]byte, *mpivirt.Result, error) {
	t.Helper()
	var file bytes.Buffer
	h := trace.Header{Origin: "simulated", Tasks: c.Target.Ranks(), Program: e.Name}
	if e.Collectives != nil {
		if uses := e.Collectives(e.Resolve(c.Options)); len(uses) == 1 && uses[0].Alone {
			h.Repeats = &trace.Repeats{Operation: uses[0].Operation.String(), Bytes: uses[0].Bytes, Element: uses[0].Element, Data: uses[0].Data}
		}
	}
	w, err := trace.NewWriter(&file, h, trace.Zstd)
	if err != nil {
		t.Fatal(err)
	}
	recording := record.New(w)
	c.Recorder, c.Transports = recording.Recorder, sync.NewInProcess(engines)
	s, err := e.New(c)
	if err != nil {
		t.Fatal(err)
	}
	r, failed := s.Run()
	if err := recording.Close(""); err != nil && failed == nil {
		t.Fatal(err)
	}
	return file.Bytes(), r, failed
}

// checked expects a trace without faults.
func checked(t testing.TB, file []byte) {
	t.Helper()
	f, err := trace.Open("file.grt", bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if faults, _, err := trace.Check(f, 5); err != nil || faults != nil {
		t.Errorf("check: %v, %q", err, faults)
	}
}

// replayed returns the result of a replay.
func replayed(t testing.TB, file []byte, c mpivirt.Config, engines int) (*mpivirt.Result, mpivirt.Departures, error) {
	t.Helper()
	f, err := trace.Open("file.grt", bytes.NewReader(file), int64(len(file)))
	if err == nil {
		err = f.Verify()
	}
	if err != nil {
		t.Fatal(err)
	}
	form := replay.New(f, replay.Options{})
	c.Program = mpivirt.Program{Name: "file.grt", Forms: []mpivirt.Form{form}}
	if p := f.Header.Repeats; p != nil {
		for _, op := range collectives.Operations() {
			if op.String() == p.Operation {
				c.Program.Repeats = &mpivirt.Repeated{Operation: op, Bytes: p.Bytes, Element: p.Element, Data: p.Data}
			}
		}
	}
	c.Kind, c.NoContents, c.Observer, c.Transports = nil, true, nil, sync.NewInProcess(engines)
	s, err := mpivirt.New(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run()
	return r, r.Departures, err
}

// On the machine on which a program was recorded, its replay has the same virtual times, whatever the kind of rank that was recorded, and
// however both are hosted.
func TestReplaysHaveTheTimesOfTheRecord(t *testing.T) {
	const ranks = 11
	for _, e := range bench.Programs() {
		if e.Direct != nil {
			continue // it has no MPI
		}
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			for _, m := range machines {
				for i, kind := range e.Forms {
					c := bench.Config{Config: mpivirt.Config{Kind: kind, Seed: 7, Target: target(t, m.text, ranks)}, Options: small(e.Name)}
					c.Transports = sync.NewInProcess(1)
					s, err := e.New(c)
					if err != nil {
						t.Fatal(err)
					}
					plain, failed := s.Run()
					file, want, err := recorded(t, e, c, 1+i)
					if plain.Fingerprint != want.Fingerprint || fmt.Sprint(err) != fmt.Sprint(failed) {
						t.Errorf("%s, %v: recorded %s, %v; without a recording %s, %v", m.name, kind, want.Fingerprint, err, plain.Fingerprint, failed)
						continue
					}
					if err != nil {
						continue // a deadlock: what its ranks wait in is not recorded
					}
					checked(t, file)
					for engines := 1; engines <= 3; engines++ {
						c.Strict = engines == 2
						got, departures, err := replayed(t, file, c.Config, engines)
						if err != nil {
							t.Errorf("%s, %v, %d engines: %v", m.name, kind, engines, err)
						} else if got.Fingerprint != want.Fingerprint || got.VirtualTime != want.VirtualTime || departures != (mpivirt.Departures{}) {
							t.Errorf("%s, %v, %d engines: fingerprint %s, %v, %+v; want %s, %v", m.name, kind, engines, got.Fingerprint, got.VirtualTime, departures, want.Fingerprint, want.VirtualTime)
						}
					}
				}
			}
		})
	}
}
