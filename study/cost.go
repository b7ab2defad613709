package study

import (
	"math"

	"gigarank/collectives"
)

// Rough figures of the host's time for a simulation on one core, in ns, by the work
// that a rank or a pair of ranks has with the others. They order the points and leave
// hopeless ones out of a default; nothing else depends on them.
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

// roundsCost estimates the wall time of the messages among n ranks in ns.
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
