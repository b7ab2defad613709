package main

import (
	"fmt"
	"os"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/network"
)

// point is a run to compare with its forecast. Its fields are those of JSON, so that a process
// of its own can run it.
type point struct {
	Program    string
	Kind       string
	Machine    string
	Operation  collectives.Operation // of the algorithm
	Algorithm  collectives.Algorithm
	Timed      bool // the program times the operation; else it has its default algorithms
	Mode       mpivirt.Interpreter
	Engines    int
	Payload    int64 // 0: the program's
	Ranks      int64
	Iterations int
}

func (p point) String() string {
	s := fmt.Sprintf("%s on %s as %s LPs, interpreter %d, %d engines, %d bytes, %d ranks, %d iterations",
		p.Program, p.Machine, p.Kind, p.Mode, p.Engines, p.Payload, p.Ranks, p.Iterations)
	if p.Timed {
		s += fmt.Sprintf(", %s=%s", p.Operation, p.Algorithm)
	}
	return s
}

// entry returns the point's program.
func (p point) entry() (bench.Entry, error) { return bench.Lookup(p.Program) }

// config returns the point's configuration, without transports.
func (p point) config() (bench.Config, error) {
	c := bench.Config{Options: bench.Options{Iterations: p.Iterations, Payload: p.Payload}}
	for _, kind := range mpivirt.Kinds() {
		if kind.Name == p.Kind {
			c.Kind = kind
		}
	}
	if c.Collectives = p.Mode; p.Timed {
		c.Algorithms = map[collectives.Operation]collectives.Algorithm{p.Operation: p.Algorithm}
	}
	machine, err := network.Load(p.Machine, os.ReadFile)
	if err != nil {
		return c, err
	}
	c.Target, err = machine.Target(p.Ranks)
	return c, err
}

// foresee returns the forecast of the point, and the bytes that it counts for all its ranks and
// engines.
func (p point) foresee() (cost mpivirt.Cost, bytes float64, err error) {
	e, err := p.entry()
	if err != nil {
		return cost, 0, err
	}
	c, err := p.config()
	if err != nil {
		return cost, 0, err
	}
	cost = bench.CostOf(e, c, p.Engines)
	return cost, cost.BytesPerRank*float64(p.Ranks) + cost.BytesPerEngine*float64(p.Engines), nil
}

// axes are the values whose combinations are compared.
type axes struct {
	machines   []string
	payloads   []int64 // of programs that have a payload
	iterations []int
	engines    []int
	modes      []mpivirt.Interpreter
	ranks      func(e bench.Entry, p point) []int64
}

// points returns the points of all programs, with all kinds of rank and, where a program times
// an operation, all its algorithms.
func (x axes) points() (points []point) {
	for _, e := range bench.Programs() {
		for _, p := range variants(e) {
			for _, p.Machine = range x.machines {
				for _, p.Mode = range x.modes {
					for _, p.Engines = range x.engines {
						points = x.sizes(points, e, p)
					}
				}
			}
		}
	}
	return points
}

// sizes appends the points of one variant.
func (x axes) sizes(points []point, e bench.Entry, p point) []point {
	payloads := x.payloads
	if e.Defaults.Payload == 0 {
		payloads = []int64{0}
	}
	for _, p.Payload = range payloads {
		for _, p.Ranks = range x.ranks(e, p) {
			for _, p.Iterations = range x.iterations {
				points = append(points, p)
			}
		}
	}
	return points
}

// variants returns a program with each kind of rank that both have, and each algorithm.
func variants(e bench.Entry) (points []point) {
	for _, kind := range e.Forms {
		p := point{Program: e.Name, Kind: kind.Name}
		for _, op := range collectives.Operations() {
			if bench.TimedBy(op) == e.Name {
				p.Timed, p.Operation = true, op
			}
		}
		if !p.Timed {
			points = append(points, p)
			continue
		}
		for _, p.Algorithm = range collectives.Algorithms(p.Operation) {
			points = append(points, p)
		}
	}
	return points
}

// manyMessages reports whether each rank sends about as many messages as there are ranks.
func (p point) manyMessages() bool {
	switch {
	case !p.Timed:
		return false
	case p.Algorithm == collectives.Ring:
		return p.Operation != collectives.Bcast
	case p.Algorithm == collectives.Pairwise:
		return true
	}
	return p.Algorithm == collectives.Linear && p.Operation == collectives.Alltoall
}

// bounds returns between which shares of what a run takes a forecast of memory is right. Of linear
// algorithms on several engines it depends on which engine is ahead, and runs of one point differ.
func bounds(p point) (least, most float64) {
	if p.Engines > 1 && p.Timed && p.Algorithm == collectives.Linear {
		return 0.6, 1.2 // an engine that stands still has the windows to it filled by the others
	}
	if p.Algorithm == collectives.RecursiveMultiplying && p.Operation == collectives.Allreduce && p.Machine == stateful {
		return 0.75, 1.1 // the dry run has fewer messages that wait for processors
	}
	return 0.9, 1.1
}

// stateful is the preset with state at the receiver.
const stateful = "loggops-default"
