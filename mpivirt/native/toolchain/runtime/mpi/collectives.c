/* Collectives. */
#include "mpi/collectives.h"
#include "mpi/alltoallv.h"
#include "mpi/arguments.h"
#include "mpi/datatypes.h"
#include "mpi/exchanges.h"
#include "mpi/operations.h"
#include "mpi/packing.h"
#include "mpi/request_table.h"
#include "mpi/staging.h"
#include "rank/ranks.h"
#include "rank/running.h"
#include "rank/unread.h"

#include <stdlib.h>
#include <string.h>

/* reducing sets the operation of a call. */
static int reducing(struct gigarank_call *c, MPI_Datatype type, MPI_Op operation) {
	struct gigarank_operation *o = gigarank_operation_of(operation);
	c->handle = (uintptr_t)operation;
	if (o) {
		struct gigarank_datatype *t = gigarank_type(type);
		gigarank_pin(t);
		if (o->fortran)
			gigarank_number_type(t);
		c->commutative = o->commutative;
		c->operand = (uintptr_t)t;
		return MPI_SUCCESS;
	}
	c->commutative = 1;
	c->operand = (uintptr_t)c->type;
	if (gigarank_applies(operation, type))
		return MPI_SUCCESS;
	return refuse(c->procedure, MPI_ERR_OP, "the operation does not exist, or does not apply to the type");
}

/* --- collectives -------------------------------------------------------------------- */

/* product returns the number of elements of n blocks, or a number that is more than memory holds. */
static int64_t product(int64_t count, int32_t n) {
	int64_t all;
	return __builtin_mul_overflow(count, n, &all) ? INT64_MAX : all;
}

/* at_root reports whether the rank is the root of a collective, and away_from_root whether the
 * root is in the remote group. */
static int at_root(const struct gigarank_call *c, int root) { return c->remote ? root == MPI_ROOT : root == c->member; }
static int away_from_root(const struct gigarank_call *c, int root) { return c->remote && root != MPI_ROOT && root != MPI_PROC_NULL; }

/* operands sets the type that a reduction combines: all members have the same. */
static int operands(struct gigarank_call *c, MPI_Datatype type) {
	int64_t size = 0;
	CHECK(gigarank_bytes_of(c->procedure, 1, type, &size));
	c->type = gigarank_element(type), c->element = size;
	return MPI_SUCCESS;
}

/* A barrier has only the fields that all calls have. Only their line lies on the stack: a rank that
 * waits in a barrier takes little memory. */
MPI(MPI_Barrier, MPI_Comm comm) {
	char line[GIGARANK_COMMON] __attribute__((aligned(64)));
	struct gigarank_call *c;
	__asm__("" : "=r"(c) : "0"(line)); /* the compiler does not know that it is shorter */
	CHECK(find(GIGARANK_BARRIER, comm, c));
	c->error = 0, c->input = c->output = NULL, c->detail = NULL, c->nonblocking = 0;
	return gigarank_trap(c);
}

static int later_barrier(MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	CHECK(find(GIGARANK_BARRIER, comm, &c));
	return gigarank_finish(&c, NULL, request);
}

MPI(MPI_Ibarrier, MPI_Comm comm, MPI_Request *request) {
	GIVEN(request, "request", MPI_ERR_REQUEST);
	gigarank_form(gigarank_form_of(request));
	return later_barrier(comm, request);
}

int gigarank_idup_barrier(MPI_Comm comm, MPI_Request *request) {
	gigarank_form(GIGARANK_LATER);
	gigarank_variant();
	return later_barrier(comm, request);
}

/* A copied stack has the whole frame of a function that waits. Memory that few calls need lies in frames of its own. */
#define RARE __attribute__((noinline))

static int bcast(void *buffer, int64_t count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request);

static RARE int packed_bcast(void *buffer, int64_t count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_packing p = {0};
	int error = gigarank_pack_out(GIGARANK_BCAST, &p, &buffer, count, &type);
	PACKED(bcast(buffer, count, type, root, comm, request));
	return gigarank_unpack(&p, error, request);
}

/* both is gigarank_between with the same elements in both directions. */
static RARE int both(struct gigarank_call *c, int root, const void *sent, int sends, void *received, int receives, int64_t count, MPI_Datatype type, MPI_Request *request) {
	return gigarank_between(c, root, &SIDE(sent, count, type), sends, &SIDE(received, count, type), receives, request);
}

static int bcast(void *buffer, int64_t count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	CHECK(find(GIGARANK_BCAST, comm, &c));
	if (c.remote)
		return both(&c, root, buffer, at_root(&c, root), buffer, away_from_root(&c, root), count, type, request);
	if (gigarank_spreads(type))
		return packed_bcast(buffer, count, type, root, comm, request);
	CHECK(gigarank_elements(&c, type));
	CHECK(gigarank_bytes_of(c.procedure, count, type, &c.bytes));
	CHECK(root == c.member ? gigarank_touch(c.procedure, buffer, c.bytes) : gigarank_touch_to(c.procedure, buffer, c.bytes));
	c.input = c.output = buffer, c.room = c.given = c.bytes, c.root = root;
	return gigarank_finish(&c, NULL, request);
}

static int reduction(int procedure, const void *sent, void *received, int64_t count, MPI_Datatype type, MPI_Op operation, int root, int receives, MPI_Comm comm, MPI_Request *request);

static RARE int packed_reduction(const struct gigarank_call *c, const void *sent, void *received, int64_t count, MPI_Datatype type, MPI_Op operation, int root, int receives, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_packing p = {0};
	MPI_Datatype packed = type;
	int procedure = c->procedure, error = MPI_SUCCESS;
	if (!c->remote || procedure != GIGARANK_REDUCE || away_from_root(c, root))
		error = gigarank_pack_in(procedure, &p, &sent, count, &packed);
	if (receives || (procedure == GIGARANK_REDUCE && at_root(c, root)))
		PACKED(gigarank_pack_out(procedure, &p, &received, count, &type));
	PACKED(reduction(procedure, sent, received, count, packed, operation, root, receives, comm, request));
	return gigarank_unpack(&p, error, request);
}

/* reduction makes the call of a reduction whose result takes part of the members, or all. */
static int reduction(int procedure, const void *sent, void *received, int64_t count, MPI_Datatype type, MPI_Op operation, int root, int receives, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	CHECK(find(procedure, comm, &c));
	if (gigarank_spreads(type))
		return packed_reduction(&c, sent, received, count, type, operation, root, receives, comm, request);
	CHECK(operands(&c, type));
	CHECK(gigarank_bytes_of(procedure, count, type, &c.bytes));
	CHECK(reducing(&c, type, operation));
	if (c.remote) {
		int rooted = procedure == GIGARANK_REDUCE;
		return both(&c, root, sent, !rooted || away_from_root(&c, root), received, !rooted || at_root(&c, root), count, type, request);
	}
	receives |= procedure == GIGARANK_REDUCE && root == c.member;
	if (sent == MPI_IN_PLACE) {
		if (!receives)
			return refuse(procedure, MPI_ERR_BUFFER, "MPI_IN_PLACE on a rank that is not the root");
		sent = received;
	} else if (receives && sent == received && c.bytes)
		return refuse(procedure, MPI_ERR_BUFFER, "the buffers to send and to receive are the same: give MPI_IN_PLACE");
	CHECK(gigarank_touch(procedure, sent, c.bytes));
	if (receives)
		CHECK(gigarank_touch_to(procedure, received, c.bytes));
	c.input = sent, c.given = c.bytes, c.output = receives ? received : NULL, c.room = receives ? c.bytes : 0, c.root = root;
	return gigarank_finish(&c, NULL, request);
}

/* block returns the memory at a number of elements. */
static char *block(const void *buffer, int64_t count, int64_t element) { return (char *)buffer + count * element; }

static int gather(int procedure, const void *sent, int64_t sendcount, MPI_Datatype sendtype, void *received, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request);

static RARE int packed_gather(const struct gigarank_call *c, const void *sent, int64_t sendcount, MPI_Datatype sendtype, void *received, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_packing p = {0};
	int procedure = c->procedure, error = gigarank_pack_in(procedure, &p, &sent, sendcount, &sendtype);
	if (procedure == GIGARANK_ALLGATHER || root == c->member)
		PACKED(gigarank_pack_out(procedure, &p, &received, product(recvcount, c->size), &recvtype));
	PACKED(gather(procedure, sent, sendcount, sendtype, received, recvcount, recvtype, root, comm, request));
	return gigarank_unpack(&p, error, request);
}

/* between_groups makes the call of a gather or a scatter on an intercommunicator. */
static RARE int between_groups(struct gigarank_call *c, int root, const void *sent, int64_t sendcount, MPI_Datatype sendtype, int sends, void *received, int64_t recvcount, MPI_Datatype recvtype, int receives, MPI_Request *request) {
	return gigarank_between(c, root, &SIDE(sent, sendcount, sendtype), sends, &SIDE(received, recvcount, recvtype), receives, request);
}

static int gather(int procedure, const void *sent, int64_t sendcount, MPI_Datatype sendtype, void *received, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	CHECK(find(procedure, comm, &c));
	int all = procedure == GIGARANK_ALLGATHER;
	if (c.remote)
		return between_groups(&c, all ? 0 : root, sent, sendcount, sendtype, all || away_from_root(&c, root), received, recvcount, recvtype, all ? c.remote : at_root(&c, root) * c.remote, request);
	int receives = all || root == c.member;
	if ((sent != MPI_IN_PLACE && gigarank_spreads(sendtype)) || (receives && gigarank_spreads(recvtype)))
		return packed_gather(&c, sent, sendcount, sendtype, received, recvcount, recvtype, root, comm, request);
	int64_t each = 0;
	if (receives) {
		CHECK(gigarank_bytes_of(procedure, recvcount, recvtype, &each));
		CHECK(gigarank_multiply(procedure, each, c.size, &c.room));
	}
	if (sent == MPI_IN_PLACE) {
		if (!receives)
			return refuse(procedure, MPI_ERR_BUFFER, "MPI_IN_PLACE on a rank that is not the root");
		sent = block(received, c.member, each), sendcount = recvcount, sendtype = recvtype;
	}
	CHECK(gigarank_elements(&c, sendtype));
	CHECK(gigarank_bytes_of(procedure, sendcount, sendtype, &c.bytes));
	if (receives && each < c.bytes)
		return refuse(procedure, MPI_ERR_TRUNCATE, "room for %lld byte%s of each member where %lld are sent", (long long)each, plural(each), (long long)c.bytes);
	CHECK(gigarank_touch(procedure, sent, c.bytes));
	c.input = sent, c.given = c.bytes, c.root = root;
	if (receives) {
		c.output = received;
		CHECK(gigarank_touch_to(procedure, received, c.room));
	}
	return gigarank_finish(&c, NULL, request);
}

static int scatter(const void *sent, int64_t sendcount, MPI_Datatype sendtype, void *received, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request);

static RARE int packed_scatter(const struct gigarank_call *c, const void *sent, int64_t sendcount, MPI_Datatype sendtype, void *received, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_packing p = {0};
	int error = gigarank_pack_out(GIGARANK_SCATTER, &p, &received, recvcount, &recvtype);
	if (root == c->member)
		PACKED(gigarank_pack_in(GIGARANK_SCATTER, &p, &sent, product(sendcount, c->size), &sendtype));
	PACKED(scatter(sent, sendcount, sendtype, received, recvcount, recvtype, root, comm, request));
	return gigarank_unpack(&p, error, request);
}

static int scatter(const void *sent, int64_t sendcount, MPI_Datatype sendtype, void *received, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	CHECK(find(GIGARANK_SCATTER, comm, &c));
	if (c.remote)
		return between_groups(&c, root, sent, sendcount, sendtype, at_root(&c, root) * c.remote, received, recvcount, recvtype, away_from_root(&c, root), request);
	if ((received != MPI_IN_PLACE && gigarank_spreads(recvtype)) || (root == c.member && gigarank_spreads(sendtype)))
		return packed_scatter(&c, sent, sendcount, sendtype, received, recvcount, recvtype, root, comm, request);
	int64_t each = 0, input = 0;
	if (root == c.member) {
		CHECK(gigarank_bytes_of(c.procedure, sendcount, sendtype, &each));
		CHECK(gigarank_multiply(c.procedure, each, c.size, &input));
		CHECK(gigarank_touch(c.procedure, sent, input));
	}
	if (received == MPI_IN_PLACE) {
		if (root != c.member)
			return refuse(c.procedure, MPI_ERR_BUFFER, "MPI_IN_PLACE on a rank that is not the root");
		received = block(sent, c.member, each), recvcount = sendcount, recvtype = sendtype;
	}
	CHECK(gigarank_elements(&c, recvtype));
	CHECK(gigarank_bytes_of(c.procedure, recvcount, recvtype, &c.bytes));
	if (root == c.member && c.bytes < each)
		return refuse(c.procedure, MPI_ERR_TRUNCATE, "room for %lld byte%s where %lld are sent", (long long)c.bytes, plural(c.bytes), (long long)each);
	CHECK(gigarank_touch_to(c.procedure, received, c.bytes));
	c.input = root == c.member ? sent : NULL, c.given = input, c.output = received, c.room = c.bytes, c.root = root;
	if (root == c.member)
		c.bytes = each; /* it may have room for more */
	return gigarank_finish(&c, NULL, request);
}

/* blocks stores counts of elements and displacements as bytes. It returns the bytes of all
 * blocks, and whether they lie one behind another. */
static int blocks(struct gigarank_call *c, struct gigarank_staging *s, struct gigarank_numbers counts, struct gigarank_numbers displacements, MPI_Datatype type, int64_t *all, int *packed) {
	int64_t size = gigarank_size(type);
	*all = 0, *packed = 1;
	if (size < 0)
		return refuse(c->procedure, MPI_ERR_TYPE, "the handle is no type");
	for (int32_t i = 0; i < s->n; i++) {
		int64_t count = gigarank_number_at(counts, i);
		if (count < 0)
			return refuse(c->procedure, MPI_ERR_COUNT, "a count of %lld for member %d", (long long)count, i);
		if (__builtin_mul_overflow(count, size, &s->counts[i]) || s->counts[i] > GIGARANK_MOST_BYTES)
			return refuse(c->procedure, MPI_ERR_COUNT, "a count of %lld for member %d is more than memory holds", (long long)count, i);
		s->displacements[i] = gigarank_has_numbers(displacements) ? gigarank_number_at(displacements, i) * size : *all;
		*packed = *packed && (s->displacements[i] == *all || !count);
		CHECK(gigarank_add_up(c->procedure, all, s->counts[i]));
	}
	return MPI_SUCCESS;
}

static int gatherv(int procedure, const void *sent, int64_t sendcount, MPI_Datatype sendtype, void *received, struct gigarank_numbers recvcounts, struct gigarank_numbers displacements, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	struct gigarank_staging *s = NULL;
	CHECK(find(procedure, comm, &c));
	CHECK(gigarank_listed(&c, procedure == GIGARANK_ALLGATHERV || at_root(&c, root), recvcounts));
	if (c.remote) {
		struct gigarank_side in = BLOCKS(received, recvcounts, displacements, recvtype);
		int all = procedure == GIGARANK_ALLGATHERV;
		return gigarank_between(&c, root, &SIDE(sent, sendcount, sendtype), all || away_from_root(&c, root), &in, (all || at_root(&c, root)) * c.remote, request);
	}
	int receives = procedure == GIGARANK_ALLGATHERV || root == c.member;
	if ((sent != MPI_IN_PLACE && gigarank_spreads(sendtype)) || (receives && gigarank_spreads(recvtype))) {
		struct gigarank_packing p = {0};
		int error = gigarank_pack_in(procedure, &p, &sent, sendcount, &sendtype);
		if (receives)
			PACKED(gigarank_pack_blocks_out(procedure, &p, &received, c.size, recvcounts, &displacements, &recvtype));
		PACKED(gatherv(procedure, sent, sendcount, sendtype, received, recvcounts, displacements, recvtype, root, comm, request));
		return gigarank_unpack(&p, error, request);
	}
	if (sent == MPI_IN_PLACE && !receives)
		return refuse(procedure, MPI_ERR_BUFFER, "MPI_IN_PLACE on a rank that is not the root");
	c.root = root;
	if (receives) {
		int64_t all;
		int packed;
		if (!(s = gigarank_stage(&c, c.size)))
			return MPI_ERR_NO_MEM;
		CHECK_STAGED(blocks(&c, s, recvcounts, displacements, recvtype, &all, &packed));
		if (sent == MPI_IN_PLACE)
			sent = (char *)received + s->displacements[c.member], sendcount = gigarank_number_at(recvcounts, c.member), sendtype = recvtype;
		c.output = received, c.room = all, c.counts = s->counts;
		if (!packed) {
			if (!(s->packed = malloc((size_t)all + 1)))
				return gigarank_no_room(&c, s, all);
			s->to = received;
			c.output = s->packed;
		}
	}
	if (s) {
		CHECK_STAGED(gigarank_elements(&c, sendtype));
		CHECK_STAGED(gigarank_bytes_of(procedure, sendcount, sendtype, &c.bytes));
		CHECK_STAGED(gigarank_touch(procedure, sent, c.bytes));
		if (c.bytes != s->counts[c.member]) {
			gigarank_drop_staging(s);
			return refuse(procedure, MPI_ERR_COUNT, "the rank sends %lld byte%s and counts %lld of itself", (long long)c.bytes, plural(c.bytes), (long long)(gigarank_number_at(recvcounts, c.member) * gigarank_size(recvtype)));
		}
	} else {
		CHECK(gigarank_elements(&c, sendtype));
		CHECK(gigarank_bytes_of(procedure, sendcount, sendtype, &c.bytes));
		CHECK(gigarank_touch(procedure, sent, c.bytes));
	}
	c.input = sent, c.given = c.bytes;
	return gigarank_finish(&c, s, request);
}

static int scatterv(const void *sent, struct gigarank_numbers sendcounts, struct gigarank_numbers displacements, MPI_Datatype sendtype, void *received, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	struct gigarank_staging *s = NULL;
	CHECK(find(GIGARANK_SCATTERV, comm, &c));
	CHECK(gigarank_listed(&c, at_root(&c, root), sendcounts));
	if (c.remote) {
		struct gigarank_side out = BLOCKS(sent, sendcounts, displacements, sendtype);
		return gigarank_between(&c, root, &out, at_root(&c, root) * c.remote, &SIDE(received, recvcount, recvtype), away_from_root(&c, root), request);
	}
	if ((received != MPI_IN_PLACE && gigarank_spreads(recvtype)) || (root == c.member && gigarank_spreads(sendtype))) {
		struct gigarank_packing p = {0};
		int error = gigarank_pack_out(c.procedure, &p, &received, recvcount, &recvtype);
		if (root == c.member)
			PACKED(gigarank_pack_blocks_in(c.procedure, &p, &sent, c.size, sendcounts, &displacements, &sendtype));
		PACKED(scatterv(sent, sendcounts, displacements, sendtype, received, recvcount, recvtype, root, comm, request));
		return gigarank_unpack(&p, error, request);
	}
	c.root = root;
	if (received == MPI_IN_PLACE && root != c.member)
		return refuse(c.procedure, MPI_ERR_BUFFER, "MPI_IN_PLACE on a rank that is not the root");
	if (root == c.member) {
		int64_t all;
		int packed;
		if (!(s = gigarank_stage(&c, c.size)))
			return MPI_ERR_NO_MEM;
		CHECK_STAGED(blocks(&c, s, sendcounts, displacements, sendtype, &all, &packed));
		c.input = sent, c.counts = s->counts;
		if (!packed) {
			char *copy = malloc((size_t)all + 1);
			if (!copy)
				return gigarank_no_room(&c, s, all);
			s->others[0] = copy;
			for (int64_t i = 0, at = 0; i < s->n; at += s->counts[i++])
				memcpy(copy + at, (const char *)sent + s->displacements[i], (size_t)s->counts[i]);
			c.input = copy;
		}
		if (received == MPI_IN_PLACE)
			received = (char *)sent + s->displacements[c.member], recvcount = gigarank_number_at(sendcounts, c.member), recvtype = sendtype;
		CHECK_STAGED(gigarank_elements(&c, sendtype));
		CHECK_STAGED(gigarank_bytes_of(c.procedure, recvcount, recvtype, &c.bytes));
		if (c.bytes < s->counts[c.member]) {
			gigarank_drop_staging(s);
			return refuse(c.procedure, MPI_ERR_TRUNCATE, "the root has room for less than it scatters to itself");
		}
		c.given = all;
	} else {
		CHECK(gigarank_elements(&c, recvtype));
		CHECK(gigarank_bytes_of(c.procedure, recvcount, recvtype, &c.bytes));
	}
	c.output = received, c.room = c.bytes;
	if (s)
		CHECK_STAGED(gigarank_touch_to(c.procedure, received, c.bytes));
	else
		CHECK(gigarank_touch_to(c.procedure, received, c.bytes));
	return gigarank_finish(&c, s, request);
}

static int alltoall(const void *sent, int64_t sendcount, MPI_Datatype sendtype, void *received, int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	struct gigarank_staging *s = NULL;
	int64_t each;
	CHECK(find(GIGARANK_ALLTOALL, comm, &c));
	if (c.remote)
		return gigarank_between(&c, 0, &SIDE(sent, sendcount, sendtype), c.remote, &SIDE(received, recvcount, recvtype), c.remote, request);
	if ((sent != MPI_IN_PLACE && gigarank_spreads(sendtype)) || gigarank_spreads(recvtype)) {
		struct gigarank_packing p = {0};
		int error = gigarank_pack_in(c.procedure, &p, &sent, product(sendcount, c.size), &sendtype);
		PACKED(gigarank_pack_out(c.procedure, &p, &received, product(recvcount, c.size), &recvtype));
		PACKED(alltoall(sent, sendcount, sendtype, received, recvcount, recvtype, comm, request));
		return gigarank_unpack(&p, error, request);
	}
	CHECK(gigarank_bytes_of(c.procedure, recvcount, recvtype, &each));
	CHECK(gigarank_multiply(c.procedure, each, c.size, &c.room));
	if (sent == MPI_IN_PLACE) {
		sendcount = recvcount, sendtype = recvtype;
		if (!(s = gigarank_stage(&c, 0)))
			return MPI_ERR_NO_MEM;
		if (!(s->others[0] = malloc((size_t)c.room + 1)))
			return gigarank_no_room(&c, s, c.room);
		memcpy(s->others[0], received, (size_t)c.room);
		sent = s->others[0];
	}
	int error = gigarank_elements(&c, sendtype);
	if (!error)
		error = gigarank_bytes_of(c.procedure, sendcount, sendtype, &c.bytes);
	if (!error && c.bytes > each)
		error = refuse(c.procedure, MPI_ERR_TRUNCATE, "room for %lld byte%s of each member where %lld are sent", (long long)each, plural(each), (long long)c.bytes);
	if (!error)
		error = gigarank_touch(c.procedure, sent, c.bytes * c.size);
	if (!error)
		error = gigarank_touch_to(c.procedure, received, c.room);
	if (error) {
		if (s)
			gigarank_drop_staging(s);
		return error;
	}
	c.input = sent, c.given = c.bytes * c.size, c.output = received;
	return gigarank_finish(&c, s, request);
}

static int reduce_scatter(const void *sent, void *received, struct gigarank_numbers recvcounts, int64_t recvcount, MPI_Datatype type, MPI_Op operation, MPI_Comm comm, MPI_Request *request) {
	struct gigarank_call c = {0};
	int64_t all;
	int packed;
	if (!gigarank_has_numbers(recvcounts))
		gigarank_variant();
	CHECK(find(GIGARANK_REDUCE_SCATTER, comm, &c));
	if (gigarank_spreads(type)) {
		struct gigarank_packing p = {0};
		MPI_Datatype packed = type;
		int64_t total = product(recvcount, c.size);
		for (int32_t i = 0; gigarank_has_numbers(recvcounts) && i < c.size; i++)
			if (__builtin_add_overflow(total, gigarank_number_at(recvcounts, i), &total))
				total = INT64_MAX, i = c.size - 1;
		int error = gigarank_pack_in(c.procedure, &p, &sent, total, &packed);
		PACKED(gigarank_pack_out(c.procedure, &p, &received, sent == MPI_IN_PLACE ? total : gigarank_has_numbers(recvcounts) ? gigarank_number_at(recvcounts, c.member) : recvcount, &type));
		PACKED(reduce_scatter(sent, received, recvcounts, recvcount, packed, operation, comm, request));
		return gigarank_unpack(&p, error, request);
	}
	CHECK(operands(&c, type));
	CHECK(reducing(&c, type, operation));
	struct gigarank_staging *s = gigarank_stage(&c, c.size);
	if (!s)
		return MPI_ERR_NO_MEM;
	if (gigarank_has_numbers(recvcounts))
		CHECK_STAGED(blocks(&c, s, recvcounts, (struct gigarank_numbers){0}, type, &all, &packed));
	else {
		int64_t each;
		CHECK_STAGED(gigarank_bytes_of(c.procedure, recvcount, type, &each));
		CHECK_STAGED(gigarank_multiply(c.procedure, each, c.size, &all));
		for (int32_t i = 0; i < c.size; i++)
			s->counts[i] = each;
	}
	if (sent == MPI_IN_PLACE) {
		if (!(s->others[0] = malloc((size_t)all + 1)))
			return gigarank_no_room(&c, s, all);
		memcpy(s->others[0], received, (size_t)all);
		sent = s->others[0];
	}
	CHECK_STAGED(gigarank_touch(c.procedure, sent, all));
	CHECK_STAGED(gigarank_touch_to(c.procedure, received, s->counts[c.member]));
	c.input = sent, c.bytes = c.given = all, c.output = received, c.room = s->counts[c.member], c.counts = s->counts;
	return gigarank_finish(&c, s, request);
}

#define UNPACK(...) __VA_ARGS__
#define BOTH(name, later, parameters, call) \
	COUNTED(name, UNPACK parameters) { \
		MPI_Request *request = NULL; \
		gigarank_called(__builtin_return_address(0), 0); \
		return call; \
	} \
	COUNTED(later, UNPACK parameters, MPI_Request *request) { \
		GIVEN(request, "request", MPI_ERR_REQUEST); \
		gigarank_form(gigarank_form_of(request)); \
		gigarank_called(__builtin_return_address(0), 0); \
		return call; \
	}

/* The functions with counts, of both sorts. */
#include "mpi/counts_small.h"
#include "mpi/counted_collectives.h"
#include "mpi/counts_large.h"
#include "mpi/counted_collectives.h"
