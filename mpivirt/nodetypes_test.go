package mpivirt_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/mpivirt"
	"gigarank/vtime"
)

// nodesOfTypes writes a machine with types of nodes, some of which share a network.
func nodesOfTypes(r *rand.Rand, ranks int) string {
	text := randomMachine(r, ranks)
	fields := []string{"cpu_ratio: 1.5"}
	if strings.Contains(text, "mapping: block") && r.IntN(3) > 0 {
		fields = append(fields, fmt.Sprintf("processors: %d", 1+r.IntN(6)))
	}
	if !strings.Contains(text, "model: hops") && r.IntN(3) > 0 {
		fields = append(fields, []string{"intra: {latency: 3us, bandwidth: 100MB/s}", "intra: {latency: 1ps}", "intra: {latency: 777ns, bandwidth: 2GB/s}"}[r.IntN(3)])
	}
	section := ""
	if r.IntN(3) == 0 {
		section = "contention: {model: links, out: 1, in: 1}\n"
		fields = append(fields, "in: 2")
	}
	spans := []string{"{0: fat}", "{1-2: fat, 4-9: fat}", "{2-100: fat}"}[r.IntN(3)]
	return strings.Replace(text, "mapping:", section+"node_types: {fat: {"+strings.Join(fields, ", ")+"}}\nnodes_of: "+spans+"\nmapping:", 1)
}

// TestRandomProgramsOnTypesOfNodes: every rank of every valid program sees the same times, statuses and data where nodes differ, however the
// simulation is hosted.
func TestRandomProgramsOnTypesOfNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := programsOn(nodesOfTypes, 24, 24).Draw(t, "program")
		want := watch(t, &p, hosting{engines: 1})
		for range 4 {
			compare(t, &p, hosts(len(p.ops)).Draw(t, "host"), want)
		}
	})
}

// A barrier of node-leader by hand: nodes of 2, 3 and 1 ranks. All enter at 0. The leader of the first node goes on at 1 us, that of the fat
// one at 5 us, the third at 0.
func TestJoinsOfTypes(t *testing.T) {
	const machine = "name: joins\nranks_per_node: 2\nnode_types: {fat: {processors: 3, intra: {latency: 5us}}}\nnodes_of: {1: fat}\n" +
		"network: {model: twolevel, intra: {latency: 1us}, inter: {latency: 10us}}\n"
	got := instants(t, machine, 6, mpivirt.Config{}, func(r *mpivirt.Rank, note func(string)) error {
		if err := r.World().Barrier(); err != nil {
			return err
		}
		note("left")
		return nil
	})
	// Of three leaders the first folds into the second: its message is there at 11, later than 5. The second has that of the third, sent at 0, by then. The
	// third and the first have the second's at 21.
	for rank, want := range []vtime.Duration{21, 22, 11, 16, 16, 21} {
		if at := got[rank]["left"]; at != vtime.Time(want*vtime.Microsecond) {
			t.Errorf("rank %d leaves at %v, want %v", rank, at, want*vtime.Microsecond)
		}
	}
}

// Links of types: two messages into a node with two links go side by side, into one with one link one after the other.
func TestLinksOfTypes(t *testing.T) {
	const section = "contention: {model: links, in: 1}\nnode_types: {fat: {in: 2}}\nnodes_of: {2: fat}"
	holdFlows(t, section, []flow{{0, 1, 100_000, 0}, {3, 1, 50_000, 0}, {3, 2, 100_000, 0}, {4, 2, 50_000, 0}}, []vtime.Duration{110, 160, 110, 60})
	const fair = "contention: {model: fair, in: 1GB/s}\nnode_types: {fat: {in: 2GB/s}}\nnodes_of: {2: fat}"
	holdFlows(t, fair, []flow{{0, 1, 100_000, 0}, {3, 1, 100_000, 0}, {3, 2, 100_000, 0}, {4, 2, 50_000, 0}}, []vtime.Duration{210, 210, 110, 60})
}
