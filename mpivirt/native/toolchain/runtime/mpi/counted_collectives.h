/* Collectives and operations with counts, which collectives.c includes once for each sort: COUNT is the
 * type of counts, PLACE the type of displacements, COUNTED defines a function under the name of its sort. */

COUNTED(MPI_Op_create, USER_FUNCTION *function, int commutes, MPI_Op *operation) {
	GIVEN(function, "user_fn", MPI_ERR_ARG);
	GIVEN(operation, "op", MPI_ERR_OP);
	CHECK(active(GIGARANK_NONE));
	struct gigarank_engine *e = gigarank_current;
	if (e->copied && (size_t)((char *)function - e->stacks) < e->stack)
		return refuse(GIGARANK_NONE, MPI_ERR_OP, "the operation is a procedure inside another, and its code is on the stack of its rank: use --stacks own");
	struct gigarank_operation *o = malloc(sizeof *o);
	if (!o)
		return refuse(GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for an operation");
	*o = (struct gigarank_operation){.mark = GIGARANK_OPERATION_MARK, .function = (MPI_User_function *)function, .commutative = commutes != 0, .large = LARGE};
	*operation = (MPI_Op)o;
	return MPI_SUCCESS;
}

COUNTED(MPI_Reduce_local, const void *in, void *inout, COUNT count, MPI_Datatype type, MPI_Op operation) {
	struct gigarank_call c = {.procedure = GIGARANK_REDUCE_LOCAL};
	struct gigarank_packing p = {0};
	int64_t bytes;
	CHECK(active(GIGARANK_REDUCE_LOCAL));
	CHECK(gigarank_bytes_of(GIGARANK_REDUCE_LOCAL, count, type, &bytes));
	c.type = gigarank_element(type);
	CHECK(reducing(&c, type, operation));
	MPI_Datatype same = type;
	int error = gigarank_pack_in(GIGARANK_REDUCE_LOCAL, &p, &in, count, &same);
	if (!error)
		error = gigarank_pack_out(GIGARANK_REDUCE_LOCAL, &p, &inout, count, &type);
	if (!error)
		error = reducing(&c, type, operation);
	if (!error && !gigarank_is_unread(in) && !gigarank_is_unread(inout))
		gigarank_reduce(c.handle, c.operand, inout, in, inout, (size_t)bytes);
	return gigarank_unpack(&p, error, NULL);
}

/* Each collective in its blocking and its nonblocking form. */
BOTH(MPI_Bcast, MPI_Ibcast, (void *buffer, COUNT count, MPI_Datatype type, int root, MPI_Comm comm), bcast(buffer, count, type, root, comm, request))
BOTH(MPI_Reduce, MPI_Ireduce, (const void *sent, void *received, COUNT count, MPI_Datatype type, MPI_Op operation, int root, MPI_Comm comm),
	reduction(GIGARANK_REDUCE, sent, received, count, type, operation, root, 0, comm, request))
BOTH(MPI_Allreduce, MPI_Iallreduce, (const void *sent, void *received, COUNT count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm),
	reduction(GIGARANK_ALLREDUCE, sent, received, count, type, operation, 0, 1, comm, request))
BOTH(MPI_Scan, MPI_Iscan, (const void *sent, void *received, COUNT count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm),
	reduction(GIGARANK_SCAN, sent, received, count, type, operation, 0, 1, comm, request))
BOTH(MPI_Exscan, MPI_Iexscan, (const void *sent, void *received, COUNT count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm),
	reduction(GIGARANK_EXSCAN, sent, received, count, type, operation, 0, 1, comm, request))
BOTH(MPI_Gather, MPI_Igather, (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
	gather(GIGARANK_GATHER, sent, sendcount, sendtype, received, recvcount, recvtype, root, comm, request))
BOTH(MPI_Allgather, MPI_Iallgather, (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm),
	gather(GIGARANK_ALLGATHER, sent, sendcount, sendtype, received, recvcount, recvtype, 0, comm, request))
BOTH(MPI_Scatter, MPI_Iscatter, (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
	scatter(sent, sendcount, sendtype, received, recvcount, recvtype, root, comm, request))
BOTH(MPI_Gatherv, MPI_Igatherv, (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, const COUNT recvcounts[], const PLACE displacements[], MPI_Datatype recvtype, int root, MPI_Comm comm),
	gatherv(GIGARANK_GATHERV, sent, sendcount, sendtype, received, LIST(recvcounts), LIST(displacements), recvtype, root, comm, request))
BOTH(MPI_Allgatherv, MPI_Iallgatherv, (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, const COUNT recvcounts[], const PLACE displacements[], MPI_Datatype recvtype, MPI_Comm comm),
	gatherv(GIGARANK_ALLGATHERV, sent, sendcount, sendtype, received, LIST(recvcounts), LIST(displacements), recvtype, 0, comm, request))
BOTH(MPI_Scatterv, MPI_Iscatterv, (const void *sent, const COUNT sendcounts[], const PLACE displacements[], MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
	scatterv(sent, LIST(sendcounts), LIST(displacements), sendtype, received, recvcount, recvtype, root, comm, request))
BOTH(MPI_Alltoall, MPI_Ialltoall, (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm),
	alltoall(sent, sendcount, sendtype, received, recvcount, recvtype, comm, request))
BOTH(MPI_Alltoallv, MPI_Ialltoallv, (const void *sent, const COUNT sendcounts[], const PLACE senddisplacements[], MPI_Datatype sendtype, void *received, const COUNT recvcounts[], const PLACE recvdisplacements[], MPI_Datatype recvtype, MPI_Comm comm),
	gigarank_alltoallv(sent, LIST(sendcounts), LIST(senddisplacements), sendtype, received, LIST(recvcounts), LIST(recvdisplacements), recvtype, comm, request))
BOTH(MPI_Reduce_scatter, MPI_Ireduce_scatter, (const void *sent, void *received, const COUNT recvcounts[], MPI_Datatype type, MPI_Op operation, MPI_Comm comm),
	!recvcounts ? refuse(GIGARANK_REDUCE_SCATTER, MPI_ERR_COUNT, "the list of counts is NULL") : reduce_scatter(sent, received, LIST(recvcounts), 0, type, operation, comm, request))
BOTH(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, (const void *sent, void *received, COUNT recvcount, MPI_Datatype type, MPI_Op operation, MPI_Comm comm),
	reduce_scatter(sent, received, (struct gigarank_numbers){0}, recvcount, type, operation, comm, request))
BOTH(MPI_Alltoallw, MPI_Ialltoallw, (const void *sent, const COUNT sendcounts[], const PLACE senddisplacements[], const MPI_Datatype sendtypes[], void *received, const COUNT recvcounts[], const PLACE recvdisplacements[], const MPI_Datatype recvtypes[], MPI_Comm comm),
	gigarank_alltoallw(sent, LIST(sendcounts), LIST(senddisplacements), sendtypes, received, LIST(recvcounts), LIST(recvdisplacements), recvtypes, comm, request))
