package bench_test

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/sync"
	"gigarank/vtime"
)

// small returns options under which every program ends soon.
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
	case "ddptraining":
		return bench.Options{Iterations: 2, Own: trainingWith(smallTraining...)}
	}
	return bench.Options{Iterations: 3}
}

// smallTraining are the arguments of ddptraining for which little is simulated. MODEL is a file with the text of tinyModel.
var smallTraining = []string{"model=MODEL", "flops=1G", "memory=1GB/s", "batch=3", "bucket=200", "first=60"}

// timed returns the operations that have a program of their own.
func timed() iter.Seq[collectives.Operation] {
	return func(yield func(collectives.Operation) bool) {
		for _, op := range collectives.Operations() {
			switch op {
			case collectives.Gatherv, collectives.Scatterv, collectives.Allgatherv, collectives.Alltoallv:
			default:
				if !yield(op) {
					return
				}
			}
		}
	}
}

// matrixMachines are those of the matrix. The third and the fourth have a lookahead of a
// picosecond.
var matrixMachines = []struct {
	why, machine string
}{
	{"two levels", "xt5"},
	{"no difference between ranks", flat},
	{"no latency within a node", boards},
	{"rendezvous, and messages take time of the CPU", "loggops-default"},
	{"messages have jitter", jittered},
}

// boards has the delays of vaced-sim, whose published figures give none to memory.
const boards = `name: boards
ranks_per_node: 12
topology: {kind: hierarchy, levels: [{size: 16, hops: 3}, {hops: 5}]}
network: {model: hops, latency: 15us, latency_per_hop: 0.6us, bandwidth: 4.16GB/s, memory_bandwidth: 6.38GB/s}
`

// jittered draws a time for each message between nodes, and for the request of a rendezvous.
const jittered = `name: jittered
ranks_per_node: 3
network:
  model: twolevel
  intra: {latency: 0.5us, bandwidth: 6GB/s}
  inter: {latency: 2us, bandwidth: 2GB/s}
  overhead: {send: 0.2us, receive: 0.1us}
  eager_limit: 8KiB
  jitter: {distribution: exponential, mean: 3us}
`

const flat = "name: flat\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n"

// matrixRanks are a single rank, a pair, an odd number, and one that neither 2 nor 3
// engines divide, more than one node of every machine.
var matrixRanks = []int{1, 2, 5, 29}

// Host independence: one fingerprint for each program, machine and number of ranks,
// however it is run.
func TestMatrix(t *testing.T) {
	sizes := matrixRanks
	if testing.Short() { // enough for the race detector
		sizes = sizes[3:]
	}
	for i, e := range bench.Programs() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			for j, m := range matrixMachines {
				if testing.Short() && (i+j)%len(matrixMachines) > 1 {
					continue // two machines for each program, and many programs for each machine
				}
				for _, ranks := range sizes {
					t.Run(fmt.Sprintf("%s/%d", m.why, ranks), func(t *testing.T) { matrix(t, e, m.machine, ranks) })
				}
			}
		})
	}
}

// matrix runs a program in every way and compares the outcomes with the plainest.
func matrix(t *testing.T, e bench.Entry, name string, ranks int) {
	counts := []int{1, 2, 3}
	protocols := []sync.Protocol{sync.Hybrid, sync.Conditional, sync.Null}
	if testing.Short() {
		counts, protocols = counts[1:], protocols[:1]
	} else if ranks > 3 && ranks < 10 {
		counts = append(counts, ranks) // one rank for each engine
	}
	var plain *mpivirt.Result
	for _, engines := range counts {
		for k, kind := range e.Forms {
			for p, protocol := range protocols {
				for _, strict := range []bool{false, true} {
					if engines == 1 && p > 0 || p > 0 && strict != ((engines+k+p+ranks)%2 > 0) {
						continue // one engine synchronises with nobody; of two protocols, one of the ways in turn
					}
					c := bench.Config{Config: mpivirt.Config{Kind: kind, Protocol: protocol, Strict: strict, Seed: 7}, Options: small(e.Name)}
					r, err := try(t, e.Name, name, ranks, engines, c)
					if e.Name == "deadlock" && ranks > 1 {
						err = checkDeadlock(r, err, ranks)
					}
					if err == nil && plain == nil {
						plain = r
					}
					if err == nil {
						err = sameOutcome(r, plain)
					}
					if err != nil {
						t.Errorf("%d engines, %v, %v, strict %t: %v", engines, kind, protocol, strict, err)
					}
				}
			}
		}
	}
}

// sameOutcome returns a difference of virtual results from those of a plain run.
func sameOutcome(r, plain *mpivirt.Result) error {
	if r.Fingerprint != plain.Fingerprint || r.VirtualTime != plain.VirtualTime || r.Finished != plain.Finished {
		return fmt.Errorf("fingerprint %s, %v, %d finished; plainly %s, %v, %d",
			r.Fingerprint, r.VirtualTime, r.Finished, plain.Fingerprint, plain.VirtualTime, plain.Finished)
	}
	if len(r.Iterations) != len(plain.Iterations) {
		return fmt.Errorf("%d timed operations; plainly %d", len(r.Iterations), len(plain.Iterations))
	}
	for i, it := range r.Iterations {
		it.Wall = 0
		if want := plain.Iterations[i]; it != (mpivirt.Iteration{
			Index: want.Index, Operation: want.Operation, Min: want.Min, Max: want.Max, Mean: want.Mean, Count: want.Count,
		}) {
			return fmt.Errorf("%+v; plainly %+v", it, want)
		}
	}
	if diff := cmp.Diff(plain.Finish, r.Finish); diff != "" {
		return fmt.Errorf("finish times (-plainly +here):\n%s", diff)
	}
	if diff := cmp.Diff(plain.Operations, r.Operations); diff != "" {
		return fmt.Errorf("times of operations (-plainly +here):\n%s", diff)
	}
	return nil
}

// checkDeadlock expects the report of a deadlock of all pairs. The odd last rank has
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
	names := []string{"barriertest", "allreducetest", "mpiping", "ring", "stencil", "ddptraining", "phold"}
	for op := range timed() {
		names = append(names, bench.TimedBy(op))
	}
	for _, name := range names {
		e, err := bench.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind} {
			if err := e.CheckForm(kind); err != nil {
				t.Error(err)
			}
		}
	}
}
