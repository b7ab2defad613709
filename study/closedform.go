package study

import (
	"math"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/network"
	"gigarank/vtime"
)

// ClosedForm returns the time of a point by the formula of its algorithm where that is
// exact for the machine, the mapping and the program, and false elsewhere. It is exact
// where all ranks enter together, no noise holds them up, all messages are eager, and
// those of one size (of node-leader, those between leaders) all take equally long. For
// algorithms in step it is also exact above the eager limit or, in loggops, below it;
// see [collectives.InStep]. At interfaces of nodes it is exact for algorithms in step among ranks or leaders with nodes of their own,
// where an interface is ready again before the next round.
func (p *Plan) ClosedForm(point Point) (vtime.Duration, bool) {
	if p.Program != nil || point.Noise != NoNoise {
		return 0, false
	}
	if p.Operation == collectives.Allreduce && point.Compute > 0 {
		return 0, false // its ranks compute for different times
	}
	target, err := p.Machine(point).Target(point.Ranks)
	if err != nil || !fitsForm(point) {
		return 0, false
	}
	count, size := elements(p.Operation, point.Payload, p.Datatype)
	a := p.algorithmOf(point, target)
	f := newFormula(target, p.Operation, a, count)
	if !f.exact || point.Iterations > 1 && !f.together {
		return 0, false
	}
	d, ok := collectives.ClosedForm(p.Operation, a, f.members, count, size, f.cost)
	if f.delayed {
		return 0, false
	}
	return d.Plus(target.LaunchTime()).Plus(buffers(target, p.Operation, a, count*size)), ok && (f.rendezvous || f.largest <= target.EagerLimit())
}

// buffers returns the time in which each rank makes the buffers of an algorithm. Where ranks share the memory of a node no form is exact.
func buffers(t *network.Target, op collectives.Operation, a collectives.Algorithm, payload int64) vtime.Duration {
	if t.Ranks() == 1 {
		return 0
	}
	if op == collectives.Allgather || op == collectives.Alltoall || op == collectives.ReduceScatter {
		payload *= int64(t.Ranks()) // which fits, see fitsForm
	}
	b := collectives.BuffersOf(op, a)
	return t.BufferTime(1, payload, b.Allocated, b.Copied)
}

// fitsForm reports whether the bytes of all ranks can be counted.
func fitsForm(point Point) bool {
	return point.Ranks <= math.MaxInt32 && point.Payload <= math.MaxInt64/4/point.Ranks
}

// elements splits a payload into elements as the programs do: of the datatype, by default doubles where they
// are added up, else bytes.
func elements(op collectives.Operation, payload int64, d bench.Datatype) (count, size int64) {
	switch {
	case op == collectives.Barrier:
		return 0, 0
	case d != 0:
		size = d.Bytes()
	case op == collectives.Allreduce:
		size = 8
	default:
		size = 1
	}
	return payload / size, size
}

// formula holds the arguments of the closed form of an algorithm on a machine.
type formula struct {
	members int
	cost    collectives.Cost
	exact   bool
	inStep  bool // members are in step if they begin together
	// together: ranks leave together if they enter together.
	together bool
	largest  int64 // message whose cost was asked for
	// rendezvous: the cost knows messages above the eager limit.
	rendezvous bool
	// atInterfaces: messages pass interfaces of nodes. delayed: one is not ready for the next round when that begins, or takes longer than
	// the message alone, for a message whose cost was asked for.
	atInterfaces, delayed bool
}

func newFormula(t *network.Target, op collectives.Operation, a collectives.Algorithm, count int64) *formula {
	f := &formula{members: t.Ranks()}
	if a == collectives.GivenTime {
		f.cost.Fixed, f.exact, f.together = t.BarrierTime(), true, true
		return f
	}
	_, most := t.NodeSizes()
	if a.AlongTorus() {
		return f // its time is that of the machine, not a formula of messages
	}
	if a == collectives.Offload {
		f.cost.Offload, f.cost.Gamma, f.exact, f.rendezvous = func(bytes int64) vtime.Duration { return t.OffloadTime(t.Span(), bytes) }, t.ReduceTime, !t.ReceiverState(), true
		f.members = t.Nodes()
		if joins := !t.OffloadsRanks() && most > 1; joins {
			f.exact = f.chargeJoins(t, op) && f.exact
		} else {
			f.together = true
		}
		return f
	}
	src, dst, alike := t.AlikeRanks()
	if a == collectives.NodeLeader {
		f.members = t.Nodes()
		src, dst, alike = t.AlikeLeaders()
	}
	if !alike && (a == collectives.NodeLeader || most == 1) {
		src, dst, alike = t.AlikeAtInterfaces()
		_, _, gap := t.Interfaces()
		f.atInterfaces = alike && (count > 0 || gap > 0) // else no message occupies an interface
	}
	if a == collectives.NodeLeader && most > 1 {
		alike = f.chargeJoins(t, op) && alike
	}
	f.inStep = collectives.InStep(op, a, f.members, count)
	f.together = f.inStep && (a != collectives.NodeLeader || most == 1)
	f.cost.Gamma, f.cost.Own, f.cost.Type = t.ReduceTime, t.LocalCopyTime, t.TypeTime
	f.exact = alike && (f.inStep || !f.atInterfaces) && t.Among(collectives.Partners(op, a, f.members), collectives.SendsInTurn(op, a), math.MaxInt64) == t
	alike = f.exact
	o := t.Overhead()
	if t.ReceiverState() {
		f.inStep = f.together // nothing is derived of joins
	}
	if t.ReceiverState() || f.inStep {
		f.exact = alike && f.inStep && f.charge(t, src, dst)
		return f
	}
	f.cost.Alpha, f.cost.Gap = t.Latency(src, dst), t.Gap()
	f.cost.Send, f.cost.Receive, f.cost.Copy = o.Send, o.Receive, t.Copy
	f.cost.Beta = f.noting(func(bytes int64) vtime.Duration { return t.Delay(src, dst, bytes) - t.Latency(src, dst) })
	return f
}

// chargeJoins sets the cost of joins and releases. It reports whether they take the same time on all nodes.
func (f *formula) chargeJoins(t *network.Target, op collectives.Operation) bool {
	least, most := t.NodeSizes()
	f.cost.PerNode = most
	f.cost.Join = f.noting(func(bytes int64) vtime.Duration {
		j := t.Joins(most, most, bytes)
		if op == collectives.Bcast {
			j.Combine = 0
		}
		return j.In + j.Combine + j.Out
	})
	return t.JoinsAlike() && (least == most || least > 1 && op == collectives.Barrier && !t.JoinsByLevels())
}

// charge sets the cost of a round in which every member sends and receives. It reports
// whether the ports are ready for the next round by its end.
func (f *formula) charge(t *network.Target, src, dst int) bool {
	const begin = vtime.Time(0)
	round := func(bytes int64) vtime.Duration {
		o := t.Overhead()
		arrival := begin.Add(o.Send + t.Delay(src, dst, bytes))
		if bytes > t.EagerLimit() {
			request := begin.Add(o.Send + t.Latency(src, dst))
			arrival, _ = t.Rendezvous(src, dst, bytes, begin, request)
		}
		return arrival.Sub(begin) + o.Receive + t.Copy(bytes)
	}
	f.rendezvous = true
	if f.atInterfaces {
		round = f.passing(t, src, dst, round)
	}
	if g := t.LogGOPS(); g != nil {
		round = func(bytes int64) vtime.Duration { return logGOPSRound(g, bytes) }
		f.rendezvous = false
	} else if t.ReceiverState() {
		return false
	}
	f.cost.Alpha = round(0)
	f.cost.Beta = f.noting(func(bytes int64) vtime.Duration { return round(bytes) - round(0) })
	return t.Gap() <= f.cost.Alpha
}

// passing returns the cost of a round that notes whether an interface delays messages.
func (f *formula) passing(t *network.Target, src, dst int, round func(int64) vtime.Duration) func(int64) vtime.Duration {
	_, _, gap := t.Interfaces()
	return func(bytes int64) vtime.Duration {
		took, busy := round(bytes), t.InterfaceTime(bytes)
		f.delayed = f.delayed || t.Delay(src, dst, bytes)-t.Latency(src, dst) < busy || took < busy.Plus(gap)
		return took
	}
}

// logGOPSRound returns the time of a round in loggops. The sender's CPU is busy for o +
// (m−1)O, and the message arrives after o + L. The CPU takes it in as soon as both are
// over, in o + (m−1)·max(O, G).
func logGOPSRound(g *network.LogGOPS, bytes int64) vtime.Duration {
	more := vtime.Duration(max(bytes-1, 0))
	sent, arrived := g.Overhead+more*g.OverheadPerByte, g.Overhead+g.Latency
	return max(sent, arrived) + g.Overhead + more*max(g.OverheadPerByte, g.GapPerByte)
}

// noting returns a cost that remembers the largest message that it was called with.
func (f *formula) noting(beta func(int64) vtime.Duration) func(int64) vtime.Duration {
	return func(bytes int64) vtime.Duration {
		f.largest = max(f.largest, bytes)
		return beta(bytes)
	}
}
