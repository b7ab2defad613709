/* Partitioned messages (MPI 4.0, chapter 4). A partitioned request is a persistent request. Its message leaves as a whole, with the
 * last partition, so that all partitions arrive together. */
#include "mpi/arguments.h"
#include "mpi/comm_records.h"
#include "mpi/messages.h"
#include "mpi/request_table.h"
#include "rank/ranks.h"
#include "rank/running.h"

#include <stdlib.h>
#include <string.h>

/* --- matching ------------------------------------------------------------------------------ */

/* A send matches the receive that has been initialised as the same one in order, of those with the same ranks, tag and
 * communicator (MPI 4.0, 4.2). Starts may come in another order. So the first of them all have a context of their own, the second
 * have the next context, and so on: local duplicates of the communicator, which both sides make without a message. A channel
 * counts the requests that a rank has initialised, to or from one peer with one tag. */
struct channel {
	int32_t peer, tag;
	int32_t receives;
	int32_t requests; /* 0 for a free place */
};

/* The channels of a communicator: a table by hash, at most half of whose places are taken. */
struct gigarank_channels {
	uint32_t used, room; /* a power of 2 */
	struct channel at[];
};

/* place_of returns the place of a channel in a table, or the free place for it. */
static struct channel *place_of(struct gigarank_channels *all, const struct channel *c) {
	uint64_t hash = ((uint64_t)(uint32_t)c->peer << 32 | (uint32_t)c->tag) * 2 + (uint64_t)c->receives;
	for (uint32_t i = (uint32_t)(hash * 0x9e3779b97f4a7c15u >> 32);; i++) {
		struct channel *at = &all->at[i & (all->room - 1)];
		if (!at->requests || (at->peer == c->peer && at->tag == c->tag && at->receives == c->receives))
			return at;
	}
}

/* larger returns a table of twice the room with the same channels, NULL without memory. */
static struct gigarank_channels *larger(struct gigarank_channels *old) {
	uint32_t room = old ? 2 * old->room : 8;
	struct gigarank_channels *new = calloc(1, sizeof *new + room * sizeof *new->at);
	if (!new)
		return NULL;
	new->used = old ? old->used : 0, new->room = room;
	for (uint32_t i = 0; old && i < old->room; i++)
		if (old->at[i].requests)
			*place_of(new, &old->at[i]) = old->at[i];
	free(old);
	return new;
}

/* count_in counts a request in its channel. It returns how many there were before, -1 without memory. */
static int32_t count_in(struct gigarank_comm *comm, struct channel c) {
	if (!comm)
		return -1;
	if (!comm->channels || 2 * (comm->channels->used + 1) > comm->channels->room) {
		struct gigarank_channels *made = larger(comm->channels);
		if (!made)
			return -1;
		comm->channels = made;
	}
	struct channel *at = place_of(comm->channels, &c);
	if (!at->requests)
		*at = c, comm->channels->used++;
	return at->requests++;
}

/* partition makes a persistent request partitioned, and gives its message the context of its place in the order. */
static int partition(int procedure, int partitions, int receives, MPI_Request *request) {
	struct gigarank_call *kept = gigarank_find_request(*request)->persistent;
	struct gigarank_partitions *p = calloc(1, sizeof *p + (receives ? 0 : (size_t)partitions));
	int32_t peer = receives ? kept->source : kept->dest, before = 0;
	if (p && peer != GIGARANK_PROC_NULL)
		before = count_in(gigarank_note(kept), (struct channel){.peer = peer, .tag = receives ? kept->tag : kept->sendtag, .receives = receives});
	if (!p || before < 0) {
		free(p);
		gigarank_drop_request(gigarank_find_request(*request));
		*request = MPI_REQUEST_NULL;
		return refuse(procedure, MPI_ERR_NO_MEM, "no memory for a request of %d partitions", partitions);
	}
	p->count = partitions, p->receives = (uint8_t)receives;
	gigarank_find_request(*request)->partitions = p;
	if (peer == GIGARANK_PROC_NULL)
		return MPI_SUCCESS;
	struct gigarank_call c = {.procedure = GIGARANK_PARTITIONED, .comm = kept->comm, .key = before};
	int error = gigarank_trap(&c);
	kept->comm = c.made;
	return error;
}

/* --- initialisation ------------------------------------------------------------------------ */

/* values stores the number of values in all partitions. The communicator hears of errors. */
static int values(int procedure, int partitions, int64_t count, MPI_Comm comm, int64_t *all) {
	struct gigarank_call c;
	CHECK(find(procedure, comm, &c));
	if (partitions < 0)
		return refuse(procedure, MPI_ERR_ARG, "%d partitions: their number is 0 or more", partitions);
	*all = count;
	if (count > 0 && __builtin_mul_overflow(count, partitions, all))
		return refuse(procedure, MPI_ERR_COUNT, "%d partitions of %lld values are more than memory holds", partitions, (long long)count);
	return MPI_SUCCESS;
}

static int send_init(const void *buffer, int partitions, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	int64_t all;
	CHECK(values(GIGARANK_PSEND_INIT, partitions, count, comm, &all));
	CHECK(gigarank_sending(&c, GIGARANK_PSEND_INIT, buffer, all, type, dest, tag, comm));
	CHECK(gigarank_persist(&c, request));
	return partition(GIGARANK_PSEND_INIT, partitions, 0, request);
}

static int receive_init(void *buffer, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	int64_t all;
	CHECK(values(GIGARANK_PRECV_INIT, partitions, count, comm, &all));
	CHECK(gigarank_receiving(&c, GIGARANK_PRECV_INIT, buffer, all, type, source, tag, comm));
	if (source == MPI_ANY_SOURCE)
		return refuse(GIGARANK_PRECV_INIT, MPI_ERR_RANK, "source MPI_ANY_SOURCE: a partitioned receive names its source");
	if (tag == MPI_ANY_TAG)
		return refuse(GIGARANK_PRECV_INIT, MPI_ERR_TAG, "tag MPI_ANY_TAG: a partitioned receive names its tag");
	CHECK(gigarank_persist(&c, request));
	return partition(GIGARANK_PRECV_INIT, partitions, 1, request);
}

/* Both have large counts. No hint changes anything. */
MPI(MPI_Psend_init, const void *buffer, int partitions, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request) {
	GIVEN(request, "request", MPI_ERR_REQUEST);
	(void)info;
	return send_init(buffer, partitions, count, type, dest, tag, comm, request);
}

MPI(MPI_Psend_init_c, const void *buffer, int partitions, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request) {
	GIVEN(request, "request", MPI_ERR_REQUEST);
	(void)info;
	return send_init(buffer, partitions, count, type, dest, tag, comm, request);
}

MPI(MPI_Precv_init, void *buffer, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request) {
	GIVEN(request, "request", MPI_ERR_REQUEST);
	(void)info;
	return receive_init(buffer, partitions, count, type, source, tag, comm, request);
}

MPI(MPI_Precv_init_c, void *buffer, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request) {
	GIVEN(request, "request", MPI_ERR_REQUEST);
	(void)info;
	return receive_init(buffer, partitions, count, type, source, tag, comm, request);
}

/* --- partitions ---------------------------------------------------------------------------- */

/* find_partitioned stores the partitioned request of a handle, whose communicator hears of errors from here on. */
static int find_partitioned(const char *function, MPI_Request request, int receives, struct gigarank_request **found) {
	CHECK(gigarank_active(function, GIGARANK_NONE));
	struct gigarank_request *q = request == MPI_REQUEST_NULL ? NULL : gigarank_find_request(request);
	if (!q)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_REQUEST, request == MPI_REQUEST_NULL ? "the request is MPI_REQUEST_NULL" : "the handle is no request of this rank, or it has been waited for or freed");
	gigarank_running()->about = q->comm;
	if (!q->partitions || q->partitions->receives != receives)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_REQUEST, "the request is no partitioned %s but %s", receives ? "receive" : "send",
			!q->partitions ? "another request" : receives ? "a partitioned send" : "a partitioned receive");
	*found = q;
	return MPI_SUCCESS;
}

static int in_range(const char *function, const struct gigarank_request *q, int number) {
	if (number >= 0 && number < q->partitions->count)
		return MPI_SUCCESS;
	return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_ARG, "partition %d of a request with %d partition%s, which count from 0", number, q->partitions->count, plural(q->partitions->count));
}

/* make_ready makes partitions of a send ready: the given partitions, or without a list those from first on. */
static int make_ready(const char *function, MPI_Request request, int n, int first, const int list[]) {
	struct gigarank_request *q;
	CHECK(find_partitioned(function, request, 0, &q));
	struct gigarank_partitions *p = q->partitions;
	for (int i = 0; i < n; i++)
		CHECK(in_range(function, q, list ? list[i] : first + i));
	if (!q->index && !q->done && !p->unready && n > 0)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_REQUEST, "partition %d of a request that is not active: start it before", list ? list[0] : first);
	for (int i = 0; i < n; i++) {
		int number = list ? list[i] : first + i;
		if (p->ready[number])
			return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_ARG, "partition %d is ready already: a partition is made ready once after each start", number);
		p->ready[number] = 1;
		if (--p->unready == 0) {
			struct gigarank_call c = *q->persistent;
			CHECK(gigarank_launch(&c, &request, 1));
			q = gigarank_find_request(request), p = q->partitions; /* the table may have moved */
		}
	}
	return MPI_SUCCESS;
}

MPI(MPI_Pready, int partition, MPI_Request request) { return make_ready(__func__, request, 1, partition, NULL); }

MPI(MPI_Pready_range, int partition_low, int partition_high, MPI_Request request) {
	CHECK(active(GIGARANK_NONE));
	if (partition_low > partition_high)
		return refuse(GIGARANK_NONE, MPI_ERR_ARG, "partitions %d to %d: the first is greater than the last", partition_low, partition_high);
	struct gigarank_request *q;
	CHECK(find_partitioned(__func__, request, 0, &q));
	CHECK(in_range(__func__, q, partition_low));
	CHECK(in_range(__func__, q, partition_high));
	return make_ready(__func__, request, partition_high - partition_low + 1, partition_low, NULL);
}

MPI(MPI_Pready_list, int length, const int partitions[], MPI_Request request) {
	CHECK(active(GIGARANK_NONE));
	if (length < 0)
		return refuse(GIGARANK_NONE, MPI_ERR_COUNT, "a length of %d", length);
	GIVEN(length == 0 || partitions, "array_of_partitions", MPI_ERR_ARG);
	return make_ready(__func__, request, length, 0, partitions);
}

/* A null or inactive request has arrived. */
MPI(MPI_Parrived, MPI_Request request, int partition, int *flag) {
	GIVEN(flag, "flag", MPI_ERR_ARG);
	CHECK(active(GIGARANK_NONE));
	*flag = 1;
	if (request == MPI_REQUEST_NULL)
		return MPI_SUCCESS;
	struct gigarank_request *q;
	CHECK(find_partitioned(__func__, request, 1, &q));
	CHECK(in_range(__func__, q, partition));
	return PMPI_Request_get_status(request, flag, MPI_STATUS_IGNORE);
}
