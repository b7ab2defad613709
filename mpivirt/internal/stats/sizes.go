package stats

import (
	"math"
	"math/bits"
)

// Sizes counts sizes in bytes by classes: 0 bytes, and from each power of two up to the next. The sums of
// an engine's ranks add up to the same whoever counts them. Without a size it takes no memory of its own.
type Sizes struct{ classes *[sizeClasses]class }

// class is the number and the sum of the sizes in a class.
type class struct{ count, bytes uint64 }

// sizeClasses is the number of classes that an int64 which is not negative can have: the class is the
// number of its bits.
const sizeClasses = 64

// at returns a class, to be changed.
func (s *Sizes) at(i int) *class {
	if s.classes == nil {
		s.classes = new([sizeClasses]class)
	}
	return &s.classes[i]
}

// Note counts a size, which is not negative.
func (s *Sizes) Note(bytes int64) {
	c := s.at(bits.Len64(uint64(bytes)))
	c.count++
	c.bytes = addUp(c.bytes, uint64(bytes))
}

// NoteSame counts n equal sizes.
func (s *Sizes) NoteSame(bytes int64, n uint64) {
	c := s.at(bits.Len64(uint64(bytes)))
	c.count += n
	c.bytes = addUp(c.bytes, times(uint64(bytes), n))
}

// Merge adds the sizes of another engine.
func (s *Sizes) Merge(o *Sizes) {
	if o.classes == nil {
		return
	}
	for i, theirs := range o.classes {
		c := s.at(i)
		c.count += theirs.count
		c.bytes = addUp(c.bytes, theirs.bytes)
	}
}

// addUp returns a sum of bytes, at most 2^64-1. So the order in which sums are added has no effect.
func addUp(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry > 0 {
		return math.MaxUint64
	}
	return sum
}

// times returns n times a number of bytes, at most 2^64-1.
func times(bytes, n uint64) uint64 {
	high, low := bits.Mul64(bytes, n)
	if high > 0 {
		return math.MaxUint64
	}
	return low
}

// SizeClass is a class of sizes.
type SizeClass struct {
	Low, High int64  // least and greatest size of the class
	Count     uint64 // of the sizes in the class
	Bytes     uint64 // their sum; 2^64-1 stands for more, too
}

// Classes returns the classes that have sizes, by size. It is not nil.
func (s *Sizes) Classes() []SizeClass {
	all := []SizeClass{}
	if s.classes == nil {
		return all
	}
	for i, c := range s.classes {
		if c.count > 0 {
			all = append(all, SizeClass{Low: int64(uint64(1) << i >> 1), High: int64(uint64(1)<<i - 1), Count: c.count, Bytes: c.bytes})
		}
	}
	return all
}

// Append appends the sizes to b, in the form that Read reads: the number of classes, 0 without a size, and these.
func (s *Sizes) Append(b []byte) []byte {
	if s.classes == nil {
		return appendWords(b, 0)
	}
	b = appendWords(b, sizeClasses)
	for _, c := range s.classes {
		b = appendWords(b, c.count, c.bytes)
	}
	return b
}

// Read sets the sizes from the bytes of Append and returns the rest of b.
func (s *Sizes) Read(b []byte) (rest []byte) {
	r := reader{b}
	s.classes = nil
	for i := range int(r.word()) {
		c := s.at(i)
		c.count, c.bytes = r.word(), r.word()
	}
	return r.b
}
