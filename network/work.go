package network

import (
	"go.yaml.in/yaml/v3"

	"gigarank/internal/quantity"
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

// datatypes is the time in which a library makes a derived datatype and packs and unpacks by it, beyond the copies. The zero value
// takes no time.
type datatypes struct {
	time  vtime.Duration // of a datatype
	block vtime.Duration // of each block in it
}

func parseDatatypes(o *object) (d datatypes) {
	if inner := o.object("datatype", false, "write datatype: {time: 0.1us, block: 14ns}"); inner != nil {
		d = datatypes{inner.duration("time", false, 0), inner.duration("block", false, 0)}
		inner.close("", nil)
	}
	return d
}

func (d datatypes) write(o *objectWriter) {
	if d == (datatypes{}) && !o.estimated(o.within("datatype")) {
		return
	}
	inner := o.writer.object(o.within("datatype"))
	inner.text("time", d.time.String())
	inner.text("block", d.block.String())
	o.put("datatype", inner.node)
}

// TypeTime returns the time in which a rank makes a derived datatype of some blocks.
func (t *Target) TypeTime(blocks int) vtime.Duration {
	d := &t.machine.datatypes
	return d.time.Plus(d.block.Times(blocks))
}

// freshMemory is the time in which the pages of a long buffer are made. An allocator returns such a buffer to the
// operating system when it is freed. The zero value takes no time.
type freshMemory struct {
	above     int64 // bytes of the longest buffer that the allocator keeps
	bandwidth bandwidth
}

// mappedAbove is the greatest threshold of glibc above which malloc maps a buffer: DEFAULT_MMAP_THRESHOLD_MAX, see mallopt(3).
const mappedAbove = 32 << 20

func parseFresh(o *object) (f freshMemory) {
	if inner := o.object("fresh_memory", false, ""); inner != nil {
		f = freshMemory{inner.size("above", false, mappedAbove), inner.bandwidth("bandwidth", true)}
		inner.close("", nil)
	}
	return f
}

func (f freshMemory) write(o *objectWriter) {
	if f.bandwidth == 0 && !o.estimated(o.within("fresh_memory")) {
		return
	}
	inner := o.writer.object(o.within("fresh_memory"))
	inner.text("above", quantity.FormatSize(f.above))
	inner.text("bandwidth", f.bandwidth.String())
	o.put("fresh_memory", inner.node)
}

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
func (t *Target) LocalCopyTime(bytes int64) vtime.Duration {
	if t.copyingAmong > 0 {
		return max(t.local.total(bytes), t.copying.time(allBytes(t.copyingAmong, bytes)))
	}
	return t.local.total(bytes)
}

// LocalCopyTimeAmong returns LocalCopyTime where n ranks of a node copy as many bytes each at a time:
// no less than the memory of the node takes to read and to write all of these bytes.
func (t *Target) LocalCopyTimeAmong(n int, bytes int64) vtime.Duration {
	return max(t.local.total(bytes), t.MemoryTime(allBytes(n, bytes)))
}

// HasBuffers reports whether buffers of collectives take time, see BufferTime.
func (t *Target) HasBuffers() bool { return t.machine.fresh.bandwidth != 0 || t.sharesWithin }

// BufferTime returns the time in which each of n ranks of a node allocates buffers of so many bytes, and copies so
// many bytes to where it combines them. Pages of long buffers are made first: no sooner than the memory of the node takes to clear
// those of all ranks. The memory reads and writes the copies of all ranks of a node; a rank that is alone on its node takes no time for its
// own copy, which is part of the times of its messages and sums as they are measured.
func (t *Target) BufferTime(n int, bytes int64, allocated, copied int) (d vtime.Duration) {
	f := &t.machine.fresh
	if fresh := allBytes(allocated, bytes); f.bandwidth != 0 && bytes > f.above && fresh > 0 {
		d = t.fresh.time(fresh)
		if t.sharesWithin {
			d = max(d, t.carrying.time(allBytes(n, fresh)))
		}
	}
	if n > 1 {
		d = d.Plus(t.MemoryTime(allBytes(n, allBytes(copied, bytes))))
	}
	return d
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
func (t *Target) CopiesBytes() bool {
	return t.machine.localCopy.given() || t.machine.datatypes != (datatypes{}) || t.sharesWithin || t.copyingAmong > 0
}

// ReduceTime returns the time to combine bytes with as many other bytes.
func (t *Target) ReduceTime(bytes int64) vtime.Duration { return t.reduce.total(bytes) }
