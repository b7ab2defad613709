package mpivirt

import "gigarank/collectives"

func gather[T Datatype](m caller, send, receive []T, root int) (*collective, error) {
	if m.member == root && len(receive) < len(send)*m.c.size {
		return m.tooShort(callGather, len(receive), len(send)*m.c.size)
	}
	v := vector(m.k, callGather, collectives.Gather, send, receive)
	v.root = root
	return v, nil
}

// Gather concatenates the blocks send of all members in receive of the root
// (MPI_Gather); blocks are of the same length everywhere, receive may be nil at
// the others. Errors: ErrRoot, ErrCount, ErrBuffer if receive is too short.
func Gather[T Datatype](c *Comm, send, receive []T, root int) error {
	return c.run(gather(c.caller(), send, receive, root))
}

// Igather is the nonblocking Gather (MPI_Igather).
func Igather[T Datatype](c *Comm, send, receive []T, root int) (Request, error) {
	return c.begin(gather(c.caller(), send, receive, root))
}

func gatherv[T Datatype](m caller, send, receive []T, counts []int, root int) (*collective, error) {
	v := vector(m.k, callGatherv, collectives.Gatherv, send, receive)
	v.root = root
	if m.member != root {
		return v, nil
	}
	if len(receive) < sum(counts) {
		return m.tooShort(callGatherv, len(receive), sum(counts))
	}
	v.counts = inBytes[T](counts)
	if countOf(counts, root) != len(send) {
		return m.refuse(callGatherv, ErrCount, "the root sends %d elements but counts %d of itself", len(send), countOf(counts, root))
	}
	return v, nil
}

// Gatherv is Gather with blocks of counts[i] elements from member i, which only
// the root needs to know (MPI_Gatherv). Errors: as Gather; ErrTruncate if a member
// sends more than its count.
func Gatherv[T Datatype](c *Comm, send, receive []T, counts []int, root int) error {
	return c.run(gatherv(c.caller(), send, receive, counts, root))
}

// Igatherv is the nonblocking Gatherv (MPI_Igatherv).
func Igatherv[T Datatype](c *Comm, send, receive []T, counts []int, root int) (Request, error) {
	return c.begin(gatherv(c.caller(), send, receive, counts, root))
}

func scatter[T Datatype](m caller, send, receive []T, root int) (*collective, error) {
	v := vector(m.k, callScatter, collectives.Scatter, receive, receive)
	v.root = root
	v.input = bytesOf(send)
	if m.member == root && len(send) < len(receive)*m.c.size {
		return m.refuse(callScatter, ErrCount, "%d elements to scatter where %d ranks get %d each", len(send), m.c.size, len(receive))
	}
	return v, nil
}

// Scatter gives member i the i-th block of send of the root (MPI_Scatter); blocks
// have the length of receive, the same everywhere; send may be nil at the others.
// Errors: ErrRoot, ErrCount.
func Scatter[T Datatype](c *Comm, send, receive []T, root int) error {
	return c.run(scatter(c.caller(), send, receive, root))
}

// Iscatter is the nonblocking Scatter (MPI_Iscatter).
func Iscatter[T Datatype](c *Comm, send, receive []T, root int) (Request, error) {
	return c.begin(scatter(c.caller(), send, receive, root))
}

func scatterv[T Datatype](m caller, send []T, counts []int, receive []T, root int) (*collective, error) {
	v := vector(m.k, callScatterv, collectives.Scatterv, receive, receive)
	v.root = root
	v.input = bytesOf(send)
	if m.member != root {
		return v, nil
	}
	if len(send) < sum(counts) {
		return m.refuse(callScatterv, ErrCount, "%d elements to scatter where the counts add up to %d", len(send), sum(counts))
	}
	if countOf(counts, root) > len(receive) {
		return m.tooShort(callScatterv, len(receive), countOf(counts, root))
	}
	v.counts = inBytes[T](counts)
	return v, nil
}

// Scatterv is Scatter with blocks of counts[i] elements for member i, which only
// the root needs to know (MPI_Scatterv). Errors: as Scatter; ErrTruncate if a
// member gets more than receive holds.
func Scatterv[T Datatype](c *Comm, send []T, counts []int, receive []T, root int) error {
	return c.run(scatterv(c.caller(), send, counts, receive, root))
}

// Iscatterv is the nonblocking Scatterv (MPI_Iscatterv).
func Iscatterv[T Datatype](c *Comm, send []T, counts []int, receive []T, root int) (Request, error) {
	return c.begin(scatterv(c.caller(), send, counts, receive, root))
}

func allgather[T Datatype](m caller, send, receive []T) (*collective, error) {
	if len(receive) < len(send)*m.c.size {
		return m.tooShort(callAllgather, len(receive), len(send)*m.c.size)
	}
	return vector(m.k, callAllgather, collectives.Allgather, send, receive), nil
}

// Allgather concatenates the blocks send of all members in receive of every member
// (MPI_Allgather); blocks are of the same length everywhere. Errors: ErrCount,
// ErrBuffer.
func Allgather[T Datatype](c *Comm, send, receive []T) error {
	return c.run(allgather(c.caller(), send, receive))
}

// Iallgather is the nonblocking Allgather (MPI_Iallgather).
func Iallgather[T Datatype](c *Comm, send, receive []T) (Request, error) {
	return c.begin(allgather(c.caller(), send, receive))
}

func allgatherv[T Datatype](m caller, send, receive []T, counts []int) (*collective, error) {
	if len(receive) < sum(counts) {
		return m.tooShort(callAllgatherv, len(receive), sum(counts))
	}
	if countOf(counts, m.member) != len(send) {
		return m.refuse(callAllgatherv, ErrCount, "%d elements to send where the count is %d", len(send), countOf(counts, m.member))
	}
	v := vector(m.k, callAllgatherv, collectives.Allgatherv, send, receive)
	v.bytes = int64(sum(counts)) * v.element
	v.counts = inBytes[T](counts)
	return v, nil
}

// Allgatherv is Allgather with blocks of counts[i] elements from member i; all
// members know the counts (MPI_Allgatherv). Errors: as Allgather.
func Allgatherv[T Datatype](c *Comm, send, receive []T, counts []int) error {
	return c.run(allgatherv(c.caller(), send, receive, counts))
}

// Iallgatherv is the nonblocking Allgatherv (MPI_Iallgatherv).
func Iallgatherv[T Datatype](c *Comm, send, receive []T, counts []int) (Request, error) {
	return c.begin(allgatherv(c.caller(), send, receive, counts))
}

func alltoall[T Datatype](m caller, send, receive []T) (*collective, error) {
	if len(send)%max(m.c.size, 1) != 0 {
		return m.refuse(callAlltoall, ErrCount, "%d elements for %d ranks", len(send), m.c.size)
	}
	if len(receive) < len(send) {
		return m.tooShort(callAlltoall, len(receive), len(send))
	}
	v := vector(m.k, callAlltoall, collectives.Alltoall, send, receive[:len(send)])
	v.bytes /= int64(max(m.c.size, 1))
	return v, nil
}

// Alltoall sends the j-th block of send to member j and puts the block from member
// i into the i-th block of receive (MPI_Alltoall); all blocks are of the same
// length, len(send)/Size(). Errors: ErrCount, ErrBuffer.
func Alltoall[T Datatype](c *Comm, send, receive []T) error {
	return c.run(alltoall(c.caller(), send, receive))
}

// Ialltoall is the nonblocking Alltoall (MPI_Ialltoall).
func Ialltoall[T Datatype](c *Comm, send, receive []T) (Request, error) {
	return c.begin(alltoall(c.caller(), send, receive))
}

func alltoallv[T Datatype](m caller, send []T, sendCounts []int, receive []T, receiveCounts []int) (*collective, error) {
	if len(send) < sum(sendCounts) {
		return m.refuse(callAlltoallv, ErrCount, "%d elements to send where the counts add up to %d", len(send), sum(sendCounts))
	}
	if len(receive) < sum(receiveCounts) {
		return m.tooShort(callAlltoallv, len(receive), sum(receiveCounts))
	}
	v := vector(m.k, callAlltoallv, collectives.Alltoallv, send, receive)
	v.bytes = 0
	v.inCounts, v.outCounts = inBytes[T](sendCounts), inBytes[T](receiveCounts)
	return v, nil
}

// Alltoallv is Alltoall with sendCounts[j] elements to member j and receiveCounts[i]
// from member i, blocks following each other without gaps (MPI_Alltoallv). Errors:
// as Alltoall; ErrTruncate if a member sends more than is expected of it.
func Alltoallv[T Datatype](c *Comm, send []T, sendCounts []int, receive []T, receiveCounts []int) error {
	return c.run(alltoallv(c.caller(), send, sendCounts, receive, receiveCounts))
}

// Ialltoallv is the nonblocking Alltoallv (MPI_Ialltoallv).
func Ialltoallv[T Datatype](c *Comm, send []T, sendCounts []int, receive []T, receiveCounts []int) (Request, error) {
	return c.begin(alltoallv(c.caller(), send, sendCounts, receive, receiveCounts))
}
