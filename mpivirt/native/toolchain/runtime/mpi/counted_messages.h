/* Messages with counts, which messages.c includes once for each sort: COUNT is the type of counts,
 * COUNTED defines a function under the name of its sort. */

COUNTED(MPI_Send, const void *buffer, COUNT count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
	if (gigarank_send_plain(buffer, count, type, dest, tag, comm))
		return MPI_SUCCESS;
	struct gigarank_call c = {0};
	CHECK(gigarank_sending(&c, GIGARANK_SEND, buffer, count, type, dest, tag, comm));
	return gigarank_transfer(&c);
}

SENDS(MPI_Ssend, GIGARANK_SSEND)
SENDS(MPI_Bsend, GIGARANK_BSEND)
SENDS(MPI_Rsend, GIGARANK_RSEND)

SENDS_LATER(MPI_Isend, GIGARANK_ISEND, begin)
SENDS_LATER(MPI_Issend, GIGARANK_ISSEND, begin)
SENDS_LATER(MPI_Ibsend, GIGARANK_IBSEND, begin)
SENDS_LATER(MPI_Irsend, GIGARANK_IRSEND, begin)
SENDS_LATER(MPI_Send_init, GIGARANK_ISEND, gigarank_persist)
SENDS_LATER(MPI_Ssend_init, GIGARANK_ISSEND, gigarank_persist)
SENDS_LATER(MPI_Bsend_init, GIGARANK_IBSEND, gigarank_persist)
SENDS_LATER(MPI_Rsend_init, GIGARANK_IRSEND, gigarank_persist)

COUNTED(MPI_Recv, void *buffer, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status) {
	struct gigarank_call c;
	gigarank_clear_call(&c);
	if (gigarank_receive_plain(&c, buffer, count, type, source, tag, comm)) {
		gigarank_trap(&c);
	} else {
		CHECK(gigarank_receiving(&c, GIGARANK_RECV, buffer, count, type, source, tag, comm));
		gigarank_transfer(&c);
	}
	gigarank_set_status(status, &c.status, -1);
	return c.error;
}

COUNTED(MPI_Irecv, void *buffer, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
	GIVEN(request, "request", MPI_ERR_REQUEST);
	struct gigarank_call c = {0};
	CHECK(gigarank_receiving(&c, GIGARANK_IRECV, buffer, count, type, source, tag, comm));
	return begin(&c, request);
}

COUNTED(MPI_Recv_init, void *buffer, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
	GIVEN(request, "request", MPI_ERR_REQUEST);
	struct gigarank_call c = {0};
	gigarank_form(GIGARANK_PERSISTENT);
	CHECK(gigarank_receiving(&c, GIGARANK_IRECV, buffer, count, type, source, tag, comm));
	return gigarank_persist(&c, request);
}

COUNTED(MPI_Sendrecv, const void *sent, COUNT sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *received, COUNT recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status) {
	struct gigarank_call c = {0};
	CHECK(gigarank_sending(&c, GIGARANK_SENDRECV, sent, sendcount, sendtype, dest, sendtag, comm));
	CHECK(gigarank_receiving(&c, GIGARANK_SENDRECV, received, recvcount, recvtype, source, recvtag, comm));
	gigarank_transfer(&c);
	gigarank_set_status(status, &c.status, -1);
	return c.error;
}

COUNTED(MPI_Sendrecv_replace, void *buffer, COUNT count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status) {
	struct gigarank_call c = {0};
	CHECK(gigarank_sending(&c, GIGARANK_SENDRECV, buffer, count, type, dest, sendtag, comm));
	CHECK(gigarank_receiving(&c, GIGARANK_SENDRECV, buffer, count, type, source, recvtag, comm));
	void *copy = NULL;
	if (!c.from.type && c.input) {
		if (!(copy = malloc((size_t)c.bytes + 1)))
			return refuse(GIGARANK_SENDRECV, MPI_ERR_NO_MEM, "no memory for a copy of %lld bytes", (long long)c.bytes);
		if (c.bytes)
			memcpy(copy, c.input, (size_t)c.bytes);
		c.input = copy;
	}
	gigarank_transfer(&c);
	free(copy);
	gigarank_set_status(status, &c.status, -1);
	return c.error;
}

COUNTED(MPI_Isendrecv, const void *sent, COUNT sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *received, COUNT recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	CHECK(gigarank_sending(&c, GIGARANK_ISENDRECV, sent, sendcount, sendtype, dest, sendtag, comm));
	CHECK(gigarank_receiving(&c, GIGARANK_ISENDRECV, received, recvcount, recvtype, source, recvtag, comm));
	return begin(&c, request);
}

COUNTED(MPI_Isendrecv_replace, void *buffer, COUNT count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	CHECK(gigarank_sending(&c, GIGARANK_ISENDRECV, buffer, count, type, dest, sendtag, comm));
	CHECK(gigarank_receiving(&c, GIGARANK_ISENDRECV, buffer, count, type, source, recvtag, comm));
	void *copy = NULL; /* which is copied when it is sent */
	if (!c.from.type && c.input) {
		if (!(copy = gigarank_copy_of(c.input, c.bytes)))
			return refuse(GIGARANK_ISENDRECV, MPI_ERR_NO_MEM, "no memory for a copy of %lld bytes", (long long)c.bytes);
		c.input = copy;
	}
	int error = begin(&c, request);
	free(copy);
	return error;
}

COUNTED(MPI_Mrecv, void *buffer, COUNT count, MPI_Datatype type, MPI_Message *message, MPI_Status *status) {
	GIVEN(message, "message", MPI_ERR_REQUEST);
	struct gigarank_call c = {0};
	gigarank_form(GIGARANK_MATCHED);
	CHECK(gigarank_receiving(&c, GIGARANK_RECV, buffer, count, type, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
	c.message = take_message(message);
	gigarank_transfer(&c);
	gigarank_set_status(status, &c.status, -1);
	return c.error;
}

COUNTED(MPI_Imrecv, void *buffer, COUNT count, MPI_Datatype type, MPI_Message *message, MPI_Request *request) {
	GIVEN(message, "message", MPI_ERR_REQUEST);
	struct gigarank_call c = {0};
	gigarank_form(GIGARANK_MATCHED);
	CHECK(gigarank_receiving(&c, GIGARANK_IRECV, buffer, count, type, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
	c.message = take_message(message);
	return begin(&c, request);
}

COUNTED(MPI_Buffer_attach, void *buffer, COUNT size) {
	GIVEN(buffer, "buffer", MPI_ERR_ARG);
	int64_t before;
	if (size < 0)
		return refuse(GIGARANK_NONE, MPI_ERR_ARG, "a buffer of %lld bytes", (long long)size);
	CHECK(active(GIGARANK_NONE));
	struct gigarank_own *own = gigarank_own();
	if (!own)
		return refuse(GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory to note the buffer");
	if (own->attached)
		return refuse(GIGARANK_NONE, MPI_ERR_BUFFER, "a buffer is attached already: detach it before");
	CHECK(attach(buffer == MPI_BUFFER_AUTOMATIC ? GIGARANK_MOST_BYTES : size, &before));
	own->attached = buffer;
	return MPI_SUCCESS;
}

COUNTED(MPI_Buffer_detach, void *buffer, COUNT *size) {
	GIVEN(buffer, "buffer_addr", MPI_ERR_ARG);
	GIVEN(size, "size", MPI_ERR_ARG);
	int64_t before = 0;
	CHECK(active(GIGARANK_NONE));
	struct gigarank_own *own = gigarank_running()->own;
	if (!own || !own->attached)
		return refuse(GIGARANK_NONE, MPI_ERR_BUFFER, "no buffer is attached");
	CHECK(attach(0, &before));
	memcpy(buffer, &own->attached, sizeof(void *));
	*size = own->attached == MPI_BUFFER_AUTOMATIC ? 0 : (COUNT)before;
	own->attached = NULL;
	return MPI_SUCCESS;
}
