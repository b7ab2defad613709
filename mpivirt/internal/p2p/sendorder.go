package p2p

import "gigarank/vtime"

// sendOrder stores a sender's messages that may still be under way. A later message to the same
// destination must not overtake them. The latest message lies inline, since most senders have at
// most one.
type sendOrder struct {
	last triple
	more []triple // the other messages; longer than shortSendOrder if the sender's longSendOrder holds them instead
}

// triple is a message under way to dst that arrives at receive. It can delay messages sent
// until expiry: receive less a lower bound on the latency of any message to dst.
type triple struct {
	dst     int32
	used    bool
	receive vtime.Time
	expiry  vtime.Time
}

// shortSendOrder is the greatest number of messages under way in a list, which is searched one by
// one.
const shortSendOrder = 8

// isLong reports whether the sender's longSendOrder holds the messages other than the latest.
func (f *sendOrder) isLong() bool { return len(f.more) > shortSendOrder }

// inOrder returns the arrival of a message of an LP to dst that leaves at t, and stores the
// message. The message occupies the path for a part of its transfer: behind another message under way
// it arrives no sooner than that time after it. The instants t of an LP do not decrease. No message to
// dst has a latency below least, which is the latency of all messages unless the latency depends on the
// size.
func (m *Messages) inOrder(lp int32, f *sendOrder, dst int32, t vtime.Time, latency, transfer, occupancy, least vtime.Duration) vtime.Time {
	slot, receive := &f.last, t.Add(latency).Add(transfer)
	underWay := slot.used && slot.expiry >= t
	switch {
	case underWay && slot.dst == dst:
		receive = max(receive, slot.receive.Add(occupancy))
	case underWay || len(f.more) > 0:
		return m.inOrderOfMore(lp, f, dst, t, latency, transfer, occupancy, least)
	}
	*slot = triple{dst: dst, used: true, receive: receive, expiry: receive.Add(-least)}
	return receive
}

// inOrderOfMore is inOrder for a sender with several messages under way.
func (m *Messages) inOrderOfMore(lp int32, f *sendOrder, dst int32, t vtime.Time, latency, transfer, occupancy, least vtime.Duration) vtime.Time {
	receive := t.Add(latency).Add(transfer)
	slot := m.underWay(lp, f, dst, t)
	switch {
	case slot != nil:
		receive = max(receive, slot.receive.Add(occupancy))
	case f.last.used && f.last.expiry >= t:
		m.keepUnderWay(lp, f, t)
		fallthrough
	default:
		slot = &f.last
	}
	*slot = triple{dst: dst, used: true, receive: receive, expiry: receive.Add(-least)}
	return receive
}

// underWay returns the message to dst that can delay a message sent at t, nil for none.
func (m *Messages) underWay(lp int32, f *sendOrder, dst int32, t vtime.Time) *triple {
	if f.last.used && f.last.dst == dst && f.last.expiry >= t {
		return &f.last
	}
	if f.isLong() {
		if tr := m.longSendOrders[lp].find(dst); tr != nil && tr.expiry >= t {
			return tr
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

// sweep removes the messages that cannot delay a message sent at t or later from the list.
func (f *sendOrder) sweep(t vtime.Time) {
	kept := f.more[:0]
	for _, tr := range f.more {
		if tr.expiry >= t {
			kept = append(kept, tr)
		}
	}
	f.more = kept
}

// keepUnderWay moves the message in the inline place to the other messages.
func (m *Messages) keepUnderWay(lp int32, f *sendOrder, t vtime.Time) {
	if !f.isLong() {
		f.more = append(f.more, f.last)
		if f.isLong() {
			m.lengthen(lp, f.more)
		}
		return
	}
	long := m.longSendOrders[lp]
	if tr := long.find(f.last.dst); tr != nil {
		*tr = f.last
		return
	}
	if long.count == long.limit {
		long.sweep(t)
	}
	long.add(f.last)
	if long.count <= shortSendOrder {
		f.more = f.more[:0]
		for i := range long.count {
			f.more = append(f.more, *long.at(i))
		}
		delete(m.longSendOrders, lp)
	}
}

// lengthen makes the longSendOrder of an LP from the LP's list.
func (m *Messages) lengthen(lp int32, list []triple) {
	if m.longSendOrders == nil {
		m.longSendOrders = map[int32]*longSendOrder{}
	}
	long := &longSendOrder{}
	long.locate()
	for _, tr := range list {
		long.add(tr)
	}
	m.longSendOrders[lp] = long
}
