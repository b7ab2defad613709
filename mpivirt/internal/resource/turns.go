package resource

import (
	"gigarank/engine"
	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Turn is the place of one resource in the order of virtual time.
type Turn struct {
	begun vtime.Time // latest instant at which a use began
	armed vtime.Time // instant of the timed event that serves the resource; Forever for none, underway while it is served
}

// underway stands for an instant while a resource is served.
const underway vtime.Time = -1

// Serving reports whether uses of the resource are beginning: the running code belongs to one of
// them.
func (t *Turn) Serving() bool { return t.armed == underway }

// uses are the uses of the resources of one kind.
type uses interface {
	// next returns the earliest instant at which a use of a resource can begin, as far as is known,
	// Forever for none.
	next(resource int32) vtime.Time
	// begin begins the use that the latest next has found.
	begin(resource int32)
	// known returns an instant before which all uses of a resource can be decided now, 0 for none beyond now.
	known(resource int32) vtime.Time
}

// Turns has the uses of an engine's resources of one kind begin in the order of virtual time.
type Turns struct {
	partition *world.Partition
	uses      uses
	data      uint64         // of the timed events
	now       vtime.Time     // instant of the current event
	slack     vtime.Duration // greatest time by which a use may begin before now
	deferred  vtime.Duration // greatest time by which a use may be asked for later than it begins
	anew      bool           // virtual time has begun anew
}

// after schedules the next use of a resource, after a change.
func (x *Turns) after(resource int32, t *Turn) {
	if !t.Serving() {
		x.serveBy(resource, t, x.uses.next(resource))
	}
}

// adds schedules the next use of a resource after a change that adds a use, which can begin at an instant or later.
func (x *Turns) adds(resource int32, t *Turn, at vtime.Time) {
	if !t.Serving() {
		x.serveBy(resource, t, at)
	}
}

// serveBy schedules the service of a resource at an instant, unless it is scheduled before.
func (x *Turns) serveBy(resource int32, t *Turn, at vtime.Time) {
	if at >= t.armed {
		return
	}
	t.armed = max(at, x.now)
	rank := x.partition.Global(resource)
	x.partition.Engine.Schedule(engine.Event{Time: t.armed, Source: rank, LP: rank, Data: x.data})
}

// serve begins the uses of a resource that can begin now. All events up to now are known.
func (x *Turns) serve(resource int32, t *Turn, now vtime.Time) {
	x.now = now
	if t.armed != now {
		return
	}
	t.armed = underway
	at := x.uses.next(resource)
	for ; at <= now || at < vtime.Forever && at < x.uses.known(resource); at = x.uses.next(resource) {
		if invariant.Enabled && at < now.Add(-x.slack-x.deferred) {
			invariant.Broken("a resource of rank %d begins a use at %v, and it is %v", x.partition.Global(resource), at, now)
		}
		t.begun = max(t.begun, at)
		x.uses.begin(resource)
	}
	t.armed = vtime.Forever
	x.serveBy(resource, t, at)
}

// interrupted records that the code of a use has unwound the engine's goroutine, and with it the
// service of the resource.
func (t *Turn) interrupted() { t.armed = vtime.Forever }

// reaches counts an event from a rank at an instant that reaches a resource late: the resource has
// begun a use at that instant or later, before virtual time began anew.
func (x *Turns) reaches(resource int32, t *Turn, source int32, at vtime.Time) {
	if x.anew && at <= t.begun {
		x.partition.Summary.Late.Add(x.partition.Global(resource), source, at, t.begun)
	}
}

// Anew restarts virtual time at an instant.
func (x *Turns) Anew(from vtime.Time) { x.now, x.anew = min(x.now, from), true }
