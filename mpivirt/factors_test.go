package mpivirt_test

import (
	"fmt"
	"testing"

	"gigarank/mpivirt"
	"gigarank/vtime"
)

// Between two nodes a message takes 20 us without bytes, 50.1 us with 100, and 12 us with 1,000: 10 us at
// factors 2, 5 and 1, and 1 GB/s at half of it from 1,000 bytes on.
const bySize = `network:
  model: factors
  intra: {latency: 1us}
  inter:
    latency: 10us
    bandwidth: 1GB/s
    latency_factors: [{size: 0, factor: 2}, {size: 100, factor: 5}, {size: 1000, factor: 1}]
    bandwidth_factors: [{size: 1000, factor: 0.5}]
  eager_limit: 1000
`

// Rank 0 sends 100, 1,000 and no bytes to rank 1 at 0, and rank 2 sends 1,000 bytes to rank 1. A
// message of 1,000 bytes is there sooner than the engines could tell each other of one without bytes.
//
//   - Alone the messages of rank 0 take 50.1, 12 and 20 us. None overtakes: the second one ends its
//     2 us of transfer after the first.
func TestSmallerLatenciesOfLargerMessages(t *testing.T) {
	const us, ns = vtime.Time(vtime.Microsecond), vtime.Time(vtime.Nanosecond)
	const last = 52*us + 100*ns
	got := instants(t, "name: m\n"+bySize, 3, mpivirt.Config{}, func(r *mpivirt.Rank, note func(string)) error {
		w := r.World()
		switch r.Rank() {
		case 0:
			for _, bytes := range []int64{100, 1000, 0} {
				if err := w.SendSize(bytes, 1, 0); err != nil {
					return err
				}
			}
		case 1:
			for i := range 4 {
				s, err := w.RecvSize(1000, mpivirt.AnySource, 0)
				if err != nil {
					return err
				}
				note(fmt.Sprintf("%d: %d of %d", i, s.Bytes, s.Source))
			}
		case 2:
			return w.SendSize(1000, 1, 0)
		}
		return nil
	})
	wantInstants(t, got, []map[string]vtime.Time{{}, {"0: 1000 of 2": 12 * us, "1: 100 of 0": 50*us + 100*ns, "2: 1000 of 0": last, "3: 0 of 0": last}, {}})
}

// REQ is there at 20 us, and ACK back at 40 us. DATA takes 10 us and 2,000 bytes over 0.5 GB/s, 4 us,
// after which the sender is free.
func TestRendezvousWithFactors(t *testing.T) {
	const us = vtime.Time(vtime.Microsecond)
	got := instants(t, "name: m\n"+bySize, 2, mpivirt.Config{}, func(r *mpivirt.Rank, note func(string)) error {
		var err error
		if r.Rank() == 0 {
			err = r.World().SendSize(2000, 1, 0)
		} else {
			_, err = r.World().RecvSize(2000, 0, 0)
		}
		note("done")
		return err
	})
	wantInstants(t, got, []map[string]vtime.Time{{"done": 44 * us}, {"done": 54 * us}})
}
