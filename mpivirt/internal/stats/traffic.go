package stats

import (
	"math"
	"math/bits"

	"gigarank/vtime"
)

// Traffic counts the contents of messages, those of collectives included: by the bandwidth that they saw, and the bytes between nodes. The outcome does not
// depend on the order of notes and merges.
type Traffic struct {
	speeds  Sizes  // classes of bytes a second; the sums are those of the messages' bytes
	between uint64 // bytes between nodes; 2^64-1 stands for more, too
}

// Note counts a message whose content takes a time from when it leaves until it is there. A message without bytes has no bandwidth.
func (t *Traffic) Note(bytes int64, took vtime.Duration, between bool) {
	t.NoteSame(bytes, took, 1, between)
}

// NoteSame counts n equal messages.
func (t *Traffic) NoteSame(bytes int64, took vtime.Duration, n uint64, between bool) {
	if bytes <= 0 || took <= 0 {
		return
	}
	c := t.speeds.at(bits.Len64(min(speed(uint64(bytes), uint64(took)), math.MaxInt64)))
	all := times(uint64(bytes), n)
	c.count += n
	c.bytes = addUp(c.bytes, all)
	if between {
		t.between = addUp(t.between, all)
	}
}

// speed returns bytes a second, rounded down, of bytes in some picoseconds.
func speed(size, ps uint64) uint64 {
	high, low := bits.Mul64(size, 1e12)
	if high >= ps {
		return math.MaxUint64
	}
	q, _ := bits.Div64(high, low, ps)
	return q
}

// Merge adds the traffic of another engine.
func (t *Traffic) Merge(o *Traffic) {
	t.speeds.Merge(&o.speeds)
	t.between = addUp(t.between, o.between)
}

// Speeds returns the classes of bandwidths, in bytes a second, with the number and the bytes of the messages that saw them.
func (t *Traffic) Speeds() []SizeClass { return t.speeds.Classes() }

// Between returns the bytes between nodes.
func (t *Traffic) Between() uint64 { return t.between }

func (t *Traffic) append(b []byte) []byte { return t.speeds.Append(appendWords(b, t.between)) }

func (t *Traffic) read(r *reader) {
	t.between = r.word()
	r.b = t.speeds.Read(r.b)
}
