package noise_test

import (
	"io/fs"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/internal/noise"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// traces are the trace files of the tests.
var traces = map[string]string{
	"tick":  "900us 100us\n",
	"three": "# detours\n10us 2us\n20us 1us\n\n21us 30us\n",
}

func readTrace(path string) ([]byte, error) {
	if text, ok := traces[path]; ok {
		return []byte(text), nil
	}
	return nil, fs.ErrNotExist
}

func mustParse(t interface{ Fatal(...any) }, text string, seed uint64) mpivirt.Noise {
	noise, err := noise.Parse(text, readTrace)
	if err != nil {
		t.Fatal(err)
	}
	return noise.Seeded(seed)
}

// sample returns the mean lengthening of a compute phase of length d over many
// ranks and begins, and its standard error, both in ps.
func sample(noise mpivirt.Noise, d vtime.Duration) (mean, standardError float64) {
	const ranks, phases = 400, 50
	var sum, squares float64
	for rank := range ranks {
		for k := range phases {
			t := vtime.Time(k) * vtime.Time(1_234_567_891_011)
			x := float64(noise.Extend(rank, t, d) - d)
			sum += x
			squares += x * x
		}
	}
	n := float64(ranks * phases)
	mean = sum / n
	// Phases of one rank may depend on one another in periodic noise, so the
	// ranks alone count as independent draws.
	return mean, math.Sqrt((squares/n - mean*mean) / ranks)
}

func TestNoiseMeans(t *testing.T) {
	const d = 10 * vtime.Millisecond
	ms := float64(vtime.Millisecond)
	for _, c := range []struct {
		why, spec string
		want      float64
	}{
		// With period P, duration D, free time q = P-D and a begin uniform in
		// the period: the rest of an interruption under way, D²/2P, and
		// (q/P)(d/q) + (D/P)(⌈d/q⌉-1) further ones of D each.
		{"short periods", "periodic:1ms,0.1ms", (0.1*0.1/2 + 0.1*(10+0.1*(12-1))) * ms},
		{"a trace of one detour is a period", "trace:tick", (0.1*0.1/2 + 0.1*(10+0.1*(12-1))) * ms},
		{"a period longer than the phase", "periodic:40ms,4ms", (4*4/80. + 4*(10/40.)) * ms},
		// A Poisson process of rate 1/gap in computing time: d/gap interruptions.
		{"exponential", "exponential:1ms,50us", 10 * 0.05 * ms},
		{"rare", "exponential:30ms,1ms", 10 / 30. * ms},
		// The Pareto distribution's mean is its minimum times α/(α-1).
		{"pareto", "pareto:2ms,20us,3", 5 * 0.02 * 3 / 2 * ms},
	} {
		mean, standardError := sample(mustParse(t, c.spec, 7), d)
		if math.Abs(mean-c.want) > 6*standardError {
			t.Errorf("%s: %s lengthens %v by %.0f ps in the mean, want %.0f (standard error %.0f)",
				c.why, c.spec, d, mean, c.want, standardError)
		}
	}
}

func drawSpec(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		"periodic:1ms,100us", "periodic:10us,9us", "periodic:1us,1ps",
		"exponential:100us,10us", "exponential:5us,5us",
		"pareto:100us,10us,1.5", "pareto:50us,1us,4",
		"trace:tick", "trace:three",
	}).Draw(t, "noise")
}

// The same call gives the same result whatever was called before, also on another value
// of the same noise.
func TestNoiseDoesNotDependOnTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec, seed := drawSpec(t), rapid.Uint64().Draw(t, "seed")
		type question struct {
			rank int
			at   vtime.Time
			d    vtime.Duration
		}
		questions := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) question {
			return question{
				rapid.IntRange(0, 1<<30).Draw(t, "rank"),
				vtime.Time(rapid.Int64Range(0, int64(vtime.Second)).Draw(t, "at")),
				vtime.Duration(rapid.Int64Range(0, int64(vtime.Millisecond)).Draw(t, "d")),
			}
		}), 1, 20).Draw(t, "questions")
		forward, backward := mustParse(t, spec, seed), mustParse(t, spec, seed)
		answers := make([]vtime.Duration, len(questions))
		for i, q := range questions {
			answers[i] = forward.Extend(q.rank, q.at, q.d)
			if answers[i] < q.d {
				t.Fatalf("%s shortens %v to %v", spec, q.d, answers[i])
			}
		}
		for i := len(questions) - 1; i >= 0; i-- {
			q := questions[i]
			if got := backward.Extend(q.rank, q.at, q.d); got != answers[i] {
				t.Fatalf("%s gives %v for %+v in the other order, %v before", spec, got, q, answers[i])
			}
		}
	})
}

// A compute phase under periodic noise may be cut in two without changing when
// it ends, and a phase without length stays so.
func TestPeriodicNoiseAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period := rapid.Int64Range(int64(vtime.Microsecond), int64(3*vtime.Microsecond)).Draw(t, "period")
		duration := rapid.Int64Range(1, period-1).Draw(t, "duration")
		noise := mustParse(t, "periodic:"+vtime.Duration(period).String()+","+vtime.Duration(duration).String(), 3)
		rank := rapid.IntRange(0, 1000).Draw(t, "rank")
		at := vtime.Time(rapid.Int64Range(0, 10*period).Draw(t, "at"))
		a := vtime.Duration(rapid.Int64Range(1, 5*period).Draw(t, "a"))
		b := vtime.Duration(rapid.Int64Range(1, 5*period).Draw(t, "b"))
		whole := noise.Extend(rank, at, a+b)
		first := noise.Extend(rank, at, a)
		if second := noise.Extend(rank, at.Add(first), b); first+second != whole {
			t.Fatalf("%v and %v take %v and %v, together %v", a, b, first, second, whole)
		}
		if got := noise.Extend(rank, at, 0); got != 0 {
			t.Fatalf("a phase without length takes %v", got)
		}
	})
}

// Periodic noise strikes each rank at one phase of its own. A picosecond of work begins
// at every instant of a period. It is delayed by the duration exactly once, by a
// picosecond less at the next instant, and so on.
func TestPeriodicNoisePhases(t *testing.T) {
	noise := mustParse(t, "periodic:1us,1ns", 11)
	const period = vtime.Time(vtime.Microsecond)
	const duration = vtime.Nanosecond
	begin := func(rank int, cycle vtime.Time) vtime.Time {
		for x := range period {
			if noise.Extend(rank, cycle*period+x, 1) == 1+duration {
				return x
			}
		}
		t.Fatalf("rank %d is never interrupted in cycle %d", rank, cycle)
		return 0
	}
	phases := map[vtime.Time]bool{}
	for rank := range 4 {
		phase := begin(rank, 3)
		if again := begin(rank, 8); again != phase {
			t.Errorf("rank %d is interrupted at %d ps of cycle 3 and %d ps of cycle 8", rank, phase, again)
		}
		for k := range duration {
			if got := noise.Extend(rank, 5*period+phase+vtime.Time(k), 1); got != 1+duration-k {
				t.Errorf("rank %d, %d ps into an interruption: 1 ps takes %v, want %v", rank, k, got, 1+duration-k)
			}
		}
		phases[phase] = true
	}
	if len(phases) != 4 {
		t.Errorf("four ranks share %d phases", len(phases))
	}
}

// A result that does not fit saturates, like the instants that it is added to.
func TestNoiseSaturates(t *testing.T) {
	noise := mustParse(t, "periodic:1us,999999ps", 1)
	if got := noise.Extend(0, 0, 100*vtime.Hour); got != math.MaxInt64 {
		t.Errorf("100 h at a millionth of the speed take %v", got)
	}
}

func TestParseNoiseFaults(t *testing.T) {
	for _, c := range []struct {
		spec string
		want []string // what the error says
	}{
		{"sinus:1ms,1us", []string{`unknown kind "sinus"`, "pareto:MEANGAP,MINDURATION,ALPHA"}},
		{"periodic", []string{"write periodic:PERIOD,DURATION"}},
		{"periodic:1ms", []string{"write periodic:PERIOD,DURATION"}},
		{"periodic:1ms,1us,2", []string{"write periodic:PERIOD,DURATION"}},
		{"periodic:1ms,2ms", []string{"leaves nothing of the period"}},
		{"periodic:x,y", []string{`"x" is not a duration`, `"y" is not a duration`}},
		{"exponential:1ns,0", []string{"every 1ns: use at least 1us", "a duration of 0s"}},
		{"pareto:1ms,1us,1", []string{`ALPHA "1"`}},
		{"pareto:1ms,-1us,2", []string{"a duration of -1us"}},
		{"pareto:1ms,1us,NaN", []string{`ALPHA "NaN"`}},
		{"trace", []string{"write trace:FILE"}},
		{"trace:nowhere", []string{"the noise trace cannot be read", "file does not exist"}},
	} {
		noise, err := noise.Parse(c.spec, readTrace)
		if err == nil {
			t.Errorf("%s is taken for %v", c.spec, noise)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", c.spec, err, want)
			}
		}
	}
	for _, spec := range []string{"", "none"} {
		noise, err := noise.Parse(spec, readTrace)
		if noise.Seeded(1) != nil || noise.String() != "none" || err != nil {
			t.Errorf("%q gives %v, %v, want no noise", spec, noise, err)
		}
	}
}
