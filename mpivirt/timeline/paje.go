package timeline

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/vtime"
)

// The format of Paje (L. M. Schnorr, "Paje trace file format", 2016). Times are seconds with twelve digits behind the point. A rank is
// a container with two states: its function, and the cause for which its time passes. A message is a link.

// pajeHeader defines the events that a file has. Definitions have numbers of their own in each file.
const pajeHeader = `%EventDef PajeDefineContainerType 0
%  Alias string
%  Type string
%  Name string
%EndEventDef
%EventDef PajeDefineStateType 1
%  Alias string
%  Type string
%  Name string
%EndEventDef
%EventDef PajeDefineLinkType 2
%  Alias string
%  Type string
%  StartContainerType string
%  EndContainerType string
%  Name string
%EndEventDef
%EventDef PajeDefineEntityValue 3
%  Alias string
%  Type string
%  Name string
%  Color color
%EndEventDef
%EventDef PajeCreateContainer 4
%  Time date
%  Alias string
%  Type string
%  Container string
%  Name string
%EndEventDef
%EventDef PajeDestroyContainer 5
%  Time date
%  Type string
%  Name string
%EndEventDef
%EventDef PajeSetState 6
%  Time date
%  Type string
%  Container string
%  Value string
%EndEventDef
%EventDef PajePopState 9
%  Time date
%  Type string
%  Container string
%EndEventDef
%EventDef PajeStartLink 7
%  Time date
%  Type string
%  Container string
%  StartContainer string
%  Value string
%  Key string
%EndEventDef
%EventDef PajeEndLink 8
%  Time date
%  Type string
%  Container string
%  EndContainer string
%  Value string
%  Key string
%EndEventDef
0 R 0 Run
0 N R Rank
1 F N Function
1 C N Cause
2 M R N N Message
`

// pajeEvent is an event of a file: of a slice, of a part of it, or of a message.
type pajeEvent struct {
	at    vtime.Time
	index int32 // of a slice or message
	part  int8  // -1: the function of a slice
	kind  uint8
}

// The kinds of events, in the order of those of an instant.
const (
	pajeState uint8 = iota
	pajeEnd         // of a slice that none follows at once
	pajeSend
	pajeReceive
)

// writePaje writes a picture for Paje.
func writePaje(w *bufio.Writer, t *Timeline) {
	_, _ = w.WriteString(pajeHeader)
	for _, c := range kernel.Passing() {
		rgb := colors[c.String()]
		put(w, "3 c%d C %q \"%.3f %.3f %.3f\"\n", c, c, float64(rgb[0])/255, float64(rgb[1])/255, float64(rgb[2])/255)
	}
	for _, p := range t.procedures() {
		put(w, "3 f%d F %q \"0.6 0.6 0.6\"\n", p, t.NameOf(p))
	}
	put(w, "4 %s r R 0 %q\n", seconds(t.From), t.Program)
	for _, rank := range t.Shown {
		put(w, "4 %s n%d N r \"rank %d\"\n", seconds(t.From), rank, rank)
	}
	events := make([]pajeEvent, 0, len(t.Slices)+len(t.Parts)+2*len(t.Messages))
	for i := range t.Slices {
		s := &t.Slices[i]
		events = append(events, pajeEvent{s.Begin, int32(i), -1, pajeState})
		at := s.Begin
		for j, p := range t.PartsOf(s) {
			events = append(events, pajeEvent{at, int32(i), int8(j), pajeState})
			at = at.Add(p.Time)
		}
		if i+1 == len(t.Slices) || t.Slices[i+1].Rank != s.Rank || t.Slices[i+1].Begin != s.End {
			events = append(events, pajeEvent{s.End, int32(i), 0, pajeEnd})
		}
	}
	for i := range t.Messages {
		events = append(events, pajeEvent{t.Messages[i].Sent, int32(i), 0, pajeSend}, pajeEvent{t.Messages[i].Received, int32(i), 0, pajeReceive})
	}
	slices.SortStableFunc(events, func(a, b pajeEvent) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind)) })
	for _, e := range events {
		switch e.kind {
		case pajeState:
			s := &t.Slices[e.index]
			if e.part < 0 {
				put(w, "6 %s F n%d f%d\n", seconds(e.at), s.Rank, s.Procedure)
			} else {
				put(w, "6 %s C n%d c%d\n", seconds(e.at), s.Rank, t.PartsOf(s)[e.part].Cause)
			}
		case pajeEnd:
			rank := t.Slices[e.index].Rank
			put(w, "9 %s F n%d\n9 %s C n%d\n", seconds(e.at), rank, seconds(e.at), rank)
		case pajeSend:
			m := &t.Messages[e.index]
			put(w, "7 %s M r n%d \"%d bytes, tag %d\" m%d\n", seconds(e.at), m.From, m.Bytes, m.Tag, e.index)
		case pajeReceive:
			m := &t.Messages[e.index]
			put(w, "8 %s M r n%d \"%d bytes, tag %d\" m%d\n", seconds(e.at), m.To, m.Bytes, m.Tag, e.index)
		}
	}
	for _, rank := range t.Shown {
		put(w, "5 %s N n%d\n", seconds(t.last()), rank)
	}
	put(w, "5 %s R r\n", seconds(t.last()))
}

// last returns an instant after all events.
func (t *Timeline) last() vtime.Time {
	last := t.To
	for i := range t.Messages {
		last = max(last, t.Messages[i].Received)
	}
	return last
}

// seconds returns an instant in seconds, exactly.
func seconds(t vtime.Time) string {
	return fmt.Sprintf("%d.%012d", uint64(t)/1_000_000_000_000, uint64(t)%1_000_000_000_000)
}

// procedures returns the procedures that a picture has, ascending.
func (t *Timeline) procedures() (all []uint8) {
	var has [1 << 8]bool
	for i := range t.Slices {
		has[t.Slices[i].Procedure] = true
	}
	for p, is := range has {
		if is {
			all = append(all, uint8(p))
		}
	}
	return all
}
