//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"bytes"
	"os"
	"testing"

	"gigarank/mpivirt"
	"gigarank/mpivirt/native"
	"gigarank/mpivirt/record"
	"gigarank/mpivirt/replay"
	"gigarank/network"
	"gigarank/sync"
	"gigarank/trace"
)

// calls has progress in calls only.
const calls = "name: calls\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, overhead: {send: 0.2us, receive: 0.1us}, eager_limit: 64, progress: calls}\n"

// More machines, of which each program takes one by its name.
var recordedOn = []string{
	"name: flat\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n",
	"name: jittered\nranks_per_node: 3\nnetwork: {model: twolevel, intra: {latency: 0.5us, bandwidth: 6GB/s}, inter: {latency: 2us, bandwidth: 2GB/s}, overhead: {send: 0.2us, receive: 0.1us}, eager_limit: 8KiB, jitter: {distribution: exponential, mean: 3us}}\n",
	"name: rendezvous\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, overhead: {send: 0.2us, receive: 0.1us}, eager_limit: 4}\n",
}

// Recorded programs of the suite replay in the same virtual times, on 1 to 3 engines, strictly with two. GIGARANK_PROGRAMS=all takes all machines for each.
func TestConformanceIsRecorded(t *testing.T) {
	for _, source := range conformance(t) {
		if languageOf(source) != ".c" {
			continue // the calls are the same
		}
		t.Run(nameOf(source), func(t *testing.T) {
			t.Parallel()
			program := buildConformance(t, source)
			drawn := recordedOn
			if os.Getenv("GIGARANK_PROGRAMS") != "all" {
				drawn = drawn[len(nameOf(source))%len(drawn):][:1]
			}
			for i, machine := range append([]string{"xt5", "loggops-default", calls}, drawn...) {
				ranks := 5
				if i == 1 {
					ranks = 2
				}
				m, err := network.Load(machine, os.ReadFile)
				if err != nil {
					m, err = network.Parse("test", []byte(machine), nil)
				}
				if err != nil {
					t.Fatal(err)
				}
				target, err := m.Target(int64(ranks))
				if err != nil {
					t.Fatal(err)
				}
				form, err := native.Open(program, nil, native.Options{Stack: 256 << 10})
				if err != nil {
					t.Fatal(err)
				}
				var file bytes.Buffer
				w, err := trace.NewWriter(&file, trace.Header{Origin: "simulated", Tasks: ranks}, trace.Zstd)
				if err != nil {
					t.Fatal(err)
				}
				recording := record.New(w)
				c := mpivirt.Config{Target: target, Program: mpivirt.Program{Forms: []mpivirt.Form{form}}, Transports: sync.NewInProcess(1), Recorder: recording.Recorder}
				simulate := func() (*mpivirt.Result, error) {
					s, err := mpivirt.New(c)
					if err != nil {
						t.Fatal(err)
					}
					return s.Run()
				}
				want, err := simulate()
				if err == nil {
					err = recording.Close("")
				}
				if err != nil {
					t.Errorf("%.20s, %d ranks: %v", machine, ranks, err)
					continue
				}
				f, err := trace.Open("file.grt", bytes.NewReader(file.Bytes()), int64(file.Len()))
				if err != nil {
					t.Fatal(err)
				}
				if faults, _, err := trace.Check(f, 5); err != nil || faults != nil {
					t.Errorf("%.20s, %d ranks: check: %v, %q", machine, ranks, err, faults)
				}
				replayed := replay.New(f, replay.Options{})
				c.Program.Forms, c.NoContents, c.Recorder = []mpivirt.Form{replayed}, true, nil
				for engines := 1; engines <= min(3, ranks); engines++ {
					c.Transports, c.Strict = sync.NewInProcess(engines), engines == 2
					got, err := simulate()
					switch {
					case err != nil:
						t.Errorf("%.20s, %d ranks, %d engines: %v", machine, ranks, engines, err)
					case got.Fingerprint != want.Fingerprint || got.Departures != (mpivirt.Departures{}):
						t.Errorf("%.20s, %d ranks, %d engines: %s, %v, %+v; recorded %s, %v", machine, ranks, engines,
							got.Fingerprint, got.VirtualTime, got.Departures, want.Fingerprint, want.VirtualTime)
					}
				}
			}
		})
	}
}
