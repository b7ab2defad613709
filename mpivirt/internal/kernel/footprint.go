package kernel

import (
	"gigarank/collectives"
	"gigarank/engine"
)

// Memory that a rank takes, in bytes.
const (
	clockBytes = 8

	collectiveBytes = 300 // a rank in a collective that is not over arrays: round queue, agent, a message
	processorBytes  = 168 // under a model with state at the receiver
)

// Footprint estimates the bytes that the engines hold for each rank while it waits in
// a collective of WORLD that simulates sizes only or reduces a vector; without
// operations, of what every rank takes. What the program itself holds is not in it.
//
// Of the Config it looks at Target, LP, Protocol, Collectives, Algorithms and Window;
// without a Target it counts no collectives.
func Footprint(c *Config, engines int, operations ...collectives.Operation) float64 {
	bytes := float64(clockBytes)
	if kind := c.kind(); kind != nil {
		bytes = max(bytes, kind.Bytes)
	}
	if c.Target != nil && c.Target.ReceiverState() {
		bytes += processorBytes
	}
	most := 0.0
	for _, op := range operations {
		most = max(most, c.collectiveBytes(op, engines))
	}
	return bytes + most
}

// collectiveBytes is what a collective of WORLD takes for each rank.
func (c *Config) collectiveBytes(op collectives.Operation, engines int) float64 {
	if c.Target == nil {
		return 0
	}
	a := c.Algorithm(op)
	ranks := c.Target.Ranks()
	nodes := float64(c.Target.Nodes()) / float64(ranks)
	const entered = 1. / 8
	participants, bytes, each := ranks, entered, 1.
	if a == collectives.NodeLeader {
		// The counter and the instant of each node; the instants are the array.
		participants, each = c.Target.Nodes(), nodes
		bytes += nodes * 12
	}
	s, err := scheduleOf(op, a, participants, 0)
	if err != nil || !c.overArrays(op, a, s, engines) {
		return bytes + each*collectiveBytes
	}
	arrays := 1.
	if a == collectives.NodeLeader {
		arrays = 0
	}
	for round := range s.MaxRounds() {
		switch p := s.Pattern(round); p.Kind {
		case collectives.Shift:
			if engines == 1 {
				return bytes + (8+8*keptAside(s))*each
			}
			return bytes + (16+c.underWay(ranks, engines, 3))*each
		case collectives.Exchange:
			if p.Folded > 0 {
				arrays += float64(participants-p.Folded) / float64(participants)
			}
			return bytes + (8*arrays+c.underWay(ranks, engines, 3))*each
		}
	}
	return bytes + 8*arrays*each
}

// overArrays reports whether a collective of WORLD is carried out over arrays of clocks,
// which take far less than the agents of the members or, round by round on one engine,
// their clocks and messages. Data, messages above the eager limit, and leaders that do
// not ascend may forbid arrays all the same.
func (c *Config) overArrays(op collectives.Operation, a collectives.Algorithm, s collectives.Schedule, engines int) bool {
	call := &Collective{Operation: op, algorithm: a}
	choice := choice{
		target: c.Target, wanted: c.Collectives, null: c.Protocol == engine.Null,
		call: call, schedule: s, layout: call.commonLayout(s),
		members: c.Target.Ranks(), leaders: a == collectives.NodeLeader, ascending: true, alone: engines == 1,
		uniformFrom: c.Target.UniformFrom(),
	}
	return choice.mode() == byArrays
}

// keptAside is how many clocks are kept aside in the shifts of a schedule, for each
// member. Of a schedule of many rounds, whose distances are all alike or ascend, it
// looks at the first and the last ones.
func keptAside(s collectives.Schedule) float64 {
	const few = 64
	most := 0
	for round := 0; round < s.MaxRounds(); round++ {
		if round == few {
			round = max(few, s.MaxRounds()-few)
		}
		if p := s.Pattern(round); p.Kind == collectives.Shift && gcd(s.Members(), p.Distance) < leastShiftBlock {
			most = max(most, p.Distance)
		}
	}
	return float64(most) / float64(s.Members())
}

// underWay is what a rank's clock takes while engines exchange it, some copies at a
// time, as long as that fits their windows.
func (c *Config) underWay(ranks, engines, copies int) float64 {
	if engines == 1 {
		return 0
	}
	window := float64(c.Window)
	if window <= 0 {
		window = engine.DefaultWindow
	}
	return float64(copies) * min(clockBytes, window*float64(engines)/float64(ranks))
}
