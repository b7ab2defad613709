package coll

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The lengths of blocks in rows, and in the columns of the rounds of a pairwise exchange, are those of the matrix of all blocks, whether the
// blocks of a member differ or not. A member with lists has no row.
func TestRowsAreThoseOfTheMatrix(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.IntRange(1, 40).Draw(t, "members")
		r, matrix := newRows(members), make([][]int64, members)
		for local := range matrix {
			matrix[local] = slices.Repeat([]int64{rapid.Int64Range(1, 3).Draw(t, "of all")}, members)
			if rapid.Bool().Draw(t, "differ") {
				for i := range matrix[local] {
					matrix[local][i] = rapid.Int64Range(0, 9).Draw(t, "length")
				}
			}
			each, longest, dense := shapeOf(matrix[local])
			some := members - len(slices.DeleteFunc(slices.Clone(matrix[local]), func(n int64) bool { return n != 0 }))
			if wantDense := some > 0 && 8*some >= members; dense != wantDense && !(some == 0 && each == 0) || longest != slices.Max(matrix[local]) {
				t.Fatalf("blocks %v: each %d, longest %d, dense %v", matrix[local], each, longest, dense)
			}
			r.keep(local, each, matrix[local])
		}
		all := slices.Concat(matrix...)
		if same := r.same(); (same >= 0) != (slices.Min(all) == slices.Max(all)) || same >= 0 && same != all[0] {
			t.Fatalf("%v: all blocks have length %d", matrix, same)
		}
		column, copied := make([]int64, members), make([]int64, members)
		for range rapid.IntRange(1, 40).Draw(t, "rounds") {
			round := rapid.IntRange(0, max(members-2, 0)).Draw(t, "round")
			r.column(round, column)
			for local, got := range column {
				if want := matrix[local][(local+round+1)%members]; got != want {
					t.Fatalf("%v: the message of member %d in round %d has %d bytes, want %d", matrix, local, round, got, want)
				}
			}
		}
		for local := range members {
			if r.copyTo(copied, local); !slices.Equal(copied, matrix[local]) {
				t.Fatalf("the blocks of member %d are %v, want %v", local, copied, matrix[local])
			}
		}
	})
}
