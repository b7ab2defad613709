package study

import (
	"math"

	"gigarank/collectives"
	"gigarank/network"
	"gigarank/random"
	"gigarank/vtime"
)

// Rough figures of what the host takes for a simulation on one core, in ns, by
// what a rank or a pair of ranks has to do with the others. They order the points
// and leave hopeless ones out of a default; nothing else depends on them.
const (
	nsPerRank  = 40   // of a rank that goes through an iteration
	nsPerBulk  = 2    // of a message that is part of an array
	nsPerEvent = 1000 // of a message that is an event, with its part of the rest
	nsPerByte  = 0.25 // of data combined
	nsPerSent  = 3    // of a byte of data that is sent in events

	nsPerPair       = 6   // of a round of shifts: everyone sends to the rank k further on
	nsPerWaiting    = 1.5 // of a message among all those that wait at one rank
	nsPerPairEvents = 400 // of two ranks that exchange messages in turn with all others
	nsPerBlock      = 60  // of a vector cut into a block for each rank
)

// hostCost estimates the wall time of a point in ns.
func (p *Plan) hostCost(point Point, a collectives.Algorithm) float64 {
	n := float64(point.Ranks)
	cost := n*nsPerRank + roundsCost(p.Operation, a, n)
	if p.Operation == collectives.Allreduce { // the only one whose program has data
		cost += n * float64(point.Payload) * nsPerByte
		if a != collectives.NodeLeader && a != collectives.RecursiveDoubling {
			cost += n*5*nsPerEvent + n*float64(point.Payload)*nsPerSent
		}
	}
	return float64(point.Iterations) * cost
}

// roundsCost estimates what the messages among n ranks cost.
func roundsCost(op collectives.Operation, a collectives.Algorithm, n float64) float64 {
	log := math.Ceil(math.Log2(n))
	switch op {
	case collectives.Bcast, collectives.Scatter, collectives.Scatterv:
		return n * nsPerEvent
	case collectives.Scan, collectives.Exscan:
		if a == collectives.Linear {
			return n * nsPerEvent
		}
		return n * log * nsPerEvent
	case collectives.Alltoall, collectives.Alltoallv:
		if a == collectives.Linear {
			return n * n * nsPerPairEvents
		}
	case collectives.Allreduce:
		if a == collectives.Ring {
			return n * n * nsPerPairEvents
		}
	}
	switch a {
	case collectives.Binomial:
		return n * nsPerEvent
	case collectives.Linear:
		return n * n * nsPerWaiting
	case collectives.Ring, collectives.Pairwise:
		return n * n * nsPerPair
	case collectives.Rabenseifner:
		return n * n * nsPerBlock
	case collectives.NodeLeader:
		return 0
	}
	return n * log * nsPerBulk
}

// sampledPairs is the number of pairs of ranks whose mean latency stands for the
// latency between two nodes.
const sampledPairs = 1024

// ClosedForm gives the time of a point by the formula of its algorithm, as if all
// ranks entered together once, without noise; false where there is no formula.
// Messages cost what one between two nodes does, or within the node if there is
// only one: where that depends on the distance, the mean over a sample of pairs.
// In loggops a message of m bytes costs 2o + L + (m−1)·G. It is exact where all
// messages cost the same, and for node-leader if all nodes have more than one
// rank.
func (p *Plan) ClosedForm(point Point) (vtime.Duration, bool) {
	a, err := collectives.ParseAlgorithm(p.Operation, point.Algorithm)
	if err != nil {
		return 0, false
	}
	target, err := p.Machine(point).Target(point.Ranks)
	if err != nil {
		return 0, false
	}
	members := point.Ranks
	cost := hockney(target)
	if a == collectives.NodeLeader {
		members, cost.PerNode = int64(target.Nodes()), target.NodeSize(0)
		cost.Intra = target.Latency(0, 0)
		cost.IntraBeta = func(bytes int64) vtime.Duration { return target.Transfer(0, 0, bytes) }
	}
	count, size := elements(p.Operation, point.Payload)
	if members > math.MaxInt32 {
		return 0, false
	}
	return collectives.ClosedForm(p.Operation, a, int(members), count, size, cost)
}

// elements splits a payload into elements as the programs do: doubles where they
// are added up, else bytes.
func elements(op collectives.Operation, payload int64) (count, size int64) {
	switch op {
	case collectives.Barrier:
		return 0, 0
	case collectives.Allreduce:
		return payload / 8, 8
	}
	return payload, 1
}

// hockney gives the machine's parameters of Hockney's model.
func hockney(t *network.Target) collectives.Cost {
	c := collectives.Cost{Gamma: t.ReduceTime}
	if g := t.LogGOPS(); g != nil {
		c.Alpha = 2*g.Overhead + g.Latency
		c.Beta = func(bytes int64) vtime.Duration { return vtime.Duration(max(bytes-1, 0)) * g.GapPerByte }
		return c
	}
	src, dst := 0, t.Ranks()-1
	var sum float64
	var n int
	for k := range uint64(sampledPairs) {
		a, b := random.Intn(0, k, 0, t.Ranks()), random.Intn(0, k, 1, t.Ranks())
		if t.Node(a) == t.Node(b) {
			continue
		}
		src, dst = a, b
		sum += float64(t.Latency(a, b))
		n++
	}
	if c.Alpha = t.Latency(src, dst); n > 0 {
		c.Alpha = vtime.Duration(math.Round(sum / float64(n)))
	}
	c.Beta = func(bytes int64) vtime.Duration { return t.Transfer(src, dst, bytes) }
	return c
}
