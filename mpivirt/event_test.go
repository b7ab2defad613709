package mpivirt_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"gigarank/mpivirt"
)

// eventScript is an event program whose ranks go through the operations of a list, one
// after the other.
func eventScript(steps ...func(r *mpivirt.EventRank) mpivirt.Outcome) mpivirt.Program {
	return mpivirt.Program{Name: "script", Event: func() mpivirt.EventProgram {
		return mpivirt.Steps(func(r *mpivirt.EventRank, at *uint8) mpivirt.Outcome {
			if int(*at) == len(steps) {
				return r.Finish()
			}
			*at++
			return steps[*at-1](r)
		})
	}}
}

// What is wrong with a call of an event rank ends the program with an error of its
// class.
func TestFaultsOfEventRanks(t *testing.T) {
	stale, made := mpivirt.EventRequest(0), mpivirt.EventComm{}
	for _, c := range []struct {
		name  string
		class mpivirt.ErrorClass
		call  string
		steps []func(r *mpivirt.EventRank) mpivirt.Outcome
	}{
		{"destination", mpivirt.ErrRank, "Send", []func(r *mpivirt.EventRank) mpivirt.Outcome{
			func(r *mpivirt.EventRank) mpivirt.Outcome { return r.SendSize(8, 2, 0) },
		}},
		{"tag", mpivirt.ErrTag, "Irecv", []func(r *mpivirt.EventRank) mpivirt.Outcome{
			func(r *mpivirt.EventRank) mpivirt.Outcome { return r.Wait(r.Irecv(0, -5)) },
		}},
		{"root", mpivirt.ErrRoot, "Bcast", []func(r *mpivirt.EventRank) mpivirt.Outcome{
			func(r *mpivirt.EventRank) mpivirt.Outcome { return mpivirt.EventBcast(r, []int32{1}, 2) },
		}},
		{"room for the result", mpivirt.ErrBuffer, "Allgather", []func(r *mpivirt.EventRank) mpivirt.Outcome{
			func(r *mpivirt.EventRank) mpivirt.Outcome {
				return mpivirt.EventAllgather(r, []int32{1}, make([]int32, 1))
			},
		}},
		{"truncation", mpivirt.ErrTruncate, "Sendrecv", []func(r *mpivirt.EventRank) mpivirt.Outcome{
			func(r *mpivirt.EventRank) mpivirt.Outcome {
				return mpivirt.EventSendrecv(r, make([]byte, 2), 1-r.Rank(), 0, make([]byte, 1), 1-r.Rank(), 0)
			},
		}},
		{"a request that has been waited for", mpivirt.ErrRequest, "Wait", []func(r *mpivirt.EventRank) mpivirt.Outcome{
			func(r *mpivirt.EventRank) mpivirt.Outcome {
				if r.Rank() == 1 {
					return r.SendSize(8, 0, 0)
				}
				stale = r.Irecv(1, 0)
				return r.Wait(stale)
			},
			func(r *mpivirt.EventRank) mpivirt.Outcome { return r.Barrier() },
			func(r *mpivirt.EventRank) mpivirt.Outcome {
				if r.Rank() == 1 {
					return r.Continue() // to it, it is the request of another rank
				}
				return r.Wait(stale)
			},
		}},
		{"a request of another rank", mpivirt.ErrRequest, "Wait", []func(r *mpivirt.EventRank) mpivirt.Outcome{
			func(r *mpivirt.EventRank) mpivirt.Outcome {
				if r.Rank() == 0 {
					stale = r.Irecv(1, 0)
				}
				return r.Barrier()
			},
			func(r *mpivirt.EventRank) mpivirt.Outcome { return r.Wait(stale) },
		}},
		{"a communicator that has been freed", mpivirt.ErrComm, "Comm.Free", []func(r *mpivirt.EventRank) mpivirt.Outcome{
			func(r *mpivirt.EventRank) mpivirt.Outcome { return r.Dup() },
			func(r *mpivirt.EventRank) mpivirt.Outcome {
				made = r.Made(0)
				r.Free(made)
				return r.Barrier()
			},
			func(r *mpivirt.EventRank) mpivirt.Outcome {
				r.Free(made)
				return r.Continue()
			},
		}},
		{"no member", mpivirt.ErrComm, "Barrier", []func(r *mpivirt.EventRank) mpivirt.Outcome{
			func(r *mpivirt.EventRank) mpivirt.Outcome { return r.Split(r.Rank(), 0) },
			func(r *mpivirt.EventRank) mpivirt.Outcome { return r.On(r.Made(1 - r.Rank())).Barrier() },
		}},
		{"no such communicator", mpivirt.ErrComm, "Comm.Split", []func(r *mpivirt.EventRank) mpivirt.Outcome{
			func(r *mpivirt.EventRank) mpivirt.Outcome { return r.On(r.Made(7)).Barrier() },
		}},
		{"nothing matched", mpivirt.ErrRequest, "Recv", []func(r *mpivirt.EventRank) mpivirt.Outcome{
			func(r *mpivirt.EventRank) mpivirt.Outcome {
				return mpivirt.EventMrecv(r, r.Matched(), make([]byte, 1))
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
// nobody (MPI 4.1, 3.10 and 3.7.3).
func TestEventRanksWithNobody(t *testing.T) {
	nobody := mpivirt.Status{Source: mpivirt.ProcNull, Tag: mpivirt.AnyTag}
	check := func(what string, r *mpivirt.EventRank) {
		if r.Status() != nobody || !r.Found() || len(r.Data()) != 0 {
			t.Errorf("after %s: found %t, %+v", what, r.Found(), r.Status())
		}
	}
	_, err := simulate(t, mpivirt.Config{Target: target(t, rendezvous, 1), Program: eventScript(
		func(r *mpivirt.EventRank) mpivirt.Outcome { return r.SendSize(8, mpivirt.ProcNull, 0) },
		func(r *mpivirt.EventRank) mpivirt.Outcome { return r.Recv(mpivirt.ProcNull, 0) },
		func(r *mpivirt.EventRank) mpivirt.Outcome { check("Recv", r); return r.Iprobe(mpivirt.ProcNull, 0) },
		func(r *mpivirt.EventRank) mpivirt.Outcome { check("Iprobe", r); return r.Mprobe(mpivirt.ProcNull, 0) },
		func(r *mpivirt.EventRank) mpivirt.Outcome {
			check("Mprobe", r)
			return mpivirt.EventMrecv(r, r.Matched(), make([]byte, 1))
		},
		func(r *mpivirt.EventRank) mpivirt.Outcome { check("Mrecv", r); return r.Wait(0) },
		func(r *mpivirt.EventRank) mpivirt.Outcome { check("Wait", r); return r.Waitany(0, 0) },
		func(r *mpivirt.EventRank) mpivirt.Outcome {
			if check("Waitany", r); r.Index() != mpivirt.Undefined {
				t.Errorf("index %d of inactive requests", r.Index())
			}
			return r.Waitany(0, r.Irecv(mpivirt.ProcNull, 0))
		},
		func(r *mpivirt.EventRank) mpivirt.Outcome {
			if check("Waitany", r); r.Index() != 1 {
				t.Errorf("index %d of the only active request, want 1", r.Index())
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
		func(r *mpivirt.EventRank) mpivirt.Outcome {
			return mpivirt.EventSend(r, make([]byte, 101), 1-r.Rank(), 7)
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
		first mpivirt.EventComm
	}
	_, err := simulate(t, mpivirt.Config{Target: target(t, "xt5", 40), Program: mpivirt.Program{
		Name: "made", Event: func() mpivirt.EventProgram {
			return mpivirt.Steps(func(r *mpivirt.EventRank, s *state) mpivirt.Outcome {
				s.step++
				switch s.step {
				case 1:
					return r.Split(r.Rank()%2, 0)
				case 2:
					s.first = r.Made(r.Rank() % 2)
					return r.Dup()
				case 3:
					if r.On(s.first).Members() != 20 || r.On(r.Made(0)).Members() != 40 {
						t.Errorf("rank %d has communicators of %d and %d ranks, want 20 and 40", r.Rank(), r.On(s.first).Members(), r.On(r.Made(0)).Members())
					}
					return r.Split(r.Rank()%4, -r.Rank())
				}
				if c := r.On(r.Made(r.Rank() % 4)); c.Members() != 10 || c.Member() != 9-r.Rank()/4 {
					t.Errorf("rank %d is member %d of %d, want %d of 10", r.Rank(), c.Member(), c.Members(), 9-r.Rank()/4)
				}
				return r.Finish()
			})
		},
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
		receives  [2]mpivirt.EventRequest
	}
	var before, after runtime.MemStats
	payload := make([]int64, 8)
	step := func(r *mpivirt.EventRank, s *state) mpivirt.Outcome {
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
		s.receives = [2]mpivirt.EventRequest{r.Irecv(left, 0), r.Irecv(right, 1)}
		return r.Waitall(s.receives[0], s.receives[1], mpivirt.EventIsend(r, payload, right, 0), mpivirt.EventIsend(r, payload, left, 1))
	}
	_, err := simulate(t, mpivirt.Config{Target: target(t, "xt5", ranks), Program: mpivirt.Program{
		Name: "halo", Event: func() mpivirt.EventProgram { return mpivirt.Steps(step) },
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
	p := eventScript(func(r *mpivirt.EventRank) mpivirt.Outcome {
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
		func(r *mpivirt.EventRank) mpivirt.Outcome {
			if r.Rank() == 0 {
				return r.Timed(0, "nothing").Recv(1, 0)
			}
			return r.SendSize(8, 0, 0)
		},
		func(r *mpivirt.EventRank) mpivirt.Outcome { return r.Barrier() },
		func(r *mpivirt.EventRank) mpivirt.Outcome { return r.Timed(1, "barrier").Barrier() },
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
	requests := make([]mpivirt.EventRequest, 8)
	p := eventScript(
		func(r *mpivirt.EventRank) mpivirt.Outcome {
			many := make([]float64, 100)
			for i := range many {
				many[i] = 1
			}
			requests[r.Rank()] = mpivirt.EventIallreduce(r, many, mpivirt.Sum[float64]())
			return mpivirt.EventAllreduce(r, []float64{2}, mpivirt.Sum[float64]())
		},
		func(r *mpivirt.EventRank) mpivirt.Outcome {
			if got := mpivirt.EventResult[float64](r); len(got) != 1 || got[0] != 16 {
				t.Errorf("rank %d: the blocking allreduce gives %v, want [16]", r.Rank(), got)
			}
			return r.Wait(requests[r.Rank()])
		},
		func(r *mpivirt.EventRank) mpivirt.Outcome {
			if got := mpivirt.EventResultOf[float64](r, requests[r.Rank()]); len(got) != 100 || got[99] != 8 {
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
