package mpivirt_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/network"
	"gigarank/vtime"
)

// Messages between nodes whose ranks share network interfaces.

// Two nodes of three ranks with one interface each, latency 2 us, 1 GB/s between two ranks, 2 GB/s and 100 ns
// between two messages at an interface. Ranks 0 to 2 send 1,000 bytes each at 0, to 3, to 4 and to 3.
//
//   - Each message takes 0.5 us and 0.1 us of an interface, alone 1 us of its way: they begin at 0, 0.6 and 1.2 us.
//   - They ask the other node when the way has taken all but what its interface takes: at 2.5, 3.1 and 3.7 us.
//     So they are there at 3, 3.6 and 4.2 us.
//   - Rank 5 sends to 0 at the same time the other way, which is free: it is there at 3 us.
func TestMessagesShareAnInterface(t *testing.T) {
	const machine = `name: shared
ranks_per_node: 3
node: {bandwidth: 2GB/s, message_gap: 100ns}
network: {model: twolevel, intra: {latency: 100ns, bandwidth: 8GB/s}, inter: {latency: 2us, bandwidth: 1GB/s}}
`
	got := instants(t, machine, 6, mpivirt.Config{}, func(r *mpivirt.Rank, note func(string)) error {
		w := r.World()
		var err error
		switch r.Rank() {
		case 0, 1, 2:
			err = w.SendSize(1000, []int{3, 4, 3}[r.Rank()], 0)
			note("sent")
			if r.Rank() == 0 && err == nil {
				_, err = w.RecvSize(1000, 5, 0)
				note("received")
			}
		case 3:
			_, err = w.RecvSize(1000, 0, 0)
			note("first")
			if err == nil {
				_, err = w.RecvSize(1000, mpivirt.AnySource, 0)
			}
			note("second")
		case 4:
			_, err = w.RecvSize(1000, mpivirt.AnySource, 0)
			note("received")
		case 5:
			err = w.SendSize(1000, 0, 0)
			note("sent")
		}
		return err
	})
	const us = vtime.Time(vtime.Microsecond)
	wantInstants(t, got, []map[string]vtime.Time{
		{"sent": 0, "received": 3 * us}, {"sent": 0}, {"sent": 0},
		{"first": 3 * us, "second": 42 * us / 10}, {"received": 36 * us / 10}, {"sent": 0},
	})
}

// A rendezvous of 10,000 bytes on the machine above, with a message in its way. Rank 0 sends it to rank 2 at 0, and
// rank 1 sends 5,000 or 4,000 bytes to rank 3 at 4.05 us, eagerly.
//
//   - REQ is there at 2 us, ACK leaves then and is back at 4 us. DATA takes the interface from 4 to 9 us, its way to 14 us:
//     it is there at 16 us, and rank 0 is free at 14 us.
//   - The eager message of 5,000 bytes begins at 9.1 us, and asks for the last 2.5 us of its way at 13.6 us, when the other
//     interface is busy: DATA came first, at 11 us, and takes 5 us. So it begins there at 16.1 us and is there at 18.6 us.
//   - That of 4,000 bytes is a packet. It begins a gap after DATA, at 4.1 us, asks for the last 2 us of its way at 8.1 us, and is
//     there at 10.1 us.
func TestRendezvousAtAnInterface(t *testing.T) {
	const machine = `name: shared
ranks_per_node: 2
node: {bandwidth: 2GB/s, message_gap: 100ns}
network: {model: twolevel, intra: {latency: 100ns, bandwidth: 8GB/s}, inter: {latency: 2us, bandwidth: 1GB/s}, eager_limit: 5000}
`
	const ns = vtime.Time(vtime.Nanosecond)
	for bytes, received := range map[int64]vtime.Time{5000: 18_600 * ns, 4000: 10_100 * ns} {
		got := instants(t, machine, 4, mpivirt.Config{}, func(r *mpivirt.Rank, note func(string)) error {
			w := r.World()
			var err error
			switch r.Rank() {
			case 0:
				err = w.SendSize(10_000, 2, 0)
				note("free")
			case 1:
				r.Compute(4050 * vtime.Nanosecond)
				err = w.SendSize(bytes, 3, 0)
			default:
				_, err = w.RecvSize(10_000, r.Rank()-2, 0)
				note("received")
			}
			return err
		})
		wantInstants(t, got, []map[string]vtime.Time{{"free": 14_000 * ns}, {}, {"received": 16_000 * ns}, {"received": received}})
	}
}

// Eager messages of a pair arrive in order, though the second one is a packet and the first one waits: rank 0 sends rank 2
// 10,000 bytes and 8 bytes, while rank 1 sends rank 3 100,000 bytes before.
//
//   - The 100,000 bytes take the interface from 0 to 50 us. The 10,000 bytes begin at 50.1 us, take 5 us of it, and ask for the
//     last 5 us of their way at 57.1 us. The other interface is busy from 52 to 102 us, and then takes them from 102.1 to 107.1 us.
//   - The 8 bytes begin before them, and are there with them.
func TestPacketsKeepTheOrderOfTheirPair(t *testing.T) {
	const machine = `name: shared
ranks_per_node: 2
node: {bandwidth: 2GB/s, message_gap: 100ns}
network: {model: twolevel, intra: {latency: 100ns, bandwidth: 8GB/s}, inter: {latency: 2us, bandwidth: 1GB/s}}
`
	got := instants(t, machine, 4, mpivirt.Config{}, func(r *mpivirt.Rank, note func(string)) error {
		w := r.World()
		switch r.Rank() {
		case 0:
			r.Compute(vtime.Nanosecond)
			for _, bytes := range []int64{10_000, 8} {
				if err := w.SendSize(bytes, 2, 0); err != nil {
					return err
				}
			}
			return nil
		case 1:
			return w.SendSize(100_000, 3, 0)
		case 2:
			for k := range 2 {
				if _, err := w.RecvSize(10_000, mpivirt.AnySource, 0); err != nil {
					return err
				}
				note([]string{"first", "second"}[k])
			}
			return nil
		}
		_, err := w.RecvSize(100_000, 1, 0)
		note("received")
		return err
	})
	const ns = vtime.Time(vtime.Nanosecond)
	wantInstants(t, got, []map[string]vtime.Time{{}, {}, {"first": 107_100 * ns, "second": 107_100 * ns}, {"received": 102_000 * ns}})
}

// Messages within a node share its memory, which reads and writes each byte: 2 GB/s carry 1,000 bytes in 1 us, and a path of 4 GB/s takes
// 0.25 us and its latency of 0.1 us. Ranks 0 and 1 send ranks 2 and 3 1,000 bytes at 0, eagerly, then rank 1 sends rank 3 no bytes. Rank 4
// sends rank 5 no bytes, and rank 6 of the next node its 1,000 bytes.
//
//   - The memory carries the message of rank 0 until 1 us, and that of rank 1 until 2 us: they are there at 1.1 and 2.1 us.
//   - A message of no bytes does not wait, but does not pass one of its pair: it is there at 2.1 us, and at 0.1 us for rank 5.
//   - The message to the next node has what it needs for itself: 1 us of latency and 0.25 us.
//
// At 10 us rank 0 sends rank 2 10,000 bytes by rendezvous: DATA leave at 10.2 us, and the memory carries them until 20.2 us, when rank 0 is
// free. They are there at 20.3 us.
func TestMessagesShareTheMemory(t *testing.T) {
	const machine = `name: shared
ranks_per_node: 6
node: {memory: 2GB/s}
network: {model: twolevel, intra: {latency: 100ns, bandwidth: 4GB/s}, inter: {latency: 1us, bandwidth: 4GB/s}, eager_limit: 5000}
`
	got := instants(t, machine, 12, mpivirt.Config{}, func(r *mpivirt.Rank, note func(string)) error {
		w := r.World()
		steps := map[int][]func() error{
			0: {func() error { return w.SendSize(1000, 2, 0) }, func() error { r.Compute(10 * vtime.Microsecond); return w.SendSize(10_000, 2, 0) }},
			1: {func() error { return w.SendSize(1000, 3, 0) }, func() error { return w.SendSize(0, 3, 0) }},
			4: {func() error { return w.SendSize(0, 5, 0) }, func() error { return w.SendSize(1000, 6, 0) }},
		}
		for i := range 2 {
			name, from := []string{"first", "second"}[i], map[int]int{2: 0, 3: 1, 5: 4, 6: 4}
			if send := steps[r.Rank()]; send != nil {
				if err := send[i](); err != nil {
					return err
				}
			} else if source, receives := from[r.Rank()]; !receives || source == 4 && i > 0 {
				return nil
			} else if _, err := w.RecvSize(10_000, source, 0); err != nil {
				return err
			}
			note(name)
		}
		return nil
	})
	const us = vtime.Time(vtime.Microsecond)
	wantInstants(t, got, []map[string]vtime.Time{
		{"first": 0, "second": 202 * us / 10}, {"first": 0, "second": 0},
		{"first": 11 * us / 10, "second": 203 * us / 10}, {"first": 21 * us / 10, "second": 21 * us / 10},
		{"first": 0, "second": 0}, {"first": us / 10},
		{"first": 125 * us / 100}, {}, {}, {}, {}, {},
	})
}

// An allreduce of 3,000 bytes by recursive doubling on two nodes of two ranks, whose memories read and write 3 GB/s.
//
//   - Each memory reads and writes the vectors that its two ranks copy to where they are combined, until 4 us.
//   - Ranks 0 and 1 exchange vectors from then on. The memory carries that of rank 0 until 6 us and that of rank 1 until 8 us: they are there at
//     7 and 9 us. A sum takes the memory 3 us, with two reads and a write: that of rank 1 from 8 us and that of rank 0 from 11 us.
//   - Ranks 1 and 3 are ready at 11 us, and ranks 0 and 2 at 14 us. The vectors are there 10 us later, and the memories are free: they end at 24 and
//     27 us.
//
// Then ranks 0 and 2, which are alone on their nodes in a communicator, take 10 us for the vectors and 3 us for the sum.
func TestSumsShareTheMemory(t *testing.T) {
	const machine = `name: shared
ranks_per_node: 2
node: {memory: 3GB/s}
network: {model: twolevel, intra: {latency: 1us}, inter: {latency: 10us}}
`
	got := instants(t, machine, 4, mpivirt.Config{Algorithms: map[collectives.Operation]collectives.Algorithm{
		collectives.Allreduce: collectives.RecursiveDoubling, collectives.Allgather: collectives.RecursiveDoubling,
	}}, func(r *mpivirt.Rank, note func(string)) error {
		if err := r.World().CollectiveSize(collectives.Allreduce, 3000, 0); err != nil {
			return err
		}
		note("all")
		c, err := r.World().Split(r.Rank()%2, 0)
		if err != nil || r.Rank()%2 == 1 {
			return err
		}
		r.Compute(vtime.Duration(100*vtime.Microsecond) - r.Now().Sub(0))
		if err := c.CollectiveSize(collectives.Allreduce, 3000, 0); err != nil {
			return err
		}
		note("two")
		return nil
	})
	const us = vtime.Time(vtime.Microsecond)
	wantInstants(t, got, []map[string]vtime.Time{{"all": 27 * us, "two": 113 * us}, {"all": 24 * us}, {"all": 27 * us, "two": 113 * us}, {"all": 24 * us}})
}

// Messages of a pair wait for the path behind each other, and of a path with a table only the bytes at its last slope occupy it: the rest is latency.
// So the third of these messages could leave before the second. It does not, and they arrive in order, between nodes and within one.
func TestMessagesOfAPairLeaveInOrder(t *testing.T) {
	for _, perNode := range []int{1, 2} {
		machine := fmt.Sprintf(`name: table
ranks_per_node: %d
node: {bandwidth: 900GB/s, memory: 900GB/s}
network: {model: table, intra: [{size: 16, delay: 5us}, {size: 2000, delay: 30us}, {size: 90000, delay: 100us}], inter: [{size: 16, delay: 5us}, {size: 2000, delay: 30us}, {size: 90000, delay: 100us}]}
`, perNode)
		sizes := []int64{2662, 53, 67, 2000, 16, 90000, 1000}
		for engines := 1; engines <= 2; engines++ {
			c := mpivirt.Config{Target: target(t, machine, 2), Program: mpivirt.Program{Name: "order", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				for tag, bytes := range sizes {
					if r.Rank() == 0 {
						if err := r.World().SendSize(bytes, 1, tag); err != nil {
							return err
						}
						continue
					}
					status, err := r.World().RecvSize(90000, 0, mpivirt.AnyTag)
					if err != nil {
						return err
					}
					if status.Tag != tag {
						return fmt.Errorf("message %d of %d bytes comes as number %d", status.Tag, sizes[status.Tag], tag)
					}
				}
				return nil
			})}}}
			if _, err := simulate(t, c, engines); err != nil {
				t.Errorf("%d ranks a node, %d engines: %v", perNode, engines, err)
			}
		}
	}
}

// In a ring of 1 MiB each rank sends to the next, again and again: REQ, ACK and DATA of both neighbours share its interface. A
// skew makes it later by the greatest skew at most: no message without bytes waits for DATA.
func TestRingsWithSkew(t *testing.T) {
	const ranks, rounds = 8, 7
	for _, node := range []string{"interfaces: 1", "interfaces: 2", "interfaces: 2, rail: shared", "interfaces: 2, rail: striped"} {
		tgt := target(t, `name: ring
node: {bandwidth: 25GB/s, message_gap: 4.65ns, `+node+`}
network: {model: flat, latency: 1us, bandwidth: 25GB/s, eager_limit: 16KiB, overhead: {send: 100ns, receive: 100ns}}
`, ranks)
		ring := func(skew func(rank int) vtime.Duration) vtime.Time {
			c := mpivirt.Config{Target: tgt, Program: mpivirt.Program{Name: "ring", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				w := r.World()
				r.Compute(skew(r.Rank()))
				for range rounds {
					q, err := w.IrecvSize(1<<20, (r.Rank()+ranks-1)%ranks, 0)
					if err != nil {
						return err
					}
					if err := w.SendSize(1<<20, (r.Rank()+1)%ranks, 0); err != nil {
						return err
					}
					if _, err = q.Wait(); err != nil {
						return err
					}
				}
				return nil
			})}}}
			result, err := simulate(t, c, 2)
			if err != nil {
				t.Fatal(err)
			}
			return result.VirtualTime
		}
		together := ring(func(int) vtime.Duration { return 0 })
		for name, skew := range map[string]func(rank int) vtime.Duration{
			"up":   func(rank int) vtime.Duration { return vtime.Duration(rank) },
			"down": func(rank int) vtime.Duration { return vtime.Duration(ranks - 1 - rank) },
			"odd":  func(rank int) vtime.Duration { return vtime.Duration(rank%2) * (ranks - 1) },
			"last": func(rank int) vtime.Duration { return vtime.Duration(rank/(ranks-1)) * (ranks - 1) },
		} {
			for _, step := range []vtime.Duration{100 * vtime.Nanosecond, 160 * vtime.Nanosecond, 300 * vtime.Nanosecond} {
				got := ring(func(rank int) vtime.Duration { return skew(rank) * step })
				if most := together.Add(step * (ranks - 1)); got > most {
					t.Errorf("node %s, skew %s of %v: %v, and %v without", node, name, step, got, together)
				}
			}
		}
	}
}

// Messages that do not arrive within virtual time end the run with that failure, not as a deadlock, wherever they wait: eager, REQ, ACK
// and DATA, before they ask and after.
func TestMessagesPastTheEndOfTime(t *testing.T) {
	for _, section := range []string{
		"node: {bandwidth: 1KB/s}", "node: {memory: 2KB/s}\nranks_per_node: 2", "contention: {model: links, out: 1}", "contention: {model: pmac, out: 1}", "contention: {model: fair, out: 1KB/s}",
		"contention: {model: fair, link: 1KB/s, topology: true}\ntopology: {kind: torus, dimensions: 2}",
	} {
		tgt := target(t, "name: late\n"+section+"\nnetwork: {model: flat, latency: 2s, bandwidth: 1KB/s, eager_limit: 50000}\n", 4)
		for _, left := range []vtime.Duration{vtime.Second, 3 * vtime.Second, 5 * vtime.Second, 12 * vtime.Second} {
			for _, bytes := range []int64{10, 20_000, 100_000} {
				for engines := 1; engines <= 2; engines++ {
					c := mpivirt.Config{Target: tgt, Program: mpivirt.Program{Name: "late", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
						w := r.World()
						r.Compute(vtime.Forever.Add(-left).Sub(0))
						if r.Rank()%2 == 0 {
							return w.SendSize(bytes, r.Rank()+1, 0)
						}
						_, err := w.RecvSize(bytes, r.Rank()-1, 0)
						return err
					})}}}
					_, err := simulate(t, c, engines)
					over := vtime.Duration(bytes)*vtime.Millisecond + 2*vtime.Second
					if bytes > 50_000 {
						over += 4 * vtime.Second
					}
					switch {
					case over < left:
						if err != nil {
							t.Errorf("%s, %d bytes %v before the end: %v", section, bytes, left, err)
						}
					case err == nil || !strings.Contains(err.Error(), "end of virtual time") && !strings.Contains(err.Error(), "virtual time ends"):
						t.Errorf("%s, %d bytes %v before the end, %d engines: %v", section, bytes, left, engines, err)
					}
				}
			}
		}
	}
}

// shares adds section node to random machines.
func shares(node func(r *rand.Rand) string) func(r *rand.Rand, ranks int) string {
	return func(r *rand.Rand, ranks int) string {
		text, section := randomMachine(r, ranks), node(r)
		for strings.HasPrefix(section, "node:") && strings.Contains(text, "model: factors") { // which has no interfaces
			text = randomMachine(r, ranks)
		}
		if r.IntN(3) == 0 {
			text += randomProgress(r)
		}
		if r.IntN(4) == 0 {
			text += "  jitter: {distribution: uniform, most: 3us}\n"
		}
		if strings.Contains(section, "topology: true") && !strings.Contains(text, "topology:") {
			section += "\ntopology: " + []string{"{kind: fat-tree, arity: 2}\ntaper: 0.5", "{kind: fat-tree, arity: 3}", "{kind: dragonfly, routers: 2, nodes_per_router: 2}\ntaper: 0.7",
				"{kind: torus, dimensions: 2}", "{kind: hierarchy, levels: [{size: 2, hops: 2}, {hops: 4}]}\ntaper: 0.4", "{kind: star}"}[r.IntN(6)]
		}
		return strings.Replace(text, "mapping:", section+"\nmapping:", 1)
	}
}

// randomProgress writes when ranks make progress: in calls.
func randomProgress(r *rand.Rand) string {
	return "  progress: " + []string{"calls", "waits"}[r.IntN(2)] + "\n"
}

// TestRandomProgramsWithProgressInCalls: every rank of every valid program sees the same times, statuses and data
// where messages are handled in calls only, however the simulation is hosted.
func TestRandomProgramsWithProgressInCalls(t *testing.T) {
	fewer(t, 50) // they take longer than others
	rapid.Check(t, func(t *rapid.T) {
		p := programsOn(func(r *rand.Rand, ranks int) string {
			text := randomMachine(r, ranks) + randomProgress(r)
			if r.IntN(4) == 0 {
				text += "  jitter: {distribution: uniform, most: 3us}\n"
			}
			return text
		}, 24, 24).Draw(t, "program")
		want := watch(t, &p, hosting{engines: 1})
		for range 4 {
			compare(t, &p, hosts(len(p.ops)).Draw(t, "host"), want)
		}
	})
}

// randomNode writes section node.
func randomNode(r *rand.Rand) string {
	node := fmt.Sprintf("node: {interfaces: %d, bandwidth: %s, message_gap: %s, rail: %s", 1+r.IntN(4), []string{"50MB/s", "1GB/s", "9GB/s"}[r.IntN(3)],
		[]string{"0ns", "1ps", "333ns", "4us"}[r.IntN(4)], []string{"local", "shared", "striped"}[r.IntN(3)])
	memory := []string{"100MB/s", "3GB/s", "40GB/s"}[r.IntN(3)]
	switch r.IntN(4) {
	case 0:
		return node + "}"
	case 1:
		return "node: {memory: " + memory + "}"
	}
	return node + ", memory: " + memory + "}"
}

// TestRandomProgramsOnSharedInterfaces: every rank of every valid program sees the same times, statuses and data
// where nodes have interfaces, however the simulation is hosted.
func TestRandomProgramsOnSharedInterfaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := programsOn(shares(randomNode), 24, 24).Draw(t, "program")
		want := watch(t, &p, hosting{engines: 1})
		for range 4 {
			compare(t, &p, hosts(len(p.ops)).Draw(t, "host"), want)
		}
	})
}

// TestInterfacesWithoutLimits: interfaces that take no time for any message of the programs change nothing. Messages of sparbit to one member
// occupy the path to it one after another where interfaces are shared, and only there: programs have no sparbit here.
func TestInterfacesWithoutLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		node := ""
		p := programsOn(shares(func(r *rand.Rand) string {
			node = fmt.Sprintf("node: {interfaces: %d, bandwidth: 9000000000GB/s, rail: %s%s}", 1+r.IntN(3), []string{"local", "shared", "striped"}[r.IntN(3)],
				[]string{"", ", memory: 9000000000GB/s"}[r.IntN(2)])
			return node
		}), 24, 24).Draw(t, "program")
		for _, operation := range []collectives.Operation{collectives.Allgather, collectives.Allgatherv} {
			if p.algorithms[operation] == collectives.Sparbit {
				p.algorithms[operation] = collectives.Bruck
			}
		}
		free := p
		free.machine = strings.Replace(p.machine, node+"\n", "", 1)
		if free.machine == p.machine {
			t.Fatalf("no section node in\n%s", p.machine)
		}
		compare(t, &p, hosts(len(p.ops)).Draw(t, "host"), watch(t, &free, hosting{engines: 1}))
	})
}

// No operation moves more bytes through the interfaces of a node than they carry: on any preset whose nodes have
// interfaces, and on one of 4 interfaces of 25 GB/s with paths of 12 GB/s between 16 ranks a node. The bytes are the least that must
// leave or reach each node: of alltoall the blocks for other nodes, of allgather the blocks of others, of allreduce a vector, of a
// halo exchange with the same place of the neighbouring nodes one message of each rank.
func TestNodesCarryTheirBytes(t *testing.T) {
	machines := map[string]string{"four": `name: four
ranks_per_node: 16
node: {interfaces: 4, bandwidth: 25GB/s, message_gap: 45ns}
network: {model: twolevel, intra: {latency: 300ns, bandwidth: 20GB/s}, inter: {latency: 2us, bandwidth: 12GB/s}, eager_limit: 16KiB}
`}
	for _, p := range network.Presets() {
		m, err := network.Load(p.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		machines[p.Name] = m.String()
	}
	for name, text := range machines {
		m, err := network.Parse(name, []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		perNode := m.RanksPerNode()
		for _, nodes := range []int{2, 3, 64} {
			ranks := nodes * perNode
			tgt := target(t, text, ranks)
			if !tgt.Contended() || tgt.Contention().Model != "" {
				continue
			}
			for _, bytes := range []int64{256, 64 << 10} {
				k, n := int64(perNode), int64(nodes)
				for op, carried := range map[string]int64{
					"alltoall": k * k * (n - 1) * bytes, "allgather": k * (n - 1) * bytes, "allreduce": bytes, "halo": k * bytes,
				} {
					if ranks > 200 && (op == "alltoall" || op == "allgather") {
						continue
					}
					c := mpivirt.Config{Target: tgt, Program: mpivirt.Program{Name: op, Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
						w := r.World()
						switch op {
						case "alltoall":
							return w.CollectiveSize(collectives.Alltoall, bytes, 0)
						case "allgather":
							return w.CollectiveSize(collectives.Allgather, bytes, 0)
						case "allreduce":
							return w.CollectiveSize(collectives.Allreduce, bytes, 0)
						}
						q, err := w.IrecvSize(bytes, (r.Rank()+ranks-perNode)%ranks, 0)
						if err != nil {
							return err
						}
						if err := w.SendSize(bytes, (r.Rank()+perNode)%ranks, 0); err != nil {
							return err
						}
						_, err = q.Wait()
						return err
					})}}}
					result, err := simulate(t, c, 2)
					if err != nil {
						t.Fatal(err)
					}
					each, _, _ := tgt.Interfaces()
					if least := tgt.InterfaceTime(carried / int64(each)); result.VirtualTime < vtime.Time(least) {
						t.Errorf("%s, %d nodes, %s of %d bytes: %v, and the interfaces of a node take %v for %d bytes", name, nodes, op, bytes, result.VirtualTime, least, carried)
					}
				}
			}
		}
	}
}
