/* Neighbourhood collectives, and collectives between two groups. Values go through packed copies, except for
 * blocks that lie one behind another while the rank waits. */
#include "mpi/exchanges.h"
#include "mpi/arguments.h"
#include "mpi/comm_records.h"
#include "mpi/datatypes.h"
#include "mpi/objects.h"
#include "mpi/request_table.h"
#include "rank/ranks.h"

#include <stdlib.h>

static MPI_Datatype type_at(const struct gigarank_side *s, int32_t i) { return s->types ? s->types[i] : s->type; }
static int64_t count_at(const struct gigarank_side *s, int32_t i) { return gigarank_has_numbers(s->counts) ? gigarank_number_at(s->counts, i) : s->count; }

static char *block_at(const struct gigarank_side *s, int32_t i, const struct gigarank_datatype *t) {
	if (gigarank_has_numbers(s->offsets))
		return s->buffer + gigarank_number_at(s->offsets, i);
	int64_t n = s->same ? 0 : gigarank_has_numbers(s->displacements) ? gigarank_number_at(s->displacements, i) : i * s->count;
	return s->places ? s->buffer + s->places[i] : s->buffer + n * (t->upper - t->lower);
}

/* A block that is received, of values of a type. */
struct arrival {
	char *to;
	int64_t count;
	struct gigarank_datatype *type;
};

/* The memory and types that an exchange gives back when it is over. */
struct hood {
	int32_t in;
	char *sent, *received; /* packed, NULL for none */
	int64_t *bytes;        /* by source, below 0 for a missing source; then by destination */
	struct arrival *arrivals;
};

static void end_exchange(void *what, int64_t bytes) {
	struct hood *h = what;
	const char *at = h->received;
	for (int32_t i = 0; h->arrivals && i < h->in; i++) {
		struct arrival *a = &h->arrivals[i];
		int64_t length = h->bytes[i];
		if (!a->type)
			break;
		if (h->received && bytes >= 0 && length > 0)
			gigarank_scatter_values(a->type, a->to, a->count, at, length);
		at += length < 0 ? -length - 1 : length;
		gigarank_release_object(a->type);
	}
	free(h->sent), free(h->received), free(h->bytes), free(h->arrivals);
	free(h);
}

/* measure stores the bytes of blocks, and returns whether they lie one behind another. */
static int measure(int procedure, const struct gigarank_side *s, int32_t n, int64_t bytes[], int64_t *all, int *dense) {
	*all = 0, *dense = !s->types && !gigarank_has_numbers(s->counts);
	for (int32_t i = 0; i < n; i++) {
		CHECK(gigarank_bytes_of(procedure, count_at(s, i), type_at(s, i), &bytes[i]));
		*dense = *dense && gigarank_type(type_at(s, i))->dense && gigarank_type(type_at(s, i))->first == 0;
		if (!s->same || i == 0)
			CHECK(gigarank_add_up(procedure, all, bytes[i]));
	}
	return MPI_SUCCESS;
}

/* prepare fills in a call, from blocks to send and to receive. */
static int prepare(struct gigarank_call *c, struct hood *h, const struct gigarank_side *out, const struct gigarank_side *in, int32_t n, int direct) {
	int64_t *outgoing = h->bytes + h->in;
	int dense_in, dense_out;
	CHECK(measure(c->procedure, out, n, outgoing, &c->given, &dense_out));
	CHECK(measure(c->procedure, in, h->in, h->bytes, &c->room, &dense_in));
	c->counts = h->bytes, c->incounts = outgoing, c->n = h->in, c->outcount = n, c->key = out->same;
	if (!gigarank_neighborhood(c->procedure)) { /* between groups */
		if (c->procedure == GIGARANK_SCATTERV)
			c->counts = outgoing;
		else if (c->procedure != GIGARANK_GATHERV && c->procedure != GIGARANK_ALLGATHERV && c->procedure != GIGARANK_ALLTOALLV)
			c->counts = NULL;
		if ((c->procedure == GIGARANK_SCATTERV && !n) || (c->procedure == GIGARANK_GATHERV && !h->in))
			c->counts = NULL; /* only the root has any */
		c->bytes = n ? outgoing[0] : h->in ? h->bytes[0] : 0;
		c->element = c->element ? c->element : 1;
	}
	c->input = out->buffer, c->output = in->buffer;
	if (dense_out && direct)
		CHECK(gigarank_touch(c->procedure, c->input, c->given));
	else {
		if (!(h->sent = malloc((size_t)c->given + 1)))
			return refuse(c->procedure, MPI_ERR_NO_MEM, "no memory for %lld bytes", (long long)c->given);
		char *at = h->sent;
		for (int32_t i = 0; i < (out->same && n ? 1 : n); at += outgoing[i++])
			gigarank_gather_values(gigarank_type(type_at(out, i)), block_at(out, i, gigarank_type(type_at(out, i))), count_at(out, i), at);
		c->input = h->sent;
	}
	if (dense_in && direct)
		return gigarank_touch_to(c->procedure, c->output, c->room);
	h->arrivals = calloc((size_t)h->in + 1, sizeof *h->arrivals);
	if (!h->arrivals || !(h->received = malloc((size_t)c->room + 1)))
		return refuse(c->procedure, MPI_ERR_NO_MEM, "no memory for %lld bytes", (long long)c->room);
	for (int32_t i = 0; i < h->in; i++) {
		struct gigarank_datatype *t = gigarank_use_type(gigarank_type(type_at(in, i)));
		h->arrivals[i] = (struct arrival){block_at(in, i, t), count_at(in, i), t};
	}
	c->output = h->received;
	return MPI_SUCCESS;
}

/* carry_out makes a call that exchanges blocks, in its blocking form if request is NULL. */
static int carry_out(struct gigarank_call *c, const struct gigarank_side *out, int32_t outgoing, const struct gigarank_side *in, int32_t incoming, MPI_Request *request) {
	struct hood *h = calloc(1, sizeof *h);
	if (out->buffer == MPI_IN_PLACE || in->buffer == MPI_IN_PLACE) {
		free(h);
		return refuse(c->procedure, MPI_ERR_BUFFER, "MPI_IN_PLACE, where what is sent is not what is received");
	}
	if (h)
		h->in = incoming, h->bytes = calloc((size_t)incoming + (size_t)outgoing + 1, sizeof *h->bytes);
	if (!h || !h->bytes) {
		free(h);
		return refuse(c->procedure, MPI_ERR_NO_MEM, "no memory for %d blocks", incoming + outgoing);
	}
	c->nonblocking = request != NULL;
	int error = prepare(c, h, out, in, outgoing, request == NULL);
	if (!error && request == GIGARANK_CHECK_ONLY)
		error = GIGARANK_CHECKED;
	if (!error)
		error = gigarank_trap(c);
	if (request && !error && !(error = gigarank_add_request(c->request, NULL, request))) {
		struct gigarank_request *q = gigarank_find_request(*request);
		q->after = end_exchange, q->what = h;
		return MPI_SUCCESS;
	}
	end_exchange(h, error ? -1 : 0);
	return error;
}

/* listed checks that the lists of blocks are given, if there are any blocks. Missing displacements
 * have the error classes of Open MPI. */
static int listed(int procedure, const struct gigarank_side *s, int32_t n) {
	int gathers = procedure == GIGARANK_NEIGHBOR_ALLGATHERV;
	if (!n || s->same || procedure == GIGARANK_NEIGHBOR_ALLGATHER || procedure == GIGARANK_NEIGHBOR_ALLTOALL)
		return MPI_SUCCESS;
	if (!gigarank_has_numbers(s->counts))
		return refuse(procedure, gathers ? MPI_ERR_COUNT : MPI_ERR_ARG, "the list of counts is NULL");
	if (!s->places && !gigarank_has_numbers(s->displacements))
		return refuse(procedure, gathers ? MPI_ERR_BUFFER : MPI_ERR_ARG, "the list of displacements is NULL");
	if (procedure == GIGARANK_NEIGHBOR_ALLTOALLW && !s->types)
		return refuse(procedure, MPI_ERR_ARG, "the list of types is NULL");
	return MPI_SUCCESS;
}

static int exchange(int procedure, const struct gigarank_side *out, const struct gigarank_side *in, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	CHECK(find(procedure, comm, &c));
	struct gigarank_comm *noted = gigarank_note(&c);
	if (!noted)
		return MPI_ERR_NO_MEM;
	if (noted->topology.kind == GIGARANK_NO_TOPOLOGY)
		return refuse(procedure, MPI_ERR_TOPOLOGY, "the communicator has no topology");
	CHECK(listed(procedure, out, noted->topology.outdegree));
	CHECK(listed(procedure, in, noted->topology.indegree));
	return carry_out(&c, out, noted->topology.outdegree, in, noted->topology.indegree, request);
}

int gigarank_between(struct gigarank_call *c, int root, const struct gigarank_side *out, int32_t outgoing, const struct gigarank_side *in, int32_t incoming, MPI_Request *request) {
	c->root = root == MPI_ROOT ? GIGARANK_ROOT : root == MPI_PROC_NULL ? GIGARANK_PROC_NULL : root < 0 ? -99 : root;
	return carry_out(c, out, outgoing, in, incoming, request);
}

#define UNPACK(...) __VA_ARGS__
#define BOTH(name, later, parameters, procedure, out, in) \
	COUNTED(name, UNPACK parameters) { \
		return exchange(procedure, &(struct gigarank_side){UNPACK out}, &(struct gigarank_side){UNPACK in}, comm, NULL); \
	} \
	COUNTED(later, UNPACK parameters, MPI_Request *request) { \
		gigarank_form(gigarank_form_of(request)); \
		GIVEN(request, "request", MPI_ERR_REQUEST); \
		return exchange(procedure, &(struct gigarank_side){UNPACK out}, &(struct gigarank_side){UNPACK in}, comm, request); \
	}

#include "mpi/counts_small.h"
#include "mpi/counted_exchanges.h"
#include "mpi/counts_large.h"
#include "mpi/counted_exchanges.h"
