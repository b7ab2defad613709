package world

import "gigarank/vtime"

// Uncharged describes code of ranks that has taken no virtual time, where CPU times do not count.
type Uncharged struct {
	Code     int64 // approximate run time of such code on the host, in ns
	Timeless int64 // pieces of such code between two clock polls of a rank that show the same time
	Declared bool  // the program declares its computing
}

func (u *Uncharged) merge(o *Uncharged) {
	u.Code += o.Code
	u.Timeless += o.Timeless
	u.Declared = u.Declared || o.Declared
}

func (u *Uncharged) append(b []byte) []byte {
	declared := map[bool]uint64{true: 1}[u.Declared]
	return AppendWords(b, uint64(u.Code), uint64(u.Timeless), declared)
}

func (u *Uncharged) read(b []byte) (rest []byte) {
	r := Reader{Rest: b}
	u.Code, u.Timeless, u.Declared = int64(r.U64()), int64(r.U64()), r.U64() == 1
	return r.Rest
}

// leastCode is the run time of a rank's code, in nanoseconds, up to which the code is ignored: a
// rank that only starts and prints takes less.
const leastCode = 10e6

// alike is the number of ranks among which one piece of code is ignored: the host may have held up
// a rank between two clock polls.
const alike = 1000

// Matters reports whether ranks, of a number and a mean finish time, have computed something that
// the simulated times leave out.
func (u *Uncharged) Matters(ranks uint64, mean vtime.Duration) bool {
	if u.Declared || ranks == 0 {
		return false
	}
	code := float64(u.Code) / float64(ranks)
	return uint64(u.Timeless) > ranks/alike || code > leastCode && code > mean.Seconds()*1e9/10
}
