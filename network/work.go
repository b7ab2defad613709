package network

import (
	"go.yaml.in/yaml/v3"

	"gigarank/vtime"
)

// memoryWork is the time in which a rank copies or combines bytes in its memory: at a bandwidth, or
// as measured by size. The zero value takes no time.
type memoryWork struct {
	bandwidth bandwidth
	table     []measurement
}

// parseWork reads a mapping with a bandwidth or a list of times by size.
func parseWork(o *object, key string) (l memoryWork) {
	if o.has(key) && o.fields[key].Node.Kind == yaml.SequenceNode {
		l.table = parseTable(o, key)
		return l
	}
	if inner := o.object(key, false, ""); inner != nil {
		l.bandwidth = inner.bandwidth("bandwidth", true)
		inner.close("", nil)
	}
	return l
}

func (l memoryWork) write(w *writer, o *objectWriter, key string) {
	switch path := o.within(key); {
	case l.table != nil:
		writeTable(o, key, l.table)
	case l.bandwidth != 0 || w.estimated(path):
		inner := w.object(path)
		inner.text("bandwidth", l.bandwidth.String())
		o.put(key, inner.node)
	}
}

func (l memoryWork) given() bool { return l.table != nil || l.bandwidth != 0 }

// path returns the path that the bytes take.
func (l memoryWork) path() path {
	if len(l.table) > 0 {
		return measuredPath(l.table)
	}
	return path{rate: rateOf(l.bandwidth)}
}

// total returns the time of bytes on a path, 0 for no bytes.
func (p *path) total(bytes int64) vtime.Duration {
	if bytes == 0 {
		return 0
	}
	return p.latency.Plus(p.transfer(bytes))
}

// LocalCopyTime returns the time that a rank takes to copy a block to itself: its own block in an
// alltoall, or a message to itself. An empty block takes no time.
func (t *Target) LocalCopyTime(bytes int64) vtime.Duration { return t.local.total(bytes) }

// LocalCopyTimeAmong returns LocalCopyTime where n ranks of a node copy as many bytes each at a time:
// no less than the memory of the node takes to read and to write all of these bytes.
func (t *Target) LocalCopyTimeAmong(n int, bytes int64) vtime.Duration {
	return max(t.local.total(bytes), t.MemoryTime(allBytes(n, bytes)))
}

// CombiningTime returns the time for which a rank that combines bytes with as many others occupies the
// memory of its node: it reads both vectors, and writes one. It is 0 where the memory sets no limit.
func (t *Target) CombiningTime(bytes int64) vtime.Duration {
	if !t.sharesWithin {
		return 0
	}
	return t.carrying.time(allBytes(3, bytes))
}

// CopiesBytes reports whether copies in a rank's own memory take time.
func (t *Target) CopiesBytes() bool { return t.machine.localCopy.given() || t.sharesWithin }

// ReduceTime returns the time to combine bytes with as many other bytes.
func (t *Target) ReduceTime(bytes int64) vtime.Duration { return t.reduce.total(bytes) }
