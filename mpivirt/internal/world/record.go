package world

import (
	"encoding/binary"
	"unsafe"

	"gigarank/mpivirt/internal/stats"
	"gigarank/vtime"
)

// AppendWords appends words to b, little-endian.
func AppendWords(b []byte, words ...uint64) []byte {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// The kinds of records between engines. A record is a byte with its kind, then little-endian fields
// of fixed size.
const (
	RecordMessage byte = iota
	RecordAcknowledgement
	RecordRound
	RecordJoin
	RecordRelease
	RecordArray
	RecordTree
	RecordResult
	RecordBlocks
	RecordSplit
	RecordGroups
	RecordFailed
	RecordSignature
	RecordMatch
	RecordRoundAcknowledgement
	RecordRoundMatch
	RecordReply      // ACK, on a machine with progress in calls
	RecordData       // DATA, on a machine with progress in calls
	RecordFree       // in place of ACK and DATA: the sender is free
	RecordRoundReply // ACK of a round, between nodes that have interfaces
	RecordRoundData  // DATA of a round, between nodes that have interfaces
)

// Writer packs fields into the rest of a record. A field that does not fit panics.
type Writer struct{ Rest []byte }

// U8 writes a byte.
func (w *Writer) U8(v byte) { w.Rest[0] = v; w.Rest = w.Rest[1:] }

// U32 writes four bytes.
func (w *Writer) U32(v uint32) { binary.LittleEndian.PutUint32(w.Rest, v); w.Rest = w.Rest[4:] }

// U64 writes eight bytes.
func (w *Writer) U64(v uint64) { binary.LittleEndian.PutUint64(w.Rest, v); w.Rest = w.Rest[8:] }

// LateRecord is the size of a rank for which others wait in a record.
const LateRecord = 2*4 + 3*8

// Late writes a rank for which others wait.
func (w *Writer) Late(l *stats.Late) {
	w.U32(uint32(l.Rank))
	w.U32(uint32(l.Behind))
	w.U64(uint64(l.From))
	w.U64(uint64(l.To))
	w.U64(uint64(l.Waited))
}

// Times writes n instants, stride apart in clocks, eight bytes each.
func (w *Writer) Times(clocks []vtime.Time, n, stride int) {
	out := w.Rest[:8*n]
	if stride == 1 && littleEndian {
		copy(out, memoryOf(clocks[:n]))
	} else {
		for i := range n {
			binary.LittleEndian.PutUint64(out[8*i:], uint64(clocks[i*stride]))
		}
	}
	w.Rest = w.Rest[8*n:]
}

// littleEndian is true if an instant has the same bytes in memory and in a record.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// memoryOf returns instants as bytes, in the same memory.
func memoryOf(clocks []vtime.Time) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(clocks))), 8*len(clocks))
}

// Reader reads fields from the rest of a record. A missing field panics.
type Reader struct{ Rest []byte }

// U8 reads a byte.
func (r *Reader) U8() byte { v := r.Rest[0]; r.Rest = r.Rest[1:]; return v }

// U32 reads four bytes.
func (r *Reader) U32() uint32 { v := binary.LittleEndian.Uint32(r.Rest); r.Rest = r.Rest[4:]; return v }

// U64 reads eight bytes.
func (r *Reader) U64() uint64 { v := binary.LittleEndian.Uint64(r.Rest); r.Rest = r.Rest[8:]; return v }

// Times reads len(clocks) instants, eight bytes each.
func (r *Reader) Times(clocks []vtime.Time) {
	in := r.Rest[:8*len(clocks)]
	if littleEndian {
		copy(memoryOf(clocks), in)
	} else {
		for i := range clocks {
			clocks[i] = vtime.Time(binary.LittleEndian.Uint64(in[8*i:]))
		}
	}
	r.Rest = r.Rest[8*len(clocks):]
}

// Late reads a rank for which others wait.
func (r *Reader) Late() stats.Late {
	return stats.Late{Rank: int32(r.U32()), Behind: int32(r.U32()), From: vtime.Time(r.U64()), To: vtime.Time(r.U64()), Waited: vtime.Duration(r.U64())}
}
