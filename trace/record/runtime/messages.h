/* Messages, which messages.c includes once for each sort of counts: COUNT is the type of counts, NAME(x) the name of a function. */

#define SENDS(name_, function_) \
	EXPORT int PASTE(MPI_, name_)(const void *buffer, COUNT count, MPI_Datatype type, int peer, int tag, MPI_Comm comm) { \
		BEGIN(name_, buffer, count, type, peer, tag, comm); \
		int code = NEXT(name_)(buffer, count, type, peer, tag, comm); \
		if (leave(&called, code) && sends(&called, function_, count, type, peer, tag, comm)) \
			emit(); \
		return done(code); \
	} \
	ALSO_PMPI(name_)

#define SENDS_LATER(name_, function_) \
	EXPORT int PASTE(MPI_, name_)(const void *buffer, COUNT count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request) { \
		BEGIN(name_, buffer, count, type, peer, tag, comm, request); \
		int code = NEXT(name_)(buffer, count, type, peer, tag, comm, request); \
		if (leave(&called, code) && sends(&called, function_, count, type, peer, tag, comm)) { \
			V(Request) = begun(*request); \
			emit(); \
		} \
		return done(code); \
	} \
	ALSO_PMPI(name_)

SENDS(NAME(Send), FUNCTION_Send)
SENDS(NAME(Ssend), FUNCTION_Ssend)
SENDS(NAME(Bsend), FUNCTION_Bsend)
SENDS(NAME(Rsend), FUNCTION_Rsend)
SENDS_LATER(NAME(Isend), FUNCTION_Isend)
SENDS_LATER(NAME(Issend), FUNCTION_Issend)
SENDS_LATER(NAME(Ibsend), FUNCTION_Ibsend)
SENDS_LATER(NAME(Irsend), FUNCTION_Irsend)

EXPORT int PASTE(MPI_, NAME(Recv))(void *buffer, COUNT count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Status *status) {
	BEGIN(NAME(Recv), buffer, count, type, peer, tag, comm, status);
	MPI_Status own;
	status = seen(status, peer, tag, &own);
	int code = NEXT(NAME(Recv))(buffer, count, type, peer, tag, comm, status);
	if (leave(&called, code) && receives(&called, FUNCTION_Recv, count, type, peer, tag, comm)) {
		got(status, peer, tag);
		emit();
	}
	return done(code);
}
ALSO_PMPI(NAME(Recv))

EXPORT int PASTE(MPI_, NAME(Irecv))(void *buffer, COUNT count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request) {
	BEGIN(NAME(Irecv), buffer, count, type, peer, tag, comm, request);
	int code = NEXT(NAME(Irecv))(buffer, count, type, peer, tag, comm, request);
	if (leave(&called, code) && receives(&called, FUNCTION_Irecv, count, type, peer, tag, comm)) {
		V(Request) = begun(*request);
		emit();
	}
	return done(code);
}
ALSO_PMPI(NAME(Irecv))

EXPORT int PASTE(MPI_, NAME(Mrecv))(void *buffer, COUNT count, MPI_Datatype type, MPI_Message *message, MPI_Status *status) {
	BEGIN(NAME(Mrecv), buffer, count, type, message, status);
	MPI_Message taken = message ? *message : MPI_MESSAGE_NULL;
	int code = NEXT(NAME(Mrecv))(buffer, count, type, message, status);
	if (leave(&called, code) && takes(&called, FUNCTION_Recv, count, type, taken))
		emit();
	return done(code);
}
ALSO_PMPI(NAME(Mrecv))

EXPORT int PASTE(MPI_, NAME(Imrecv))(void *buffer, COUNT count, MPI_Datatype type, MPI_Message *message, MPI_Request *request) {
	BEGIN(NAME(Imrecv), buffer, count, type, message, request);
	MPI_Message taken = message ? *message : MPI_MESSAGE_NULL;
	int code = NEXT(NAME(Imrecv))(buffer, count, type, message, request);
	if (leave(&called, code) && takes(&called, FUNCTION_Irecv, count, type, taken)) {
		V(Request) = begun(*request);
		emit();
	}
	return done(code);
}
ALSO_PMPI(NAME(Imrecv))

EXPORT int PASTE(MPI_, NAME(Sendrecv))(const void *sent, COUNT sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *received, COUNT recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status) {
	BEGIN(NAME(Sendrecv), sent, sendcount, sendtype, dest, sendtag, received, recvcount, recvtype, source, recvtag, comm, status);
	MPI_Status own;
	status = seen(status, source, recvtag, &own);
	int code = NEXT(NAME(Sendrecv))(sent, sendcount, sendtype, dest, sendtag, received, recvcount, recvtype, source, recvtag, comm, status);
	if (leave(&called, code) && exchanges(&called, FUNCTION_Sendrecv, sendcount, sendtype, dest, sendtag, recvcount, recvtype, source, recvtag, comm)) {
		got(status, source, recvtag);
		emit();
	}
	return done(code);
}
ALSO_PMPI(NAME(Sendrecv))

EXPORT int PASTE(MPI_, NAME(Sendrecv_replace))(void *buffer, COUNT count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status) {
	BEGIN(NAME(Sendrecv_replace), buffer, count, type, dest, sendtag, source, recvtag, comm, status);
	MPI_Status own;
	status = seen(status, source, recvtag, &own);
	int code = NEXT(NAME(Sendrecv_replace))(buffer, count, type, dest, sendtag, source, recvtag, comm, status);
	if (leave(&called, code) && exchanges(&called, FUNCTION_Sendrecv, count, type, dest, sendtag, count, type, source, recvtag, comm)) {
		got(status, source, recvtag);
		emit();
	}
	return done(code);
}
ALSO_PMPI(NAME(Sendrecv_replace))

#if MPI_VERSION >= 4
EXPORT int PASTE(MPI_, NAME(Isendrecv))(const void *sent, COUNT sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *received, COUNT recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request) {
	BEGIN(NAME(Isendrecv), sent, sendcount, sendtype, dest, sendtag, received, recvcount, recvtype, source, recvtag, comm, request);
	int code = NEXT(NAME(Isendrecv))(sent, sendcount, sendtype, dest, sendtag, received, recvcount, recvtype, source, recvtag, comm, request);
	if (leave(&called, code) && exchanges(&called, FUNCTION_Isendrecv, sendcount, sendtype, dest, sendtag, recvcount, recvtype, source, recvtag, comm)) {
		V(Request) = begun(*request);
		emit();
	}
	return done(code);
}
ALSO_PMPI(NAME(Isendrecv))

EXPORT int PASTE(MPI_, NAME(Isendrecv_replace))(void *buffer, COUNT count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request *request) {
	BEGIN(NAME(Isendrecv_replace), buffer, count, type, dest, sendtag, source, recvtag, comm, request);
	int code = NEXT(NAME(Isendrecv_replace))(buffer, count, type, dest, sendtag, source, recvtag, comm, request);
	if (leave(&called, code) && exchanges(&called, FUNCTION_Isendrecv, count, type, dest, sendtag, count, type, source, recvtag, comm)) {
		V(Request) = begun(*request);
		emit();
	}
	return done(code);
}
ALSO_PMPI(NAME(Isendrecv_replace))
#endif
