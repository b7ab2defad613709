package bench_test

import (
	"fmt"
	"slices"
	"testing"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/network"
	"gigarank/sync"
	"gigarank/vtime"
)

// withoutInterfaces are the presets that are parameter sets of simulators, which know no interfaces of nodes.
var withoutInterfaces = []string{"loggops-default", "vaced-sim", "xsim-star"}

// TestPresetsKeepToTheirInterfaces holds each preset to what its nodes' interfaces carry: no operation ends before the
// bytes that leave or enter any interface can have gone through it, one message after the other, each with its gap.
// Messages are counted from the schedules of the algorithms. On 64 nodes, and in long rings, nodes have fewer ranks, since such
// algorithms have as many messages as pairs of ranks.
func TestPresetsKeepToTheirInterfaces(t *testing.T) {
	for _, p := range network.Presets() {
		m, err := network.Load(p.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if target, err := m.Target(int64(2 * m.RanksPerNode())); err != nil {
			t.Fatal(err)
		} else if _, _, gap := target.Interfaces(); !target.Contended() || target.InterfaceTime(1<<20) == 0 && gap == 0 {
			if !slices.Contains(withoutInterfaces, p.Name) {
				t.Errorf("%s: nodes have no interfaces", p.Name)
			}
			continue
		}
		full := m.RanksPerNode()
		for _, c := range []struct {
			op             collectives.Operation
			a              collectives.Algorithm
			bytes          int64
			nodes, perNode int
		}{
			{collectives.Alltoall, collectives.Pairwise, 64 << 10, 2, full},
			{collectives.Alltoall, collectives.Pairwise, 8, 2, full},
			{collectives.Alltoall, collectives.Linear, 64 << 10, 2, full},
			{collectives.Alltoall, collectives.Bruck, 64 << 10, 2, full},
			{collectives.Alltoall, collectives.Pairwise, 64 << 10, 3, full},
			{collectives.Alltoall, collectives.Pairwise, 64 << 10, 64, min(full, 2)},
			{collectives.Allgather, collectives.RecursiveDoubling, 64 << 10, 2, full},
			{collectives.Allgather, collectives.Bruck, 64 << 10, 3, full},
			{collectives.Allgather, collectives.Ring, 64 << 10, 3, min(full, 16)},
			{collectives.Allgather, collectives.Ring, 64 << 10, 64, min(full, 2)},
			{collectives.Allreduce, collectives.NodeLeader, 64 << 10, 2, full},
			{collectives.Allreduce, collectives.NodeLeader, 64 << 10, 64, full},
			{collectives.Allreduce, collectives.Rabenseifner, 64 << 10, 2, full},
			{collectives.Allreduce, collectives.RecursiveDoubling, 64 << 10, 3, full},
			{collectives.Allreduce, collectives.RecursiveDoubling, 64 << 10, 64, min(full, 8)},
		} {
			target := layOut(t, m, c.nodes, c.perNode)
			use := trafficOf(t, target, c.op, c.a, c.bytes)
			use.holds(t, fmt.Sprintf("%s: %s of %d bytes by %s", p.Name, c.op, c.bytes, c.a), operationTime(t, target, c.op, c.a, c.bytes))
		}
		for _, nodes := range []int{2, 3, 64} {
			perNode := full
			if nodes == 64 {
				perNode = min(full, 8)
			}
			target := layOut(t, m, nodes, perNode)
			use := traffic{target: target}
			for rank := range target.Ranks() {
				for _, to := range haloOf(target, rank) {
					use.message(rank, to, haloBytes)
				}
			}
			use.holds(t, p.Name+": halo", haloTime(t, target))
		}
	}
}

func layOut(t *testing.T, m *network.Machine, nodes, perNode int) *network.Target {
	t.Helper()
	m, err := m.WithRanksPerNode(perNode)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(int64(nodes * perNode))
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// traffic is what messages take of the interfaces of all nodes.
type traffic struct {
	target   *network.Target
	out, in  []vtime.Duration // by interface; one for all interfaces of a node if they are shared
	messages []int            // that leave an interface
}

// message adds a message, if it goes from node to node.
func (u *traffic) message(from, to int, bytes int64) {
	each, shared, gap := u.target.Interfaces()
	if u.out == nil {
		n := u.target.Nodes() * each
		u.out, u.in, u.messages = make([]vtime.Duration, n), make([]vtime.Duration, n), make([]int, n)
	}
	if u.target.Node(from) == u.target.Node(to) {
		return
	}
	takes := u.target.InterfaceTime(bytes)
	if takes > 0 {
		takes-- // times are rounded to picoseconds, and the sum of several may be less than that of their bytes
	}
	takes += gap
	at := func(rank int) int {
		if shared {
			return u.target.Node(rank) * each
		}
		return u.target.Node(rank)*each + u.target.RankInNode(rank)%each
	}
	u.out[at(from)] += takes
	u.in[at(to)] += takes
	u.messages[at(from)]++
}

// holds checks that an operation took no less than its busiest interface needs. The gap after the last message may
// come after the end.
func (u *traffic) holds(t *testing.T, name string, took vtime.Duration) {
	t.Helper()
	each, shared, gap := u.target.Interfaces()
	needs := max(slices.Max(u.out), slices.Max(u.in))
	if shared {
		needs /= vtime.Duration(each)
	}
	if needs -= gap; took < needs {
		t.Errorf("%s on %d nodes, %d ranks: %v, and the busiest interface needs %v", name, u.target.Nodes(), u.target.Ranks(), took, needs)
	}
	if needs <= 0 {
		t.Errorf("%s on %d nodes: no message leaves a node", name, u.target.Nodes())
	}
}

// trafficOf counts the messages of an algorithm.
func trafficOf(t *testing.T, target *network.Target, op collectives.Operation, a collectives.Algorithm, bytes int64) *traffic {
	t.Helper()
	members := target.Ranks()
	rank := func(member int) int { return member }
	var s collectives.Schedule
	var err error
	if a == collectives.NodeLeader {
		members = target.Nodes()
		rank = func(member int) int { return target.NodeMember(member, 0) }
		s, err = collectives.LeaderSchedule(op, members)
	} else {
		s, err = collectives.New(op, a, members, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	layout := collectives.LayoutOf(op, s, bytes, 1)
	use := &traffic{target: target}
	for member := range members {
		for r := s.Next(member, 0); r < s.Rounds(member); r = s.Next(member, r+1) {
			if step := s.Step(member, r); step.To != collectives.None {
				use.message(rank(member), rank(step.To), layout.Bytes(step.Send, s.Positions()))
			}
		}
	}
	return use
}

// operationTime returns the time from the common entry to the last exit.
func operationTime(t *testing.T, target *network.Target, op collectives.Operation, a collectives.Algorithm, bytes int64) vtime.Duration {
	t.Helper()
	c := bench.Config{Config: mpivirt.Config{Target: target, Kind: steps.Kind, Transports: sync.NewInProcess(1),
		Algorithms: map[collectives.Operation]collectives.Algorithm{op: a}}}
	c.Options = bench.Options{Iterations: 1, Payload: bytes}
	s, err := bench.New(bench.TimedBy(op), c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	return r.Iterations[0].Max
}

const haloBytes = 32 << 10

// haloOf returns the neighbours of a rank in a torus of nodes by ranks of a node.
func haloOf(target *network.Target, rank int) []int {
	perNode, all := target.NodeSize(0), target.Ranks()
	node, place := rank/perNode, rank%perNode
	return []int{(rank + perNode) % all, (rank + all - perNode) % all, node*perNode + (place+1)%perNode, node*perNode + (place+perNode-1)%perNode}
}

// haloTime returns the time in which all ranks exchange messages with their neighbours.
func haloTime(t *testing.T, target *network.Target) vtime.Duration {
	t.Helper()
	c := mpivirt.Config{Target: target, Kind: mpivirt.Goroutine, Transports: sync.NewInProcess(1), Seed: 1, Output: func(string) {}}
	c.Program = mpivirt.Program{Name: "halo", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
		world := r.World()
		var requests []mpivirt.Request
		for i, neighbour := range haloOf(target, r.Rank()) {
			for _, start := range []func() (mpivirt.Request, error){
				func() (mpivirt.Request, error) { return world.IrecvSize(haloBytes, neighbour, i^1) },
				func() (mpivirt.Request, error) { return world.IsendSize(haloBytes, neighbour, i) },
			} {
				request, err := start()
				if err != nil {
					return err
				}
				requests = append(requests, request)
			}
		}
		_, err := mpivirt.Waitall(requests)
		return err
	})}}
	s, err := mpivirt.New(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	return vtime.Duration(r.VirtualTime)
}
