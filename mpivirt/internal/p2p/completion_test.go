package p2p

import (
	"fmt"
	"testing"

	"gigarank/mpivirt/internal/world"
)

// The completion of a call belongs to its LP: that of another LP is empty, and one that is parked comes back.
func TestCompletionsBelongToTheirLPs(t *testing.T) {
	m := opened(t, 3)
	m.NewCompletion(1)
	m.Completion.Found, m.Completion.Status.Tag = true, 7
	m.park(1)
	if b := m.CompletionOf(0); b.LP != 0 || b.Found || b.Status.Tag == 7 {
		t.Errorf("LP 0, which has made no call, has the completion %+v", *b)
	}
	m.Completion.Found = true
	if b := m.CompletionOf(2); b.LP != 2 || b.Found {
		t.Errorf("LP 2, which has made no call, has the completion %+v", *b)
	}
	m.Unpark(1)
	if b := m.CompletionOf(1); !b.Found || b.Status.Tag != 7 {
		t.Errorf("LP 1 has the completion %+v again, without what it had found", *b)
	}
	if len(m.Parked) > 0 {
		t.Errorf("%d completions stay parked", len(m.Parked))
	}
}

// A new completion has nothing of the call before.
func TestNewCompletionIsEmpty(t *testing.T) {
	m := opened(t, 2)
	empty := *m.NewCompletion(1)
	b := &m.Completion
	b.Err, b.Found, b.Message, b.Status, b.NewComm = world.Errorf(world.ErrTag, "a fault"), true, 5, world.Status{Tag: 3}, 7
	b.Indices, b.Data, b.owned = append(b.Indices, 4), m.Partition.Buffers.Take(100), true
	b.SharedResult, b.Failures = []byte{1}, []Failure{{Request: 1, Err: b.Err}}
	if got := *m.NewCompletion(1); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", empty) {
		t.Errorf("a new completion is %+v, want %+v", got, empty)
	}
}

// Of the requests of a completion the last receive counts, wherever sends stand. Of a request that the completion does not
// include nothing is known, and an inactive one is empty.
func TestStatusOfTheLastReceive(t *testing.T) {
	m := opened(t, 2)
	made := func(kind requestKind, tag int32, content string) int32 {
		index := m.NewRequest(0, kind, world.Irecv)
		q := m.Requests.At(index)
		q.Tag, q.Buffer, q.Bytes = tag, []byte(content), int64(len(content))
		return index
	}
	first, last, send, other := made(ReceiveRequest, 1, "first"), made(ReceiveRequest, 2, "last!!"), made(SendRequest, 3, ""), made(ReceiveRequest, 4, "other")
	b := m.NewCompletion(0)
	for _, order := range [][]int32{{first, last, send}, {first, send, last}, {send, first, last}, {last}} {
		b.Completed = order // the next NewCompletion releases them
		if s, data := m.StatusOf(b), m.DataOf(b); s.Tag != 2 || string(data) != "last!!" {
			t.Errorf("of %v the status is %+v with %q", order, s, data)
		}
	}
	b.Completed, b.Status, b.Data = []int32{send}, world.Status{Tag: 9}, []byte("own")
	if s, data := m.StatusOf(b), m.DataOf(b); s.Tag != 9 || string(data) != "own" {
		t.Errorf("without a receive the status is %+v with %q", s, data)
	}
	b.Completed = []int32{first, send}
	for index, want := range map[int32]int{first: 1, 0: world.EmptyStatus.Tag, m.CompletedSend: world.EmptyStatus.Tag} {
		if s, _, included := m.CompletedRequest(b, index); s.Tag != want || !included {
			t.Errorf("request %d has the status %+v, %v", index, s, included)
		}
	}
	if _, _, included := m.CompletedRequest(b, other); included {
		t.Error("a request that the completion lacks is included")
	}
}
