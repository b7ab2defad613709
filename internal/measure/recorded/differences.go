package main

import (
	"fmt"
	"strings"

	"gigarank/collectives"
)

// difference is a known difference from the library.
type difference struct {
	operation collectives.Operation
	algorithm string // with any arguments
	when      func(call, collectives.Algorithm) bool
	reason    string
}

func (d *difference) of(k call, a collectives.Algorithm) bool {
	return d.operation == k.operation && d.algorithm == a.Base().String() && d.when(k, a)
}

// differences are the known ones.
var differences = []difference{
	{collectives.Barrier, "recursive-doubling", folded, "the library folds the last ranks onto the first, gigarank neighbours"},
	{collectives.Bcast, "split-binary", halfASegment, "with a segment longer than half of the vector the library takes the pipeline"},
	{collectives.Bcast, "scatter-allgather", emptyChunks, "the library sends no empty chunks in the scatter"},
	{collectives.Bcast, "scatter-allgather-ring", emptyChunks, "the library sends no empty chunks in the scatter"},
	{collectives.Reduce, "binomial", rooted, "gigarank's tree keeps the order of ranks for every root, the library's that from the root on"},
	{collectives.Reduce, "rabenseifner", unevenOrFolded, "the library folds by halves of the vector, and its first chunks are the longer ones"},
	{collectives.Allreduce, "ring", uneven, "the library's first chunks are the longer ones, gigarank's are spread"},
	{collectives.Allreduce, "ring-segmented", uneven, "the library's first chunks are the longer ones, gigarank's are spread"},
	{collectives.Allreduce, "rabenseifner", unevenOrFolded, "the library folds by halves of the vector, and its first chunks are the longer ones"},
	{collectives.Allreduce, "reduce-bcast", always, "the library's reduce and bcast have algorithms by its own rules"},
	{collectives.Allgather, "linear", always, "the library's bcast of everything has an algorithm by its own rules"},
	{collectives.Allgatherv, "linear", always, "the library's bcast of everything has an algorithm by its own rules"},
	{collectives.ReduceScatter, "binomial", always, "the library's reduce has an algorithm by its own rules, and its scatterv is linear"},
}

func always(call, collectives.Algorithm) bool { return true }

// folded reports whether the ranks are no power of two.
func folded(k call, _ collectives.Algorithm) bool { return k.ranks&(k.ranks-1) != 0 }

// rooted reports whether the root is another rank than 0.
func rooted(k call, _ collectives.Algorithm) bool { return k.root != 0 }

// uneven reports whether the vector has no whole number of elements for each rank.
func uneven(k call, _ collectives.Algorithm) bool { return k.bytes/element%int64(k.ranks) != 0 }

// halfASegment reports whether a segment is longer than half of the vector.
func halfASegment(k call, a collectives.Algorithm) bool { return a.Segment() > k.bytes/2 }

// emptyChunks reports whether some of the chunks of the vector, each of as many elements but the last that has some, are empty.
func emptyChunks(k call, _ collectives.Algorithm) bool {
	n, ranks := k.bytes/element, int64(k.ranks)
	chunk := (n + ranks - 1) / ranks
	return chunk*(ranks-1) >= n
}

func unevenOrFolded(k call, a collectives.Algorithm) bool { return uneven(k, a) || folded(k, a) }

// forcing is an algorithm that component tuned can be told.
type forcing struct {
	operation string
	number    int // of the algorithm in coll_tuned_*_decision.c
	algorithm string
	ranks     int // the only number of ranks that the algorithm serves; 0: all
}

// forcings are the algorithms of component tuned, with segments and fan-outs where they take them.
var forcings = []forcing{
	{"allgather", 1, "linear", 0},
	{"allgather", 2, "bruck", 0},
	{"allgather", 3, "recursive-doubling", 0},
	{"allgather", 4, "ring", 0},
	{"allgather", 5, "neighbor-exchange", 0},
	{"allgather", 6, "recursive-doubling", 2},
	{"allgatherv", 1, "linear", 0},
	{"allgatherv", 2, "bruck", 0},
	{"allgatherv", 3, "ring", 0},
	{"allgatherv", 4, "neighbor-exchange", 0},
	{"allgatherv", 5, "recursive-doubling", 2},
	{"allreduce", 1, "linear", 0},
	{"allreduce", 2, "reduce-bcast", 0},
	{"allreduce", 3, "recursive-doubling", 0},
	{"allreduce", 4, "ring", 0},
	{"allreduce", 5, "ring-segmented:4KiB", 0},
	{"allreduce", 6, "rabenseifner", 0},
	{"alltoall", 1, "linear-sync", 0},
	{"alltoall", 2, "pairwise", 0},
	{"alltoall", 3, "bruck", 0},
	{"alltoall", 4, "linear-sync", 0},
	{"alltoallv", 1, "linear", 0},
	{"alltoallv", 2, "pairwise", 0},
	{"barrier", 1, "linear", 0},
	{"barrier", 2, "double-ring", 0},
	{"barrier", 3, "recursive-doubling", 0},
	{"barrier", 4, "dissemination", 0},
	{"barrier", 5, "recursive-doubling", 2},
	{"barrier", 6, "binomial", 0},
	{"bcast", 1, "linear-nonblocking", 0},
	{"bcast", 2, "chain:4KiB:fanout=4", 0},
	{"bcast", 3, "pipeline:4KiB", 0},
	{"bcast", 4, "split-binary", 0},
	{"bcast", 4, "split-binary:4KiB", 0},
	{"bcast", 5, "binary:4KiB", 0},
	{"bcast", 6, "binomial-doubling:4KiB", 0},
	{"bcast", 7, "knomial:fanout=4", 0},
	{"bcast", 7, "knomial:4KiB:fanout=4", 0},
	{"bcast", 8, "scatter-allgather", 0},
	{"bcast", 9, "scatter-allgather-ring", 0},
	{"gather", 1, "linear", 0},
	{"gather", 2, "binomial", 0},
	{"gather", 3, "linear-sync", 0},
	{"gather", 3, "linear-sync:1KiB", 0},
	{"reduce", 1, "linear", 0},
	{"reduce", 2, "chain:4KiB:fanout=4", 0},
	{"reduce", 3, "pipeline:4KiB", 0},
	{"reduce", 4, "binary:4KiB", 0},
	{"reduce", 5, "binomial", 0},
	{"reduce", 5, "binomial:4KiB", 0},
	{"reduce", 6, "in-order-binary:4KiB", 0},
	{"reduce", 7, "rabenseifner", 0},
	{"reduce_scatter", 1, "binomial", 0},
	{"reduce_scatter", 2, "recursive-halving", 0},
	{"reduce_scatter", 3, "ring", 0},
	{"reduce_scatter", 4, "butterfly", 0},
	{"scatter", 1, "linear", 0},
	{"scatter", 2, "binomial", 0},
	{"scatter", 3, "linear-nonblocking", 0},
	{"scan", 1, "linear", 0},
	{"scan", 2, "recursive-doubling", 0},
	{"exscan", 1, "linear", 0},
	{"exscan", 2, "recursive-doubling", 0},
}

// parse returns the operation and its algorithm.
func (f *forcing) parse() (collectives.Operation, collectives.Algorithm, error) {
	for _, op := range collectives.Operations() {
		if op.String() == f.operation {
			a, err := collectives.ParseAlgorithm(op, f.algorithm)
			return op, a, err
		}
	}
	return 0, 0, fmt.Errorf("there is no operation %q", f.operation)
}

// parameters returns the parameters of the library that tell it the algorithm.
func (f *forcing) parameters() []string {
	_, a, _ := f.parse()
	prefix := "coll_tuned_" + f.operation + "_algorithm"
	parameters := []string{"coll_tuned_use_dynamic_rules=1", fmt.Sprintf("%s=%d", prefix, f.number)}
	if a.Segment() > 0 {
		parameters = append(parameters, fmt.Sprintf("%s_segmentsize=%d", prefix, a.Segment()))
	}
	switch {
	case a.Fanout() == 0:
	case strings.HasPrefix(f.algorithm, "knomial"):
		parameters = append(parameters, fmt.Sprintf("%s_knomial_radix=%d", prefix, a.Fanout()))
	default:
		parameters = append(parameters, fmt.Sprintf("%s_chain_fanout=%d", prefix, a.Fanout()))
	}
	return parameters
}
