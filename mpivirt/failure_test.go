package mpivirt_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/engine"
	"gigarank/mpivirt"
	"gigarank/mpivirt/internal/world"
	"gigarank/mpivirt/steps"
	"gigarank/network"
	"gigarank/sync"
	"gigarank/vtime"
)

// flat4 is a machine on which everything takes a microsecond and a little.
const flat4 = "name: flat4\nranks_per_node: 2\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, eager_limit: 100}\n"

// everywhere runs a program on 1 to 4 engines, under every protocol, strictly and not,
// and calls see with the name of each run and what it gave.
func everywhere(t *testing.T, ranks int, p mpivirt.Program, see func(name string, r *mpivirt.Result, err error)) {
	t.Helper()
	for _, form := range p.Forms {
		for engines := 1; engines <= 4; engines++ {
			for _, protocol := range []engine.Protocol{sync.Hybrid, sync.Null, sync.Conditional} {
				for _, strict := range []bool{false, true} {
					s, err := mpivirt.New(mpivirt.Config{
						Target: target(t, flat4, ranks), Program: p, Kind: form.Kind(), Protocol: protocol, Strict: strict,
						Transports: sync.NewInProcess(engines),
					})
					if err != nil {
						t.Fatal(err)
					}
					r, err := s.Run()
					s.Close()
					see(fmt.Sprintf("%v, %d engines, %v, strict %t", form.Kind(), engines, protocol, strict), r, err)
				}
			}
		}
	}
}

// failsAs checks that a program fails in the same way everywhere: at a rank, an instant
// and a call, with so many ranks finished before, and an error that says something.
func failsAs(t *testing.T, ranks int, p mpivirt.Program, want mpivirt.RankError, finished uint64, says ...string) {
	t.Helper()
	everywhere(t, ranks, p, func(name string, r *mpivirt.Result, err error) {
		var f *mpivirt.RankError
		switch {
		case !errors.As(err, &f):
			t.Errorf("%s: got %v, want a *RankError", name, err)
		case f.Rank != want.Rank || f.Time != want.Time || f.Call != want.Call:
			t.Errorf("%s: %q, want rank %d at %v in %q", name, firstLine(err), want.Rank, want.Time, want.Call)
		case r.Finished != finished || r.Complete:
			t.Errorf("%s: %d ranks finished, complete %t; want %d", name, r.Finished, r.Complete, finished)
		}
		for _, text := range says {
			if err != nil && !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %q does not say %q", name, firstLine(err), text)
			}
		}
	})
}

func us(n int) vtime.Duration { return vtime.Duration(n) * vtime.Microsecond }

func at(n int) vtime.Time { return vtime.Time(us(n)) }

// ofEveryKind makes a program in the form for every kind: each rank computes for a time of
// its own, then fails or ends.
func ofEveryKind(compute func(rank int) vtime.Duration, fails func(rank int) error) mpivirt.Program {
	return mpivirt.Program{
		Name: "every kind",
		Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			r.Compute(compute(r.Rank()))
			return fails(r.Rank())
		}),
			steps.Main(func() steps.Program {
				return steps.New(func(r *steps.Rank, _ *struct{}) steps.Outcome {
					r.Compute(compute(r.Rank()))
					if err := fails(r.Rank()); err != nil {
						return r.Fail(err)
					}
					return r.Finish()
				})
			}),
			listing{calls: func(rank int) []call {
				return []call{{op: op{name: "compute", duration: compute(rank)}}, failWith(fails(rank))}
			}}},
	}
}

// Of several failures the least one in the order of (virtual time, rank) is named, and
// the ranks that have ended before it have finished.
func TestTheLeastFailureIsNamed(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	for _, c := range []struct {
		name     string
		ranks    int
		compute  func(rank int) vtime.Duration
		fails    func(rank int) bool
		want     mpivirt.RankError
		finished uint64
	}{
		{"all at once", 9, func(int) vtime.Duration { return us(3) }, func(int) bool { return true }, mpivirt.RankError{Rank: 0, Time: at(3)}, 0},
		{"the last first", 9, func(rank int) vtime.Duration { return us(9 - rank) }, func(int) bool { return true }, mpivirt.RankError{Rank: 8, Time: at(1)}, 0},
		{"the middle one", 9, func(rank int) vtime.Duration { return us((rank-4)*(rank-4) + 1) }, func(int) bool { return true }, mpivirt.RankError{Rank: 4, Time: at(1)}, 0},
		{"others end before and after", 9, func(rank int) vtime.Duration { return us(rank) }, func(rank int) bool { return rank == 3 }, mpivirt.RankError{Rank: 3, Time: at(3)}, 3},
		{"at one instant", 9, func(rank int) vtime.Duration { return us(1) }, func(rank int) bool { return rank%4 == 2 }, mpivirt.RankError{Rank: 2, Time: at(1)}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			failsAs(t, c.ranks, ofEveryKind(c.compute, func(rank int) error {
				if c.fails(rank) {
					return bad
				}
				return nil
			}), c.want, c.finished, "bad")
		})
	}
}

// A failure beyond another one does not show, though its rank runs first on the host,
// and though the lesser one comes about only by messages that have to travel.
func TestAFailureWaitsForLesserOnes(t *testing.T) {
	failsAs(t, 8, mpivirt.Program{Name: "relay", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
		w, buffer := r.World(), make([]byte, 1)
		if r.Rank() == 0 { // runs first on every host
			r.Compute(us(1000))
			return errors.New("late")
		}
		if r.Rank() > 1 {
			if _, err := mpivirt.Recv(w, buffer, mpivirt.AnySource, 0); err != nil {
				return err
			}
		}
		if r.Rank() == r.Size()-1 {
			r.Abort(7)
		}
		r.Compute(us(1))
		return mpivirt.Send(w, buffer, r.Rank()+1, 0)
	}), listing{calls: func(rank int) []call {
		next := fmt.Sprintf("send peer=%d bytes=1", rank+1)
		switch rank {
		case 0:
			return append(calls("compute for=1ms"), failWith(errors.New("late")))
		case 1:
			return calls("compute for=1us", next)
		case 7:
			return append(calls(anyByte), failWith(world.Aborted(7)))
		}
		return calls(anyByte, "compute for=1us", next)
	}}}},
		// Rank 1 sends at 1us; each message takes 1.001us, each of the ranks 2 to 6 computes 1us.
		mpivirt.RankError{Rank: 7, Time: at(6).Add(6 * 1001 * vtime.Nanosecond), Call: "Recv"}, 6, "Abort with code 7")
}

// A deadlock that follows from a failure is reported as the failure.
func TestADeadlockAfterAFailureIsTheFailure(t *testing.T) {
	scripted := map[string]call{
		"error": failWith(errors.New("no more")), "abort": failWith(world.Aborted(3)), "invalid": calls("send peer=99 bytes=1")[0],
	}
	for name, end := range map[string]func(r *mpivirt.Rank) error{
		"error":   func(*mpivirt.Rank) error { return errors.New("no more") },
		"panic":   func(*mpivirt.Rank) error { panic("no more") },
		"abort":   func(r *mpivirt.Rank) error { r.Abort(3); return nil },
		"invalid": func(r *mpivirt.Rank) error { return mpivirt.Send(r.World(), []byte{1}, 99, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			want := mpivirt.RankError{Rank: 5, Time: at(2), Call: map[string]string{"invalid": "Send"}[name]}
			forms := []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				r.Compute(us(2))
				if r.Rank() == 5 {
					return end(r)
				}
				if r.Rank()%2 == 0 {
					_, err := mpivirt.Recv(r.World(), make([]byte, 1), 5, 0)
					return err
				}
				return r.World().Barrier()
			})}
			if last, has := scripted[name]; has {
				forms = append(forms, listing{calls: func(rank int) []call {
					list := calls("compute for=2us", []string{"recv peer=5 bytes=1", "barrier"}[rank%2])
					if rank == 5 {
						list[1] = last
					}
					return list
				}})
			}
			failsAs(t, 8, mpivirt.Program{Name: name, Forms: forms}, want, 0)
		})
	}
}

// Whatever ranks do, all hostings agree on the failure and on who has finished.
func TestFailuresOfRandomPrograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(2, 9).Draw(t, "ranks")
		steps := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 12).Draw(t, "steps")
		delays := rapid.SliceOfN(rapid.IntRange(0, 4000), ranks, ranks).Draw(t, "delays")
		failing := rapid.SliceOfN(rapid.IntRange(-12, len(steps)-1), ranks, ranks).Draw(t, "failing")
		main := func(r *mpivirt.Rank) error {
			w, buffer := r.World(), make([]byte, 8)
			next, before := (r.Rank()+1)%ranks, (r.Rank()+ranks-1)%ranks
			for i, step := range steps {
				r.Compute(vtime.Duration(delays[(r.Rank()*7+i)%ranks]) * vtime.Nanosecond)
				if failing[r.Rank()] == i {
					return fmt.Errorf("step %d", i)
				}
				var err error
				switch step {
				case 0:
					err = w.Barrier()
				case 1:
					_, err = mpivirt.Sendrecv(w, buffer, next, 0, buffer[:4:4], before, 0)
				case 2:
					if err = mpivirt.Send(w, buffer, next, 1); err == nil {
						_, err = mpivirt.Recv(w, buffer, mpivirt.AnySource, 1)
					}
				case 3:
					err = mpivirt.Bcast(w, buffer, i%ranks)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}
		first := ""
		for engines := 1; engines <= 4; engines++ {
			for _, strict := range []bool{false, true} {
				r, err := simulate(t, mpivirt.Config{
					Target: target(t, flat4, ranks), Strict: strict, Program: mpivirt.Program{Name: "random", Forms: []mpivirt.Form{mpivirt.Main(main)}},
				}, engines)
				got := fmt.Sprint(err, r.Finished, r.Fingerprint, r.VirtualTime, r.Finish)
				if first == "" {
					first = got
				}
				if got != first {
					t.Fatalf("%d engines, strict %t: %s\none engine: %s", engines, strict, got, first)
				}
			}
		}
	})
}

// Goexit, as in t.Fatal, ends the run and names the rank; Close runs the
// deferred calls.
func TestGoexitIsAFailure(t *testing.T) {
	unwound := make(chan int, 1000)
	failsAs(t, 6, mpivirt.Program{Name: "goexit", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
		defer func() { unwound <- r.Rank() }()
		r.Compute(us(1))
		if r.Rank() == 4 {
			if err := mpivirt.Send(r.World(), []byte{1}, 5, 0); err != nil {
				return err
			}
			runtime.Goexit()
		}
		return r.World().Barrier()
	})}}, mpivirt.RankError{Rank: 4, Time: at(1), Call: "Send"}, 0, "Goexit")
	counts := map[int]int{}
	for range len(unwound) {
		counts[<-unwound]++
	}
	if counts[4] != 4*3*2 {
		t.Errorf("deferred calls by rank: %v, want those of rank 4 in each of %d runs", counts, 4*3*2)
	}
	failsAs(t, 6, mpivirt.Program{Name: "goexit", Forms: []mpivirt.Form{steps.Main(func() steps.Program {
		return steps.New(func(r *steps.Rank, _ *struct{}) steps.Outcome {
			r.Compute(us(1))
			if r.Rank() == 4 {
				runtime.Goexit()
			}
			return r.Barrier()
		})
	})}}, mpivirt.RankError{Rank: 4, Time: at(1)}, 0, "Goexit")
}

// What is wrong with the steps of an event rank is found at once, and the rank, its time
// and the call are named.
func TestWrongStepsAreNamed(t *testing.T) {
	kept := steps.Outcome(0)
	for _, c := range []struct {
		name string
		call string
		step func(r *steps.Rank) steps.Outcome
		says string
	}{
		{"zero", "", func(*steps.Rank) steps.Outcome { return 0 }, "of no operation"},
		{"zero after an operation", "Barrier", func(r *steps.Rank) steps.Outcome { r.Barrier(); return 0 }, "another Outcome"},
		{"a Barrier dropped", "Barrier", func(r *steps.Rank) steps.Outcome { r.Barrier(); return r.Continue() }, "dropped"},
		{"a Recv dropped", "Recv", func(r *steps.Rank) steps.Outcome { r.Recv(1, 0); return r.Finish() }, "dropped"},
		{"a Continue dropped", "", func(r *steps.Rank) steps.Outcome { r.Continue(); return r.Finish() }, "dropped"},
		{"two barriers", "Barrier", func(r *steps.Rank) steps.Outcome { r.Barrier(); return r.Barrier() }, "calls Barrier"},
		{"two sends", "Send", func(r *steps.Rank) steps.Outcome { r.SendSize(1, 0, 0); return r.SendSize(1, 0, 0) }, "calls Send"},
		{"a send and an allreduce", "Send", func(r *steps.Rank) steps.Outcome {
			r.SendSize(1, 0, 0)
			return steps.Allreduce(r, []int64{1}, mpivirt.Sum[int64]())
		}, "calls Allreduce"},
		{"a barrier and a nonblocking send", "Barrier", func(r *steps.Rank) steps.Outcome {
			o := r.Barrier()
			r.IsendSize(1, 0, 0)
			return o
		}, "calls Isend"},
		{"a barrier and a wait for nothing", "Barrier", func(r *steps.Rank) steps.Outcome {
			r.Barrier()
			return r.Waitall()
		}, "calls Waitall"},
		{"an Outcome of another step", "", func(*steps.Rank) steps.Outcome { return kept }, "of no operation"},
		{"a recover", "Send", func(r *steps.Rank) steps.Outcome {
			func() {
				defer func() { _ = recover() }()
				r.SendSize(1, 99, 0)
			}()
			return r.Continue()
		}, "recover()"},
	} {
		t.Run(c.name, func(t *testing.T) {
			program := mpivirt.Program{Name: c.name, Forms: []mpivirt.Form{steps.Main(func() steps.Program {
				return steps.New(func(r *steps.Rank, step *int8) steps.Outcome {
					if *step++; *step == 1 {
						r.Compute(us(5 - 4*(r.Rank()/2)))
						o := r.Continue()
						if r.Rank() == 2 {
							kept = o
						}
						return o
					}
					if r.Rank() == 2 {
						return c.step(r)
					}
					if *step > 3 {
						return r.Finish()
					}
					return r.Barrier()
				})
			})}}
			failsAs(t, 3, program, mpivirt.RankError{Rank: 2, Time: at(1), Call: c.call}, 0, c.says, "docs/programs.md")
		})
	}
}

// A rank that recovers from the panic by which an MPI error ends it is ended all the
// same, and the error says so.
func TestARecoverDoesNotKeepARank(t *testing.T) {
	for name, after := range map[string]func(r *mpivirt.Rank) error{
		"and ends":           func(*mpivirt.Rank) error { return nil },
		"and fails":          func(*mpivirt.Rank) error { return errors.New("something else") },
		"and waits":          func(r *mpivirt.Rank) error { return r.World().Barrier() },
		"and waits for ever": func(r *mpivirt.Rank) error { _, err := mpivirt.Recv(r.World(), []byte{0}, 1, 9); return err },
	} {
		t.Run(name, func(t *testing.T) {
			failsAs(t, 4, mpivirt.Program{Name: name, Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				r.Compute(us(1 + r.Rank()))
				if r.Rank() == 0 {
					func() {
						defer func() { _ = recover() }()
						r.Abort(5)
					}()
					return after(r)
				}
				return r.World().Barrier()
			})}}, mpivirt.RankError{Rank: 0, Time: at(1)}, 0, "Abort with code 5", "recover()")
		})
	}
}

// What is wrong with a configuration, or with the use of a simulation, is an error.
func TestMisuseOfASimulation(t *testing.T) {
	main := func(*mpivirt.Rank) error { return nil }
	if _, err := mpivirt.Simulate(nil, 4, main); err == nil || !strings.Contains(err.Error(), "no machine") {
		t.Errorf("a nil machine gives %v", err)
	}
	machine, err := network.Parse("test", []byte(flat4), nil)
	if err != nil {
		t.Fatal(err)
	}
	for ranks, says := range map[int]string{0: "0 ranks", -3: "-3 ranks"} {
		if _, err := mpivirt.Simulate(machine, ranks, main); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%d ranks give %v", ranks, err)
		}
	}
	config := mpivirt.Config{Target: target(t, flat4, 4), Program: mpivirt.Program{Name: "nothing", Forms: []mpivirt.Form{mpivirt.Main(main)}}}
	for name, transports := range map[string][]engine.Transport{
		"no transport": sync.NewInProcess(0), "transport 1 of 2 is nil": {sync.NewInProcess(1)[0], nil},
	} {
		config.Transports = transports
		if _, err := mpivirt.New(config); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: New gives %v", name, err)
		}
	}
	config.Transports = sync.NewInProcess(2)
	s, err := mpivirt.New(config)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.Run(); err != nil || r.Finished != 4 {
		t.Fatalf("%d ranks finished: %v", r.Finished, err)
	}
	if r, err := s.Run(); err == nil || r == nil || r.Complete || !strings.Contains(err.Error(), "run already") {
		t.Errorf("a second Run gives %+v, %v", r, err)
	}
}
