package sync

import (
	"math"
	"math/bits"

	"gigarank/vtime"
)

// peer is the state of an endpoint about another engine. "It" below is that engine.
type peer struct {
	packet    []byte         // being built for it; nil: none begun
	lookahead vtime.Duration // to it
	promised  vtime.Time     // in the last packet to it
	need      vtime.Time     // the promise that it has asked for; 0: none
	asked     vtime.Time     // the promise that it was asked for; 0: none

	outstanding int64 // bytes sent to it and not credited
	held        int64 // bytes from it that the engine has not consumed
	advanced    int64 // bytes among held that are credited already
	owed        int64 // bytes to credit with the next packet

	records uint32 // data records in packet
	engine  int32
	number  int32 // among the endpoint's peers
	flags   uint8 // of packet
	begun   bool  // in the endpoint's list begun
	asks    bool  // in askers
	holding bool  // in holding
	opened  bool  // in opened
}

// usualPeers is the number of peers, a power of two, for which an endpoint has room from the
// beginning. A barrier over some thousand engines needs no more.
const usualPeers = 16

// peersPerBlock is the number of further peers that are allocated together.
const peersPerBlock = 8

// usualRoom is memory for the peers and packets that an engine mostly needs, in one piece with its endpoint.
type usualRoom struct {
	peers    [usualPeers]peer
	list     [usualPeers]*peer
	holding  [usualPeers]*peer
	slots    [2 * usualPeers]*peer
	promises [2 * usualPeers]vtime.Time
	begun    [arity]*peer
	children [arity]int
}

// peerTable holds the peers of an engine: the engines to which a packet has gone or from
// which one has come. Others cost nothing. In a tree or a butterfly an engine communicates
// with O(log engines) others.
type peerTable struct {
	slots     []*peer // by hash of the engine, with linear probing; nil: free
	shift     uint8   // of the hash
	list      []*peer // in the order in which they were made
	block     []peer  // peers to be made
	lookahead func(dst int) vtime.Duration
	least     vtime.Duration // lower bound of the lookaheads, which replaces smaller lookaheads
}

// init makes a table, which is zero, ready for its first peers.
func (t *peerTable) init(lookahead func(int) vtime.Duration, least vtime.Duration, room *usualRoom) {
	t.lookahead, t.least = lookahead, max(least, 1)
	t.block, t.list = room.peers[:], room.list[:0]
	t.use(room.slots[:])
}

// of returns the peer for an engine. The pointer stays valid.
func (t *peerTable) of(engine int) *peer {
	if p := t.known(engine); p != nil {
		return p
	}
	return t.add(engine)
}

// known returns the peer for an engine, nil if there is none yet.
func (t *peerTable) known(engine int) *peer {
	i := t.home(engine)
	for t.slots[i] != nil && int(t.slots[i].engine) != engine {
		i = (i + 1) % uint(len(t.slots))
	}
	return t.slots[i]
}

// home returns the slot at which the search for an engine begins. Engines that lie a power of
// two apart get slots far from each other (Knuth, TAOCP 3, 6.4: multiplicative hashing).
func (t *peerTable) home(engine int) uint { return uint(uint32(engine) * 0x9E3779B1 >> t.shift) }

// add makes the peer for an engine.
func (t *peerTable) add(engine int) *peer {
	if len(t.block) == 0 {
		t.block = make([]peer, peersPerBlock)
	}
	p := &t.block[0]
	t.block = t.block[1:]
	p.engine, p.number = int32(engine), int32(len(t.list))
	p.lookahead = max(t.lookahead(engine), t.least)
	t.list = append(t.list, p)
	if 4*len(t.list) > 3*len(t.slots) {
		t.use(make([]*peer, 2*len(t.slots)))
	} else {
		t.enter(p)
	}
	return p
}

// enter puts a peer into a free slot.
func (t *peerTable) enter(p *peer) {
	i := t.home(int(p.engine))
	for t.slots[i] != nil {
		i = (i + 1) % uint(len(t.slots))
	}
	t.slots[i] = p
}

// use gives the table other slots, a power of two of them.
func (t *peerTable) use(slots []*peer) {
	t.slots, t.shift = slots, uint8(32-bits.TrailingZeros(uint(len(slots))))
	for _, p := range t.list {
		t.enter(p)
	}
}

// leastOf returns the least lookahead of an engine with the others: known, unless that
// is 0. It is the longest Duration without others and 0 if nothing is known.
func leastOf(rank, size int, lookahead func(int) vtime.Duration, known vtime.Duration) vtime.Duration {
	switch {
	case size == 1:
		return math.MaxInt64
	case known > 0 || lookahead == nil:
		return known
	}
	least := vtime.Duration(math.MaxInt64)
	for engine := range size {
		if engine != rank {
			least = min(least, lookahead(engine))
		}
	}
	return least
}
