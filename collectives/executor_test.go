package collectives_test

import (
	"cmp"
	"fmt"
	"slices"

	"gigarank/collectives"
	"gigarank/vtime"
)

// An executor runs a schedule in the plainest way. Each member steps through all of its
// rounds, with blocking receives, on values instead of bytes, with a clock per member
// in the flat model. It is the slow twin of the interpreters.
type executor[T any] struct {
	schedule collectives.Schedule
	combine  func(lower, higher T) T
	delay    func(bytes int64) vtime.Duration // of a message, after the overhead
	copied   func(bytes int64) vtime.Duration // at either end
	spent    vtime.Duration                   // overhead of the sender
	overhead vtime.Duration                   // of the receiver
	gap      vtime.Duration
	work     func(bytes int64) vtime.Duration // of combining
	layout   func(member int) collectives.Layout

	buffers [][]*T   // by member and position; nil is undefined
	extent  [][]bool // by member and position: whether the member holds it
	clocks  []vtime.Duration
	left    []vtime.Duration // by member: when it can send the next message, for the gap
	taken   []vtime.Duration // and receive it
	rounds  []int            // next round of each member
	windows []executed       // of members
	sent    []bool
	mailbox map[envelope]letter[T]
}

// executed is the window of a member: what has arrived, and the time of combining it.
type executed struct {
	until   int
	arrived []arrived
	work    vtime.Duration
}

type arrived struct {
	at    vtime.Duration
	bytes int64
	from  int
}

type envelope struct{ from, to, round int } // the round in which the message is received

type letter[T any] struct {
	blocks  []*T
	bytes   int64
	arrival vtime.Duration
}

func newExecutor[T any](s collectives.Schedule, input func(member, block int) T, combine func(lower, higher T) T) *executor[T] {
	none := func(int64) vtime.Duration { return 0 }
	x := &executor[T]{
		schedule: s, combine: combine, delay: none, copied: none, work: none,
		layout:  func(int) collectives.Layout { return collectives.Layout{} },
		buffers: make([][]*T, s.Members()),
		extent:  make([][]bool, s.Members()),
		clocks:  make([]vtime.Duration, s.Members()),
		left:    make([]vtime.Duration, s.Members()),
		taken:   make([]vtime.Duration, s.Members()),
		rounds:  make([]int, s.Members()),
		windows: make([]executed, s.Members()),
		sent:    make([]bool, s.Members()),
		mailbox: map[envelope]letter[T]{},
	}
	for m := range x.buffers {
		x.buffers[m] = make([]*T, s.Positions())
		x.extent[m] = make([]bool, s.Positions())
		for _, p := range positions(s.Extent(m), s.Positions()) {
			x.extent[m][p] = true
			if block := s.Source(m, p); block != collectives.None {
				v := input(m, block)
				x.buffers[m][p] = &v
			}
		}
	}
	return x
}

// positions lists a set of blocks one by one.
func positions(b collectives.Blocks, w int) []int {
	all := make([]int, 0, b.Count)
	for first, n := 0, 0; b.Count > 0; {
		first, n, b = b.Next(w)
		for i := range n {
			all = append(all, first+i)
		}
	}
	return all
}

// run carries out all rounds of all members, taking turns in the given order.
func (x *executor[T]) run(order []int) error {
	for progress := true; progress; {
		progress = false
		for _, m := range order {
			for x.rounds[m] < x.schedule.MaxRounds() {
				moved, err := x.turn(m)
				if err != nil {
					return err
				}
				if !moved {
					break
				}
				progress = true
			}
		}
	}
	for m, r := range x.rounds {
		if r < x.schedule.MaxRounds() {
			return fmt.Errorf("deadlock: member %d waits in round %d: %+v", m, r, x.schedule.Step(m, r))
		}
	}
	for e := range x.mailbox {
		return fmt.Errorf("message %+v was never received", e)
	}
	return nil
}

// turn does as much of the member's round as is possible, and reports whether it has
// moved to the next.
func (x *executor[T]) turn(m int) (bool, error) {
	round := x.rounds[m]
	step := x.schedule.Step(m, round)
	window := &x.windows[m]
	if round >= window.until {
		window.until = round + 1 + step.Left
	}
	if step.To != collectives.None && !x.sent[m] {
		if err := x.send(m, round, step); err != nil {
			return false, err
		}
		x.sent[m] = true
	}
	if step.From != collectives.None {
		e := envelope{step.From, m, round}
		l, there := x.mailbox[e]
		if !there {
			return false, nil
		}
		delete(x.mailbox, e)
		window.arrived = append(window.arrived, arrived{l.arrival, l.bytes, step.From})
		window.work += x.combining(step, l.bytes)
		if err := x.receive(m, step.Receive, step.Combine, l); err != nil {
			return false, fmt.Errorf("member %d, round %d: %w", m, round, err)
		}
		if step.Also.Count > 0 {
			if err := x.receive(m, step.Also, step.AlsoCombine, l); err != nil {
				return false, fmt.Errorf("member %d, round %d: %w", m, round, err)
			}
		}
		if err := x.fold(m, step.Sum); err != nil {
			return false, fmt.Errorf("member %d, round %d: %w", m, round, err)
		}
	}
	x.sent[m] = false
	if x.rounds[m]++; x.rounds[m] >= window.until {
		x.take(m)
	}
	return true, nil
}

// take has a member take in, in the order of their arrivals, the messages of its window.
func (x *executor[T]) take(m int) {
	w := &x.windows[m]
	slices.SortStableFunc(w.arrived, func(a, b arrived) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.from, b.from)) })
	for _, a := range w.arrived {
		taken := max(x.clocks[m], a.at, x.taken[m])
		x.taken[m] = taken + x.gap
		x.clocks[m] = taken + x.overhead + x.copied(a.bytes)
	}
	x.clocks[m] += w.work
	w.arrived, w.work = w.arrived[:0], 0
}

// combining returns the time of the bytes that a step combines by ⊕, all of them
// together: a round is rounded once.
func (x *executor[T]) combining(step collectives.Step, bytes int64) vtime.Duration {
	var all int64
	if step.Combine != collectives.Store {
		all += bytes
	}
	if step.Also.Count > 0 && step.AlsoCombine != collectives.Store {
		all += bytes
	}
	if n := step.Sum.Count; n > 0 {
		all += int64(n-1) * bytes / int64(step.Receive.Count)
	}
	return x.work(all)
}

// fold combines positions of a member.
func (x *executor[T]) fold(m int, f collectives.Sum) error {
	if f.Count == 0 {
		return nil
	}
	var sum *T
	for p := f.First; p < f.First+f.Count; p++ {
		v := x.buffers[m][p]
		switch {
		case v == nil:
			return fmt.Errorf("position %d is folded, but undefined", p)
		case sum == nil:
			first := *v
			sum = &first
		default:
			s := x.combine(*sum, *v)
			sum = &s
		}
		x.buffers[m][p] = nil
	}
	x.buffers[m][f.Into] = sum
	return nil
}

func (x *executor[T]) send(m, round int, step collectives.Step) error {
	e := envelope{m, step.To, round + step.Later}
	if _, twice := x.mailbox[e]; twice || step.To == m || step.To < 0 || step.To >= x.schedule.Members() {
		return fmt.Errorf("bad message %+v", e)
	}
	w := x.schedule.Positions()
	layout := x.layout(m)
	l := letter[T]{bytes: layout.Bytes(step.Send, w)}
	leaves := max(x.clocks[m]+x.spent, x.left[m])
	x.left[m] = leaves + x.gap
	x.clocks[m] += x.spent + x.copied(l.bytes)
	l.arrival = leaves + x.delay(l.bytes)
	for _, p := range positions(step.Send, w) {
		if x.buffers[m][p] == nil {
			return fmt.Errorf("member %d sends position %d in round %d, which is undefined", m, p, round)
		}
		v := *x.buffers[m][p]
		l.blocks = append(l.blocks, &v)
	}
	x.mailbox[e] = l
	return nil
}

func (x *executor[T]) receive(m int, places collectives.Blocks, how collectives.Combine, l letter[T]) error {
	w := x.schedule.Positions()
	layout := x.layout(m)
	if bytes := layout.Bytes(places, w); bytes != l.bytes {
		return fmt.Errorf("%d bytes sent and %d received", l.bytes, bytes)
	}
	into := positions(places, w)
	if len(into) != len(l.blocks) {
		return fmt.Errorf("%d positions sent and %d received", len(l.blocks), len(into))
	}
	for i, p := range into {
		if !x.extent[m][p] {
			return fmt.Errorf("position %d is outside of the member's extent", p)
		}
		theirs, mine := *l.blocks[i], x.buffers[m][p]
		if how != collectives.Store && mine == nil {
			return fmt.Errorf("position %d is combined, but undefined", p)
		}
		switch how {
		case collectives.TheirsFirst:
			theirs = x.combine(theirs, *mine)
		case collectives.MineFirst:
			theirs = x.combine(*mine, theirs)
		}
		x.buffers[m][p] = &theirs
	}
	return nil
}

// output returns the block of the member's output, or nil if it has none.
func (x *executor[T]) output(m, block int) *T {
	p := x.schedule.Result(m, block)
	if p == collectives.None {
		return nil
	}
	return x.buffers[m][p]
}

// exit returns the last exit of any member.
func (x *executor[T]) exit() vtime.Duration {
	last := vtime.Duration(0)
	for _, c := range x.clocks {
		last = max(last, c)
	}
	return last
}
