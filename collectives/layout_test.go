package collectives_test

import (
	"slices"
	"testing"

	"gigarank/collectives"

	"pgregory.net/rapid"
)

// Chunk c of a vector of count elements has the elements from count·c/chunks to
// count·(c+1)/chunks. Chunks follow one another, and differ by one at the most.
func TestSplitIsEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.Int64Range(0, 1e12).Draw(t, "count")
		size := rapid.Int64Range(1, 64).Draw(t, "size")
		chunks := rapid.IntRange(1, 1000).Draw(t, "chunks")
		l := collectives.Split(count, size, chunks)
		if l.Offset(0) != 0 || l.Offset(chunks) != count*size {
			t.Fatalf("the chunks run from %d to %d", l.Offset(0), l.Offset(chunks))
		}
		for c := range chunks {
			n := l.Bytes(collectives.Blocks{First: c, Count: 1}, chunks)
			if n%size != 0 || n/size != count/int64(chunks) && n/size != (count+int64(chunks)-1)/int64(chunks) {
				t.Fatalf("chunk %d has %d bytes", c, n)
			}
			if l.Offset(c)+n != l.Offset(c+1) {
				t.Fatalf("chunk %d does not end where the next begins", c)
			}
		}
	})
}

// A vector for a billion members has offsets for which count·c exceeds 63 bits.
func TestSplitOfLargeVectors(t *testing.T) {
	const chunks, count = 1 << 30, 1 << 40
	l := collectives.Split(count, 8, chunks)
	if got := l.Offset(chunks - 1); got != (chunks-1)*1024*8 {
		t.Errorf("the last chunk begins at %d", got)
	}
}

func TestGivenBlocksFollowOneAnother(t *testing.T) {
	l := collectives.Uneven([]int64{3, 0, 5}, 4)
	var offsets []int64
	for block := range 4 {
		offsets = append(offsets, l.Offset(block))
	}
	if want := []int64{0, 12, 12, 32}; !slices.Equal(offsets, want) {
		t.Errorf("offsets %v, want %v", offsets, want)
	}
	if got := l.Bytes(collectives.Blocks{First: 2, Count: 2}, 3); got != 32 {
		t.Errorf("the cyclic range 2, 0 has %d bytes, want 32", got)
	}
}

// The bytes of a message are those of its positions, one by one.
func TestBytesAreTheSumOverPositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.IntRange(1, 100).Draw(t, "positions")
		counts := rapid.SliceOfN(rapid.Int64Range(0, 9), w, w).Draw(t, "counts")
		layout := rapid.SampledFrom([]collectives.Layout{
			collectives.Split(rapid.Int64Range(0, 999).Draw(t, "count"), 8, w),
			collectives.Uniform(3, 8),
			collectives.Uneven(counts, 8),
		}).Draw(t, "layout")
		b := collectives.Blocks{First: rapid.IntRange(0, w-1).Draw(t, "first"), Count: rapid.IntRange(0, w).Draw(t, "n")}
		if bit := 1 << rapid.IntRange(0, 6).Draw(t, "bit"); bit < w && rapid.Bool().Draw(t, "with bit") {
			b = collectives.Blocks{First: bit, Run: bit}
			for p := range w {
				if p&bit != 0 {
					b.Count++
				}
			}
		}
		want := int64(0)
		for _, p := range positions(b, w) {
			want += layout.Offset(p+1) - layout.Offset(p)
		}
		if got := layout.Bytes(b, w); got != want {
			t.Fatalf("%+v has %d bytes, its positions %d", b, got, want)
		}
	})
}

func TestBlocksInOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		b    collectives.Blocks
		w    int
		want []int
	}{
		{"empty", collectives.Blocks{}, 8, []int{}},
		{"range", collectives.Blocks{First: 2, Count: 3}, 8, []int{2, 3, 4}},
		{"to the end", collectives.Blocks{First: 6, Count: 2}, 8, []int{6, 7}},
		{"wrapped", collectives.Blocks{First: 6, Count: 4}, 8, []int{6, 7, 0, 1}},
		{"all", collectives.Blocks{First: 3, Count: 4}, 4, []int{3, 0, 1, 2}},
		{"bit 1, last run short", collectives.Blocks{First: 2, Count: 5, Run: 2}, 11, []int{2, 3, 6, 7, 10}},
	} {
		if got := positions(c.b, c.w); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// The v variants with blocks of different sizes, some empty: a message has the same
// length at both ends.
func TestGivenLayoutsAgreeAtBothEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(slices.DeleteFunc(pairs(), func(p pair) bool {
			switch p.op {
			case collectives.Gatherv, collectives.Scatterv, collectives.Allgatherv,
				collectives.Alltoallv, collectives.ReduceScatter:
				return false
			}
			return true
		})).Draw(t, "algorithm")
		members := rapid.IntRange(1, 20).Draw(t, "members")
		counts := rapid.SliceOfN(rapid.Int64Range(0, 9), members*members, members*members).Draw(t, "counts")
		s := build(t, p, members, 0)
		x := newExecutor(s, input(collectives.Ordered(p.op, p.a)), merge)
		x.layout = func(m int) collectives.Layout {
			if p.op != collectives.Alltoallv {
				return collectives.Uneven(counts[:members], 8)
			}
			both := slices.Clone(counts[m*members : (m+1)*members]) // row: to each; column: from each
			for from := range members {
				both = append(both, counts[from*members+m])
			}
			return collectives.Uneven(both, 8)
		}
		if err := x.run(ascending(members)); err != nil {
			t.Fatalf("%s: %v", p, err)
		}
	})
}
