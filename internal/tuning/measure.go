package tuning

import (
	"cmp"
	"runtime"
	"slices"
	stdsync "sync"

	"gigarank/collectives"
	"gigarank/internal/measurements"
	"gigarank/network"
)

// Grid is the points that are simulated.
type Grid struct {
	Operations []collectives.Operation
	Machines   []*network.Machine
	Ranks      []int   // ascending; each number stands for those up to the next
	Sizes      []int64 // ascending, in bytes; likewise
	Limit      float64 // estimated CPU time in seconds above which a point is not simulated
	Cores      int     // simulations that run side by side; 0: one for each core
	Progress   func(done, all int)
}

// layout is how the ranks of a point lie on nodes.
type layout uint8

const (
	oneNode layout = iota
	oneRank        // on each node
	fullNodes
	layouts // their number
)

// cell is a point on all machines: an operation, a layout, a number of ranks and a size.
type cell struct {
	op     collectives.Operation
	layout layout
	ranks  int // index in Grid.Ranks
	size   int // index in Grid.Sizes
}

// times has the time of each algorithm on each machine that was simulated.
type times map[collectives.Algorithm]map[*network.Machine]float64

// task is one simulation.
type task struct {
	cell    cell
	machine *network.Machine
	point   measurements.Point
}

// hopeless is the ratio to the fastest algorithm from which on an algorithm is not simulated with more
// ranks.
const hopeless = 12

// segments are the segments that are tried where an algorithm takes one.
var segments = []int64{8 << 10, 64 << 10, 1 << 20}

// fanouts are the fan-outs that are tried beside an algorithm's own, where it takes one.
var fanouts = []int{2, 4, 8}

// candidates returns the algorithms of an operation with all arguments that are tried for a size.
func candidates(op collectives.Operation, bytes int64) []collectives.Algorithm {
	var all []collectives.Algorithm
	add := func(a collectives.Algorithm) {
		all = append(all, a)
		for _, s := range segments {
			if cut := a.WithSegment(s); s < bytes && cut.Check(op) == nil {
				all = append(all, cut)
			}
		}
	}
	for _, a := range collectives.Algorithms(op) {
		add(a)
		for _, n := range fanouts {
			if wide := a.WithFanout(n); wide.Check(op) == nil {
				add(wide)
			}
		}
	}
	return all
}

// place returns the nodes and the ranks of each for about as many ranks in a layout, less than below. ok
// is false where the machine has no such layout.
func place(m *network.Machine, l layout, ranks, below int) (nodes, perNode int, ok bool) {
	full := m.RanksPerNode()
	switch l {
	case oneNode:
		return 1, ranks, full >= ranks && full > 1
	case oneRank:
		nodes, perNode = ranks, 1
	case fullNodes:
		nodes, perNode = (ranks+full-1)/full, full
		if full == 1 || nodes < 2 {
			return 0, 0, false
		}
	}
	if room, bounded := m.Room(); bounded && nodes > room || m.Nodes() > 0 && nodes > m.Nodes() {
		return 0, 0, false
	}
	return nodes, perNode, nodes*perNode < below
}

// Measure simulates all points of a grid. Points whose simulation costs more than the limit are left out, and
// algorithms that have fallen far behind with fewer ranks.
func (g *Grid) Measure() *Measured {
	m := &Measured{grid: g, times: map[cell]times{}}
	done, all := 0, len(g.Ranks)*len(g.Operations)
	for r := range g.Ranks {
		for _, op := range g.Operations {
			m.run(g.tasks(m, op, r))
			if done++; g.Progress != nil {
				g.Progress(done, all)
			}
		}
	}
	return m
}

// Measured is the times of a grid.
type Measured struct {
	grid  *Grid
	times map[cell]times
}

// tasks returns the simulations of an operation on a number of ranks.
func (g *Grid) tasks(done *Measured, op collectives.Operation, r int) []task {
	below := int(^uint(0) >> 1)
	if r+1 < len(g.Ranks) {
		below = g.Ranks[r+1]
	}
	sizes := g.Sizes
	if op == collectives.Barrier {
		sizes = []int64{0}
	}
	var list []task
	for l := range layouts {
		for _, m := range g.Machines {
			nodes, perNode, ok := place(m, l, g.Ranks[r], below)
			if !ok {
				continue
			}
			for s, bytes := range sizes {
				at := cell{op, l, r, s}
				for _, a := range candidates(op, bytes) {
					p := measurements.Point{Operation: op, Algorithm: a, Named: true, Nodes: nodes, PerNode: perNode, Bytes: bytes, Statistic: measurements.LastExit}
					if done.isHopeless(at, a, m) {
						continue
					}
					if cost, err := p.Cost(m); err != nil || cost > g.Limit {
						continue
					}
					list = append(list, task{at, m, p})
				}
			}
		}
	}
	return list
}

// isHopeless reports whether an algorithm was far behind on a machine with fewer ranks.
func (d *Measured) isHopeless(at cell, a collectives.Algorithm, m *network.Machine) bool {
	before := at
	before.ranks--
	seen := d.times[before]
	if before.ranks < 0 || seen == nil {
		return false
	}
	t, known := seen[a][m]
	best := seen.best(m)
	return known && t > hopeless*best || !known && best > 0 && before.ranks > 0 && d.isHopeless(before, a, m)
}

// best returns the least time on a machine, 0 for none.
func (t times) best(m *network.Machine) float64 {
	best := 0.0
	for _, on := range t {
		if s, ok := on[m]; ok && (best == 0 || s < best) {
			best = s
		}
	}
	return best
}

// run carries tasks out, several at a time.
func (d *Measured) run(list []task) {
	cores := d.grid.Cores
	if cores < 1 {
		cores = runtime.GOMAXPROCS(0)
	}
	var workers stdsync.WaitGroup
	var lock stdsync.Mutex
	next := make(chan task, len(list))
	for _, t := range list {
		next <- t
	}
	close(next)
	for range min(cores, len(list)) {
		workers.Go(func() {
			for t := range next {
				seconds, err := t.point.Simulate(t.machine)
				if err != nil {
					continue // a machine without the layout, or an algorithm that does not serve the ranks
				}
				lock.Lock()
				d.add(t, seconds)
				lock.Unlock()
			}
		})
	}
	workers.Wait()
}

func (d *Measured) add(t task, seconds float64) {
	of := d.times[t.cell]
	if of == nil {
		of = times{}
		d.times[t.cell] = of
	}
	if of[t.point.Algorithm] == nil {
		of[t.point.Algorithm] = map[*network.Machine]float64{}
	}
	of[t.point.Algorithm][t.machine] = seconds
}

// algorithms returns the algorithms of an operation that have a time on all machines, the least loss first. The
// loss is the greatest ratio, over the machines, of the time to that of the fastest. With ordered set they are
// those that keep the rank order.
func (t times) algorithms(op collectives.Operation, ordered bool) (all []collectives.Algorithm, losses map[collectives.Algorithm]float64) {
	best := map[*network.Machine]float64{}
	for a, on := range t {
		if ordered && !collectives.Ordered(op, a) {
			continue
		}
		for m, s := range on {
			if least, known := best[m]; !known || s < least {
				best[m] = s
			}
		}
	}
	losses = map[collectives.Algorithm]float64{}
	for a, on := range t {
		if ordered && !collectives.Ordered(op, a) || len(on) < len(best) {
			continue
		}
		loss := 1.0
		for m, s := range on {
			if best[m] > 0 {
				loss = max(loss, s/best[m])
			}
		}
		all, losses[a] = append(all, a), loss
	}
	slices.SortFunc(all, func(a, b collectives.Algorithm) int {
		return cmp.Or(cmp.Compare(losses[a], losses[b]), cmp.Compare(a.Base(), b.Base()), cmp.Compare(a, b))
	})
	return all, losses
}
