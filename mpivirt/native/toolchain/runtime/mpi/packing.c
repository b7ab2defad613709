/* Buffers of calls that are sent and received through packed copies. */
#include "mpi/packing.h"
#include "mpi/arguments.h"
#include "mpi/datatypes.h"
#include "mpi/request_table.h"
#include "rank/posts.h"
#include "rank/ranks.h"
#include "rank/running.h"
#include "rank/unread.h"

#include <stdlib.h>
#include <string.h>

/* --- blocking and nonblocking calls --------------------------------------------------------- */

static void forget(struct gigarank_spread *s) {
	gigarank_unuse_type(s->type);
	for (int64_t i = 0; s->types && i < s->count; i++)
		gigarank_unuse_type(s->types[i]);
	free(s->packed);
	free(s->counts);
	free(s->displacements);
	free(s->types);
	*s = (struct gigarank_spread){0};
}

/* fill copies the values of a buffer to the packed buffer; spill copies back the values in a number of bytes. */
static void fill(struct gigarank_spread *s) {
	if (!s->counts) {
		gigarank_gather_values(s->type, s->buffer, s->count, s->packed);
		return;
	}
	char *at = s->packed;
	for (int64_t i = 0; i < s->count; i++) {
		const struct gigarank_datatype *t = s->types ? s->types[i] : s->type;
		gigarank_gather_values(t, s->buffer + s->displacements[i], s->counts[i], at);
		at += s->counts[i] * t->bytes;
	}
}

static void spill(struct gigarank_spread *s, int64_t bytes) {
	if (!s->counts) {
		gigarank_scatter_values(s->type, s->buffer, s->count, s->packed, bytes);
		return;
	}
	const char *at = s->packed;
	for (int64_t i = 0; i < s->count; i++) {
		const struct gigarank_datatype *t = s->types ? s->types[i] : s->type;
		gigarank_scatter_values(t, s->buffer + s->displacements[i], s->counts[i], at, s->counts[i] * t->bytes);
		at += s->counts[i] * t->bytes;
	}
}

static int no_memory(int procedure, int64_t bytes) {
	return refuse(procedure, MPI_ERR_NO_MEM, "no memory to pack %lld bytes", (long long)bytes);
}

/* open_packed makes the packed buffer of a spread buffer, with its contents. */
static int open_packed(int procedure, struct gigarank_spread *s) {
	s->packed = malloc((size_t)s->bytes + 1);
	if (!s->packed)
		return no_memory(procedure, s->bytes);
	fill(s);
	return MPI_SUCCESS;
}

static int pack(int procedure, struct gigarank_spread *s, void **buffer, int64_t count, MPI_Datatype *type) {
	struct gigarank_datatype *t = gigarank_type(*type);
	if (!t || t->dense || !t->committed)
		return MPI_SUCCESS; /* or an error, which the call finds */
	struct gigarank_datatype *p = gigarank_packed_type(t);
	if (!p)
		return no_memory(procedure, 0);
	*type = gigarank_type_handle(p);
	if (*buffer == MPI_IN_PLACE || count <= 0 || t->bytes == 0 || gigarank_is_unread(*buffer))
		return MPI_SUCCESS;
	if (t->solid && (count == 1 || gigarank_extent(t) == t->bytes)) {
		*buffer = (char *)*buffer + t->first;
		return MPI_SUCCESS;
	}
	int64_t bytes, reach;
	if (__builtin_mul_overflow(count, t->bytes, &bytes) || __builtin_mul_overflow(count, gigarank_extent(t), &reach) || bytes > GIGARANK_MOST_BYTES)
		return refuse(procedure, MPI_ERR_COUNT, "a count of %lld values of %lld byte%s is more than memory holds", (long long)count, (long long)t->bytes, plural(t->bytes));
	*s = (struct gigarank_spread){.buffer = *buffer, .count = count, .type = gigarank_use_type(t), .bytes = bytes};
	CHECK(open_packed(procedure, s));
	*buffer = s->packed;
	return MPI_SUCCESS;
}

int gigarank_pack_in(int procedure, struct gigarank_packing *p, const void **buffer, int64_t count, MPI_Datatype *type) {
	return pack(procedure, &p->in, (void **)buffer, count, type);
}

int gigarank_pack_out(int procedure, struct gigarank_packing *p, void **buffer, int64_t count, MPI_Datatype *type) {
	return pack(procedure, &p->out, buffer, count, type);
}

/* set_blocks stores the blocks of a spread buffer. */
static int set_blocks(int procedure, struct gigarank_spread *s, int32_t n, struct gigarank_numbers counts) {
	s->count = n;
	s->counts = calloc((size_t)n + 1, sizeof *s->counts);
	s->displacements = calloc((size_t)n + 1, sizeof *s->displacements);
	if (!s->counts || !s->displacements)
		return no_memory(procedure, n);
	for (int32_t i = 0; i < n; i++) {
		if ((s->counts[i] = gigarank_number_at(counts, i)) < 0)
			return refuse(procedure, MPI_ERR_COUNT, "a count of %lld for member %d", (long long)s->counts[i], i);
	}
	return MPI_SUCCESS;
}

static int pack_blocks(int procedure, struct gigarank_spread *s, void **buffer, int32_t n, struct gigarank_numbers counts, struct gigarank_numbers *displacements, MPI_Datatype *type) {
	struct gigarank_datatype *t = gigarank_type(*type);
	if (!t || t->dense || !t->committed)
		return MPI_SUCCESS;
	struct gigarank_datatype *p = gigarank_packed_type(t);
	if (!p)
		return no_memory(procedure, 0);
	*type = gigarank_type_handle(p);
	if (*buffer == MPI_IN_PLACE)
		return MPI_SUCCESS;
	*s = (struct gigarank_spread){.buffer = *buffer, .type = gigarank_use_type(t)};
	CHECK(set_blocks(procedure, s, n, counts));
	for (int32_t i = 0; i < n; i++) {
		s->displacements[i] = gigarank_number_at(*displacements, i) * gigarank_extent(t);
		int64_t bytes;
		CHECK(gigarank_bytes_of(procedure, s->counts[i], *type, &bytes));
		CHECK(gigarank_add_up(procedure, &s->bytes, bytes));
	}
	CHECK(open_packed(procedure, s));
	*buffer = s->packed, *displacements = (struct gigarank_numbers){0};
	return MPI_SUCCESS;
}

int gigarank_pack_blocks_in(int procedure, struct gigarank_packing *p, const void **buffer, int32_t n, struct gigarank_numbers counts, struct gigarank_numbers *displacements, MPI_Datatype *type) {
	return pack_blocks(procedure, &p->in, (void **)buffer, n, counts, displacements, type);
}

int gigarank_pack_blocks_out(int procedure, struct gigarank_packing *p, void **buffer, int32_t n, struct gigarank_numbers counts, struct gigarank_numbers *displacements, MPI_Datatype *type) {
	return pack_blocks(procedure, &p->out, buffer, n, counts, displacements, type);
}

static int pack_each(int procedure, struct gigarank_spread *s, void **buffer, int32_t n, struct gigarank_numbers counts, struct gigarank_numbers displacements, const MPI_Datatype types[], int64_t bytes[]) {
	*s = (struct gigarank_spread){.buffer = *buffer};
	if (!(s->types = calloc((size_t)n + 1, sizeof *s->types)))
		return no_memory(procedure, n);
	CHECK(set_blocks(procedure, s, n, counts));
	for (int32_t i = 0; i < n; i++) {
		CHECK(gigarank_bytes_of(procedure, s->counts[i], types[i], &bytes[i]));
		s->types[i] = gigarank_use_type(gigarank_type(types[i]));
		s->displacements[i] = gigarank_number_at(displacements, i);
		CHECK(gigarank_add_up(procedure, &s->bytes, bytes[i]));
	}
	CHECK(open_packed(procedure, s));
	*buffer = s->packed;
	return MPI_SUCCESS;
}

int gigarank_pack_each_in(int procedure, struct gigarank_packing *p, const void **buffer, int32_t n, struct gigarank_numbers counts, struct gigarank_numbers displacements, const MPI_Datatype types[], int64_t bytes[]) {
	return pack_each(procedure, &p->in, (void **)buffer, n, counts, displacements, types, bytes);
}

int gigarank_pack_each_out(int procedure, struct gigarank_packing *p, void **buffer, int32_t n, struct gigarank_numbers counts, struct gigarank_numbers displacements, const MPI_Datatype types[], int64_t bytes[]) {
	return pack_each(procedure, &p->out, buffer, n, counts, displacements, types, bytes);
}

/* The packed buffers of a request, which it copies back and frees when it is over. */
struct kept {
	struct gigarank_packing packing;
	void (*after)(void *, int64_t);
	void *what;
};

/* arrived ends the use of packed buffers. Of a collective all bytes count. */
static void arrived(void *what, int64_t bytes) {
	struct kept *k = what;
	if (k->after)
		k->after(k->what, bytes);
	if (k->packing.out.packed)
		spill(&k->packing.out, k->packing.out.bytes);
	forget(&k->packing.in);
	forget(&k->packing.out);
	free(k);
}

int gigarank_unpack(struct gigarank_packing *p, int error, MPI_Request *request) {
	struct kept *kept = NULL;
	if (request && !error && (p->in.packed || p->out.packed) && !(kept = malloc(sizeof *kept))) {
		PMPI_Wait(request, MPI_STATUS_IGNORE);
		error = no_memory(GIGARANK_NONE, (int64_t)sizeof *kept);
	}
	if (kept) {
		struct gigarank_request *q = gigarank_find_request(*request);
		*kept = (struct kept){*p, q->after, q->what};
		q->after = arrived, q->what = kept;
		return MPI_SUCCESS;
	}
	if (!error && p->out.packed)
		spill(&p->out, p->out.bytes);
	forget(&p->in);
	forget(&p->out);
	return error;
}

/* --- point to point -------------------------------------------------------------------- */

void gigarank_lay(struct gigarank_layout *l, const void **buffer, int64_t count, MPI_Datatype type) {
	struct gigarank_datatype *t = gigarank_type(type);
	if (t->dense || count * t->bytes == 0)
		return;
	if (t->solid && (count == 1 || gigarank_extent(t) == t->bytes))
		*buffer = (const char *)*buffer + t->first;
	else
		*l = (struct gigarank_layout){(void *)*buffer, count, t};
}

int gigarank_pack_call(struct gigarank_call *c) {
	if (c->from.type) {
		void *packed = malloc((size_t)c->bytes + 1);
		if (!packed)
			return no_memory(c->procedure, c->bytes);
		gigarank_gather_values(c->from.type, c->from.buffer, c->from.count, packed);
		c->input = packed;
	}
	if (c->to.type && !(c->output = malloc((size_t)c->room + 1))) {
		if (c->from.type)
			free((void *)c->input);
		return no_memory(c->procedure, c->room);
	}
	return MPI_SUCCESS;
}

void gigarank_drop_packed(struct gigarank_call *c, int in, int out) {
	if (in && c->from.type)
		free((void *)c->input);
	if (out && c->to.type)
		free(c->output);
}

int gigarank_transfer(struct gigarank_call *c) {
	if (c->procedure == GIGARANK_SEND && gigarank_may_post(c)) {
		gigarank_post(c, -1);
		return MPI_SUCCESS;
	}
	CHECK(gigarank_pack_call(c));
	char *packed = c->output;
	const void *sent = c->input;
	gigarank_trap(c);
	c->input = sent, c->output = packed;
	if (!c->error && c->to.type)
		gigarank_scatter_values(c->to.type, c->to.buffer, c->to.count, packed, c->status.bytes);
	gigarank_drop_packed(c, 1, 1);
	return c->error;
}

/* A receive that goes on after its call. */
struct receiving {
	struct gigarank_layout to;
	char *packed;
	void (*after)(void *, int64_t);
	void *what;
};

static void received(void *what, int64_t bytes) {
	struct receiving *r = what;
	if (r->after)
		r->after(r->what, bytes);
	if (bytes >= 0)
		gigarank_scatter_values(r->to.type, r->to.buffer, r->to.count, r->packed, bytes);
	gigarank_unuse_type(r->to.type);
	free(r->packed);
	free(r);
}

void gigarank_receive_later(struct gigarank_request *q, const struct gigarank_layout *to, void *packed) {
	struct receiving *r = gigarank_enlarged(NULL, sizeof *r);
	*r = (struct receiving){*to, packed, q->after, q->what};
	gigarank_use_type(to->type);
	q->after = received, q->what = r;
}
