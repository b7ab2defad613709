package noise

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gigarank/internal/random"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// forms are the kinds of noise and their notation.
var forms = []struct {
	kind, form string
	parameters int
}{
	{"periodic", "periodic:PERIOD,DURATION", 2},
	{"exponential", "exponential:MEANGAP,MEANDURATION", 2},
	{"pareto", "pareto:MEANGAP,MINDURATION,ALPHA", 3},
	{"trace", "trace:FILE", 1},
}

// Forms returns the notation of each kind of noise.
func Forms() []string {
	written := make([]string, len(forms))
	for i, f := range forms {
		written[i] = f.form
	}
	return written
}

// leastGap bounds the number of interruptions in a compute phase, each of which
// costs the host a random number.
const leastGap = vtime.Microsecond

// salt separates the numbers drawn for noise from those that the program draws
// from the same seed.
const salt = 0x6e6f697365

// Spec is a description of operating system noise, for any seed. The zero value is
// no noise.
type Spec struct {
	text   string
	seeded func(seed uint64) mpivirt.Noise
}

// String returns the description, and for a trace a digest of the file. Noises of equal
// texts are equal.
func (n Spec) String() string {
	if n.seeded == nil {
		return "none"
	}
	return n.text
}

// Seeded returns the noise of a run with a seed, nil for none.
func (n Spec) Seeded(seed uint64) mpivirt.Noise {
	if n.seeded == nil {
		return nil
	}
	return n.seeded(random.Mix(seed ^ salt))
}

// Parse reads a description of operating system noise:
//
//	periodic:PERIOD,DURATION          every PERIOD, for DURATION; each rank at a phase of its own
//	exponential:MEANGAP,MEANDURATION  gaps and durations exponentially distributed
//	pareto:MEANGAP,MINDURATION,ALPHA  exponential gaps, heavy-tailed durations of mean
//	                                  MINDURATION·ALPHA/(ALPHA-1), ALPHA > 1
//	trace:FILE                        the detours that a file lists, over and over; each rank
//	                                  begins at a phase of its own
//
// Gaps are times of computing between two interruptions. An empty text or "none" is no
// noise. read reads the file of a trace, whose format trace.go describes. The error
// names all faults of the text; for the contents of a file it is [input.Faults].
func Parse(text string, read func(path string) ([]byte, error)) (Spec, error) {
	if text == "" || text == "none" {
		return Spec{}, nil
	}
	kind, rest, _ := strings.Cut(text, ":")
	for _, f := range forms {
		if f.kind != kind {
			continue
		}
		if kind == "trace" && rest != "" {
			return loadTrace(rest, read)
		}
		fields := strings.Split(rest, ",")
		if len(fields) != f.parameters || rest == "" {
			return Spec{}, fmt.Errorf("%q is not a noise SPEC: write %s", text, f.form)
		}
		seeded, err := newSource(kind, fields)
		if err != nil {
			return Spec{}, fmt.Errorf("%q is not a noise SPEC: %w", text, err)
		}
		return Spec{text, seeded}, nil
	}
	return Spec{}, fmt.Errorf("%q is not a noise SPEC: unknown kind %q: write one of %s", text, kind, strings.Join(Forms(), ", "))
}

// newSource returns noise of a kind. fields has the right number of parameters.
func newSource(kind string, fields []string) (func(seed uint64) mpivirt.Noise, error) {
	first, err := vtime.ParseDuration(fields[0])
	second, err2 := vtime.ParseDuration(fields[1])
	err = errors.Join(err, err2)
	alpha := 0.0
	if kind == "pareto" {
		var err3 error
		if alpha, err3 = strconv.ParseFloat(fields[2], 64); err3 != nil || !(alpha > 1) || math.IsInf(alpha, 1) {
			err = errors.Join(err, fmt.Errorf("ALPHA %q: use a number above 1, at which the mean duration is finite", fields[2]))
		}
	}
	if err != nil {
		return nil, err
	}
	var faults []error
	if first < leastGap {
		faults = append(faults, fmt.Errorf("interruptions every %v: use at least %v", first, leastGap))
	}
	if second <= 0 {
		faults = append(faults, fmt.Errorf("a duration of %v: use a time above 0", second))
	}
	if kind == "periodic" && second >= first {
		faults = append(faults, fmt.Errorf("a duration of %v leaves nothing of the period of %v: use a shorter one", second, first))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	if kind == "periodic" {
		return func(seed uint64) mpivirt.Noise { return &periodic{seed, first, second} }, nil
	}
	return func(seed uint64) mpivirt.Noise {
		return &irregular{seed: seed, gap: first, duration: second, alpha: alpha}
	}, nil
}

// periodic takes the rank's core away for duration in each period. A rank's first
// interruption begins at its phase, a random instant of the first period. Others are
// taken to have come before it.
type periodic struct {
	seed             uint64
	period, duration vtime.Duration
}

// phase returns the time within each period at which the rank's interruption begins.
func (n *periodic) phase(rank int) vtime.Duration {
	return vtime.Duration(random.Intn(n.seed, uint64(rank), 0, int(n.period)))
}

// Extend implements mpivirt.Noise.
func (n *periodic) Extend(rank int, t vtime.Time, d vtime.Duration) vtime.Duration {
	if d <= 0 {
		return d
	}
	position := (vtime.Duration(t%vtime.Time(n.period)) - n.phase(rank) + n.period) % n.period
	wait := max(n.duration-position, 0)
	left := n.period - max(position, n.duration) // computing time until the next interruption
	if d <= left {
		return wait + d
	}
	free := n.period - n.duration
	interruptions := (d-left-1)/free + 1
	if interruptions > (math.MaxInt64-wait-d)/n.duration {
		return math.MaxInt64
	}
	return wait + d + interruptions*n.duration
}

// irregular interrupts computing after exponentially distributed gaps, which have no
// memory. So a phase draws its interruptions afresh, keyed by the rank and the time at
// which it begins. No state is kept from one phase to the next.
type irregular struct {
	seed          uint64
	gap, duration vtime.Duration // duration is the mean, or the minimum of the Pareto distribution
	alpha         float64        // of the Pareto distribution; 0 for the exponential one
}

// Extend implements mpivirt.Noise. It takes time in proportion to the number of
// interruptions. Gaps are whole picoseconds, so that processors cannot differ in them.
func (n *irregular) Extend(rank int, t vtime.Time, d vtime.Duration) vtime.Duration {
	stream := random.Uint64(n.seed, uint64(rank), uint64(t))
	total := d
	for counter := uint64(0); ; counter += 2 {
		gap := random.Exponential(n.seed, stream, counter, n.gap)
		if gap >= d {
			return total
		}
		d -= gap
		stolen := n.interruption(stream, counter+1)
		if stolen > math.MaxInt64-total {
			return math.MaxInt64
		}
		total += stolen
	}
}

// interruption draws the duration of an interruption.
func (n *irregular) interruption(stream, counter uint64) vtime.Duration {
	if n.alpha == 0 {
		return random.Exponential(n.seed, stream, counter, n.duration)
	}
	return random.Pareto(n.seed, stream, counter, n.duration, n.alpha)
}
