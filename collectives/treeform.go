package collectives

import "gigarank/vtime"

// Closed forms of the trees of rooted operations, to and from member 0. A node that sends to several
// children is busy with each message for as long as the message keeps it busy, or for the gap.

// downTree returns the time of a broadcast down a tree.
func (f form) downTree(a Algorithm, bytes int64) (vtime.Duration, bool) {
	x, left := f.cost.message(bytes), f.between(bytes)
	all := func(int) int64 { return bytes }
	switch a {
	case Pipeline:
		return f.pipeline(0)
	case Chain:
		c, _ := chainsOf(f.members, f.shape.Fanout, false)
		d := times(c.long-1, left) + times(c.length, x)
		if c.long < c.count {
			d = max(d, times(c.count-1, left)+times(c.length-1, x))
		}
		return f.any(d), true
	case Binary: // the last nodes of the lowest level and of the level above it
		b, _ := binaryOf(f.members, false)
		return f.any(max(times(b.levels-1, x+left), times(b.levels, x)+times(logFloor(b.lowest), left))), true
	case BinomialDoubling: // the nodes with most children among those with one bit less, and among the others
		levels := logCeil(f.members)
		if levels == 0 {
			return 0, true
		}
		ones := 1 + logFloor(f.members-1<<(levels-1))
		return max(times(levels-1, x), times(ones, x)+times(levels-ones, left)), true
	case Knomial:
		return f.knomialOut(f.members, all), true
	case ScatterAllgather, ScatterAllgatherRing:
		return f.scatterAllgather(a, bytes)
	}
	return 0, false
}

// between returns the time between two messages that a member sends in a row.
func (f form) between(bytes int64) vtime.Duration { return max(f.cost.send(bytes), f.cost.Gap) }

// scatterAllgather takes the member that the scatter reaches last: its chunk goes over all distances, or
// all the way round.
func (f form) scatterAllgather(a Algorithm, bytes int64) (vtime.Duration, bool) {
	n := f.members
	if l := cut(f.count, f.size, n); l.count%int64(n) != 0 {
		return 0, false
	}
	chunk := bytes / int64(n)
	sent := func(members int) int64 { return int64(members) * chunk }
	d := f.treeOut(n, sent)
	if a == ScatterAllgatherRing {
		return d + times(n-1, f.cost.message(chunk)), true
	}
	for have := 1; have < n; have *= 2 {
		d += f.cost.message(sent(have))
	}
	return d, f.fold.extra == 0
}

// knomialOut returns the time of a k-nomial tree of members from its root outwards. sent returns the
// bytes that go to a subtree of a number of members. All subtrees of the highest place but the last one are
// full.
func (f form) knomialOut(members int, sent func(members int) int64) vtime.Duration {
	if members == 1 {
		return 0
	}
	d := digitsOf(members, f.shape.Fanout)
	width := d.width(d.places - 1)
	rest := members - d.top*width
	full, before := f.knomialOut(width, sent), times(d.top-1, f.between(sent(width)))
	last := f.cost.message(sent(rest))
	if rest < width {
		last += f.knomialOut(rest, sent)
	} else {
		last += full
	}
	last = max(last, f.between(sent(rest))+full)
	if d.top > 1 {
		last = max(last, f.cost.message(sent(width))+full-f.between(sent(width)))
	}
	return before + last
}

// upTree returns the time of a reduction up a tree.
func (f form) upTree(a Algorithm, bytes int64) (vtime.Duration, bool) {
	g := f.cost.work(bytes)
	all := func(int) int64 { return bytes }
	switch a {
	case Pipeline:
		return f.pipeline(1)
	case Chain:
		c, _ := chainsOf(f.members, f.shape.Fanout, true)
		var root receiver
		for column := range c.count {
			length := c.length
			if column >= c.long {
				length--
			}
			root.take(f, times(length-1, f.cost.message(bytes)+g), bytes, g)
		}
		return root.free, true
	case Binary:
		return f.binaryIn(bytes, g), true
	case InOrderBinary:
		d, _ := f.inOrderIn(f.members, bytes, g)
		return f.any(d + f.cost.message(bytes)), true
	case Knomial:
		return f.knomialIn(f.members, all, g), true
	case Rabenseifner:
		return f.collecting(), true
	}
	return 0, false
}

// receiver is a member that takes messages one after another.
type receiver struct {
	free  vtime.Duration // the instant at which it is free
	again vtime.Duration // the instant from which on it may take the next message, for the gap
}

// take has a receiver take a message that is sent at an instant, and spend g on it.
func (r *receiver) take(f form, sent vtime.Duration, bytes int64, g vtime.Duration) {
	taken := max(r.free, r.again, sent+f.cost.transit(bytes))
	r.again = taken + f.cost.Gap
	r.free = taken + f.cost.receive(bytes) + g
}

// binaryIn goes up the tree level by level. On each level subtrees have two numbers of nodes of the lowest
// level: those of a node are divided among its children, the first of which gets the greater part.
func (f form) binaryIn(bytes int64, g vtime.Duration) vtime.Duration {
	b, _ := binaryOf(f.members, true)
	ready := [2]vtime.Duration{} // of nodes with lowest>>level nodes of the lowest level, and one more
	for level := b.levels - 1; level >= 0; level-- {
		below, fewest := ready, b.lowest>>(level+1)
		for i := range ready {
			n := b.lowest>>level + i
			var r receiver
			for _, share := range [2]int{(n + 1) / 2, n / 2} {
				if at := share - fewest; level < b.levels-1 || share > 0 {
					r.take(f, below[min(at, 1)], bytes, g)
				}
			}
			ready[i] = r.free
		}
	}
	return ready[0]
}

// inOrderIn returns the time in which a node of the in-order binary tree combines a number of members, and
// one less; see inOrder.depths.
func (f form) inOrderIn(members int, bytes int64, g vtime.Duration) (d, less vtime.Duration) {
	join := func(members int, left, right vtime.Duration) vtime.Duration {
		var r receiver
		if members > 1 {
			r.take(f, left, bytes, g)
		}
		if members > 2 {
			r.take(f, right, bytes, g)
		}
		return r.free
	}
	if members <= 2 {
		return join(members, 0, 0), 0
	}
	half, below := f.inOrderIn(members/2, bytes, g)
	if members%2 == 0 {
		return join(members, below, half), join(members-1, below, below)
	}
	return join(members, half, half), join(members-1, below, half)
}

// knomialIn returns the time of a k-nomial tree towards its root, which spends g on each message.
func (f form) knomialIn(members int, sent func(members int) int64, g vtime.Duration) vtime.Duration {
	return f.knomialUp(members, sent, g).free
}

func (f form) knomialUp(members int, sent func(members int) int64, g vtime.Duration) (root receiver) {
	if members == 1 {
		return root
	}
	d := digitsOf(members, f.shape.Fanout)
	width := d.width(d.places - 1)
	rest := members - d.top*width
	root = f.knomialUp(width, sent, g)
	full := root.free
	for range d.top - 1 {
		root.take(f, full, sent(width), g)
	}
	last := full
	if rest < width {
		last = f.knomialIn(rest, sent, g)
	}
	root.take(f, last, sent(rest), g)
	return root
}

// collecting follows the path of messages from survivor 0 to the last one and back; see
// rabenseifner. The result stays at survivor 0.
func (f form) collecting() vtime.Duration {
	d := f.rabenseifner()
	if f.fold.extra > 0 {
		x, _ := f.part(1, 1<<f.fold.levels)
		d -= x
	}
	return d
}

// pipeline returns the time of segments along a chain. Members in the middle set the pace: they send a segment and
// receive the next one. combines is 1 for a reduction and 0 for a broadcast. There is no form for a segment that
// is no multiple of an element, if the last segment is then longer than the others or several are shorter.
func (f form) pipeline(combines int) (vtime.Duration, bool) {
	segments, bytes, last := f.shape.Segments, f.count*f.size, int64(0)
	if segments > 1 {
		l := Segments(f.count, f.size, f.shape.Segment, segments)
		bytes, last = l.Offset(1), l.Offset(segments)-l.Offset(segments-1)
		if last > bytes || last == 0 {
			return 0, false
		}
	}
	g, gLast := times(combines, f.cost.work(bytes)), times(combines, f.cost.work(last))
	x, taking := f.cost.message(bytes)+g, f.cost.receive(bytes)+g
	switch {
	case segments == 1:
		return times(f.members-1, x), true
	case f.members == 1:
		return 0, true
	}
	end, transit := f.cost.receive(last)+gLast, f.cost.transit(last)
	if f.members == 2 {
		left := f.between(bytes)
		arrived := f.cost.transit(bytes) + times(segments-2, max(left, taking))
		return max(arrived+max(taking, f.cost.Gap), times(segments-1, left)+transit) + end, true
	}
	before := times(f.members-2, x) + times(segments-2, f.cost.send(bytes)+taking)
	return before + max(f.cost.transit(bytes)+max(taking, f.cost.Gap), f.cost.send(bytes)+end+transit) + end, true
}
