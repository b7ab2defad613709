package network

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/internal/random"
	"gigarank/vtime"
)

func interruptedTarget(t rapid.TB, interval, duration vtime.Duration, seed uint64) *Target {
	m, err := Parse("i", fmt.Appendf(nil, "name: i\nnetwork: {model: flat, latency: 1us, interruptions: {interval: %v, duration: %v}}\n", interval, duration), nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again", m.YAML(), nil)
	if err != nil || again.Digest() != m.Digest() || !m.Interrupts() || !m.HasJitter() {
		t.Fatalf("%v: written and read again it is\n%s", err, again)
	}
	target, err := m.Target(64)
	if err != nil {
		t.Fatal(err)
	}
	return target.Seeded(seed)
}

// A rank is free at the first instant that is in none of its interruptions: those of all intervals from the first on, one by one.
func TestFreeIsAfterAllInterruptions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		duration := vtime.Duration(rapid.Int64Range(1, 3000).Draw(t, "duration"))
		interval := duration.Times(rapid.IntRange(2, 9).Draw(t, "intervals"))
		target := interruptedTarget(t, interval, duration, rapid.Uint64().Draw(t, "seed"))
		rank := rapid.IntRange(0, 63).Draw(t, "rank")
		before := vtime.Time(0)
		for at := vtime.Time(0); at < vtime.Time(interval.Times(6)); at = at.Add(interval / 7).Add(1) {
			want := at
			for again := true; again; { // interruptions that follow each other
				again = false
				for k := range uint64(12) {
					begin := k*uint64(interval) + uint64(random.Intn(target.seed^interruptionSalt, uint64(rank), 2*k, int(interval)))
					end := begin + uint64(min(random.Exponential(target.seed^interruptionSalt, uint64(rank), 2*k+1, duration), interval))
					if begin <= uint64(want) && uint64(want) < end {
						want, again = vtime.Time(end), true
					}
				}
			}
			got := target.Free(rank, at)
			if got != want || target.Free(rank, got) != got || got < before {
				t.Fatalf("rank %d would act at %v and is free at %v, want %v; before %v", rank, at, got, want, before)
			}
			before = got
		}
	})
}

// Ranks are interrupted for the share of time that the machine says, each at instants of its own, and the wait at a random instant within an
// interruption is the mean duration, as that of an exponential time is.
func TestInterruptionsHaveTheirShare(t *testing.T) {
	const interval, duration, samples = 40 * us, us, 40_000
	target := interruptedTarget(t, interval, duration, 7)
	held, waits := 0, 0.0
	for i := range uint64(samples) {
		at := vtime.Time(random.Intn(3, i, 0, int(vtime.Second)))
		if free := target.Free(int(i%64), at); free != at {
			held++
			waits += float64(free.Sub(at))
		}
	}
	if share := float64(held) / samples; math.Abs(share*float64(interval)/float64(duration)-1) > 0.1 {
		t.Errorf("%.4f of the instants are interrupted, want %.4f", share, float64(duration)/float64(interval))
	}
	if mean := waits / float64(held) / float64(duration); math.Abs(mean-1) > 0.1 {
		t.Errorf("the wait within an interruption is %.3f of the mean duration, want 1", mean)
	}
}

// The end of virtual time is free, and a machine without the field never interrupts.
func TestNoInterruptions(t *testing.T) {
	if got := interruptedTarget(t, 40*us, us, 7).Free(3, vtime.Forever); got != vtime.Forever {
		t.Errorf("at the end of time a rank is free at %v", got)
	}
	target := jitteredTarget(t, "uniform, most: 1us")
	for at := vtime.Time(0); at < vtime.Time(us); at = at.Add(ns) {
		if got := target.Free(2, at); got != at || target.Interrupts() {
			t.Fatalf("without interruptions rank 2 is free at %v instead of %v", got, at)
		}
	}
}

// The faults of field interruptions are named.
func TestInterruptionFaults(t *testing.T) {
	for section, want := range map[string]string{
		"interruptions: {interval: 1s}":                                                "network.interruptions.duration: is missing",
		"interruptions: {duration: 1us}":                                               "network.interruptions.interval: is missing",
		"interruptions: {interval: 1s, duration: 0}":                                   "network.interruptions.duration: is zero",
		"interruptions: {interval: 1us, duration: 501ns}":                              "network.interruptions.interval: is less than two durations",
		"interruptions: {interval: 1s, duration: 1us, ranks: 4}":                       "network.interruptions.ranks: is unknown",
		"interruptions: 1us":                                                           `network.interruptions: is the value "1us", not a mapping`,
		"interruptions: {interval: often, duration: 1us}":                              "network.interruptions.interval:",
		"L: 1us, o: 1us, g: 1us, G: 1ns, interruptions: {interval: 1s, duration: 1us}": "network.interruptions: belongs to another model",
	} {
		model := "flat, latency: 1us"
		if strings.HasPrefix(section, "L:") {
			model = "loggops"
		}
		_, err := Parse("m", []byte("name: m\nnetwork: {model: "+model+", "+section+"}\n"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", section, err, want)
		}
	}
}
