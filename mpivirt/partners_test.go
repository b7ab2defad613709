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

// A root that sends one blocking message after another spends 100 ns on each beside its overhead of 10 ns on this machine, and 1 us more on each of
// those above 8 bytes to more than two others, as their receivers do. Roots of trees and of linear broadcasts start their messages.
func TestBlockingSendsCostMore(t *testing.T) {
	const blocking = "name: blocking\nnetwork: {model: flat, latency: 10us, overhead: {send: 10ns, receive: 10ns}, blocking_send: 100ns, partners: {most: 2, above: 8B, overhead: 1us}}\n"
	const ns, message = vtime.Nanosecond, 10*vtime.Microsecond + 10*vtime.Nanosecond
	for _, c := range []struct {
		op        collectives.Operation
		algorithm collectives.Algorithm
		ranks     int
		bytes     int64
		want      vtime.Duration
	}{
		{collectives.Scatter, collectives.Linear, 3, 9, 2*110*ns + message},
		{collectives.Scatter, collectives.Linear, 4, 8, 3*110*ns + message},
		{collectives.Scatter, collectives.Linear, 4, 9, 3*1110*ns + message + vtime.Microsecond},
		{collectives.Scatter, collectives.LinearNonblocking, 4, 8, 3*10*ns + message},
		{collectives.Scatter, collectives.Binomial, 4, 8, 2 * (10*ns + message)},
		{collectives.Bcast, collectives.Linear, 4, 8, 3*10*ns + message},
		{collectives.Gather, collectives.Linear, 4, 8, 10*ns + message + 2*10*ns},
	} {
		laidOut := target(t, blocking, c.ranks)
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
