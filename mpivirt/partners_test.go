package mpivirt_test

import (
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// Messages of more than 8 bytes to or from more than two others cost 100 ns at either end on this machine, beside an overhead of 10 ns.
// Messages take 1 us.
const partnered = "name: partnered\nnetwork: {model: flat, latency: 1us, overhead: {send: 10ns, receive: 10ns}, partners: {most: 2, above: 8B, overhead: 100ns}}\n"

func TestManyPartnersCostOverhead(t *testing.T) {
	const few, many = 10 * vtime.Nanosecond, 110 * vtime.Nanosecond
	for _, c := range []struct {
		op        collectives.Operation
		algorithm collectives.Algorithm
		ranks     int
		bytes     int64
		want      vtime.Duration
	}{
		{collectives.Gather, collectives.Linear, 4, 9, many + vtime.Microsecond + 3*many},
		{collectives.Gather, collectives.Linear, 4, 8, few + vtime.Microsecond + 3*few},
		{collectives.Gather, collectives.Linear, 3, 9, few + vtime.Microsecond + 2*few},
		{collectives.Gather, collectives.Binomial, 4, 9, 2 * (few + vtime.Microsecond + few)},
		{collectives.Alltoall, collectives.Pairwise, 4, 9, 3 * (many + vtime.Microsecond + many)},
		{collectives.Alltoall, collectives.Pairwise, 4, 8, 3 * (few + vtime.Microsecond + few)},
	} {
		laidOut := target(t, partnered, c.ranks)
		call := func(comm *mpivirt.Comm) error { return comm.CollectiveSize(c.op, c.bytes, 0) }
		for engines := 1; engines <= 3; engines++ {
			for _, interpreter := range interpreters {
				if got := finish(t, laidOut, interpreter, engines, c.op, c.algorithm, call); got != c.want {
					t.Errorf("%v by %v of %d bytes among %d ranks, %v on %d engines, takes %v, want %v", c.op, c.algorithm, c.bytes, c.ranks, interpreter, engines, got, c.want)
				}
			}
		}
	}
}
