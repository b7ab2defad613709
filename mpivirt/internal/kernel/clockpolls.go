package kernel

import "gigarank/vtime"

// freeClockPolls is the number of clock polls in a row that take no virtual time. Native ranks have
// the same rule.
const freeClockPolls = 1000

// clockPolls counts the clock polls of LPs in a row.
type clockPolls struct {
	lp   int32 // the LP that has polled last
	made int32 // number of polls in a row, at most freeClockPolls
	at   vtime.Time
	long map[int32]vtime.Time // by LP that has made freeClockPolls in a row: the time that the latest poll has shown
}

// StartClockPolls starts a row of clock polls with a first poll of an LP, which takes no time.
func (k *Kernel) StartClockPolls(lp int32) {
	k.clockPolls.lp, k.clockPolls.made, k.clockPolls.at = lp, 1, k.partition.Clock[lp]
	if k.clockPolls.long != nil {
		delete(k.clockPolls.long, lp)
	}
}

// PollClock counts a further clock poll of an LP, and returns the time that the poll takes before
// ClockPolled. A program that polls the clock until some time would poll forever where its
// computing takes no time. So in a long row of clock polls, without a call or time in between, each
// poll takes as long as a failing test. The first polls suspend no LP, so that no other LP runs in
// between.
func (k *Kernel) PollClock(lp int32) vtime.Duration {
	l := &k.clockPolls
	if len(l.long) > 0 {
		if at, long := l.long[lp]; long && at == k.partition.Clock[lp] {
			return k.partition.Target.PollTime()
		} else if long {
			delete(l.long, lp)
		}
	}
	if l.lp != lp || l.at != k.partition.Clock[lp] {
		l.lp, l.made = lp, 0
	}
	if l.made < freeClockPolls {
		l.made++
		return 0
	}
	if l.long == nil {
		l.long = map[int32]vtime.Time{}
	}
	l.made, l.long[lp] = 0, k.partition.Clock[lp]
	return k.partition.Target.PollTime()
}

// ClockPolled stores the time that a clock poll of an LP shows.
func (k *Kernel) ClockPolled(lp int32) {
	k.clockPolls.at = k.partition.Clock[lp]
	if len(k.clockPolls.long) == 0 {
		return
	}
	if _, long := k.clockPolls.long[lp]; long {
		k.clockPolls.long[lp] = k.partition.Clock[lp]
	}
}
