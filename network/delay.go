package network

import "gigarank/vtime"

// scope says what the delay between two ranks depends on.
type scope int

const (
	everywhere scope = iota // nothing: every pair is alike
	byNode                  // whether they are on one node
	byHops                  // the hops between their nodes
)

// A path is what a message crosses: the delay of no bytes, and what bytes add.
type path struct {
	latency vtime.Duration // at least one picosecond
	rate    rate
	table   []measurement // instead of rate, if there are any
}

// measurement is the measured delay of a message of so many bytes.
type measurement struct {
	size  int64
	delay vtime.Duration
}

func newPath(latency vtime.Duration, stages ...bandwidth) path {
	return path{latency: max(latency, vtime.Picosecond), rate: rateOf(stages...)}
}

// measuredPath runs through the measurements, of which there is at least one,
// ascending in size and not falling in delay.
func measuredPath(table []measurement) path {
	return path{latency: max(table[0].delay, vtime.Picosecond), table: table}
}

// transfer is what the bytes add to the latency. A measured path is flat up to
// its first point, linear between two, and keeps the last slope.
func (p *path) transfer(bytes int64) vtime.Duration {
	if p.table == nil {
		return p.rate.time(bytes)
	}
	i := 0
	for i+2 < len(p.table) && bytes >= p.table[i+1].size {
		i++
	}
	from := p.table[i]
	if i+1 == len(p.table) {
		return from.delay - p.table[0].delay
	}
	to := p.table[i+1]
	slope := rate{num: uint64(to.delay - from.delay), den: uint64(to.size - from.size)}
	return (from.delay - p.table[0].delay).Plus(slope.time(bytes - from.size))
}
