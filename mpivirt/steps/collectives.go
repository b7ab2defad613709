package steps

import (
	"gigarank/collectives"
	"gigarank/mpivirt/internal/typed"
	"gigarank/mpivirt/internal/world"
)

// The collectives with data, for event ranks. The input is read at once, so ranks may share
// its memory. The memory of the result belongs to the operation until it is over.

// Allreduce combines the vectors send of all members, element by element; see
// [mpivirt.Allreduce]. [Result] returns the result in the next step. The ranks of an engine
// share it.
func Allreduce[T typed.Datatype](r *Rank, send []T, o typed.Op[T]) Outcome {
	return r.collective(typed.Reduction(r.caller(), world.Allreduce, collectives.Allreduce, send, []T(nil), o), nil)
}

// Iallreduce begins an Allreduce (MPI_Iallreduce). The step after its wait
// finds the result in [ResultOf].
func Iallreduce[T typed.Datatype](r *Rank, send []T, o typed.Op[T]) Request {
	return r.nonblocking(typed.Reduction(r.caller(), world.Allreduce, collectives.Allreduce, send, []T(nil), o), nil)
}

// Result returns the result of the blocking allreduce on the communicator in the last step.
// The caller must not change it.
func Result[T typed.Datatype](r *Rank) []T {
	c, _ := r.communicator()
	return typed.Elements[T](r.k.SharedResult(r.lp, c))
}

// ResultOf returns the result of an Iallreduce that the last step has waited for. The caller
// must not change it.
func ResultOf[T typed.Datatype](r *Rank, q Request) []T { return typed.Elements[T](r.DataOf(q)) }

// Bcast is [mpivirt.Bcast] of an event rank.
func Bcast[T typed.Datatype](r *Rank, data []T, root int) Outcome {
	return r.collective(typed.Bcast(r.caller(), data, root))
}

// Ibcast begins a Bcast; see [mpivirt.Ibcast].
func Ibcast[T typed.Datatype](r *Rank, data []T, root int) Request {
	return r.nonblocking(typed.Bcast(r.caller(), data, root))
}

// Reduce is [mpivirt.Reduce] of an event rank.
func Reduce[T typed.Datatype](r *Rank, send, receive []T, o typed.Op[T], root int) Outcome {
	return r.collective(typed.Reduce(r.caller(), send, receive, o, root))
}

// Ireduce begins a Reduce; see [mpivirt.Ireduce].
func Ireduce[T typed.Datatype](r *Rank, send, receive []T, o typed.Op[T], root int) Request {
	return r.nonblocking(typed.Reduce(r.caller(), send, receive, o, root))
}

// Gather is [mpivirt.Gather] of an event rank.
func Gather[T typed.Datatype](r *Rank, send, receive []T, root int) Outcome {
	return r.collective(typed.Gather(r.caller(), send, receive, root))
}

// Igather begins a Gather; see [mpivirt.Igather].
func Igather[T typed.Datatype](r *Rank, send, receive []T, root int) Request {
	return r.nonblocking(typed.Gather(r.caller(), send, receive, root))
}

// Gatherv is [mpivirt.Gatherv] of an event rank.
func Gatherv[T typed.Datatype](r *Rank, send, receive []T, counts []int, root int) Outcome {
	return r.collective(typed.Gatherv(r.caller(), send, receive, counts, root))
}

// Igatherv begins a Gatherv; see [mpivirt.Igatherv].
func Igatherv[T typed.Datatype](r *Rank, send, receive []T, counts []int, root int) Request {
	return r.nonblocking(typed.Gatherv(r.caller(), send, receive, counts, root))
}

// Scatter is [mpivirt.Scatter] of an event rank.
func Scatter[T typed.Datatype](r *Rank, send, receive []T, root int) Outcome {
	return r.collective(typed.Scatter(r.caller(), send, receive, root))
}

// Iscatter begins a Scatter; see [mpivirt.Iscatter].
func Iscatter[T typed.Datatype](r *Rank, send, receive []T, root int) Request {
	return r.nonblocking(typed.Scatter(r.caller(), send, receive, root))
}

// Scatterv is [mpivirt.Scatterv] of an event rank.
func Scatterv[T typed.Datatype](r *Rank, send []T, counts []int, receive []T, root int) Outcome {
	return r.collective(typed.Scatterv(r.caller(), send, counts, receive, root))
}

// Iscatterv begins a Scatterv; see [mpivirt.Iscatterv].
func Iscatterv[T typed.Datatype](r *Rank, send []T, counts []int, receive []T, root int) Request {
	return r.nonblocking(typed.Scatterv(r.caller(), send, counts, receive, root))
}

// Allgather is [mpivirt.Allgather] of an event rank.
func Allgather[T typed.Datatype](r *Rank, send, receive []T) Outcome {
	return r.collective(typed.Allgather(r.caller(), send, receive))
}

// Iallgather begins an Allgather; see [mpivirt.Iallgather].
func Iallgather[T typed.Datatype](r *Rank, send, receive []T) Request {
	return r.nonblocking(typed.Allgather(r.caller(), send, receive))
}

// Allgatherv is [mpivirt.Allgatherv] of an event rank.
func Allgatherv[T typed.Datatype](r *Rank, send, receive []T, counts []int) Outcome {
	return r.collective(typed.Allgatherv(r.caller(), send, receive, counts))
}

// Iallgatherv begins an Allgatherv; see [mpivirt.Iallgatherv].
func Iallgatherv[T typed.Datatype](r *Rank, send, receive []T, counts []int) Request {
	return r.nonblocking(typed.Allgatherv(r.caller(), send, receive, counts))
}

// Alltoall is [mpivirt.Alltoall] of an event rank.
func Alltoall[T typed.Datatype](r *Rank, send, receive []T) Outcome {
	return r.collective(typed.Alltoall(r.caller(), send, receive))
}

// Ialltoall begins an Alltoall; see [mpivirt.Ialltoall].
func Ialltoall[T typed.Datatype](r *Rank, send, receive []T) Request {
	return r.nonblocking(typed.Alltoall(r.caller(), send, receive))
}

// Alltoallv is [mpivirt.Alltoallv] of an event rank.
func Alltoallv[T typed.Datatype](r *Rank, send []T, sendCounts []int, receive []T, receiveCounts []int) Outcome {
	return r.collective(typed.Alltoallv(r.caller(), send, sendCounts, receive, receiveCounts))
}

// Ialltoallv begins an Alltoallv; see [mpivirt.Ialltoallv].
func Ialltoallv[T typed.Datatype](r *Rank, send []T, sendCounts []int, receive []T, receiveCounts []int) Request {
	return r.nonblocking(typed.Alltoallv(r.caller(), send, sendCounts, receive, receiveCounts))
}

// ReduceScatter is [mpivirt.ReduceScatter] of an event rank.
func ReduceScatter[T typed.Datatype](r *Rank, send, receive []T, counts []int, o typed.Op[T]) Outcome {
	return r.collective(typed.ReduceScatter(r.caller(), send, receive, counts, o))
}

// IreduceScatter begins a ReduceScatter; see [mpivirt.IreduceScatter].
func IreduceScatter[T typed.Datatype](r *Rank, send, receive []T, counts []int, o typed.Op[T]) Request {
	return r.nonblocking(typed.ReduceScatter(r.caller(), send, receive, counts, o))
}

// Scan is [mpivirt.Scan] of an event rank.
func Scan[T typed.Datatype](r *Rank, send, receive []T, o typed.Op[T]) Outcome {
	return r.collective(typed.ReductionToAll(r.caller(), world.Scan, collectives.Scan, send, receive, o))
}

// Iscan begins a Scan; see [mpivirt.Iscan].
func Iscan[T typed.Datatype](r *Rank, send, receive []T, o typed.Op[T]) Request {
	return r.nonblocking(typed.ReductionToAll(r.caller(), world.Scan, collectives.Scan, send, receive, o))
}

// Exscan is [mpivirt.Exscan] of an event rank.
func Exscan[T typed.Datatype](r *Rank, send, receive []T, o typed.Op[T]) Outcome {
	return r.collective(typed.ReductionToAll(r.caller(), world.Exscan, collectives.Exscan, send, receive, o))
}

// Iexscan begins an Exscan; see [mpivirt.Iexscan].
func Iexscan[T typed.Datatype](r *Rank, send, receive []T, o typed.Op[T]) Request {
	return r.nonblocking(typed.ReductionToAll(r.caller(), world.Exscan, collectives.Exscan, send, receive, o))
}

// CollectiveSize carries out a collective of which only the size is simulated; see
// [mpivirt.Comm.CollectiveSize].
func (r *Rank) CollectiveSize(op collectives.Operation, bytes int64, root int) Outcome {
	return r.collective(r.k.Sized(op, bytes, 1, root))
}

// CollectiveSizeOf is CollectiveSize of elements of a number of bytes; see [mpivirt.Comm.CollectiveSizeOf].
func (r *Rank) CollectiveSizeOf(op collectives.Operation, bytes, element int64, root int) Outcome {
	return r.collective(r.k.Sized(op, bytes, element, root))
}

// AllreduceSize is Allreduce of vectors of which only the size is simulated; see [mpivirt.AllreduceSize].
func AllreduceSize[T typed.Datatype](r *Rank, elements int64, o typed.Op[T]) Outcome {
	return r.collective(typed.AllreduceSize(r.caller(), elements, o))
}

// IcollectiveSize begins a CollectiveSize.
func (r *Rank) IcollectiveSize(op collectives.Operation, bytes int64, root int) Request {
	return r.nonblocking(r.k.Sized(op, bytes, 1, root))
}
