/* Requests: their numbers, waits, tests, persistent requests. */
#include "trace.h"

#include <string.h>

static struct table active;     /* by handle: number of the request */
static struct table persistent; /* by handle: index of the message that a start begins */
static struct numbers numbers;
static unsigned char *wild; /* by number: the request receives from any source, or with any tag */
static int64_t wilds;       /* such requests under way */

/* A message of a persistent request; of an operation that is not recorded, function is 0. */
struct message {
	struct function *begins; /* that has made it */
	int64_t comm, peer, tag, bytes;
	int function;
};
static struct message *messages;

int64_t *named;
static MPI_Request *handles; /* that a wait names */
static MPI_Status *statuses;

int start_requests(void) {
	return make_table(&active) && make_table(&persistent) && (numbers.used = room(MOST_ENTRIES / 8)) && (messages = room(MOST_ENTRIES * sizeof *messages)) &&
	       (named = room(MOST_LISTED * sizeof *named)) && (handles = room(MOST_LISTED * sizeof *handles)) && (statuses = room(MOST_LISTED * sizeof *statuses)) &&
	       (wild = room(MOST_ENTRIES));
}

/* begun gives the request that the call has begun a number. */
int64_t begun(MPI_Request request) {
	if (!task.on)
		return -1;
	int64_t number = take_number(&numbers);
	if (number < 0 || !add_entry(&active, KEY(request), (int32_t)number)) {
		stop("the recording stops: more than %d requests are under way", MOST_ENTRIES);
		return -1;
	}
	int receives = task.o.function == FUNCTION_Irecv || task.o.function == FUNCTION_Isendrecv;
	wild[number] = receives && (V(Source) == RANK_ANY_SOURCE || V(SourceTag) == TAG_ANY);
	wilds += wild[number];
	return number;
}

/* number_within returns the number of a request that begins and ends within the call. */
int64_t number_within(void) {
	int64_t number = take_number(&numbers);
	if (number >= 0)
		free_number(&numbers, number);
	return number;
}

/* --- waits and tests ---------------------------------------------------------------- */

/* names takes the requests of a list out of the table. They are the list Requests of the operation. */
static void names(int n, const MPI_Request *list) {
	struct list *l = L(Requests);
	L(Completed)->n = L(Matched)->n = 0;
	if ((l->n = n < 0 || !list ? 0 : n) > MOST_LISTED) {
		l->n = 0;
		if (!task.stopped)
			stop("the recording stops: a call names more than %d requests", MOST_LISTED);
		return;
	}
	for (int i = 0; i < l->n; i++) {
		int32_t e = list[i] == MPI_REQUEST_NULL ? 0 : find_entry(&active, KEY(list[i]));
		named[i] = e, handles[i] = list[i];
		l->at[i] = -1;
		if (e) {
			l->at[i] = active.entries[e].value;
			remove_entry(&active, e);
		}
	}
}

/* keeps puts a request back that the call has not completed. */
static void keeps(int64_t i) {
	if (named[i] && !add_entry(&active, KEY(handles[i]), (int32_t)L(Requests)->at[i]))
		stop("the recording stops: more than %d requests are under way", MOST_ENTRIES);
	named[i] = 0;
}

/* ends frees the number of a request that is complete, and notes which message a receive with wildcards took. While nothing is recorded, the
 * trace does not know that, and the number stays. */
static void ends(int64_t i, const MPI_Status *status) {
	if (named[i] && task.on) {
		int64_t number = L(Requests)->at[i];
		struct list *l = L(Matched);
		if (wild[number] && l->n + 3 <= MOST_LISTED) {
			l->at[l->n++] = number, l->at[l->n++] = rank_of(status->MPI_SOURCE), l->at[l->n++] = tag_of(status->MPI_TAG);
			wild[number] = 0, wilds--;
		}
		free_number(&numbers, number);
	}
	named[i] = 0;
}

/* heard returns the statuses of a call: the recorder's if the program wants none, and a receive with wildcards is under way. */
static MPI_Status *heard(MPI_Status *given, const MPI_Status *none) { return given == none && wilds && L(Requests)->n > 0 ? statuses : given; }

/* completes ends the requests at n places, and keeps the others. */
static void completes(int n, const int *places, const MPI_Status *all, int is_some) {
	for (int i = 0; i < n; i++)
		if (places[i] >= 0 && places[i] < L(Requests)->n) {
			ends(places[i], &all[i]);
			if (is_some)
				L(Completed)->at[L(Completed)->n++] = places[i];
		}
	for (int64_t i = 0; i < L(Requests)->n; i++)
		keeps(i);
}

/* completes_all ends all requests, but those that a failed call has left pending. */
static void completes_all(const MPI_Status *all, int code) {
	const MPI_Status *given = all == MPI_STATUSES_IGNORE ? NULL : all;
	int class = MPI_SUCCESS;
	if (code != MPI_SUCCESS)
		next.error_class(code, &class);
	for (int64_t i = 0; i < L(Requests)->n; i++)
		if (class == MPI_ERR_IN_STATUS && given && given[i].MPI_ERROR == MPI_ERR_PENDING)
			keeps(i);
		else
			ends(i, &all[i]);
}

/* keeps_all keeps all requests: the call has completed none. */
static void keeps_all(void) {
	for (int64_t i = 0; i < L(Requests)->n; i++)
		keeps(i);
}

static void missed(int function) {
	keeps_all();
	operation(function);
	V(Form) |= FORM_MISSED;
	emit();
}

EXPORT int MPI_Wait(MPI_Request *request, MPI_Status *status) {
	BEGIN(Wait, request, status);
	names(1, request);
	status = heard(status, MPI_STATUS_IGNORE);
	int code = NEXT(Wait)(request, status);
	if (leave(&called, code)) {
		operation(FUNCTION_Wait);
		ends(0, status);
		emit();
	} else
		keeps_all();
	return done(code);
}
ALSO_PMPI(Wait)

EXPORT int MPI_Waitall(int n, MPI_Request list[], MPI_Status all[]) {
	BEGIN(Waitall, n, list, all);
	names(n, list);
	all = heard(all, MPI_STATUSES_IGNORE);
	int code = NEXT(Waitall)(n, list, all);
	if (leave(&called, code)) {
		operation(FUNCTION_Waitall);
		completes_all(all, code);
		emit();
	} else
		keeps_all();
	return done(code);
}
ALSO_PMPI(Waitall)

EXPORT int MPI_Waitany(int n, MPI_Request list[], int *index, MPI_Status *status) {
	BEGIN(Waitany, n, list, index, status);
	names(n, list);
	status = heard(status, MPI_STATUS_IGNORE);
	int code = NEXT(Waitany)(n, list, index, status);
	if (leave(&called, code)) {
		operation(FUNCTION_Waitany);
		completes(*index != MPI_UNDEFINED, index, status, 1);
		emit();
	} else
		keeps_all();
	return done(code);
}
ALSO_PMPI(Waitany)

EXPORT int MPI_Waitsome(int n, MPI_Request list[], int *count, int indices[], MPI_Status some[]) {
	BEGIN(Waitsome, n, list, count, indices, some);
	names(n, list);
	some = heard(some, MPI_STATUSES_IGNORE);
	int code = NEXT(Waitsome)(n, list, count, indices, some);
	if (leave(&called, code)) {
		operation(FUNCTION_Waitsome);
		completes(*count == MPI_UNDEFINED ? 0 : *count, indices, some, 1);
		emit();
	} else
		keeps_all();
	return done(code);
}
ALSO_PMPI(Waitsome)

EXPORT int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
	BEGIN(Test, request, flag, status);
	names(1, request);
	status = heard(status, MPI_STATUS_IGNORE);
	int code = NEXT(Test)(request, flag, status);
	if (!leave(&called, code))
		keeps_all();
	else if (!*flag && code == MPI_SUCCESS)
		missed(FUNCTION_Test);
	else {
		operation(FUNCTION_Test);
		ends(0, status);
		emit();
	}
	return done(code);
}
ALSO_PMPI(Test)

EXPORT int MPI_Testall(int n, MPI_Request list[], int *flag, MPI_Status all[]) {
	BEGIN(Testall, n, list, flag, all);
	names(n, list);
	all = heard(all, MPI_STATUSES_IGNORE);
	int code = NEXT(Testall)(n, list, flag, all);
	if (!leave(&called, code))
		keeps_all();
	else if (!*flag && code == MPI_SUCCESS)
		missed(FUNCTION_Testall);
	else {
		operation(FUNCTION_Testall);
		completes_all(all, code);
		emit();
	}
	return done(code);
}
ALSO_PMPI(Testall)

EXPORT int MPI_Testany(int n, MPI_Request list[], int *index, int *flag, MPI_Status *status) {
	BEGIN(Testany, n, list, index, flag, status);
	names(n, list);
	status = heard(status, MPI_STATUS_IGNORE);
	int code = NEXT(Testany)(n, list, index, flag, status);
	if (!leave(&called, code))
		keeps_all();
	else if (!*flag && code == MPI_SUCCESS)
		missed(FUNCTION_Testany);
	else {
		operation(FUNCTION_Testany);
		completes(*index != MPI_UNDEFINED, index, status, 1);
		emit();
	}
	return done(code);
}
ALSO_PMPI(Testany)

EXPORT int MPI_Testsome(int n, MPI_Request list[], int *count, int indices[], MPI_Status some[]) {
	BEGIN(Testsome, n, list, count, indices, some);
	names(n, list);
	some = heard(some, MPI_STATUSES_IGNORE);
	int code = NEXT(Testsome)(n, list, count, indices, some);
	if (!leave(&called, code))
		keeps_all();
	else if (*count == 0 && code == MPI_SUCCESS)
		missed(FUNCTION_Testsome);
	else {
		operation(FUNCTION_Testsome);
		completes(*count == MPI_UNDEFINED ? 0 : *count, indices, some, 1);
		emit();
	}
	return done(code);
}
ALSO_PMPI(Testsome)

EXPORT int MPI_Cancel(MPI_Request *request) {
	BEGIN(Cancel, request);
	names(1, request);
	keeps_all();
	int code = NEXT(Cancel)(request);
	if (leave(&called, code)) {
		operation(FUNCTION_Cancel);
		emit();
	}
	return done(code);
}
ALSO_PMPI(Cancel)

/* A request that is freed is never waited for: its number stays in use. */
EXPORT int MPI_Request_free(MPI_Request *request) {
	MPI_Request freed = request ? *request : MPI_REQUEST_NULL;
	BEGIN(Request_free, request);
	int code = NEXT(Request_free)(request);
	if (leave(&called, code) && freed != MPI_REQUEST_NULL) {
		int32_t e = find_entry(&active, KEY(freed));
		if (e)
			remove_entry(&active, e);
		if ((e = find_entry(&persistent, KEY(freed))))
			remove_entry(&persistent, e);
	}
	return done(code);
}
ALSO_PMPI(Request_free)

/* --- persistent requests ------------------------------------------------------------ */

/* sets_up keeps the message that starts of a request begin. */
static void sets_up(struct function *f, int function, MPI_Request request, MPI_Comm comm, int peer, int tag, int64_t bytes) {
	struct communicator *c = communicator(comm);
	int32_t e = add_entry(&persistent, KEY(request), 0);
	if (!e) {
		stop("the recording stops: there are more than %d persistent requests", MOST_ENTRIES);
		return;
	}
	persistent.entries[e].value = e;
	messages[e] = (struct message){.begins = f, .comm = c ? c->number : -1, .peer = rank_of(peer), .tag = tag_of(tag), .bytes = bytes, .function = c ? function : 0};
}

/* starts records the messages that the starts of n requests have begun. */
static void starts(struct function *f, int n, const MPI_Request list[]) {
	for (int i = 0; i < n; i++) {
		int32_t e = find_entry(&persistent, KEY(list[i]));
		const struct message *m = &messages[e];
		if (!e || !m->function) {
			unrecorded(f);
			continue;
		}
		f->bytes += m->bytes;
		operation(m->function);
		V(Form) |= FORM_PERSISTENT;
		V(Comm) = m->comm;
		if (m->function == FUNCTION_Irecv) {
			V(Source) = V(GotSource) = m->peer, V(SourceTag) = V(GotTag) = m->tag, V(Room) = m->bytes;
		} else {
			V(Peer) = m->peer, V(Tag) = m->tag, V(Bytes) = m->bytes;
		}
		V(Request) = begun(list[i]);
		emit();
		task.ended = task.begun; /* the call's time is that of its first operation */
	}
}

EXPORT int MPI_Start(MPI_Request *request) {
	BEGIN(Start, request);
	int code = NEXT(Start)(request);
	if (leave(&called, code))
		starts(&called, 1, request);
	return done(code);
}
ALSO_PMPI(Start)

EXPORT int MPI_Startall(int n, MPI_Request list[]) {
	BEGIN(Startall, n, list);
	int code = NEXT(Startall)(n, list);
	if (leave(&called, code))
		starts(&called, n, list);
	return done(code);
}
ALSO_PMPI(Startall)

/* SETS_UP defines a function that makes a persistent request, with counts of a type. */
#define SETS_UP(name_, function_, count_, buffer_) \
	EXPORT int MPI_##name_(buffer_ buffer, count_ count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request) { \
		BEGIN(name_, buffer, count, type, peer, tag, comm, request); \
		int code = NEXT(name_)(buffer, count, type, peer, tag, comm, request); \
		if (leave(&called, code)) \
			sets_up(&called, function_, *request, comm, peer, tag, bytes_of(count, type)); \
		return done(code); \
	} \
	ALSO_PMPI(name_)

SETS_UP(Send_init, FUNCTION_Isend, int, const void *)
SETS_UP(Ssend_init, FUNCTION_Issend, int, const void *)
SETS_UP(Bsend_init, FUNCTION_Ibsend, int, const void *)
SETS_UP(Rsend_init, FUNCTION_Irsend, int, const void *)
SETS_UP(Recv_init, FUNCTION_Irecv, int, void *)
#if MPI_VERSION >= 4
SETS_UP(Send_init_c, FUNCTION_Isend, MPI_Count, const void *)
SETS_UP(Ssend_init_c, FUNCTION_Issend, MPI_Count, const void *)
SETS_UP(Bsend_init_c, FUNCTION_Ibsend, MPI_Count, const void *)
SETS_UP(Rsend_init_c, FUNCTION_Irsend, MPI_Count, const void *)
SETS_UP(Recv_init_c, FUNCTION_Irecv, MPI_Count, void *)
#endif
