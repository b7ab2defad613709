package p2p

import (
	"math/bits"

	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// longSendOrder holds the messages under way of a sender that has many, but for the latest: one triple
// for each destination. Triples that cannot delay a message stay until there are limit of them.
type longSendOrder struct {
	pieces [][]triple // piece i has room for firstPiece<<i; triples move only when they are swept
	count  int32      // of triples
	limit  int32      // of the count, at which they are swept
	places []int32    // hash table by destination: place of its triple plus 1, 0 for none
	shift  int        // of the hash; see home
}

const (
	firstPiece = 16
	leastLimit = 2 * firstPiece
)

// at returns a triple by its place.
func (l *longSendOrder) at(place int32) *triple {
	n := uint32(place) + firstPiece
	piece := bits.Len32(n/firstPiece) - 1
	return &l.pieces[piece][n-firstPiece<<piece]
}

// lineOfPlaces is how many places of the table take a cache line.
const lineOfPlaces = 16

// home returns the place in the table where the search for a destination begins. Destinations that
// follow each other share cache lines.
func (l *longSendOrder) home(dst int32) int {
	line := uint32(dst) / lineOfPlaces * 0x9E3779B1 >> l.shift // 2^32 by the golden ratio (Knuth, The Art of Computer Programming 3, 6.4)
	return int(line*lineOfPlaces + uint32(dst)%lineOfPlaces)
}

// search returns the place in the table of a destination, or the free one where it belongs.
func (l *longSendOrder) search(dst int32) int {
	slot := l.home(dst)
	for l.places[slot] != 0 && l.at(l.places[slot]-1).dst != dst {
		slot = (slot + 1) & (len(l.places) - 1)
	}
	return slot
}

// find returns the triple of a destination, nil for none.
func (l *longSendOrder) find(dst int32) *triple {
	if place := l.places[l.search(dst)]; place != 0 {
		return l.at(place - 1)
	}
	return nil
}

// prefetch has the processor load the place in the table where the search for a destination begins.
func (l *longSendOrder) prefetch(dst int32) { world.Prefetch(&l.places[l.home(dst)]) }

// add adds the triple of a destination that has none, below the limit.
func (l *longSendOrder) add(tr triple) {
	l.places[l.search(tr.dst)] = l.count + 1
	l.append(tr)
}

// append stores a triple after the others.
func (l *longSendOrder) append(tr triple) {
	if l.count == firstPiece*(1<<len(l.pieces)-1) {
		l.pieces = append(l.pieces, make([]triple, firstPiece<<len(l.pieces)))
	}
	l.count++
	*l.at(l.count - 1) = tr
}

// sweep removes the messages that cannot delay one sent at t or later.
func (l *longSendOrder) sweep(t vtime.Time) {
	n := l.count
	l.count = 0
	for place := range n {
		if tr := *l.at(place); tr.expiry >= t {
			l.append(tr)
		}
	}
	l.locate()
}

// locate makes the table anew, and sets the limit to twice the count.
func (l *longSendOrder) locate() {
	l.limit = max(2*l.count, leastLimit)
	room := 1 << bits.Len32(uint32(2*l.limit-1)) // at most half of it is used
	if cap(l.places) < room {
		l.places = make([]int32, room)
	} else {
		l.places = l.places[:room]
		clear(l.places)
	}
	l.shift = 32 - (bits.Len32(uint32(room)) - 1) + 4 // 2^4 is lineOfPlaces
	for place := range l.count {
		l.places[l.search(l.at(place).dst)] = place + 1
	}
}
