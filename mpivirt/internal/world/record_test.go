package world

import (
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gigarank/vtime"
)

// A record is its fields, little-endian, one after the other; each is read as it was written, and instants that lie apart
// are written as if they lay side by side.
func TestRecordsAreLittleEndianFields(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		record := make([]byte, 1000)
		w, r, want := Writer{record}, Reader{record}, []byte(nil)
		var read []func()
		for range rapid.IntRange(0, 10).Draw(t, "fields") {
			switch v := rapid.Uint64().Draw(t, "value"); rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				w.U8(byte(v))
				want = append(want, byte(v))
				read = append(read, func() {
					if got := r.U8(); got != byte(v) {
						t.Fatalf("byte %x is read as %x", byte(v), got)
					}
				})
			case 1:
				w.U32(uint32(v))
				want = binary.LittleEndian.AppendUint32(want, uint32(v))
				read = append(read, func() {
					if got := r.U32(); got != uint32(v) {
						t.Fatalf("%x is read as %x", uint32(v), got)
					}
				})
			case 2:
				w.U64(v)
				want = AppendWords(want, v)
				read = append(read, func() {
					if got := r.U64(); got != v {
						t.Fatalf("%x is read as %x", v, got)
					}
				})
			default:
				n, stride := rapid.IntRange(0, 5).Draw(t, "instants"), rapid.IntRange(1, 3).Draw(t, "stride")
				clocks := make([]vtime.Time, n*stride)
				for i := range clocks {
					clocks[i] = vtime.Time(v) + vtime.Time(i)
				}
				w.Times(clocks, n, stride)
				var written []vtime.Time
				for i := range n {
					written, want = append(written, clocks[i*stride]), AppendWords(want, uint64(clocks[i*stride]))
				}
				read = append(read, func() {
					got := make([]vtime.Time, n)
					if r.Times(got); !slices.Equal(got, written) {
						t.Fatalf("%v are read as %v", written, got)
					}
				})
			}
		}
		if got := record[:len(record)-len(w.Rest)]; !slices.Equal(got, want) {
			t.Fatalf("the record is %x, want %x", got, want)
		}
		for _, f := range read {
			f()
		}
		if len(r.Rest) != len(w.Rest) {
			t.Fatalf("%d bytes are left to read, %d to write", len(r.Rest), len(w.Rest))
		}
	})
}
