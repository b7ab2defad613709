/* The functions of MPI with counts, which mpi.c includes once for each sort: COUNT is the type of
 * counts, PLACE that of displacements, COUNTED defines a function under the name of its sort. */

SENDS(Send, GIGARANK_SEND)
SENDS(Ssend, GIGARANK_SSEND)
SENDS(Bsend, GIGARANK_BSEND)
SENDS(Rsend, GIGARANK_RSEND)

SENDS_LATER(Isend, GIGARANK_ISEND, begin)
SENDS_LATER(Issend, GIGARANK_ISSEND, begin)
SENDS_LATER(Ibsend, GIGARANK_IBSEND, begin)
SENDS_LATER(Irsend, GIGARANK_IRSEND, begin)
SENDS_LATER(Send_init, GIGARANK_ISEND, persist)
SENDS_LATER(Ssend_init, GIGARANK_ISSEND, persist)
SENDS_LATER(Bsend_init, GIGARANK_IBSEND, persist)
SENDS_LATER(Rsend_init, GIGARANK_IRSEND, persist)

COUNTED(Recv, void *buffer, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status) {
	struct gigarank_call c = {0};
	CHECK(receiving(&c, GIGARANK_RECV, buffer, count, type, source, tag, comm));
	gigarank_transfer(&c);
	set_status(status, &c.status, -1);
	return c.error;
}

COUNTED(Irecv, void *buffer, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
	GIVEN(request, "request", MPI_ERR_REQUEST);
	struct gigarank_call c = {0};
	CHECK(receiving(&c, GIGARANK_IRECV, buffer, count, type, source, tag, comm));
	return begin(&c, request);
}

COUNTED(Recv_init, void *buffer, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
	GIVEN(request, "request", MPI_ERR_REQUEST);
	struct gigarank_call c = {0};
	CHECK(receiving(&c, GIGARANK_IRECV, buffer, count, type, source, tag, comm));
	return persist(&c, request);
}

COUNTED(Sendrecv, const void *sent, COUNT sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *received, COUNT recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status) {
	struct gigarank_call c = {0};
	CHECK(sending(&c, GIGARANK_SENDRECV, sent, sendcount, sendtype, dest, sendtag, comm));
	CHECK(receiving(&c, GIGARANK_SENDRECV, received, recvcount, recvtype, source, recvtag, comm));
	gigarank_transfer(&c);
	set_status(status, &c.status, -1);
	return c.error;
}

COUNTED(Sendrecv_replace, void *buffer, COUNT count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status) {
	struct gigarank_call c = {0};
	CHECK(sending(&c, GIGARANK_SENDRECV, buffer, count, type, dest, sendtag, comm));
	CHECK(receiving(&c, GIGARANK_SENDRECV, buffer, count, type, source, recvtag, comm));
	void *copy = NULL;
	if (!c.from.type) {
		if (!(copy = malloc((size_t)c.bytes + 1)))
			return refuse(GIGARANK_SENDRECV, MPI_ERR_NO_MEM, "no memory for a copy of %lld bytes", (long long)c.bytes);
		if (c.bytes)
			memcpy(copy, c.input, (size_t)c.bytes);
		c.input = copy;
	}
	gigarank_transfer(&c);
	free(copy);
	set_status(status, &c.status, -1);
	return c.error;
}

COUNTED(Isendrecv, const void *sent, COUNT sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *received, COUNT recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	CHECK(sending(&c, GIGARANK_ISENDRECV, sent, sendcount, sendtype, dest, sendtag, comm));
	CHECK(receiving(&c, GIGARANK_ISENDRECV, received, recvcount, recvtype, source, recvtag, comm));
	return begin(&c, request);
}

COUNTED(Isendrecv_replace, void *buffer, COUNT count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	CHECK(sending(&c, GIGARANK_ISENDRECV, buffer, count, type, dest, sendtag, comm));
	CHECK(receiving(&c, GIGARANK_ISENDRECV, buffer, count, type, source, recvtag, comm));
	void *copy = NULL; /* which is copied when it is sent */
	if (!c.from.type) {
		if (!(copy = copy_of(c.input, c.bytes)))
			return refuse(GIGARANK_ISENDRECV, MPI_ERR_NO_MEM, "no memory for a copy of %lld bytes", (long long)c.bytes);
		c.input = copy;
	}
	int error = begin(&c, request);
	free(copy);
	return error;
}

COUNTED(Mrecv, void *buffer, COUNT count, MPI_Datatype type, MPI_Message *message, MPI_Status *status) {
	GIVEN(message, "message", MPI_ERR_REQUEST);
	struct gigarank_call c = {0};
	CHECK(receiving(&c, GIGARANK_RECV, buffer, count, type, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
	c.message = take_message(message);
	gigarank_transfer(&c);
	set_status(status, &c.status, -1);
	return c.error;
}

COUNTED(Imrecv, void *buffer, COUNT count, MPI_Datatype type, MPI_Message *message, MPI_Request *request) {
	GIVEN(message, "message", MPI_ERR_REQUEST);
	struct gigarank_call c = {0};
	CHECK(receiving(&c, GIGARANK_IRECV, buffer, count, type, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
	c.message = take_message(message);
	return begin(&c, request);
}

COUNTED(Buffer_attach, void *buffer, COUNT size) {
	GIVEN(buffer, "buffer", MPI_ERR_ARG);
	int64_t before;
	if (size < 0)
		return refuse(GIGARANK_BSEND, MPI_ERR_ARG, "a buffer of %lld bytes", (long long)size);
	CHECK(active(GIGARANK_BSEND));
	if (!gigarank_own())
		return refuse(GIGARANK_BSEND, MPI_ERR_NO_MEM, "no memory to note the buffer");
	CHECK(attach(buffer == MPI_BUFFER_AUTOMATIC ? GIGARANK_MOST_BYTES : size, &before));
	gigarank_own()->attached = buffer;
	return MPI_SUCCESS;
}

COUNTED(Buffer_detach, void *buffer, COUNT *size) {
	GIVEN(buffer, "buffer_addr", MPI_ERR_ARG);
	GIVEN(size, "size", MPI_ERR_ARG);
	int64_t before = 0;
	CHECK(active(GIGARANK_BSEND));
	if (!gigarank_own())
		return refuse(GIGARANK_BSEND, MPI_ERR_NO_MEM, "no memory to note the buffer");
	CHECK(attach(0, &before));
	memcpy(buffer, &gigarank_own()->attached, sizeof(void *));
	*size = gigarank_own()->attached == MPI_BUFFER_AUTOMATIC ? 0 : (COUNT)before;
	return MPI_SUCCESS;
}

COUNTED(Op_create, USER_FUNCTION *function, int commutes, MPI_Op *operation) {
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

COUNTED(Reduce_local, const void *in, void *inout, COUNT count, MPI_Datatype type, MPI_Op operation) {
	struct gigarank_call c = {.procedure = GIGARANK_REDUCE};
	struct gigarank_packing p = {0};
	int64_t bytes;
	CHECK(active(GIGARANK_REDUCE));
	CHECK(bytes_of(GIGARANK_REDUCE, count, type, &bytes));
	c.type = gigarank_element(type);
	CHECK(reducing(&c, type, operation));
	MPI_Datatype same = type;
	int error = gigarank_pack_in(GIGARANK_REDUCE, &p, &in, count, &same);
	if (!error)
		error = gigarank_pack_out(GIGARANK_REDUCE, &p, &inout, count, &type);
	if (!error)
		error = reducing(&c, type, operation);
	if (!error)
		gigarank_reduce(c.handle, c.operand, inout, in, inout, (size_t)bytes);
	return gigarank_unpack(&p, error, NULL);
}

/* Each collective in its blocking form and in its nonblocking one. */
BOTH(Bcast, Ibcast, (void *buffer, COUNT count, MPI_Datatype type, int root, MPI_Comm comm), bcast(buffer, count, type, root, comm, request))
BOTH(Reduce, Ireduce, (const void *sent, void *received, COUNT count, MPI_Datatype type, MPI_Op operation, int root, MPI_Comm comm),
	reduction(GIGARANK_REDUCE, sent, received, count, type, operation, root, 0, comm, request))
BOTH(Allreduce, Iallreduce, (const void *sent, void *received, COUNT count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm),
	reduction(GIGARANK_ALLREDUCE, sent, received, count, type, operation, 0, 1, comm, request))
BOTH(Scan, Iscan, (const void *sent, void *received, COUNT count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm),
	reduction(GIGARANK_SCAN, sent, received, count, type, operation, 0, 1, comm, request))
BOTH(Exscan, Iexscan, (const void *sent, void *received, COUNT count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm),
	reduction(GIGARANK_EXSCAN, sent, received, count, type, operation, 0, 1, comm, request))
BOTH(Gather, Igather, (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
	gather(GIGARANK_GATHER, sent, sendcount, sendtype, received, recvcount, recvtype, root, comm, request))
BOTH(Allgather, Iallgather, (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm),
	gather(GIGARANK_ALLGATHER, sent, sendcount, sendtype, received, recvcount, recvtype, 0, comm, request))
BOTH(Scatter, Iscatter, (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
	scatter(sent, sendcount, sendtype, received, recvcount, recvtype, root, comm, request))
BOTH(Gatherv, Igatherv, (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, const COUNT recvcounts[], const PLACE displacements[], MPI_Datatype recvtype, int root, MPI_Comm comm),
	gatherv(GIGARANK_GATHERV, sent, sendcount, sendtype, received, LIST(recvcounts), LIST(displacements), recvtype, root, comm, request))
BOTH(Allgatherv, Iallgatherv, (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, const COUNT recvcounts[], const PLACE displacements[], MPI_Datatype recvtype, MPI_Comm comm),
	gatherv(GIGARANK_ALLGATHERV, sent, sendcount, sendtype, received, LIST(recvcounts), LIST(displacements), recvtype, 0, comm, request))
BOTH(Scatterv, Iscatterv, (const void *sent, const COUNT sendcounts[], const PLACE displacements[], MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
	scatterv(sent, LIST(sendcounts), LIST(displacements), sendtype, received, recvcount, recvtype, root, comm, request))
BOTH(Alltoall, Ialltoall, (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm),
	alltoall(sent, sendcount, sendtype, received, recvcount, recvtype, comm, request))
BOTH(Alltoallv, Ialltoallv, (const void *sent, const COUNT sendcounts[], const PLACE senddisplacements[], MPI_Datatype sendtype, void *received, const COUNT recvcounts[], const PLACE recvdisplacements[], MPI_Datatype recvtype, MPI_Comm comm),
	alltoallv(sent, LIST(sendcounts), LIST(senddisplacements), sendtype, received, LIST(recvcounts), LIST(recvdisplacements), recvtype, comm, request))
BOTH(Reduce_scatter, Ireduce_scatter, (const void *sent, void *received, const COUNT recvcounts[], MPI_Datatype type, MPI_Op operation, MPI_Comm comm),
	!recvcounts ? refuse(GIGARANK_REDUCE_SCATTER, MPI_ERR_COUNT, "the list of counts is NULL") : reduce_scatter(sent, received, LIST(recvcounts), 0, type, operation, comm, request))
BOTH(Reduce_scatter_block, Ireduce_scatter_block, (const void *sent, void *received, COUNT recvcount, MPI_Datatype type, MPI_Op operation, MPI_Comm comm),
	reduce_scatter(sent, received, (struct gigarank_numbers){0}, recvcount, type, operation, comm, request))
BOTH(Alltoallw, Ialltoallw, (const void *sent, const COUNT sendcounts[], const PLACE senddisplacements[], const MPI_Datatype sendtypes[], void *received, const COUNT recvcounts[], const PLACE recvdisplacements[], const MPI_Datatype recvtypes[], MPI_Comm comm),
	alltoallw(sent, LIST(sendcounts), LIST(senddisplacements), sendtypes, received, LIST(recvcounts), LIST(recvdisplacements), recvtypes, comm, request))
