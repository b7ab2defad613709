package bench_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gigarank/bench"
	"gigarank/engine"
	"gigarank/internal/random"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/sync"
	"gigarank/vtime"
)

func pholdConfig(kind *mpivirt.Kind, seed uint64, iterations int) bench.Config {
	return bench.Config{Config: mpivirt.Config{Kind: kind, Seed: seed}, Options: bench.Options{Iterations: iterations}}
}

// pholdEvent is an event of the twin.
type pholdEvent struct {
	time         vtime.Time
	source, dest int
	sequence     uint64
}

// pholdTwin is phold by its definition, with a list that is sorted for each event. It
// returns the fingerprint and the number of events handled.
func pholdTwin(lps int, seed uint64, iterations int) (string, uint64) {
	last, caused := make([]vtime.Time, lps), make([]uint64, lps)
	var list []pholdEvent
	cause := func(source int, first bool) {
		draw := func(i uint64) (uint64, uint64, uint64) { return seed, uint64(source), 3*caused[source] + i }
		ev := pholdEvent{source: source, dest: source, sequence: caused[source]}
		s, stream, counter := draw(0)
		ev.time = last[source].Add(100 * vtime.Nanosecond).Add(random.Exponential(s, stream, counter, 900*vtime.Nanosecond))
		if !first && lps > 1 && random.Float64(draw(1)) < 0.5 {
			s, stream, counter := draw(2)
			others := slices.Delete(numbers(lps), source, source+1)
			ev.dest = others[random.Intn(s, stream, counter, lps-1)]
		}
		caused[source]++
		list = append(list, ev)
	}
	for i := range lps {
		cause(i, true)
	}
	handled := uint64(0)
	for {
		slices.SortFunc(list, func(a, b pholdEvent) int {
			if c := a.time.Compare(b.time); c != 0 {
				return c
			}
			if a.source != b.source {
				return a.source - b.source
			}
			return int(a.sequence) - int(b.sequence)
		})
		ev := list[0]
		if ev.time >= vtime.Time(iterations)*vtime.Time(vtime.Microsecond) {
			break
		}
		list = list[1:]
		last[ev.dest] = ev.time
		handled++
		cause(ev.dest, false)
	}
	var d engine.Digest
	for i, t := range last {
		d.Add(i, t)
	}
	return d.String(), handled
}

func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func TestPholdAgreesWithTwin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lps := rapid.IntRange(1, 40).Draw(rt, "lps")
		engines := rapid.IntRange(1, 5).Draw(rt, "engines")
		seed := rapid.Uint64().Draw(rt, "seed")
		iterations := rapid.IntRange(1, 8).Draw(rt, "iterations")
		c := pholdConfig(rapid.SampledFrom([]*mpivirt.Kind{mpivirt.Goroutine, steps.Kind}).Draw(rt, "kind"), seed, iterations)
		c.Protocol = rapid.SampledFrom([]sync.Protocol{sync.Hybrid, sync.Null, sync.Conditional}).Draw(rt, "protocol")
		r := run(t, "phold", "xt5", lps, engines, c)
		fingerprint, handled := pholdTwin(lps, seed, iterations)
		// An LP is resumed for each event, and to begin and to end.
		if got := r.Statistics.Switches - 2*uint64(lps); r.Fingerprint != fingerprint || got != handled {
			rt.Fatalf("fingerprint %s after %d events, the twin has %s after %d", r.Fingerprint, got, fingerprint, handled)
		}
	})
}

// The delay has mean 1 us, so an LP handles one event in each on average; half of
// the events go to other LPs.
func TestPholdRates(t *testing.T) {
	const lps, iterations = 200, 100
	r := run(t, "phold", "xt5", lps, 1, pholdConfig(steps.Kind, 3, iterations))
	events := float64(r.Statistics.Switches - 2*lps)
	// A renewal process with deviation 0.9 of the gap: variance 0.81 for each.
	if want := float64(lps * iterations); math.Abs(events-want) > 6*math.Sqrt(0.81*want) {
		t.Errorf("%v events, want %v", events, want)
	}
	if messages := float64(r.Statistics.Messages); math.Abs(messages-events/2) > 6*math.Sqrt(events)/2 {
		t.Errorf("%v of %v events went to other LPs, want half", messages, events)
	}
}

// A stop from outside ends the run on all engines and says why.
func TestPholdStops(t *testing.T) {
	c := pholdConfig(mpivirt.Goroutine, 1, 1<<30)
	s := prepare(t, "phold", "xt5", 50, 3, c)
	go func() {
		for s.Progress().Iteration < 10 {
		}
		s.Stop("enough")
	}()
	r, err := s.Run()
	if err == nil || r.Complete || r.Finished != 0 {
		t.Fatalf("a run that was stopped ended with %+v, %v", r, err)
	}
	if p := s.Progress(); p.Ranks != 50 || p.SetUp != 50 || p.Events == 0 || p.Time < vtime.Time(10*vtime.Microsecond) {
		t.Errorf("progress is %+v", p)
	}
}

// BenchmarkPhold reports events handled in a second on one engine.
func BenchmarkPhold(b *testing.B) {
	for _, kind := range []*mpivirt.Kind{steps.Kind, mpivirt.Goroutine} {
		for _, lps := range []int{1024, 65536} {
			b.Run(fmt.Sprintf("%s/%d", kind, lps), func(b *testing.B) {
				handled := uint64(0)
				for b.Loop() {
					handled += run(b, "phold", "xt5", lps, 1, pholdConfig(kind, 1, 1<<20/lps)).Statistics.Switches
				}
				b.ReportMetric(float64(handled)/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}
