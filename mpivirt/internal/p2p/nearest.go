package p2p

import "gigarank/mpivirt/internal/world"

// Misfit is how a message differs from the messages that a receive or probe matches.
type Misfit uint8

// The misfits, the nearest first.
const (
	OtherTag Misfit = iota
	OtherSource
	OtherComm
	NoMisfit // there is no message that is near
)

// Nearest returns the unexpected message of an LP that is nearest to a communicator, source and tag, of which the source and the tag
// may be wildcards: the message that differs in the tag only, else in the source, else in the communicator. Of several it returns the
// first in the order of (arrival, source rank).
func (m *Messages) Nearest(lp, comm, source, tag int32) (by Misfit, ofComm, ofSource, ofTag int32) {
	box := m.Mailbox(lp)
	if box == nil {
		return NoMisfit, 0, 0, 0
	}
	wanted, nearest := pattern{comm, source, tag}, int32(0)
	by = NoMisfit
	for _, index := range m.unexpectedOf(box) {
		msg := m.messages.At(index)
		differs := wanted.misfit(msg)
		if differs < by || differs == by && differs < NoMisfit && msg.before(m.messages.At(nearest)) {
			by, nearest = differs, index
		}
	}
	if by == NoMisfit {
		return NoMisfit, 0, 0, 0
	}
	msg := m.messages.At(nearest)
	return by, msg.comm, msg.source, msg.tag
}

// misfit returns how a message differs from a pattern.
func (p pattern) misfit(msg *message) Misfit {
	sameSource, sameTag := p.source == msg.source || p.source == world.AnySource, p.tag == msg.tag || p.tag == world.AnyTag
	switch {
	case p.matches(msg):
	case p.comm == msg.comm && sameSource:
		return OtherTag
	case p.comm == msg.comm && sameTag:
		return OtherSource
	case p.comm != msg.comm && sameSource && sameTag:
		return OtherComm
	}
	return NoMisfit
}
