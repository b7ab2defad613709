package mpivirt

import "gigarank/mpivirt/internal/typed"

// Gather concatenates the blocks send of all members in receive of the root (MPI_Gather).
// Blocks have the same length everywhere. receive may be nil at the others. Errors: ErrRoot,
// ErrCount, ErrBuffer if receive is too short.
func Gather[T Datatype](c *Comm, send, receive []T, root int) error {
	return c.run(typed.Gather(c.caller(), send, receive, root))
}

// Igather is the nonblocking Gather (MPI_Igather).
func Igather[T Datatype](c *Comm, send, receive []T, root int) (Request, error) {
	return c.begin(typed.Gather(c.caller(), send, receive, root))
}

// Gatherv is Gather with blocks of counts[i] elements from member i, which only
// the root needs to know (MPI_Gatherv). Errors: as Gather; ErrTruncate if a member
// sends more than its count.
func Gatherv[T Datatype](c *Comm, send, receive []T, counts []int, root int) error {
	return c.run(typed.Gatherv(c.caller(), send, receive, counts, root))
}

// Igatherv is the nonblocking Gatherv (MPI_Igatherv).
func Igatherv[T Datatype](c *Comm, send, receive []T, counts []int, root int) (Request, error) {
	return c.begin(typed.Gatherv(c.caller(), send, receive, counts, root))
}

// Scatter sends member i the i-th block of send of the root (MPI_Scatter). Blocks have the
// length of receive, the same everywhere. send may be nil at the others. Errors: ErrRoot,
// ErrCount.
func Scatter[T Datatype](c *Comm, send, receive []T, root int) error {
	return c.run(typed.Scatter(c.caller(), send, receive, root))
}

// Iscatter is the nonblocking Scatter (MPI_Iscatter).
func Iscatter[T Datatype](c *Comm, send, receive []T, root int) (Request, error) {
	return c.begin(typed.Scatter(c.caller(), send, receive, root))
}

// Scatterv is Scatter with blocks of counts[i] elements for member i, which only
// the root needs to know (MPI_Scatterv). Errors: as Scatter; ErrTruncate if a
// member gets more than receive holds.
func Scatterv[T Datatype](c *Comm, send []T, counts []int, receive []T, root int) error {
	return c.run(typed.Scatterv(c.caller(), send, counts, receive, root))
}

// Iscatterv is the nonblocking Scatterv (MPI_Iscatterv).
func Iscatterv[T Datatype](c *Comm, send []T, counts []int, receive []T, root int) (Request, error) {
	return c.begin(typed.Scatterv(c.caller(), send, counts, receive, root))
}

// Allgather concatenates the blocks send of all members in receive of every member
// (MPI_Allgather). Blocks have the same length everywhere. Errors: ErrCount, ErrBuffer.
func Allgather[T Datatype](c *Comm, send, receive []T) error {
	return c.run(typed.Allgather(c.caller(), send, receive))
}

// Iallgather is the nonblocking Allgather (MPI_Iallgather).
func Iallgather[T Datatype](c *Comm, send, receive []T) (Request, error) {
	return c.begin(typed.Allgather(c.caller(), send, receive))
}

// Allgatherv is Allgather with blocks of counts[i] elements from member i; all
// members know the counts (MPI_Allgatherv). Errors: as Allgather.
func Allgatherv[T Datatype](c *Comm, send, receive []T, counts []int) error {
	return c.run(typed.Allgatherv(c.caller(), send, receive, counts))
}

// Iallgatherv is the nonblocking Allgatherv (MPI_Iallgatherv).
func Iallgatherv[T Datatype](c *Comm, send, receive []T, counts []int) (Request, error) {
	return c.begin(typed.Allgatherv(c.caller(), send, receive, counts))
}

// Alltoall sends the j-th block of send to member j, and receives the block from member i
// into the i-th block of receive (MPI_Alltoall). All blocks have the length
// len(send)/Size(). Errors: ErrCount, ErrBuffer.
func Alltoall[T Datatype](c *Comm, send, receive []T) error {
	return c.run(typed.Alltoall(c.caller(), send, receive))
}

// Ialltoall is the nonblocking Alltoall (MPI_Ialltoall).
func Ialltoall[T Datatype](c *Comm, send, receive []T) (Request, error) {
	return c.begin(typed.Alltoall(c.caller(), send, receive))
}

// Alltoallv is Alltoall with sendCounts[j] elements to member j and receiveCounts[i]
// from member i, blocks following each other without gaps (MPI_Alltoallv). Errors:
// as Alltoall; ErrTruncate if a member sends more than is expected of it.
func Alltoallv[T Datatype](c *Comm, send []T, sendCounts []int, receive []T, receiveCounts []int) error {
	return c.run(typed.Alltoallv(c.caller(), send, sendCounts, receive, receiveCounts))
}

// Ialltoallv is the nonblocking Alltoallv (MPI_Ialltoallv).
func Ialltoallv[T Datatype](c *Comm, send []T, sendCounts []int, receive []T, receiveCounts []int) (Request, error) {
	return c.begin(typed.Alltoallv(c.caller(), send, sendCounts, receive, receiveCounts))
}
