package collectives

// Kind is the shape of a round.
type Kind uint8

// The shapes of a round.
const (
	// Irregular: only Step describes the work of each member.
	Irregular Kind = iota
	// Shift: every member i sends to (i + Distance) mod P and receives from
	// (i − Distance) mod P.
	Shift
	// Exchange: survivor s exchanges with survivor s XOR Distance; the other
	// members are idle. Survivor s is member 2s+1 if s < Folded and member
	// s + Folded otherwise ([Survivor]); there are P − Folded survivors, a power of two.
	Exchange
	// Strided: the members First + n·Stride, 0 <= n < Count, send to the member that is
	// Distance (which may be negative) further on, without wrap-around. No sender
	// receives in the round.
	Strided
	// Paired: each member exchanges with its partner, which only Step tells.
	Paired
	// Grouped: the members 0 to Count-1 are in groups of Stride successive members. Within its group each sends Distance further on, as in a
	// Shift. The other members are idle. Only messages of a [Window] have this shape.
	Grouped
)

// Varies stands for a number that differs between the members of a round.
const Varies = -1

// Pattern describes a whole round that is regular enough to be evaluated as arithmetic
// on an array of clocks.
type Pattern struct {
	Kind                 Kind
	Distance             int
	Folded               int // Exchange only
	First, Stride, Count int // Strided, and Grouped without First
	Sent                 int // positions in each message, or Varies
	Combined             int // positions of a message that its receiver combines by ⊕, or Varies
}

// Congests reports whether all members of a round send about as far, or, of some, those that lie between one of them and its receiver:
// the messages pass the same links of a network.
func (p *Pattern) Congests() bool {
	switch p.Kind {
	case Shift, Exchange, Paired:
		return true
	case Strided:
		return p.Count > 1 && p.Stride < max(p.Distance, -p.Distance)
	}
	return false
}

// message returns the pattern of a single message.
func message(from, to, sent, combined int) Pattern {
	return Pattern{Kind: Strided, Distance: to - from, First: from, Stride: 1, Count: 1, Sent: sent, Combined: combined}
}

// combined returns n if blocks are combined and 0 if they are stored.
func combined(how Combine, n int) int {
	if how == Store {
		return 0
	}
	return n
}
