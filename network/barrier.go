package network

import (
	"math/bits"

	"go.yaml.in/yaml/v3"

	"gigarank/vtime"
)

// leastBarrier is the least time of a barrier that a machine file may give. Engines that simulate
// such a barrier learn the last entry over a tree of at most 2·32 hops, each of which takes a
// picosecond or more.
const leastBarrier = vtime.Nanosecond

// offload is the time of an operation that the network carries out by itself, by the number of
// nodes of the job, ascending. A machine without such times has no rows; a time that does not
// depend on the number of nodes has a single row of one node.
type offload []offloaded

type offloaded struct {
	nodes int
	time  vtime.Duration
}

// parseBarrier returns the times of a barrier, none if the file gives none.
func parseBarrier(o *object) (times offload) {
	const key, example = "barrier", "write barrier: {time: 3us}, or a list such as [{nodes: 8, time: 3us}, {nodes: 64, time: 4us}]"
	if !o.has(key) || o.fields[key].Node.Kind != yaml.SequenceNode {
		inner := o.object(key, false, example)
		if inner == nil {
			return nil
		}
		return offload{{1, parseOffloaded(inner)}}
	}
	for _, row := range o.objects(key, example) {
		faults := len(o.doc.Faults)
		next := offloaded{nodes: row.count("nodes", true, 1, maxRanks), time: parseOffloaded(row)}
		if row == nil || len(o.doc.Faults) > faults {
			continue
		}
		if last := len(times) - 1; last >= 0 {
			switch {
			case next.nodes <= times[last].nodes:
				row.fault("nodes", "are no more than those before", "sort the list by nodes, each number once")
			case next.time < times[last].time:
				row.fault("time", "is less than that of fewer nodes", "smooth the measurements")
			}
		}
		times = append(times, next)
	}
	return times
}

func parseOffloaded(o *object) vtime.Duration {
	d := o.duration("time", true, leastBarrier)
	if d < leastBarrier {
		o.fault("time", "is less than "+leastBarrier.String(), "write a time of at least "+leastBarrier.String()+", or leave barrier out")
	}
	o.close("", nil)
	return d
}

func (f offload) write(o *objectWriter) {
	const key = "barrier"
	if len(f) == 1 && f[0].nodes == 1 {
		inner := o.object(o.within(key))
		inner.text("time", f[0].time.String())
		o.put(key, inner.node)
		return
	}
	putObjects(o, key, f, func(inner *objectWriter, row offloaded) {
		inner.number("nodes", row.nodes)
		inner.text("time", row.time.String())
	})
}

// on returns the time on a number of nodes, 0 without rows. Between two rows the time is linear in
// the logarithm of the nodes, as for trees of switches. Below the first row it is the time of that
// row; above the last row it keeps the last slope.
func (f offload) on(nodes int) vtime.Duration {
	switch {
	case len(f) == 0:
		return 0
	case len(f) == 1 || nodes <= f[0].nodes:
		return f[0].time
	}
	i := 0
	for i+2 < len(f) && nodes >= f[i+1].nodes {
		i++
	}
	from, to := f[i], f[i+1]
	slope := rate{num: uint64(to.time - from.time), den: uint64(log2(to.nodes) - log2(from.nodes))}
	return from.time.Plus(slope.time(log2(nodes) - log2(from.nodes)))
}

// log2 returns the binary logarithm of n, at least 1, in units of 2^-16, rounded down. It is
// exact for powers of two.
func log2(n int) int64 {
	whole := bits.Len64(uint64(n)) - 1
	x := uint64(n) << (63 - whole) >> 32 // from 2^31 to below 2^32
	log := int64(whole)
	for range 16 {
		log <<= 1
		x = x * x >> 31
		if x >= 1<<32 {
			x >>= 1
			log |= 1
		}
	}
	return log
}

// BarrierTime returns the time from the last entry into a barrier to the exits of all ranks, on the
// fewest nodes, or 0 if the machine gives none. It is at least a nanosecond.
func (m *Machine) BarrierTime() vtime.Duration {
	if len(m.barrier) == 0 {
		return 0
	}
	return m.barrier[0].time
}

// BarrierTime returns the machine's time of a barrier on the target's nodes.
func (t *Target) BarrierTime() vtime.Duration { return t.barrier }
