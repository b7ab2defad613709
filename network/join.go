package network

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"gigarank/vtime"
)

// joins are the times of joins and releases of the ranks of a node: measured by size, or by the
// levels of the node. The zero value has neither.
type joins struct {
	measured  []measurement
	levels    []joinLevel
	bandwidth bandwidth     // of the memory that the node's ranks share
	bcast     []measurement // whole broadcasts of the ranks of a node, beside measured joins
}

// joinLevel is a level of a node, from the inside out. A unit of the level joins units of the level
// inside it.
type joinLevel struct {
	name    string
	ranks   int            // number of ranks of a unit; 0 for the last level, the node
	latency vtime.Duration // from the setting of a flag to its reader
	gap     vtime.Duration // between two flags that one reader reads
}

const joinRemedy = "write join: {levels: [{name: complex, ranks: 8, latency: 60ns, gap: 10ns}, {name: node, latency: 250ns, gap: 30ns}], bandwidth: 150GB/s}, or a list such as [{size: 0, delay: 100ns}]"

// parseJoin returns the times of joins, the zero value if the file gives none.
func parseJoin(o *object) (j joins) {
	const key, bcast = "join", "node_bcast"
	if o.has(bcast) {
		j.bcast = parseTable(o, bcast)
		if !o.has(key) || o.fields[key].Node.Kind != yaml.SequenceNode {
			o.fault(bcast, "is given without a list of joins", "add join: [{size: 0, delay: 100ns}], half of the time of a barrier of a node's ranks, or remove it")
		} else if len(j.bcast) > 0 && j.bcast[0].delay < 2*vtime.Picosecond {
			o.fault(bcast, "begins with less than 2ps", "write the times that were measured")
		}
	} else {
		o.skip(bcast)
	}
	if !o.has(key) {
		o.skip(key)
		return j
	}
	if o.fields[key].Node.Kind == yaml.SequenceNode {
		j.measured = parseTable(o, key)
		return j
	}
	inner := o.object(key, true, joinRemedy)
	if inner == nil {
		return j
	}
	j.bandwidth = inner.bandwidth("bandwidth", false)
	list := inner.objects("levels", joinRemedy)
	if len(list) > mostLevels {
		inner.fault("levels", fmt.Sprintf("there are %d of them", len(list)), fmt.Sprintf("give at most %d", mostLevels))
	}
	for i, entry := range list {
		l := joinLevel{name: entry.text("name", true), ranks: entry.count("ranks", false, 1, maxRanks)}
		l.latency, l.gap = entry.duration("latency", true, 0), entry.duration("gap", false, 0)
		last := i == len(list)-1
		switch {
		case entry == nil:
		case slices.ContainsFunc(j.levels, func(other joinLevel) bool { return l.name != "" && other.name == l.name }):
			entry.fault("name", fmt.Sprintf("%q is the name of another level, too", l.name), "give each level a name of its own")
		case last && l.ranks > 0:
			entry.fault("ranks", "is given in the last level, which is the node", "remove it, or add the level of the node")
		case !last && !entry.has("ranks"):
			entry.doc.Fault(entry.line, entry.path+".ranks", "is missing", "write the number of ranks that the level unites; only the last, the node, has none")
		case i > 0 && !last && l.ranks > 0 && j.levels[i-1].ranks > 0 && l.ranks%j.levels[i-1].ranks != 0:
			entry.fault("ranks", fmt.Sprintf("%d is no multiple of the %d of the level inside it", l.ranks, j.levels[i-1].ranks), "write a multiple")
		}
		entry.close("", nil)
		j.levels = append(j.levels, l)
	}
	inner.close("", nil)
	return j
}

func (j *joins) write(o *objectWriter) {
	const key = "join"
	if j.measured != nil {
		writeTable(o, key, j.measured)
	}
	if j.bcast != nil {
		writeTable(o, "node_bcast", j.bcast)
	}
	if j.levels == nil {
		return
	}
	inner := o.object(o.within(key))
	putObjects(inner, "levels", j.levels, func(level *objectWriter, l joinLevel) {
		level.text("name", l.name)
		if l.ranks > 0 {
			level.number("ranks", l.ranks)
		}
		level.text("latency", l.latency.String())
		level.text("gap", l.gap.String())
	})
	inner.text("bandwidth", j.bandwidth.String())
	o.put(key, inner.node)
}

// least returns a lower bound on the time of a join or release by levels.
func (j *joins) least() vtime.Duration {
	least := j.levels[0].latency
	for _, l := range j.levels {
		least = min(least, l.latency)
	}
	return max(least, vtime.Picosecond)
}

// Join returns the time in which a node-leader collective moves bytes from a member of a node to
// the leader, or back. It is at least one picosecond. Unless the machine gives it, it is the Delay
// within a node, under levels that of the node's level. A given time contains no overhead. Where
// the machine gives joins by levels, Joins holds instead; types of nodes may differ, see JoinsOn.
func (t *Target) Join(bytes int64) vtime.Duration {
	if !t.joins && t.typed != nil {
		return t.typed.model.latency(0, 0, bytes).Plus(t.typed.model.transfer(0, 0, bytes))
	}
	if !t.joins {
		const any = 0 // such delay models do not distinguish nodes, or ranks within a node
		latency, transfer := t.between(any, any, bytes)
		return latency.Plus(transfer)
	}
	return t.join.latency.Plus(t.join.transfer(bytes))
}

// GivesBcasts reports whether the machine gives the times of whole broadcasts of the ranks of a node.
func (t *Target) GivesBcasts() bool { return t.machine.join.bcast != nil }

// BcastJoins returns the times of a broadcast of some bytes among the members of a node, where the machine gives them: from the last
// entry to the exits it takes the time given. The part before the leader goes on is as short as an effect on another rank may be.
func (t *Target) BcastJoins(members int, bytes int64) (j Joining) {
	if members < 2 {
		return j
	}
	within := t.leastJoin()
	return Joining{In: within, Out: max(t.bcast.latency.Plus(t.bcast.transfer(bytes))-within, within)}
}

// leastJoin returns the shortest time of a join or a release.
func (t *Target) leastJoin() vtime.Duration {
	if t.GivesBcasts() {
		return max(min(t.join.latency, t.bcast.latency/2), vtime.Picosecond)
	}
	return t.join.latency
}

// Joining is the times of a node-leader collective on a node. The leader goes on at its own entry
// or In after the last entry of another member, whichever is later, plus Combine. The other members
// leave Out after the leader.
type Joining struct{ In, Combine, Out vtime.Duration }

// JoinsByLevels reports whether the time of joins grows with the number of members of a node.
func (t *Target) JoinsByLevels() bool { return t.machine.join.levels != nil }

// smallestPart is the least number of bytes of a vector that a rank combines by itself: a cache line.
const smallestPart = 64

// Joins returns the times of a node with a number of members, whose vectors have some bytes. span
// is the number of ranks of the node from the first member to the last.
//
// Without levels the leader combines the vectors of the other members one by one. With levels, a
// unit gathers the units inside it: it reads the last of their flags after the latency, and the
// flags one after another, a gap each. Then the ranks of a unit combine the vectors of the units
// inside it, each rank a part. All bytes read pass the memory that the node shares. At the end the
// flags go back, and each member copies the result.
func (t *Target) Joins(members, span int, bytes int64) (j Joining) {
	if members < 2 {
		return j
	}
	if !t.JoinsByLevels() {
		within := t.Join(bytes)
		return Joining{within, t.ReduceTime(bytes).Times(members - 1), within}
	}
	inside := members
	for _, l := range t.machine.join.levels {
		units := 1
		if l.ranks > 0 {
			units = min(inside, (span+l.ranks-1)/l.ranks)
		}
		children := (inside + units - 1) / units
		if children > 1 {
			flags := l.latency.Plus(l.gap.Times(children - 1))
			j.In, j.Out = j.In.Plus(flags), j.Out.Plus(flags)
			each := int64((members + units - 1) / units)
			part := min(bytes, max((bytes+each-1)/each, smallestPart))
			j.Combine = j.Combine.Plus(max(t.ReduceTime(part).Times(children-1), t.memory.time(allBytes(inside, bytes))))
		}
		inside = units
	}
	j.In, j.Out = max(j.In, vtime.Picosecond), max(j.Out, vtime.Picosecond)
	j.Out = j.Out.Plus(max(t.LocalCopyTime(bytes), t.memory.time(allBytes(members, bytes))))
	return j
}

// allBytes returns the bytes of n vectors.
func allBytes(n int, bytes int64) int64 {
	if bytes <= 0 {
		return 0
	}
	return int64(multiply(n, int(bytes)))
}
