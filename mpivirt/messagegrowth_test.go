package mpivirt_test

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"time"

	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// growth is a program whose cost must grow as its number n of messages, written for both
// kinds of ranks.
type growth struct {
	name  string
	ranks func(n int) int
	main  func(r *mpivirt.Rank, n int) error
	step  func(r *steps.Rank, s *growthState, n int) steps.Outcome
}

// growthState is the state of an event rank: the number of steps so far, and its requests.
type growthState struct {
	at       int
	over     int // requests that are complete
	requests []steps.Request
}

func many(n int) int { return n + 1 }
func two(int) int    { return 2 }

// late is the time after which all messages have arrived.
const late = vtime.Second

// lateReceives is a program in which rank 0 receives a message of each other rank after all
// have arrived. of returns the source and the tag of a receive, by its number.
func lateReceives(name string, of func(i, n int) (source, tag int)) growth {
	return growth{
		name: name, ranks: many,
		main: func(r *mpivirt.Rank, n int) error {
			if r.Rank() > 0 {
				return r.World().SendSize(8, 0, 0)
			}
			r.Compute(late)
			for i := range n {
				source, tag := of(i, n)
				if _, err := r.World().RecvSize(8, source, tag); err != nil {
					return err
				}
			}
			return nil
		},
		step: func(r *steps.Rank, s *growthState, n int) steps.Outcome {
			s.at++
			switch {
			case s.at == n+2 || r.Rank() > 0 && s.at == 2:
				return r.Finish()
			case r.Rank() > 0:
				return r.SendSize(8, 0, 0)
			case s.at == 1:
				r.Compute(late)
				return r.Continue()
			}
			return r.Recv(of(s.at-2, n))
		},
	}
}

// postedReceives is a program in which rank 0 posts receives of n tags, and rank 1 sends
// messages with these tags in reverse order. Rank 0 waits with the call given.
func postedReceives(name string, source int, wait func(r *mpivirt.Rank, q []mpivirt.Request) error,
	step func(r *steps.Rank, s *growthState, n int) steps.Outcome) growth {
	return growth{
		name: name, ranks: two,
		main: func(r *mpivirt.Rank, n int) error {
			if r.Rank() == 1 {
				r.Compute(late)
				for i := range n {
					if err := r.World().SendSize(8, 0, n-1-i); err != nil {
						return err
					}
				}
				return nil
			}
			requests := make([]mpivirt.Request, n)
			for i := range requests {
				var err error
				if requests[i], err = r.World().IrecvSize(8, source, i); err != nil {
					return err
				}
			}
			return wait(r, requests)
		},
		step: func(r *steps.Rank, s *growthState, n int) steps.Outcome {
			if r.Rank() == 0 {
				if s.requests == nil {
					for i := range n {
						s.requests = append(s.requests, r.Irecv(source, i))
					}
				}
				return step(r, s, n)
			}
			s.at++
			switch s.at {
			case 1:
				r.Compute(late)
				return r.Continue()
			case n + 2:
				return r.Finish()
			}
			return r.SendSize(8, 0, n+1-s.at)
		},
	}
}

func waitAll(r *mpivirt.Rank, q []mpivirt.Request) error {
	_, err := mpivirt.Waitall(q)
	return err
}

func waitAllStep(r *steps.Rank, s *growthState, n int) steps.Outcome {
	if s.at++; s.at == 2 {
		return r.Finish()
	}
	return r.Waitall(s.requests...)
}

func waitEach(r *mpivirt.Rank, q []mpivirt.Request) error {
	for range q {
		if _, _, err := mpivirt.Waitany(q); err != nil {
			return err
		}
	}
	return nil
}

func waitEachStep(r *steps.Rank, s *growthState, n int) steps.Outcome {
	if s.at > 0 {
		s.requests[r.Index()] = 0
	}
	if s.at++; s.at > n {
		return r.Finish()
	}
	return r.Waitany(s.requests...)
}

func waitSome(r *mpivirt.Rank, q []mpivirt.Request) error {
	for left := len(q); left > 0; {
		which, _, err := mpivirt.Waitsome(q)
		if err != nil {
			return err
		}
		left -= len(which)
	}
	return nil
}

func waitSomeStep(r *steps.Rank, s *growthState, n int) steps.Outcome {
	if s.at > 0 {
		for _, i := range r.Indices() {
			s.requests[i] = 0
			s.over++
		}
	}
	if s.at = 1; s.over == n {
		return r.Finish()
	}
	return r.Waitsome(s.requests...)
}

func testEach(r *mpivirt.Rank, q []mpivirt.Request) error {
	for left := len(q); left > 0; {
		_, _, found, err := mpivirt.Testany(q)
		if err != nil {
			return err
		}
		if found {
			left--
		}
	}
	return nil
}

func testEachStep(r *steps.Rank, s *growthState, n int) steps.Outcome {
	if s.at > 0 && r.Found() {
		s.requests[r.Index()] = 0
		s.over++
	}
	if s.at = 1; s.over == n {
		return r.Finish()
	}
	return r.Testany(s.requests...)
}

func waitOnceThenAll(r *mpivirt.Rank, q []mpivirt.Request) error {
	if _, _, err := mpivirt.Waitany(q); err != nil {
		return err
	}
	return waitAll(r, q)
}

func waitOnceThenAllStep(r *steps.Rank, s *growthState, n int) steps.Outcome {
	switch s.at++; s.at {
	case 1:
		return r.Waitany(s.requests...)
	case 2:
		s.requests[r.Index()] = 0
		return r.Waitall(s.requests...)
	}
	return r.Finish()
}

// tasks is the number of tasks of a worker.
const tasks = 4

// anyGrowths are the programs that wait for any of many requests.
var anyGrowths = []growth{
	postedReceives("posted, named, Waitany", 1, waitEach, waitEachStep),
	postedReceives("posted, any source, Waitany", mpivirt.AnySource, waitEach, waitEachStep),
	postedReceives("posted, named, Waitsome", 1, waitSome, waitSomeStep),
	postedReceives("posted, named, Testany", 1, testEach, testEachStep),
}

// growths are the others.
var growths = []growth{
	{
		name: "one sends to many", ranks: many,
		main: func(r *mpivirt.Rank, n int) error {
			if r.Rank() > 0 {
				_, err := r.World().RecvSize(8, 0, 0)
				return err
			}
			for i := range n {
				if err := r.World().SendSize(8, i+1, 0); err != nil {
					return err
				}
			}
			return nil
		},
		step: func(r *steps.Rank, s *growthState, n int) steps.Outcome {
			s.at++
			switch {
			case s.at > n || r.Rank() > 0 && s.at > 1:
				return r.Finish()
			case r.Rank() > 0:
				return r.Recv(0, 0)
			}
			return r.SendSize(8, s.at, 0)
		},
	},
	lateReceives("late, any source", func(i, n int) (int, int) { return mpivirt.AnySource, 0 }),
	lateReceives("late, any source and tag", func(i, n int) (int, int) { return mpivirt.AnySource, mpivirt.AnyTag }),
	lateReceives("late, named in reverse", func(i, n int) (int, int) { return n - i, 0 }),
	lateReceives("late, named in reverse, any tag", func(i, n int) (int, int) { return n - i, mpivirt.AnyTag }),
	lateReceives("late, named and any source in turn", func(i, n int) (int, int) {
		if i%2 == 0 {
			return n - i/2, 0
		}
		return mpivirt.AnySource, 0
	}),
	postedReceives("posted, named, arriving in reverse", 1, waitAll, waitAllStep),
	postedReceives("posted, any source, Waitall", mpivirt.AnySource, waitAll, waitAllStep),
	postedReceives("posted, named, one Waitany", 1, waitOnceThenAll, waitOnceThenAllStep),
	postedReceives("posted, any source, one Waitany", mpivirt.AnySource, waitOnceThenAll, waitOnceThenAllStep),
	{
		name: "master and workers", ranks: many,
		main: func(r *mpivirt.Rank, n int) error {
			c := r.World()
			if r.Rank() > 0 {
				for range tasks {
					if err := c.SendSize(8, 0, 0); err != nil {
						return err
					}
					if _, err := c.RecvSize(8, 0, 0); err != nil {
						return err
					}
					r.Compute(vtime.Duration(r.Rank()%100) * vtime.Microsecond)
				}
				return nil
			}
			for range n * tasks {
				status, err := c.RecvSize(8, mpivirt.AnySource, 0)
				if err != nil {
					return err
				}
				if err := c.SendSize(8, status.Source, 0); err != nil {
					return err
				}
			}
			return nil
		},
		step: func(r *steps.Rank, s *growthState, n int) steps.Outcome {
			s.at++
			switch {
			case r.Rank() == 0 && s.at > 2*n*tasks || r.Rank() > 0 && s.at > 3*tasks:
				return r.Finish()
			case r.Rank() == 0 && s.at%2 == 1:
				return r.Recv(mpivirt.AnySource, 0)
			case r.Rank() == 0:
				return r.SendSize(8, r.Status().Source, 0)
			case s.at%3 == 1:
				return r.SendSize(8, 0, 0)
			case s.at%3 == 2:
				return r.Recv(0, 0)
			}
			r.Compute(vtime.Duration(r.Rank()%100) * vtime.Microsecond)
			return r.Continue()
		},
	},
}

// program returns the program for one kind of rank.
func (g growth) program(n int, kind *mpivirt.Kind) mpivirt.Program {
	form := mpivirt.Main(func(r *mpivirt.Rank) error { return g.main(r, n) })
	if kind == steps.Kind {
		form = steps.Main(func() steps.Program {
			return steps.New(func(r *steps.Rank, s *growthState) steps.Outcome { return g.step(r, s, n) })
		})
	}
	return mpivirt.Program{Name: g.name, Forms: []mpivirt.Form{form}}
}

// cpuTime returns the CPU time of the process so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// run simulates the program with n messages and returns the CPU time that it took.
func (g growth) run(t testing.TB, n int, kind *mpivirt.Kind, machine string, strict bool) time.Duration {
	t.Helper()
	s := simulation(t, mpivirt.Config{Target: target(t, machine, g.ranks(n)), Program: g.program(n, kind), Strict: strict, Kind: kind}, 1)
	defer s.Close()
	before := cpuTime()
	if _, err := s.Run(); err != nil {
		t.Fatal(err)
	}
	return cpuTime() - before
}

// growthMachines are the machines by name: one on which a send takes no time, so that all of a
// sender's messages are under way together; a preset with overheads; one with processors.
var growthMachines = map[string]string{
	"flat":            "name: flat\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n",
	"gigabit-star":    "gigabit-star",
	"loggops-default": "loggops-default",
}

// The cost of a message does not grow with the number of messages.
func TestCostOfAMessageStaysConstant(t *testing.T) {
	if testing.Short() {
		t.Skip("one engine: nothing for the race detector, which changes the times")
	}
	for _, machine := range []string{"flat", "loggops-default"} {
		for _, g := range slices.Concat(growths, anyGrowths) {
			t.Run(machine+"/"+g.name, func(t *testing.T) {
				for _, kind := range []*mpivirt.Kind{steps.Kind, mpivirt.Goroutine} {
					for _, strict := range []bool{false, true} {
						staysConstant(t, fmt.Sprintf("%v ranks, strict %v", kind, strict), 500, func(n int) time.Duration {
							return g.run(t, n, kind, growthMachines[machine], strict)
						})
					}
				}
			})
		}
	}
}

// staysConstant reports a fault if run(n), the CPU time of n elements, does not grow as n: eight times as many elements take
// eight times the time, where a look at all elements for each would take 64 times. Caches that hold only the fewer
// elements may have it twice and more. What else the process and its host do only adds to a time: the least of a few runs
// counts, and no collection falls into a run.
func staysConstant(t *testing.T, name string, n int, run func(n int) time.Duration) {
	t.Helper()
	const more, most, attempts = 8, 24, 4
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	few, many := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for try := 0; try == 0 || try < attempts && many > most*few; try++ {
		runtime.GC()
		few, many = min(few, run(n)), min(many, run(more*n))
	}
	t.Logf("%s: %.2f us for each of %d, %.2f us for each of %d", name, few.Seconds()*1e6/float64(n), n, many.Seconds()*1e6/float64(more*n), more*n)
	if many > most*few {
		t.Errorf("%s: %d take %v of CPU time, %d take %v", name, n, few, more*n, many)
	}
}

// Ranks that send and end take no stacks beside each other: one takes over that of another. They end
// without a wait, also where their processors send later.
func TestRanksThatEndLeaveTheirStacks(t *testing.T) {
	for machine, file := range growthMachines {
		const n = 500
		before, after := runtime.NumGoroutine(), 0
		main := func(r *mpivirt.Rank) error {
			switch r.Rank() {
			case 0:
				for range n {
					if _, err := r.World().RecvSize(8, mpivirt.AnySource, 0); err != nil {
						return err
					}
				}
				return nil
			case n:
				after = runtime.NumGoroutine()
			}
			return r.World().SendSize(8, 0, 0)
		}
		if _, err := simulate(t, mpivirt.Config{Target: target(t, file, n+1), Program: mpivirt.Program{Name: "end", Forms: []mpivirt.Form{mpivirt.Main(main)}}}, 1); err != nil {
			t.Fatal(err)
		}
		if after > before+10 {
			t.Errorf("%s: %d goroutines when the last of %d ranks begins, %d before the run", machine, after, n+1, before)
		}
	}
}

// BenchmarkGrowth measures the CPU time of a message at several sizes.
func BenchmarkGrowth(b *testing.B) {
	for _, machine := range []string{"flat", "gigabit-star", "loggops-default"} {
		for _, kind := range []*mpivirt.Kind{mpivirt.Goroutine, steps.Kind} {
			for _, g := range slices.Concat(growths, anyGrowths) {
				for _, n := range []int{1000, 10_000, 100_000, 1_000_000} {
					b.Run(fmt.Sprintf("%s/%s/%s/%d", machine, kind.Name, g.name, n), func(b *testing.B) {
						for range b.N {
							b.ReportMetric(float64(g.run(b, n, kind, growthMachines[machine], false))/float64(n), "cpu-ns/message")
						}
					})
				}
			}
		}
	}
}
