package p2p

import (
	"math/bits"

	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// longSendOrder stores the messages under way of a sender that has many, except the latest: one
// triple for each destination. Triples that cannot delay a message stay until there are limit
// triples.
type longSendOrder struct {
	pieces [][]triple // piece i has room for firstPiece<<i; triples move only when they are swept
	count  int32      // of triples
	limit  int32      // number of triples at which they are swept
	places []int32    // hash table by destination: place of its triple plus 1, 0 for none
	shift  int        // of the hash function; see home
}

const (
	firstPiece = 16
	leastLimit = 2 * firstPiece
)

// at returns the triple at a place.
func (l *longSendOrder) at(place int32) *triple {
	n := uint32(place) + firstPiece
	piece := bits.Len32(n/firstPiece) - 1
	return &l.pieces[piece][n-firstPiece<<piece]
}

// lineOfPlaces is the number of places of the table in a cache line.
const lineOfPlaces = 16

// home returns the place in the hash table where the search for a destination begins. Consecutive
// destinations share cache lines.
func (l *longSendOrder) home(dst int32) int {
	line := uint32(dst) / lineOfPlaces * 0x9E3779B1 >> l.shift // 2^32 by the golden ratio (Knuth, The Art of Computer Programming 3, 6.4)
	return int(line*lineOfPlaces + uint32(dst)%lineOfPlaces)
}

// search returns the place of a destination in the hash table, or the free place where the
// destination belongs.
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

// prefetch prefetches the place in the hash table where the search for a destination begins.
func (l *longSendOrder) prefetch(dst int32) { world.Prefetch(&l.places[l.home(dst)]) }

// add stores the triple of a destination that has no triple. The count must be below the limit.
func (l *longSendOrder) add(tr triple) {
	l.places[l.search(tr.dst)] = l.count + 1
	l.append(tr)
}

// append stores a triple after the other triples.
func (l *longSendOrder) append(tr triple) {
	if l.count == firstPiece*(1<<len(l.pieces)-1) {
		l.pieces = append(l.pieces, make([]triple, firstPiece<<len(l.pieces)))
	}
	l.count++
	*l.at(l.count - 1) = tr
}

// sweep removes the messages that cannot delay a message sent at t or later.
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

// locate rebuilds the hash table, and sets the limit to twice the count.
func (l *longSendOrder) locate() {
	l.limit = max(2*l.count, leastLimit)
	room := 1 << bits.Len32(uint32(2*l.limit-1)) // at most half of the table is used
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
