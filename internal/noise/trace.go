package noise

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"gigarank/internal/input"
	"gigarank/internal/random"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// A trace file has the format that Netgauge's selfish detour benchmark writes (netgauge
// -x noise, file ng.out) and LogGOPSim reads. It has a line for each detour with its
// begin and its duration, separated by white space. Lines that begin with # and empty
// lines are ignored. A plain number is in nanoseconds, as Netgauge writes it; a unit
// may follow it without a space. Detours are in the order of their begins and do not
// overlap. The trace lasts from 0 to the end of its last detour.

// rounding is how far a detour may reach into the next one; the excess is cut off.
// Benchmarks round the times of detours that follow each other at once.
const rounding = vtime.Nanosecond

// shownFaults bounds the faults of a file that are shown.
const shownFaults = 20

// trace is a list of detours, 24 bytes each.
type trace struct {
	begins []vtime.Duration // ascending
	ends   []vtime.Duration // ends[i] <= begins[i+1]
	free   []vtime.Duration // computing time before each detour
	all    vtime.Duration   // computing time of the whole, above 0
}

// length returns the duration of the trace.
func (t *trace) length() vtime.Duration { return t.ends[len(t.ends)-1] }

// stolen returns the duration of the first n detours together.
func (t *trace) stolen(n int) vtime.Duration {
	if n == 0 {
		return 0
	}
	return t.ends[n-1] - t.free[n-1]
}

// computed returns the computing time from 0 to an instant of the trace.
func (t *trace) computed(at vtime.Duration) vtime.Duration {
	n, _ := slices.BinarySearch(t.begins, at) // detours begun before
	if n > 0 && at < t.ends[n-1] {
		return t.free[n-1]
	}
	return at - t.stolen(n)
}

// instant returns the instant at which a time, above 0 and at most all, has been
// computed.
func (t *trace) instant(computed vtime.Duration) vtime.Duration {
	n, _ := slices.BinarySearch(t.free, computed) // detours over by then
	return computed + t.stolen(n)
}

// loadTrace reads a trace file.
func loadTrace(path string, read func(path string) ([]byte, error)) (Spec, error) {
	text, err := read(path)
	if err != nil {
		return Spec{}, fmt.Errorf("the noise trace cannot be read: %w", err)
	}
	t, faults := parseTrace(path, string(text))
	if faults != nil {
		return Spec{}, faults
	}
	digest := sha256.Sum256(text)
	return Spec{
		text:   fmt.Sprintf("trace:%s@%s", path, hex.EncodeToString(digest[:6])),
		seeded: func(seed uint64) mpivirt.Noise { return &replayed{seed, t} },
	}, nil
}

// traceReader reads the text of a trace file line by line.
type traceReader struct {
	trace
	path    string
	line    int
	faults  input.Faults
	unshown int
}

func parseTrace(path, text string) (*trace, input.Faults) {
	r := &traceReader{path: path}
	for raw := range strings.Lines(text) {
		r.line++
		if fields := strings.Fields(raw); len(fields) > 0 && !strings.HasPrefix(fields[0], "#") {
			r.detour(fields)
		}
	}
	if len(r.faults) == 0 {
		r.finish()
	}
	if r.unshown > 0 {
		r.faults = append(r.faults, input.Fault{File: path, Line: r.line, What: fmt.Sprintf("%d more faults up to here", r.unshown)})
	}
	return &r.trace, r.faults
}

// fault adds a fault of the line.
func (r *traceReader) fault(field, what, remedy string) {
	if len(r.faults) == shownFaults {
		r.unshown++
		return
	}
	r.faults = append(r.faults, input.Fault{File: r.path, Line: r.line, Field: field, What: what, Remedy: remedy})
}

// detour reads the fields of a line.
func (r *traceReader) detour(fields []string) {
	if len(fields) != 2 {
		r.fault("", fmt.Sprintf("fields: %d instead of 2", len(fields)), "write the begin and the duration of one detour")
		return
	}
	begin, known := r.instant("begin", fields[0])
	duration, also := r.instant("duration", fields[1])
	if !known || !also {
		return
	}
	last := len(r.ends) - 1
	switch {
	case duration == 0:
		r.fault("duration", "a detour that takes no time", "leave it out")
	case begin > math.MaxInt64-duration:
		r.fault("duration", "the detour ends after the last instant", "use shorter times")
	case last >= 0 && begin <= r.begins[last]:
		r.fault("begin", fmt.Sprintf("%v is not after the detour before, at %v", begin, r.begins[last]), "sort the detours")
	case last >= 0 && begin < r.ends[last]-rounding:
		r.fault("begin", fmt.Sprintf("%v is within the detour before, which ends at %v", begin, r.ends[last]), "make one of the two")
	default:
		if last >= 0 {
			r.ends[last] = min(r.ends[last], begin)
		}
		r.begins = append(r.begins, begin)
		r.ends = append(r.ends, begin+duration)
	}
}

// instant reads a time from 0 with a unit, or in nanoseconds without one.
func (r *traceReader) instant(field, text string) (d vtime.Duration, ok bool) {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		text += "ns"
	}
	d, err := vtime.ParseDuration(text)
	switch {
	case err != nil:
		r.fault(field, err.Error(), "")
	case d < 0:
		r.fault(field, fmt.Sprintf("%v is negative", d), "use a time of at least 0")
	}
	return d, err == nil && d >= 0
}

// finish sums up the computing times.
func (r *traceReader) finish() {
	last := vtime.Duration(0)
	for i, begin := range r.begins {
		r.free = append(r.free, r.all+begin-last)
		r.all, last = r.free[i], r.ends[i]
	}
	switch {
	case len(r.begins) == 0:
		r.fault("", "there is no detour", "write a line with the begin and the duration of each")
	case r.all == 0:
		r.fault("", "the detours leave no time to compute", "begin the first one after 0")
	}
}

// replayed takes the rank's core away as in the trace, over and over. Each rank
// begins at a random instant of the trace.
type replayed struct {
	seed  uint64
	trace *trace
}

// Extend implements mpivirt.Noise. It takes time in proportion to the logarithm of the
// number of detours.
func (n *replayed) Extend(rank int, t vtime.Time, d vtime.Duration) vtime.Duration {
	if d <= 0 {
		return d
	}
	tr := n.trace
	length := tr.length()
	phase := vtime.Duration(random.Intn(n.seed, uint64(rank), 0, int(length)))
	begin := (vtime.Duration(t%vtime.Time(length)) + phase) % length
	// Computing time from the begin of the trace: that of whole traces, and of one more
	// that is not quite computed to its end.
	computed := uint64(tr.computed(begin)) + uint64(d)
	traces, rest := (computed-1)/uint64(tr.all), (computed-1)%uint64(tr.all)+1
	hi, lo := bits.Mul64(traces, uint64(length))
	end := tr.instant(vtime.Duration(rest))
	if hi > 0 || lo > uint64(math.MaxInt64-end) {
		return math.MaxInt64
	}
	return vtime.Duration(lo) + end - begin
}
