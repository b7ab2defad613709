//go:build invariants || lint

package p2p

import (
	"strings"
	"testing"

	"gigarank/internal/invariant/invarianttest"
	"gigarank/mpivirt/internal/world"
)

// Each of these breaks something that must hold in the messages of four ranks.
func TestBrokenMessagesAreFound(t *testing.T) {
	everybody := &world.Comm{Index: world.World, Size: 4}
	post := func(k *Messages, source int) int32 {
		q := &Operands{Procedure: world.Irecv, Comm: everybody}
		q.Incoming.Source, q.Incoming.Tag = source, world.AnyTag
		return k.Receive(0, q)
	}
	arrive := func(k *Messages) int32 {
		index := k.messages.Take()
		*k.messages.At(index) = message{comm: world.World, source: 1, rank: 1, arrival: 5}
		k.arrive(0, index)
		return index
	}
	for _, c := range []struct {
		why   string
		want  string
		spoil func(k *Messages)
	}{
		{"a wildcard too many", "counts 2", func(k *Messages) {
			post(k, world.AnySource)
			k.Box(0).wildcards++
			k.CheckMailbox(0)
		}},
		{"a list that ends too early", "the last posted receive is 4, the list ends with 3", func(k *Messages) {
			first := post(k, 1)
			post(k, 2)
			k.Box(0).posted.tail = first
			k.CheckMailbox(0)
		}},
		{"a list of messages that ends too early", "list of messages", func(k *Messages) {
			arrive(k)
			k.Box(0).unexpected.tail = 0
			k.CheckMailbox(0)
		}},
		{"a receive that waits though its message is there", "which is there", func(k *Messages) {
			arrive(k)
			post(k, 3)
			k.Requests.At(k.Box(0).posted.head).Peer = 1
			k.CheckMailbox(0)
		}},
		{"a complete receive that is still posted", "has posted request", func(k *Messages) {
			k.Requests.At(post(k, 1)).Complete = true
			k.CheckMailbox(0)
		}},
		{"a Waitall that waits for nothing", "for 2 requests; 1 are not complete", func(k *Messages) {
			k.WaitRequests(0, WaitAll, []int32{post(k, 1)}, world.Waitall)
			k.Box(0).Wait.pending++
			k.CheckMailbox(0)
		}},
		{"a request that is released twice", "not in use", func(k *Messages) {
			index := k.NewRequest(0, SendRequest, world.Isend)
			k.Requests.Release(index)
			k.Requests.Release(index)
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			if text := invarianttest.Violation(t, func() { c.spoil(opened(t, 4)) }); !strings.Contains(text, c.want) {
				t.Errorf("found %q, want %q", text, c.want)
			}
		})
	}
}
