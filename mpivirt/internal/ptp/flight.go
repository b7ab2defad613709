package ptp

import "gigarank/vtime"

// flight holds a sender's messages that may still be under way. A later message to the same
// destination must not overtake them. The latest one lies inline, since most senders have
// at most one. In a long list a map finds the destinations; see longFlight.
type flight struct {
	last triple
	more []triple
}

// triple is a message under way to dst that arrives at receive. It can delay messages sent
// until expiry = receive - latency.
type triple struct {
	dst     int32
	used    bool
	receive vtime.Time
	expiry  vtime.Time
}

// shortFlight is the greatest length of a list of messages under way without a map.
const shortFlight = 8

// longFlight belongs to a sender whose list of messages under way is longer than shortFlight.
// Triples that cannot delay a message stay in the list until it has doubled.
type longFlight struct {
	place map[int32]int32 // of a destination's triple in the list
	limit int             // length at which the list is swept
}

// inOrder returns the arrival of a message of an LP to dst, which leaves at t, and stores the
// message. The instants t of an LP do not decrease.
func (k *Messages) inOrder(lp int32, f *flight, dst int32, t vtime.Time, latency, transfer vtime.Duration) vtime.Time {
	slot, receive := &f.last, vtime.Time(0)
	underWay := slot.used && slot.expiry >= t
	switch {
	case underWay && slot.dst == dst:
		receive = slot.receive.Add(transfer)
	case underWay || len(f.more) > 0:
		return k.inOrderOfMore(lp, f, dst, t, latency, transfer)
	default:
		receive = t.Add(latency).Add(transfer)
	}
	*slot = triple{dst: dst, used: true, receive: receive, expiry: receive.Add(-latency)}
	return receive
}

// inOrderOfMore is inOrder where the list counts.
func (k *Messages) inOrderOfMore(lp int32, f *flight, dst int32, t vtime.Time, latency, transfer vtime.Duration) vtime.Time {
	receive := t.Add(latency).Add(transfer)
	slot := k.underWay(lp, f, dst, t)
	switch {
	case slot != nil:
		receive = slot.receive.Add(transfer)
	case f.last.used && f.last.expiry >= t:
		k.keepUnderWay(lp, f, t)
		fallthrough
	default:
		slot = &f.last
	}
	*slot = triple{dst: dst, used: true, receive: receive, expiry: receive.Add(-latency)}
	return receive
}

// underWay returns the message to dst that can delay one sent at t, nil for none.
func (k *Messages) underWay(lp int32, f *flight, dst int32, t vtime.Time) *triple {
	if f.last.used && f.last.dst == dst && f.last.expiry >= t {
		return &f.last
	}
	if len(f.more) > shortFlight {
		if i, found := k.longFlights[lp].place[dst]; found && f.more[i].expiry >= t {
			return &f.more[i]
		}
		return nil
	}
	if len(f.more) == 0 {
		return nil
	}
	f.sweep(t)
	for i := range f.more {
		if f.more[i].dst == dst {
			return &f.more[i]
		}
	}
	return nil
}

// sweep removes the messages from the list that cannot delay one sent at t or later.
func (f *flight) sweep(t vtime.Time) {
	kept := f.more[:0]
	for _, tr := range f.more {
		if tr.expiry >= t {
			kept = append(kept, tr)
		}
	}
	f.more = kept
}

// keepUnderWay moves the message in the inline place to the list.
func (k *Messages) keepUnderWay(lp int32, f *flight, t vtime.Time) {
	if len(f.more) < shortFlight {
		f.more = append(f.more, f.last)
		return
	}
	if len(f.more) > shortFlight {
		long := k.longFlights[lp]
		if i, found := long.place[f.last.dst]; found {
			f.more[i] = f.last
			return
		}
		if len(f.more) < long.limit {
			long.place[f.last.dst] = int32(len(f.more))
			f.more = append(f.more, f.last)
			return
		}
		f.sweep(t)
	}
	f.more = append(f.more, f.last)
	k.locate(lp, f)
}

// locate stores the places of a list's triples, and the length at which to sweep the list.
func (k *Messages) locate(lp int32, f *flight) {
	if len(f.more) <= shortFlight {
		delete(k.longFlights, lp)
		return
	}
	long := k.longFlights[lp]
	if long == nil {
		if k.longFlights == nil {
			k.longFlights = map[int32]*longFlight{}
		}
		long = &longFlight{place: map[int32]int32{}}
		k.longFlights[lp] = long
	}
	clear(long.place)
	for i := range f.more {
		long.place[f.more[i].dst] = int32(i)
	}
	long.limit = 2 * len(f.more)
}
