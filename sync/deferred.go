package sync

import (
	"time"

	"gigarank/vtime"
)

// Deferred is work that engines have put off until nothing else can go on anywhere. It holds no
// EIT back: an engine promises as if it had none. So when the work is taken up, EIT falls.
type Deferred struct {
	From  vtime.Time // of its first action; Forever: there is none
	Items uint64     // how much work there is, summed up over the engines
	Most  uint64     // the greatest of the numbers that the engines give
	Last  vtime.Time // the latest of the instants that the engines give
}

// add adds the work of another engine.
func (d *Deferred) add(o *Deferred) {
	d.From, d.Most, d.Last = min(d.From, o.From), max(d.Most, o.Most), max(d.Last, o.Last)
	d.Items += o.Items
}

// Deferrer is an engine that may put work off.
type Deferrer interface {
	// Defers reports whether the engine has put work off. It is cheap.
	Defers() bool
	// Deferred returns the work that the engine has put off. The engine is blocked and has no next event.
	Deferred() Deferred
}

// Due returns the work of all engines that is to be taken up, after Wait has returned Resumed.
func (e *Endpoint) Due() Deferred { return e.due }

// defers reports whether the engine has put work off.
func (e *Endpoint) defers() bool { return e.config.Deferrer != nil && e.config.Deferrer.Defers() }

// deferral returns the work that the engine has put off, for its contribution to the round that is on. vague says that it
// is not in there: only a round that looks for the end needs it. So an engine that puts work off waits for the
// start of a round, which tells the purpose.
func (e *Endpoint) deferral(blocked bool) (d Deferred, vague bool) {
	d = Deferred{From: vtime.Forever}
	if !blocked || e.next < vtime.Forever || !e.defers() {
		return d, false
	}
	if e.round.purpose != purposeEnd {
		return d, true
	}
	return e.config.Deferrer.Deferred(), false
}

// resume has virtual time begin anew at the instant of the work that the engines take up. All have contributed
// to a round that no record crosses, and none had a next event: nothing happens before that instant, and
// no record is on its way. Promises are, which say what held without the work. So packets tell how often
// their sender has resumed: a promise from before counts no more, and a packet of an engine
// that has resumed already waits until this one has, too.
func (e *Endpoint) resume(d Deferred) {
	e.due = d
	e.resumed = (e.resumed + 1) % resumedModulus
	e.everResumed = true
	e.base, e.dueAt = d.From, d.From
	e.floor, e.fresh, e.reached = d.From.Add(e.inbound), 0, d.From.Add(vtime.Picosecond)
	e.promises.reset(d.From.Add(vtime.Picosecond))
	for _, p := range e.peers.list {
		p.promised, p.asked = 0, 0
	}
	e.exchanging, e.exchanges = 0, 0
	e.round.fruitless = 0
	e.bound()
}

// earlyPacket is a packet of an engine that has resumed before this one.
type earlyPacket struct {
	source int
	packet []byte
}

// early reports whether a packet comes from an engine that has resumed once more than this one. A packet that is none
// is refused later.
func (e *Endpoint) early(packet []byte) bool {
	h, err := readHeader(packet)
	return err == nil && h.resumed == (e.resumed+1)%resumedModulus
}

// takeEarly returns the next packet that has waited until this engine has resumed, nil for none.
func (e *Endpoint) takeEarly() (src int, packet []byte) {
	if len(e.waiting) == 0 || e.early(e.waiting[0].packet) {
		return 0, nil
	}
	first := e.waiting[0]
	e.waiting = e.waiting[1:]
	return first.source, first.packet
}

// resumePatience is how long the root waits for a first time before it looks for an end while work is put
// off, or has been. The next times are twice as long each.
const resumePatience = 100 * time.Microsecond
