package mpivirt_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/mpivirt"
	"gigarank/vtime"
)

// A flow is a message of the exact rows: each is sent eagerly by a rank that does nothing else, and asks 10 us later.
type flow struct {
	from, to, bytes int
	sent            vtime.Duration // us
}

// The messages of the rows of busses, links and scaled bandwidth, at 1 GB/s.
var fiveFlows = []flow{{0, 1, 100_000, 0}, {0, 2, 50_000, 0}, {3, 1, 50_000, 20}, {3, 2, 20_000, 40}, {4, 2, 100_000, 30}}

// holdFlows checks the ends of messages, in us.
func holdFlows(t *testing.T, contention string, flows []flow, ends []vtime.Duration) {
	t.Helper()
	machine := "name: rows\n" + contention + "\nnetwork: {model: flat, latency: 10us, bandwidth: 1GB/s}\n"
	const ranks = 5
	got := instants(t, machine, ranks, mpivirt.Config{}, func(r *mpivirt.Rank, note func(string)) error {
		w := r.World()
		type awaited struct {
			flow    int
			request mpivirt.Request
		}
		var all []awaited
		var began vtime.Duration
		order := make([]int, len(flows))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return int(flows[a].sent - flows[b].sent) })
		for _, i := range order {
			f := flows[i]
			if f.to == r.Rank() {
				q, err := w.IrecvSize(int64(f.bytes), f.from, i)
				if err != nil {
					return err
				}
				all = append(all, awaited{i, q})
			}
			if f.from == r.Rank() {
				r.Compute((f.sent - began) * vtime.Microsecond)
				began = f.sent
				if err := w.SendSize(int64(f.bytes), f.to, i); err != nil {
					return err
				}
			}
		}
		// A wait ends when its message and those before have come: so they are waited for in the order of their ends.
		slices.SortStableFunc(all, func(a, b awaited) int { return int(ends[a.flow] - ends[b.flow]) })
		for _, a := range all {
			if _, err := a.request.Wait(); err != nil {
				return err
			}
			note(fmt.Sprint(a.flow))
		}
		return nil
	})
	for i, end := range ends {
		if at := got[flows[i].to][fmt.Sprint(i)]; at != vtime.Time(end*vtime.Microsecond) {
			t.Errorf("%s: message %d of %d ends at %v, not %v", contention, i+1, len(flows), at, end*vtime.Microsecond)
		}
	}
}

// The ends of busses and links are what Dimemas 5.5.0 prints, but the last row, where Dimemas asks for links before
// busses. Those of scaled bandwidth follow from its formula.
func TestRowsOfContention(t *testing.T) {
	for _, row := range []struct {
		contention string
		ends       []vtime.Duration
	}{
		{"", []vtime.Duration{110, 60, 80, 70}},
		{"contention: {model: links, busses: 1}", []vtime.Duration{110, 160, 210, 230}},
		{"contention: {model: links, busses: 2}", []vtime.Duration{110, 60, 110, 130}},
		{"contention: {model: links, busses: 3}", []vtime.Duration{110, 60, 80, 80}},
		{"contention: {model: links, in: 1}", []vtime.Duration{110, 60, 160, 80}},
		{"contention: {model: links, out: 1}", []vtime.Duration{110, 160, 80, 100}},
		{"contention: {model: links, in: 1, out: 1}", []vtime.Duration{110, 160, 160, 70}},
		{"contention: {model: links, busses: 2, in: 1, out: 1}", []vtime.Duration{110, 160, 160, 70}},
		{"contention: {model: links}", []vtime.Duration{110, 60, 80, 70, 140}},
		{"contention: {model: links, busses: 1}", []vtime.Duration{110, 160, 210, 330, 310}},
		{"contention: {model: links, busses: 2}", []vtime.Duration{110, 60, 110, 130, 210}},
		{"contention: {model: links, busses: 3}", []vtime.Duration{110, 60, 80, 100, 160}},
		{"contention: {model: links, in: 1}", []vtime.Duration{110, 60, 160, 180, 160}},
		{"contention: {model: links, out: 1}", []vtime.Duration{110, 160, 80, 100, 140}},
		{"contention: {model: links, in: 2}", []vtime.Duration{110, 60, 80, 80, 140}},
		{"contention: {model: links, in: 1, out: 1}", []vtime.Duration{110, 190, 160, 210, 140}},
		{"contention: {model: links, busses: 2, in: 1, out: 1}", []vtime.Duration{110, 190, 160, 210, 140}},
		{"contention: {model: links, busses: 1, in: 1, out: 1}", []vtime.Duration{110, 160, 210, 330, 310}},
		{"contention: {model: pmac, busses: 1}", []vtime.Duration{110, 110, 180, 130}},
		{"contention: {model: pmac, busses: 2}", []vtime.Duration{110, 60, 105, 90}},
		{"contention: {model: pmac, in: 1}", []vtime.Duration{110, 60, 130, 90}},
		{"contention: {model: pmac, out: 1}", []vtime.Duration{110, 110, 80, 90}},
		{"contention: {model: pmac, busses: 1}", []vtime.Duration{110, 110, 180, 150, 440}},
		{"contention: {model: pmac, busses: 2}", []vtime.Duration{110, 60, 105, 100, 240}},
		{"contention: {model: pmac, in: 1}", []vtime.Duration{110, 60, 130, 110, 240}},
		{"contention: {model: pmac, busses: 2, in: 1, out: 1}", []vtime.Duration{110, 110, 130, 110, 240}},
		{"contention: {model: fair, out: 1GB/s, in: 1GB/s}", []vtime.Duration{170, 110, 130, 90}},
		{"contention: {model: fair, out: 1GB/s, in: 1GB/s}", []vtime.Duration{170, 130, 130, 110, 195}},
	} {
		holdFlows(t, row.contention, fiveFlows[:len(row.ends)], row.ends)
	}
	// As SimGrid 3.32 prints them, with model CM02.
	const fair = "contention: {model: fair, out: 1GB/s, in: 1GB/s}"
	holdFlows(t, fair, []flow{{0, 2, 50_000, 0}, {0, 1, 100_000, 0}, {3, 2, 100_000, 20}}, []vtime.Duration{110, 160, 170})
	holdFlows(t, fair, []flow{{0, 2, 30_000, 0}, {0, 1, 100_000, 0}, {3, 2, 60_000, 0}, {4, 2, 90_000, 0}}, []vtime.Duration{100, 140, 160, 190})
}

// Fair shares over the links of topologies, by hand: latency 10 us, each link 1 GB/s, those of nodes without limit.
func TestFairSharesOfTopologies(t *testing.T) {
	const section = "contention: {model: fair, link: 1GB/s, topology: true}\n"
	for _, row := range []struct {
		topology string
		flows    []flow
		ends     []vtime.Duration
	}{
		// Both take the link from 1 to 2: half of it each, then the first has it alone.
		{"topology: {kind: mesh, dims: [5]}", []flow{{0, 2, 100_000, 0}, {1, 3, 50_000, 0}}, []vtime.Duration{160, 110}},
		// The other way is another link.
		{"topology: {kind: mesh, dims: [5]}", []flow{{0, 2, 100_000, 0}, {2, 0, 50_000, 0}}, []vtime.Duration{110, 60}},
		// The long one shares one link with each of the others, and the second has what is left.
		{"topology: {kind: mesh, dims: [5]}", []flow{{0, 4, 100_000, 0}, {0, 1, 100_000, 0}, {1, 4, 50_000, 0}}, []vtime.Duration{210, 210, 110}},
		// Three on one link, one of them on another with a fourth: 1/3 each, and 2/3 for the fourth until 85. The first ends at 10 + 90, and so do those beside it.
		{"topology: {kind: mesh, dims: [5]}", []flow{{0, 2, 30_000, 0}, {1, 2, 30_000, 0}, {1, 3, 30_000, 0}, {2, 3, 50_000, 0}}, []vtime.Duration{100, 100, 100, 85}},
		// The ring is shorter over its closing link.
		{"topology: {kind: ring}", []flow{{0, 4, 100_000, 0}, {0, 2, 100_000, 0}}, []vtime.Duration{110, 110}},
		{"topology: {kind: ring}", []flow{{0, 4, 100_000, 0}, {1, 4, 100_000, 0}}, []vtime.Duration{210, 210}},
		// Each receiver has a link up of its own. With half of them there is one of two nodes.
		{"topology: {kind: fat-tree, arity: 2}", []flow{{0, 2, 100_000, 0}, {1, 3, 100_000, 0}}, []vtime.Duration{110, 110}},
		{"topology: {kind: fat-tree, arity: 2}\ntaper: 0.5", []flow{{0, 2, 100_000, 0}, {1, 3, 100_000, 0}}, []vtime.Duration{210, 210}},
		{"topology: {kind: fat-tree, arity: 2}\ntaper: 0.5", []flow{{0, 2, 100_000, 0}}, []vtime.Duration{110}},
		{"topology: {kind: fat-tree, arity: 2}\ntaper: 0.5", []flow{{0, 1, 100_000, 0}, {1, 0, 100_000, 0}}, []vtime.Duration{110, 110}},
		{"topology: {kind: fat-tree, arity: 2}\ntaper: 0.25", []flow{{0, 2, 100_000, 0}}, []vtime.Duration{210}},
		// The global link of two groups; a third group has another. With a taper of 1 a global link is one of two nodes for two other groups.
		{"topology: {kind: dragonfly, routers: 1, nodes_per_router: 2, groups: 3}", []flow{{0, 2, 100_000, 0}, {1, 3, 100_000, 0}, {0, 4, 100_000, 0}}, []vtime.Duration{210, 210, 110}},
		{"topology: {kind: dragonfly, routers: 1, nodes_per_router: 2, groups: 3}\ntaper: 0.5", []flow{{0, 2, 100_000, 0}, {0, 4, 50_000, 0}}, []vtime.Duration{210, 110}},
		// Two nodes of a unit go at full speed, and at half of it with a taper.
		{"topology: {kind: hierarchy, levels: [{size: 2, hops: 2}, {hops: 4}]}", []flow{{0, 2, 100_000, 0}, {1, 3, 100_000, 0}}, []vtime.Duration{110, 110}},
		{"topology: {kind: hierarchy, levels: [{size: 2, hops: 2}, {hops: 4}]}\ntaper: 0.5", []flow{{0, 2, 100_000, 0}, {1, 4, 100_000, 20}}, []vtime.Duration{190, 210}},
	} {
		holdFlows(t, section+row.topology, row.flows, row.ends)
	}
	// The links of nodes and the backbone are shared besides.
	holdFlows(t, "contention: {model: fair, out: 500MB/s, link: 1GB/s, topology: true}\ntopology: {kind: ring}", []flow{{0, 1, 100_000, 0}, {2, 1, 100_000, 0}}, []vtime.Duration{210, 210})
	holdFlows(t, "contention: {model: fair, backbone: 1GB/s, link: 1GB/s, topology: true}\ntopology: {kind: ring}", []flow{{0, 1, 100_000, 0}, {2, 1, 100_000, 0}}, []vtime.Duration{210, 210})
	// As without a topology where that is a star.
	holdFlows(t, "contention: {model: fair, out: 1GB/s, in: 1GB/s, topology: true}\ntopology: {kind: star}", fiveFlows, []vtime.Duration{170, 130, 130, 110, 195})
}

// randomContention writes section contention.
func randomContention(r *rand.Rand) string {
	limit := func(name string) string {
		if n := r.IntN(4); n > 0 {
			return fmt.Sprintf(", %s: %d", name, n)
		}
		return ""
	}
	switch r.IntN(4) {
	case 0:
		return fmt.Sprintf("contention: {model: fair, out: %dMB/s, in: %dMB/s, backbone: %dMB/s}", 1+r.IntN(3000), 1+r.IntN(3000), 1+r.IntN(9000))
	case 1:
		return fmt.Sprintf("contention: {model: fair, out: %dMB/s, link: %dMB/s, topology: true}", 1+r.IntN(3000), 1+r.IntN(3000))
	}
	return "contention: {model: " + []string{"links", "pmac"}[r.IntN(2)] + limit("busses") + limit("out") + limit("in") + "}"
}

// TestRandomProgramsOnSharedLinks: every rank of every valid program sees the same times, statuses and data where
// messages share links, however the simulation is hosted.
func TestRandomProgramsOnSharedLinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := programsOn(shares(randomContention), 24, 24).Draw(t, "program")
		want := watch(t, &p, hosting{engines: 1})
		for range 4 {
			compare(t, &p, hosts(len(p.ops)).Draw(t, "host"), want)
		}
	})
}

// Where each pair of ranks has its own share of a wide network, nothing changes: fair shares of more than all messages
// need leave every time as it is, but where messages of one pair are under way at the same time.
func TestRendezvousWithinWideLinks(t *testing.T) {
	const machine = "name: wide\n%s\nnetwork: {model: flat, latency: 10us, bandwidth: 1GB/s, eager_limit: 100}\n"
	run := func(contention string) []map[string]vtime.Time {
		return instants(t, strings.Replace(machine, "%s", contention, 1), 6, mpivirt.Config{}, func(r *mpivirt.Rank, note func(string)) error {
			w := r.World()
			for round, bytes := range []int64{200, 3000, 90_000, 50, 1} {
				peer := (r.Rank() + 3) % 6
				q, err := w.IrecvSize(bytes, peer, round)
				if err != nil {
					return err
				}
				r.Compute(vtime.Duration(r.Rank()*round) * vtime.Microsecond)
				if err := w.SendSize(bytes, peer, round); err != nil {
					return err
				}
				note(fmt.Sprint("free ", round))
				if _, err := q.Wait(); err != nil {
					return err
				}
				note(fmt.Sprint("received ", round))
			}
			return nil
		})
	}
	want := run("")
	for _, contention := range []string{"contention: {model: links, busses: 1000}", "contention: {model: pmac, out: 1000}", "contention: {model: fair, out: 900GB/s, in: 900GB/s}"} {
		wantInstants(t, run(contention), want)
	}
}
