package mpivirt_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// When the messages of a rendezvous are handled on a machine with progress in calls, worked
// out by hand. REQ and ACK take 5 us, 1 MB takes 100 us to leave and 5 us more to arrive.
const inCalls = "name: calls\nnetwork: {model: flat, latency: 5us, bandwidth: 10GB/s, eager_limit: 64KiB, progress: calls}"

// inWaits is that machine where only calls that wait, test or probe make progress.
const inWaits = "name: waits\nnetwork: {model: flat, latency: 5us, bandwidth: 10GB/s, eager_limit: 64KiB, progress: waits}"

const megabyte = 1_000_000

// computeUntil computes up to an instant.
func computeUntil(r *mpivirt.Rank, t vtime.Time) {
	r.Compute(vtime.Duration(t - r.Now()))
}

// progressCase is what rank 0, which sends, and rank 1 do, and when both are through.
type progressCase struct {
	name            string
	sends, receives func(r *mpivirt.Rank, w *mpivirt.Comm) error
	sent, received  vtime.Time
}

// isend and irecv do something between the start of a rendezvous and the wait for it.
func isend(between func(r *mpivirt.Rank) error) func(r *mpivirt.Rank, w *mpivirt.Comm) error {
	return func(r *mpivirt.Rank, w *mpivirt.Comm) error {
		q, err := w.IsendSize(megabyte, 1, 0)
		if err == nil {
			err = between(r)
		}
		if err == nil {
			_, err = q.Wait()
		}
		return err
	}
}

func irecv(between func(r *mpivirt.Rank) error) func(r *mpivirt.Rank, w *mpivirt.Comm) error {
	return func(r *mpivirt.Rank, w *mpivirt.Comm) error {
		q, err := w.IrecvSize(megabyte, 0, 0)
		if err == nil {
			err = between(r)
		}
		if err == nil {
			_, err = q.Wait()
		}
		return err
	}
}

// phases computes in phases that end at some microseconds. Between two phases is a call.
func phases(ends ...vtime.Time) func(r *mpivirt.Rank) error {
	return func(r *mpivirt.Rank) error {
		for i, end := range ends {
			if i > 0 {
				if _, _, err := r.World().Iprobe(mpivirt.ProcNull, 0); err != nil {
					return err
				}
			}
			computeUntil(r, end*psOfUs)
		}
		return nil
	}
}

func TestProgressInCalls(t *testing.T) {
	blockingSend := func(r *mpivirt.Rank, w *mpivirt.Comm) error { return w.SendSize(megabyte, 1, 0) }
	blockingReceive := func(r *mpivirt.Rank, w *mpivirt.Comm) error {
		_, err := w.RecvSize(megabyte, 0, 0)
		return err
	}
	for _, c := range []progressCase{
		// Both wait: REQ at 5, ACK at 10, DATA has left at 110 and is there at 115.
		{"both wait", blockingSend, blockingReceive, 110, 115},
		// REQ comes at 5 while the receiver computes to 40, then ACK is at 45.
		{"the receiver computes", blockingSend, irecv(phases(40)), 145, 150},
		// REQ comes at 5 and ACK at 10 while the sender computes to 70: DATA leaves then.
		{"the sender computes", isend(phases(70)), blockingReceive, 170, 175},
		// REQ waits for 40, ACK is at 45 and waits for 70.
		{"both compute", isend(phases(70)), irecv(phases(40)), 170, 175},
		// The receiver calls MPI at 3, before REQ, and at 8, which sends ACK. It is there at 13,
		// after the sender's call at 12. The next one is at 30.
		{"calls in between", isend(phases(12, 30, 90)), irecv(phases(3, 8, 60)), 130, 135},
		// Of phases that end just when a message comes, the call there handles it.
		{"calls at the instant", isend(phases(10, 90)), irecv(phases(5, 60)), 110, 115},
		// The receiver computes beyond DATA: it is received at the wait.
		{"a late wait", blockingSend, irecv(phases(5, 500)), 110, 500},
		// REQ is unexpected: it comes at 5, and the receive is posted at 40.
		{"an unexpected message", blockingSend, func(r *mpivirt.Rank, w *mpivirt.Comm) error {
			computeUntil(r, 40*psOfUs)
			return blockingReceive(r, w)
		}, 145, 150},
		// The receiver waits for a short message from 0 to 35, and answers REQ at 5. ACK is there at
		// 10. The sender sends the short message at 30, and DATA with it.
		{"waits for another message", isend(func(r *mpivirt.Rank) error {
			computeUntil(r, 30*psOfUs)
			return r.World().SendSize(8, 1, 1)
		}), irecv(func(r *mpivirt.Rank) error {
			if _, err := r.World().RecvSize(8, 0, 1); err != nil {
				return err
			}
			computeUntil(r, 60*psOfUs)
			return nil
		}), 130, 135},
		// The receiver calls at 8, 30 and 60: ACK leaves at 8, whenever the host hands REQ over. VACED-SIM
		// may handle it at 60 (its Fig. 4c, see TestVACEDHandsOverLate).
		{"the first call after REQ", blockingSend, irecv(phases(8, 30, 60)), 113, 118},
		// A rank at its end makes progress.
		{"the wait of the sender is late", isend(phases(10, 400)), blockingReceive, 400, 115},
	} {
		got := instants(t, inCalls, 2, mpivirt.Config{}, func(r *mpivirt.Rank, note func(string)) error {
			defer note("through")
			if r.Rank() == 0 {
				return c.sends(r, r.World())
			}
			return c.receives(r, r.World())
		})
		t.Log(c.name)
		wantInstants(t, got, []map[string]vtime.Time{{"through": c.sent * psOfUs}, {"through": c.received * psOfUs}})
	}
}

// The same with progress in waits: calls that start an operation handle nothing but what an earlier call has found.
func TestProgressInWaits(t *testing.T) {
	blockingSend := func(r *mpivirt.Rank, w *mpivirt.Comm) error { return w.SendSize(megabyte, 1, 0) }
	blockingReceive := func(r *mpivirt.Rank, w *mpivirt.Comm) error {
		_, err := w.RecvSize(megabyte, 0, 0)
		return err
	}
	// late computes, calls, computes, posts the receive, computes and waits.
	late := func(first, posts, waits vtime.Time, call func(w *mpivirt.Comm) error) func(r *mpivirt.Rank, w *mpivirt.Comm) error {
		return func(r *mpivirt.Rank, w *mpivirt.Comm) error {
			computeUntil(r, first*psOfUs)
			if err := call(w); err != nil {
				return err
			}
			computeUntil(r, posts*psOfUs)
			return irecv(phases(waits))(r, w)
		}
	}
	nothing := func(*mpivirt.Comm) error { return nil }
	short := func(w *mpivirt.Comm) error { return w.SendSize(0, 1-w.Rank(), 1) }
	// andShort receives that at the end.
	andShort := func(does func(r *mpivirt.Rank, w *mpivirt.Comm) error) func(r *mpivirt.Rank, w *mpivirt.Comm) error {
		return func(r *mpivirt.Rank, w *mpivirt.Comm) error {
			err := does(r, w)
			if err == nil {
				_, err = w.RecvSize(0, 1-w.Rank(), 1)
			}
			return err
		}
	}
	probe := func(w *mpivirt.Comm) error {
		_, _, err := w.Iprobe(mpivirt.AnySource, 7) // which takes 0.1 us
		return err
	}
	cases := []progressCase{
		{"both wait", blockingSend, blockingReceive, 110, 115},
		{"the receiver computes", blockingSend, irecv(phases(40)), 145, 150},
		{"both compute", isend(phases(70)), irecv(phases(40)), 170, 175},
		{"calls in between", isend(phases(12, 30, 90)), irecv(phases(3, 8, 60)), 130, 135},
		{"calls at the instant", isend(phases(10, 90)), irecv(phases(5, 60)), 110, 115},
		{"a late wait", blockingSend, irecv(phases(5, 500)), 110, 500},
		{"the wait of the sender is late", isend(phases(10, 400)), blockingReceive, 400, 115},
		// The paper's Fig. 3: REQ is there at 5, and no call that waits takes it before MPI_Irecv at 20. The wait at 70 does, and ACK
		// is back at 75.
		{"nobody has found REQ", blockingSend, late(20, 20, 70, nothing), 175, 180},
		// An eager send only starts: it finds nothing.
		{"an eager send finds nothing", andShort(blockingSend), late(10, 20, 70, short), 175, 180},
		// A probe at 10 finds REQ, without a receive: it goes to the unexpected queue. MPI_Irecv at 20 answers it.
		{"the unexpected queue", blockingSend, late(10, 20, 70, probe), 125, 130},
		// The probe at 3 comes too early.
		{"a probe too early", blockingSend, late(3, 20, 70, probe), 175, 180},
		// ACK is there at 10, and an eager send at 30 does not take it. The wait at 60 does.
		{"the sender starts another one", isend(func(r *mpivirt.Rank) error {
			computeUntil(r, 30*psOfUs)
			err := short(r.World())
			computeUntil(r, 60*psOfUs)
			return err
		}), andShort(blockingReceive), 160, 165},
	}
	for _, c := range cases {
		got := instants(t, inWaits, 2, mpivirt.Config{}, func(r *mpivirt.Rank, note func(string)) error {
			defer note("through")
			if r.Rank() == 0 {
				return c.sends(r, r.World())
			}
			return c.receives(r, r.World())
		})
		t.Log(c.name)
		wantInstants(t, got, []map[string]vtime.Time{{"through": c.sent * psOfUs}, {"through": c.received * psOfUs}})
	}
}

// The case that Open MPI 4.1.4 takes 68 to 80 ms for: MPI_Isend of 1 MiB to a rank that computes 20 ms, posts its receive,
// computes 50 ms and waits. With progress in all calls the receive answers at 20 ms.
func TestSenderOfAnUnexpectedMessage(t *testing.T) {
	for machine, least := range map[string]vtime.Duration{inCalls: 20 * vtime.Millisecond, inWaits: 70 * vtime.Millisecond} {
		var free vtime.Time
		_, err := simulate(t, mpivirt.Config{Target: target(t, machine, 2), Program: mpivirt.Program{Name: "late", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			if r.Rank() == 0 {
				q, err := r.World().IsendSize(1<<20, 1, 0)
				if err == nil {
					_, err = q.Wait()
				}
				free = r.Now()
				return err
			}
			r.Compute(20 * vtime.Millisecond)
			q, err := r.World().IrecvSize(1<<20, 0, 0)
			if err != nil {
				return err
			}
			r.Compute(50 * vtime.Millisecond)
			_, err = q.Wait()
			return err
		})}}}, 2)
		if err != nil {
			t.Fatal(err)
		}
		if took := free.Sub(0); took < least || took > least+vtime.Millisecond {
			t.Errorf("the sender is free after %v, want %v and some\n%s", took, least, machine)
		}
	}
}

// Nonblocking collectives go on in calls only. Messages take 5 us.
func TestNonblockingCollectivesInCalls(t *testing.T) {
	begin := map[string]func(w *mpivirt.Comm) (mpivirt.Request, error){
		"barrier": func(w *mpivirt.Comm) (mpivirt.Request, error) { return w.Ibarrier() },
		"bcast":   func(w *mpivirt.Comm) (mpivirt.Request, error) { return w.IcollectiveSize(collectives.Bcast, 0, 0) },
		// Above the eager limit: REQ 5, ACK 5, DATA 100 to leave and 5 more.
		"long bcast": func(w *mpivirt.Comm) (mpivirt.Request, error) {
			return w.IcollectiveSize(collectives.Bcast, megabyte, 0)
		},
	}
	algorithms := map[collectives.Operation]collectives.Algorithm{collectives.Barrier: collectives.Dissemination, collectives.Bcast: collectives.Binomial}
	us := func(at ...vtime.Time) (instants []map[string]vtime.Time) {
		for _, t := range at {
			instants = append(instants, map[string]vtime.Time{"through": t * psOfUs})
		}
		return instants
	}
	for _, c := range []struct {
		operation string
		machine   string
		tests     []vtime.Time // instants at which a rank tests its request, none where 0
		waits     []vtime.Time // and waits
		want      []map[string]vtime.Time
	}{
		// Round 0 from 0 to 5 and round 1 to 10, if all wait.
		{"barrier", inWaits, []vtime.Time{0, 0, 0, 0}, []vtime.Time{0, 0, 0, 0}, us(10, 10, 10, 10)},
		// Rank 0 finds the message of round 0 at 100, and sends to rank 2.
		{"barrier", inWaits, []vtime.Time{0, 0, 0, 0}, []vtime.Time{100, 0, 0, 0}, us(100, 10, 105, 10)},
		// It tests at 20, which takes 0.1 us: rank 2 has its message at 25.
		{"barrier", inWaits, []vtime.Time{20, 0, 0, 0}, []vtime.Time{100, 0, 0, 0}, us(100, 10, 25, 10)},
		{"barrier", inCalls, []vtime.Time{20, 0, 0, 0}, []vtime.Time{100, 0, 0, 0}, us(100, 10, 25, 10)},
		// A test at 3 comes too early.
		{"barrier", inWaits, []vtime.Time{3, 0, 0, 0}, []vtime.Time{100, 0, 0, 0}, us(100, 10, 105, 10)},
		// All compute beyond: two rounds in the waits, of which the first has come.
		{"barrier", inWaits, []vtime.Time{0, 0, 0, 0}, []vtime.Time{100, 100, 100, 100}, us(105, 105, 105, 105)},
		// Rank 0 sends to rank 2 and then to rank 1, at 0. Rank 2 hands on to rank 3 at 50.
		{"bcast", inCalls, []vtime.Time{0, 0, 0, 0}, []vtime.Time{0, 0, 50, 0}, us(0, 5, 50, 55)},
		// REQ of rank 0 is there at 5, but rank 2 answers at 50, and rank 0, which computes to 80, sends DATA then, and REQ to
		// rank 1 once they have left at 180. DATA are at rank 2 at 185, which hands them on to rank 3: 10 for REQ and ACK, 105 for DATA.
		{"long bcast", inWaits, []vtime.Time{0, 0, 0, 0}, []vtime.Time{80, 0, 50, 0}, us(290, 295, 295, 300)},
		// Rank 0 tests at 60 and has sent DATA by 160, at 165 they are there. It learns that they have left in its wait at 200.
		{"long bcast", inWaits, []vtime.Time{60, 0, 0, 0}, []vtime.Time{200, 0, 50, 0}, us(310, 315, 275, 280)},
	} {
		for _, engines := range []int{1, 2, 4} {
			for _, strict := range []bool{false, true} {
				got := make([]map[string]vtime.Time, 4)
				_, err := simulate(t, mpivirt.Config{Target: target(t, c.machine, 4), Strict: strict, Algorithms: algorithms,
					Program: mpivirt.Program{Name: "later", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
						q, err := begin[c.operation](r.World())
						if at := c.tests[r.Rank()]; at > 0 && err == nil {
							computeUntil(r, at*psOfUs)
							_, _, err = q.Test()
						}
						if err != nil {
							return err
						}
						computeUntil(r, max(c.waits[r.Rank()]*psOfUs, r.Now()))
						_, err = q.Wait()
						got[r.Rank()] = map[string]vtime.Time{"through": r.Now()}
						return err
					})}}}, engines)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s, tests %d, waits %d, %d engines, strict %t", c.operation, c.tests, c.waits, engines, strict)
				wantInstants(t, got, c.want)
			}
		}
	}
}

// Where all ranks are in calls that a rendezvous ends, no engine waits for the times of the others.
func TestProgressInCallsNeedsNoSynchronisation(t *testing.T) {
	for name, exchange := range map[string]func(w *mpivirt.Comm, own, other int) error{
		"ping-pong": func(w *mpivirt.Comm, own, other int) error {
			if own == 0 {
				if err := w.SendSize(megabyte, other, 0); err != nil {
					return err
				}
			}
			if _, err := w.RecvSize(megabyte, other, 0); err != nil || own == 0 {
				return err
			}
			return w.SendSize(megabyte, other, 0)
		},
		"both at once": func(w *mpivirt.Comm, own, other int) error {
			_, err := mpivirt.Sendrecv(w, make([]byte, megabyte), other, 0, make([]byte, megabyte), other, 0)
			return err
		},
		// Each posts its receive and sends. The message of the other comes while neither send can be over.
		"crossing": func(w *mpivirt.Comm, _, other int) error {
			q, err := w.IrecvSize(megabyte, other, 0)
			if err == nil {
				err = w.SendSize(megabyte, other, 0)
			}
			if err == nil {
				_, err = q.Wait()
			}
			return err
		},
		"to itself": func(w *mpivirt.Comm, own, _ int) error {
			q, err := w.IrecvSize(megabyte, own, 0)
			if err == nil {
				err = w.SendSize(megabyte, own, 0)
			}
			if err == nil {
				_, err = q.Wait()
			}
			return err
		},
	} {
		result, err := simulate(t, mpivirt.Config{Target: target(t, inCalls, 2), Program: mpivirt.Program{Name: "exchange", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			for i := range 20 {
				r.Compute(vtime.Duration(1+(i+r.Rank())%3) * vtime.Microsecond)
				if err := exchange(r.World(), r.Rank(), 1-r.Rank()); err != nil {
					return err
				}
			}
			return nil
		})}}}, 2)
		if err != nil {
			t.Fatal(err)
		}
		if n := result.Statistics.SyncMessages; n > 0 {
			t.Errorf("%s: %d messages for synchronisation", name, n)
		}
		// The message, and one answer that tells the sender that it is free.
		if m := &result.Statistics; name != "to itself" && m.RemoteMessages != 2*m.Messages {
			t.Errorf("%s: %d records between engines for %d messages, want 2 for each", name, m.RemoteMessages, m.Messages)
		}
	}
}

// progressStep is a step of a random program.
type progressStep struct {
	kind        byte // 'c'ompute, 's'end, 'r'eceive, 'w'ait for all of some requests, 'p'robe
	us          int64
	peer        int
	large       bool  // of a send
	synchronous bool  // of one that blocks
	blocks      bool  // a send or receive
	index       int   // 'w': of the request, in the order of the rank's sends and receives
	more        []int // 'w': further ones
}

// drawProgress draws programs without deadlocks: each message is sent and received after all messages
// before it. In each round the ranks begin all, then wait for all. Computing comes anywhere, also twice
// in a row. With calls, some sends and receives block, some messages go to their sender, and some
// waits are for several requests.
func drawProgress(t *rapid.T, ranks int, calls bool) [][]progressStep {
	programs := make([][]progressStep, ranks)
	requests := make([]int, ranks)
	compute := func(r int) {
		for range rapid.IntRange(0, 2).Draw(t, "phases") {
			programs[r] = append(programs[r], progressStep{kind: 'c', us: rapid.Int64Range(0, 80).Draw(t, "us")})
		}
		if rapid.IntRange(0, 3).Draw(t, "probes") == 0 {
			programs[r] = append(programs[r], progressStep{kind: 'p'})
		}
	}
	for range rapid.IntRange(1, 3).Draw(t, "rounds") {
		waits := make([][]int, ranks)
		begin := func(r int, s progressStep) {
			programs[r] = append(programs[r], s)
			if !s.blocks {
				waits[r] = append(waits[r], requests[r])
			}
			requests[r]++
		}
		for range rapid.IntRange(1, 5).Draw(t, "messages") {
			from := rapid.IntRange(0, ranks-1).Draw(t, "from")
			least := 1
			if calls {
				least = 0
			}
			to := (from + rapid.IntRange(least, ranks-1).Draw(t, "to")) % ranks
			send, receive := progressStep{kind: 's', peer: to}, progressStep{kind: 'r', peer: from}
			receiveFirst := false
			if calls {
				send.blocks = rapid.Bool().Draw(t, "send blocks")
				send.synchronous = send.blocks && rapid.IntRange(0, 3).Draw(t, "synchronous") == 0
				receive.blocks = from != to && rapid.Bool().Draw(t, "receive blocks")
				receiveFirst = from == to || rapid.Bool().Draw(t, "receive first")
			}
			sendAfter := func() {
				compute(from)
				send.large = rapid.Bool().Draw(t, "large")
				begin(from, send)
			}
			if !receiveFirst {
				sendAfter()
			}
			compute(to)
			begin(to, receive)
			if receiveFirst {
				sendAfter()
			}
		}
		for r := range ranks {
			order := rapid.Permutation(waits[r]).Draw(t, "waits")
			for len(order) > 0 {
				n := 1
				if calls && rapid.IntRange(0, 2).Draw(t, "waits for all") == 0 {
					n = len(order)
				}
				compute(r)
				programs[r] = append(programs[r], progressStep{kind: 'w', index: order[0], more: order[1:n]})
				order = order[n:]
			}
		}
	}
	return programs
}

// The twin walks through virtual time microsecond by microsecond. In each a rank that is in a
// call handles what has arrived, then goes on. With waits, only calls that wait, test or probe do so, and a receive
// that is posted answers what one of them has found.
type progressTwin struct {
	waits    bool
	now      int64
	ranks    []*twinRank
	programs [][]progressStep
}

type twinRank struct {
	next      int   // step
	busy      int64 // until then it computes
	called    bool  // MPI, since it computed last
	blocked   bool  // in the call of the step
	begun     []*twinMessage
	sends     []bool                 // of those begun
	sent      map[int][]*twinMessage // to a rank, in order
	wanted    map[int][]*twinMessage // from a rank, in order; nil until REQ or the message is known
	completed int64
}

// twinMessage is a message with the instants of its stages, -1 for those that have not come.
type twinMessage struct {
	from, to                                int
	large, synchronous                      bool
	found                                   bool // by a call that waits, tests or probes
	posted, arrived, acknowledged, left, in int64
}

const twinLatency, twinTransfer = 5, 100

func (w *progressTwin) run() []int64 {
	for {
		ended := 0
		for r := range w.ranks {
			w.goOn(r)
			if w.ranks[r].next == len(w.programs[r]) && w.ranks[r].busy <= w.now {
				ended++
			}
		}
		if ended == len(w.ranks) {
			var at []int64
			for _, r := range w.ranks {
				at = append(at, r.completed)
			}
			return at
		}
		w.now++
	}
}

// handle handles what has arrived for a rank in a call.
func (w *progressTwin) handle(rank int) {
	for _, r := range w.ranks {
		for _, m := range r.begun {
			m.found = m.found || m.to == rank && m.arrived >= 0 && m.arrived <= w.now
		}
	}
	for _, m := range w.ranks[rank].begun {
		switch {
		case !m.large && !m.synchronous:
		case m.to == rank && m.posted >= 0 && m.arrived >= 0 && m.arrived <= w.now && m.acknowledged < 0:
			m.acknowledged = w.now + twinLatency
		case m.large && m.from == rank && m.acknowledged >= 0 && m.acknowledged <= w.now && m.left < 0:
			m.left = w.now + twinTransfer
			m.in = m.left + twinLatency
		}
	}
}

func (w *progressTwin) goOn(rank int) {
	r := w.ranks[rank]
	for r.busy <= w.now {
		ended := r.next == len(w.programs[rank])
		if ended || w.inCall(r, &w.programs[rank][r.next]) {
			w.handle(rank)
		}
		if ended {
			r.completed = max(r.completed, r.busy)
			return
		}
		s := w.programs[rank][r.next]
		switch s.kind {
		case 'c':
			r.busy, r.called = w.now+s.us, r.called && s.us == 0
		case 's', 'r':
			if !r.blocked {
				w.begin(rank, s)
			}
			r.called = true
			if r.blocked = s.blocks && !w.over(rank, len(r.begun)-1); r.blocked || s.blocks && s.kind == 'r' {
				w.handle(rank)
			}
			if r.blocked = s.blocks && !w.over(rank, len(r.begun)-1); r.blocked {
				return
			}
		case 'w':
			r.called = true
			for _, i := range append([]int{s.index}, s.more...) {
				if !w.over(rank, i) {
					return
				}
			}
		default:
			r.called = true
		}
		r.next++
		r.completed = max(w.now, r.busy)
	}
}

// inCall reports whether a rank handles messages before its next step.
func (w *progressTwin) inCall(r *twinRank, s *progressStep) bool {
	if w.waits {
		return s.kind == 'w' || s.kind == 'p' || r.blocked
	}
	return s.kind != 'c' || r.called
}

// over reports whether a send or receive of a rank is complete.
func (w *progressTwin) over(rank, index int) bool {
	r := w.ranks[rank]
	m := r.begun[index]
	end := m.in
	switch {
	case !r.sends[index]:
	case m.large:
		end = m.left
	case m.synchronous:
		end = m.acknowledged
	default:
		end = w.now
	}
	return end >= 0 && end <= w.now
}

// begin begins a send or receive. The k-th send to a rank is that of its k-th receive from
// there.
func (w *progressTwin) begin(rank int, s progressStep) {
	from, to := rank, s.peer
	if s.kind == 'r' {
		from, to = s.peer, rank
	}
	sends, receives := w.ranks[from].sent, w.ranks[to].wanted
	mine, other := sends[to], receives[from]
	if s.kind == 'r' {
		mine, other = other, mine
	}
	var m *twinMessage
	if len(mine) < len(other) {
		m = other[len(mine)]
	} else {
		m = &twinMessage{from: from, to: to, posted: -1, arrived: -1, acknowledged: -1, left: -1, in: -1}
	}
	if s.kind == 's' {
		sends[to] = append(mine, m)
		m.large, m.synchronous, m.arrived = s.large, s.synchronous, w.now+twinLatency
	} else {
		receives[from] = append(mine, m)
		m.posted = w.now
	}
	if !m.large && m.arrived >= 0 && m.posted >= 0 {
		m.in = max(m.arrived, m.posted)
	}
	w.ranks[rank].begun, w.ranks[rank].sends = append(w.ranks[rank].begun, m), append(w.ranks[rank].sends, s.kind == 's')
	switch {
	case !w.waits:
		w.handle(rank)
	case s.kind == 'r' && m.found && (m.large || m.synchronous):
		m.acknowledged = w.now + twinLatency
	}
}

// Random programs take the times of the twin, on any number of engines.
func TestProgressAgainstTwin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ranks := rapid.IntRange(2, 4).Draw(rt, "ranks")
		w := &progressTwin{programs: drawProgress(rt, ranks, true), waits: rapid.Bool().Draw(rt, "waits")}
		machine := map[bool]string{false: inCalls, true: inWaits}[w.waits]
		for range ranks {
			w.ranks = append(w.ranks, &twinRank{sent: map[int][]*twinMessage{}, wanted: map[int][]*twinMessage{}})
		}
		want := w.run()
		engines := rapid.IntRange(1, 3).Draw(rt, "engines")
		ends := make([]int64, ranks)
		_, err := simulate(t, mpivirt.Config{Target: target(t, machine, ranks), Strict: rapid.Bool().Draw(rt, "strict"),
			Program: mpivirt.Program{Name: "random", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				err := followSteps(r, w.programs[r.Rank()])
				ends[r.Rank()] = int64(r.Now()) / int64(psOfUs)
				return err
			})}}}, engines)
		if err != nil {
			rt.Fatal(err)
		}
		if fmt.Sprint(ends) != fmt.Sprint(want) {
			rt.Fatalf("%+v end at %v us, want %v", w.programs, ends, want)
		}
	})
}

// followSteps carries a random program out.
func followSteps(r *mpivirt.Rank, program []progressStep) error {
	var requests []mpivirt.Request
	for _, s := range program {
		var q mpivirt.Request
		var err error
		switch s.kind {
		case 'c':
			r.Compute(vtime.Duration(s.us) * vtime.Microsecond)
		case 's':
			bytes := int64(0)
			if s.large {
				bytes = megabyte
			}
			switch {
			case s.synchronous:
				err = r.World().SsendSize(bytes, s.peer, 0)
			case s.blocks:
				err = r.World().SendSize(bytes, s.peer, 0)
			default:
				q, err = r.World().IsendSize(bytes, s.peer, 0)
			}
		case 'r':
			if s.blocks {
				_, err = r.World().RecvSize(megabyte, s.peer, 0)
			} else {
				q, err = r.World().IrecvSize(megabyte, s.peer, 0)
			}
		case 'w':
			var waited []mpivirt.Request
			for _, i := range append([]int{s.index}, s.more...) {
				waited = append(waited, requests[i])
			}
			if len(waited) == 1 {
				_, err = waited[0].Wait()
			} else {
				_, err = mpivirt.Waitall(waited)
			}
		default:
			_, _, err = r.World().Iprobe(mpivirt.ProcNull, 0)
		}
		if err != nil {
			return err
		}
		if s.kind == 's' || s.kind == 'r' {
			requests = append(requests, q)
		}
	}
	return nil
}
