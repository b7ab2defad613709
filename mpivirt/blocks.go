package mpivirt

import "gigarank/collectives"

func gather[T Datatype](c *Comm, send, receive []T, root int) (*collective, error) {
	if c.Rank() == root && len(receive) < len(send)*c.Size() {
		return nil, c.tooShort(callGather, len(receive), len(send)*c.Size())
	}
	v := vector(c.r.k, callGather, collectives.Gather, send, receive)
	v.root = root
	return v, nil
}

// Gather concatenates the blocks send of all members in receive of the root
// (MPI_Gather); blocks are of the same length everywhere, receive may be nil at
// the others. Errors: ErrRoot, ErrCount, ErrBuffer if receive is too short.
func Gather[T Datatype](c *Comm, send, receive []T, root int) error {
	v, err := gather(c, send, receive, root)
	if err != nil {
		return err
	}
	return c.run(v)
}

// Igather is the nonblocking Gather (MPI_Igather).
func Igather[T Datatype](c *Comm, send, receive []T, root int) (Request, error) {
	v, err := gather(c, send, receive, root)
	if err != nil {
		return Request{}, err
	}
	return c.begin(v)
}

func gatherv[T Datatype](c *Comm, send, receive []T, counts []int, root int) (*collective, error) {
	v := vector(c.r.k, callGatherv, collectives.Gatherv, send, receive)
	v.root = root
	if c.Rank() != root {
		return v, nil
	}
	if len(receive) < sum(counts) {
		return nil, c.tooShort(callGatherv, len(receive), sum(counts))
	}
	v.counts = inBytes[T](counts)
	if countOf(counts, root) != len(send) {
		return nil, c.r.raise(callGatherv, mpiError(ErrCount, "the root sends %d elements but counts %d of itself", len(send), countOf(counts, root)))
	}
	return v, nil
}

// Gatherv is Gather with blocks of counts[i] elements from member i, which only
// the root needs to know (MPI_Gatherv). Errors: as Gather; ErrTruncate if a member
// sends more than its count.
func Gatherv[T Datatype](c *Comm, send, receive []T, counts []int, root int) error {
	v, err := gatherv(c, send, receive, counts, root)
	if err != nil {
		return err
	}
	return c.run(v)
}

// Igatherv is the nonblocking Gatherv (MPI_Igatherv).
func Igatherv[T Datatype](c *Comm, send, receive []T, counts []int, root int) (Request, error) {
	v, err := gatherv(c, send, receive, counts, root)
	if err != nil {
		return Request{}, err
	}
	return c.begin(v)
}

func scatter[T Datatype](c *Comm, send, receive []T, root int) (*collective, error) {
	v := vector(c.r.k, callScatter, collectives.Scatter, receive, receive)
	v.root = root
	v.input = bytesOf(send)
	if c.Rank() == root && len(send) < len(receive)*c.Size() {
		return nil, c.r.raise(callScatter, mpiError(ErrCount, "%d elements to scatter where %d ranks get %d each", len(send), c.Size(), len(receive)))
	}
	return v, nil
}

// Scatter gives member i the i-th block of send of the root (MPI_Scatter); blocks
// have the length of receive, the same everywhere; send may be nil at the others.
// Errors: ErrRoot, ErrCount.
func Scatter[T Datatype](c *Comm, send, receive []T, root int) error {
	v, err := scatter(c, send, receive, root)
	if err != nil {
		return err
	}
	return c.run(v)
}

// Iscatter is the nonblocking Scatter (MPI_Iscatter).
func Iscatter[T Datatype](c *Comm, send, receive []T, root int) (Request, error) {
	v, err := scatter(c, send, receive, root)
	if err != nil {
		return Request{}, err
	}
	return c.begin(v)
}

func scatterv[T Datatype](c *Comm, send []T, counts []int, receive []T, root int) (*collective, error) {
	v := vector(c.r.k, callScatterv, collectives.Scatterv, receive, receive)
	v.root = root
	v.input = bytesOf(send)
	if c.Rank() != root {
		return v, nil
	}
	if len(send) < sum(counts) {
		return nil, c.r.raise(callScatterv, mpiError(ErrCount, "%d elements to scatter where the counts add up to %d", len(send), sum(counts)))
	}
	if countOf(counts, root) > len(receive) {
		return nil, c.tooShort(callScatterv, len(receive), countOf(counts, root))
	}
	v.counts = inBytes[T](counts)
	return v, nil
}

// Scatterv is Scatter with blocks of counts[i] elements for member i, which only
// the root needs to know (MPI_Scatterv). Errors: as Scatter; ErrTruncate if a
// member gets more than receive holds.
func Scatterv[T Datatype](c *Comm, send []T, counts []int, receive []T, root int) error {
	v, err := scatterv(c, send, counts, receive, root)
	if err != nil {
		return err
	}
	return c.run(v)
}

// Iscatterv is the nonblocking Scatterv (MPI_Iscatterv).
func Iscatterv[T Datatype](c *Comm, send []T, counts []int, receive []T, root int) (Request, error) {
	v, err := scatterv(c, send, counts, receive, root)
	if err != nil {
		return Request{}, err
	}
	return c.begin(v)
}

func allgather[T Datatype](c *Comm, send, receive []T) (*collective, error) {
	if len(receive) < len(send)*c.Size() {
		return nil, c.tooShort(callAllgather, len(receive), len(send)*c.Size())
	}
	return vector(c.r.k, callAllgather, collectives.Allgather, send, receive), nil
}

// Allgather concatenates the blocks send of all members in receive of every member
// (MPI_Allgather); blocks are of the same length everywhere. Errors: ErrCount,
// ErrBuffer.
func Allgather[T Datatype](c *Comm, send, receive []T) error {
	v, err := allgather(c, send, receive)
	if err != nil {
		return err
	}
	return c.run(v)
}

// Iallgather is the nonblocking Allgather (MPI_Iallgather).
func Iallgather[T Datatype](c *Comm, send, receive []T) (Request, error) {
	v, err := allgather(c, send, receive)
	if err != nil {
		return Request{}, err
	}
	return c.begin(v)
}

func allgatherv[T Datatype](c *Comm, send, receive []T, counts []int) (*collective, error) {
	if len(receive) < sum(counts) {
		return nil, c.tooShort(callAllgatherv, len(receive), sum(counts))
	}
	if countOf(counts, c.Rank()) != len(send) {
		return nil, c.r.raise(callAllgatherv, mpiError(ErrCount, "%d elements to send where the count is %d", len(send), countOf(counts, c.Rank())))
	}
	v := vector(c.r.k, callAllgatherv, collectives.Allgatherv, send, receive)
	v.bytes = int64(sum(counts)) * v.element
	v.counts = inBytes[T](counts)
	return v, nil
}

// Allgatherv is Allgather with blocks of counts[i] elements from member i; all
// members know the counts (MPI_Allgatherv). Errors: as Allgather.
func Allgatherv[T Datatype](c *Comm, send, receive []T, counts []int) error {
	v, err := allgatherv(c, send, receive, counts)
	if err != nil {
		return err
	}
	return c.run(v)
}

// Iallgatherv is the nonblocking Allgatherv (MPI_Iallgatherv).
func Iallgatherv[T Datatype](c *Comm, send, receive []T, counts []int) (Request, error) {
	v, err := allgatherv(c, send, receive, counts)
	if err != nil {
		return Request{}, err
	}
	return c.begin(v)
}

func alltoall[T Datatype](c *Comm, send, receive []T) (*collective, error) {
	if len(send)%c.Size() != 0 {
		return nil, c.r.raise(callAlltoall, mpiError(ErrCount, "%d elements for %d ranks", len(send), c.Size()))
	}
	if len(receive) < len(send) {
		return nil, c.tooShort(callAlltoall, len(receive), len(send))
	}
	v := vector(c.r.k, callAlltoall, collectives.Alltoall, send, receive[:len(send)])
	v.bytes /= int64(c.Size())
	return v, nil
}

// Alltoall sends the j-th block of send to member j and puts the block from member
// i into the i-th block of receive (MPI_Alltoall); all blocks are of the same
// length, len(send)/Size(). Errors: ErrCount, ErrBuffer.
func Alltoall[T Datatype](c *Comm, send, receive []T) error {
	v, err := alltoall(c, send, receive)
	if err != nil {
		return err
	}
	return c.run(v)
}

// Ialltoall is the nonblocking Alltoall (MPI_Ialltoall).
func Ialltoall[T Datatype](c *Comm, send, receive []T) (Request, error) {
	v, err := alltoall(c, send, receive)
	if err != nil {
		return Request{}, err
	}
	return c.begin(v)
}

func alltoallv[T Datatype](c *Comm, send []T, sendCounts []int, receive []T, receiveCounts []int) (*collective, error) {
	if len(send) < sum(sendCounts) {
		return nil, c.r.raise(callAlltoallv, mpiError(ErrCount, "%d elements to send where the counts add up to %d", len(send), sum(sendCounts)))
	}
	if len(receive) < sum(receiveCounts) {
		return nil, c.tooShort(callAlltoallv, len(receive), sum(receiveCounts))
	}
	v := vector(c.r.k, callAlltoallv, collectives.Alltoallv, send, receive)
	v.bytes = 0
	v.inCounts, v.outCounts = inBytes[T](sendCounts), inBytes[T](receiveCounts)
	return v, nil
}

// Alltoallv is Alltoall with sendCounts[j] elements to member j and receiveCounts[i]
// from member i, blocks following each other without gaps (MPI_Alltoallv). Errors:
// as Alltoall; ErrTruncate if a member sends more than is expected of it.
func Alltoallv[T Datatype](c *Comm, send []T, sendCounts []int, receive []T, receiveCounts []int) error {
	v, err := alltoallv(c, send, sendCounts, receive, receiveCounts)
	if err != nil {
		return err
	}
	return c.run(v)
}

// Ialltoallv is the nonblocking Alltoallv (MPI_Ialltoallv).
func Ialltoallv[T Datatype](c *Comm, send []T, sendCounts []int, receive []T, receiveCounts []int) (Request, error) {
	v, err := alltoallv(c, send, sendCounts, receive, receiveCounts)
	if err != nil {
		return Request{}, err
	}
	return c.begin(v)
}
