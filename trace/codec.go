package trace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// repeated is the greatest length of a list that a mask leaves out because it is the list before.
const repeated = 64

// state is what the encoding of an operation refers to: the operations before it in the block.
type state struct {
	last  [fieldTook]int64
	lists [lists]uint32 // place of the latest list in the block, plus 1; 0 for an empty list
}

// predicted returns the value of a field that a mask does not name. The fields before it in the layout are there.
func (s *state) predicted(f field, o *Operation) int64 {
	switch f {
	case fieldWall:
		return o.CPU
	case fieldGotSource:
		return o.Source
	case fieldGotTag:
		return o.SourceTag
	}
	if f.rare() {
		return 0
	}
	return s.last[f]
}

// keep stores the value of a field to which later operations refer.
func (s *state) keep(f field, v int64) {
	if f < fieldTook {
		s.last[f] = v
	}
}

// appendSigned appends a number with the sign in the lowest bit.
func appendSigned(b []byte, v int64) []byte {
	return binary.AppendUvarint(b, uint64(v)<<1^uint64(v>>63))
}

// isTime reports whether a field is a time, which is written whole: bursts are rarely near each other.
func (f field) isTime() bool { return f == fieldCPU || f == fieldWall || f == fieldTook }

// picoseconds are those of a nanosecond: clocks of hosts count these.
const picoseconds = 1000

// appendTime appends a time: nanoseconds with the lowest bit 0, else picoseconds with the lowest bit 1. The number 1 stands for a
// number of picoseconds that has no room for the bit, which follows.
func appendTime(b []byte, v int64) []byte {
	if v >= 0 && v%picoseconds == 0 {
		return binary.AppendUvarint(b, uint64(v/picoseconds)<<1)
	}
	if signed := uint64(v)<<1 ^ uint64(v>>63); signed < 1<<63 {
		return binary.AppendUvarint(b, signed<<1|1)
	}
	return appendSigned(append(b, 1), v)
}

func (r *source) time() int64 {
	v := r.unsigned()
	switch {
	case v == 1:
		return r.signed()
	case v&1 == 0:
		if v>>1 > math.MaxInt64/picoseconds {
			r.fail("a time of %d ns", v>>1)
			return 0
		}
		return int64(v>>1) * picoseconds
	}
	v >>= 1
	return int64(v>>1) ^ -int64(v&1)
}

func appendList(b []byte, list []int64) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	before := int64(0)
	for _, v := range list {
		b = appendSigned(b, v-before)
		before = v
	}
	return b
}

func (o *Operation) appendListOf(b []byte, f field) []byte {
	if f == fieldName {
		return append(binary.AppendUvarint(b, uint64(len(o.Name))), o.Name...)
	}
	return appendList(b, *o.list(f))
}

func (o *Operation) lengthOf(f field) int {
	if f == fieldName {
		return len(o.Name)
	}
	return len(*o.list(f))
}

// isRepeated reports whether a list is the latest one of its field in the block that b holds. It may write behind b.
func (s *state) isRepeated(b []byte, o *Operation, f field) bool {
	n, place := o.lengthOf(f), s.lists[f-scalars]
	switch {
	case n == 0:
		return place == 0
	case n > repeated || place == 0:
		return false
	}
	text := o.appendListOf(b, f)[len(b):]
	return bytes.HasPrefix(b[place-1:], text)
}

// sameAs is the field of the same operation, plus 1, whose value a field has that a mask does not name; 0 for none. See predicted.
var sameAs = [scalars]field{fieldWall: fieldCPU + 1, fieldGotSource: fieldSource + 1, fieldGotTag: fieldSourceTag + 1}

// encodeRepeated appends an operation that differs from the latest one of its class by its form or its time alone, as most bursts and messages of a loop
// do: with the bytes of encode, which takes four times as long. It returns false for another operation.
func (s *state) encodeRepeated(b []byte, o *Operation) ([]byte, bool) {
	last := &s.last
	switch o.Function.Class() {
	case ClassBurst:
		switch {
		case o.Wall != o.CPU:
			return b, false
		case o.CPU == last[fieldCPU]:
			return append(b, byte(o.Function), 0), true
		}
		last[fieldCPU] = o.CPU
		return appendTime(append(b, byte(o.Function), 1), o.CPU), true
	case ClassSend:
		if o.Peer != last[fieldPeer] || o.Bytes != last[fieldBytes] || o.Tag != last[fieldTag] || o.Comm != last[fieldComm] || o.Request != last[fieldRequest] || o.Took != 0 {
			return b, false
		}
		if o.Form == 0 {
			return append(b, byte(o.Function), 0), true
		}
		return appendSigned(append(b, byte(o.Function), formOfSend), int64(o.Form)), true
	case ClassReceive:
		if o.Source != last[fieldSource] || o.Room != last[fieldRoom] || o.SourceTag != last[fieldSourceTag] || o.Comm != last[fieldComm] || o.Request != last[fieldRequest] ||
			o.GotSource != o.Source || o.GotTag != o.SourceTag || o.Took|o.Message != 0 {
			return b, false
		}
		if o.Form == 0 {
			return append(b, byte(o.Function), 0), true
		}
		return appendSigned(append(b, byte(o.Function), formOfReceive, 1), int64(o.Form)), true // the mask takes two bytes
	}
	return b, false
}

// encode appends an operation to the block that b holds. Encoders keep no rare fields: those that a mask does not name are 0 in last.
func (s *state) encode(b []byte, o *Operation) []byte {
	layout, mask, head := layouts[o.Function.Class()], uint64(0), len(b)
	b = append(b, byte(o.Function), 0)
	for i, f := range layout {
		if f >= scalars {
			if !s.isRepeated(b, o, f) {
				mask |= 1 << i
				b = s.appendNamed(b, o, f)
			}
			continue
		}
		v, before := *o.scalar(f), int64(0)
		if g := sameAs[f]; g != 0 {
			before = *o.scalar(g - 1)
		} else if f < fieldTook {
			before = s.last[f]
		}
		if v == before {
			continue
		}
		mask |= 1 << i
		if f.isTime() {
			b = appendTime(b, v)
		} else {
			b = appendSigned(b, v-before)
		}
		if !f.rare() {
			s.last[f] = v
		}
	}
	return s.putMask(b, head+1, mask)
}

// appendNamed appends a list that a mask names.
func (s *state) appendNamed(b []byte, o *Operation, f field) []byte {
	if o.lengthOf(f) == 0 {
		s.lists[f-scalars] = 0
		return append(b, 0)
	}
	s.lists[f-scalars] = uint32(len(b)) + 1
	return o.appendListOf(b, f)
}

// putMask stores a mask at a place where a byte is left for it. A longer one moves what is behind, with the lists that are there.
func (s *state) putMask(b []byte, at int, mask uint64) []byte {
	if mask < 0x80 {
		b[at] = byte(mask)
		return b
	}
	var text [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(text[:], mask)
	behind := len(b) - at - 1
	b = append(b, text[:n-1]...)
	copy(b[at+n:], b[at+1:at+1+behind])
	copy(b[at:], text[:n])
	for i, place := range s.lists {
		if int(place) > at {
			s.lists[i] += uint32(n - 1)
		}
	}
	return b
}

// source reads a block.
type source struct {
	data    []byte
	at      int
	problem string // the first one
}

func (r *source) fail(format string, arguments ...any) {
	if r.problem == "" {
		r.problem = fmt.Sprintf(format, arguments...)
	}
}

func (r *source) unsigned() uint64 {
	if r.at < len(r.data) && r.data[r.at] < 0x80 {
		r.at++
		return uint64(r.data[r.at-1])
	}
	v, n := binary.Uvarint(r.data[min(r.at, len(r.data)):])
	if n <= 0 {
		r.fail("a number has no end")
		return 0
	}
	r.at += n
	return v
}

func (r *source) signed() int64 {
	v := r.unsigned()
	return int64(v>>1) ^ -int64(v&1)
}

// length reads the length of a list whose elements take at least a byte each.
func (r *source) length() int {
	n := r.unsigned()
	if n > uint64(len(r.data)-r.at) {
		r.fail("a list of %d elements has only %d bytes", n, len(r.data)-r.at)
		return 0
	}
	return int(n)
}

// listOf reads a list of an operation.
func (r *source) listOf(o *Operation, f field) {
	n := r.length()
	if f == fieldName {
		o.Name = append(o.Name[:0], r.data[r.at:r.at+n]...)
		r.at += n
		return
	}
	list, before := (*o.list(f))[:0], int64(0)
	for range n {
		before += r.signed()
		list = append(list, before)
	}
	*o.list(f) = list
}

// decode reads the next operation. It stores the fields of the function's class, and zeros in the rare ones; the others keep what they
// had. An operation of a later version has the
// function [extension].
func (s *state) decode(r *source, o *Operation) {
	if r.at >= len(r.data) {
		r.fail("the block has fewer operations than it counts")
		return
	}
	o.Function, o.Form, o.Message, o.Times, o.Took = Function(r.data[r.at]), 0, 0, 0, 0
	r.at++
	if o.Function == extension {
		_ = r.unsigned()
		n := r.length()
		r.at += n
		return
	}
	if !o.Function.Known() {
		r.fail("there is no function %d", o.Function)
		return
	}
	layout, mask := layouts[o.Function.Class()], r.unsigned()
	if mask>>len(layout) != 0 {
		r.fail("%v has no fields beyond %d", o.Function, len(layout))
		return
	}
	if s.decodeRepeated(r, o, mask) {
		return
	}
	for i, f := range layout {
		named := mask>>i&1 != 0
		switch {
		case f < scalars:
			v := s.predicted(f, o)
			if named && f.isTime() {
				v = r.time()
			} else if named {
				v += r.signed()
			}
			*o.scalar(f) = v
			s.keep(f, v)
		case named:
			s.lists[f-scalars] = uint32(r.at) + 1
			if r.listOf(o, f); o.lengthOf(f) == 0 {
				s.lists[f-scalars] = 0
			}
		default:
			if s.again(r, o, f); r.problem == "" && o.lengthOf(f) > repeated {
				r.fail("a list of %d elements is not written again", o.lengthOf(f))
			}
		}
		if r.problem != "" {
			return
		}
	}
}

// The bits of the form in the masks of sends and receives.
const (
	formOfSend    = 1 << 5
	formOfReceive = 1 << 7
)

// decodeRepeated reads an operation that differs from the latest one of its class by its form or its time alone. It returns false for another one.
func (s *state) decodeRepeated(r *source, o *Operation, mask uint64) bool {
	last := &s.last
	switch o.Function.Class() {
	case ClassBurst:
		if mask > 1 {
			return false
		}
		if mask == 1 {
			last[fieldCPU] = r.time()
		}
		last[fieldWall] = last[fieldCPU]
		o.CPU, o.Wall = last[fieldCPU], last[fieldCPU]
	case ClassSend:
		if mask&^formOfSend != 0 {
			return false
		}
		if mask != 0 {
			o.Form = Form(r.signed())
		}
		last[fieldForm] = int64(o.Form)
		o.Peer, o.Tag, o.Bytes, o.Request, o.Comm = last[fieldPeer], last[fieldTag], last[fieldBytes], last[fieldRequest], last[fieldComm]
	case ClassReceive:
		if mask&^formOfReceive != 0 {
			return false
		}
		if mask != 0 {
			o.Form = Form(r.signed())
		}
		last[fieldForm], last[fieldMessage] = int64(o.Form), 0
		o.Source, o.SourceTag, o.Room, o.Request, o.Comm = last[fieldSource], last[fieldSourceTag], last[fieldRoom], last[fieldRequest], last[fieldComm]
		o.GotSource, o.GotTag = o.Source, o.SourceTag
		last[fieldGotSource], last[fieldGotTag] = o.Source, o.SourceTag
	default:
		return false
	}
	return true
}

// again stores the latest list of a field.
func (s *state) again(r *source, o *Operation, f field) {
	place := s.lists[f-scalars]
	if place == 0 {
		if f == fieldName {
			o.Name = o.Name[:0]
		} else {
			*o.list(f) = (*o.list(f))[:0]
		}
		return
	}
	before := source{data: r.data, at: int(place - 1)}
	if before.listOf(o, f); before.problem != "" {
		r.fail("%s", before.problem)
	}
}
