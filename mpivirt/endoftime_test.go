package mpivirt_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/vtime"
)

// failure returns the rank's error that a run ends with.
func failure(t rapid.TB, c mpivirt.Config, engines int) *mpivirt.RankError {
	t.Helper()
	_, err := simulate(t, c, engines)
	var failed *mpivirt.RankError
	if !errors.As(err, &failed) {
		t.Fatalf("the run ends with %v, want the error of a rank", err)
	}
	return failed
}

const endOfTime = "9223372.036854775807s"

// Virtual time is 63 bits of picoseconds. A clock that would pass its end ends the run
// with the rank, its call and what would pass the end, whoever carries it out.
func TestTheEndOfTimeIsAnError(t *testing.T) {
	const late = vtime.Duration(vtime.Forever) - 100*vtime.Microsecond
	slow := "name: slow\nranks_per_node: 2\nnetwork: {model: twolevel, intra: {latency: 1us, bandwidth: 1B/s}, inter: {latency: 1us, bandwidth: 1B/s}, eager_limit: %d}\n"
	eager, rendezvous := fmt.Sprintf(slow, 1<<40), fmt.Sprintf(slow, 100)
	ports := "name: ports\nnetwork: {model: flat, latency: 1us, overhead: {send: 60us, receive: 60us}}\n"
	bcast := exercise{op: collectives.Bcast, members: 4, count: 30, whole: true}
	pair := func(r *mpivirt.Rank, mine, others func() error) error {
		switch r.Rank() {
		case 0:
			return mine()
		case 1:
			return others()
		}
		return nil
	}
	for _, c := range []struct {
		name, machine string
		ranks         []int // that may be named
		call, added   string
		main          func(r *mpivirt.Rank) error
	}{
		{"compute", "xt5", []int{0, 1, 2, 3}, "Compute", "9000000s of computing", func(r *mpivirt.Rank) error {
			r.Compute(9e6 * vtime.Second)
			r.Compute(9e6 * vtime.Second)
			return nil
		}},
		{"an eager message", eager, []int{0}, "Send", "a message of 1073741824 bytes to rank 1", func(r *mpivirt.Rank) error {
			return pair(r, func() error { return r.World().SendSize(1<<30, 1, 0) }, func() error {
				_, err := r.World().RecvSize(1<<30, 0, 0)
				return err
			})
		}},
		{"a rendezvous", rendezvous, []int{0}, "Isend", "a message of 1073741824 bytes to rank 1", func(r *mpivirt.Rank) error {
			return pair(r, func() error {
				q, err := r.World().IsendSize(1<<30, 1, 0)
				if err == nil {
					_, err = q.Wait()
				}
				return err
			}, func() error {
				_, err := r.World().RecvSize(1<<30, mpivirt.AnySource, 0)
				return err
			})
		}},
		{"a rendezvous with a late receive", rendezvous, []int{1}, "Recv", "a message of 200 bytes from rank 0", func(r *mpivirt.Rank) error {
			return pair(r, func() error { return r.World().SendSize(200, 1, 0) }, func() error {
				r.Compute(late)
				_, err := r.World().RecvSize(200, 0, 0)
				return err
			})
		}},
		{"ACK where progress is made in calls", "name: calls\nnetwork: {model: flat, latency: 101us, eager_limit: 100, progress: calls}\n", []int{1}, "Recv", "a message of 200 bytes from rank 0", func(r *mpivirt.Rank) error {
			return pair(r, func() error { return r.World().SendSize(200, 1, 0) }, func() error {
				r.Compute(late)
				_, err := r.World().RecvSize(200, 0, 0)
				return err
			})
		}},
		{"ACK for a nonblocking receive where progress is made in calls", "name: calls\nnetwork: {model: flat, latency: 101us, eager_limit: 100, progress: calls}\n", []int{1}, "Irecv", "a message of 200 bytes from rank 0", func(r *mpivirt.Rank) error {
			start := func(q mpivirt.Request, err error) error {
				if err == nil {
					r.Compute(late)
					_, err = q.Wait()
				}
				return err
			}
			return pair(r, func() error { return start(r.World().IsendSize(200, 1, 0)) }, func() error { return start(r.World().IrecvSize(200, 0, 0)) })
		}},
		{"ACK of a nonblocking collective where progress is made in calls", "name: calls\nnetwork: {model: flat, latency: 101us, eager_limit: 100, progress: calls}\n", []int{1, 2, 3}, "Bcast", "a message of 240 bytes from rank 0", func(r *mpivirt.Rank) error {
			r.Compute(late - vtime.Duration(r.Rank())*vtime.Nanosecond - 100*vtime.Microsecond)
			q, err := bcast.arguments(r.Rank()).begin(r.World())
			if err == nil {
				_, err = q.Wait()
			}
			return err
		}},
		{"the match of a synchronous message", "name: far\nnetwork: {model: flat, latency: 101us}\n", []int{1}, "Recv", "a message of 0 bytes from rank 0", func(r *mpivirt.Rank) error {
			return pair(r, func() error { return r.World().SsendSize(0, 1, 0) }, func() error {
				r.Compute(late)
				_, err := r.World().RecvSize(0, 0, 0)
				return err
			})
		}},
		{"the match of a synchronous message where progress is made in calls", "name: calls\nnetwork: {model: flat, latency: 101us, progress: calls}\n", []int{1}, "Recv", "a message of 0 bytes from rank 0", func(r *mpivirt.Rank) error {
			return pair(r, func() error { return r.World().SsendSize(0, 1, 0) }, func() error {
				r.Compute(late)
				_, err := r.World().RecvSize(0, 0, 0)
				return err
			})
		}},
		{"the overhead of a send", ports, []int{0}, "Send", "a message of 0 bytes to rank 1", func(r *mpivirt.Rank) error {
			return pair(r, func() error {
				r.Compute(late)
				_ = r.World().SendSize(0, 1, 0)
				return r.World().SendSize(0, 1, 0)
			}, func() error { return nil })
		}},
		{"the overhead of a receive", ports, []int{1}, "Recv", "a message of 0 bytes from rank 0", func(r *mpivirt.Rank) error {
			return pair(r, func() error { return r.World().SendSize(0, 1, 0) }, func() error {
				r.Compute(late + 50*vtime.Microsecond)
				_, err := r.World().RecvSize(0, 0, 0)
				return err
			})
		}},
		{"polls", "xt5", []int{1}, "Test", "a poll", func(r *mpivirt.Rank) error {
			return pair(r, func() error { return nil }, func() error {
				q, err := r.World().IrecvSize(0, 0, 0)
				if err != nil {
					return err
				}
				r.Compute(late)
				for range 2000 {
					if _, done, err := q.Test(); done || err != nil {
						return err
					}
				}
				return nil
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			first := ""
			eachHost(t, 4, func(h host) {
				err := failure(t, mpivirt.Config{
					Target: target(t, c.machine, 4), Strict: h.Strict, Protocol: h.Protocol, Collectives: h.Collectives,
					Program: mpivirt.Program{Name: "late", Forms: []mpivirt.Form{mpivirt.Main(c.main)}},
				}, h.Engines)
				text := err.Error()
				if first == "" {
					first = text
				}
				if text != first {
					t.Errorf("%+v: %s; elsewhere %s", h, text, first)
				}
				if err.Call != c.call || !strings.Contains(text, c.added) || !strings.Contains(text, endOfTime) || strings.Contains(text, "forever") {
					t.Errorf("%+v: %v; want %s and %s", h, text, c.call, c.added)
				}
				named := false
				for _, rank := range c.ranks {
					named = named || err.Rank == rank
				}
				if !named {
					t.Errorf("%+v: rank %d is named, want one of %v", h, err.Rank, c.ranks)
				}
			})
		})
	}
}

// drawUninterrupted draws a machine on which a program takes the same time whenever it begins: interruptions fall at instants of their own.
func drawUninterrupted(t *rapid.T, draw func(*rapid.T) string) string {
	return rapid.Custom(draw).Filter(func(m string) bool { return !strings.Contains(m, "interruptions") }).Draw(t, "uninterrupted machine")
}

// A collective that begins before the end of time and would end after it, at whatever
// round, names a rank and its call; one that ends before it is not disturbed.
func TestCollectivesAtTheEndOfTime(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		machine, ranks := drawUninterrupted(rt, drawMachine), rapid.IntRange(2, 14).Draw(rt, "ranks")
		op := rapid.SampledFrom(collectives.Operations()).Draw(rt, "operation")
		a := rapid.SampledFrom(collectives.Algorithms(op)).Draw(rt, "algorithm")
		x := exercise{op: op, members: ranks, count: rapid.SampledFrom([]int{0, 1, 30}).Draw(rt, "count"), key: rapid.Uint64().Draw(rt, "key"), whole: true}
		nonblocking := rapid.Bool().Draw(rt, "nonblocking")
		h := drawHost.Draw(rt, "host")
		tgt := target(rt, machine, ranks)
		late := vtime.Duration(0)
		run := func(i mpivirt.Interpreter, engines int) (*mpivirt.Result, error) {
			return simulate(rt, mpivirt.Config{
				Target: tgt, Strict: h.Strict, Protocol: h.Protocol, Window: h.Window, Collectives: i,
				Algorithms: map[collectives.Operation]collectives.Algorithm{op: a},
				Program: mpivirt.Program{Name: "late", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
					r.Compute(late + vtime.Duration(r.Rank()*r.Rank()%7)*vtime.Nanosecond)
					if !nonblocking {
						return x.arguments(r.Rank()).call(r.World())
					}
					q, err := x.arguments(r.Rank()).begin(r.World())
					if err == nil {
						_, err = q.Wait()
					}
					return err
				})}},
			}, engines)
		}
		early, err := run(mpivirt.Message, 1)
		if err != nil {
			rt.Fatal(err)
		}
		last := vtime.Duration(early.VirtualTime)
		margin := vtime.Picosecond
		if tgt.ReceiverState() {
			margin = vtime.Nanosecond // a processor learns of matches later than they are
		}
		late = vtime.Duration(vtime.Forever) - last - margin
		if result, err := run(h.Collectives, h.Engines); err != nil || vtime.Duration(result.VirtualTime) != late+last {
			rt.Fatalf("%v: it should end %v before the end of time: %v", h, margin, err)
		}
		tooLate := vtime.Duration(rapid.SampledFrom([]int{0, 1, 500_000}).Draw(rt, "too late"))
		if last <= 7*vtime.Nanosecond+tooLate {
			return // not all get as far as the collective
		}
		late += margin + tooLate
		want := failureOf(rt, run, mpivirt.Message, 1)
		if want.Call != callName(op) || !strings.Contains(want.Error(), endOfTime) {
			rt.Fatalf("%v; want the end of time in %s", want, callName(op))
		}
		got := failureOf(rt, run, h.Collectives, h.Engines)
		if got.Rank != want.Rank || got.Time != want.Time || got.Call != want.Call {
			rt.Fatalf("%v: %v; on one engine, by messages: %v", h, got, want)
		}
	})
}

// failureOf returns the rank's error that a run ends with.
func failureOf(t *rapid.T, run func(mpivirt.Interpreter, int) (*mpivirt.Result, error), i mpivirt.Interpreter, engines int) *mpivirt.RankError {
	_, err := run(i, engines)
	var failed *mpivirt.RankError
	if !errors.As(err, &failed) {
		t.Fatalf("interpreter %d, %d engines: the run ends with %v, want the error of a rank", i, engines, err)
	}
	return failed
}

// callName is how errors name an operation.
func callName(op collectives.Operation) string {
	if op == collectives.ReduceScatter {
		return "ReduceScatter"
	}
	return strings.ToUpper(op.String()[:1]) + op.String()[1:]
}

// Both kinds of ranks, with noise and without, name the rank that computes past the end
// of time, or for a negative time, and call it computing, whatever they called before.
func TestComputeNamesTheRank(t *testing.T) {
	for _, c := range []struct {
		name string
		d    vtime.Duration
		want string
	}{
		{"too long", vtime.Duration(vtime.Forever) - 1, "9223372.036854775806s of computing"},
		{"negative", -1, "a compute phase of -1ps"},
	} {
		for _, noise := range []mpivirt.Noise{nil, doubling{}} {
			main := mpivirt.Program{Name: "goroutines", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				err := r.World().Barrier()
				if r.Rank() == 2 {
					r.Compute(c.d)
				}
				return err
			})}}
			events := eventScript(
				func(r *steps.Rank) steps.Outcome { return r.Barrier() },
				func(r *steps.Rank) steps.Outcome {
					if r.Rank() == 2 {
						r.Compute(c.d)
					}
					return r.Continue()
				})
			for _, program := range []mpivirt.Program{main, events} {
				for engines := 1; engines <= 4; engines++ {
					err := failure(t, mpivirt.Config{Target: target(t, hockney, 4), Noise: noise, Program: program}, engines)
					if err.Rank != 2 || err.Call != "Compute" || err.Time != vtime.Time(2*vtime.Microsecond) || !strings.Contains(err.Error(), c.want) {
						t.Errorf("%s, %d engines: %v", c.name, engines, err)
					}
				}
			}
		}
	}
}

// doubling is noise that takes as long as the program computes.
type doubling struct{}

func (doubling) Extend(_ int, _ vtime.Time, d vtime.Duration) vtime.Duration {
	return d.Plus(max(d, 0))
}

// A collective over arrays, in rounds of every kind, is the same close to the end of time
// as far from it.
func TestRoundsCloseToTheEndOfTime(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tgt := target(rt, drawUninterrupted(rt, drawMaxPlusMachine), rapid.IntRange(2, 100).Draw(rt, "ranks"))
		op := rapid.SampledFrom([]collectives.Operation{collectives.Barrier, collectives.Allreduce, collectives.Allgather}).Draw(rt, "operation")
		var algorithms []collectives.Algorithm
		for _, a := range collectives.Algorithms(op) {
			if tgt.Ranks() < 50 || !longWinded(a) {
				algorithms = append(algorithms, a)
			}
		}
		a := withFanout(rt, op, rapid.SampledFrom(algorithms).Draw(rt, "algorithm"))
		engines := rapid.IntRange(1, 4).Draw(rt, "engines")
		spread := rapid.SampledFrom([]int{1, 1000, 5_000_000}).Draw(rt, "spread")
		exits := func(from vtime.Duration) []vtime.Duration {
			left := make([]vtime.Duration, tgt.Ranks())
			_, err := simulate(rt, mpivirt.Config{
				Target: tgt, Collectives: mpivirt.Bulk, Algorithms: map[collectives.Operation]collectives.Algorithm{op: a},
				Program: mpivirt.Program{Name: "late", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
					r.Compute(from + vtime.Duration(r.Rank()*7919%spread))
					err := r.World().CollectiveSize(op, 64, 0)
					left[r.Rank()] = vtime.Duration(r.Now()) - from
					return err
				})}},
			}, engines)
			if err != nil {
				rt.Fatal(err)
			}
			return left
		}
		early := exits(0)
		for rank, exit := range exits(vtime.Duration(vtime.Forever) - 1 - slices.Max(early)) {
			if exit != early[rank] {
				rt.Fatalf("%v %v: rank %d leaves after %v, close to the end of time after %v", op, a, rank, early[rank], exit)
			}
		}
	})
}
