package bench_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gigarank/bench"
	"gigarank/lp"
	"gigarank/mpivirt"
	"gigarank/sync"
	"gigarank/vtime"
)

// small are options under which every program is soon done.
func small(program string) bench.Options {
	switch program {
	case "allreducetest":
		return bench.Options{Iterations: 2, Compute: 20 * vtime.Microsecond, Payload: 24}
	case "barriertest":
		return bench.Options{Iterations: 2, Compute: 20 * vtime.Microsecond}
	case "matmul":
		return bench.Options{Iterations: 2, Payload: 10 * 8}
	case "mpiping":
		return bench.Options{Iterations: 2}
	case "phold":
		return bench.Options{Iterations: 20}
	}
	return bench.Options{Iterations: 3}
}

// machines of the matrix, with the protocols to run on them. Where the lookahead
// is a picosecond, null messages alone would take a message for each picosecond of
// virtual time.
var matrixMachines = []struct {
	why, machine string
	protocols    []sync.Protocol
}{
	{"two levels", "xt5", []sync.Protocol{sync.Hybrid, sync.Null, sync.Conditional}},
	{"no difference between ranks", flat, []sync.Protocol{sync.Hybrid, sync.Null, sync.Conditional}},
	{"no latency within a node", "tianhe-1a", []sync.Protocol{sync.Hybrid, sync.Conditional}},
	{"rendezvous, and a CPU that messages take time of", "loggops-default", []sync.Protocol{sync.Hybrid, sync.Conditional}},
}

const flat = "name: flat\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n"

// matrixRanks are alone, a pair, odd, one that neither 2 nor 3 engines divide, more
// than one node of every machine.
var matrixRanks = []int{1, 2, 5, 29}

// forEachRun calls f with every way to run a program on the host: engines, kinds
// of LP, protocols, strict or not. The first is the plainest.
func forEachRun(e bench.Entry, protocols []sync.Protocol, ranks int, f func(name string, engines int, c bench.Config)) {
	counts := []int{1, 2, 3}
	if ranks > 3 && ranks < 10 {
		counts = append(counts, ranks) // one rank for each engine
	}
	for _, engines := range counts {
		for _, kind := range e.Forms {
			for _, protocol := range protocols {
				for _, strict := range []bool{false, true} {
					name := fmt.Sprintf("%d engines, %v, %v, strict %t", engines, kind, protocol, strict)
					f(name, engines, bench.Config{Config: mpivirt.Config{LP: kind, Protocol: protocol, Strict: strict, Seed: 7}})
				}
			}
		}
	}
}

// Host independence: one fingerprint for each program, machine and number of
// ranks, whatever runs it.
func TestMatrix(t *testing.T) {
	for _, e := range bench.Programs() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			for _, m := range matrixMachines {
				for _, ranks := range matrixRanks {
					matrix(t, e, m.machine, m.protocols, ranks)
				}
			}
		})
	}
}

// matrix runs a program in every way and compares the outcomes.
func matrix(t *testing.T, e bench.Entry, machine string, protocols []sync.Protocol, ranks int) {
	var first *mpivirt.Result
	forEachRun(e, protocols, ranks, func(name string, engines int, c bench.Config) {
		c.Options = small(e.Name)
		r, err := try(t, e.Name, machine, ranks, engines, c)
		if e.Name == "deadlock" && ranks > 1 {
			err = checkDeadlock(r, err, ranks)
		}
		if err != nil {
			t.Fatalf("%d ranks on %s, %s: %v", ranks, firstLine(machine), name, err)
		}
		if first == nil {
			first = r
			return
		}
		if r.Fingerprint != first.Fingerprint || r.VirtualTime != first.VirtualTime || r.Finished != first.Finished {
			t.Errorf("%d ranks on %s, %s: fingerprint %s, %v, %d finished; plainly %s, %v, %d", ranks, firstLine(machine), name,
				r.Fingerprint, r.VirtualTime, r.Finished, first.Fingerprint, first.VirtualTime, first.Finished)
		}
	})
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// checkDeadlock wants the report of a deadlock of all pairs: the odd last rank has
// finished, every other waits for its partner in Ssend since the start.
func checkDeadlock(r *mpivirt.Result, err error, ranks int) error {
	var report *mpivirt.DeadlockError
	if !errors.As(err, &report) {
		return fmt.Errorf("ended with %v, want a deadlock", err)
	}
	if want := uint64(ranks &^ 1); report.Waiting != want || r.Finished != uint64(ranks)-want || r.Complete {
		return fmt.Errorf("%d ranks wait and %d have finished, want %d waiting", report.Waiting, r.Finished, want)
	}
	for i, b := range report.Blocked {
		if b.Rank != i || b.Call != "Ssend" || !strings.Contains(b.For, fmt.Sprint("rank ", i^1)) {
			return fmt.Errorf("the report says %q", b)
		}
	}
	return nil
}

// The two kinds of LP are told apart by the matrix only where there are both.
func TestProgramsWithTwoForms(t *testing.T) {
	for _, name := range []string{"barriertest", "allreducetest", "mpiping", "ring", "phold"} {
		e, err := bench.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []lp.Kind{lp.Goroutine, lp.Event} {
			if err := e.CheckForm(kind); err != nil {
				t.Error(err)
			}
		}
	}
}
