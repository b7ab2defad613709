package mpivirt

import "gigarank/collectives"

// The collectives with data, as event ranks call them. What a rank hands in is taken
// over at once, so it may be scratch that all ranks share; where the result goes is
// the operation's until it is over.

// EventAllreduce combines the vectors send of all members, element by element; see
// [Allreduce]. The result is in [EventResult] in the next step: the ranks of an engine
// share it, and nothing is kept for each.
func EventAllreduce[T Datatype](r *EventRank, send []T, o Op[T]) Outcome {
	return r.collective(reduction(r.caller(), callAllreduce, collectives.Allreduce, send, []T(nil), o), nil)
}

// EventIallreduce begins an EventAllreduce (MPI_Iallreduce). The step after its wait
// finds the result in [EventResultOf].
func EventIallreduce[T Datatype](r *EventRank, send []T, o Op[T]) EventRequest {
	return r.nonblocking(reduction(r.caller(), callAllreduce, collectives.Allreduce, send, []T(nil), o), nil)
}

// EventResult returns the result of the blocking allreduce on the communicator that
// the rank has been through in the last step. It is to be read only.
func EventResult[T Datatype](r *EventRank) []T {
	c, _ := r.communicator()
	return elements[T](r.k.common(r.lp, c))
}

// EventResultOf returns the result of an EventIallreduce that the last step has waited
// for. It is to be read only.
func EventResultOf[T Datatype](r *EventRank, q EventRequest) []T { return elements[T](r.DataOf(q)) }

// EventBcast is [Bcast] of an event rank.
func EventBcast[T Datatype](r *EventRank, data []T, root int) Outcome {
	return r.collective(bcast(r.caller(), data, root))
}

// EventIbcast begins an EventBcast; see [Ibcast].
func EventIbcast[T Datatype](r *EventRank, data []T, root int) EventRequest {
	return r.nonblocking(bcast(r.caller(), data, root))
}

// EventReduce is [Reduce] of an event rank.
func EventReduce[T Datatype](r *EventRank, send, receive []T, o Op[T], root int) Outcome {
	return r.collective(reduce(r.caller(), send, receive, o, root))
}

// EventIreduce begins an EventReduce; see [Ireduce].
func EventIreduce[T Datatype](r *EventRank, send, receive []T, o Op[T], root int) EventRequest {
	return r.nonblocking(reduce(r.caller(), send, receive, o, root))
}

// EventGather is [Gather] of an event rank.
func EventGather[T Datatype](r *EventRank, send, receive []T, root int) Outcome {
	return r.collective(gather(r.caller(), send, receive, root))
}

// EventIgather begins an EventGather; see [Igather].
func EventIgather[T Datatype](r *EventRank, send, receive []T, root int) EventRequest {
	return r.nonblocking(gather(r.caller(), send, receive, root))
}

// EventGatherv is [Gatherv] of an event rank.
func EventGatherv[T Datatype](r *EventRank, send, receive []T, counts []int, root int) Outcome {
	return r.collective(gatherv(r.caller(), send, receive, counts, root))
}

// EventIgatherv begins an EventGatherv; see [Igatherv].
func EventIgatherv[T Datatype](r *EventRank, send, receive []T, counts []int, root int) EventRequest {
	return r.nonblocking(gatherv(r.caller(), send, receive, counts, root))
}

// EventScatter is [Scatter] of an event rank.
func EventScatter[T Datatype](r *EventRank, send, receive []T, root int) Outcome {
	return r.collective(scatter(r.caller(), send, receive, root))
}

// EventIscatter begins an EventScatter; see [Iscatter].
func EventIscatter[T Datatype](r *EventRank, send, receive []T, root int) EventRequest {
	return r.nonblocking(scatter(r.caller(), send, receive, root))
}

// EventScatterv is [Scatterv] of an event rank.
func EventScatterv[T Datatype](r *EventRank, send []T, counts []int, receive []T, root int) Outcome {
	return r.collective(scatterv(r.caller(), send, counts, receive, root))
}

// EventIscatterv begins an EventScatterv; see [Iscatterv].
func EventIscatterv[T Datatype](r *EventRank, send []T, counts []int, receive []T, root int) EventRequest {
	return r.nonblocking(scatterv(r.caller(), send, counts, receive, root))
}

// EventAllgather is [Allgather] of an event rank.
func EventAllgather[T Datatype](r *EventRank, send, receive []T) Outcome {
	return r.collective(allgather(r.caller(), send, receive))
}

// EventIallgather begins an EventAllgather; see [Iallgather].
func EventIallgather[T Datatype](r *EventRank, send, receive []T) EventRequest {
	return r.nonblocking(allgather(r.caller(), send, receive))
}

// EventAllgatherv is [Allgatherv] of an event rank.
func EventAllgatherv[T Datatype](r *EventRank, send, receive []T, counts []int) Outcome {
	return r.collective(allgatherv(r.caller(), send, receive, counts))
}

// EventIallgatherv begins an EventAllgatherv; see [Iallgatherv].
func EventIallgatherv[T Datatype](r *EventRank, send, receive []T, counts []int) EventRequest {
	return r.nonblocking(allgatherv(r.caller(), send, receive, counts))
}

// EventAlltoall is [Alltoall] of an event rank.
func EventAlltoall[T Datatype](r *EventRank, send, receive []T) Outcome {
	return r.collective(alltoall(r.caller(), send, receive))
}

// EventIalltoall begins an EventAlltoall; see [Ialltoall].
func EventIalltoall[T Datatype](r *EventRank, send, receive []T) EventRequest {
	return r.nonblocking(alltoall(r.caller(), send, receive))
}

// EventAlltoallv is [Alltoallv] of an event rank.
func EventAlltoallv[T Datatype](r *EventRank, send []T, sendCounts []int, receive []T, receiveCounts []int) Outcome {
	return r.collective(alltoallv(r.caller(), send, sendCounts, receive, receiveCounts))
}

// EventIalltoallv begins an EventAlltoallv; see [Ialltoallv].
func EventIalltoallv[T Datatype](r *EventRank, send []T, sendCounts []int, receive []T, receiveCounts []int) EventRequest {
	return r.nonblocking(alltoallv(r.caller(), send, sendCounts, receive, receiveCounts))
}

// EventReduceScatter is [ReduceScatter] of an event rank.
func EventReduceScatter[T Datatype](r *EventRank, send, receive []T, counts []int, o Op[T]) Outcome {
	return r.collective(reduceScatter(r.caller(), send, receive, counts, o))
}

// EventIreduceScatter begins an EventReduceScatter; see [IreduceScatter].
func EventIreduceScatter[T Datatype](r *EventRank, send, receive []T, counts []int, o Op[T]) EventRequest {
	return r.nonblocking(reduceScatter(r.caller(), send, receive, counts, o))
}

// EventScan is [Scan] of an event rank.
func EventScan[T Datatype](r *EventRank, send, receive []T, o Op[T]) Outcome {
	return r.collective(reductionToAll(r.caller(), callScan, collectives.Scan, send, receive, o))
}

// EventIscan begins an EventScan; see [Iscan].
func EventIscan[T Datatype](r *EventRank, send, receive []T, o Op[T]) EventRequest {
	return r.nonblocking(reductionToAll(r.caller(), callScan, collectives.Scan, send, receive, o))
}

// EventExscan is [Exscan] of an event rank.
func EventExscan[T Datatype](r *EventRank, send, receive []T, o Op[T]) Outcome {
	return r.collective(reductionToAll(r.caller(), callExscan, collectives.Exscan, send, receive, o))
}

// EventIexscan begins an EventExscan; see [Iexscan].
func EventIexscan[T Datatype](r *EventRank, send, receive []T, o Op[T]) EventRequest {
	return r.nonblocking(reductionToAll(r.caller(), callExscan, collectives.Exscan, send, receive, o))
}
