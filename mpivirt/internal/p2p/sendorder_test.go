package p2p

import (
	"testing"

	"pgregory.net/rapid"

	"gigarank/vtime"
)

// naiveFlight is the rule of ordered matching with one triple for each destination, all of
// them looked at by each send.
type naiveSendOrder map[int32]triple

func (f naiveSendOrder) send(dst int32, t vtime.Time, latency, transfer, occupancy, least vtime.Duration) vtime.Time {
	for d, tr := range f {
		if tr.expiry < t {
			delete(f, d)
		}
	}
	receive := t.Add(latency).Add(transfer)
	if tr, found := f[dst]; found {
		receive = max(receive, tr.receive.Add(occupancy))
	}
	f[dst] = triple{receive: receive, expiry: receive.Add(-least)}
	return receive
}

// The arrivals of a sender's messages are those of the naive rule, whatever the number of
// destinations and the pace. No message overtakes an earlier one to its destination, also where the
// latency depends on the size.
func TestMessagesUnderWayKeepTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f sendOrder
		k, naive, now := &Messages{}, naiveSendOrder{}, vtime.Time(0)
		destinations := rapid.SampledFrom([]int32{1, 3, 9, 12, 100, 1000}).Draw(t, "destinations")
		stride := rapid.SampledFrom([]int32{1, 12, 16, 1 << 12, 1 << 20}).Draw(t, "distance of destinations")
		longer := rapid.SampledFrom([]int64{0, 1, 70}).Draw(t, "latency beyond the least")
		latest := map[int32]vtime.Time{}
		pause := rapid.SampledFrom([]int64{0, 1, 10, 1000}).Draw(t, "longest pause")
		rest := rapid.SampledFrom([]int{0, 40, 100}).Draw(t, "messages to a rest") // in which all messages under way arrive
		for i := range rapid.IntRange(1, 300).Draw(t, "messages") {
			if rest > 0 && i%rest == rest-1 {
				now = now.Add(10_000)
			}
			now = now.Add(vtime.Duration(rapid.Int64Range(0, pause).Draw(t, "pause")))
			dst := stride * rapid.Int32Range(0, destinations-1).Draw(t, "destination")
			least := vtime.Duration(50 + dst%3) // of the destination
			latency := least + vtime.Duration(rapid.Int64Range(0, longer).Draw(t, "longer"))
			transfer := vtime.Duration(rapid.Int64Range(0, 100).Draw(t, "transfer"))
			occupancy := vtime.Duration(rapid.Int64Range(0, int64(transfer)).Draw(t, "occupancy"))
			want := naive.send(dst, now, latency, transfer, occupancy, least)
			if got := k.inOrder(7, &f, dst, now, latency, transfer, occupancy, least); got != want {
				t.Fatalf("a message to %d sent at %v arrives at %v, want %v", dst, now, got, want)
			}
			if want < latest[dst] {
				t.Fatalf("a message to %d sent at %v arrives at %v, and an earlier one at %v", dst, now, want, latest[dst])
			}
			latest[dst] = want
			if long := k.longSendOrders[7]; (long != nil) != f.isLong() || long != nil && long.count > long.limit {
				t.Fatalf("beside a list of %d messages under way there is %v", len(f.more), long)
			}
		}
	})
}

// A sender to many destinations keeps a bounded number of triples, and looks at each a
// constant number of times.
func TestFewMessagesStayUnderWay(t *testing.T) {
	const n = 100_000
	var f sendOrder
	k := &Messages{}
	for i := range int32(n) {
		k.inOrder(0, &f, i, vtime.Time(i), 50, 100, 100, 50) // each can delay messages of the next 100 sends
	}
	if long := k.longSendOrders[0]; long == nil || long.count > 400 || len(long.places) > 2048 {
		t.Errorf("%v is kept, and 100 messages are under way", long)
	}
}
