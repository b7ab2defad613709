package mpivirt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/network"
	"gigarank/sync"
	"gigarank/vtime"
)

// twoLatencies is a machine on which messages cost no processor anything.
const twoLatencies = `name: two-latencies
ranks_per_node: 12
network: {model: twolevel, intra: {latency: 0.5us}, inter: {latency: 5us}}`

// Design, section 7: the leader goes on at the latest of its own entry and each other
// member's entry + α_intra, and leaves α_intra before the others. All ranks of one node
// enter at the same instant, as soon as a receive of any source has told them to; the
// leader is the rank that the communicator's keys put first. What Test finds depends on
// the instant alone.
func TestTestOfABarrierDoesNotDependOnTheHost(t *testing.T) {
	const ranks, intra = 12, 500 * vtime.Nanosecond
	began := vtime.Time(vtime.Millisecond)
	for _, leader := range []int{0, 11} {
		for _, after := range []vtime.Duration{0, intra - 1, intra, 2 * intra} {
			main := func(r *mpivirt.Rank) error {
				comm, err := r.World().Split(0, (r.Rank()-leader+ranks)%ranks)
				if err != nil {
					return err
				}
				if err := meetBySurprise(r, began, intra); err != nil {
					return err
				}
				q, err := comm.Ibarrier()
				if err != nil {
					return err
				}
				r.Compute(after)
				_, done, err := q.Test()
				if want := after >= 2*intra || after >= intra && comm.Rank() == 0; err == nil && done != want {
					err = fmt.Errorf("after %v Test says %t", after, done)
				}
				if !done && err == nil {
					_, err = q.Wait()
				}
				return err
			}
			eachHost(t, ranks, func(h host) {
				_, err := simulate(t, mpivirt.Config{
					Target: target(t, twoLatencies, ranks), Strict: h.Strict, Protocol: h.Protocol, Collectives: h.Collectives,
					Program: mpivirt.Program{Name: "probe", Forms: []mpivirt.Form{mpivirt.Main(main)}},
				}, h.Engines)
				if err != nil {
					t.Errorf("leader %d, %+v: %v", leader, h, err)
				}
			})
		}
	}
}

// meetBySurprise brings all ranks to an instant by a message that they receive from
// any source, latency after it was sent.
func meetBySurprise(r *mpivirt.Rank, at vtime.Time, latency vtime.Duration) error {
	w := r.World()
	r.Compute(at.Add(-latency).Sub(r.Now()))
	if err := w.SendSize(0, (r.Rank()+1)%w.Size(), 0); err != nil {
		return err
	}
	_, err := w.RecvSize(0, mpivirt.AnySource, mpivirt.AnyTag)
	if r.Now() != at && err == nil {
		err = fmt.Errorf("the message comes at %v, want %v", r.Now(), at)
	}
	return err
}

// eachHost visits 1 to 4 engines under each protocol and interpreter, strict or not.
func eachHost(t *testing.T, ranks int, visit func(h host)) {
	t.Helper()
	for engines := 1; engines <= min(4, ranks); engines++ {
		for _, protocol := range []sync.Protocol{sync.Hybrid, sync.Conditional, sync.Null} {
			for _, i := range interpreters {
				visit(host{Engines: engines, Protocol: protocol, Collectives: i})
				visit(host{Engines: engines, Protocol: protocol, Collectives: i, Strict: true})
			}
		}
	}
}

// paying is a machine of nodes with three ranks on which bytes cost time everywhere:
// within a node 10 ns and 2 ns a byte, between nodes 1 us and 5 ns a byte, and 3 ns for
// each byte reduced.
const paying = "name: paying\nranks_per_node: 3\nnetwork: {model: twolevel, intra: {latency: 10ns, bandwidth: 500MB/s}, " +
	"inter: {latency: 1us, bandwidth: 200MB/s}, reduce: {bandwidth: 1GB/s}}\n"

// Design, section 7: "An allreduce of m bytes pays for them: each entry counts + α_intra
// + β_intra·m, the leader combines k−1 contributions at γm each, the others leave at the
// leader's exit + α_intra + β_intra·m."
func TestNodeLeaderAllreducePaysWithinTheNode(t *testing.T) {
	const bytes = 8 // 10 + 16 ns within a node, 8 ns to combine, 1040 + 8 ns between leaders
	for _, c := range []struct {
		name    string
		entries []int
		want    []vtime.Duration // ns
	}{
		{"the leader is first", []int{0, 50, 20}, []vtime.Duration{92, 118, 118}},
		{"the leader comes while another's vector is on its way", []int{60, 50, 20}, []vtime.Duration{92, 118, 118}},
		{"the leader is last", []int{100, 50, 20}, []vtime.Duration{116, 142, 142}},
		{"two nodes", []int{0, 0, 0, 0, 500, 0}, []vtime.Duration{1590, 1616, 1616, 1090, 1116, 1116}},
		{"one rank on the second node", []int{0, 0, 0, 1}, []vtime.Duration{1049, 1075, 1075, 1090}},
	} {
		for _, data := range []bool{false, true} {
			for _, nonblocking := range []bool{false, true} {
				call := func(c *mpivirt.Comm) error {
					switch {
					case !data && !nonblocking:
						return c.CollectiveSize(collectives.Allreduce, bytes, 0)
					case !nonblocking:
						return mpivirt.Allreduce(c, []uint64{1}, []uint64{0}, mpivirt.Sum[uint64]())
					}
					q, err := mpivirt.Iallreduce(c, []uint64{1}, []uint64{0}, mpivirt.Sum[uint64]())
					if err == nil {
						_, err = q.Wait()
					}
					return err
				}
				eachHost(t, len(c.entries), func(h host) {
					got := exits(t, mpivirt.Config{
						Target: target(t, paying, len(c.entries)), Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict,
					}, h.Engines, c.entries, call)
					for rank, ns := range c.want {
						if got[rank] != vtime.Time(ns*vtime.Nanosecond) {
							t.Errorf("%s, data %t, nonblocking %t, %+v: rank %d leaves at %v, want %dns", c.name, data, nonblocking, h, rank, got[rank], ns)
						}
					}
				})
			}
		}
	}
}

// The figures of a node of the XT5: 0.5 us and 6 GB/s each way.
func TestNodeLeaderAllreduceOnOneNode(t *testing.T) {
	for _, c := range []struct {
		machine string
		bytes   int64
		want    vtime.Duration
	}{
		{"latency: 0.5us, bandwidth: 6GB/s", 8, 2 * (500_000 + 1_333)},
		{"latency: 0.5us, bandwidth: 6GB/s", 8 << 20, 2 * (500_000 + 1_398_101_333)},
		{"latency: 0.5us", 8 << 20, 1_000_000},
	} {
		machine := fmt.Sprintf("name: node\nranks_per_node: 12\nnetwork: {model: twolevel, intra: {%s}, inter: {latency: 5us}, reduce: {bandwidth: 4GB/s}}\n", c.machine)
		want := c.want + 11*vtime.Duration(c.bytes)*250
		for _, i := range interpreters {
			got := finish(t, target(t, machine, 12), i, 2, collectives.Allreduce, collectives.NodeLeader, func(w *mpivirt.Comm) error {
				return w.CollectiveSize(collectives.Allreduce, c.bytes, 0)
			})
			if got != want {
				t.Errorf("%d bytes on a node of %s, interpreter %d: %v, want %v", c.bytes, c.machine, i, got, want)
			}
		}
	}
}

// Design, section 7: with all ranks together, n nodes of k ranks take
// 2(α_intra + β_intra·m) + (k−1)γm and recursive doubling of n.
func TestNodeLeaderClosedForm(t *testing.T) {
	perByte := func(ns vtime.Duration) func(int64) vtime.Duration {
		return func(bytes int64) vtime.Duration { return vtime.Duration(bytes) * ns * vtime.Nanosecond }
	}
	cost := collectives.Cost{
		Alpha: vtime.Microsecond, Beta: perByte(5), Gamma: perByte(3), Intra: 10 * vtime.Nanosecond, IntraBeta: perByte(2),
	}
	for _, nodes := range []int{1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17, 31, 33} {
		for _, perNode := range []int{1, 2, 3, 8} {
			machine := fmt.Sprintf("name: two\nranks_per_node: %d\nnetwork: {model: twolevel, intra: {latency: 10ns, bandwidth: 500MB/s}, "+
				"inter: {latency: 1us, bandwidth: 200MB/s}, reduce: {bandwidth: 0.333333333333GB/s}}\n", perNode)
			tgt := target(t, machine, nodes*perNode)
			cost.PerNode = perNode
			cost.Gamma = tgt.ReduceTime
			for _, i := range interpreters {
				for _, kind := range []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind} {
					for _, bytes := range []int64{0, 8, 1000} {
						op := collectives.Allreduce
						if bytes == 0 {
							op = collectives.Barrier
						}
						want, ok := collectives.ClosedForm(op, collectives.NodeLeader, nodes, bytes, 1, cost)
						if got := finishAs(t, tgt, i, kind, op, bytes); !ok || got != want {
							t.Errorf("%v of %d bytes, %d nodes of %d ranks, interpreter %d, %v: %v, want %v (%t)", op, bytes, nodes, perNode, i, kind, got, want, ok)
						}
					}
				}
			}
		}
	}
}

// finishAs is finish by node-leader for a kind of LP.
func finishAs(t *testing.T, tgt *network.Target, i mpivirt.Interpreter, kind *mpivirt.Kind, op collectives.Operation, bytes int64) vtime.Duration {
	t.Helper()
	if kind == mpivirt.Goroutine {
		return finish(t, tgt, i, 3, op, collectives.NodeLeader, func(w *mpivirt.Comm) error { return w.CollectiveSize(op, bytes, 0) })
	}
	program := eventScript(func(r *steps.Rank) steps.Outcome { return r.CollectiveSize(op, bytes, 0) })
	r, err := simulate(t, mpivirt.Config{Target: tgt, Collectives: i, Program: program}, 3)
	if err != nil {
		t.Fatal(err)
	}
	return vtime.Duration(r.VirtualTime)
}

// A later entry of one rank makes no exit of any rank earlier, whatever the algorithm
// and whoever carries it out. Under loggops this need not hold: there a rank's CPU takes
// messages in turns.
func TestALaterEntryMakesNoExitEarlier(t *testing.T) {
	for _, op := range collectives.Operations() {
		t.Run(op.String(), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) { checkMonotone(t, rt, op) })
		})
	}
}

func checkMonotone(t *testing.T, rt *rapid.T, op collectives.Operation) {
	a := rapid.SampledFrom(collectives.Algorithms(op)).Draw(rt, "algorithm")
	ranks := rapid.IntRange(2, 14).Draw(rt, "ranks")
	tgt := target(t, drawMaxPlusMachine(rt), ranks)
	x := exercise{op: op, members: ranks, count: rapid.SampledFrom([]int{0, 1, 30}).Draw(rt, "count"), key: rapid.Uint64().Draw(rt, "key"), whole: true}
	if op.Rooted() {
		x.root = rapid.IntRange(0, ranks-1).Draw(rt, "root")
	}
	call := func(c *mpivirt.Comm) error { return x.arguments(c.Rank()).call(c) }
	if rapid.Bool().Draw(rt, "nonblocking") {
		call = func(c *mpivirt.Comm) error {
			q, err := x.arguments(c.Rank()).begin(c)
			if err == nil {
				_, err = q.Wait()
			}
			return err
		}
	}
	entries := rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 1, 10, 500, 2000, 9000}), ranks, ranks).Draw(rt, "entries")
	later := slices.Clone(entries)
	later[rapid.IntRange(0, ranks-1).Draw(rt, "rank")] += rapid.SampledFrom([]int{1, 9, 600, 5000}).Draw(rt, "later")
	h := drawHost.Draw(rt, "host")
	config := mpivirt.Config{
		Target: tgt, Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict, Window: h.Window,
		Algorithms: map[collectives.Operation]collectives.Algorithm{op: a},
	}
	before, after := exits(t, config, h.Engines, entries, call), exits(t, config, h.Engines, later, call)
	for rank := range before {
		if after[rank] < before[rank] {
			rt.Fatalf("entries %v: rank %d leaves at %v; entries %v: at %v", entries, rank, before[rank], later, after[rank])
		}
	}
}

// drawMaxPlusMachine gives a random machine whose delays do not depend on history.
func drawMaxPlusMachine(t *rapid.T) string {
	return rapid.Custom(drawMachine).Filter(func(m string) bool { return !strings.Contains(m, "loggops") }).Draw(t, "machine")
}
