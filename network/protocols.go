package network

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"gigarank/vtime"
)

// protocol is a way in which a library sends a message: with flags in the data, at a low latency and a share of the bandwidth, or
// behind a barrier of memory, at a high latency and the whole bandwidth.
type protocol struct {
	name string
	link link
}

const protocolsRemedy = "write a list such as [{name: LL, latency: 0.6us, bandwidth: 40GB/s}, {name: Simple, latency: 3.4us, bandwidth: 370GB/s}]"

// parseProtocols reads the protocols of a level, from the lowest latency on.
func parseProtocols(o *object) []protocol {
	var all []protocol
	for _, entry := range o.objects("protocols", protocolsRemedy) {
		faults := len(o.doc.Faults)
		p := protocol{name: entry.text("name", true), link: parseLink(entry)}
		entry.close("", nil)
		if entry == nil || len(o.doc.Faults) > faults {
			continue
		}
		if last := len(all) - 1; last >= 0 {
			before := &all[last]
			switch {
			case slices.ContainsFunc(all, func(other protocol) bool { return other.name == p.name }):
				entry.fault("name", fmt.Sprintf("%q is the name of another protocol, too", p.name), "give each protocol a name of its own")
			case p.link.latency <= before.link.latency:
				entry.fault("latency", fmt.Sprintf("is not above that of %s", before.name), "sort the protocols by latency")
			case before.link.bandwidth == 0 || p.link.bandwidth != 0 && p.link.bandwidth <= before.link.bandwidth:
				entry.fault("latency", fmt.Sprintf("is above that of %s, whose bandwidth is no less, so that no message takes it", before.name), "give it more bandwidth, or remove it")
			}
		}
		all = append(all, p)
	}
	return all
}

func writeProtocols(o *objectWriter, all []protocol) {
	putObjects(o, "protocols", all, func(inner *objectWriter, p protocol) {
		inner.text("name", p.name)
		p.link.write(inner)
	})
}

// delay returns the delay of a message under a protocol.
func (p *protocol) delay(bytes int64) vtime.Duration {
	return p.link.latency.Plus(rateOf(p.link.bandwidth).time(bytes))
}

// fastest returns the delays of messages that take the protocol under which they arrive first: a table with a point at each
// size from which on another protocol is the fastest, and one more for the slope of the last protocol.
func fastest(all []protocol) []measurement {
	table := []measurement{{0, all[0].link.latency}}
	own := &all[0]
	for i := 1; i < len(all); {
		next, from := i, int64(math.MaxInt64)
		for k := i; k < len(all); k++ {
			if at := own.slowerFrom(&all[k]); at <= from { // the later of two with one size has the more bandwidth
				next, from = k, at
			}
		}
		own, i = &all[next], next+1
		if last := len(table) - 1; from > table[last].size {
			table = append(table, measurement{from, own.delay(from)})
		}
	}
	const beyond = 1 << 40 // bytes, for a slope that rounding does not change
	last := table[len(table)-1].size + beyond
	return append(table, measurement{last, own.delay(last)})
}

// slowerFrom returns the least size from which on another protocol, of more latency and more bandwidth, is no slower.
func (p *protocol) slowerFrom(other *protocol) int64 {
	const most = 1 << 50
	return int64(sort.Search(most, func(bytes int) bool { return p.delay(int64(bytes)) >= other.delay(int64(bytes)) }))
}
