package datatype

import (
	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/world"
)

// Order is the order of an array's elements in memory.
type Order uint8

// The orders of arrays.
const (
	RowMajor    Order = iota // MPI_ORDER_C: the last index varies fastest
	ColumnMajor              // MPI_ORDER_FORTRAN: the first index varies fastest
)

// Subarray returns the type of a part of an array, which has the extent of the whole
// (MPI_Type_create_subarray). Errors: ErrArgument for a part that is empty or leaves the array.
func Subarray(sizes, subsizes, starts []int, order Order, t *Type) (*Type, error) {
	if len(sizes) != len(subsizes) || len(sizes) != len(starts) || len(sizes) == 0 {
		return nil, world.Errorf(world.ErrArgument, "%d sizes, %d sizes of the part and %d starts: give one of each for a dimension", len(sizes), len(subsizes), len(starts))
	}
	if err := check(nil, t); err != nil {
		return nil, err
	}
	owned := make([][]span, len(sizes))
	for d, n := range sizes {
		if n < 1 || subsizes[d] < 1 || starts[d] < 0 || starts[d] > n-subsizes[d] {
			return nil, world.Errorf(world.ErrArgument, "%s from %d on of %d in dimension %d", spelling.Count(subsizes[d], "element"), starts[d], n, d)
		}
		owned[d] = []span{{starts[d], subsizes[d]}}
	}
	return array(sizes, owned, order, t), nil
}

// span is consecutive indices of a dimension.
type span struct{ first, count int }

// array returns the type of the elements of an array whose indices are owned in each dimension.
func array(sizes []int, owned [][]span, order Order, t *Type) *Type {
	stride := t.ub - t.lb
	part := t
	for i := range sizes {
		d := i
		if order == RowMajor {
			d = len(sizes) - 1 - i
		}
		pieces := make([]piece, len(owned[d]))
		for j, s := range owned[d] {
			pieces[j] = piece{int64(s.first) * stride, int64(s.count), stride, part}
		}
		part = made(pieces)
		stride *= int64(sizes[d])
	}
	part.lb, part.ub, part.lower, part.upper, part.dense = 0, stride, true, true, part.dense && part.size == stride
	return part
}

// Distribution is how a dimension of an array is distributed over processes.
type Distribution uint8

// The distributions.
const (
	None   Distribution = iota // MPI_DISTRIBUTE_NONE
	Block                      // MPI_DISTRIBUTE_BLOCK
	Cyclic                     // MPI_DISTRIBUTE_CYCLIC
)

// DefaultArgument is the distribution argument that a program leaves open: equal blocks, or
// blocks of one (MPI_DISTRIBUTE_DFLT_DARG).
const DefaultArgument = -1

// Dimension is a dimension of a distributed array.
type Dimension struct {
	Size         int
	Distribution Distribution
	Argument     int // length of the blocks, or DefaultArgument
	Processes    int
}

// Darray returns the type of the part of a distributed array that a process holds
// (MPI_Type_create_darray). Processes form a grid in row-major order. Errors: ErrArgument.
func Darray(rank int, dimensions []Dimension, order Order, t *Type) (*Type, error) {
	if err := check(nil, t); err != nil {
		return nil, err
	}
	processes := 1
	for _, d := range dimensions {
		processes *= max(d.Processes, 1)
	}
	if rank < 0 || rank >= processes || len(dimensions) == 0 {
		return nil, world.Errorf(world.ErrArgument, "process %d of %d in %s", rank, processes, spelling.Count(len(dimensions), "dimension"))
	}
	sizes, owned := make([]int, len(dimensions)), make([][]span, len(dimensions))
	for i := len(dimensions) - 1; i >= 0; i-- {
		d := dimensions[i]
		if fault := d.fault(); fault != "" {
			return nil, world.Errorf(world.ErrArgument, "dimension %d of %s over %s: %s", i, spelling.Count(d.Size, "element"), spelling.Count(d.Processes, "process"), fault)
		}
		sizes[i], owned[i] = d.Size, d.owned(rank%d.Processes)
		rank /= d.Processes
	}
	return array(sizes, owned, order, t), nil
}

// fault returns what is wrong with a dimension, the empty string for nothing.
func (d *Dimension) fault() string {
	switch {
	case d.Size < 1 || d.Processes < 1:
		return "give 1 or more of both"
	case d.Distribution == None && d.Processes != 1:
		return "one that is not distributed has one process"
	case d.Argument < 1 && d.Argument != DefaultArgument:
		return "give a block of 1 or more, or DefaultArgument"
	case d.Distribution == Block && d.Argument != DefaultArgument && d.Argument*d.Processes < d.Size:
		return "the blocks are too short"
	}
	return ""
}

// owned returns the indices that a process holds.
func (d *Dimension) owned(process int) (spans []span) {
	block := d.Argument
	switch {
	case d.Distribution == None:
		return []span{{0, d.Size}}
	case block == DefaultArgument && d.Distribution == Block:
		block = (d.Size + d.Processes - 1) / d.Processes
	case block == DefaultArgument:
		block = 1
	}
	for first := process * block; first < d.Size; first += block * d.Processes {
		spans = append(spans, span{first, min(block, d.Size-first)})
		if d.Distribution == Block {
			break
		}
	}
	return spans
}
