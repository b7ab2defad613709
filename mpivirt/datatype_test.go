package mpivirt_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"gigarank/mpivirt"
	"gigarank/mpivirt/datatype"
)

// MPI 4.1, 3.3.1 and 5.1.11: a message sent with one datatype is received with another of the
// same elements: a column of a matrix as a row, and the gaps stay as they are. Only the elements
// travel, in the time of a message of their size.
func TestColumnsBecomeRows(t *testing.T) {
	const rows, columns = 4, 3
	acrossContents(t, 2, false, func(r *mpivirt.Rank) error {
		c := r.World()
		column, err := datatype.Vector(rows, 1, columns, datatype.Of[int64]())
		if err != nil {
			return err
		}
		matrix := make([]int64, rows*columns)
		if r.Rank() == 0 {
			for i := range matrix {
				matrix[i] = int64(i)
			}
			if err := mpivirt.SendType(c, datatype.Bytes(matrix[1:]), 1, column, 1, 0); err != nil {
				return err
			}
			q := must(mpivirt.IsendType(c, datatype.Bytes(matrix), 1, column, 1, 1))
			clear(matrix)
			_, err := q.Wait()
			return err
		}
		row := make([]int64, rows+1)
		status, err := mpivirt.Recv(c, row[:rows], 0, 0)
		if want := []int64{1, 4, 7, 10, 0}; err != nil || status.Bytes != 8*rows || !slices.Equal(row, want) {
			return fmt.Errorf("%v, %+v, %v; want %v", row, status, err, want)
		}
		status, err = mpivirt.RecvType(c, datatype.Bytes(matrix[2:]), 1, column, 0, 1)
		if want := []int64{0, 0, 0, 0, 0, 3, 0, 0, 6, 0, 0, 9}; err != nil || column.Count(status.Bytes) != 1 || !slices.Equal(matrix, want) {
			return fmt.Errorf("%v, %+v, %v; want %v", matrix, status, err, want)
		}
		return nil
	})
}

// MPI 4.1, 6.8: MPI_ALLTOALLW "allows separate specification of count, displacement and
// datatype" of each block. Here it transposes a matrix that is distributed by rows into one by
// columns; MPI_NEIGHBOR_ALLTOALLW does so on the complete graph.
func TestTransposeByAlltoallw(t *testing.T) {
	const n = 4
	acrossContents(t, n, false, func(r *mpivirt.Rank) error {
		me := r.Rank()
		number := datatype.Of[int32]()
		sparse := must(datatype.Resized(number, 0, 8))
		row, column := make([]int32, n), make([]int32, 2*n)
		var sends, receives []mpivirt.TypedBlock
		var all []int
		for other := range n {
			row[other] = int32(10*me + other)
			sends = append(sends, mpivirt.TypedBlock{At: 4 * other, Count: 1, Type: number})
			receives = append(receives, mpivirt.TypedBlock{At: 8 * other, Count: 1, Type: sparse})
			all = append(all, other)
		}
		want := make([]int32, 2*n)
		for other := range n {
			want[2*other] = int32(10*other + me)
		}
		complete := must(r.World().DistGraphCreateAdjacent(all, nil, all, nil, false))
		for i, call := range []func() error{
			func() error {
				return mpivirt.Alltoallw(r.World(), datatype.Bytes(row), sends, datatype.Bytes(column), receives)
			},
			func() error {
				return mpivirt.NeighborAlltoallw(complete, datatype.Bytes(row), sends, datatype.Bytes(column), receives)
			},
		} {
			clear(column)
			if err := call(); err != nil || !slices.Equal(column, want) {
				return fmt.Errorf("%d: %v, %v; want %v", i, column, err, want)
			}
		}
		return nil
	})
}

// A datatype that leaves its buffer is an error of the call, before anything is sent.
func TestFaultyTypedMessages(t *testing.T) {
	err := inside(t, 2, 1, false, func(r *mpivirt.Rank) error {
		r.SetErrorsReturn(true)
		pair := must(datatype.Contiguous(2, datatype.Of[int32]()))
		short := make([]byte, 7)
		_, begun := mpivirt.IsendType(r.World(), short, 1, pair, 1, 0)
		_, received := mpivirt.RecvType(r.World(), short, 1, pair, 0, 0)
		block := []mpivirt.TypedBlock{{Count: 1, Type: pair}, {Count: 1, Type: pair}}
		for i, err := range []error{
			mpivirt.SendType(r.World(), short, 1, pair, 1, 0), begun, received,
			mpivirt.Alltoallw(r.World(), short, block, make([]byte, 8), block),
		} {
			if !errors.Is(err, mpivirt.ErrBuffer) {
				return fmt.Errorf("%d: %v", i, err)
			}
		}
		if err := mpivirt.SendType(r.World(), short, 1, nil, 1, 0); !errors.Is(err, mpivirt.ErrType) {
			return err
		}
		return r.World().Barrier()
	})
	if err != nil {
		t.Error(err)
	}
}
