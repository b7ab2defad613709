/* Messages and probes. */
#include "trace.h"

static struct table probed; /* by handle: number of a probed message */
static struct numbers numbers;

enum { NO_PROC = -1 }; /* the message of a probe from MPI_PROC_NULL */

static int ready(void) { return probed.entries || (make_table(&probed) && (numbers.used = room(MOST_ENTRIES / 8))); }

/* sends sets the operation of a send, and reports whether there is one. */
static inline int sends(struct function *f, int function, int64_t count, MPI_Datatype type, int peer, int tag, MPI_Comm comm) {
	const struct communicator *c = communicator(comm);
	int64_t bytes = bytes_of(count, type);
	f->bytes += bytes;
	if (!c) {
		unrecorded(f);
		return 0;
	}
	operation(function);
	V(Comm) = c->number, V(Peer) = rank_of(peer), V(Tag) = tag, V(Bytes) = bytes, V(Request) = 0;
	return 1;
}

static inline int receives(struct function *f, int function, int64_t count, MPI_Datatype type, int peer, int tag, MPI_Comm comm) {
	const struct communicator *c = communicator(comm);
	int64_t bytes = bytes_of(count, type);
	f->bytes += bytes;
	if (!c) {
		unrecorded(f);
		return 0;
	}
	operation(function);
	V(Comm) = c->number, V(Source) = V(GotSource) = rank_of(peer), V(SourceTag) = V(GotTag) = tag_of(tag), V(Room) = bytes, V(Request) = 0;
	return 1;
}

static int exchanges(struct function *f, int function, int64_t sendcount, MPI_Datatype sendtype, int dest, int sendtag, int64_t recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm) {
	if (!receives(f, function, recvcount, recvtype, source, recvtag, comm))
		return 0;
	int64_t bytes = bytes_of(sendcount, sendtype);
	f->bytes += bytes;
	V(Peer) = rank_of(dest), V(Tag) = sendtag, V(Bytes) = bytes;
	return 1;
}

/* seen returns a status for a receive with wildcards, if the program wants none. */
static inline MPI_Status *seen(MPI_Status *status, int source, int tag, MPI_Status *own) {
	return status == MPI_STATUS_IGNORE && (source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG) ? own : status;
}

/* got stores the message that a receive with wildcards has received. */
static inline void got(const MPI_Status *status, int source, int tag) {
	if (!task.failed && (source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG))
		V(GotSource) = rank_of(status->MPI_SOURCE), V(GotTag) = tag_of(status->MPI_TAG);
}

/* takes sets the operation of a receive of a probed message. */
static int takes(struct function *f, int function, int64_t count, MPI_Datatype type, MPI_Message message) {
	int64_t bytes = bytes_of(count, type);
	f->bytes += bytes;
	int32_t e = message == MPI_MESSAGE_NO_PROC || !ready() ? 0 : find_entry(&probed, KEY(message));
	if (!e && message != MPI_MESSAGE_NO_PROC) {
		unrecorded(f);
		return 0;
	}
	operation(function);
	V(Comm) = V(Source) = V(SourceTag) = V(GotSource) = V(GotTag) = 0, V(Room) = bytes, V(Request) = 0, V(Message) = NO_PROC;
	if (e) {
		int32_t number = probed.entries[e].value;
		V(Message) = number + 1;
		free_number(&numbers, number);
		remove_entry(&probed, e);
	}
	return 1;
}

/* probes sets the operation of a probe, and reports whether there is one. */
static int probes(struct function *f, int function, int peer, int tag, MPI_Comm comm, int found, const MPI_Status *status) {
	const struct communicator *c = communicator(comm);
	if (!c) {
		unrecorded(f);
		return 0;
	}
	operation(function);
	V(Comm) = c->number, V(Source) = V(GotSource) = rank_of(peer), V(SourceTag) = V(GotTag) = tag_of(tag), V(GotBytes) = 0;
	if (!found) {
		V(Form) |= FORM_MISSED;
		return 1;
	}
	MPI_Count bytes = 0;
	next.get_elements(status, MPI_BYTE, &bytes);
	V(GotSource) = rank_of(status->MPI_SOURCE), V(GotTag) = tag_of(status->MPI_TAG), V(GotBytes) = bytes > 0 ? bytes : 0;
	return 1;
}

/* keeps_message gives a probed message a number. */
static void keeps_message(MPI_Message message) {
	if (message == MPI_MESSAGE_NO_PROC) {
		V(Message) = NO_PROC;
		return;
	}
	int64_t number = task.on && ready() ? take_number(&numbers) : -1;
	if (number < 0 || !add_entry(&probed, KEY(message), (int32_t)number))
		return;
	V(Message) = number + 1;
}

#define OR_OWN(status_) ((status_) == MPI_STATUS_IGNORE ? &own : (status_))

EXPORT int MPI_Probe(int peer, int tag, MPI_Comm comm, MPI_Status *status) {
	BEGIN(Probe, peer, tag, comm, status);
	MPI_Status own;
	status = OR_OWN(status);
	int code = NEXT(Probe)(peer, tag, comm, status);
	if (leave(&called, code) && probes(&called, FUNCTION_Probe, peer, tag, comm, 1, status))
		emit();
	return done(code);
}
ALSO_PMPI(Probe)

EXPORT int MPI_Iprobe(int peer, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
	BEGIN(Iprobe, peer, tag, comm, flag, status);
	MPI_Status own;
	status = OR_OWN(status);
	int code = NEXT(Iprobe)(peer, tag, comm, flag, status);
	if (leave(&called, code) && probes(&called, FUNCTION_Iprobe, peer, tag, comm, *flag, status))
		emit();
	return done(code);
}
ALSO_PMPI(Iprobe)

EXPORT int MPI_Mprobe(int peer, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
	BEGIN(Mprobe, peer, tag, comm, message, status);
	MPI_Status own;
	status = OR_OWN(status);
	int code = NEXT(Mprobe)(peer, tag, comm, message, status);
	if (leave(&called, code) && probes(&called, FUNCTION_Mprobe, peer, tag, comm, 1, status)) {
		keeps_message(*message);
		emit();
	}
	return done(code);
}
ALSO_PMPI(Mprobe)

EXPORT int MPI_Improbe(int peer, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
	BEGIN(Improbe, peer, tag, comm, flag, message, status);
	MPI_Status own;
	status = OR_OWN(status);
	int code = NEXT(Improbe)(peer, tag, comm, flag, message, status);
	if (leave(&called, code) && probes(&called, FUNCTION_Improbe, peer, tag, comm, *flag, status)) {
		if (*flag)
			keeps_message(*message);
		emit();
	}
	return done(code);
}
ALSO_PMPI(Improbe)

#define COUNT int
#define NAME(x) x
#include "messages.h"
#undef COUNT
#undef NAME

#if MPI_VERSION >= 4
#undef SENDS
#undef SENDS_LATER
#define COUNT MPI_Count
#define NAME(x) x##_c
#include "messages.h"
#endif
