package sync

import (
	"math"

	"gigarank/vtime"
)

// peer is what an endpoint knows of another engine. "It" below is that engine.
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
	flags   uint8 // of packet
	begun   bool  // in the endpoint's list begun
	asks    bool  // in askers
	holding bool  // in holding
	opened  bool  // in opened
}

// peersPerBlock is a power of two. It is small: in a tree or a butterfly, an engine
// communicates with few engines, and they lie apart.
const peersPerBlock = 4

// peerTable holds the peers of an engine in blocks of consecutive engines. A block is
// made by the first packet to or from one of its engines. Other engines cost two bytes
// each.
type peerTable struct {
	blocks     []*[peersPerBlock]peer
	rank, size int
	lookahead  func(dst int) vtime.Duration
	least      vtime.Duration // lower bound of the lookaheads, which replaces smaller ones
}

func newPeerTable(rank, size int, lookahead func(int) vtime.Duration, least vtime.Duration) peerTable {
	return peerTable{make([]*[peersPerBlock]peer, (size+peersPerBlock-1)/peersPerBlock), rank, size, lookahead, max(least, 1)}
}

// of returns the peer for an engine. The pointer stays valid.
func (t *peerTable) of(engine int) *peer {
	if p := t.known(engine); p != nil {
		return p
	}
	return t.add(engine)
}

// known returns the peer for an engine, nil if its block is not made. The compiler inlines
// known.
func (t *peerTable) known(engine int) *peer {
	if block := t.blocks[uint(engine)/peersPerBlock]; block != nil {
		return &block[uint(engine)%peersPerBlock]
	}
	return nil
}

// add makes the block of an engine.
func (t *peerTable) add(engine int) *peer {
	block := new([peersPerBlock]peer)
	for i := range block {
		dst := engine&^(peersPerBlock-1) + i
		block[i].engine = int32(dst)
		if dst != t.rank && dst < t.size {
			block[i].lookahead = max(t.lookahead(dst), t.least)
		}
	}
	t.blocks[engine/peersPerBlock] = block
	return &block[engine&(peersPerBlock-1)]
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
