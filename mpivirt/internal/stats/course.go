package stats

import (
	"unsafe"

	"gigarank/vtime"
)

// passing are the causes in the order in which the parts of a call pass; see docs/statistics.md. The processor also works at the
// beginning and at the end.
var passing = [NumberOfCauses]Cause{LateRoot, LateSender, LateReceiver, WaitAtBarrier, WaitAtNToN, LateMember, Processor, Memory, Interface, Bus, Link, Network, Computing}

// Passing returns the causes in the order in which the parts of a call pass.
func Passing() []Cause { return passing[:] }

// InOrder passes the parts of a call to a function in the order in which they pass: its processor for the time lead, the causes of
// waiting, between them the rest of its processor, and its processor for the time tail.
func (c *Causes) InOrder(lead, tail vtime.Duration, part func(cause Cause, d vtime.Duration)) {
	if lead > 0 {
		part(Processor, lead)
	}
	for _, cause := range passing {
		d := c[cause]
		if cause == Processor {
			d -= lead + tail
		}
		if d > 0 {
			part(cause, d)
		}
	}
	if tail > 0 {
		part(Processor, tail)
	}
}

// CourseBins is the greatest number of bins of the course of a run.
const CourseBins = 128

// Course sums up the times of ranks by cause in bins of virtual time, of equal width. The width is the least power of two of picoseconds
// that suffices. So a course is a function of the times alone. It takes the same memory for any number of ranks.
type Course struct {
	shift uint8       // a bin has 2^shift picoseconds
	bins  *courseBins // nil if nothing is summed up
}

type courseBins [NumberOfCauses][CourseBins]courseBin

// courseBin are the times of a cause in a bin.
type courseBin struct {
	part   Total // of intervals that fill the bin in part
	filled int64 // intervals that fill all bins from this one on, less those that do so no more
}

// CourseBytes is the memory of a course.
const CourseBytes = int(unsafe.Sizeof(courseBins{}))

// Open begins a course.
func (c *Course) Open() { c.bins = &courseBins{} }

// Counts reports whether times are summed up.
func (c *Course) Counts() bool { return c.bins != nil }

// Add adds the time from an instant to another of n ranks.
func (c *Course) Add(cause Cause, from, to vtime.Time, n int) {
	if to <= from {
		return
	}
	for uint64(to-1)>>c.shift >= CourseBins {
		c.widen()
	}
	first, last := uint64(from)>>c.shift, uint64(to-1)>>c.shift
	bins := &c.bins[cause]
	if first == last {
		bins[first].part.addSame(to.Sub(from), n)
		return
	}
	bins[first].part.addSame(vtime.Duration((first+1)<<c.shift-uint64(from)), n)
	bins[last].part.addSame(vtime.Duration(uint64(to)-last<<c.shift), n)
	bins[first+1].filled += int64(n)
	bins[last].filled -= int64(n)
}

// Call adds the parts of a call that begins at an instant; see [Causes.InOrder].
func (c *Course) Call(began vtime.Time, times *Causes, lead, tail vtime.Duration) {
	times.InOrder(lead, tail, func(cause Cause, d vtime.Duration) {
		c.Add(cause, began, began.Add(d), 1)
		began = began.Add(d)
	})
}

// sums returns the times of a cause by bin.
func (c *Course) sums(cause Cause) (all [CourseBins]Total) {
	filled := int64(0)
	for i := range all {
		b := &c.bins[cause][i]
		filled += b.filled
		all[i] = b.part
		all[i].addSame(1<<c.shift, int(filled))
	}
	return all
}

// widen doubles the width of the bins.
func (c *Course) widen() {
	for cause := range NumberOfCauses {
		all := c.sums(cause)
		c.bins[cause] = [CourseBins]courseBin{}
		for i := range all {
			c.bins[cause][i/2].part.Merge(all[i])
		}
	}
	c.shift++
}

// Merge adds the course of another engine, which it may widen.
func (c *Course) Merge(o *Course) {
	if !o.Counts() {
		return
	}
	if !c.Counts() {
		c.Open()
	}
	for c.shift < o.shift {
		c.widen()
	}
	for o.shift < c.shift {
		o.widen()
	}
	for cause := range NumberOfCauses {
		for i, sum := range o.sums(cause) {
			c.bins[cause][i].part.Merge(sum)
		}
	}
}

// CourseTimes are the ranks' times by cause in bins of virtual time, of which the first begins at 0. The last bin has some time.
type CourseTimes struct {
	Width vtime.Duration
	Bins  [][NumberOfCauses]Total
}

// Times returns the sums, without bins if no time was.
func (c *Course) Times() (t CourseTimes) {
	if !c.Counts() {
		return t
	}
	t.Width = 1 << c.shift
	bins := make([][NumberOfCauses]Total, CourseBins)
	used := 0
	for cause := range NumberOfCauses {
		for i, sum := range c.sums(cause) {
			bins[i][cause] = sum
			if sum != (Total{}) {
				used = max(used, i+1)
			}
		}
	}
	if used > 0 {
		t.Bins = bins[:used]
	}
	return t
}

// append appends the course to b.
func (c *Course) append(b []byte) []byte {
	t := c.Times()
	b = appendWords(b, uint64(c.shift), uint64(len(t.Bins)))
	for i := range t.Bins {
		for _, sum := range t.Bins[i] {
			b = appendWords(b, sum.High, sum.Low)
		}
	}
	return b
}

// read sets the course from the bytes of append.
func (c *Course) read(r *reader) {
	*c = Course{shift: uint8(r.word())}
	n := r.word()
	if n > 0 {
		c.Open()
	}
	for i := range n {
		for cause := range NumberOfCauses {
			c.bins[cause][i].part = Total{r.word(), r.word()}
		}
	}
}
