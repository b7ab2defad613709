package mpivirt_test

import (
	"runtime"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
)

// Collectives on an intercommunicator, its creation, its duplicates, its parts and the merger of its
// groups take time and memory that grow as the number of ranks: groups of four times as many ranks
// take about four times as much, not sixteen times.
func TestIntercommunicatorsGrow(t *testing.T) {
	program := func(r *mpivirt.Rank) error {
		side := r.Rank() % 2
		mine := must(r.World().Split(side, 0))
		c := must(mpivirt.IntercommCreate(mine, 0, r.World(), 1-side, 0))
		root := mpivirt.ProcNull
		switch {
		case side == 1:
			root = 0
		case c.Rank() == 0:
			root = mpivirt.Root
		}
		one, sum := []int{1}, []int{0}
		for range 3 {
			if err := c.Barrier(); err != nil {
				return err
			}
			if err := mpivirt.Allreduce(c, one, sum, mpivirt.Sum[int]()); err != nil {
				return err
			}
			if err := mpivirt.Bcast(c, one, root); err != nil {
				return err
			}
			if err := mpivirt.Reduce(c, one, sum, mpivirt.Sum[int](), root); err != nil {
				return err
			}
		}
		must(c.Dup())
		must(c.Merge(side == 1))
		must(c.Split(c.Rank()%3, -c.Rank()))
		return nil
	}
	bruck := map[collectives.Operation]collectives.Algorithm{collectives.Allgather: collectives.Bruck} // of the split
	measure := func(ranks int) (messages, bytes uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		result, err := simulate(t, mpivirt.Config{Algorithms: bruck, Target: target(t, "xt5", ranks), Watchdog: -1, Program: mpivirt.Program{Name: "groups", Forms: []mpivirt.Form{mpivirt.Main(program)}}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return result.Statistics.Messages, after.TotalAlloc - before.TotalAlloc
	}
	fewMessages, fewBytes := measure(500)
	messages, bytes := measure(2000)
	if messages > 6*fewMessages || bytes > 6*fewBytes {
		t.Errorf("500 ranks send %d messages and allocate %d bytes, 2000 send %d and allocate %d", fewMessages, fewBytes, messages, bytes)
	}
}
