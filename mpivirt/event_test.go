package mpivirt_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
)

// eventScript is an event program whose ranks go through the operations of a list, one
// after the other.
func eventScript(list ...func(r *steps.Rank) steps.Outcome) mpivirt.Program {
	return mpivirt.Program{Name: "script", Forms: []mpivirt.Form{steps.Main(func() steps.Program {
		return steps.New(func(r *steps.Rank, at *uint8) steps.Outcome {
			if int(*at) == len(list) {
				return r.Finish()
			}
			*at++
			return list[*at-1](r)
		})
	})}}
}

// What is wrong with a call of an event rank ends the program with an error of its
// class.
func TestFaultsOfEventRanks(t *testing.T) {
	stale, made, matched := steps.Request(0), steps.Comm{}, steps.Message(0)
	for _, c := range []struct {
		name  string
		class mpivirt.ErrorClass
		call  string
		steps []func(r *steps.Rank) steps.Outcome
	}{
		{"destination", mpivirt.ErrRank, "Send", []func(r *steps.Rank) steps.Outcome{
			func(r *steps.Rank) steps.Outcome { return r.SendSize(8, 2, 0) },
		}},
		{"tag", mpivirt.ErrTag, "Irecv", []func(r *steps.Rank) steps.Outcome{
			func(r *steps.Rank) steps.Outcome { return r.Wait(r.Irecv(0, -5)) },
		}},
		{"root", mpivirt.ErrRoot, "Bcast", []func(r *steps.Rank) steps.Outcome{
			func(r *steps.Rank) steps.Outcome { return steps.Bcast(r, []int32{1}, 2) },
		}},
		{"room for the result", mpivirt.ErrBuffer, "Allgather", []func(r *steps.Rank) steps.Outcome{
			func(r *steps.Rank) steps.Outcome {
				return steps.Allgather(r, []int32{1}, make([]int32, 1))
			},
		}},
		{"truncation", mpivirt.ErrTruncate, "Sendrecv", []func(r *steps.Rank) steps.Outcome{
			func(r *steps.Rank) steps.Outcome {
				return steps.Sendrecv(r, make([]byte, 2), 1-r.Rank(), 0, make([]byte, 1), 1-r.Rank(), 0)
			},
		}},
		{"a request that has been waited for", mpivirt.ErrRequest, "Wait", []func(r *steps.Rank) steps.Outcome{
			func(r *steps.Rank) steps.Outcome {
				if r.Rank() == 1 {
					return r.SendSize(8, 0, 0)
				}
				stale = r.Irecv(1, 0)
				return r.Wait(stale)
			},
			func(r *steps.Rank) steps.Outcome { return r.Barrier() },
			func(r *steps.Rank) steps.Outcome {
				if r.Rank() == 1 {
					return r.Continue() // to it, it is the request of another rank
				}
				return r.Wait(stale)
			},
		}},
		{"a request of another rank", mpivirt.ErrRequest, "Wait", []func(r *steps.Rank) steps.Outcome{
			func(r *steps.Rank) steps.Outcome {
				if r.Rank() == 0 {
					stale = r.Irecv(1, 0)
				}
				return r.Barrier()
			},
			func(r *steps.Rank) steps.Outcome { return r.Wait(stale) },
		}},
		{"a communicator that has been freed", mpivirt.ErrComm, "Comm.Free", []func(r *steps.Rank) steps.Outcome{
			func(r *steps.Rank) steps.Outcome { return r.Dup() },
			func(r *steps.Rank) steps.Outcome {
				made = r.NewComm(0)
				r.Free(made)
				return r.Barrier()
			},
			func(r *steps.Rank) steps.Outcome {
				r.Free(made)
				return r.Continue()
			},
		}},
		{"a communicator that has been freed before others were made", mpivirt.ErrComm, "Barrier", []func(r *steps.Rank) steps.Outcome{
			func(r *steps.Rank) steps.Outcome { return r.Dup() },
			func(r *steps.Rank) steps.Outcome {
				made = r.NewComm(0)
				r.Free(made)
				return r.Dup()
			},
			func(r *steps.Rank) steps.Outcome { return r.Dup() },
			func(r *steps.Rank) steps.Outcome { return r.On(made).Barrier() },
		}},
		{"a communicator that the rank has freed and the other has not", mpivirt.ErrComm, "Comm.Free", []func(r *steps.Rank) steps.Outcome{
			func(r *steps.Rank) steps.Outcome { return r.Dup() },
			func(r *steps.Rank) steps.Outcome {
				if made = r.NewComm(0); r.Rank() == 0 {
					r.Free(made)
					r.Free(made)
				}
				return r.Barrier()
			},
		}},
		{"a communicator that the other still has", mpivirt.ErrComm, "Send", []func(r *steps.Rank) steps.Outcome{
			func(r *steps.Rank) steps.Outcome { return r.Dup() },
			func(r *steps.Rank) steps.Outcome {
				made = r.NewComm(0)
				if r.Rank() == 1 {
					return r.On(made).Recv(0, 0)
				}
				r.Free(made)
				return r.On(made).SendSize(8, 1, 0)
			},
		}},
		{"another's communicator is freed", mpivirt.ErrComm, "Comm.Free", []func(r *steps.Rank) steps.Outcome{
			func(r *steps.Rank) steps.Outcome { return r.Split(r.Rank(), 0) },
			func(r *steps.Rank) steps.Outcome {
				r.Free(r.NewComm(1 - r.Rank()))
				return r.Barrier()
			},
		}},
		{"no member", mpivirt.ErrComm, "Barrier", []func(r *steps.Rank) steps.Outcome{
			func(r *steps.Rank) steps.Outcome { return r.Split(r.Rank(), 0) },
			func(r *steps.Rank) steps.Outcome { return r.On(r.NewComm(1 - r.Rank())).Barrier() },
		}},
		{"no such communicator", mpivirt.ErrComm, "Comm.Split", []func(r *steps.Rank) steps.Outcome{
			func(r *steps.Rank) steps.Outcome { return r.On(r.NewComm(7)).Barrier() },
		}},
		{"a persistent request that is active", mpivirt.ErrRequest, "Start", []func(r *steps.Rank) steps.Outcome{
			func(r *steps.Rank) steps.Outcome {
				p := steps.SendInit([]byte{1}, 1-r.Rank(), 0)
				r.Start(&p) // it is eager, hence complete
				return r.Wait(r.Start(&p))
			},
		}},
		{"matched once, received twice", mpivirt.ErrRequest, "Recv", []func(r *steps.Rank) steps.Outcome{
			func(r *steps.Rank) steps.Outcome {
				r.IsendSize(1, r.Rank(), 0)
				return r.Mprobe(r.Rank(), 0)
			},
			func(r *steps.Rank) steps.Outcome {
				if r.Rank() == 0 {
					matched = r.Matched()
				}
				return steps.Mrecv(r, r.Matched(), make([]byte, 1))
			},
			func(r *steps.Rank) steps.Outcome { return steps.Mrecv(r, matched, make([]byte, 1)) },
		}},
		{"nothing matched", mpivirt.ErrRequest, "Recv", []func(r *steps.Rank) steps.Outcome{
			func(r *steps.Rank) steps.Outcome {
				return steps.Mrecv(r, r.Matched(), make([]byte, 1))
			},
		}},
	} {
		_, err := simulate(t, mpivirt.Config{Target: target(t, rendezvous, 2), Program: eventScript(c.steps...)}, 1)
		var failed *mpivirt.RankError
		if !errors.As(err, &failed) || !errors.Is(err, c.class) || failed.Call != c.call {
			t.Errorf("%s: %v, want an error of class %v in %s", c.name, err, c.class, c.call)
		}
	}
}

// ProcNull and inactive requests: the operation is over at once, with the status of
// nobody (MPI 4.1, 3.10) or the empty one (3.7.3).
func TestEventRanksWithNobody(t *testing.T) {
	nobody := mpivirt.Status{Source: mpivirt.ProcNull, Tag: mpivirt.AnyTag}
	empty := mpivirt.Status{Source: mpivirt.AnySource, Tag: mpivirt.AnyTag}
	see := func(what string, r *steps.Rank, want mpivirt.Status) {
		if r.Status() != want || !r.Found() || len(r.Data()) != 0 {
			t.Errorf("after %s: found %t, %+v, want %+v", what, r.Found(), r.Status(), want)
		}
	}
	check := func(what string, r *steps.Rank) { see(what, r, nobody) }
	var requests [2]steps.Request
	_, err := simulate(t, mpivirt.Config{Target: target(t, rendezvous, 1), Program: eventScript(
		func(r *steps.Rank) steps.Outcome { return r.SendSize(8, mpivirt.ProcNull, 0) },
		func(r *steps.Rank) steps.Outcome { return r.Recv(mpivirt.ProcNull, 0) },
		func(r *steps.Rank) steps.Outcome { check("Recv", r); return r.Iprobe(mpivirt.ProcNull, 0) },
		func(r *steps.Rank) steps.Outcome { check("Iprobe", r); return r.Mprobe(mpivirt.ProcNull, 0) },
		func(r *steps.Rank) steps.Outcome {
			check("Mprobe", r)
			return steps.Mrecv(r, r.Matched(), make([]byte, 1))
		},
		func(r *steps.Rank) steps.Outcome { check("Mrecv", r); return r.Wait(0) },
		func(r *steps.Rank) steps.Outcome { see("Wait", r, empty); return r.Waitany(0, 0) },
		func(r *steps.Rank) steps.Outcome {
			if see("Waitany", r, empty); r.Index() != mpivirt.Undefined {
				t.Errorf("index %d of inactive requests", r.Index())
			}
			return r.Waitany(0, r.Irecv(mpivirt.ProcNull, 0))
		},
		func(r *steps.Rank) steps.Outcome {
			if check("Waitany", r); r.Index() != 1 {
				t.Errorf("index %d of the only active request, want 1", r.Index())
			}
			requests = [2]steps.Request{r.Irecv(mpivirt.ProcNull, 0), r.IsendSize(8, mpivirt.ProcNull, 0)}
			return r.Waitall(requests[0], requests[1])
		},
		func(r *steps.Rank) steps.Outcome {
			check("Waitall", r)
			if got := r.StatusOf(requests[0]); got != nobody {
				t.Errorf("status of a receive from nobody: %+v", got)
			}
			if got := r.StatusOf(requests[1]); got != empty {
				t.Errorf("status of a send to nobody: %+v", got)
			}
			return r.Continue()
		},
	)}, 1)
	if err != nil {
		t.Error(err)
	}
}

// A deadlock of event ranks is reported as that of goroutine ranks is.
func TestDeadlockOfEventRanks(t *testing.T) {
	_, err := simulate(t, mpivirt.Config{Target: target(t, rendezvous, 2), Program: eventScript(
		func(r *steps.Rank) steps.Outcome {
			return steps.Send(r, make([]byte, 101), 1-r.Rank(), 7)
		},
	)}, 2)
	var deadlock *mpivirt.DeadlockError
	if !errors.As(err, &deadlock) || deadlock.Waiting != 2 || !strings.Contains(err.Error(), "rank 1 waits in Send for rank 0 of WORLD to receive its message with tag 7") {
		t.Errorf("got %v", err)
	}
}

// What each rank makes of a communicator is its own, however soon another one makes
// the next: ranks leave one after the other, and the first goes on at once.
func TestMadeByEventRanks(t *testing.T) {
	type state struct {
		step  uint8
		first steps.Comm
	}
	_, err := simulate(t, mpivirt.Config{Target: target(t, "xt5", 40), Program: mpivirt.Program{
		Name: "made", Forms: []mpivirt.Form{steps.Main(func() steps.Program {
			return steps.New(func(r *steps.Rank, s *state) steps.Outcome {
				s.step++
				switch s.step {
				case 1:
					return r.Split(r.Rank()%2, 0)
				case 2:
					s.first = r.NewComm(r.Rank() % 2)
					return r.Dup()
				case 3:
					if r.On(s.first).Members() != 20 || r.On(r.NewComm(0)).Members() != 40 {
						t.Errorf("rank %d has communicators of %d and %d ranks, want 20 and 40", r.Rank(), r.On(s.first).Members(), r.On(r.NewComm(0)).Members())
					}
					return r.Split(r.Rank()%4, -r.Rank())
				}
				if c := r.On(r.NewComm(r.Rank() % 4)); c.Members() != 10 || c.Member() != 9-r.Rank()/4 {
					t.Errorf("rank %d is member %d of %d, want %d of 10", r.Rank(), c.Member(), c.Members(), 9-r.Rank()/4)
				}
				return r.Finish()
			})
		})},
	}}, 2)
	if err != nil {
		t.Error(err)
	}
}

// Messages of event ranks allocate nothing once the structures have grown.
func TestEventRanksDoNotAllocate(t *testing.T) {
	const ranks, warm, measured = 64, 200, 1000
	type state struct {
		iteration int
		receives  [2]steps.Request
	}
	var before, after runtime.MemStats
	payload := make([]int64, 8)
	step := func(r *steps.Rank, s *state) steps.Outcome {
		left, right := (r.Rank()+ranks-1)%ranks, (r.Rank()+1)%ranks
		if s.iteration > 0 {
			for _, q := range s.receives {
				if r.StatusOf(q).Bytes != 64 || len(r.DataOf(q)) != 64 {
					t.Errorf("a message of 64 bytes comes as %+v with %d bytes", r.StatusOf(q), len(r.DataOf(q)))
				}
			}
		}
		if r.Rank() == 0 && s.iteration == warm {
			runtime.ReadMemStats(&before)
		}
		if s.iteration == warm+measured {
			if r.Rank() == 0 {
				runtime.ReadMemStats(&after)
			}
			return r.Finish()
		}
		s.iteration++
		s.receives = [2]steps.Request{r.Irecv(left, 0), r.Irecv(right, 1)}
		return r.Waitall(s.receives[0], s.receives[1], steps.Isend(r, payload, right, 0), steps.Isend(r, payload, left, 1))
	}
	_, err := simulate(t, mpivirt.Config{Target: target(t, "xt5", ranks), Watchdog: -1, Program: mpivirt.Program{
		Name: "halo", Forms: []mpivirt.Form{steps.Main(func() steps.Program { return steps.New(step) })},
	}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := float64(after.Mallocs-before.Mallocs) / measured; n > 0.001*ranks {
		t.Errorf("%.2f allocations for two messages of each of %d ranks, want none", n, ranks)
	}
}

// A rank that fails names its own last call of the step, not another rank's.
func TestFailureNamesItsOwnCall(t *testing.T) {
	p := eventScript(func(r *steps.Rank) steps.Outcome {
		if r.Rank() == 3 {
			return r.Fail(errors.New("no barrier for me"))
		}
		return r.Barrier()
	})
	for engines := 1; engines <= 3; engines++ {
		_, err := simulate(t, mpivirt.Config{Target: target(t, rendezvous, 4), Program: p}, engines)
		var failed *mpivirt.RankError
		if !errors.As(err, &failed) || failed.Rank != 3 || failed.Call != "" {
			t.Errorf("%d engines: %v, want a failure of rank 3 in no call", engines, err)
		}
	}
}

// What a step has asked to be timed is a collective of that step, not one that another
// rank enters later.
func TestTimedEndsWithTheStep(t *testing.T) {
	p := eventScript(
		func(r *steps.Rank) steps.Outcome {
			if r.Rank() == 0 {
				return r.Timed(0, "nothing").Recv(1, 0)
			}
			return r.SendSize(8, 0, 0)
		},
		func(r *steps.Rank) steps.Outcome { return r.Barrier() },
		func(r *steps.Rank) steps.Outcome { return r.Timed(1, "barrier").Barrier() },
	)
	for engines := 1; engines <= 2; engines++ {
		result, err := simulate(t, mpivirt.Config{Target: target(t, rendezvous, 2), Program: p}, engines)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range result.Iterations {
			if want := map[string]uint64{"barrier": 2}[it.Operation]; uint64(it.Count) != want {
				t.Errorf("%d engines: %q is timed %d times, want %d", engines, it.Operation, it.Count, want)
			}
		}
	}
}

// An allreduce that has begun before and ends after a blocking one leaves that one's
// result alone.
func TestResultsOfTwoAllreduces(t *testing.T) {
	const machine = `name: two-level
ranks_per_node: 2
network: {model: flat, latency: 1us, bandwidth: 1GB/s, eager_limit: 8}
`
	requests := make([]steps.Request, 8)
	p := eventScript(
		func(r *steps.Rank) steps.Outcome {
			many := make([]float64, 100)
			for i := range many {
				many[i] = 1
			}
			requests[r.Rank()] = steps.Iallreduce(r, many, mpivirt.Sum[float64]())
			return steps.Allreduce(r, []float64{2}, mpivirt.Sum[float64]())
		},
		func(r *steps.Rank) steps.Outcome {
			if got := steps.Result[float64](r); len(got) != 1 || got[0] != 16 {
				t.Errorf("rank %d: the blocking allreduce gives %v, want [16]", r.Rank(), got)
			}
			return r.Wait(requests[r.Rank()])
		},
		func(r *steps.Rank) steps.Outcome {
			if got := steps.ResultOf[float64](r, requests[r.Rank()]); len(got) != 100 || got[99] != 8 {
				t.Errorf("rank %d: the nonblocking allreduce gives %v, want 100 times 8", r.Rank(), got)
			}
			return r.Continue()
		},
	)
	for engines := 1; engines <= 2; engines++ {
		if _, err := simulate(t, mpivirt.Config{Target: target(t, machine, 8), Program: p}, engines); err != nil {
			t.Error(err)
		}
	}
}

// An allreduce of no elements has a result of no elements, not that of the one before.
func TestEventResultOfNothing(t *testing.T) {
	sum := mpivirt.Sum[int64]()
	allreduce := func(n int) func(r *steps.Rank) steps.Outcome {
		return func(r *steps.Rank) steps.Outcome {
			return steps.Allreduce(r, make([]int64, n), sum)
		}
	}
	for _, ranks := range []int{1, 2, 5} {
		for engines := 1; engines <= min(ranks, 4); engines++ {
			for _, i := range interpreters {
				program := eventScript(allreduce(3), func(r *steps.Rank) steps.Outcome {
					if got := steps.Result[int64](r); len(got) != 3 {
						t.Errorf("%d ranks, %d engines: %d elements, want 3", ranks, engines, len(got))
					}
					return allreduce(0)(r)
				}, func(r *steps.Rank) steps.Outcome {
					if got := steps.Result[int64](r); len(got) != 0 {
						t.Errorf("%d ranks, %d engines: %v, want nothing", ranks, engines, got)
					}
					return r.Continue()
				})
				if _, err := simulate(t, mpivirt.Config{Target: target(t, hockney, ranks), Collectives: i, Program: program}, engines); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// MPI 4.1, 3.10: the buffers of a Sendrecv must be disjoint.
func TestSendrecvOfSharedMemory(t *testing.T) {
	for engines := 1; engines <= 2; engines++ {
		for _, shift := range []int{0, 1, 3} {
			memory := func() ([]int32, []int32) { m := make([]int32, 8); return m[:4], m[shift : shift+4] }
			err := inside(t, 2, engines, false, func(r *mpivirt.Rank) error {
				out, in := memory()
				_, err := mpivirt.Sendrecv(r.World(), out, 1-r.Rank(), 0, in, 1-r.Rank(), 0)
				return err
			})
			if !errors.Is(err, mpivirt.ErrBuffer) {
				t.Errorf("%d engines, shifted by %d: %v", engines, shift, err)
			}
			_, err = simulate(t, mpivirt.Config{Target: target(t, hockney, 2), Program: eventScript(func(r *steps.Rank) steps.Outcome {
				out, in := memory()
				return steps.Sendrecv(r, out, 1-r.Rank(), 0, in, 1-r.Rank(), 0)
			})}, engines)
			if !errors.Is(err, mpivirt.ErrBuffer) {
				t.Errorf("%d engines, shifted by %d, event ranks: %v", engines, shift, err)
			}
		}
		err := inside(t, 2, engines, false, func(r *mpivirt.Rank) error {
			m := []int{r.Rank(), -1}
			_, err := mpivirt.Sendrecv(r.World(), m[:1], 1-r.Rank(), 0, m[1:], 1-r.Rank(), 0)
			if err == nil && m[1] != 1-r.Rank() {
				t.Errorf("neighbouring memory: rank %d has %v", r.Rank(), m)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// The numbers that stand for nobody are different ones; an inactive request has the
// empty status (MPI 4.1, 3.7.3), a receive from MPI_PROC_NULL that of nobody (3.10).
func TestNumbersOfNobody(t *testing.T) {
	names := map[int]string{}
	for name, n := range map[string]int{
		"NoMember": mpivirt.NoMember, "AnySource": mpivirt.AnySource, "AnyTag": mpivirt.AnyTag,
		"ProcNull": mpivirt.ProcNull, "Undefined": mpivirt.Undefined,
	} {
		if other, taken := names[n]; taken || n >= 0 {
			t.Errorf("%s is %d, as is %q", name, n, other)
		}
		names[n] = name
	}
	empty := mpivirt.Status{Source: mpivirt.AnySource, Tag: mpivirt.AnyTag}
	nobody := mpivirt.Status{Source: mpivirt.ProcNull, Tag: mpivirt.AnyTag}
	err := inside(t, 1, 1, false, func(r *mpivirt.Rank) error {
		w, none := r.World(), mpivirt.Request{}
		check := func(what string, got mpivirt.Status, err error, want mpivirt.Status) {
			if got != want || err != nil {
				t.Errorf("%s: %+v, %v, want %+v", what, got, err, want)
			}
		}
		status, err := none.Wait()
		check("Wait", status, err, empty)
		status, _, err = none.Test()
		check("Test", status, err, empty)
		_, status, err = mpivirt.Waitany([]mpivirt.Request{none})
		check("Waitany", status, err, empty)
		statuses, err := mpivirt.Waitall([]mpivirt.Request{none})
		check("Waitall", statuses[0], err, empty)
		status, err = mpivirt.Recv(w, []int{0}, mpivirt.ProcNull, 0)
		check("Recv", status, err, nobody)
		q, _ := w.IrecvSize(8, mpivirt.ProcNull, 0)
		status, err = q.Wait()
		check("Irecv", status, err, nobody)
		status, err = w.Probe(mpivirt.ProcNull, 0)
		check("Probe", status, err, nobody)
		status, _, err = w.Iprobe(mpivirt.ProcNull, 0)
		check("Iprobe", status, err, nobody)
		m, err := w.Mprobe(mpivirt.ProcNull, 0)
		check("Mprobe", m.Status, err, nobody)
		status, err = mpivirt.Mrecv(m, []int{0})
		check("Mrecv", status, err, nobody)
		status, err = mpivirt.Sendrecv(w, []int{1}, mpivirt.ProcNull, 0, []int{0}, mpivirt.ProcNull, 0)
		check("Sendrecv", status, err, nobody)
		q, _ = mpivirt.Isendrecv(w, []int{1}, mpivirt.ProcNull, 0, []int{0}, mpivirt.ProcNull, 0)
		status, err = q.Wait()
		check("Isendrecv", status, err, nobody)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A nil communicator, as Split gives for MPI_UNDEFINED, is MPI_ERR_COMM in every call.
func TestNilCommunicator(t *testing.T) {
	sum := mpivirt.Sum[int]()
	one, two := []int{1}, []int{0, 0}
	request := func(_ mpivirt.Request, err error) error { return err }
	status := func(_ mpivirt.Status, err error) error { return err }
	comm := func(_ *mpivirt.Comm, err error) error { return err }
	for name, call := range map[string]func(c *mpivirt.Comm) error{
		"Barrier":        (*mpivirt.Comm).Barrier,
		"Ibarrier":       func(c *mpivirt.Comm) error { return request(c.Ibarrier()) },
		"Bcast":          func(c *mpivirt.Comm) error { return mpivirt.Bcast(c, one, 0) },
		"Ibcast":         func(c *mpivirt.Comm) error { return request(mpivirt.Ibcast(c, one, 0)) },
		"Reduce":         func(c *mpivirt.Comm) error { return mpivirt.Reduce(c, one, two, sum, 0) },
		"Allreduce":      func(c *mpivirt.Comm) error { return mpivirt.Allreduce(c, one, two, sum) },
		"Gather":         func(c *mpivirt.Comm) error { return mpivirt.Gather(c, one, two, 0) },
		"Gatherv":        func(c *mpivirt.Comm) error { return mpivirt.Gatherv(c, one, two, []int{1}, 0) },
		"Scatter":        func(c *mpivirt.Comm) error { return mpivirt.Scatter(c, one, two, 0) },
		"Scatterv":       func(c *mpivirt.Comm) error { return mpivirt.Scatterv(c, one, []int{1}, two, 0) },
		"Allgather":      func(c *mpivirt.Comm) error { return mpivirt.Allgather(c, one, two) },
		"Allgatherv":     func(c *mpivirt.Comm) error { return mpivirt.Allgatherv(c, one, two, []int{1}) },
		"Alltoall":       func(c *mpivirt.Comm) error { return mpivirt.Alltoall(c, one, two) },
		"Alltoallv":      func(c *mpivirt.Comm) error { return mpivirt.Alltoallv(c, one, []int{1}, two, []int{1}) },
		"ReduceScatter":  func(c *mpivirt.Comm) error { return mpivirt.ReduceScatter(c, one, two, []int{1}, sum) },
		"Scan":           func(c *mpivirt.Comm) error { return mpivirt.Scan(c, one, two, sum) },
		"Exscan":         func(c *mpivirt.Comm) error { return mpivirt.Exscan(c, one, two, sum) },
		"CollectiveSize": func(c *mpivirt.Comm) error { return c.CollectiveSize(collectives.Barrier, 0, 0) },
		"Send":           func(c *mpivirt.Comm) error { return mpivirt.Send(c, one, 0, 0) },
		"Bsend":          func(c *mpivirt.Comm) error { return mpivirt.Bsend(c, one, 0, 0) },
		"Isend":          func(c *mpivirt.Comm) error { return request(mpivirt.Isend(c, one, 0, 0)) },
		"SendSize":       func(c *mpivirt.Comm) error { return c.SendSize(8, 0, 0) },
		"Recv":           func(c *mpivirt.Comm) error { return status(mpivirt.Recv(c, one, 0, 0)) },
		"Irecv":          func(c *mpivirt.Comm) error { return request(mpivirt.Irecv(c, one, 0, 0)) },
		"Sendrecv":       func(c *mpivirt.Comm) error { return status(mpivirt.Sendrecv(c, one, 0, 0, two, 0, 0)) },
		"Isendrecv":      func(c *mpivirt.Comm) error { return request(mpivirt.Isendrecv(c, one, 0, 0, two, 0, 0)) },
		"Probe":          func(c *mpivirt.Comm) error { return status(c.Probe(0, 0)) },
		"Iprobe":         func(c *mpivirt.Comm) error { _, _, err := c.Iprobe(0, 0); return err },
		"Mprobe":         func(c *mpivirt.Comm) error { _, err := c.Mprobe(0, 0); return err },
		"Improbe":        func(c *mpivirt.Comm) error { _, err := c.Improbe(0, 0); return err },
		"Start":          func(c *mpivirt.Comm) error { return mpivirt.SendInit(c, one, 0, 0).Start() },
		"Split":          func(c *mpivirt.Comm) error { return comm(c.Split(0, 0)) },
		"Dup":            func(c *mpivirt.Comm) error { return comm(c.Dup()) },
		"Create":         func(c *mpivirt.Comm) error { return comm(c.Create(nil)) },
		"Free":           (*mpivirt.Comm).Free,
		"Rank":           func(c *mpivirt.Comm) error { c.Rank(); return nil },
		"Size":           func(c *mpivirt.Comm) error { c.Size(); return nil },
		"Group":          func(c *mpivirt.Comm) error { c.Group(); return nil },
	} {
		err := inside(t, 2, 1, false, func(r *mpivirt.Rank) error {
			none, err := r.World().Split(mpivirt.Undefined, 0)
			if err != nil || none != nil {
				t.Errorf("Split gives %v, %v", none, err)
			}
			return call(none)
		})
		if !errors.Is(err, mpivirt.ErrComm) || strings.Contains(err.Error(), "panic") || !strings.Contains(err.Error(), "no communicator") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A slice that a rank has received into is its own, also after receives of messages that have only
// a size. The messages are there before their receives.
func TestReceivedSlicesStayTheRanks(t *testing.T) {
	mine := make([]int64, 8)
	first := func(r *steps.Rank) bool { return r.Rank() == 0 }
	program := eventScript(
		func(r *steps.Rank) steps.Outcome {
			if first(r) {
				return r.SendSize(64, 1, 0)
			}
			return r.Recv(0, 0)
		},
		func(r *steps.Rank) steps.Outcome {
			if first(r) {
				return steps.Send(r, fill(make([]int64, 8), 1), 1, 0)
			}
			return steps.Recv(r, mine, 0, 0)
		},
		func(r *steps.Rank) steps.Outcome {
			if first(r) {
				return steps.Send(r, fill(make([]int64, 8), 2), 1, 0)
			}
			return r.Recv(0, 0)
		},
		func(r *steps.Rank) steps.Outcome {
			if first(r) {
				return r.Continue()
			}
			if err := holds("Data", steps.Data[int64](r), 2); err != nil {
				return r.Fail(err)
			}
			return steps.Send(r, fill(make([]int64, 8), 3), 1, 1) // to itself, in a buffer of the engine
		},
		func(r *steps.Rank) steps.Outcome {
			if err := holds("the slice", mine, 1); !first(r) && err != nil {
				return r.Fail(err)
			}
			if first(r) {
				return r.Continue()
			}
			return r.Recv(1, 1)
		},
	)
	if _, err := simulate(t, mpivirt.Config{Target: target(t, "xt5", 2), Program: program}, 1); err != nil {
		t.Error(err)
	}
}
