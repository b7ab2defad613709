package kernel

import "gigarank/vtime"

// freeLooks is the number of looks at the clock in a row that take no time. Native ranks have the
// same rule.
const freeLooks = 1000

// looks are those in a row at the clocks of LPs.
type looks struct {
	lp   int32 // that has looked last
	made int32 // in a row, at most freeLooks
	at   vtime.Time
	long map[int32]vtime.Time // by LP that has made freeLooks in a row: what the latest look has shown
}

// StartLooks begins a row with a first look of an LP, which takes nothing.
func (k *Kernel) StartLooks(lp int32) {
	k.looks.lp, k.looks.made, k.looks.at = lp, 1, k.partition.Clock[lp]
	if k.looks.long != nil {
		delete(k.looks.long, lp)
	}
}

// Look counts a further look of an LP at its clock, and returns what it takes before Looked. A program that
// waits for a time by looking at the clock would wait forever where its computing takes no time: in a
// long row of looks, without a call or time between them, each takes as long as a failing poll. The
// first ones suspend no LP, so that no other one comes between them.
func (k *Kernel) Look(lp int32) vtime.Duration {
	l := &k.looks
	if at, long := l.long[lp]; long && at == k.partition.Clock[lp] {
		return k.partition.Target.PollTime()
	} else if long {
		delete(l.long, lp)
	}
	if l.lp != lp || l.at != k.partition.Clock[lp] {
		l.lp, l.made = lp, 0
	}
	if l.made < freeLooks {
		l.made++
		return 0
	}
	if l.long == nil {
		l.long = map[int32]vtime.Time{}
	}
	l.made, l.long[lp] = 0, k.partition.Clock[lp]
	return k.partition.Target.PollTime()
}

// Looked stores what a look of an LP at its clock shows.
func (k *Kernel) Looked(lp int32) {
	k.looks.at = k.partition.Clock[lp]
	if _, long := k.looks.long[lp]; long {
		k.looks.long[lp] = k.partition.Clock[lp]
	}
}
