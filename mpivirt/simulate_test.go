package mpivirt_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	stdsync "sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/network"
	"gigarank/sync"
	"gigarank/vtime"
)

// fewer lets the properties of a test, which takes long for each case, draw some cases where others draw a hundred, and in proportion where
// the command line has others draw fewer. Where it asks for more, they draw as many.
func fewer(t *testing.T, cases int) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	asked, err := strconv.Atoi(checks.Value.String())
	if err != nil {
		t.Fatal(err)
	}
	if asked > 100 {
		return
	}
	cases = max(cases*asked/100, 1)
	before := checks.Value.String()
	t.Cleanup(func() {
		if err := checks.Value.Set(before); err != nil {
			t.Error(err)
		}
	})
	if err := checks.Value.Set(strconv.Itoa(cases)); err != nil {
		t.Fatal(err)
	}
}

// target lays a machine out, given as a preset or as YAML text.
func target(t rapid.TB, machine string, ranks int) *network.Target {
	t.Helper()
	tgt, err := machineOf(t, machine).Target(int64(ranks))
	if err != nil {
		t.Fatal(err)
	}
	return tgt
}

// parsed are machines by their texts or names. Random machines come and go: all are dropped when there are many.
var parsed struct {
	lock     stdsync.Mutex
	machines map[string]*network.Machine
}

// machineOf returns the machine of a text, or a preset or file by its name.
func machineOf(t rapid.TB, machine string) *network.Machine {
	t.Helper()
	parsed.lock.Lock()
	m := parsed.machines[machine]
	parsed.lock.Unlock()
	if m != nil {
		return m
	}
	inFile := false
	m, err := network.Load(machine, func(name string) ([]byte, error) {
		text, err := os.ReadFile(name)
		inFile = err == nil
		return text, err
	})
	if err != nil {
		if m, err = network.Parse("test", []byte(machine), nil); err != nil {
			t.Fatal(err)
		}
	}
	if inFile {
		return m // the file may change
	}
	parsed.lock.Lock()
	defer parsed.lock.Unlock()
	if parsed.machines == nil || len(parsed.machines) >= 100 {
		parsed.machines = map[string]*network.Machine{}
	}
	parsed.machines[machine] = m
	return m
}

// simulate runs a program and unwinds the ranks that a failure has left.
func simulate(t rapid.TB, c mpivirt.Config, engines int) (*mpivirt.Result, error) {
	t.Helper()
	s := simulation(t, c, engines)
	defer s.Close()
	return s.Run()
}

func simulation(t rapid.TB, c mpivirt.Config, engines int) *mpivirt.Simulation {
	t.Helper()
	if c.Transports == nil {
		c.Transports = sync.NewInProcess(engines)
	}
	s, err := mpivirt.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Progress tells the virtual time, also of a program in which nothing depends on
// timing, so that no event of it is timed.
func TestProgressTellsVirtualTime(t *testing.T) {
	for _, main := range []func(r *mpivirt.Rank) error{
		func(r *mpivirt.Rank) error {
			r.Compute(vtime.Millisecond)
			return r.World().Barrier()
		},
		func(r *mpivirt.Rank) error {
			r.Compute(vtime.Millisecond)
			next, before := (r.Rank()+1)%r.Size(), (r.Rank()+r.Size()-1)%r.Size()
			_, err := mpivirt.Sendrecv(r.World(), []int{1}, next, 0, []int{0}, before, 0)
			return err
		},
	} {
		s, err := mpivirt.New(mpivirt.Config{
			Target: target(t, "gigabit-star", 64), Transports: sync.NewInProcess(2),
			Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Barrier: collectives.Dissemination},
			Program:    mpivirt.Program{Name: "timed", Forms: []mpivirt.Form{mpivirt.Main(main)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Run()
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Progress().Time; got != r.VirtualTime || got <= vtime.Time(vtime.Millisecond) {
			t.Errorf("progress says %v at the end, at %v", got, r.VirtualTime)
		}
	}
}

// One program of everything, on several engines.
func TestMixedProgram(t *testing.T) {
	first := ""
	for _, engines := range []int{1, 2, 3} {
		for _, strict := range []bool{false, true} {
			t.Run(fmt.Sprint(engines, strict), func(t *testing.T) {
				r, err := simulate(t, mpivirt.Config{
					Target: target(t, "xt5", 100), Strict: strict,
					Program: mpivirt.Program{Name: "mixed", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
						w := r.World()
						r.Compute(1000)
						if err := w.Barrier(); err != nil {
							return err
						}
						x := []float64{float64(r.Rank()), 1}
						y := make([]float64, 2)
						if err := mpivirt.Allreduce(w, x, y, mpivirt.Sum[float64]()); err != nil {
							return err
						}
						if y[0] != 99*50 || y[1] != 100 {
							return fmt.Errorf("sum is %v", y)
						}
						next, prev := (r.Rank()+1)%r.Size(), (r.Rank()+r.Size()-1)%r.Size()
						if err := mpivirt.Send(w, x, next, 5); err != nil {
							return err
						}
						if _, err := mpivirt.Recv(w, y, mpivirt.AnySource, 5); err != nil {
							return err
						}
						if y[0] != float64(prev) {
							return fmt.Errorf("got %v", y)
						}
						row, err := w.Split(r.Rank()%7, -r.Rank())
						if err != nil {
							return err
						}
						all := make([]float64, row.Size())
						if err := mpivirt.Allgather(row, x[:1], all); err != nil {
							return err
						}
						for i, v := range all {
							if int(v)%7 != r.Rank()%7 || i > 0 && v >= all[i-1] {
								return fmt.Errorf("row %v", all)
							}
						}
						if err := mpivirt.Bcast(row, x, 1); err != nil {
							return err
						}
						return nil
					})}},
				}, engines)
				if err != nil {
					t.Fatal(err)
				}
				if first == "" {
					first = r.Fingerprint
				}
				if r.Fingerprint != first || r.Finished != 100 {
					t.Errorf("fingerprint %s with %d ranks finished; one engine gave %s", r.Fingerprint, r.Finished, first)
				}
			})
		}
	}
}

// A run that has failed leaves no goroutine behind, however it has failed.
func TestFailedRunsLeaveNoGoroutines(t *testing.T) {
	machine, err := network.Parse("flat4", []byte(flat4), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, main := range map[string]func(r *mpivirt.Rank) error{
		"deadlock": func(r *mpivirt.Rank) error {
			if r.Rank() == 5 {
				return nil
			}
			return r.World().Barrier()
		},
		"error": func(r *mpivirt.Rank) error {
			if r.Rank() == 5 {
				return errors.New("no input")
			}
			return r.World().Barrier()
		},
		"abort":  func(r *mpivirt.Rank) error { r.Abort(3); return nil },
		"panic":  func(r *mpivirt.Rank) error { panic(r.Rank()) },
		"goexit": func(*mpivirt.Rank) error { runtime.Goexit(); return nil },
		"calls while it is unwound": func(r *mpivirt.Rank) error {
			defer func() { _ = r.World().Barrier() }()
			_, err := mpivirt.Recv(r.World(), []byte{0}, mpivirt.AnySource, 0)
			return err
		},
	} {
		before := runtime.NumGoroutine()
		for range 3 {
			if _, err := mpivirt.Simulate(machine, 100, main); err == nil {
				t.Errorf("%s: the run has not failed", name)
			}
		}
		// The goroutines of engines end by themselves once Simulate has what they return.
		for wait := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(wait); {
			runtime.Gosched()
		}
		if n := runtime.NumGoroutine(); n > before {
			t.Errorf("%s: %d goroutines stay of 3 runs of 100 ranks", name, n-before)
		}
	}
}
