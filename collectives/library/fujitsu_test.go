package library_test

import (
	"testing"

	"gigarank/collectives"
	"gigarank/collectives/library"
)

// The algorithms that Fujitsu MPI 4.0.1 says to have chosen on Fugaku, of those that gigarank has: its log of decisions in
// results/fugaku of https://github.com/HLC-Lab/pico, jobs of 2·2·2, 4·4·4, 8·8·8, 64·64 and 32·256 nodes. Bytes are those of the vector or of a block.
func TestFujitsuChoosesAsItsLogSays(t *testing.T) {
	table, err := library.Named("fujitsu")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		operation collectives.Operation
		ranks     int
		bytes     int64
		want      string
	}{
		{collectives.Barrier, 512, 0, "offload"},
		{collectives.Bcast, 512, 4, "offload"}, {collectives.Bcast, 4096, 32, "offload"},
		{collectives.Bcast, 512, 128 << 10, "torus-trees:4KiB:fanout=6"}, {collectives.Bcast, 4096, 1 << 20, "torus-trees:16KiB:fanout=6"},
		{collectives.Bcast, 64, 8 << 20, "torus-trees:16KiB:fanout=6"}, {collectives.Bcast, 64, 64 << 20, "torus-trees:64KiB:fanout=6"},
		{collectives.Reduce, 8, 4, "offload"}, {collectives.Reduce, 512, 2 << 10, "binomial"}, {collectives.Reduce, 8, 16 << 10, "in-order-binary:64KiB"},
		{collectives.Reduce, 512, 64 << 20, "in-order-binary:64KiB"}, {collectives.Reduce, 4096, 16 << 10, "binomial"},
		{collectives.Reduce, 4096, 128 << 10, "torus-trees:4KiB"}, {collectives.Reduce, 4096, 1 << 20, "torus-trees:16KiB"}, {collectives.Reduce, 4096, 8 << 20, "torus-trees:64KiB"},
		{collectives.Allreduce, 64, 4, "offload"}, {collectives.Allreduce, 64, 32, "recursive-doubling"}, {collectives.Allreduce, 8192, 16 << 10, "recursive-doubling"},
		{collectives.Allreduce, 64, 128 << 10, "torus-trees:4KiB"}, {collectives.Allreduce, 4096, 1 << 20, "torus-trees:16KiB"}, {collectives.Allreduce, 8192, 8 << 20, "torus-trees:64KiB"},
		{collectives.Gather, 64, 256, "binomial"}, {collectives.Gather, 8, 2 << 10, "torus-direct"}, {collectives.Gather, 4096, 2 << 10, "torus-direct"},
		{collectives.Allgather, 8, 2 << 10, "recursive-doubling"}, {collectives.Allgather, 8, 16 << 10, "neighbor-exchange"}, {collectives.Allgather, 512, 32, "recursive-doubling"},
		{collectives.Allgather, 64, 16 << 10, "torus-rings"}, {collectives.Allgather, 512, 1 << 20, "torus-rings"}, {collectives.Allgather, 8192, 8 << 10, "torus-rings"},
		{collectives.Alltoall, 8, 32, "bruck"}, {collectives.Alltoall, 64, 4, "bruck"}, {collectives.Alltoall, 8, 256, "torus-spread"}, {collectives.Alltoall, 4096, 32, "bruck"}, {collectives.Alltoall, 512, 256, "torus-spread"}, {collectives.Alltoall, 64, 1 << 20, "torus-spread"},
		{collectives.ReduceScatter, 512, 1 << 20, "recursive-halving"}, {collectives.ReduceScatter, 8, 128 << 10, "ring"}, {collectives.ReduceScatter, 8, 16 << 10, "recursive-halving"},
		{collectives.Scatter, 8, 128 << 10, "binomial"}, {collectives.Scatter, 8, 1 << 20, "linear"}, {collectives.Scatter, 64, 1 << 20, "binomial"},
	} {
		q := collectives.Question{Operation: c.operation, Ranks: c.ranks, PerNode: 1, Bytes: c.bytes, Commutative: true, ElementBytes: 4,
			Hardware: collectives.Hardware{Barrier: true, Offload: c.bytes <= 32, Torus: true}}
		if got := table.Choose(q); got.String() != c.want {
			t.Errorf("%v of %d bytes on %d nodes: %s, and %s by the log", c.operation, c.bytes, c.ranks, got, c.want)
		}
	}
}
