package network

import (
	"math"

	"gigarank/internal/quantity"
	"gigarank/vtime"
)

// LogGOPS are the parameters of the model of Hoefler, Schneider and Lumsdaine
// ("LogGOPSim – Simulating Large-Scale Applications in the LogGOPS Model",
// 2010).
type LogGOPS struct {
	Latency         vtime.Duration // L: of the wire
	Overhead        vtime.Duration // o: CPU time per message, at either end
	Gap             vtime.Duration // g: least time between two messages at an interface
	GapPerByte      vtime.Duration // G: interface time per byte after the first
	OverheadPerByte vtime.Duration // O: CPU time per byte after the first
	Eager           int64          // S: a message of more bytes uses rendezvous
}

var loggopsKind = modelKind{
	name:      "loggops",
	summary:   "LogGOPS: state at the receiver, exact, and slow on the host",
	fields:    []string{"L", "o", "g", "G", "O", "S"},
	symmetric: true,
	examples: []string{
		"{L: 2500ns, o: 1500ns, g: 1000ns, G: 6ns, O: 1ns, S: 65535}",
		"{L: 0, o: 0, g: 3us, G: 1ns}",
	},
	parse: func(o *object) model {
		return &LogGOPS{
			Latency:         o.duration("L", true, 0),
			Overhead:        o.duration("o", true, 0),
			Gap:             o.duration("g", true, 0),
			GapPerByte:      o.duration("G", true, 0),
			OverheadPerByte: o.duration("O", false, 0),
			Eager:           o.size("S", false, math.MaxInt64),
		}
	},
}

func (m *LogGOPS) kind() *modelKind { return &loggopsKind }

func (m *LogGOPS) write(o *objectWriter) {
	o.text("L", m.Latency.String())
	o.text("o", m.Overhead.String())
	o.text("g", m.Gap.String())
	o.text("G", m.GapPerByte.String())
	o.text("O", m.OverheadPerByte.String())
	o.text("S", quantity.FormatSize(m.Eager))
}

// over returns delays of o + L for every message. The receiver and later messages are charged for
// its bytes.
func (m *LogGOPS) over(p placement) delays {
	return pathEverywhere(p, newPath(m.Overhead+m.Latency))
}

func (m *LogGOPS) charge() Overhead         { return Overhead{m.Overhead, m.Overhead} }
func (m *LogGOPS) interval() vtime.Duration { return m.Gap }
func (m *LogGOPS) eager() int64             { return m.Eager }

func (m *LogGOPS) depart(o *Occupancy, bytes int64, at vtime.Time) {
	more := max(bytes-1, 0)
	o.CPU = at.Add(m.Overhead.Plus(times(more, m.OverheadPerByte)))
	o.Send = at.Add(m.Gap.Plus(times(more, m.GapPerByte)))
}

func (m *LogGOPS) takeIn(o *Occupancy, bytes int64, at vtime.Time) {
	more := max(bytes-1, 0)
	perByte := times(more, m.GapPerByte)
	o.CPU = at.Add(m.Overhead.Plus(max(times(more, m.OverheadPerByte), perByte)))
	o.Receive = at.Add(m.Gap.Plus(perByte))
}
