package engine

import (
	"encoding/binary"
	"fmt"

	"gigarank/internal/random"
	"gigarank/vtime"
)

// Digest sums up which LPs have finished and when. It is the same however the LPs
// are divided among engines and in whatever order they finish.
type Digest struct {
	Finished uint64     // LPs that have finished
	Last     vtime.Time // latest finish
	sums     [2]uint64
}

// Keys of the two halves of a digest.
const (
	digestKey0 = 0x6769676172616e6b
	digestKey1 = 0x66696e6765727072
)

// Add enters the finish time of an LP; lp is its global number.
func (d *Digest) Add(lp int, at vtime.Time) {
	d.Finished++
	d.Last = max(d.Last, at)
	d.sums[0] += random.Uint64(digestKey0, uint64(lp), uint64(at))
	d.sums[1] += random.Uint64(digestKey1, uint64(lp), uint64(at))
}

// Merge adds the LPs of o, none of which is in d.
func (d *Digest) Merge(o *Digest) {
	d.Finished += o.Finished
	d.Last = max(d.Last, o.Last)
	for i := range d.sums {
		d.sums[i] += o.sums[i]
	}
}

// String returns the fingerprint: 32 hexadecimal digits over (LP, finish time).
func (d *Digest) String() string { return fmt.Sprintf("%016x%016x", d.sums[0], d.sums[1]) }

// Append appends the digest to b in the form that Read reads.
func (d *Digest) Append(b []byte) []byte {
	return appendWords(b, d.Finished, uint64(d.Last), d.sums[0], d.sums[1])
}

// Read reads a digest that Append has written and returns the rest of b.
func (d *Digest) Read(b []byte) (rest []byte) {
	var last uint64
	rest = readWords(b, &d.Finished, &last, &d.sums[0], &d.sums[1])
	d.Last = vtime.Time(last)
	return rest
}

// Add adds the counts of another engine.
func (s *Statistics) Add(o *Statistics) {
	s.Events += o.Events
	s.Messages += o.Messages
	s.Switches += o.Switches
	s.RemoteMessages += o.RemoteMessages
	s.SyncMessages += o.SyncMessages
	s.TransportMessages += o.TransportMessages
}

// Append appends the statistics to b in the form that Read reads.
func (s *Statistics) Append(b []byte) []byte {
	return appendWords(b, s.Events, s.Messages, s.Switches, s.RemoteMessages, s.SyncMessages, s.TransportMessages)
}

// Read reads a digest that Append has written and returns the rest of b.
func (s *Statistics) Read(b []byte) (rest []byte) {
	return readWords(b, &s.Events, &s.Messages, &s.Switches, &s.RemoteMessages, &s.SyncMessages, &s.TransportMessages)
}

func appendWords(b []byte, words ...uint64) []byte {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

func readWords(b []byte, words ...*uint64) []byte {
	for _, w := range words {
		*w = binary.LittleEndian.Uint64(b)
		b = b[8:]
	}
	return b
}
