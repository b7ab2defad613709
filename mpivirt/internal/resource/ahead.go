package resource

import "gigarank/vtime"

// A processor may run ahead of the engine: it begins uses that lie in the future, as long as nothing unknown can reach it by then.
// A message takes the least latency at least, and all events up to now are known. So a processor that has taken in a message
// sends the next one in the same event.
//
// Others may act sooner: a program that is about to go on asks for operations at its clock, a match has no latency, and members
// of a collective in step may yet send at the instant at which they entered. While any of these is possible, each use has an
// event.

// known returns the instant before which all that reaches the processor of an LP is known, 0 if that is only known up to now.
func (o *occupations) known(lp int32) vtime.Time {
	x := (*Processors)(o)
	p := &x.all[lp]
	if len(p.active) == 0 || !x.partition.Engine.Idle() || x.unmatched > 0 || x.holds > 0 || x.turns.anew || x.poll(lp, p) != nil {
		return 0
	}
	return min(x.turns.now.Add(x.least-x.turns.slack), x.partition.Engine.EIT())
}
