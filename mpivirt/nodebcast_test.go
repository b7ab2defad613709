package mpivirt_test

import (
	"fmt"
	"slices"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// A broadcast among the ranks of a node takes the time that the machine gives, from the last entry to the last exit, with the right
// contents, on any number of engines. Beyond a node it goes by messages, as it does by an algorithm that is named.
func TestBroadcastsOfANodeTakeTheGivenTime(t *testing.T) {
	const file = "name: measured\nranks_per_node: 4\nnetwork: {model: twolevel, intra: {latency: 30ns}, inter: {latency: 1us}, join: [{size: 0, delay: 100ns}], node_bcast: [{size: 8, delay: 150ns}, {size: 1008, delay: 1150ns}]}\n"
	for _, c := range []struct {
		name  string
		ranks int
		bytes int
		named map[collectives.Operation]collectives.Algorithm
		want  vtime.Duration
	}{
		{"one node", 4, 508, nil, 650 * vtime.Nanosecond},
		{"a part of a node", 3, 8, nil, 150 * vtime.Nanosecond},
		{"two nodes", 8, 8, nil, 2030 * vtime.Nanosecond}, // binomial: 7 to 3 and 3 to 5, 1 us each, then within a node
		{"named", 4, 508, map[collectives.Operation]collectives.Algorithm{collectives.Bcast: collectives.Binomial}, 60 * vtime.Nanosecond},
	} {
		tgt := target(t, file, c.ranks)
		for engines := 1; engines <= 3; engines++ {
			took := make([]vtime.Duration, c.ranks)
			_, err := simulate(t, mpivirt.Config{Target: tgt, Algorithms: c.named, Program: mpivirt.Program{Name: "bcast", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				data := make([]byte, c.bytes)
				if r.Rank() == c.ranks-1 {
					data = slices.Repeat([]byte{7}, c.bytes)
				}
				start := r.Now()
				if err := mpivirt.Bcast(r.World(), data, c.ranks-1); err != nil {
					return err
				}
				took[r.Rank()] = r.Now().Sub(start)
				if !slices.Equal(data, slices.Repeat([]byte{7}, c.bytes)) {
					return fmt.Errorf("rank %d has other contents than the root", r.Rank())
				}
				return nil
			})}}}, engines)
			if err != nil {
				t.Fatalf("%s, %d engines: %v", c.name, engines, err)
			}
			if got := slices.Max(took); got != c.want {
				t.Errorf("%s, %d engines: takes %v, want %v", c.name, engines, got, c.want)
			}
		}
	}
}
