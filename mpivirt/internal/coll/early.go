package coll

import (
	"gigarank/internal/random"
	"gigarank/mpivirt/internal/world"
)

// earlyMessages is a hash table of the early messages of LPs that have many, one message for each
// key, in chains linked by the messages themselves. So early messages that come and go in each
// collective leave no garbage to the collector.
type earlyMessages struct {
	table []int32 // by hash: the first message of a chain; its length is a power of two
	used  int
}

// earlyTable is the length of the first table.
const earlyTable = 64

// earlyKey identifies the message of an agent's round.
type earlyKey struct {
	lp, comm int32
	number   uint32
	round    int32
}

// early returns the key of a message that waits for an agent.
func (m *roundMessage) early() earlyKey { return earlyKey{m.lp, m.comm, m.number, m.round} }

func (k earlyKey) hash() uint64 {
	const golden = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	return random.Mix((uint64(uint32(k.lp))<<32 | uint64(uint32(k.round))) ^ (uint64(uint32(k.comm))<<32|uint64(k.number))*golden)
}

// place returns the link of a key's chain that refers to the message of that key, or the end of the
// chain. The table must not be empty.
func (c *earlyMessages) place(s *world.Slab[roundMessage], key earlyKey) *int32 {
	at := &c.table[key.hash()&uint64(len(c.table)-1)]
	for *at != 0 && s.At(*at).early() != key {
		at = &s.At(*at).next
	}
	return at
}

// find returns the message of a key, 0 for none.
func (c *earlyMessages) find(s *world.Slab[roundMessage], key earlyKey) int32 {
	if c.used == 0 {
		return 0
	}
	return *c.place(s, key)
}

// add stores a message under its key, which has no message yet.
func (c *earlyMessages) add(s *world.Slab[roundMessage], index int32) {
	if c.used == len(c.table) {
		c.resize(s, max(2*c.used, earlyTable))
	}
	m := s.At(index)
	first := &c.table[m.early().hash()&uint64(len(c.table)-1)]
	m.next, *first = *first, index
	c.used++
}

// remove removes the message of a key, which must exist.
func (c *earlyMessages) remove(s *world.Slab[roundMessage], key earlyKey) {
	at := c.place(s, key)
	*at = s.At(*at).next
	c.used--
}

// takeInstance removes the messages of an instance that has failed, and returns them.
func (c *earlyMessages) takeInstance(s *world.Slab[roundMessage], comm int32, number uint32) (taken []int32) {
	for i := range c.table {
		for at := &c.table[i]; *at != 0; {
			if m := s.At(*at); m.comm == comm && m.number == number && m.signature.synchronizing() {
				taken = append(taken, *at)
				*at = m.next
				continue
			}
			at = &s.At(*at).next
		}
	}
	c.used -= len(taken)
	return taken
}

// resize gives the hash table another length.
func (c *earlyMessages) resize(s *world.Slab[roundMessage], length int) {
	old := c.table
	c.table = make([]int32, length)
	for _, index := range old {
		for index != 0 {
			m := s.At(index)
			next, first := m.next, &c.table[m.early().hash()&uint64(length-1)]
			m.next, *first = *first, index
			index = next
		}
	}
}
