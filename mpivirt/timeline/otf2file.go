package timeline

import (
	"bufio"
	"encoding/binary"
	"math"

	"gigarank/vtime"
)

// The encoding of the files of OTF2, the Open Trace Format 2 (Score-P; version 3.0, trace format 2), uncompressed. A file of events or
// definitions is a sequence of chunks of one size, of which the last may be shorter. A chunk begins with a header: the order of bytes,
// and the numbers of its first and last event. Numbers have as many bytes as they need, behind their length; the number with all bits set,
// OTF2's undefined, is the byte 255.

// Marks and sizes of OTF2's files.
const (
	otf2EndOfBuffer    = 1
	otf2EndOfFile      = 2
	otf2ChunkHeader    = 3
	otf2TimeStamp      = 5
	otf2AttributeList  = 6
	otf2LittleEndian   = 0x42
	otf2HeaderBytes    = 18
	otf2TimeStampBytes = 9
	otf2EventChunk     = 1 << 20
	otf2Definitions    = 4 << 20 // the size of a chunk of definitions
	undefined32        = math.MaxUint32
	undefined64        = math.MaxUint64
)

// otf2File writes a file in chunks.
type otf2File struct {
	w      *bufio.Writer
	size   int    // of a chunk
	chunk  []byte // the chunk that is being filled, from its header on
	events uint64 // so far; definitions are not counted
	record []byte // scratch
	at     vtime.Time
	timed  bool // the chunk has the time of its latest event
}

func newOTF2File(w *bufio.Writer, size int) *otf2File {
	f := &otf2File{w: w, size: size, chunk: make([]byte, 0, otf2EventChunk)}
	f.open()
	return f
}

// open begins a chunk.
func (f *otf2File) open() {
	f.chunk = append(f.chunk[:0], otf2ChunkHeader, otf2LittleEndian)
	f.chunk = binary.LittleEndian.AppendUint64(f.chunk, f.events+1)
	f.chunk = binary.LittleEndian.AppendUint64(f.chunk, 0)
	f.timed = false
}

// flush writes the chunk.
func (f *otf2File) flush() {
	binary.LittleEndian.PutUint64(f.chunk[10:], f.events)
	_, _ = f.w.Write(f.chunk)
}

// fit makes room for a record of a length, with its time, and for the end of the file behind it.
func (f *otf2File) fit(length int) {
	if len(f.chunk)+length+otf2TimeStampBytes+2 <= f.size {
		return
	}
	f.flush()
	for range f.size - len(f.chunk) {
		_ = f.w.WriteByte(0)
	}
	f.open()
}

// close ends the file.
func (f *otf2File) close() {
	f.chunk = append(f.chunk, otf2EndOfFile, otf2EndOfBuffer)
	f.flush()
}

// event writes an event at an instant: its attributes, its number and its fields.
func (f *otf2File) event(at vtime.Time, attributes, record []byte) {
	f.fit(len(attributes) + len(record))
	if !f.timed || at != f.at {
		f.chunk = append(f.chunk, otf2TimeStamp)
		f.chunk = binary.LittleEndian.AppendUint64(f.chunk, uint64(at))
		f.at, f.timed = at, true
	}
	f.chunk = append(append(f.chunk, attributes...), record...)
	f.events++
}

// definition writes a definition of a kind.
func (f *otf2File) definition(kind byte, fields []byte) {
	f.record = appendRecord(f.record[:0], kind, fields)
	f.fit(len(f.record))
	f.chunk = append(f.chunk, f.record...)
}

// appendRecord appends a record that has its length in front of its fields.
func appendRecord(b []byte, kind byte, fields []byte) []byte {
	b = append(b, kind)
	if len(fields) < 255 {
		b = append(b, byte(len(fields)))
	} else {
		b = binary.LittleEndian.AppendUint64(append(b, 255), uint64(len(fields)))
	}
	return append(b, fields...)
}

// append32 appends numbers of 32 bits.
func append32(b []byte, numbers ...uint32) []byte {
	for _, n := range numbers {
		if n == undefined32 {
			b = append(b, 255)
		} else {
			b = appendNumber(b, uint64(n))
		}
	}
	return b
}

// append64 appends numbers of 64 bits.
func append64(b []byte, numbers ...uint64) []byte {
	for _, n := range numbers {
		if n == undefined64 {
			b = append(b, 255)
		} else {
			b = appendNumber(b, n)
		}
	}
	return b
}

func appendNumber(b []byte, n uint64) []byte {
	place := len(b)
	b = append(b, 0)
	for ; n > 0; n >>= 8 {
		b = append(b, byte(n))
		b[place]++
	}
	return b
}

// appendText appends a text with its end.
func appendText(b []byte, text string) []byte { return append(append(b, text...), 0) }
