package p2p

import (
	"slices"
	"testing"

	"gigarank/mpivirt/internal/world"
)

// A list with a request that is not the rank's own makes no wait set, in whatever way it is handed in, and the error is that of the first such request.
// The requests of the list are then free for another wait set.
func TestWaitSetsOfWrongRequests(t *testing.T) {
	for way, keep := range map[waitSetWay]func(m *Messages, requests []int32) error{
		waitSetOfList:   func(m *Messages, requests []int32) error { return m.KeepList(0, requests) },
		waitSetInMemory: func(m *Messages, requests []int32) error { return m.KeepMemory(0, requests) },
		waitSetInSlice: func(m *Messages, requests []int32) error {
			return m.KeepSlice(0, &scriptSlice{m: m, lp: 0, requests: requests}, false)
		},
	} {
		m := opened(t, 4)
		var own []int32
		for range 3 {
			own = append(own, m.NewRequest(0, ReceiveRequest, world.Irecv))
		}
		other, another := m.NewRequest(1, ReceiveRequest, world.Irecv), m.NewRequest(2, SendRequest, world.Isend)
		m.Box(0)
		for _, wrong := range [][]int32{{own[0], other, own[1]}, {other, own[0]}, {own[0], another, other}, {own[1], own[0], 0, another}} {
			at := slices.IndexFunc(wrong, func(index int32) bool { return index == other || index == another })
			want := m.CheckRequest(0, wrong[at])
			if got := keep(m, wrong); want == nil || got == nil || got.Error() != want.Error() {
				t.Errorf("way %d: the list %v of requests, of which %v are the rank's: %v, want %v", way, wrong, own, got, want)
			}
			if m.waitSets[0] != nil || m.WaitSet(0) != nil || m.WaitSetSlice(0) != nil {
				t.Errorf("way %d: the list %v makes a wait set", way, wrong)
			}
			for _, index := range own {
				if got := m.Requests.At(index).whole; got < 0 {
					t.Errorf("way %d: request %d is in a wait set, at %d", way, index, ^got)
				}
			}
		}
		right := []int32{own[2], 0, own[0], own[1]}
		if err := keep(m, right); err != nil || !slices.Equal(m.WaitSet(0), right) || m.WaitSetIsEmpty(0) {
			t.Errorf("way %d: %v makes the wait set %v, %v", way, right, m.WaitSet(0), err)
		}
		m.Box(0).Wait.Kind = WaitAny
		if got := m.WaitedFor(0); !slices.Equal(got, right) {
			t.Errorf("way %d: the rank waits for %v, want %v", way, got, right)
		}
		for place, index := range right {
			if index != 0 && m.Requests.At(index).whole != ^int32(place) {
				t.Errorf("way %d: request %d is at %d, want %d", way, index, ^m.Requests.At(index).whole, place)
			}
		}
		if m.Discard(0); m.waitSets[0] != nil || m.Requests.At(own[0]).whole < 0 {
			t.Errorf("way %d: the wait set is there after it was discarded", way)
		}
	}
}
