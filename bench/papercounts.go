package bench

import (
	"fmt"
	"math"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/network"
	"gigarank/sync"
)

// PaperCounts are the event counts of a barrier on n nodes of c cores with λ ranks each, by
// the sum in Perumalla and Park, "Simulating Billion-Task Parallel Programs", SPECTS 2014:
// c + cn + n log2 n + cn + λc. The meaning of each term is our reading; see
// docs/paper-counts.md.
type PaperCounts struct {
	Join    float64 // c + cn
	Leaders float64 // n log2 n
	Release float64 // cn
	Wake    float64 // λc
	// Saved are the inter-node events saved on each node against a barrier in which every
	// rank goes through the rounds itself: (cλ − 1) log2 n.
	Saved float64
}

// All returns the sum of the terms.
func (p PaperCounts) All() float64 { return p.Join + p.Leaders + p.Release + p.Wake }

// PaperFormula returns the counts by the paper's formulas.
func PaperFormula(lambda, cores, nodes int64) PaperCounts {
	l, c, n := float64(lambda), float64(cores), float64(nodes)
	return PaperCounts{Join: c + c*n, Leaders: n * math.Log2(n), Release: c * n, Wake: l * c, Saved: (c*l - 1) * math.Log2(n)}
}

// BarrierRun is a run of barriertest with event ranks, whose work is counted.
type BarrierRun struct {
	Ranks, PerNode int64 // ranks in all, and of a node
	Engines        int
	Algorithm      collectives.Algorithm
	Collectives    mpivirt.Interpreter
}

// paperMachine is the machine of the counts. Its delays do not matter to them.
const paperMachine = `name: paper-barrier
ranks_per_node: %d
network:
  model: twolevel
  intra: {latency: 0.5us, bandwidth: 6GB/s}
  inter: {latency: 5us, bandwidth: 2GB/s}
`

// Config returns the configuration of the run, without transports.
func (b BarrierRun) Config() (Config, error) {
	machine, err := network.Parse("paper-barrier", fmt.Appendf(nil, paperMachine, b.PerNode), nil)
	if err != nil {
		return Config{}, err
	}
	target, err := machine.Target(b.Ranks)
	c := Config{}
	c.Target, c.Kind, c.Collectives, c.Seed, c.Protocol = target, steps.Kind, b.Collectives, 1, sync.Hybrid
	c.Algorithms = map[collectives.Operation]collectives.Algorithm{collectives.Barrier: b.Algorithm}
	return c, err
}

// BarrierCounts is the work of a barrier: messages, messages between engines, ranks resumed,
// and events.
type BarrierCounts struct{ Messages, RemoteMessages, Switches, Events uint64 }

// Count returns the counts of one barrier: the counts of a run of two barriers less the counts of a run of one. Events
// of several engines depend on which message comes first on the host. The other counts do
// not.
func (b BarrierRun) Count() (BarrierCounts, error) {
	var counts [2]BarrierCounts
	for i := range counts {
		c, err := b.Config()
		if err != nil {
			return BarrierCounts{}, err
		}
		c.Iterations, c.Transports = i+1, sync.NewInProcess(b.Engines)
		simulation, err := New(barriertest.Name, c)
		if err != nil {
			return BarrierCounts{}, err
		}
		r, err := simulation.Run()
		if err != nil {
			return BarrierCounts{}, err
		}
		s := r.Statistics
		counts[i] = BarrierCounts{s.Messages, s.RemoteMessages, s.Switches, s.Events}
	}
	one, two := counts[0], counts[1]
	return BarrierCounts{two.Messages - one.Messages, two.RemoteMessages - one.RemoteMessages, two.Switches - one.Switches, two.Events - one.Events}, nil
}
