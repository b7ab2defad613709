package study

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/vtime"
)

// seedsPlan returns a plan of two algorithms, with noise and without, with a number of
// seeds.
func seedsPlan(t testing.TB, seeds int) *Plan {
	var list []string
	for s := range seeds {
		list = append(list, fmt.Sprint(s+1))
	}
	return testPlan(t, Axes{Operation: "barrier", Ranks: "16,64,256", Algorithms: "linear,dissemination,binomial",
		Noise: []string{"periodic:1ms,1us"}, Seed: strings.Join(list, ",")})
}

// recordsOf returns records of a plan with the times that takes returns. A point with
// time 0 has none.
func recordsOf(p *Plan, takes func(Point) vtime.Duration) []Record {
	var records []Record
	for _, q := range p.Points {
		if d := takes(q); d > 0 {
			r := fakeRecord(p, q)
			r.Time = d * vtime.Microsecond
			records = append(records, r)
		}
	}
	return records
}

// A crossover is reported exactly where intervals are apart. Algorithms that are alike,
// not simulated or not known well enough are reported as such.
func TestFindings(t *testing.T) {
	spread := func(middle, by vtime.Duration, q Point) vtime.Duration {
		return middle + (vtime.Duration(q.Seed)*7%8-3)*by
	}
	for _, c := range []struct {
		why   string
		seeds int
		takes func(Point) vtime.Duration
		noise string
		want  string
	}{
		{"medians cross and intervals overlap", 6, func(q Point) vtime.Duration {
			middle := map[string][]vtime.Duration{"linear": {100, 110, 120}, "dissemination": {101, 109, 118}, "binomial": {500, 500, 500}}
			return spread(middle[q.Algorithm][slices.Index([]int64{16, 64, 256}, q.Ranks)], 5, q)
		}, "noise periodic:1ms,1us", "the fastest of those simulated: linear and dissemination alike from 16 to 256 ranks; at 256 ranks dissemination takes"},
		{"medians cross and intervals are apart", 6, func(q Point) vtime.Duration {
			middle := map[string][]vtime.Duration{"linear": {100, 110, 300}, "dissemination": {200, 140, 200}, "binomial": {500, 500, 500}}
			return spread(middle[q.Algorithm][slices.Index([]int64{16, 64, 256}, q.Ranks)], 3, q)
		}, "noise periodic:1ms,1us", "the fastest of those simulated: linear from 16 to 64 ranks, then dissemination at 256 ranks; at 256 ranks dissemination takes 20"},
		{"no randomness, one seed", 1, func(q Point) vtime.Duration {
			return map[string]vtime.Duration{"linear": 100, "dissemination": 200, "binomial": 300}[q.Algorithm]
		}, NoNoise, "the fastest of those simulated: linear from 16 to 256 ranks; at 256 ranks linear takes 100 us; dissemination, the next, 200 us (×2.0)."},
		{"equal times", 1, func(q Point) vtime.Duration {
			return map[string]vtime.Duration{"linear": 10_000, "dissemination": 10_000, "binomial": 30_000}[q.Algorithm]
		}, NoNoise, "linear alike from 16 to 256 ranks; at 256 ranks dissemination takes 10 ms; linear, the next, 10 ms (≈)."},
		{"times that differ by less than a hundredth", 1, func(q Point) vtime.Duration {
			return map[string]vtime.Duration{"linear": 10_000 + vtime.Duration(q.Ranks%3)*90, "dissemination": 10_050, "binomial": 30_000}[q.Algorithm]
		}, NoNoise, "alike from 16 to 256 ranks"},
		{"the fastest is left out at more ranks", 1, func(q Point) vtime.Duration {
			if q.Algorithm == "linear" && q.Ranks > 64 {
				return 0
			}
			return map[string]vtime.Duration{"linear": 100, "dissemination": 200, "binomial": 300}[q.Algorithm]
		}, NoNoise, ": linear from 16 to 64 ranks (not simulated with more), then of the others dissemination at 256 ranks; at"},
	} {
		p := seedsPlan(t, c.seeds)
		all := p.samples(recordsOf(p, c.takes))
		s := p.setting(p.Machines[0], map[bool]string{true: NoNoise, false: "periodic:1ms,1us"}[c.noise == NoNoise], "", 0)
		if got := p.fastestByRanks(s, where(all, s.has)); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}

// With too few seeds, that is all that is reported of the fastest under noise.
func TestTooFewSeeds(t *testing.T) {
	for seeds, want := range map[int]string{
		1: "Under noise, times depend on the seed, and 1 seed is too few to say which algorithm is the fastest: give 6 or more by --seed.",
		5: "Under noise, times depend on the seed, and 5 seeds are too few to say which algorithm is the fastest: give 6 or more by --seed.",
		6: "",
	} {
		p := seedsPlan(t, seeds)
		got := strings.Join(p.findings(p.samples(recordsOf(p, func(q Point) vtime.Duration {
			return map[string]vtime.Duration{"linear": 100, "dissemination": 200, "binomial": 300}[q.Algorithm]
		}))), "\n")
		told := strings.Contains(got, "On xt5, noise periodic:1ms,1us, the fastest of those simulated: linear from 16 to 256 ranks")
		if !strings.Contains(got, want) || told != (want == "") || strings.Contains(got, "too few") != (want != "") {
			t.Errorf("%d seeds: %s", seeds, got)
		}
	}
}

// Runs that are not there are not taken for seeds that were not asked for.
func TestMissingRuns(t *testing.T) {
	takes := map[string]vtime.Duration{"linear": 100, "dissemination": 200, "binomial": 300}
	for _, c := range []struct {
		least uint64 // the seeds that have a result of linear at 64 ranks under noise
		want  string
	}{
		{1, "Under noise, times depend on the seed, and on xt5, noise periodic:1ms,1us, linear has results of only 1 of 8 seeds at 64 ranks: 6 or more are needed to say which algorithm is the fastest."},
		{5, "linear has results of only 5 of 8 seeds at 64 ranks: 6 or more"},
		{6, ""},
	} {
		p := seedsPlan(t, 8)
		got := strings.Join(p.findings(p.samples(recordsOf(p, func(q Point) vtime.Duration {
			if q.Algorithm == "linear" && q.Ranks == 64 && q.Noise != NoNoise && q.Seed > c.least {
				return 0
			}
			return takes[q.Algorithm]
		}))), "\n")
		if !strings.Contains(got, c.want) || strings.Contains(got, "too few") || strings.Contains(got, "has results") != (c.want != "") {
			t.Errorf("%d of 8 seeds: %s", c.least, got)
		}
	}
}

// A stretch ends only where each of its algorithms is not simulated or is slower than
// another beyond their intervals, for any times.
func TestStretchesEndForReasons(t *testing.T) {
	plans := map[int]*Plan{}
	for _, seeds := range []int{1, 3, 6, 9} {
		plans[seeds] = seedsPlan(t, seeds)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := plans[rapid.SampledFrom([]int{1, 3, 6, 9}).Draw(t, "seeds")]
		noise := rapid.SampledFrom(p.Noises).Draw(t, "noise")
		quiet := map[string]vtime.Duration{} // without noise, all seeds give the same
		records := recordsOf(p, func(q Point) vtime.Duration {
			d := vtime.Duration(rapid.IntRange(0, 40).Draw(t, "time")) * 10
			if q.Noise != NoNoise {
				return d
			}
			key := fmt.Sprint(q.Algorithm, q.Ranks)
			if before, known := quiet[key]; known {
				return before
			}
			quiet[key] = d
			return d
		})
		s := p.setting(p.Machines[0], noise, "", 0)
		here := where(p.samples(records), s.has)
		stretches := p.stretches(here, p.Ranks, byRanks)
		for i := 1; i < len(stretches); i++ {
			at := where(here, func(q Point) bool { return q.Ranks == stretches[i].from })
			_, most := rank(at).best.bounds()
			for _, name := range stretches[i-1].names {
				k := slices.IndexFunc(at, func(s sample) bool { return s.point.Algorithm == name })
				if k < 0 {
					if !stretches[i-1].cut {
						t.Fatalf("%v ends where %s is not simulated, and does not say so", stretches[i-1], name)
					}
					continue
				}
				if least, _ := at[k].bounds(); least <= most {
					t.Fatalf("%v ends, and with %d ranks %s is not slower than another for sure", stretches[i-1], stretches[i].from, name)
				}
			}
		}
	})
}

// The map shows the margin of the best, or that it cannot be told apart.
func TestMargins(t *testing.T) {
	p := testPlan(t, Axes{Operation: "barrier", Ranks: "16", Algorithms: "linear,dissemination"})
	for _, c := range []struct {
		other vtime.Duration
		want  string
		tied  int
	}{
		{1000, "≈", 2}, {1009, "≈", 2}, {1020, "+2.0 %", 1}, {1500, "+50 %", 1}, {3400, "×3.4", 1}, {56_000, "×56", 1}, {0, "", 1},
	} {
		r := rank(p.samples(recordsOf(p, func(q Point) vtime.Duration {
			return map[string]vtime.Duration{"linear": 1000, "dissemination": c.other}[q.Algorithm]
		})))
		if got := r.margin(); got != c.want || len(r.tied) != c.tied {
			t.Errorf("1000 against %d: %q, %d of them, want %q, %d", c.other, got, len(r.tied), c.want, c.tied)
		}
	}
}
