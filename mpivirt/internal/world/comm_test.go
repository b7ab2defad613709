package world

import (
	"errors"
	"math"
	"testing"
)

// MPI 4.1, 3.2 and 3.10: a send names a rank of its communicator, or MPI_PROC_NULL, and a tag from 0 to MPI_TAG_UB; a
// receive takes MPI_ANY_SOURCE and MPI_ANY_TAG, too. On an intercommunicator ranks are those of the remote group.
func TestArgumentsOfMessages(t *testing.T) {
	four := &Comm{Context: WorldContext, Group: Strided(0, 1, 4), Size: 4}
	between := &Comm{Context: 9, Group: Strided(0, 1, 2), Size: 2, Remote: four}
	none := &Comm{Context: NoContext}
	for _, c := range []struct {
		comm          *Comm
		peer, tag     int
		bytes         int64
		send, receive error
	}{
		{four, 0, 0, 0, nil, nil},
		{four, 3, TagUB, math.MaxInt64, nil, nil},
		{four, ProcNull, 5, 8, nil, nil},
		{four, 4, 5, 8, ErrRank, ErrRank},
		{four, -1, 5, 8, ErrRank, ErrRank},
		{four, AnySource, 5, 8, ErrRank, nil},
		{four, Root, 5, 8, ErrRank, ErrRank},
		{four, 1, AnyTag, 8, ErrTag, nil},
		{four, 1, -1, 8, ErrTag, ErrTag},
		{four, 1, TagUB + 1, 8, ErrTag, ErrTag},
		{four, 1, 5, -1, ErrCount, ErrCount},
		{four, ProcNull, AnyTag, 8, ErrTag, nil},
		{four, ProcNull, 5, -8, ErrCount, ErrCount},
		{between, 3, 5, 8, nil, nil},
		{between, 4, 5, 8, ErrRank, ErrRank},
		{none, 0, 5, 8, ErrComm, ErrComm},
	} {
		if err := c.comm.CheckSend(c.peer, c.tag, c.bytes); !errors.Is(err, c.send) || (err == nil) != (c.send == nil) {
			t.Errorf("sending %d bytes with tag %d to %d on %v: %v, want %v", c.bytes, c.tag, c.peer, c.comm, err, c.send)
		}
		if err := c.comm.CheckReceive(c.peer, c.tag, c.bytes); !errors.Is(err, c.receive) || (err == nil) != (c.receive == nil) {
			t.Errorf("receiving %d bytes with tag %d from %d on %v: %v, want %v", c.bytes, c.tag, c.peer, c.comm, err, c.receive)
		}
	}
}

// A member of SELF is the rank that asks; messages of an intercommunicator go to the remote group.
func TestRanksOfMembers(t *testing.T) {
	self := &Comm{Context: SelfContext, Size: 1}
	odd := &Comm{Context: 7, Group: Strided(1, 2, 3), Size: 3}
	between := &Comm{Context: 8, Group: Strided(0, 2, 3), Size: 3, Remote: odd}
	for _, c := range []struct {
		comm         *Comm
		member, want int
	}{{self, 0, 11}, {odd, 2, 5}, {between.Peers(), 1, 3}, {between, 1, 2}, {odd.Peers(), 0, 1}} {
		if got := c.comm.RankOf(c.member, 11); got != c.want {
			t.Errorf("member %d of %v is rank %d, want %d", c.member, c.comm, got, c.want)
		}
	}
	names := map[string]bool{}
	for _, c := range []*Comm{self, odd, between, {Context: WorldContext}, {Context: NoContext}} {
		names[c.String()] = true
	}
	if len(names) != 5 {
		t.Errorf("communicators are called %v", names)
	}
}
