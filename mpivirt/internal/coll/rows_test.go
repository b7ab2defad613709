package coll

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The lengths of blocks in rows, and in the columns of the rounds of a pairwise exchange, are those of the matrix of all blocks, whether the
// blocks of a member differ or not, and whether an engine has all members or some.
func TestRowsAreThoseOfTheMatrix(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.IntRange(1, 40).Draw(t, "members")
		comm := &Communicator{}
		comm.Size, comm.First = members, rapid.IntRange(0, members-1).Draw(t, "first")
		comm.Last = rapid.IntRange(comm.First+1, members).Draw(t, "last")
		r, matrix := newRows(comm), make([][]int64, comm.Last-comm.First)
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
		column, copied := make([]int64, len(matrix)), make([]int64, members)
		for range rapid.IntRange(1, 40).Draw(t, "rounds") {
			round := rapid.IntRange(0, max(members-2, 0)).Draw(t, "round")
			r.column(round, column)
			for local, got := range column {
				if want := matrix[local][(comm.First+local+round+1)%members]; got != want {
					t.Fatalf("%v: the message of member %d in round %d has %d bytes, want %d", matrix, comm.First+local, round, got, want)
				}
			}
		}
		for local := range matrix {
			if r.copyTo(copied, local); !slices.Equal(copied, matrix[local]) {
				t.Fatalf("the blocks of member %d are %v, want %v", local, copied, matrix[local])
			}
		}
	})
}
