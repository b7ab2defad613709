package mpivirt_test

import (
	"fmt"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// packed is a network on which messages take 1 us, a copy of b bytes 10 + b ns, and a derived datatype of n blocks 300 + 7n ns.
const packed = "name: packed\nnetwork: {%s, datatype: {time: 300ns, block: 7ns}, local_copy: [{size: 0, delay: 10ns}, {size: 1000, delay: 1010ns}]}\n"

// Five ranks with blocks of 8 bytes. Bruck's alltoall rotates 40 bytes, packs blocks 1 and 3, unpacks them, packs 2 and 3, which lie together, unpacks
// them, packs block 4, unpacks it, and rotates 40 bytes back (Bruck et al., 1997, 3.1). Each round has a datatype, of 2, 2 and 1 blocks. Bruck's allgather rotates the result, 40 bytes. The
// other algorithms copy the own block of an alltoall, 8 bytes, and nothing else.
func TestBruckPacks(t *testing.T) {
	const ranks, block, rounds = 5, 8, 3
	copied := func(bytes int) vtime.Duration { return vtime.Duration(10+bytes) * vtime.Nanosecond }
	alltoall := copied(40) + 2*2*copied(8) + 2*copied(16) + 2*copied(8) + copied(40) + (3*300+5*7)*vtime.Nanosecond
	for _, c := range []struct {
		op        collectives.Operation
		algorithm collectives.Algorithm
		want      vtime.Duration
	}{
		{collectives.Alltoall, collectives.Bruck, rounds*vtime.Microsecond + alltoall},
		{collectives.Allgather, collectives.Bruck, rounds*vtime.Microsecond + copied(40)},
		{collectives.Alltoall, collectives.Pairwise, 4*vtime.Microsecond + copied(8)},
		{collectives.Allgather, collectives.Ring, 4 * vtime.Microsecond},
	} {
		for _, model := range []string{"model: flat, latency: 1us", "model: loggops, L: 1us, o: 0, g: 0, G: 0"} {
			laidOut := target(t, fmt.Sprintf(packed, model), ranks)
			for _, data := range []bool{false, true} {
				call := func(comm *mpivirt.Comm) error {
					in, out := make([]byte, ranks*block), make([]byte, ranks*block)
					for i := range in {
						in[i] = byte(10*comm.Rank() + i/block)
					}
					switch {
					case !data:
						return comm.CollectiveSize(c.op, block, 0)
					case c.op == collectives.Allgather:
						return mpivirt.Allgather(comm, in[:block], out)
					}
					if err := mpivirt.Alltoall(comm, in, out); err != nil {
						return err
					}
					for i, got := range out {
						if want := byte(10*(i/block) + comm.Rank()); got != want {
							return fmt.Errorf("byte %d of rank %d is %d, want %d", i, comm.Rank(), got, want)
						}
					}
					return nil
				}
				for engines := 1; engines <= 3; engines++ {
					for _, interpreter := range interpreters {
						if got := finish(t, laidOut, interpreter, engines, c.op, c.algorithm, call); got != c.want {
							t.Errorf("%v by %v, %s, data %t, %v on %d engines takes %v, want %v", c.op, c.algorithm, model, data, interpreter, engines, got, c.want)
						}
					}
				}
			}
		}
	}
}
