package p2p

import (
	"slices"

	"gigarank/internal/random"
	"gigarank/mpivirt/internal/world"
)

// Bins hold the unexpected messages and posted receives of a mailbox that has many of them, by the
// pattern of each (Flajslik, Dinan and Underwood, "Mitigating MPI Message Matching Misery", 2016).
//
// Receives of one pattern match the same messages: the receive posted first takes the first
// message. So a bin holds the receives of a pattern in a queue. Messages of one source and tag
// match the same receives. So the bin of an exact pattern holds its messages in a queue. A wildcard
// bin, the bin of a pattern with a wildcard, stores the least of the first messages of the exact
// bins that its pattern matches. With several such exact bins a heap holds their first messages.
// The wildcard bins of a kind are made by the first receive or probe with this kind of pattern.
//
// A message looks for its receive in four bins at most. A receive finds its least message in its
// own bin. A bin that has both messages and receives is contested: a heap of the contested bins
// finds the least message that matches a posted receive.
//
// Bins refer to each other by their places in a slice, and a hash table of these places finds them,
// so that the garbage collector follows no pointer in a million bins.

// The kinds of patterns, as sets of wildcards.
const (
	anySource = 1 << iota
	anyTag
	patternKinds = 1 << iota
	exact        = 0
)

// bins are the bins of a mailbox.
type bins struct {
	all        []bin               // by number; number 0 is not given out
	table      []int32             // by hash: the first bin of a chain; its length is a power of two
	used       int                 // number of bins in use
	free       int32               // the first bin that is not in use, linked by next
	made       [patternKinds]bool  // kinds of pattern that have bins
	receivesOf [patternKinds]int32 // number of receives with patterns of a kind
	contested  contestedHeap       // bins with messages and receives
	heads      [][]head            // heaps of first messages, by number; number 0 is not given out
	spareHeads []int32             // numbers of heaps that are not in use
	receives   int32
	messages   int32
	number     uint32 // of the message stored last; 0 stands for none
	checks     uint32 // with invariants: counts the checks of the mailbox
}

// bin holds the receives and messages of one pattern.
type bin struct {
	pattern  pattern
	next     int32  // next bin of the chain
	receives chain  // with this pattern, in posting order
	messages chain  // exact: with this pattern, in their order; wildcard: the head is the least message that matches
	number   uint32 // exact: number of the first message
	exacts   int32  // wildcard: number of exact bins with messages that match
	heads    int32  // wildcard: the heap of their first messages, 0 for none
	place    int32  // in the heap of contested bins, counted from 1
}

// tableFirst is the length of the first hash table.
const tableFirst = 64

// kind returns the wildcards of a pattern, as a set.
func (p pattern) kind() (kind int) {
	if p.source == world.AnySource {
		kind |= anySource
	}
	if p.tag == world.AnyTag {
		kind |= anyTag
	}
	return kind
}

// with returns the pattern with additional wildcards.
func (p pattern) with(kind int) pattern {
	if kind&anySource != 0 {
		p.source = world.AnySource
	}
	if kind&anyTag != 0 {
		p.tag = world.AnyTag
	}
	return p
}

// hash returns the hash of a pattern. The hashes of eight consecutive sources with one tag differ
// in the last three bits: their places share a cache line.
func (p pattern) hash() uint64 {
	const golden = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	return random.Mix(uint64(uint32(p.source)>>3)<<32^uint64(uint32(p.tag))^uint64(p.comm)*golden) ^ uint64(p.source)&7
}

// binned reports whether bins hold the messages and receives of a mailbox.
func (b *Mailbox) binned() bool { return b.unexpected.head < 0 }

// binsOf returns the bins of a mailbox that has bins.
func (m *Messages) binsOf(box *Mailbox) *bins { return m.bins.At(-box.unexpected.head) }

// makeBins moves the messages and receives of a mailbox into bins.
func (m *Messages) makeBins(box *Mailbox) {
	messages, receives := box.unexpected, box.posted
	box.unexpected, box.posted = chain{head: -m.bins.Take()}, chain{}
	x := m.binsOf(box)
	x.all, x.table, x.heads = make([]bin, 1, tableFirst), make([]int32, tableFirst), make([][]head, 1)
	x.made[exact] = true
	for index := messages.head; index != 0; {
		next := m.messages.At(index).next
		m.binMessage(x, index)
		index = next
	}
	for ri := receives.head; ri != 0; {
		next := m.Requests.At(ri).next
		m.binReceive(x, ri)
		ri = next
	}
}

// dropEmptyBins moves a mailbox back to lists once its bins hold neither messages nor receives.
func (m *Messages) dropEmptyBins(box *Mailbox) {
	if x := m.binsOf(box); x.messages == 0 && x.receives == 0 {
		m.bins.Release(-box.unexpected.head)
		box.unexpected.head = 0
	}
}

// home returns the place of a pattern in the hash table.
func (x *bins) home(p pattern) uint64 { return p.hash() & uint64(len(x.table)-1) }

// find returns the number of the bin of a pattern, 0 for none.
func (x *bins) find(p pattern) int32 {
	i := x.table[x.home(p)]
	for i != 0 && x.all[i].pattern != p {
		i = x.all[i].next
	}
	return i
}

// bin returns the number of the bin of a pattern, whose kind has bins. It makes a missing bin; then
// all bins may move in memory.
func (x *bins) bin(p pattern) int32 {
	if i := x.find(p); i != 0 {
		return i
	}
	if x.used++; x.used > len(x.table) {
		x.rehash(2 * len(x.table))
	}
	i := x.free
	if i != 0 {
		x.free = x.all[i].next
	} else {
		if i = int32(len(x.all)); len(x.all) == cap(x.all) { // at least twice as long, for little garbage
			x.all = slices.Grow(x.all, len(x.all))
		}
		x.all = append(x.all, bin{})
	}
	first := &x.table[x.home(p)]
	x.all[i] = bin{pattern: p, next: *first}
	*first = i
	return i
}

// rehash gives the hash table a greater length.
func (x *bins) rehash(length int) {
	old := x.table
	x.table = make([]int32, length)
	for _, i := range old {
		for i != 0 {
			b := &x.all[i]
			next, first := b.next, &x.table[b.pattern.hash()&uint64(length-1)]
			b.next, *first = *first, i
			i = next
		}
	}
}

// drop removes an empty bin.
func (x *bins) drop(i int32) {
	b := &x.all[i]
	if b.receives.head != 0 || b.messages.head != 0 {
		return
	}
	at := &x.table[x.home(b.pattern)]
	for *at != i {
		at = &x.all[*at].next
	}
	*at = b.next
	*b = bin{next: x.free}
	x.free = i
	x.used--
}

// open makes the wildcard bins of a kind of pattern.
func (m *Messages) open(x *bins, kind int) {
	if x.made[kind] {
		return
	}
	x.made[kind] = true
	for i := range int32(len(x.all)) {
		if b := &x.all[i]; b.messages.head != 0 && b.pattern.kind() == exact {
			m.reorder(x, kind, i, 0)
		}
	}
}

// binMessage stores an unexpected message in its bin.
func (m *Messages) binMessage(x *bins, index int32) {
	msg := m.messages.At(index)
	if x.number++; x.number == 0 {
		x.number = 1
	}
	msg.number = x.number
	x.messages++
	i := x.bin(msg.pattern())
	b := &x.all[i]
	b.messages.appendMessage(&m.messages, index)
	if b.messages.head == index {
		m.headChanged(x, i, 0)
	}
}

// unbinMessage removes an unexpected message from its bin.
func (m *Messages) unbinMessage(x *bins, index int32) {
	x.messages--
	i := x.find(m.messages.At(index).pattern())
	b := &x.all[i]
	first := b.messages.head == index
	b.messages.removeMessage(&m.messages, index)
	if first {
		m.headChanged(x, i, index)
	}
}

// headChanged moves an exact bin to its new places in the heaps after a change of its first
// message. old is the number of the previous first message, 0 for none.
func (m *Messages) headChanged(x *bins, i, old int32) {
	b := &x.all[i]
	if b.number = 0; b.messages.head != 0 {
		b.number = m.messages.At(b.messages.head).number
	}
	for kind := exact + 1; kind < patternKinds; kind++ {
		if x.made[kind] {
			m.reorder(x, kind, i, old)
		}
	}
	m.contest(x, i)
	x.drop(i)
}

// reorder updates the wildcard bin of a kind after the first message of an exact bin has changed
// from old, 0 for none.
func (m *Messages) reorder(x *bins, kind int, i, old int32) {
	wi := x.bin(x.all[i].pattern.with(kind))
	first, wild := x.all[i].messages.head, &x.all[wi]
	if old == 0 {
		wild.exacts++
	}
	if first == 0 {
		wild.exacts--
	}
	if wild.heads == 0 && wild.exacts > 1 {
		wild.heads = x.takeHeads()
		m.pushHead(x, wild, x.find(m.messages.At(wild.messages.head).pattern()))
	}
	switch {
	case wild.heads == 0:
		wild.messages.head = first
	case wild.exacts == 0:
		wild.messages.head = 0
		x.releaseHeads(wild.heads)
		wild.heads = 0
	default:
		if first != 0 {
			m.pushHead(x, wild, i)
		}
		wild.messages.head = x.leastHead(wild)
	}
	m.contest(x, wi)
	x.drop(wi)
}

// contest puts a contested bin into its place in the heap of contested bins. It leaves other bins
// out.
func (m *Messages) contest(x *bins, i int32) {
	if b := &x.all[i]; b.receives.head == 0 || b.messages.head == 0 {
		x.uncontest(i)
	} else {
		x.contested.put(x.all, i, m.orderOf(b.messages.head))
	}
}

// binReceive stores a posted receive in its bin.
func (m *Messages) binReceive(x *bins, ri int32) {
	p := m.Requests.At(ri).pattern()
	kind := p.kind()
	m.open(x, kind)
	x.receives++
	x.receivesOf[kind]++
	i := x.bin(p)
	b := &x.all[i]
	b.receives.appendRequest(&m.Requests, ri)
	if b.receives.head == ri {
		m.contest(x, i)
	}
}

// unbinReceive removes a posted receive from its bin.
func (m *Messages) unbinReceive(x *bins, ri int32) {
	p := m.Requests.At(ri).pattern()
	x.receives--
	x.receivesOf[p.kind()]--
	i := x.find(p)
	b := &x.all[i]
	b.receives.removeRequest(&m.Requests, ri)
	if b.receives.head == 0 {
		m.contest(x, i)
		x.drop(i)
	}
}

// firstBinned returns the first posted receive that matches a message, 0 for none. Requests
// of a rank are posted in the order of their generations.
func (m *Messages) firstBinned(x *bins, msg *message) (first int32) {
	var least uint32
	for kind := range patternKinds {
		if x.receivesOf[kind] == 0 {
			continue
		}
		ri := x.all[x.find(msg.pattern().with(kind))].receives.head
		if ri == 0 {
			continue
		}
		generation := m.Requests.At(ri).generation
		if first == 0 || int32(generation-least) < 0 {
			first, least = ri, generation
		}
	}
	return first
}

// leastBinned returns the least unexpected message that matches a pattern, 0 for none.
func (m *Messages) leastBinned(x *bins, p pattern) int32 {
	m.open(x, p.kind())
	return x.all[x.find(p)].messages.head
}

// leastContested returns the least unexpected message that matches a posted receive, 0 for
// none.
func (x *bins) leastContested() int32 {
	if len(x.contested) == 0 {
		return 0
	}
	return x.all[x.contested[0].bin].messages.head
}

// unexpectedIn returns the unexpected messages of a mailbox with bins in the order in which they
// came.
func (m *Messages) unexpectedIn(x *bins) []int32 {
	all := make([]int32, 0, x.messages)
	for i := range x.all {
		if b := &x.all[i]; b.pattern.kind() == exact {
			for index := b.messages.head; index != 0; index = m.messages.At(index).next {
				all = append(all, index)
			}
		}
	}
	slices.SortFunc(all, func(a, b int32) int { return int(int32(m.messages.At(a).number - m.messages.At(b).number)) })
	return all
}

// unexpectedOf returns the unexpected messages of a mailbox, those of one source in the order in which they came.
func (m *Messages) unexpectedOf(box *Mailbox) (all []int32) {
	if box.binned() {
		return m.unexpectedIn(m.binsOf(box))
	}
	for index := box.unexpected.head; index != 0; index = m.messages.At(index).next {
		all = append(all, index)
	}
	return all
}

// orderOf returns the key of a message in the order in which receives take messages.
func (m *Messages) orderOf(index int32) order {
	msg := m.messages.At(index)
	if m.Processors != nil {
		return order{number: msg.number}
	}
	return order{msg.arrival, msg.rank, msg.number}
}
