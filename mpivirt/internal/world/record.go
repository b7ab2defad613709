package world

import "encoding/binary"

func AppendWords(b []byte, words ...uint64) []byte {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// Records between kernels: a byte that tells the kind, then fields of fixed size,
// little-endian.
const (
	RecordMessage byte = iota
	RecordAcknowledgement
	RecordRound
	RecordJoin
	RecordRelease
	RecordArray
	RecordTree
	RecordSplit
	RecordFailed
	RecordSignature
	RecordMatch
	RecordRoundAcknowledgement
	RecordRoundMatch
)

// Writer and reader pack the fields of a record. The room is exact: a field too
// many panics.
type Writer struct{ Rest []byte }

func (w *Writer) U8(v byte) { w.Rest[0] = v; w.Rest = w.Rest[1:] }

func (w *Writer) U32(v uint32) { binary.LittleEndian.PutUint32(w.Rest, v); w.Rest = w.Rest[4:] }

func (w *Writer) U64(v uint64) { binary.LittleEndian.PutUint64(w.Rest, v); w.Rest = w.Rest[8:] }

type Reader struct{ Rest []byte }

func (r *Reader) U8() byte { v := r.Rest[0]; r.Rest = r.Rest[1:]; return v }

func (r *Reader) U32() uint32 { v := binary.LittleEndian.Uint32(r.Rest); r.Rest = r.Rest[4:]; return v }

func (r *Reader) U64() uint64 { v := binary.LittleEndian.Uint64(r.Rest); r.Rest = r.Rest[8:]; return v }
