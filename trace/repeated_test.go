package trace

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// Operations that repeat the latest one of their class are encoded as any others are.
func TestRepeatedOperationsAreEncodedAsOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var quick, slow state
		var a, b []byte
		small := rapid.Int64Range(0, 1)
		for range rapid.IntRange(1, 60).Draw(t, "operations") {
			o := Operation{Function: rapid.SampledFrom([]Function{Burst, Send, Isend, Recv, Irecv, Sendrecv, Barrier}).Draw(t, "function")}
			for _, f := range layouts[o.Function.Class()] {
				if f < scalars && rapid.IntRange(0, 5).Draw(t, "whether") == 0 {
					*o.scalar(f) = rapid.OneOf(small, rapid.Int64()).Draw(t, "field")
				}
			}
			if o.Function == Burst && rapid.Bool().Draw(t, "one time") {
				o.Wall = o.CPU
			}
			if rapid.Bool().Draw(t, "one source") {
				o.GotSource, o.GotTag = o.Source, o.SourceTag
			}
			var done bool
			if a, done = quick.encodeRepeated(a, &o); !done {
				a = quick.encode(a, &o)
			}
			if b = slow.encode(b, &o); !bytes.Equal(a, b) {
				t.Fatalf("%+v: %x, want %x", o, a, b)
			}
			for f := range quick.last {
				if g := field(f); quick.last[f] != slow.last[f] && sameAs[g] == 0 {
					t.Fatalf("%+v: field %d is %d, want %d", o, f, quick.last[f], slow.last[f])
				}
			}
		}
	})
}
