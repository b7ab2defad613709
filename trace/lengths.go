package trace

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// lengths are those of the messages between two members with a tag, and of the room of their receives. The k-th send fits the k-th receive. Where the
// longest message has room in the shortest receive, or each receive has the room of its message and no more, all fit; else a further pass pairs them.
type lengths struct {
	longest, shortest    int64 // shortest: less than the room of the shortest receive by [math.MaxInt64], so that 0 stands for no receive
	ofSends, ofReceives  uint64
	sendsOut, receivesOf bool // of partitioned communication, whose messages are paired in an order of their own
	failed               bool // a wait for a receive failed in the record: the program knows that a message may be too long
}

// roomOf returns the room of a receive, the greatest number for one whose room is not known.
func (o *Operation) roomOf() int64 {
	if o.Form.Has(Unsized) {
		return math.MaxInt64
	}
	return o.Room
}

func (l *lengths) sends(o *Operation) {
	l.longest, l.sendsOut = max(l.longest, o.Bytes), l.sendsOut || o.Function == Psend
	l.ofSends = l.ofSends*0x9e3779b97f4a7c15 + uint64(o.Bytes) + 1
}

func (l *lengths) receives(o *Operation) {
	l.shortest, l.receivesOf = min(l.shortest, o.roomOf()-math.MaxInt64), l.receivesOf || o.Function == Precv
	l.ofReceives = l.ofReceives*0x9e3779b97f4a7c15 + uint64(o.roomOf()) + 1
}

// add adds the lengths of another part, which has read the sends, the receives or neither of the messages.
func (l *lengths) add(part *lengths) {
	l.longest, l.shortest = max(l.longest, part.longest), min(l.shortest, part.shortest)
	l.ofSends, l.ofReceives = l.ofSends+part.ofSends, l.ofReceives+part.ofReceives
	l.sendsOut, l.receivesOf, l.failed = l.sendsOut || part.sendsOut, l.receivesOf || part.receivesOf, l.failed || part.failed
}

// mayNotFit reports whether a message may be longer than the room of its receive.
func (l *lengths) mayNotFit() bool {
	return l.longest > l.shortest+math.MaxInt64 && l.ofSends != l.ofReceives && !l.sendsOut && !l.receivesOf && !l.failed
}

// sized is a send or receive with a length.
type sized struct{ bytes, operation int64 }

// pairing is the sends and receives of the messages between two members with a tag, in their order.
type pairing struct{ sends, receives []sized }

// notes notes a send or receive; a nil pairing does not.
func (p *pairing) notes(bytes, operation int64, sends bool) {
	switch {
	case p == nil:
	case sends:
		p.sends = append(p.sends, sized{bytes, operation})
	default:
		p.receives = append(p.receives, sized{bytes, operation})
	}
}

// compareLengths finds the first message of each two members with each tag that is longer than the room of its receive. It leaves out messages that
// receives with wildcards or calls that failed may have taken, and messages whose waits failed in the record.
func (x *check) compareLengths(parts []*check) error {
	looked := map[message]*pairing{}
	for m, b := range x.messages {
		any := x.messages[message{comm: m.comm, source: AnySource, destination: m.destination}]
		if any == nil && b.maySent+b.mayReceived == 0 && b.lengths.mayNotFit() {
			looked[m] = &pairing{}
		}
	}
	if len(looked) == 0 {
		return nil
	}
	for _, part := range parts {
		part.most, part.looked, part.messages, part.calls = 0, map[message]*pairing{}, map[message]*balance{}, map[commID]map[int]*course{}
		for m := range looked {
			part.looked[m] = &pairing{}
		}
	}
	if err := readParts(parts, func(x *check) func(o *Operation) { return x.counts }); err != nil {
		return err
	}
	for _, part := range parts {
		for m, p := range part.looked {
			looked[m].sends, looked[m].receives = append(looked[m].sends, p.sends...), append(looked[m].receives, p.receives...)
		}
	}
	for _, m := range slices.SortedFunc(maps.Keys(looked), message.compare) {
		x.compareLengthsOf(m, looked[m])
	}
	return nil
}

// compareLengthsOf compares the lengths of the messages between two members with a tag.
func (x *check) compareLengthsOf(m message, p *pairing) {
	for i := range min(len(p.sends), len(p.receives)) {
		s, r := p.sends[i], p.receives[i]
		if s.bytes <= r.bytes {
			continue
		}
		if x.count++; len(x.faults) < x.most {
			x.faults = append(x.faults, fmt.Sprintf("%s: member %d receives message %d from member %d with tag %d on %s in %d bytes, %s, and it has %d, by %s", x.file.Name,
				m.destination, i, m.source, m.tag, x.nameOf(m.comm), r.bytes, x.sideAt(m, true, r.operation), s.bytes, x.sideAt(m, false, s.operation)))
		}
		return
	}
}

// compare orders messages.
func (m message) compare(b message) int {
	return cmp.Or(cmp.Compare(m.comm, b.comm), cmp.Compare(m.destination, b.destination), cmp.Compare(m.source, b.source), cmp.Compare(m.tag, b.tag))
}
