/* Alltoalls of blocks that differ in length. */
#include "mpi/alltoallv.h"
#include "mpi/arguments.h"
#include "mpi/datatypes.h"
#include "mpi/exchanges.h"
#include "mpi/packing.h"
#include "mpi/staging.h"
#include "rank/ranks.h"

#include <stdlib.h>
#include <string.h>

/* list_blocks sets a list of the blocks that are not empty. It returns the bytes of all blocks, and whether they lie one
 * behind another. */
static int list_blocks(struct gigarank_call *c, struct gigarank_numbers counts, struct gigarank_numbers displacements, MPI_Datatype type, struct gigarank_block **list, int32_t *n, int64_t *all, int *packed) {
	int64_t size = gigarank_size(type);
	int32_t most = 0;
	*all = 0, *packed = 1, *n = 0;
	if (size < 0)
		return refuse(c->procedure, MPI_ERR_TYPE, "the handle is no type");
	for (int32_t i = 0; i < c->size; i++)
		most += gigarank_number_at(counts, i) != 0;
	struct gigarank_block *blocks = *list = malloc(((size_t)most + 1) * sizeof *blocks);
	if (!blocks)
		return refuse(c->procedure, MPI_ERR_NO_MEM, "no memory for %d counts", most);
	for (int32_t i = 0; i < c->size; i++) {
		int64_t count = gigarank_number_at(counts, i);
		if (!count)
			continue;
		if (count < 0)
			return refuse(c->procedure, MPI_ERR_COUNT, "a count of %lld for member %d", (long long)count, i);
		struct gigarank_block *b = &blocks[*n];
		if (__builtin_mul_overflow(count, size, &b->bytes) || b->bytes > GIGARANK_MOST_BYTES)
			return refuse(c->procedure, MPI_ERR_COUNT, "a count of %lld for member %d is more than memory holds", (long long)count, i);
		if (!b->bytes)
			continue;
		b->member = i, b->displacement = gigarank_has_numbers(displacements) ? gigarank_number_at(displacements, i) * size : *all;
		*packed = *packed && b->displacement == *all, ++*n;
		CHECK(gigarank_add_up(c->procedure, all, b->bytes));
	}
	return MPI_SUCCESS;
}

/* same_count returns the count of all blocks, 0 if counts differ. */
static int64_t same_count(struct gigarank_numbers counts, int32_t n) {
	int64_t first = gigarank_number_at(counts, 0), others = 0;
	if (counts.narrow) {
		int differ = 0;
		for (int32_t i = 0; i < n; i++)
			differ |= counts.narrow[i] ^ (int)first;
		others = differ;
	} else {
		for (int32_t i = 0; i < n; i++)
			others |= counts.wide[i] ^ first;
	}
	return others || first < 0 ? 0 : first;
}

/* The blocks of a side of an alltoallv that all have the same bytes. */
struct alike {
	int64_t bytes; /* 0 if they differ, or are empty */
	int64_t all;
	int packed;    /* they lie one behind another */
	struct gigarank_block first; /* the list that the simulator gets */
};

/* are_alike looks whether all blocks have the same bytes. Arguments in error are none of its blocks. */
static struct alike are_alike(struct gigarank_numbers counts, struct gigarank_numbers displacements, MPI_Datatype type, int32_t n) {
	struct alike a = {0};
	int64_t size = gigarank_size(type), count = size > 0 ? same_count(counts, n) : 0, away = 0;
	if (!count || __builtin_mul_overflow(count, size, &a.bytes) || __builtin_mul_overflow(a.bytes, n, &a.all) || a.all > GIGARANK_MOST_BYTES)
		return (struct alike){0};
	if (displacements.narrow)
		for (int32_t i = 0; i < n; i++)
			away |= displacements.narrow[i] ^ i * count;
	else if (displacements.wide)
		for (int32_t i = 0; i < n; i++)
			away |= displacements.wide[i] ^ i * count;
	a.packed = !away;
	a.first = (struct gigarank_block){.bytes = a.bytes};
	return a;
}

/* list_bytes is list_blocks for blocks that lie one behind another. It returns NULL if there is no memory. */
static struct gigarank_block *list_bytes(const int64_t *bytes, int32_t members, int32_t *n) {
	struct gigarank_block *blocks = malloc(((size_t)members + 1) * sizeof *blocks);
	*n = 0;
	for (int32_t i = 0; blocks && i < members; i++)
		if (bytes[i])
			blocks[(*n)++] = (struct gigarank_block){.bytes = bytes[i], .member = i};
	return blocks;
}

int gigarank_alltoallv(const void *sent, struct gigarank_numbers sendcounts, struct gigarank_numbers senddisplacements, MPI_Datatype sendtype, void *received, struct gigarank_numbers recvcounts, struct gigarank_numbers recvdisplacements, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	int64_t in, out;
	int packed;
	CHECK(find(GIGARANK_ALLTOALLV, comm, &c));
	CHECK(gigarank_listed(&c, sent != MPI_IN_PLACE, sendcounts));
	CHECK(gigarank_listed(&c, 1, recvcounts));
	if (c.remote) {
		struct gigarank_side out = BLOCKS(sent, sendcounts, senddisplacements, sendtype), in = BLOCKS(received, recvcounts, recvdisplacements, recvtype);
		return gigarank_between(&c, 0, &out, c.remote, &in, c.remote, request);
	}
	if ((sent != MPI_IN_PLACE && gigarank_spreads(sendtype)) || gigarank_spreads(recvtype)) {
		struct gigarank_packing p = {0};
		int error = MPI_SUCCESS;
		if (sent != MPI_IN_PLACE)
			PACKED(gigarank_pack_blocks_in(c.procedure, &p, &sent, c.size, sendcounts, &senddisplacements, &sendtype));
		PACKED(gigarank_pack_blocks_out(c.procedure, &p, &received, c.size, recvcounts, &recvdisplacements, &recvtype));
		PACKED(gigarank_alltoallv(sent, sendcounts, senddisplacements, sendtype, received, recvcounts, recvdisplacements, recvtype, comm, request));
		return gigarank_unpack(&p, error, request);
	}
	struct gigarank_staging *s = calloc(1, sizeof *s);
	struct gigarank_block *sends = NULL;
	if (!s)
		return refuse(c.procedure, MPI_ERR_NO_MEM, "no memory for %d counts", c.size);
	CHECK_STAGED(gigarank_elements(&c, recvtype));
	if (sent == MPI_IN_PLACE)
		sendcounts = recvcounts, senddisplacements = recvdisplacements, sendtype = recvtype;
	/* The lists of counts are the program's, and read again when the call is over. */
	struct alike from_here = request ? (struct alike){0} : are_alike(sendcounts, senddisplacements, sendtype, c.size);
	struct alike to_here = request ? (struct alike){0} : are_alike(recvcounts, recvdisplacements, recvtype, c.size);
	int error = MPI_SUCCESS;
	if (from_here.bytes)
		in = from_here.all, packed = from_here.packed, c.outcount = GIGARANK_ALIKE;
	else
		error = list_blocks(&c, sendcounts, senddisplacements, sendtype, &sends, &c.outcount, &in, &packed);
	s->others[0] = sends;
	CHECK_STAGED(error);
	c.input = sent;
	if (sent == MPI_IN_PLACE || !packed)
		c.input = s->others[1] = malloc((size_t)in + 1);
	else
		CHECK_STAGED(gigarank_touch(c.procedure, sent, in));
	if (in && !c.input)
		return gigarank_no_room(&c, s, in);
	const char *from = sent == MPI_IN_PLACE ? received : sent;
	int64_t each = gigarank_size(sendtype);
	for (int32_t i = 0; s->others[1] && from_here.bytes && i < c.size; i++)
		gigarank_copy_block((char *)s->others[1] + i * from_here.bytes, from + (gigarank_has_numbers(senddisplacements) ? gigarank_number_at(senddisplacements, i) * each : i * from_here.bytes), from_here.bytes);
	for (int64_t i = 0, at = 0; s->others[1] && i < c.outcount; at += sends[i++].bytes)
		memcpy((char *)s->others[1] + at, from + sends[i].displacement, (size_t)sends[i].bytes);
	if (to_here.bytes)
		out = to_here.all, packed = to_here.packed, s->n = c.size, s->alike = to_here.bytes, s->each = gigarank_size(recvtype), s->at = recvdisplacements;
	else
		CHECK_STAGED(list_blocks(&c, recvcounts, recvdisplacements, recvtype, &s->blocks, &s->n, &out, &packed));
	c.given = in, c.incounts = (const int64_t *)(from_here.bytes ? &from_here.first : sends);
	c.counts = (const int64_t *)(to_here.bytes ? &to_here.first : s->blocks), c.n = to_here.bytes ? GIGARANK_ALIKE : s->n;
	c.output = received, c.room = out;
	if (!packed) {
		if (!(s->packed = malloc((size_t)out + 1)))
			return gigarank_no_room(&c, s, out);
		s->to = received;
		c.output = s->packed;
	}
	return gigarank_finish(&c, s, request);
}

int gigarank_alltoallw(const void *sent, struct gigarank_numbers sendcounts, struct gigarank_numbers senddisplacements, const MPI_Datatype sendtypes[], void *received, struct gigarank_numbers recvcounts, struct gigarank_numbers recvdisplacements, const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	struct gigarank_packing p = {0};
	gigarank_variant();
	CHECK(find(GIGARANK_ALLTOALLV, comm, &c));
	CHECK(gigarank_listed(&c, sent != MPI_IN_PLACE, sendcounts));
	CHECK(gigarank_listed(&c, 1, recvcounts));
	if ((sent != MPI_IN_PLACE && !sendtypes) || !recvtypes)
		return refuse(c.procedure, MPI_ERR_ARG, "the list of types is NULL");
	if ((sent != MPI_IN_PLACE && !gigarank_has_numbers(senddisplacements)) || !gigarank_has_numbers(recvdisplacements))
		return refuse(c.procedure, MPI_ERR_ARG, "the list of displacements is NULL");
	if (c.remote) {
		struct gigarank_side out = {.buffer = (char *)sent, .counts = sendcounts, .types = sendtypes, .offsets = senddisplacements};
		struct gigarank_side in = {.buffer = received, .counts = recvcounts, .types = recvtypes, .offsets = recvdisplacements};
		return gigarank_between(&c, 0, &out, c.remote, &in, c.remote, request);
	}
	if (sent == MPI_IN_PLACE)
		sent = received, sendcounts = recvcounts, senddisplacements = recvdisplacements, sendtypes = recvtypes;
	struct gigarank_staging *s = gigarank_stage(&c, c.size);
	if (!s)
		return MPI_ERR_NO_MEM;
	int64_t *incounts = s->displacements; /* packed blocks need no displacements */
	int error = gigarank_pack_each_in(c.procedure, &p, &sent, c.size, sendcounts, senddisplacements, sendtypes, incounts);
	PACKED(gigarank_pack_each_out(c.procedure, &p, &received, c.size, recvcounts, recvdisplacements, recvtypes, s->counts));
	if (error) {
		gigarank_drop_staging(s);
		return gigarank_unpack(&p, error, NULL);
	}
	s->others[0] = list_bytes(incounts, c.size, &c.outcount), s->blocks = list_bytes(s->counts, c.size, &c.n);
	if (!s->others[0] || !s->blocks) {
		error = gigarank_no_room(&c, s, c.size);
		return gigarank_unpack(&p, error, NULL);
	}
	c.element = 1;
	c.input = sent, c.given = p.in.bytes, c.incounts = s->others[0], c.counts = (const int64_t *)s->blocks, c.output = received, c.room = p.out.bytes;
	error = gigarank_finish(&c, s, request);
	return gigarank_unpack(&p, error, request);
}
