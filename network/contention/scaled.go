package contention

import (
	"math/bits"

	"gigarank/vtime"
)

// Scaled decides by the PMaC model of PSINS. Let n_b, n_o and n_i be the messages that have asked
// and not ended, of the machine, of the source's node and of the destination's node, including the
// message that asks. Each number beyond the limit of busses, links out and links in scales the
// bandwidth of the message: B · min(1, busses/n_b, out/n_o, in/n_i). The message keeps this
// bandwidth to its end.
type Scaled struct {
	outcomes
	pairs
	limits Limits
	all    int
	out    map[int]int // outstanding messages by node
	in     map[int]int
	under  heap[transfer]
}

// NewScaled returns an idle network.
func NewScaled(limits Limits) *Scaled {
	return &Scaled{limits: limits, out: map[int]int{}, in: map[int]int{},
		under: heap[transfer]{less: func(a, b *transfer) bool { return a.ends < b.ends }}}
}

// Next returns Forever: each message is decided when it asks.
func (s *Scaled) Next() vtime.Time { return vtime.Forever }

// Advance drops the messages that have ended.
func (s *Scaled) Advance(to vtime.Time) {
	for s.under.len() > 0 && s.under.items[0].ends <= to {
		t := s.under.pop()
		s.all--
		if s.out[t.from]--; s.out[t.from] == 0 {
			delete(s.out, t.from)
		}
		if s.in[t.to]--; s.in[t.to] == 0 {
			delete(s.in, t.to)
		}
	}
}

// Ask begins a message.
func (s *Scaled) Ask(m Message) {
	s.Advance(m.At)
	s.all++
	s.out[m.From]++
	s.in[m.To]++
	out, _ := s.limits.Links(m.From)
	_, in := s.limits.Links(m.To)
	num, den := 1, 1
	for _, load := range [...][2]int{{s.all, s.limits.Busses}, {s.out[m.From], out}, {s.in[m.To], in}} {
		if load[1] > 0 && load[0]*den > num*load[1] {
			num, den = load[0], load[1]
		}
	}
	ends := m.At.Add(fraction(m.Transfer, num, den))
	s.under.push(transfer{ends, m.From, m.To})
	s.add(m.Tag, m.At, s.inOrder(&m, ends, m.At))
}

// fraction returns d·num/den to the nearest picosecond, ties to even, or Endless where that is more.
func fraction(d vtime.Duration, num, den int) vtime.Duration {
	hi, lo := bits.Mul64(uint64(d), uint64(num))
	if hi >= uint64(den) {
		return vtime.Endless
	}
	quotient, rest := bits.Div64(hi, lo, uint64(den))
	if over := uint64(den) - rest; rest > over || rest == over && quotient&1 == 1 {
		quotient++
	}
	return vtime.Duration(min(quotient, uint64(vtime.Endless)))
}
