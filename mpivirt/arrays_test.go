package mpivirt_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/internal/random"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// unevenBarriers is a program of event ranks that arrive at two barriers at random.
func unevenBarriers(seed uint64) mpivirt.Program {
	return mpivirt.Program{Name: "uneven", Forms: []mpivirt.Form{steps.Main(func() steps.Program {
		return steps.New(func(r *steps.Rank, step *uint8) steps.Outcome {
			if *step == 2 {
				return r.Finish()
			}
			*step++
			r.Compute(vtime.Duration(random.Mix(seed^uint64(r.Rank()*2+int(*step))) % 20_000_000))
			return r.Timed(int(*step), "barrier").Barrier()
		})
	})}}
}

// Arrays that are longer than a block of the cache and than what engines send at a
// time give what messages give: exchanges are carried out several rounds at a time,
// and stretches wait for room in the window.
func TestLongArrays(t *testing.T) {
	algorithms := []collectives.Algorithm{collectives.RecursiveDoubling, collectives.Dissemination, collectives.NodeLeader}
	fewer(t, 30)
	rapid.Check(t, func(rt *rapid.T) {
		a := rapid.SampledFrom(algorithms).Draw(rt, "algorithm")
		// Around 2^14 = four blocks, where folding sets in.
		ranks := rapid.OneOf(rapid.Just(1<<14), rapid.IntRange(1<<13, 3<<13)).Draw(rt, "ranks")
		perNode := rapid.SampledFrom([]int{1, 2, 7, 12, 300}).Draw(rt, "ranks per node")
		tgt := target(t, fmt.Sprintf("name: test\nranks_per_node: %d\nnetwork: {model: twolevel, "+
			"intra: {latency: 500ns, bandwidth: 6GB/s}, inter: {latency: 5us, bandwidth: 2GB/s}}\n", perNode), ranks)
		run := func(engines int, interpreter mpivirt.Interpreter, window int64) *mpivirt.Result {
			result, err := simulate(t, mpivirt.Config{
				Target: tgt, Program: unevenBarriers(uint64(ranks)), Collectives: interpreter, Window: window,
				Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Barrier: a},
			}, engines)
			if err != nil {
				rt.Fatal(err)
			}
			return result
		}
		reference := mpivirt.Message
		if testing.Short() { // one engine by messages has nothing for the race detector
			reference = mpivirt.Bulk
		}
		want := run(1, reference, 0)
		engines := rapid.IntRange(1, 4).Draw(rt, "engines")
		got := run(engines, mpivirt.Bulk, rapid.SampledFrom([]int64{0, 1, 10_000}).Draw(rt, "window"))
		if got.Fingerprint != want.Fingerprint || got.Statistics.Messages != want.Statistics.Messages {
			rt.Fatalf("%v: fingerprint %s and %d messages in bulk, %s and %d by messages", a,
				got.Fingerprint, got.Statistics.Messages, want.Fingerprint, want.Statistics.Messages)
		}
		for i := range want.Iterations {
			w, g := want.Iterations[i], got.Iterations[i]
			if w.Wall, g.Wall = 0, 0; w != g {
				rt.Fatalf("%v: %+v in bulk, %+v by messages", a, g, w)
			}
		}
	})
}
