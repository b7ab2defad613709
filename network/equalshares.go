package network

import "gigarank/vtime"

// equalShares are the delays of messages of which each has the same share of the interfaces and the memory of its node, as if all ranks
// of the fullest node sent as many bytes at the same instant: the time of the last of their messages. Such a message waits for no other, and
// delays none.
type equalShares struct {
	*placement
	of    *Target        // where messages delay each other
	ranks int            // of the fullest node
	each  int            // ranks of that node at one interface, or at all interfaces if these stripe messages
	gap   vtime.Duration // between two messages at an interface
}

// EqualShares returns the target as messages find it that have equal shares of interfaces and memories, and do not delay each other: no target
// is contended less. It is the target itself where messages delay each other in no way or elsewhere, as on links.
func (t *Target) EqualShares() *Target {
	if t.equal == nil {
		return t
	}
	return t.equal
}

// withEqualShares gives the target its twin for messages of equal shares.
func (t *Target) withEqualShares() {
	if !t.Contended() || t.Contention().Model != "" {
		return
	}
	_, most := t.NodeSizes()
	count, _, gap := t.Interfaces()
	each := (most + count - 1) / count
	if t.Striped() {
		each = most
	}
	made := map[*Target]*Target{} // a twin is its own in the same respect
	var twinOf func(*Target) *Target
	twinOf = func(t *Target) *Target {
		if t == nil || made[t] != nil {
			return made[t]
		}
		twin := *t
		made[t] = &twin
		twin.delays, twin.paths.scope = &equalShares{&t.paths.placement, t, most, each, gap}, byModel
		if t.sharesWithin {
			twin.copyingAmong = most
		}
		twin.sharesBetween, twin.sharesWithin, twin.equal = false, false, &twin
		twin.busy, twin.turns, twin.congested = twinOf(t.busy), twinOf(t.turns), twinOf(t.congested)
		return &twin
	}
	t.equal = twinOf(t)
}

func (d *equalShares) latency(src, dst int, bytes int64) vtime.Duration {
	latency, _ := d.of.between(src, dst, bytes)
	return latency
}

// transfer returns the transfer time of a message that is the last of those of its node. Before it an interface takes the bytes of the others,
// and each gap between two messages; the memory of the node reads and writes the bytes of all.
func (d *equalShares) transfer(src, dst int, bytes int64) vtime.Duration {
	_, alone := d.of.between(src, dst, bytes)
	switch {
	case bytes == 0:
		return 0
	case d.node(src) == d.node(dst):
		return max(alone, d.of.MemoryTime(allBytes(d.ranks, bytes)))
	case !d.of.sharesBetween:
		return alone
	}
	before, at := d.atInterface(bytes)
	return before.Plus(max(alone, at))
}

// atInterface returns the time that an interface takes for the messages before the last one of a node, and for the bytes of that one.
func (d *equalShares) atInterface(bytes int64) (before, last vtime.Duration) {
	last = d.of.InterfaceTime(bytes)
	return last.Plus(d.gap).Times(d.each - 1), last
}

// fill sets delays as latency and transfer give them. The target without shares computes many delays at once, and its delays of no bytes are the
// latencies.
func (d *equalShares) fill(src, dst int, bytes int64, out []vtime.Duration) {
	if bytes == 0 {
		d.of.Delays(src, dst, bytes, out)
		return
	}
	memory := d.of.MemoryTime(allBytes(d.ranks, bytes))
	before, at := d.atInterface(bytes)
	var latencies [128]vtime.Duration
	for len(out) > 0 {
		n := min(len(out), len(latencies))
		d.of.Delays(src, dst, bytes, out[:n])
		d.of.Delays(src, dst, 0, latencies[:n])
		for j, latency := range latencies[:n] {
			alone := out[j] - latency
			switch {
			case d.node(src+j) == d.node(dst+j):
				alone = max(alone, memory)
			case d.of.sharesBetween:
				alone = before.Plus(max(alone, at))
			}
			out[j] = latency.Plus(alone)
		}
		src, dst, out = src+n, dst+n, out[n:]
	}
}

func (d *equalShares) lookahead(loA, hiA, loB, hiB int) vtime.Duration {
	return d.of.delays.lookahead(loA, hiA, loB, hiB)
}

func (d *equalShares) longest(bytes int64) vtime.Duration {
	longest, at := d.of.delays.longest(bytes), d.of.InterfaceTime(bytes)
	return longest.Plus(at.Plus(d.gap).Times(d.each)).Plus(d.of.MemoryTime(allBytes(d.ranks, bytes)))
}

func (d *equalShares) uniformFrom() int { return d.of.uniform }

func (d *equalShares) ranksAlike() bool { return false }

func (d *equalShares) leadersAlike() bool {
	r, known := d.of.delays.(regular)
	return known && r.leadersAlike()
}
