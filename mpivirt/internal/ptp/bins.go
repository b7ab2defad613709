package ptp

import (
	"slices"

	"gigarank/mpivirt/internal/world"
)

// Bins hold the unexpected messages and posted receives of a mailbox that has many, by what
// they match (Flajslik, Dinan and Underwood, "Mitigating MPI Message Matching Misery", 2016).
//
// The receives of one pattern are alike to all messages: the first posted takes the first
// message. So a bin holds the receives of a pattern in a queue. The messages of one source and
// tag are alike to all receives. So the bin of an exact pattern holds these messages in a
// queue. The bin of a pattern with a wildcard holds a heap of the exact bins that it matches
// and that have messages, by their first ones. Such bins are made when the first receive or
// probe has that kind of wildcard.
//
// A message looks for its receive in four bins at most. A receive finds its least message in
// its own. A bin that has both messages and receives is contested: a heap of those finds the
// least message that matches a posted receive.

// The kinds of patterns, as a set of wildcards.
const (
	anySource = 1 << iota
	anyTag
	patternKinds = 1 << iota
	exact        = 0
)

// bins are the bins of a mailbox.
type bins struct {
	ofKind     [patternKinds]map[pattern]*bin // nil if the bins of a kind are not made
	receivesOf [patternKinds]int32            // number of receives with patterns of a kind
	contested  binHeap                        // bins with messages and receives
	receives   int32
	messages   int32
	number     uint32 // counts the messages
	spare      []*bin
	looks      uint32 // with invariants: counts the looks at the mailbox
}

// bin holds what has one pattern.
type bin struct {
	pattern  pattern
	receives chain               // with this pattern, in posting order
	messages chain               // of an exact pattern, in their order
	heads    binHeap             // of other patterns: the exact bins with messages that match
	place    [patternKinds]int32 // in the heap of the bin with these wildcards, in contested for exact; counts from 1
}

// kind returns the wildcards of a pattern.
func (p pattern) kind() (kind int) {
	if p.source == world.AnySource {
		kind |= anySource
	}
	if p.tag == world.AnyTag {
		kind |= anyTag
	}
	return kind
}

// with returns the pattern with wildcards in addition.
func (p pattern) with(kind int) pattern {
	if kind&anySource != 0 {
		p.source = world.AnySource
	}
	if kind&anyTag != 0 {
		p.tag = world.AnyTag
	}
	return p
}

// binned reports whether bins hold the messages and receives of a mailbox.
func (b *Mailbox) binned() bool { return b.unexpected.head < 0 }

// binsOf returns the bins of a mailbox that has bins.
func (k *Messages) binsOf(box *Mailbox) *bins { return k.bins.At(-box.unexpected.head) }

// makeBins moves the messages and receives of a mailbox into bins.
func (k *Messages) makeBins(box *Mailbox) {
	messages, receives := box.unexpected, box.posted
	box.unexpected, box.posted = chain{head: -k.bins.Take()}, chain{}
	x := k.binsOf(box)
	x.ofKind[exact] = map[pattern]*bin{}
	for index := messages.head; index != 0; {
		next := k.messages.At(index).next
		k.binMessage(x, index)
		index = next
	}
	for ri := receives.head; ri != 0; {
		next := k.Requests.At(ri).next
		k.binReceive(x, ri)
		ri = next
	}
}

// dropEmptyBins goes back to lists once there are neither messages nor receives.
func (k *Messages) dropEmptyBins(box *Mailbox) {
	if x := k.binsOf(box); x.messages == 0 && x.receives == 0 {
		k.bins.Release(-box.unexpected.head)
		box.unexpected.head = 0
	}
}

// bin returns the bin of a pattern, whose kind has bins. It makes one if there is none.
func (x *bins) bin(kind int, p pattern) *bin {
	b := x.ofKind[kind][p]
	if b == nil {
		if last := len(x.spare) - 1; last >= 0 {
			b, x.spare = x.spare[last], x.spare[:last]
		} else {
			b = &bin{}
		}
		b.pattern = p
		x.ofKind[kind][p] = b
	}
	return b
}

// drop removes a bin that holds nothing.
func (x *bins) drop(kind int, b *bin) {
	if b.receives.head == 0 && b.messages.head == 0 && len(b.heads) == 0 {
		delete(x.ofKind[kind], b.pattern)
		x.spare = append(x.spare, b)
	}
}

// open makes the bins of a kind of pattern.
func (k *Messages) open(x *bins, kind int) {
	if x.ofKind[kind] != nil {
		return
	}
	x.ofKind[kind] = map[pattern]*bin{}
	for _, b := range x.ofKind[exact] {
		if b.messages.head != 0 {
			k.reorder(x, kind, b)
		}
	}
}

// binMessage stores an unexpected message.
func (k *Messages) binMessage(x *bins, index int32) {
	m := k.messages.At(index)
	x.number++
	m.number = x.number
	x.messages++
	b := x.bin(exact, m.pattern())
	b.messages.appendMessage(&k.messages, index)
	if b.messages.head == index {
		k.headChanged(x, b)
	}
}

// unbinMessage removes an unexpected message.
func (k *Messages) unbinMessage(x *bins, index int32) {
	x.messages--
	b := x.ofKind[exact][k.messages.At(index).pattern()]
	first := b.messages.head == index
	b.messages.removeMessage(&k.messages, index)
	if first {
		k.headChanged(x, b)
	}
}

// headChanged puts an exact bin into its places, after its first message has changed.
func (k *Messages) headChanged(x *bins, b *bin) {
	for kind := exact + 1; kind < patternKinds; kind++ {
		if x.ofKind[kind] != nil {
			k.reorder(x, kind, b)
		}
	}
	k.contest(x, b)
	x.drop(exact, b)
}

// reorder puts an exact bin into its place in the bin of the pattern with wildcards.
func (k *Messages) reorder(x *bins, kind int, b *bin) {
	wild := x.bin(kind, b.pattern.with(kind))
	if b.messages.head == 0 {
		wild.heads.remove(b, kind)
	} else {
		wild.heads.put(b, kind, k.orderOf(b.messages.head))
	}
	k.contest(x, wild)
	x.drop(kind, wild)
}

// contest puts a bin into its place among the contested ones, if it is one.
func (k *Messages) contest(x *bins, b *bin) {
	if b.receives.head == 0 || b.first() == 0 {
		x.contested.remove(b, exact)
	} else {
		x.contested.put(b, exact, k.orderOf(b.first()))
	}
}

// first returns the least message that matches the bin's pattern, 0 for none.
func (b *bin) first() int32 {
	if len(b.heads) > 0 {
		return b.heads[0].bin.messages.head
	}
	return b.messages.head
}

// binReceive posts a receive.
func (k *Messages) binReceive(x *bins, ri int32) {
	p := k.Requests.At(ri).pattern()
	kind := p.kind()
	k.open(x, kind)
	x.receives++
	x.receivesOf[kind]++
	b := x.bin(kind, p)
	b.receives.appendRequest(&k.Requests, ri)
	if b.receives.head == ri {
		k.contest(x, b)
	}
}

// unbinReceive removes a posted receive.
func (k *Messages) unbinReceive(x *bins, ri int32) {
	p := k.Requests.At(ri).pattern()
	kind := p.kind()
	x.receives--
	x.receivesOf[kind]--
	b := x.ofKind[kind][p]
	b.receives.removeRequest(&k.Requests, ri)
	if b.receives.head == 0 {
		k.contest(x, b)
		x.drop(kind, b)
	}
}

// firstBinned returns the first posted receive that matches a message, 0 for none. Requests
// of a rank are posted in the order of their generations.
func (k *Messages) firstBinned(x *bins, m *message) (first int32) {
	var least uint32
	for kind := range patternKinds {
		if x.receivesOf[kind] == 0 {
			continue
		}
		b := x.ofKind[kind][m.pattern().with(kind)]
		if b == nil || b.receives.head == 0 {
			continue
		}
		generation := k.Requests.At(b.receives.head).generation
		if first == 0 || int32(generation-least) < 0 {
			first, least = b.receives.head, generation
		}
	}
	return first
}

// leastBinned returns the least unexpected message that matches a pattern, 0 for none.
func (k *Messages) leastBinned(x *bins, p pattern) int32 {
	kind := p.kind()
	k.open(x, kind)
	if b := x.ofKind[kind][p]; b != nil {
		return b.first()
	}
	return 0
}

// leastContested returns the least unexpected message that matches a posted receive, 0 for
// none.
func (x *bins) leastContested() int32 {
	if len(x.contested) == 0 {
		return 0
	}
	return x.contested[0].bin.first()
}

// unexpectedIn returns the unexpected messages in the order in which they came.
func (k *Messages) unexpectedIn(x *bins) []int32 {
	all := make([]int32, 0, x.messages)
	for _, b := range x.ofKind[exact] {
		for index := b.messages.head; index != 0; index = k.messages.At(index).next {
			all = append(all, index)
		}
	}
	slices.SortFunc(all, func(a, b int32) int { return int(int32(k.messages.At(a).number - k.messages.At(b).number)) })
	return all
}

// orderOf returns the place of a message in the order in which receives take messages.
func (k *Messages) orderOf(index int32) order {
	m := k.messages.At(index)
	if k.Processors != nil {
		return order{number: m.number}
	}
	return order{m.arrival, m.rank, m.number}
}
