package mpivirt_test

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"

	"pgregory.net/rapid"
)

// noOverhead is a machine on which a message of 8 bytes takes 1.008 us, and the announcement of
// one above the eager limit 1 us.
const noOverhead = "name: m\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, eager_limit: 1KiB}\n"

// MPI 4.1, 3.8.4: a receive is cancelled before the first message that matches it arrives, and
// not later. The message goes to the next receive. The cancel takes no time.
func TestCancelledAtAnInstant(t *testing.T) {
	for _, c := range []struct {
		elements int
		arrival  vtime.Duration // of the first message at rank 0
	}{{1, 11*vtime.Microsecond + 8*vtime.Nanosecond}, {1000, 11 * vtime.Microsecond}} {
		for _, second := range []int{1, mpivirt.AnySource} {
			for _, at := range []vtime.Duration{0, vtime.Microsecond, c.arrival - 1, c.arrival, c.arrival + 1, 50 * vtime.Microsecond} {
				main := func(r *mpivirt.Rank) error {
					w := r.World()
					if r.Rank() == 1 {
						for i := range int64(2) {
							r.Compute(10 * vtime.Microsecond)
							if err := mpivirt.Send(w, fill(make([]int64, c.elements), i), 0, 0); err != nil {
								return err
							}
						}
						return nil
					}
					r.MayCancel(true)
					first, next, last := make([]int64, c.elements), make([]int64, c.elements), make([]int64, c.elements)
					a, err := mpivirt.Irecv(w, fill(first, -1), 1, 0)
					if err != nil {
						return err
					}
					b, err := mpivirt.Irecv(w, next, second, 0)
					if err != nil {
						return err
					}
					r.Compute(at)
					before := r.Now()
					if err := a.Cancel(); err != nil {
						return err
					}
					if r.Now() != before {
						return fmt.Errorf("the cancel took %v", r.Now()-before)
					}
					status, err := a.Wait()
					if err != nil {
						return err
					}
					if want := at < c.arrival; status.Cancelled != want {
						return fmt.Errorf("cancelled at %v: %v, want %v", at, status.Cancelled, want)
					}
					if _, err := b.Wait(); err != nil {
						return err
					}
					if !status.Cancelled {
						return errors.Join(holds("the first receive", first, 0), holds("the second receive", next, 1))
					}
					if _, err := mpivirt.Recv(w, last, 1, 0); err != nil {
						return err
					}
					return errors.Join(holds("the cancelled receive", first, -1), holds("the second receive", next, 0), holds("the last receive", last, 1))
				}
				for _, h := range hostings(2) {
					_, err := simulate(t, mpivirt.Config{
						Target: target(t, noOverhead, 2), Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict,
						Program: mpivirt.Program{Name: "cancel", Forms: []mpivirt.Form{mpivirt.Main(main)}},
					}, h.Engines)
					if err != nil {
						t.Errorf("%d elements, second receive from %d, cancel after %v, %+v: %v", c.elements, second, at, h, err)
					}
				}
			}
		}
	}
}

// What cannot be cancelled is refused, and a send goes on.
func TestCancelErrors(t *testing.T) {
	_, err := simulate(t, mpivirt.Config{
		Target: target(t, noOverhead, 2),
		Program: mpivirt.Program{Name: "cancel", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			r.SetErrorsReturn(true)
			w, other, in := r.World(), 1-r.Rank(), make([]int64, 1000)
			received, err := mpivirt.Irecv(w, in, other, 0)
			if err != nil {
				return err
			}
			if err := received.Cancel(); !errors.Is(err, mpivirt.ErrRequest) {
				return fmt.Errorf("a cancel without MayCancel returned %v", err)
			}
			sent, err := mpivirt.Isend(w, fill(make([]int64, 1000), 7), other, 0)
			if err != nil {
				return err
			}
			if err := sent.Cancel(); err != nil {
				return err
			}
			if _, err := mpivirt.Waitall([]mpivirt.Request{received, sent}); err != nil {
				return err
			}
			if err := (&mpivirt.Request{}).Cancel(); !errors.Is(err, mpivirt.ErrRequest) {
				return fmt.Errorf("a cancel of no request returned %v", err)
			}
			barrier, err := w.Ibarrier()
			if err != nil {
				return err
			}
			if err := barrier.Cancel(); !errors.Is(err, mpivirt.ErrRequest) {
				return fmt.Errorf("a cancel of a collective returned %v", err)
			}
			_, err = barrier.Wait()
			return errors.Join(err, holds("the receive", in, 7))
		})}},
	}, 2)
	if err != nil {
		t.Error(err)
	}
}

// An event rank cancels as a goroutine rank does.
func TestCancelInSteps(t *testing.T) {
	type state struct {
		step    int
		request steps.Request
	}
	for engines := 1; engines <= 2; engines++ {
		var cancelled atomic.Int32
		program := steps.New(func(r *steps.Rank, s *state) steps.Outcome {
			s.step++
			switch s.step {
			case 1:
				r.MayCancel(true)
				s.request = r.Irecv(1-r.Rank(), 3)
				r.Compute(vtime.Microsecond)
				return r.Cancel(s.request)
			case 2:
				return r.Wait(s.request)
			}
			if r.Status().Cancelled {
				cancelled.Add(1)
			}
			return r.Finish()
		})
		_, err := simulate(t, mpivirt.Config{
			Target:  target(t, noOverhead, 2),
			Program: mpivirt.Program{Name: "cancel", Forms: []mpivirt.Form{steps.Main(func() steps.Program { return program })}},
		}, engines)
		if err != nil || cancelled.Load() != 2 {
			t.Errorf("%d engines: %v, %d receives were cancelled, want 2", engines, err, cancelled.Load())
		}
	}
}

// sentAt is a message of the random programs of TestRandomCancels, and receiving what rank 0 does
// at an instant: it posts a receive, or cancels one of those that it has posted.
type sentAt struct {
	source, tag int
	at          int // microsecond at which the source sends it
	large       bool
}

type receiving struct {
	at          int
	cancels     int // position of the receive, -1 to post one
	source, tag int
}

// matched is a twin of the matching, in the order of time: which message each receive gets, -1 if
// it is cancelled. A small message arrives 1.008 us after it is sent, a large one after 1 us.
func matched(sent []sentAt, does []receiving) []int {
	type posted struct{ receive, source, tag int }
	var waiting []posted
	var unexpected, got []int
	arrivals := make([]int, len(sent))
	for i := range sent {
		arrivals[i] = i
	}
	slices.SortStableFunc(arrivals, func(a, b int) int {
		p, q := sent[a], sent[b]
		if p.at != q.at {
			return p.at - q.at
		}
		if p.large != q.large { // an announcement is 8 ns earlier
			if p.large {
				return -1
			}
			return 1
		}
		return p.source - q.source
	})
	fits := func(source, tag, message int) bool {
		return (source == mpivirt.AnySource || source == sent[message].source) && (tag == mpivirt.AnyTag || tag == sent[message].tag)
	}
	arrive := func(message int) {
		i := slices.IndexFunc(waiting, func(p posted) bool { return fits(p.source, p.tag, message) })
		if i < 0 {
			unexpected = append(unexpected, message)
			return
		}
		got[waiting[i].receive] = message
		waiting = slices.Delete(waiting, i, i+1)
	}
	next := 0
	for _, do := range does {
		for ; next < len(arrivals); next++ {
			if m := sent[arrivals[next]]; m.at+1 > do.at || m.at+1 == do.at && !m.large {
				break
			}
			arrive(arrivals[next])
		}
		if do.cancels >= 0 {
			waiting = slices.DeleteFunc(waiting, func(p posted) bool { return p.receive == do.cancels })
			continue
		}
		got = append(got, -1)
		if i := slices.IndexFunc(unexpected, func(message int) bool { return fits(do.source, do.tag, message) }); i >= 0 {
			got[len(got)-1] = unexpected[i]
			unexpected = slices.Delete(unexpected, i, i+1)
			continue
		}
		waiting = append(waiting, posted{len(got) - 1, do.source, do.tag})
	}
	return got
}

// Random programs with cancels match as the twin says, on all hostings.
func TestRandomCancels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const ranks, end = 4, 60
		var sent []sentAt
		for source := 1; source < ranks; source++ {
			at := 0
			for range rapid.IntRange(0, 5).Draw(t, "messages") {
				at += rapid.IntRange(1, 6).Draw(t, "gap") // so that a large message does not overtake
				sent = append(sent, sentAt{source, rapid.IntRange(0, 1).Draw(t, "tag"), at, rapid.Bool().Draw(t, "large")})
			}
		}
		var does []receiving
		receives, at := 0, 0
		for range rapid.IntRange(1, 12).Draw(t, "actions") {
			at += rapid.IntRange(0, 4).Draw(t, "pause")
			if receives > 0 && rapid.Bool().Draw(t, "cancel") {
				does = append(does, receiving{at: at, cancels: rapid.IntRange(0, receives-1).Draw(t, "which")})
				continue
			}
			does = append(does, receiving{at, -1, rapid.SampledFrom([]int{1, 2, 3, mpivirt.AnySource}).Draw(t, "source"), rapid.SampledFrom([]int{0, 1, mpivirt.AnyTag}).Draw(t, "tag")})
			receives++
		}
		for i := range receives {
			does = append(does, receiving{at: end, cancels: i})
		}
		want := matched(sent, does)
		elements := func(m sentAt) int {
			if m.large {
				return 1000
			}
			return 1
		}
		main := func(r *mpivirt.Rank) error {
			w := r.World()
			if r.Rank() > 0 {
				var requests []mpivirt.Request
				for i, m := range sent {
					if m.source != r.Rank() {
						continue
					}
					r.Compute(vtime.Time(0).Add(vtime.Duration(m.at) * vtime.Microsecond).Sub(r.Now()))
					q, err := mpivirt.Isend(w, fill(make([]int64, elements(m)), int64(i)), 0, m.tag)
					if err != nil {
						return err
					}
					requests = append(requests, q)
				}
				_, err := mpivirt.Waitall(requests)
				return err
			}
			r.MayCancel(true)
			var requests []mpivirt.Request
			var buffers [][]int64
			for _, do := range does {
				r.Compute(vtime.Time(0).Add(vtime.Duration(do.at) * vtime.Microsecond).Sub(r.Now()))
				if do.cancels >= 0 {
					if err := requests[do.cancels].Cancel(); err != nil {
						return err
					}
					continue
				}
				buffers = append(buffers, fill(make([]int64, 1000), -1))
				q, err := mpivirt.Irecv(w, buffers[len(buffers)-1], do.source, do.tag)
				if err != nil {
					return err
				}
				requests = append(requests, q)
			}
			for i := range requests {
				status, err := requests[i].Wait()
				if err != nil {
					return err
				}
				if status.Cancelled != (want[i] < 0) || buffers[i][0] != int64(want[i]) {
					return fmt.Errorf("receive %d: cancelled %v, brought %d, want message %d", i, status.Cancelled, buffers[i][0], want[i])
				}
			}
			for left := len(sent) - len(want) + count(want, -1); left > 0; left-- {
				if _, err := mpivirt.Recv(w, make([]int64, 1000), mpivirt.AnySource, mpivirt.AnyTag); err != nil {
					return err
				}
			}
			return nil
		}
		for _, h := range hostings(3) {
			_, err := simulate(t, mpivirt.Config{
				Target: target(t, noOverhead, ranks), Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict,
				Program: mpivirt.Program{Name: "cancels", Forms: []mpivirt.Form{mpivirt.Main(main)}},
			}, h.Engines)
			if err != nil {
				t.Fatalf("%+v: sent %+v, does %+v: %v", h, sent, does, err)
			}
		}
	})
}

func count(list []int, value int) (n int) {
	for _, v := range list {
		if v == value {
			n++
		}
	}
	return n
}
