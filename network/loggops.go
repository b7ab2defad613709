package network

import "gigarank/vtime"

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

// send is Target.Send.
func (m *LogGOPS) send(p *Port, bytes int64, at vtime.Time) (free, leaves vtime.Time) {
	start := max(at, p.Send)
	more := max(bytes-1, 0)
	p.Send = start.Add(m.Gap.Plus(times(more, m.GapPerByte)))
	return start.Add(m.Overhead.Plus(times(more, m.OverheadPerByte))), start
}

// receive is Target.Receive. The CPU pays for a message once. What its last
// spell of waiting offers after the message came, it has paid already.
func (m *LogGOPS) receive(p *Port, bytes int64, free, arrival vtime.Time) vtime.Time {
	more := max(bytes-1, 0)
	perByte := times(more, m.GapPerByte)
	charge := m.Overhead.Plus(max(times(more, m.OverheadPerByte), perByte))
	gap := m.Gap.Plus(perByte)
	if begun := max(arrival, p.idle); begun < p.resume {
		paid := min(charge, p.resume.Sub(begun))
		p.idle = begun.Add(max(charge, gap))
		if charge -= paid; charge == 0 {
			return free
		}
		gap = max(gap-paid, 0)
	}
	start := max(arrival, free, p.Receive)
	if start > free {
		p.idle, p.resume = max(free, p.Receive), start
	}
	p.Receive = start.Add(gap)
	return start.Add(charge)
}
