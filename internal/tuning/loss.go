package tuning

import (
	"math"
	"time"

	"gigarank/collectives"
	"gigarank/internal/measurements"
	"gigarank/mpivirt"
)

// Question is a call by all ranks of a machine, whose nodes are as full as the machine says.
type Question struct {
	Operation collectives.Operation
	Ranks     int64
	Bytes     int64
}

// Compared is the default of a call beside the fastest algorithm.
type Compared struct {
	Question
	Chosen, Fastest collectives.Algorithm
	Seconds, Least  float64
	Loss            float64 // time over that of the fastest; 1 where the default is left out
	LeftOut         int     // algorithms whose simulation takes too long
	Wall            float64
}

// Compare simulates all algorithms of a call that take at most a limit of CPU time each, in seconds, but those that only look free.
func (s *Simulated) Compare(of Question, limit float64) Compared {
	c := Compared{Question: of, Loss: 1, Least: math.Inf(1), Seconds: math.NaN()}
	t, err := s.machine.Target(of.Ranks)
	if err != nil {
		return c
	}
	config := mpivirt.Config{Target: t, Library: s}
	began := time.Now()
	c.Chosen = config.AlgorithmFor(of.Operation, of.Bytes, 0)
	if c.Wall = time.Since(began).Seconds(); c.Chosen == collectives.GivenTime {
		return c // the machine file says that barriers take this time
	}
	tried := map[collectives.Algorithm]bool{}
	for _, a := range append(candidates(of.Operation, of.Bytes), c.Chosen) {
		if tried[a] || s.looksFree(of.Operation, a) {
			continue
		}
		tried[a] = true
		p := measurements.Point{Operation: of.Operation, Algorithm: a, Named: true,
			Nodes: t.Nodes(), PerNode: s.machine.RanksPerNode(), Ranks: int(of.Ranks), Bytes: of.Bytes, Statistic: measurements.LastExit}
		if cost, err := p.Cost(s.machine); err != nil || cost > limit {
			c.LeftOut++
			continue
		}
		seconds, err := p.Simulate(s.machine)
		if err != nil {
			c.LeftOut++
			continue
		}
		if seconds < c.Least {
			c.Least, c.Fastest = seconds, a
		}
		if a == c.Chosen {
			c.Seconds = seconds
		}
	}
	if c.Seconds > c.Least {
		c.Loss = c.Seconds / c.Least
	}
	return c
}
