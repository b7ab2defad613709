package p2p

import (
	"testing"

	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// comes has a message arrive at LP 0.
func comes(m *Messages, comm, source, tag int32, arrival vtime.Time) {
	index := m.messages.Take()
	*m.messages.At(index) = message{comm: comm, source: source, rank: source, tag: tag, arrival: arrival}
	m.arrive(0, index)
}

// The nearest message differs from the pattern in the tag only, else in the source, else in the communicator; of several it is the
// first in the order of (arrival, source rank), in whichever order they have come.
func TestNearestMessage(t *testing.T) {
	type messages [][4]int // communicator, source, tag, arrival
	for _, c := range []struct {
		name                 string
		messages             messages
		comm, source, tag    int32
		by                   Misfit
		fromComm, from, wore int32
	}{
		{"none", nil, 1, 2, 3, NoMisfit, 0, 0, 0},
		{"another tag before another source", messages{{1, 1, 3, 5}, {1, 2, 4, 9}}, 1, 2, 3, OtherTag, 1, 2, 4},
		{"another source before another communicator", messages{{2, 2, 3, 5}, {1, 1, 3, 9}}, 1, 2, 3, OtherSource, 1, 1, 3},
		{"another communicator", messages{{2, 2, 3, 5}}, 1, 2, 3, OtherComm, 2, 2, 3},
		{"the earliest of two, which came last", messages{{1, 2, 5, 9}, {1, 2, 4, 7}}, 1, 2, 3, OtherTag, 1, 2, 4},
		{"the earliest of two, which came first", messages{{1, 2, 5, 7}, {1, 2, 4, 9}}, 1, 2, 3, OtherTag, 1, 2, 5},
		{"of one instant the lesser source", messages{{1, 4, 9, 7}, {1, 3, 9, 7}}, 1, world.AnySource, 3, OtherTag, 1, 3, 9},
	} {
		m := opened(t, 6)
		for _, x := range c.messages {
			comes(m, int32(x[0]), int32(x[1]), int32(x[2]), vtime.Time(x[3]))
		}
		by, comm, source, tag := m.Nearest(0, c.comm, c.source, c.tag)
		if by != c.by || comm != c.fromComm || source != c.from || tag != c.wore {
			t.Errorf("%s: misfit %d, message %d, %d, %d, want misfit %d and %d, %d, %d", c.name, by, comm, source, tag, c.by, c.fromComm, c.from, c.wore)
		}
	}
}
