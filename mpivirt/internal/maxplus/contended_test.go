package maxplus

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/network/contention"
	"gigarank/vtime"
)

// sharedSlowly takes clocks through rounds message by message: those of a round take an interface of their node in the order
// (instant, sender), outward and then inward, before those of the next round; those within a node take its memory in that order, and arrive
// a latency after it has carried their bytes, or as without others; then what is combined and packed takes the memory in the order of receiving.
// Package contention holds the arithmetic of one interface to laws.
func sharedSlowly(r *Rounds, share func() *Interfaces, clocks []vtime.Time) []vtime.Time {
	type message struct {
		at       vtime.Time
		src, dst int
	}
	t, now := r.Target, slices.Clone(clocks)
	own := share()
	take := func(all []message, i *contention.Interfaces, rank func(m message) int, bytes vtime.Duration) {
		slices.SortFunc(all, func(a, b message) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.src, b.src)) })
		for k := range all {
			all[k].at = i.Take(rank(all[k])/own.PerNode, rank(all[k])%own.PerNode, all[k].at, bytes)
		}
		for node := range t.Nodes() {
			i.Close(node)
		}
	}
	for round := range r.Schedule.MaxRounds() {
		p := r.Schedule.Pattern(round)
		bytes := r.Bytes * int64(p.Sent)
		var between, within []message
		arrival, ready := map[int]vtime.Time{}, slices.Clone(now)
		for m := range clocks {
			if r.Schedule.Next(m, round) != round || round >= r.Schedule.Rounds(m) {
				continue
			}
			to := r.Schedule.Step(m, round).To
			if to == collectives.None {
				continue
			}
			free, leaves := t.Send(nil, bytes, now[m])
			if ready[m] = free; m/own.PerNode == to/own.PerNode {
				arrival[to] = leaves.Add(t.Delay(m, to, bytes))
				within = append(within, message{leaves, m, to})
			} else {
				between = append(between, message{leaves, m, to})
			}
		}
		busy := t.InterfaceTime(bytes)
		take(between, own.Out, func(m message) int { return m.src }, busy)
		for i, m := range between {
			latency, transfer := Congested(t, &p).LatencyAndTransfer(m.src, m.dst, bytes)
			between[i].at = m.at.Add(latency).Add(max(transfer-busy, 0))
		}
		take(between, own.In, func(m message) int { return m.dst }, busy)
		for _, m := range between {
			arrival[m.dst] = m.at.Add(busy)
		}
		if busy := t.MemoryTime(bytes); busy > 0 {
			take(within, own.Memory, func(m message) int { return m.src }, busy)
			for _, m := range within {
				latency, _ := t.LatencyAndTransfer(m.src, m.dst, bytes)
				arrival[m.dst] = max(arrival[m.dst], m.at.Add(busy).Add(latency))
			}
		}
		now = ready
		alone, busy := t.ReduceTime(r.Bytes*int64(p.Combined)), t.CombiningTime(r.Bytes*int64(p.Combined))
		if t.CopiesBytes() {
			packing := func(copies collectives.Copies) vtime.Duration {
				return collectives.Packing(r.Schedule, round, r.Bytes, r.Bytes*int64(r.Schedule.Positions()), copies)
			}
			alone, busy = alone.Plus(packing(CopiesOf(t))), busy.Plus(packing(collectives.Copies{Copy: t.MemoryTime}))
		}
		var works []message
		for m, at := range arrival {
			now[m] = t.Receive(nil, bytes, 0, now[m], at)
			works = append(works, message{now[m], m, m})
			now[m] = now[m].Add(alone)
		}
		if busy > 0 {
			take(works, own.Memory, func(m message) int { return m.src }, busy)
			for _, m := range works {
				now[m.src] = max(now[m.src], m.at.Add(busy))
			}
		}
	}
	return now
}

// TestSharedInterfaces: rounds over arrays whose messages share interfaces give what messages one by one do, in however many arrays.
func TestSharedInterfaces(t *testing.T) {
	for _, machine := range []string{
		"name: m\nranks_per_node: %\nnode: {bandwidth: 1GB/s}\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n",
		"name: m\nranks_per_node: %\nnode: {bandwidth: 100MB/s}\nnetwork: {model: twolevel, intra: {latency: 300ns, bandwidth: 5GB/s}, inter: {latency: 1us, bandwidth: 1GB/s}, overhead: {send: 200ns, receive: 300ns}}\n",
		"name: m\nranks_per_node: %\nnode: {bandwidth: 1GB/s}\ntopology: {kind: torus, dimensions: 3}\nnetwork: {model: hops, latency: 1us, latency_per_hop: 1us}\n",
		"name: m\nranks_per_node: %\nnode: {bandwidth: 1GB/s}\ntopology: {kind: mesh, dimensions: 2}\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, congestion: {bandwidth: 30MB/s}}\n",
		"name: m\nranks_per_node: %\nnode: {bandwidth: 1GB/s}\ntopology: {kind: hierarchy, levels: [{size: 4, hops: 1}, {hops: 2}]}\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, congestion: {bandwidth: 30MB/s}}\n",
	} {
		rapid.Check(t, func(t *rapid.T) {
			perNode := rapid.SampledFrom([]int{1, 2, 5, 16}).Draw(t, "ranks per node")
			memory := rapid.SampledFrom([]string{"infinite", "500MB/s", "8GB/s", "50GB/s"}).Draw(t, "memory")
			r := drawRounds(t, strings.NewReplacer("%", strconv.Itoa(perNode), "node: {", "node: {memory: "+memory+", ").Replace(machine))
			each, gap := rapid.SampledFrom([]int{1, 1, 3}).Draw(t, "interfaces"), rapid.SampledFrom([]vtime.Duration{0, 1, 70_000, 900_000}).Draw(t, "gap")
			nodes, shared := r.Target.Nodes(), rapid.Bool().Draw(t, "shared")
			packet := r.Target.InterfaceTime(rapid.SampledFrom([]int64{0, 8, 30, 4096}).Draw(t, "packet"))
			r.Bytes = rapid.SampledFrom([]int64{8, 8, 500}).Draw(t, "bytes")
			share := func() *Interfaces {
				i := &Interfaces{Out: contention.NewInterfaces(nodes, each, shared, gap, packet), In: contention.NewInterfaces(nodes, each, shared, gap, packet), Memory: contention.NewInterfaces(nodes, 1, false, 0, packet), PerNode: perNode}
				i.Out.Layer()
				i.In.Layer()
				return i
			}
			clocks := make([]vtime.Time, r.High)
			entry := rapid.SliceOfN(rapid.Int64Range(0, int64(5*vtime.Microsecond)), 1, 20).Draw(t, "entries")
			for i := range clocks {
				clocks[i] = vtime.Time(entry[i*i%len(entry)])
			}
			want := sharedSlowly(&r, share, clocks)
			for _, pieces := range []int{1, rapid.IntRange(1, min(nodes, 5)).Draw(t, "arrays")} {
				r.Interfaces = share()
				at := cuts{0}
				for i := 1; i < pieces; i++ {
					at = append(at, nodes*i/pieces*perNode)
				}
				got, _ := through(t, r, append(at, r.High), clocks, slices.Max(clocks))
				if i := firstDifference(got, want); i >= 0 {
					t.Fatalf("%d arrays: participant %d of %d is through at %v, message by message at %v", pieces, i, r.High, got[i], want[i])
				}
			}
		})
	}
}

// firstDifference returns the first index at which clocks differ, -1 for none.
func firstDifference(a, b []vtime.Time) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}
