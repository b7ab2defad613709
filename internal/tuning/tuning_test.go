package tuning_test

import (
	"fmt"
	"testing"

	"gigarank/collectives"
	"gigarank/collectives/library"
	"gigarank/internal/measurements"
	"gigarank/internal/tuning"
	"gigarank/network"
)

func machine(t *testing.T, text string) *network.Machine {
	t.Helper()
	m, err := network.Parse("m.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// At each point of its grid a table takes at most as long as the fastest algorithm, times the bound up to which
// sizes share an algorithm, or the loss that is told.
func TestTablesAreNearTheFastest(t *testing.T) {
	machines := []*network.Machine{
		machine(t, "name: near\nranks_per_node: 4\nnetwork: {model: twolevel, intra: {latency: 200ns, bandwidth: 10GB/s}, inter: {latency: 1us, bandwidth: 5GB/s}, overhead: {send: 100ns, receive: 100ns}, reduce: {bandwidth: 5GB/s}}\n"),
		machine(t, "name: far\nranks_per_node: 4\nnetwork: {model: twolevel, intra: {latency: 500ns, bandwidth: 2GB/s}, inter: {latency: 30us, bandwidth: 1GB/s}, overhead: {send: 1us, receive: 1us}, reduce: {bandwidth: 1GB/s}}\n"),
	}
	g := &tuning.Grid{
		Operations: []collectives.Operation{collectives.Barrier, collectives.Bcast, collectives.Allreduce, collectives.Allgather},
		Machines:   machines, Ranks: []int{2, 4, 16, 32}, Sizes: []int64{8, 4 << 10, 1 << 20}, Limit: 1,
	}
	wanted := 160        // points
	if testing.Short() { // the simulations of a point run side by side, which few points show
		g.Operations, g.Sizes, wanted = []collectives.Operation{collectives.Barrier, collectives.Allreduce}, g.Sizes[:1], 32
	}
	text, losses := g.Measure().YAML("tuned", "a test", "")
	table, err := library.Parse("tuned", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	told := map[string]float64{}
	for _, l := range losses {
		told[fmt.Sprint(l.Operation, l.Layout)] = max(told[fmt.Sprint(l.Operation, l.Layout)], l.Loss)
	}
	points := 0
	for _, m := range machines {
		for _, op := range g.Operations {
			for layout, of := range map[string][][2]int{
				"one node": {{1, 2}, {1, 4}}, "one rank a node": {{2, 1}, {4, 1}, {16, 1}, {32, 1}}, "full nodes": {{4, 4}, {8, 4}},
			} {
				for _, shape := range of {
					for _, bytes := range g.Sizes {
						if op == collectives.Barrier && bytes > 8 {
							continue
						}
						p := measurements.Point{Operation: op, Named: true, Nodes: shape[0], PerNode: shape[1], Bytes: bytes, Statistic: measurements.LastExit}
						best := 0.0
						for _, p.Algorithm = range collectives.Algorithms(op) {
							if s, err := p.Simulate(m); err == nil && (best == 0 || s < best) {
								best = s
							}
						}
						p.Named, p.Library = false, table
						got, err := p.Simulate(m)
						if err != nil {
							t.Fatal(err)
						}
						points++
						if most := max(tuning.Most, told[fmt.Sprint(op, layout)]); got > best*most*1.0001 {
							t.Errorf("%v of %d bytes on %v of %s: %.3g us, the fastest %.3g, at most %.2f times are told", op, bytes, shape, m.Name(), got*1e6, best*1e6, most)
						}
					}
				}
			}
		}
	}
	if points != wanted {
		t.Errorf("%d points, want %d", points, wanted)
	}
}

// A table of some operations decides the others, too: by defaults, and in the order of ranks for calls that need it.
func TestTableOfOneOperation(t *testing.T) {
	m := machine(t, "name: one\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n")
	g := &tuning.Grid{Operations: []collectives.Operation{collectives.Bcast}, Machines: []*network.Machine{m}, Ranks: []int{2, 8}, Sizes: []int64{8}, Limit: 1}
	text, _ := g.Measure().YAML("tuned", "a test", "")
	table, err := library.Parse("tuned", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, op := range []collectives.Operation{collectives.Reduce, collectives.Allreduce, collectives.ReduceScatter, collectives.Scan, collectives.Exscan} {
		q := collectives.Question{Operation: op, Ranks: 8, PerNode: 1, Bytes: 8}
		if a := table.Choose(q); !collectives.Ordered(op, a) {
			t.Errorf("%v of an operation that does not commute goes by %v, which does not keep the order of ranks", op, a)
		}
	}
}
