package collectives_test

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"gigarank/collectives"
)

// The messages of a member, as a library's source gives them: its sends and receives in order. Blocks and segments are counted.

type act struct {
	send   bool
	peer   int
	blocks int
}

func (a act) String() string {
	if a.send {
		return fmt.Sprintf("%d to %d", a.blocks, a.peer)
	}
	return fmt.Sprintf("%d from %d", a.blocks, a.peer)
}

func send(peer, blocks int) act { return act{true, peer, blocks} }
func recv(peer, blocks int) act { return act{false, peer, blocks} }

// acts returns the sends and receives of a member in a schedule.
func acts(s collectives.Schedule, m int) (all []act) {
	for round := range s.MaxRounds() {
		step := s.Step(m, round)
		if step.To != None {
			all = append(all, send(step.To, step.Send.Count))
		}
		if step.From != None {
			all = append(all, recv(step.From, step.Receive.Count))
		}
	}
	return all
}

// powerBelow returns the greatest power of two up to n.
func powerBelow(n int) int { return 1 << (bits.Len(uint(n)) - 1) }

// folded returns the ranks of the survivors of a folding in MPICH and Open MPI, and how many blocks each has.
func folded(size int) (rank func(newrank int) int, newrank func(rank int) int, blocks func(newrank int) int) {
	rem := size - powerBelow(size)
	rank = func(n int) int {
		if n < rem {
			return 2*n + 1
		}
		return n + rem
	}
	newrank = func(r int) int {
		switch {
		case r >= 2*rem:
			return r - rem
		case r%2 == 0:
			return -1
		}
		return r / 2
	}
	blocks = func(n int) int {
		if n < rem {
			return 2
		}
		return 1
	}
	return rank, newrank, blocks
}

// treeBarrier is ompi_coll_base_barrier_intra_tree.
func treeBarrier(rank, size int) (all []act) {
	depth := 1
	for depth < size {
		depth *= 2
	}
	for jump := 1; jump < depth; jump *= 2 {
		if partner := rank ^ jump; partner&(jump-1) == 0 && partner < size {
			if partner > rank {
				all = append(all, recv(partner, 0))
			} else {
				all = append(all, send(partner, 0))
			}
		}
	}
	for jump := depth / 2; jump > 0; jump /= 2 {
		if partner := rank ^ jump; partner&(jump-1) == 0 && partner < size {
			if partner > rank {
				all = append(all, send(partner, 0))
			} else {
				all = append(all, recv(partner, 0))
			}
		}
	}
	return all
}

// doubleRingBarrier is ompi_coll_base_barrier_intra_doublering.
func doubleRingBarrier(rank, size int) (all []act) {
	if size == 1 {
		return nil
	}
	left, right := (size+rank-1)%size, (rank+1)%size
	for range 2 {
		if rank > 0 {
			all = append(all, recv(left, 0))
		}
		all = append(all, send(right, 0))
		if rank == 0 {
			all = append(all, recv(left, 0))
		}
	}
	return all
}

// waitall returns sends and receives that a library posts together, and then waits for.
func waitall(sends, receives []act) []act { return append(sends, receives...) }

// kDissemination is MPIR_Barrier_intra_k_dissemination, without messages to the rank itself.
func kDissemination(rank, size, k int) (all []act) {
	k = min(k, size)
	for shift := 1; shift < size; shift *= k {
		var sends, receives []act
		for j := 1; j < k; j++ {
			if to := (rank + j*shift) % size; to != rank {
				sends, receives = append(sends, send(to, 0)), append(receives, recv((rank-j*shift%size+size)%size, 0))
			}
		}
		all = append(all, waitall(sends, receives)...)
	}
	return all
}

// recursiveHalving is MPIR_Reduce_scatter_intra_recursive_halving.
func recursiveHalving(rank, size int) (all []act) {
	pof2 := powerBelow(size)
	rem := size - pof2
	old, renumbered, blocks := folded(size)
	count := func(from, to int) (n int) {
		for i := from; i < to; i++ {
			n += blocks(i)
		}
		return n
	}
	if rank < 2*rem {
		if rank%2 == 0 {
			return []act{send(rank+1, size), recv(rank+1, 1)}
		}
		all = append(all, recv(rank-1, size))
	}
	newrank, sendIdx, recvIdx, lastIdx := renumbered(rank), 0, 0, pof2
	for mask := pof2 / 2; mask > 0; mask /= 2 {
		newdst := newrank ^ mask
		var out, in int
		if newrank < newdst {
			sendIdx = recvIdx + mask
			out, in = count(sendIdx, lastIdx), count(recvIdx, sendIdx)
		} else {
			recvIdx = sendIdx + mask
			out, in = count(sendIdx, recvIdx), count(recvIdx, lastIdx)
		}
		all = append(all, send(old(newdst), out), recv(old(newdst), in))
		sendIdx, lastIdx = recvIdx, recvIdx+mask
	}
	if rank < 2*rem {
		all = append(all, send(rank-1, 1))
	}
	return all
}

// mirror is ompi_mirror_perm: the bits of x in reverse.
func mirror(x, n int) (y int) {
	for range n {
		x, y = x/2, 2*y+x%2
	}
	return y
}

// butterfly is ompi_coll_base_reduce_scatter_intra_butterfly.
func butterfly(rank, size int) (all []act) {
	pof2 := powerBelow(size)
	rem, levels := size-pof2, bits.Len(uint(pof2))-1
	old, renumbered, blocks := folded(size)
	count := func(from, n int) (sum int) {
		for i := range n {
			sum += blocks(from + i)
		}
		return sum
	}
	vrank := renumbered(rank)
	if vrank < 0 {
		return []act{send(rank+1, size), recv(old(mirror((rank+1)/2, levels)), 1)}
	}
	if rank < 2*rem {
		all = append(all, recv(rank-1, size))
	}
	sendIndex, recvIndex, nblocks := 0, 0, pof2
	for mask := 1; mask < pof2; mask *= 2 {
		nblocks /= 2
		if vrank&mask == 0 {
			sendIndex += nblocks
		} else {
			recvIndex += nblocks
		}
		peer := old(vrank ^ mask)
		all = append(all, send(peer, count(sendIndex, nblocks)), recv(peer, count(recvIndex, nblocks)))
		sendIndex = recvIndex
	}
	vpeer := mirror(vrank, levels)
	if vpeer < rem {
		all = append(all, send(old(vpeer)-1, 1))
	}
	if vpeer != vrank {
		all = append(all, send(old(vpeer), 1), recv(old(vpeer), 1))
	}
	return all
}

// scatterDoubling is MPIR_Reduce_scatter_intra_recursive_doubling, for powers of two.
func scatterDoubling(rank, size int) (all []act) {
	for mask := 1; mask < size; mask *= 2 {
		all = append(all, send(rank^mask, size-mask), recv(rank^mask, size-mask))
	}
	return all
}

// segmentedRing is ompi_coll_base_allreduce_intra_ring_segmented with some phases.
func segmentedRing(rank, size, phases int) (all []act) {
	left, right := (rank+size-1)%size, (rank+1)%size
	for range phases {
		for k := 1; k < size; k++ {
			all = append(all, send(right, 1), recv(left, 1))
		}
	}
	for k := 0; k < size-1; k++ {
		all = append(all, send(right, phases), recv(left, phases))
	}
	return all
}

// linearExscan returns the ranks that combine a received vector in ompi_coll_base_exscan_intra_linear: all but the first and
// the last.
func linearExscan(rank, size int) bool { return rank > 0 && rank < size-1 }

func TestLinearExscanCombinesAsOpenMPI(t *testing.T) {
	for size := 1; size <= 12; size++ {
		s := build(t, pair{collectives.Exscan, collectives.Linear}, size, 0)
		for rank := range size {
			combines := 0
			for round := range s.MaxRounds() {
				if step := s.Step(rank, round); step.From != None {
					combines += through(step)
				}
			}
			if want := linearExscan(rank, size); combines > 1 || (combines == 1) != want {
				t.Errorf("rank %d of %d combines %d vectors", rank, size, combines)
			}
		}
	}
}

// recursiveMultiplying returns, sorted, the sends and receives of MPIR_Allreduce_intra_recursive_multiplying.
func recursiveMultiplying(rank, size, k int) (all []act) {
	pofk := 1
	for pofk*k <= size {
		pofk *= k
	}
	if rank >= pofk {
		return []act{send(rank%pofk, 1), recv(rank%pofk, 1)}
	}
	for other := rank + pofk; other < size; other += pofk {
		all = append(all, recv(other, 1), send(other, 1))
	}
	for distance := 1; distance < pofk; distance *= k {
		starting := rank / (distance * k) * (distance * k)
		for dst := starting + rank%distance; dst < starting+distance*k; dst += distance {
			if dst != rank {
				all = append(all, send(dst, 1), recv(dst, 1))
			}
		}
	}
	return all
}

// sorted returns acts in the order of their texts.
func sorted(all []act) []act {
	slices.SortFunc(all, func(a, b act) int { return cmp.Compare(a.String(), b.String()) })
	return all
}

// Recursive multiplying sends the messages of MPICH, in another order: MPICH begins all of a phase at once.
func TestMultiplyingIsThatOfMPICH(t *testing.T) {
	for _, k := range []int{2, 3, 4, 5, 9} {
		for size := 1; size <= 40; size++ {
			s := sized{pair{collectives.Allreduce, collectives.RecursiveMultiplying.WithFanout(k)}, collectives.Size{Members: size}}
			schedule := s.build(t)
			if err := check(s.pair, schedule, 0, ascending(size)); err != nil {
				t.Errorf("%s: %v", s, err)
			}
			checkIdle(t, s, schedule)
			for rank := range size {
				if got, want := sorted(acts(schedule, rank)), sorted(recursiveMultiplying(rank, size, k)); !slices.Equal(got, want) {
					t.Fatalf("%s: rank %d sends and receives %v, MPICH %v", s, rank, got, want)
				}
			}
			for round := range schedule.MaxRounds() {
				checkPattern(t, schedule, round)
			}
		}
	}
}

// Dissemination with a fan-out is a barrier.
func TestDisseminationWithFanouts(t *testing.T) {
	for _, k := range []int{3, 4, 5, 8, 17} {
		for size := 1; size <= 33; size++ {
			s := sized{pair{collectives.Barrier, collectives.Dissemination.WithFanout(k)}, collectives.Size{Members: size}}
			schedule := s.build(t)
			checkIdle(t, s, schedule)
			for late := range size {
				x := newExecutor(schedule, input(true), merge)
				x.clocks[late] = 1000
				if err := x.run(ascending(size)); err != nil || slices.Min(x.clocks) < 1000 {
					t.Fatalf("%s: rank %d enters late, and ranks leave at %v (%v)", s, late, x.clocks, err)
				}
			}
			for round := range schedule.MaxRounds() {
				checkPattern(t, schedule, round)
			}
		}
	}
}

// The ring in segments is an allreduce for all numbers of segments, those that Open MPI counts.
func TestSegmentedRing(t *testing.T) {
	for _, c := range []struct {
		bytes    int64
		segments int
	}{{64, 1}, {64 * 10 * 3, 3}, {64*10*3 + 319, 3}, {64*10*3 + 321, 4}} {
		s := sized{pair{collectives.Allreduce, collectives.RingSegmented.WithSegment(64)}, collectives.Size{Members: 10, Bytes: c.bytes}}
		schedule := s.build(t)
		if got := schedule.Positions(); got != 10*c.segments {
			t.Errorf("%s: %d positions, want %d segments for each rank", s, got, c.segments)
		}
		if err := check(s.pair, schedule, 0, ascending(10)); err != nil {
			t.Errorf("%s: %v", s, err)
		}
		for round := range schedule.MaxRounds() {
			checkPattern(t, schedule, round)
		}
	}
}

// The schedules send the messages of the libraries: to the same ranks, in the same order, of as many blocks.
func TestSchedulesAreThoseOfTheLibraries(t *testing.T) {
	power := func(size int) bool { return size&(size-1) == 0 }
	for _, c := range []struct {
		op    collectives.Operation
		a     collectives.Algorithm
		bytes func(size int) int64
		want  func(rank, size int) []act
		is    func(size int) bool
	}{
		{collectives.Barrier, collectives.Binomial, nil, treeBarrier, nil},
		{collectives.Barrier, collectives.Binomial, nil, treeBarrier, nil},
		{collectives.Barrier, collectives.DoubleRing, nil, doubleRingBarrier, nil},
		{collectives.Barrier, collectives.Dissemination, nil, func(r, n int) []act { return kDissemination(r, n, 2) }, nil},
		{collectives.Barrier, collectives.Dissemination.WithFanout(3), nil, func(r, n int) []act { return kDissemination(r, n, 3) }, nil},
		{collectives.Barrier, collectives.Dissemination.WithFanout(4), nil, func(r, n int) []act { return kDissemination(r, n, 4) }, nil},
		{collectives.Barrier, collectives.Dissemination.WithFanout(9), nil, func(r, n int) []act { return kDissemination(r, n, 9) }, nil},
		{collectives.ReduceScatter, collectives.RecursiveHalving, nil, recursiveHalving, nil},
		{collectives.ReduceScatter, collectives.Butterfly, nil, butterfly, nil},
		{collectives.ReduceScatter, collectives.RecursiveDoubling, nil, scatterDoubling, power},
		{collectives.Allgather, collectives.NeighborExchange, nil, neighborExchange, func(size int) bool { return size%2 == 0 }},
		{collectives.Allgatherv, collectives.NeighborExchange, nil, neighborExchange, func(size int) bool { return size%2 == 0 }},
		{collectives.Allgather, collectives.Bruck, nil, func(r, n int) []act { return bruckAllgather(r, n, 2) }, nil},
		{collectives.Allgather, collectives.KBruck, nil, func(r, n int) []act { return bruckAllgather(r, n, 2) }, nil},
		{collectives.Allgather, collectives.KBruck.WithFanout(3), nil, func(r, n int) []act { return bruckAllgather(r, n, 3) }, nil},
		{collectives.Allgather, collectives.KBruck.WithFanout(5), nil, func(r, n int) []act { return bruckAllgather(r, n, 5) }, nil},
		{collectives.Allgather, collectives.Sparbit, nil, sparbit, nil},
		{collectives.Allgatherv, collectives.Sparbit, nil, sparbit, nil},
		{collectives.Alltoall, collectives.LinearSync, nil, linearSync, nil},
		{collectives.Alltoall, collectives.LinearSync.WithFanout(2), nil, func(r, n int) []act { return scattered(r, n, 2) }, nil},
		{collectives.Alltoall, collectives.LinearSync.WithFanout(5), nil, func(r, n int) []act { return scattered(r, n, 5) }, nil},
		{collectives.Alltoall, collectives.LinearSync.WithFanout(32), nil, func(r, n int) []act { return scattered(r, n, 32) }, nil},
		{collectives.Alltoall, collectives.Linear, nil, linearAlltoallv, nil},
		{collectives.Alltoall, collectives.Spread, nil, linearAlltoallv, nil},
		{collectives.Alltoallv, collectives.Linear, nil, linearAlltoallv, nil},
		{collectives.Alltoall, collectives.PairwiseExchange, nil, pairwiseOfMPICH, nil},
		{collectives.Allreduce, collectives.RingSegmented.WithSegment(64), func(size int) int64 { return int64(size) * 64 * 3 },
			func(r, n int) []act { return segmentedRing(r, n, 3) }, nil},
	} {
		for size := 1; size <= 40; size++ {
			if c.is != nil && !c.is(size) {
				continue
			}
			s := sized{pair{c.op, c.a}, collectives.Size{Members: size}}
			if c.bytes != nil {
				s.size.Bytes = c.bytes(size)
			}
			schedule := s.build(t)
			for rank := range size {
				if got, want := acts(schedule, rank), c.want(rank, size); !slices.Equal(got, want) {
					t.Fatalf("%s: rank %d sends and receives %v, the library %v", s, rank, got, want)
				}
			}
		}
	}
}

// neighborExchange is ompi_coll_base_allgather_intra_neighborexchange.
func neighborExchange(rank, size int) (all []act) {
	neighbors := [2]int{(rank + 1) % size, (rank + size - 1) % size}
	if rank%2 == 1 {
		neighbors[0], neighbors[1] = neighbors[1], neighbors[0]
	}
	all = append(all, send(neighbors[0], 1), recv(neighbors[0], 1))
	for i := 1; i < size/2; i++ {
		all = append(all, send(neighbors[i%2], 2), recv(neighbors[i%2], 2))
	}
	return all
}

// bruckAllgather is ompi_coll_base_allgather_intra_k_bruck, in whose phases a rank sends all messages before it waits.
func bruckAllgather(rank, size, radix int) (all []act) {
	for distance := 1; distance < size; distance *= radix {
		var sends, receives []act
		for j := 1; j < radix && distance*j < size; j++ {
			count := distance
			if distance > size/radix {
				count = min(distance, size-distance*j)
			}
			sends, receives = append(sends, send((rank-distance*j+size)%size, count)), append(receives, recv((rank+distance*j)%size, count))
		}
		all = append(all, waitall(sends, receives)...)
	}
	return all
}

// linearSync is ompi_coll_base_alltoall_intra_linear_sync without a limit of requests, and ompi_coll_base_alltoall_intra_linear.
func linearSync(rank, size int) []act {
	var sends, receives []act
	for i := 1; i < size; i++ {
		sends, receives = append(sends, send((rank+size-i)%size, 1)), append(receives, recv((rank+i)%size, 1))
	}
	return waitall(sends, receives)
}

// scattered is MPIR_Alltoall_intra_scattered, without messages to the rank itself.
func scattered(rank, size, throttle int) (all []act) {
	for first := 0; first < size; first += throttle {
		var sends, receives []act
		for i := first; i < min(first+throttle, size); i++ {
			if i > 0 {
				sends, receives = append(sends, send((rank-i+size)%size, 1)), append(receives, recv((rank+i)%size, 1))
			}
		}
		all = append(all, waitall(sends, receives)...)
	}
	return all
}

// linearAlltoallv is ompi_coll_base_alltoallv_intra_basic_linear.
func linearAlltoallv(rank, size int) []act {
	var sends, receives []act
	for i := range size {
		if i != rank {
			sends, receives = append(sends, send(i, 1)), append(receives, recv(i, 1))
		}
	}
	return waitall(sends, receives)
}

// pairwiseOfMPICH is MPIR_Alltoall_intra_pairwise.
func pairwiseOfMPICH(rank, size int) (all []act) {
	for i := 1; i < size; i++ {
		to, from := (rank+i)%size, (rank-i+size)%size
		if size&(size-1) == 0 {
			to, from = rank^i, rank^i
		}
		all = append(all, send(to, 1), recv(from, 1))
	}
	return all
}

// sparbit is ompi_coll_base_allgather_intra_sparbit, with the messages of a round before the receives.
func sparbit(rank, size int) (all []act) {
	levels := bits.Len(uint(size - 1))
	ignored := bits.TrailingZeros(uint(size))
	ignore := (^(size >> ignored) | 1) << ignored
	expected := 1
	for distance := 1 << levels >> 1; distance > 0; distance >>= 1 {
		exclusion := 0
		if distance&ignore == distance {
			exclusion = 1
		}
		var sends, receives []act
		for range expected - exclusion {
			sends, receives = append(sends, send((rank+distance)%size, 1)), append(receives, recv((rank-distance+size)%size, 1))
		}
		all = append(all, waitall(sends, receives)...)
		expected = 2*expected - exclusion
	}
	return all
}
