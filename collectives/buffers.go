package collectives

// Buffers are the whole vectors that each member of a collective handles before the first round, in
// addition to its messages. A vector is that of a reduction, or the blocks of all members.
type Buffers struct {
	Allocated int // vectors that the algorithm allocates for itself
	Copied    int // vectors that are copied from the send buffer to where the algorithm works
}

// BuffersOf returns the buffers of a collective where all members have the same: as in coll_base_allreduce.c,
// _reduce_scatter.c, _scan.c, _exscan.c, _allgather.c and _alltoall.c of Open MPI 4.1, and in allgather_intra_brucks.c
// and _k_brucks.c of MPICH. The send buffer is not MPI_IN_PLACE.
func BuffersOf(op Operation, a Algorithm) Buffers {
	switch a = a.Base(); op {
	case Allreduce:
		switch a {
		case RecursiveDoubling, Rabenseifner:
			return Buffers{1, 1}
		case Ring, RingSegmented:
			return Buffers{0, 1}
		}
	case ReduceScatter:
		switch a {
		case RecursiveHalving, RecursiveDoubling, Butterfly:
			return Buffers{2, 1}
		case Ring:
			return Buffers{1, 1}
		}
	case Scan, Exscan:
		if a == RecursiveDoubling {
			return Buffers{2, 1}
		}
	case Allgather, Alltoall:
		if a == Bruck || a == KBruck {
			return Buffers{1, 0}
		}
	}
	return Buffers{}
}
