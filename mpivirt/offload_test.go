package mpivirt_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// What a network of nodes with three ranks sums up: joins of 100 ns and 2 ns a byte, sums of 4 ns a byte, and the network's time.
const (
	offloadTable = "allreduce: [{nodes: 2, delays: [{size: 8, delay: 3us}, {size: 24, delay: 3.4us}]}, {nodes: 4, delays: [{size: 8, delay: 5us}, {size: 24, delay: 6us}]}]"
	offloadTree  = "switches: {most: 24, levels: [{name: leaf, nodes: 2, latency: 300ns, bandwidth: 10MB/s}, {name: core, latency: 1us, bandwidth: 20MB/s}]}"
	offloadRanks = "switches: {most: 24, levels: [{name: chip, nodes: 1, latency: 200ns, bandwidth: 20MB/s}, {name: leaf, nodes: 2, latency: 300ns, bandwidth: 10MB/s}, {name: core, latency: 1us, bandwidth: 20MB/s}]}"
	offloadJoins = ", reduce: {bandwidth: 250MB/s}, join: [{size: 0, delay: 100ns}, {size: 1000, delay: 2100ns}], "
)

// networkTime is the time of the network, computed from the definitions in docs/machines.md: nodes are those of the communicator, in
// ascending order.
func networkTime(network string, nodes []int, bytes int, overhead vtime.Duration) vtime.Duration {
	const ns = vtime.Nanosecond
	first, last := nodes[0], nodes[len(nodes)-1]
	beyond := vtime.Duration(0) // bytes at 10 MB/s
	switch {
	case network == offloadTable && len(nodes) == 1:
		return 0
	case network == offloadTable:
		part := float64(max(bytes-8, 0)) / 16
		two, four := 3000+400*part, 5000+1000*part
		return vtime.Duration(math.Round((two + (four-two)*(math.Log2(float64(len(nodes)))-1)) * 1000))
	case first == last && network == offloadTree:
		return 0
	case first == last:
		return overhead + 400*ns + vtime.Duration(bytes)*50*ns
	case first/2 == last/2:
		beyond = 600 * ns
	default:
		beyond = 2600 * ns
	}
	if network == offloadRanks {
		beyond += 400 * ns
	}
	return overhead + beyond + vtime.Duration(bytes)*100*ns
}

// The members of a node join, the network takes its time from the last node, and the node's members leave: on WORLD and parts of it,
// blocking and not, with vectors and without, under any mapping, model and hosting. Vectors have their sum.
func TestOffload(t *testing.T) {
	models := []struct {
		text     string
		overhead vtime.Duration
	}{
		{"model: flat, latency: 1us, bandwidth: 1GB/s, overhead: {send: 20ns, receive: 40ns}, gap: 9us", 60 * vtime.Nanosecond},
		{"model: flat, latency: 8us, jitter: {distribution: exponential, mean: 4us}", 0},
		{"model: loggops, L: 2500ns, o: 150ns, g: 1000ns, G: 6ns, O: 0, S: 65535", 300 * vtime.Nanosecond},
	}
	rapid.Check(t, func(rt *rapid.T) {
		const perNode = 3
		ranks := rapid.IntRange(2, 14).Draw(rt, "ranks")
		model := rapid.SampledFrom(models).Draw(rt, "model")
		network := rapid.SampledFrom([]string{offloadTable, offloadTree, offloadRanks}).Draw(rt, "network")
		mapping := rapid.SampledFrom([]string{"block", "cyclic", "random:3"}).Draw(rt, "mapping")
		colors := rapid.SliceOfN(rapid.IntRange(0, 2), ranks, ranks).Draw(rt, "colors")
		entries := rapid.SliceOfN(rapid.Int64Range(0, 5_000_000), ranks, ranks).Draw(rt, "entries")
		split, nonblocking := rapid.Bool().Draw(rt, "split"), rapid.Bool().Draw(rt, "nonblocking")
		words := rapid.IntRange(0, 3).Draw(rt, "words")
		sized := rapid.Bool().Draw(rt, "sized")
		op := rapid.SampledFrom([]collectives.Operation{collectives.Allreduce, collectives.Reduce, collectives.Bcast}).Draw(rt, "operation")
		root := rapid.IntRange(0, 20).Draw(rt, "root")
		h := rapid.SampledFrom(hostings(ranks)).Draw(rt, "host")
		if h.Engines > 1 {
			h.Engines = rapid.IntRange(2, ranks).Draw(rt, "engines")
		}
		machine := fmt.Sprintf("name: offload\nranks_per_node: %d\nmapping: %s\nnetwork: {%s%s%s}\n", perNode, mapping, model.text, offloadJoins, network)
		laidOut := target(rt, machine, ranks)
		entered, left, sums := make([]vtime.Time, ranks), make([]vtime.Time, ranks), make([][]uint64, ranks)
		_, err := simulate(rt, mpivirt.Config{
			Target: laidOut, Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict,
			Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Allgather: collectives.Ring},
			Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				c := r.World()
				if split {
					var err error
					if c, err = c.Split(colors[r.Rank()], r.Rank()); err != nil {
						return err
					}
				}
				r.Compute(vtime.Duration(entries[r.Rank()]))
				entered[r.Rank()] = r.Now()
				input, output := make([]uint64, words), make([]uint64, words)
				for i := range input {
					input[i] = uint64(1000*i + r.Rank())
				}
				var err error
				switch {
				case sized && words == 0:
					err = barrierOf(c, nonblocking)
				case sized:
					err = c.CollectiveSize(op, int64(8*words), root%c.Size())
				case nonblocking:
					var q mpivirt.Request
					switch op {
					case collectives.Allreduce:
						q, err = mpivirt.Iallreduce(c, input, output, mpivirt.Sum[uint64]())
					case collectives.Reduce:
						q, err = mpivirt.Ireduce(c, input, output, mpivirt.Sum[uint64](), root%c.Size())
					default:
						q, err = mpivirt.Ibcast(c, input, root%c.Size())
						output = input
					}
					if err == nil {
						_, err = q.Wait()
					}
				case op == collectives.Allreduce:
					err = mpivirt.Allreduce(c, input, output, mpivirt.Sum[uint64]())
				case op == collectives.Reduce:
					err = mpivirt.Reduce(c, input, output, mpivirt.Sum[uint64](), root%c.Size())
				default:
					err = mpivirt.Bcast(c, input, root%c.Size())
					output = input
				}
				left[r.Rank()], sums[r.Rank()] = r.Now(), output
				return err
			})}},
		}, h.Engines)
		if err != nil {
			rt.Fatal(err)
		}
		bytes := 8 * words
		join := 100*vtime.Nanosecond + vtime.Duration(bytes)*2*vtime.Nanosecond
		for rank := range ranks {
			nodes, sum, members := map[int][]int{}, uint64(0), 0
			var ranksOf []int
			for other := range ranks {
				if !split || colors[other] == colors[rank] {
					nodes[laidOut.Node(other)] = append(nodes[laidOut.Node(other)], other)
					sum, members = sum+uint64(other), members+1
					ranksOf = append(ranksOf, other)
				}
			}
			var last vtime.Time
			var used []int
			for node := range laidOut.Nodes() {
				if len(nodes[node]) == 0 {
					continue
				}
				used = append(used, node)
				ready := vtime.Time(0)
				for i, member := range nodes[node] {
					t := entered[member]
					if i > 0 && network != offloadRanks {
						t = t.Add(join)
					}
					ready = max(ready, t)
				}
				if network != offloadRanks && (op != collectives.Bcast || sized && words == 0) {
					ready = ready.Add(vtime.Duration((len(nodes[node])-1)*bytes) * 4 * vtime.Nanosecond)
				}
				last = max(last, ready)
			}
			want := last.Add(networkTime(network, used, bytes, model.overhead))
			if own := nodes[laidOut.Node(rank)]; own[0] != rank && network != offloadRanks {
				want = want.Add(join)
			}
			if members == 1 {
				want = entered[rank]
			}
			tolerance := vtime.Duration(0)
			if network == offloadTable {
				tolerance = 50 // logarithms have 16 bits behind the point
			}
			if off := left[rank].Sub(want); off > tolerance || off < -tolerance {
				rt.Errorf("%+v: rank %d, one of %d on nodes %v, leaves at %v, want %v", h, rank, members, used, left[rank], want)
			}
			for i, got := range sums[rank] {
				want := sum + uint64(1000*i*members)
				switch {
				case op == collectives.Bcast:
					want = uint64(1000*i + ranksOf[root%members])
				case op == collectives.Reduce && rank != ranksOf[root%members]:
					want = 0
				}
				if !sized && got != want {
					rt.Errorf("%+v: rank %d has %d for element %d, want %d", h, rank, got, i, want)
				}
			}
		}
	})
}

// The bits of a sum of doubles do not depend on the engines, and every rank has the same.
func TestOffloadedSumsHaveTheSameBits(t *testing.T) {
	const ranks = 23
	machine := "name: m\nranks_per_node: 3\nnetwork: {model: flat, latency: 1us, switches: {levels: [{name: all, latency: 1us}]}}\n"
	var want float64
	for _, engines := range []int{1, 2, 5, 23} {
		_, err := simulate(t, mpivirt.Config{
			Target: target(t, machine, ranks),
			Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				out := []float64{0}
				if err := mpivirt.Allreduce(r.World(), []float64{math.Exp(float64(7*r.Rank()%11)) / 3}, out, mpivirt.Sum[float64]()); err != nil {
					return err
				}
				if engines == 1 && r.Rank() == 0 {
					want = out[0]
				}
				if engines > 1 && out[0] != want {
					return fmt.Errorf("the sum is %b, on one engine %b", out[0], want)
				}
				return nil
			})}},
		}, engines)
		if err != nil {
			t.Errorf("%d engines: %v", engines, err)
		}
	}
}

// Event ranks by the million leave at the same instant, and engines exchange two records each.
func TestOffloadForEventRanks(t *testing.T) {
	machine := "name: m\nranks_per_node: 4\nnetwork: {model: flat, latency: 1us, join: [{size: 0, delay: 100ns}], " + offloadTree + "}\n"
	for _, op := range []collectives.Operation{collectives.Barrier, collectives.Allreduce} {
		program := eventScript(func(r *steps.Rank) steps.Outcome { return r.CollectiveSize(op, 8, 0) })
		for _, engines := range []int{1, 2, 7} {
			r, err := simulate(t, mpivirt.Config{Target: target(t, machine, 1<<20), Program: program}, engines)
			if err != nil {
				t.Fatal(err)
			}
			want := 2*100*vtime.Nanosecond + 2600*vtime.Nanosecond
			if op == collectives.Allreduce {
				want += 800 * vtime.Nanosecond
			}
			if got := vtime.Duration(r.VirtualTime); got != want || r.Statistics.RemoteMessages > uint64(2*engines) {
				t.Errorf("%v on %d engines takes %v, want %v, with %d records", op, engines, got, want, r.Statistics.RemoteMessages)
			}
		}
	}
}

// Longer vectors, another choice, operators that keep the order of ranks on scattered nodes, and machines without such a network go by messages or are refused.
func TestWhatTheNetworkDoesNotSum(t *testing.T) {
	machine := "name: m\nnetwork: {model: flat, latency: 1us, switches: {most: 24, levels: [{name: all, latency: 100ns}]}}\n"
	allreduce := func(bytes int64) func(c *mpivirt.Comm) error {
		return func(c *mpivirt.Comm) error { return c.CollectiveSize(collectives.Allreduce, bytes, 0) }
	}
	laidOut := target(t, machine, 8)
	config := mpivirt.Config{Target: laidOut}
	if a, b := config.AlgorithmFor(collectives.Allreduce, 24, 8), config.AlgorithmFor(collectives.Allreduce, 25, 8); a != collectives.Offload || b != collectives.NodeLeader {
		t.Errorf("24 bytes go by %v, 25 by %v", a, b)
	}
	for _, c := range []struct {
		algorithm collectives.Algorithm
		bytes     int64
		want      vtime.Duration
	}{{collectives.Offload, 24, 200 * vtime.Nanosecond}, {collectives.Offload, 25, 3 * vtime.Microsecond}, {collectives.RecursiveDoubling, 24, 3 * vtime.Microsecond}} {
		if got := finish(t, laidOut, mpivirt.Auto, 2, collectives.Allreduce, c.algorithm, allreduce(c.bytes)); got != c.want {
			t.Errorf("%d bytes by %v take %v, want %v", c.bytes, c.algorithm, got, c.want)
		}
	}
	_, err := mpivirt.New(mpivirt.Config{
		Target: target(t, hockney, 2), Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Allreduce: collectives.Offload},
		Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return nil })}},
	})
	if !strings.Contains(fmt.Sprint(err), "add allreduce or switches to network in its file") {
		t.Errorf("error %v names no remedy", err)
	}
}

// A network that spreads longer vectors than it sums up carries out their bcasts, in the time of its longest sum, and not their sums.
func TestWhatTheNetworkSpreads(t *testing.T) {
	config := mpivirt.Config{Target: target(t, "name: m\nnetwork: {model: flat, latency: 1us, allreduce: [{nodes: 2, delays: [{size: 8, delay: 700ns}, {size: 24, delay: 700ns}]}], spread: 64}\n", 8)}
	for _, c := range []struct {
		op      collectives.Operation
		bytes   int64
		network bool
	}{{collectives.Bcast, 24, true}, {collectives.Bcast, 64, true}, {collectives.Bcast, 65, false}, {collectives.Allreduce, 24, true}, {collectives.Allreduce, 25, false}, {collectives.Reduce, 64, false}} {
		if a := config.AlgorithmFor(c.op, c.bytes, 8); (a == collectives.Offload) != c.network {
			t.Errorf("%v of %d bytes goes by %v", c.op, c.bytes, a)
		}
	}
	send := func(c *mpivirt.Comm) error { return c.CollectiveSize(collectives.Bcast, 64, 0) }
	if got, want := finish(t, config.Target, mpivirt.Auto, 2, collectives.Bcast, collectives.Offload, send), 700*vtime.Nanosecond; got != want {
		t.Errorf("a bcast of 64 bytes takes %v, want %v", got, want)
	}
}

// Calls that do not match fail on all ranks, on any hosting: other lengths that the network carries, too, and a length that it does not carry.
func TestOffloadedCallsThatDoNotMatch(t *testing.T) {
	const ranks = 7
	machine := "name: m\nranks_per_node: 3\nnetwork: {model: flat, latency: 1us, switches: {most: 24, levels: [{name: all, latency: 1us}]}}\n"
	for _, words := range []int{1, 100} {
		for name, call := range map[string]func(c *mpivirt.Comm, data []uint64) error{
			"bcast": func(c *mpivirt.Comm, data []uint64) error { return mpivirt.Bcast(c, data, 2) },
			"reduce": func(c *mpivirt.Comm, data []uint64) error {
				return mpivirt.Reduce(c, data, make([]uint64, len(data)), mpivirt.Sum[uint64](), 2)
			},
			"allreduce": func(c *mpivirt.Comm, data []uint64) error {
				return mpivirt.Allreduce(c, data, make([]uint64, len(data)), mpivirt.Sum[uint64]())
			},
		} {
			var want string
			for _, engines := range []int{1, 2, 5} {
				_, err := simulate(t, mpivirt.Config{
					Target: target(t, machine, ranks),
					Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
						n := 2
						if r.Rank() == 5 {
							n = words
						}
						return call(r.World(), make([]uint64, n))
					})}},
				}, engines)
				if err == nil {
					t.Errorf("%s of %d and 2 words on %d engines: no error", name, words, engines)
					continue
				}
				if want == "" {
					want = err.Error()
				}
				if err.Error() != want || !strings.Contains(want, "of other lengths") {
					t.Errorf("%s of %d and 2 words on %d engines: %v, on one %s", name, words, engines, err, want)
				}
			}
		}
	}
}
