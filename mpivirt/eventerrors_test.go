package mpivirt_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// MPI_ERRORS_RETURN and attached buffers are the same for event ranks as for goroutine
// ranks: an error of arguments, of a message that is too long, of a collective and of a
// buffered send is the completion of the call, and the rank goes on.
func TestEventRanksGetTheirErrors(t *testing.T) {
	expect := func(want error) operation {
		return func(r *steps.Rank) steps.Outcome {
			if err := r.Err(); !errors.Is(err, want) {
				return r.Fail(fmt.Errorf("rank %d got %v, want %v", r.Rank(), err, want))
			}
			return r.Continue()
		}
	}
	buffer := make([]int32, 1)
	script := eventScript(
		func(r *steps.Rank) steps.Outcome {
			r.SetErrorsReturn(true)
			return steps.Send(r, []int32{1}, r.Size(), 0)
		},
		expect(mpivirt.ErrRank),
		func(r *steps.Rank) steps.Outcome { return steps.Bcast(r, []int32{1}, -1) },
		expect(mpivirt.ErrRoot),
		func(r *steps.Rank) steps.Outcome {
			next, before := (r.Rank()+1)%r.Size(), (r.Rank()+r.Size()-1)%r.Size()
			return steps.Sendrecv(r, []int32{1, 2}, next, 0, buffer[:1:1], before, 0)
		},
		expect(mpivirt.ErrTruncate),
		func(r *steps.Rank) steps.Outcome {
			if r.AttachBuffer(3); r.DetachBuffer() != 3 {
				return r.Fail(errors.New("the buffer is not the one attached"))
			}
			return steps.Bsend(r, []int32{1}, r.Rank(), 0)
		},
		expect(mpivirt.ErrBuffer),
		func(r *steps.Rank) steps.Outcome {
			if r.Rank() == 0 {
				return steps.Allreduce(r, []int32{1}, mpivirt.Sum[int32]())
			}
			return r.Barrier()
		},
		expect(mpivirt.ErrOther),
		func(r *steps.Rank) steps.Outcome {
			switch r.Rank() {
			case 0:
			case 1:
				return steps.Send(r, []int32{1}, 0, 0)
			default:
				return r.Waitall()
			}
			receive := steps.RecvInit(buffer, 1, 0)
			pending := r.Start(&receive)
			if second := r.Start(&receive); second != 0 || !errors.Is(r.Err(), mpivirt.ErrRequest) {
				return r.Fail(fmt.Errorf("the second start gives request %d and %v", second, r.Err()))
			}
			return r.Wait(pending)
		},
		expect(nil),
		(*steps.Rank).Barrier,
		expect(nil),
	)
	for _, h := range hostings(4) {
		_, err := simulate(t, mpivirt.Config{Target: target(t, hockney, 4), Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict, Program: script}, h.Engines)
		if err != nil {
			t.Errorf("%+v: %v", h, err)
		}
	}
}

// An allreduce whose members call both forms gives each of them its own result, though
// others that some have begun are over before a waiting member goes on.
func TestMixedFormsOfAllreduce(t *testing.T) {
	sum := mpivirt.Sum[int]()
	for _, h := range hostings(3) {
		_, err := simulate(t, mpivirt.Config{Target: target(t, hockney, 3), Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict,
			Program: mpivirt.Program{Name: "mixed", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				first, second := []int{0}, []int{0}
				q, err := mpivirt.Iallreduce(r.World(), []int{1}, first, sum)
				if err != nil {
					return err
				}
				if r.Rank() == 0 {
					err = mpivirt.Allreduce(r.World(), []int{10}, second, sum)
				} else {
					err = waited(mpivirt.Iallreduce(r.World(), []int{10}, second, sum))
				}
				if err != nil {
					return err
				}
				if _, err := q.Wait(); err != nil || first[0] != 3 || second[0] != 30 {
					return fmt.Errorf("rank %d has the sums %d and %d: %w", r.Rank(), first[0], second[0], err)
				}
				return nil
			})}}}, h.Engines)
		if err != nil {
			t.Errorf("%+v: %v", h, err)
		}
	}
}

// mixedState is an event rank of [TestMixedFormsOfEventRanks].
type mixedState struct {
	step          int
	first, second steps.Request
}

// The same for event ranks, of which those that wait share the result with the others.
func TestMixedFormsOfEventRanks(t *testing.T) {
	sum := mpivirt.Sum[int]()
	program := steps.New(func(r *steps.Rank, s *mixedState) steps.Outcome {
		s.step++
		switch {
		case s.step == 1:
			return steps.Allreduce(r, []int{100}, sum)
		case s.step == 2:
			s.first = steps.Iallreduce(r, []int{1}, sum)
			if r.Rank() == 0 {
				return steps.Allreduce(r, []int{10}, sum)
			}
			s.second = steps.Iallreduce(r, []int{10}, sum)
			return r.Wait(s.second)
		case s.step == 3:
			got := steps.Result[int](r)
			if r.Rank() > 0 {
				got = steps.ResultOf[int](r, s.second)
			}
			if len(got) != 1 || got[0] != 30 {
				return r.Fail(fmt.Errorf("rank %d has the sum %v, want 30", r.Rank(), got))
			}
			return r.Wait(s.first)
		}
		if got := steps.ResultOf[int](r, s.first); len(got) != 1 || got[0] != 3 {
			return r.Fail(fmt.Errorf("rank %d has the sum %v, want 3", r.Rank(), got))
		}
		return r.Finish()
	})
	for _, h := range hostings(3) {
		_, err := simulate(t, mpivirt.Config{Target: target(t, hockney, 3), Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict,
			Program: mpivirt.Program{Name: "mixed", Forms: []mpivirt.Form{steps.Main(func() steps.Program { return program })}}}, h.Engines)
		if err != nil {
			t.Errorf("%+v: %v", h, err)
		}
	}
}

// A step that ends its rank after a wait, having computed, unwinds the processor that runs
// it under a model with state at the receiver. The rank fails all the same, at the end of
// what it has begun.
func TestStepsThatFailAfterAWait(t *testing.T) {
	waits := map[string]func(r *steps.Rank) steps.Outcome{
		"Waitall": func(r *steps.Rank) steps.Outcome {
			return r.Waitall(r.Irecv(1-r.Rank(), 0), r.IsendSize(8, 1-r.Rank(), 0))
		},
		"Wait": func(r *steps.Rank) steps.Outcome {
			r.IsendSize(8, 1-r.Rank(), 0)
			return r.Wait(r.Irecv(1-r.Rank(), 0))
		},
		"Sendrecv": func(r *steps.Rank) steps.Outcome {
			return r.SendrecvSize(8, 1-r.Rank(), 0, 1-r.Rank(), 0)
		},
	}
	fails := map[string]func(r *steps.Rank) steps.Outcome{
		"asks for the time": func(r *steps.Rank) steps.Outcome { _ = r.Now(); return r.Finish() },
		"no solution":       func(r *steps.Rank) steps.Outcome { return r.Fail(errors.New("no solution")) },
		"panic: overflow":   func(*steps.Rank) steps.Outcome { panic("overflow") },
		"MPI_ERR_RANK":      func(r *steps.Rank) steps.Outcome { return r.SendSize(8, 7, 0) },
		"runtime.Goexit":    func(*steps.Rank) steps.Outcome { runtime.Goexit(); return 0 },
	}
	for name, wait := range waits {
		for text, fail := range fails {
			for _, run := range []struct {
				engines  int
				watchdog float64
			}{{1, 0}, {2, 0}, {1, -1}, {2, -1}} { // an engine that nobody watches has no goroutine that waits for it
				engines := run.engines
				program := steps.New(func(r *steps.Rank, at *int) steps.Outcome {
					if *at++; *at == 1 {
						return wait(r)
					}
					r.Compute(vtime.Microsecond)
					if r.Rank() == 1 {
						return r.Finish()
					}
					return fail(r)
				})
				_, err := simulate(t, mpivirt.Config{
					Target: target(t, "loggops-default", 2), Watchdog: run.watchdog,
					Program: mpivirt.Program{Name: "fails", Forms: []mpivirt.Form{steps.Main(func() steps.Program { return program })}},
				}, engines)
				var failed *mpivirt.RankError
				if !errors.As(err, &failed) || failed.Rank != 0 || !strings.Contains(err.Error(), text) {
					t.Errorf("%s after %s, %+v: %v", text, name, run, err)
				}
			}
		}
	}
}
