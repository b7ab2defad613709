package study

import (
	"math"
	"testing"

	"gigarank/collectives"
	"gigarank/vtime"
)

// Figures that nccl-tests printed: an allreduce of 4 GiB on 8 GPUs in 15,658.7 us has 480 GB/s (NVIDIA/nccl issue 1455), one of 8 GiB on 16 GPUs in
// 48,806.4 us 330 GB/s (issue 1221). The other operations: PERFORMANCE.md of nccl-tests, on 4 ranks with buffers of 4 MB in 1 ms.
func TestBusBandwidthIsThatOfNCCLTests(t *testing.T) {
	for _, c := range []struct {
		op             collectives.Operation
		ranks, payload int64
		time           vtime.Duration
		want           float64
	}{
		{collectives.Allreduce, 8, 4 << 30, 15_658_700 * vtime.Nanosecond, 480e9},
		{collectives.Allreduce, 16, 8 << 30, 48_806_400 * vtime.Nanosecond, 330e9},
		{collectives.Allgather, 4, 1e6, vtime.Millisecond, 3e9},
		{collectives.ReduceScatter, 4, 1e6, vtime.Millisecond, 3e9},
		{collectives.Alltoall, 4, 1e6, vtime.Millisecond, 3e9},
		{collectives.Bcast, 4, 4e6, vtime.Millisecond, 4e9},
		{collectives.Reduce, 4, 4e6, vtime.Millisecond, 4e9},
		{collectives.Barrier, 4, 0, vtime.Millisecond, 0},
		{collectives.Scan, 4, 4e6, vtime.Millisecond, 0},
		{collectives.Allreduce, 1, 8, vtime.Millisecond, 0},
		{collectives.Allreduce, 4, 0, vtime.Millisecond, 0},
	} {
		if got := busBandwidth(c.op, c.ranks, c.payload, c.time); math.Abs(got-c.want) > 1e-4*c.want {
			t.Errorf("%s of %d bytes on %d ranks in %v: %.4g B/s, want %.4g", c.op, c.payload, c.ranks, c.time, got, c.want)
		}
	}
}
