package bench

import (
	"gigarank/engine"
	"gigarank/mpivirt"
)

// deadlock is the mistake that every course on MPI shows: two ranks send to each other
// first and receive afterwards. The sends are synchronous, so it deadlocks on every
// machine and with every size of message.
var deadlock = Entry{
	Name:     "deadlock",
	Summary:  "pairs of ranks that both send first, synchronously: ends in a deadlock report",
	Defaults: Options{Iterations: 1, Payload: 8},
	Forms:    []*mpivirt.Kind{mpivirt.Goroutine},
	Build:    onPayload(deadlockMain),
	Messages: func(_ Options, _ *mpivirt.Kind, c Course) mpivirt.Held { // buffers are lent until the match
		between, within := c.delayed(toPartner)
		return mpivirt.Held{Mailboxes: 1, Requests: 1, Messages: 1, Leaving: between + within, Coming: between, Operations: 2}
	},
}

// deadlockFix is deadlock without the mistake.
var deadlockFix = Entry{
	Name:     "deadlock_fix",
	Summary:  "the exchange of deadlock made right: nonblocking synchronous sends, then the receives",
	Defaults: Options{Iterations: 10, Payload: 8},
	Forms:    []*mpivirt.Kind{mpivirt.Goroutine},
	Build:    onPayload(deadlockFixMain),
	State:    messageState(0),
	Messages: func(o Options, kind *mpivirt.Kind, c Course) mpivirt.Held { // pairs go on in their order, but for those whose messages are delayed
		h := pairMessages(o, kind, c)
		if c.Postponed {
			return h
		}
		between, within := c.delayed(toPartner)
		waiting := between + within
		h.Mailboxes, h.Requests, h.Messages, h.Leaving, h.Coming = waiting, 2*waiting, waiting, waiting, between
		return h
	},
	Deep: func(o Options, c Course) bool { // a send and its completion
		between, within := c.delayed(toPartner)
		return c.Strict || between+within > 0 && (2*o.Iterations > fewCalls || makesDeep(float64(o.Payload)))
	},
	Waiting: func(_ Options, c Course) (some, share float64) { // the ranks of a pair begin together, but for the last of a batch
		between, within := c.delayed(toPartner)
		return engine.Batch, between + within
	},
	Shared: func(o Options) float64 {
		if o.Iterations == 1 {
			return 0
		}
		return engine.Batch / 2 * float64(o.Payload) // of the ranks that go on together, one of each pair is ahead
	},
}

// toPartner returns the other rank of a pair, or the rank itself.
func toPartner(rank, ranks int) int {
	if other := rank ^ 1; other < ranks {
		return other
	}
	return rank
}

// partner returns the other rank of a pair. The last of an odd number of ranks has
// none.
func partner(r *mpivirt.Rank) (rank int, ok bool) {
	rank = r.Rank() ^ 1
	return rank, rank < r.Size()
}

func deadlockMain(r *mpivirt.Rank, o Options) error {
	other, ok := partner(r)
	if !ok {
		return nil
	}
	r.Compute(o.Compute)
	if o.NoContents {
		if err := r.World().SsendSize(o.Payload, other, 0); err != nil {
			return err
		}
		_, err := r.World().RecvSize(o.Payload, other, 0)
		return err
	}
	out, in := o.message(), o.message()
	if err := mpivirt.Ssend(r.World(), out, other, 0); err != nil {
		return err
	}
	_, err := mpivirt.Recv(r.World(), in, other, 0)
	return err
}

func deadlockFixMain(r *mpivirt.Rank, o Options) error {
	other, ok := partner(r)
	if !ok {
		return nil
	}
	out, in := o.message(), o.message()
	for i := range o.Iterations {
		r.Compute(o.Compute)
		start := r.Now()
		putNumber(out, ringNumber(r.Rank(), i))
		var send mpivirt.Request
		var err error
		if o.NoContents {
			send, err = r.World().IssendSize(o.Payload, other, 0)
		} else {
			send, err = mpivirt.Issend(r.World(), out, other, 0)
		}
		if err != nil {
			return err
		}
		if o.NoContents {
			_, err = r.World().RecvSize(o.Payload, other, 0)
		} else {
			_, err = mpivirt.Recv(r.World(), in, other, 0)
		}
		if err != nil {
			return err
		}
		if _, err := send.Wait(); err != nil {
			return err
		}
		if err := checkNumber(in, other, ringNumber(other, i)); err != nil {
			return err
		}
		r.Record(i, "exchange", r.Now().Sub(start))
	}
	return nil
}
