package network

import (
	"go.yaml.in/yaml/v3"

	"gigarank/vtime"
)

// localCopy is the time in which a rank copies what it has for itself: at a bandwidth, or as
// measured by size. The zero value takes no time.
type localCopy struct {
	bandwidth bandwidth
	table     []measurement
}

// parseLocalCopy reads a mapping with a bandwidth or a list of times by size.
func parseLocalCopy(o *object) (l localCopy) {
	const key = "local_copy"
	if o.has(key) && target(o.fields[key].node).Kind == yaml.SequenceNode {
		l.table = parseTable(o, key)
		return l
	}
	if inner := o.object(key, false, ""); inner != nil {
		l.bandwidth = inner.bandwidth("bandwidth", true)
		inner.close("", nil)
	}
	return l
}

func (l localCopy) write(w *writer, o *objectWriter) {
	const key = "local_copy"
	switch path := o.within(key); {
	case l.table != nil:
		writeTable(o, key, l.table)
	case l.bandwidth != 0 || w.estimated(path):
		inner := w.object(path)
		inner.text("bandwidth", l.bandwidth.String())
		o.put(key, inner.node)
	}
}

func (l localCopy) given() bool { return l.table != nil || l.bandwidth != 0 }

// path returns the path that a block takes.
func (l localCopy) path() path {
	if len(l.table) > 0 {
		return measuredPath(l.table)
	}
	return path{rate: rateOf(l.bandwidth)}
}

// LocalCopyTime returns the time that a rank takes to copy what it has for itself: its block in an
// alltoall, or a message to itself. An empty one takes none.
func (t *Target) LocalCopyTime(bytes int64) vtime.Duration {
	if bytes == 0 {
		return 0
	}
	return t.local.latency.Plus(t.local.transfer(bytes))
}
