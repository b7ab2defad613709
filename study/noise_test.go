package study

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"gigarank/bench"
	"gigarank/vtime"
)

// A trace is read once, belongs to the points by what it says, and gives each seed
// its own phases.
func TestNoiseTraceOfAPoint(t *testing.T) {
	reads := 0
	plan := func(trace string) *Plan {
		return NewPlan(Axes{Operation: "barrier", Ranks: "4", Algorithms: "linear", Noise: []string{"trace:laptop"}, Seed: "1,2"},
			func(path string) ([]byte, error) {
				if path != "laptop" {
					return nil, fs.ErrNotExist
				}
				reads++
				return []byte(trace), nil
			},
			func(flag string, err error) { t.Errorf("%s: %v", flag, err) })
	}
	p := plan("1us 1us")
	if len(p.Points) != 4 || reads != 1 {
		t.Fatalf("%d points, %d reads: %+v", len(p.Points), reads, p.Points)
	}
	for _, point := range p.Points {
		noise := p.Noise(point)
		if point.Noise != noise.String() || (noise.Seeded(point.Seed) == nil) != (point.Noise == NoNoise) {
			t.Errorf("point %+v has the noise %v", point, noise)
		}
	}
	noisy := slices.DeleteFunc(slices.Clone(p.Points), func(q Point) bool { return q.Noise == NoNoise })
	if a, b := phase(p.Noise(noisy[0]), noisy[0].Seed), phase(p.Noise(noisy[1]), noisy[1].Seed); a == b {
		t.Errorf("two seeds have one phase, %v", a)
	}
	for _, point := range plan("1us 2us").Points {
		if point.Noise != NoNoise && slices.Contains(p.Points, point) {
			t.Errorf("%+v is the same point with another trace", point)
		}
	}
}

// phase is how long 1 us takes from the start on.
func phase(noise bench.Noise, seed uint64) vtime.Duration {
	return noise.Seeded(seed).Extend(0, 0, vtime.Microsecond/2)
}

// All faults of a trace come at once.
func TestFaultyNoiseTrace(t *testing.T) {
	var all error
	NewPlan(Axes{Operation: "barrier", Noise: []string{"trace:laptop"}},
		func(string) ([]byte, error) { return []byte("x 1us\n1us y\n"), nil },
		func(flag string, err error) { all = errors.Join(all, err) })
	for _, want := range []string{"laptop:1: begin: ", "laptop:2: duration: "} {
		if all == nil || !strings.Contains(all.Error(), want) {
			t.Errorf("%v does not say %q", all, want)
		}
	}
}
