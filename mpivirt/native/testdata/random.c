/* Random datatypes and collectives. What buffers hold after each call is the same under gigarank
 * and a real MPI. Arguments: a seed and a number of rounds. Rank 0 prints a line for each round:
 * what was called, and a checksum of all ranks' buffers. The draws of a round depend on the seed
 * and its number alone. No datatype is empty: Open MPI 4.1 gives such ones other extents than the
 * standard. */
#include "conformance/check.h"

enum { INTS = 1 << 16, MIDDLE = INTS / 2, MOST = 20000 }; /* ints of a buffer; most that a call moves */

static int out[INTS], in[INTS]; /* calls begin in the middle: datatypes reach below, too */

static unsigned long long state;

/* draw returns one of 0 to n - 1, the same on all ranks. */
static int draw(int n) {
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (int)((state >> 33) % (unsigned)n);
}

/* shape is what a datatype of ints takes of memory, in bytes. */
struct shape {
	MPI_Aint lower, extent, first, reach; /* the last two: true lower bound and true extent */
	int size;
};

static struct shape shape_of(MPI_Datatype type) {
	struct shape s;
	MPI_Type_get_extent(type, &s.lower, &s.extent);
	MPI_Type_get_true_extent(type, &s.first, &s.reach);
	MPI_Type_size(type, &s.size);
	return s;
}

/* tight returns a datatype whose elements do not overlap where they lie one behind another. */
static MPI_Datatype tight(MPI_Datatype type) {
	struct shape s = shape_of(type);
	MPI_Datatype resized;
	if (s.extent >= s.reach && s.lower <= s.first)
		return type;
	MPI_Type_create_resized(type, s.first, s.reach, &resized);
	MPI_Type_free(&type);
	return resized;
}

static MPI_Datatype draw_type(int depth);

/* Makers return a datatype made of a tight one. Parts of it do not overlap. */

static MPI_Datatype contiguous(MPI_Datatype base, int depth) {
	MPI_Datatype type;
	MPI_Type_contiguous(1 + draw(3), base, &type);
	return type;
}

static int direction(void) { return draw(2) ? -1 : 1; }

static MPI_Datatype vector(MPI_Datatype base, int depth) {
	MPI_Datatype type;
	int n = 1 + draw(3), block = 1 + draw(3), gap = draw(3);
	MPI_Type_vector(n, block, direction() * (block + gap), base, &type);
	return type;
}

static MPI_Datatype hvector(MPI_Datatype base, int depth) {
	MPI_Datatype type;
	int n = 1 + draw(3), block = 1 + draw(3), gap = 4 * draw(3);
	MPI_Type_create_hvector(n, block, direction() * (block * shape_of(base).extent + gap), base, &type);
	return type;
}

/* indexed has blocks behind one another, or each before the last, of which some have no elements. */
static MPI_Datatype indexed(MPI_Datatype base, int depth) {
	MPI_Datatype type;
	int n = 1 + draw(3), blocks[3], places[3], at = 0, down = draw(2);
	for (int i = 0; i < n; i++) {
		blocks[i] = i == 0 ? 1 + draw(2) : draw(3);
		places[i] = down ? -at - blocks[i] : at;
		at += blocks[i] + draw(2);
	}
	MPI_Type_indexed(n, blocks, places, base, &type);
	return type;
}

static MPI_Datatype hindexed(MPI_Datatype base, int depth) {
	MPI_Datatype type;
	int n = 1 + draw(3), blocks[3];
	MPI_Aint places[3], at = 4 * draw(3);
	for (int i = n - 1; i >= 0; i--) {
		blocks[i] = 1 + draw(2);
		places[i] = at;
		at += blocks[i] * shape_of(base).extent + 4 * draw(3);
	}
	MPI_Type_create_hindexed(n, blocks, places, base, &type);
	return type;
}

static MPI_Datatype indexed_block(MPI_Datatype base, int depth) {
	MPI_Datatype type;
	int n = 1 + draw(3), block = 1 + draw(3), gap = draw(3), places[3];
	for (int i = 0; i < n; i++)
		places[i] = (n - i) * (block + gap);
	MPI_Type_create_indexed_block(n, block, places, base, &type);
	return type;
}

static MPI_Datatype hindexed_block(MPI_Datatype base, int depth) {
	MPI_Datatype type;
	int n = 1 + draw(3), block = 1 + draw(3), gap = 4 * draw(3);
	MPI_Aint places[3];
	for (int i = 0; i < n; i++)
		places[i] = (i - 1) * (block * shape_of(base).extent + gap);
	MPI_Type_create_hindexed_block(n, block, places, base, &type);
	return type;
}

static MPI_Datatype structure(MPI_Datatype base, int depth) {
	MPI_Datatype type, other = tight(draw_type(depth - 1)), types[3];
	int n = 1 + draw(3), blocks[3];
	MPI_Aint places[3], at = -40;
	for (int i = 0; i < n; i++) {
		types[i] = draw(2) ? other : base;
		struct shape s = shape_of(types[i]);
		blocks[i] = 1 + draw(2);
		places[i] = at - s.lower;
		at += blocks[i] * s.extent + 4 * draw(2);
	}
	MPI_Type_create_struct(n, blocks, places, types, &type);
	MPI_Type_free(&other);
	return type;
}

static MPI_Datatype resized(MPI_Datatype base, int depth) {
	MPI_Datatype type;
	struct shape s = shape_of(base);
	MPI_Aint lower = s.first - 4 * draw(3);
	MPI_Type_create_resized(base, lower, s.reach + 4 * draw(4) + 8, &type);
	return type;
}

static MPI_Datatype subarray(MPI_Datatype base, int depth) {
	MPI_Datatype type;
	int whole[2], part[2], start[2];
	for (int i = 0; i < 2; i++) {
		whole[i] = 2 + draw(3);
		part[i] = 1 + draw(2);
		start[i] = draw(whole[i] - part[i] + 1);
	}
	MPI_Type_create_subarray(2, whole, part, start, draw(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, base, &type);
	return type;
}

static MPI_Datatype dup(MPI_Datatype base, int depth) {
	MPI_Datatype type;
	MPI_Type_dup(base, &type);
	return type;
}

static MPI_Datatype (*const makers[])(MPI_Datatype, int) = {
    contiguous, vector, hvector, indexed, hindexed, indexed_block, hindexed_block, structure, resized, subarray, dup,
};

/* draw_type returns a datatype of at most so many layers over MPI_INT. */
static MPI_Datatype draw_type(int depth) {
	MPI_Datatype base, type;
	if (depth == 0 || draw(5) == 0) {
		MPI_Type_dup(MPI_INT, &type);
		return type;
	}
	base = tight(draw_type(depth - 1));
	type = makers[draw(sizeof makers / sizeof *makers)](base, depth);
	MPI_Type_free(&base);
	return type;
}

/* What a round has drawn. The datatype has room for count elements from each member. */
static MPI_Comm comm;
static int me, members, root;
static MPI_Datatype type;
static struct shape shape;
static int count, ints; /* elements, and the ints in them */
static int nonblocking, in_place; /* for calls that have such a form */
static int *const a = out + MIDDLE, *const b = in + MIDDLE;
static MPI_Request request;
static MPI_Op affine; /* of two functions i -> x*i + y; it does not commute */

enum { MEMBERS = 16 };

/* In elements: what a member has, the same on all of them, and its place; what each pair of members
 * agrees on, and the places of what goes to members and comes from them. */
static int counts[MEMBERS], places[MEMBERS], pairs[MEMBERS], to[MEMBERS], from[MEMBERS];

/* compose is the operation. An int has the two numbers, each below 251. */
static void compose(void *left, void *right, int *n, MPI_Datatype *t) {
	for (int *x = left, *y = right, i = 0; i < *n; i++) {
		int x1 = ((unsigned)x[i] >> 16) % 251, x0 = (x[i] & 65535) % 251;
		int y1 = ((unsigned)y[i] >> 16) % 251, y0 = (y[i] & 65535) % 251;
		y[i] = (x1 * y1 % 251) << 16 | ((x0 * y1 + y0) % 251);
	}
}

/* copy_out gives the buffer of a call in place the values of the other one. */
static void copy_out(void) { memcpy(in, out, sizeof in); }

/* Each call takes elements of the datatype at one end and ints at the other. */

static void bcast(void) {
	int *buffer = me == root ? a : b;
	if (nonblocking)
		MPI_Ibcast(buffer, count, type, root, comm, &request);
	else
		MPI_Bcast(buffer, count, type, root, comm);
}

static void gather(void) {
	if (nonblocking)
		MPI_Igather(a, count, type, b, ints, MPI_INT, root, comm, &request);
	else
		MPI_Gather(a, ints, MPI_INT, b, count, type, root, comm);
}

static void scatter(void) {
	if (nonblocking)
		MPI_Iscatter(a, count, type, b, ints, MPI_INT, root, comm, &request);
	else
		MPI_Scatter(a, ints, MPI_INT, b, count, type, root, comm);
}

static void allgather(void) {
	if (nonblocking)
		MPI_Iallgather(a, count, type, b, ints, MPI_INT, comm, &request);
	else
		MPI_Allgather(a, ints, MPI_INT, b, count, type, comm);
}

static void alltoall(void) {
	if (nonblocking)
		MPI_Ialltoall(a, count, type, b, ints, MPI_INT, comm, &request);
	else
		MPI_Alltoall(a, ints, MPI_INT, b, count, type, comm);
}

static void gatherv(void) {
	if (nonblocking)
		MPI_Igatherv(a, counts[me], type, b, counts, places, type, root, comm, &request);
	else
		MPI_Gatherv(a, counts[me], type, b, counts, places, type, root, comm);
}

static void scatterv(void) {
	if (nonblocking)
		MPI_Iscatterv(a, counts, places, type, b, counts[me], type, root, comm, &request);
	else
		MPI_Scatterv(a, counts, places, type, b, counts[me], type, root, comm);
}

static void allgatherv(void) {
	if (in_place)
		copy_out();
	const void *mine = in_place ? MPI_IN_PLACE : (void *)a;
	if (nonblocking)
		MPI_Iallgatherv(mine, counts[me], type, b, counts, places, type, comm, &request);
	else
		MPI_Allgatherv(mine, counts[me], type, b, counts, places, type, comm);
}

static void alltoallv(void) {
	if (in_place) {
		copy_out();
		MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, type, b, pairs, to, type, comm);
	} else if (nonblocking)
		MPI_Ialltoallv(a, pairs, to, type, b, pairs, from, type, comm, &request);
	else
		MPI_Alltoallv(a, pairs, to, type, b, pairs, from, type, comm);
}

static void alltoallw(void) {
	MPI_Datatype types[MEMBERS], flat[MEMBERS];
	int each = shape.size / 4, received[MEMBERS];
	for (int i = 0; i < members; i++) {
		types[i] = type;
		flat[i] = MPI_INT;
		to[i] *= (int)shape.extent;
		from[i] *= shape.size;
		received[i] = pairs[i] * each;
	}
	if (nonblocking) {
		MPI_Ialltoallw(a, pairs, to, types, b, received, from, flat, comm, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE); /* while the arrays are there */
	} else
		MPI_Alltoallw(a, pairs, to, types, b, received, from, flat, comm);
}

static void allreduce(void) {
	if (in_place)
		copy_out();
	const void *mine = in_place ? MPI_IN_PLACE : (void *)a;
	if (nonblocking)
		MPI_Iallreduce(mine, b, ints, MPI_INT, affine, comm, &request);
	else
		MPI_Allreduce(mine, b, ints, MPI_INT, draw(2) ? affine : MPI_BXOR, comm);
}

static void reduce(void) {
	if (nonblocking)
		MPI_Ireduce(a, b, ints, MPI_INT, affine, root, comm, &request);
	else if (in_place && me == root) {
		copy_out();
		MPI_Reduce(MPI_IN_PLACE, b, ints, MPI_INT, affine, root, comm);
	} else
		MPI_Reduce(a, me == root ? b : NULL, ints, MPI_INT, in_place ? affine : MPI_MAX, root, comm);
}

static void scan(void) {
	if (nonblocking)
		MPI_Iscan(a, b, ints, MPI_INT, affine, comm, &request);
	else
		MPI_Scan(a, b, ints, MPI_INT, affine, comm);
}

static void exscan(void) {
	if (nonblocking)
		MPI_Iexscan(a, b, ints, MPI_INT, affine, comm, &request);
	else
		MPI_Exscan(a, b, ints, MPI_INT, affine, comm);
}

static void reduce_scatter(void) {
	if (nonblocking)
		MPI_Ireduce_scatter(a, b, counts, MPI_INT, affine, comm, &request);
	else
		MPI_Reduce_scatter(a, b, counts, MPI_INT, affine, comm);
}

static void reduce_scatter_block(void) {
	if (nonblocking)
		MPI_Ireduce_scatter_block(a, b, count, MPI_INT, affine, comm, &request);
	else
		MPI_Reduce_scatter_block(a, b, count, MPI_INT, affine, comm);
}

static int right(void) { return (me + 1) % members; }
static int left(void) { return (me + members - 1) % members; }

static void sendrecv(void) {
	MPI_Status status;
	int n;
	MPI_Sendrecv(a, count, type, right(), 1, b, count, type, left(), 1, comm, &status);
	MPI_Get_count(&status, type, &n);
	EXPECT(n == count);
}

static void sendrecv_replace(void) {
	copy_out();
	MPI_Sendrecv_replace(b, count, type, right(), 1, left(), 1, comm, MPI_STATUS_IGNORE);
}

static void pack(void) {
	static char packed[4 * MOST];
	int n = 0, read = 0;
	MPI_Pack(a, count, type, packed, sizeof packed, &n, comm);
	MPI_Sendrecv_replace(packed, n, MPI_PACKED, right(), 1, left(), 1, comm, MPI_STATUS_IGNORE);
	MPI_Unpack(packed, n, &read, b, count, type, comm);
	EXPECT(read == n);
}

static void messages(void) {
	MPI_Request requests[2 * MEMBERS];
	int n = 0;
	for (int i = 0; i < members; i++)
		MPI_Irecv(b + i * ints, ints, MPI_INT, i, i, comm, &requests[n++]);
	for (int i = 0; i < members; i++)
		(draw(2) ? MPI_Isend : MPI_Issend)(a, count, type, (me + members - i) % members, me, comm, &requests[n++]);
	MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

/* neighbors is for three members or more: with two, both neighbours are one. */
static void neighbors(void) {
	MPI_Comm graph;
	int sources[] = {right(), left()}, destinations[] = {left(), right()};
	if (members < 3)
		return;
	MPI_Dist_graph_create_adjacent(comm, 2, sources, MPI_UNWEIGHTED, 2, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
	int both[] = {count, count}, apart[] = {0, 4}, swapped[] = {4, 0};
	switch (draw(3) + 3 * nonblocking) {
	case 0: MPI_Neighbor_allgather(a, ints, MPI_INT, b, count, type, graph); break;
	case 1: MPI_Neighbor_allgatherv(a, count, type, b, both, swapped, type, graph); break;
	case 2: MPI_Neighbor_alltoallv(a, both, apart, type, b, both, swapped, type, graph); break;
	case 3: MPI_Ineighbor_alltoall(a, count, type, b, ints, MPI_INT, graph, &request); break;
	case 4: MPI_Ineighbor_allgatherv(a, count, type, b, both, apart, type, graph, &request); break;
	case 5: MPI_Ineighbor_alltoallv(a, both, swapped, type, b, both, apart, type, graph, &request); break;
	}
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Comm_free(&graph);
}

/* groups is a collective between the even members and the odd ones, if there are both. */
static void groups(void) {
	MPI_Comm half, both;
	int odd = me % 2, rank_, others;
	if (members < 2)
		return;
	MPI_Comm_split(comm, odd, me, &half);
	MPI_Intercomm_create(half, 0, comm, 1 - odd, 1, &both);
	MPI_Comm_rank(both, &rank_);
	MPI_Comm_remote_size(both, &others);
	switch (draw(5)) {
	case 0: MPI_Allgather(a, count, type, b, ints, MPI_INT, both); break;
	case 1: MPI_Alltoall(a, ints, MPI_INT, b, count, type, both); break;
	case 2: MPI_Allreduce(a, b, ints, MPI_INT, MPI_BXOR, both); break;
	case 3: MPI_Bcast(odd ? b : a, count, type, odd ? 0 : rank_ == 0 ? MPI_ROOT : MPI_PROC_NULL, both); break;
	case 4: MPI_Gather(a, ints, MPI_INT, b, count, type, odd ? (rank_ == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, both); break;
	}
	MPI_Comm_free(&both);
	MPI_Comm_free(&half);
}

static const struct {
	const char *name;
	void (*call)(void);
} calls[] = {
    {"bcast", bcast}, {"gather", gather}, {"scatter", scatter}, {"allgather", allgather}, {"alltoall", alltoall},
    {"gatherv", gatherv}, {"scatterv", scatterv}, {"allgatherv", allgatherv}, {"alltoallv", alltoallv}, {"alltoallw", alltoallw},
    {"allreduce", allreduce}, {"reduce", reduce}, {"scan", scan}, {"exscan", exscan}, {"reduce_scatter", reduce_scatter},
    {"reduce_scatter_block", reduce_scatter_block}, {"sendrecv", sendrecv}, {"sendrecv_replace", sendrecv_replace},
    {"pack", pack}, {"messages", messages}, {"neighbors", neighbors}, {"groups", groups},
};

/* draw_comm makes the communicator of a round: all ranks, some of them in reverse order, or all in it. */
static void draw_comm(void) {
	MPI_Group all, reverse;
	int range[1][3] = {{size - 1, 0, -1}}, colors = 1 + draw(3);
	switch (draw(3)) {
	case 0: MPI_Comm_dup(MPI_COMM_WORLD, &comm); break;
	case 1: MPI_Comm_split(MPI_COMM_WORLD, rank % colors, -rank, &comm); break;
	case 2:
		MPI_Comm_group(MPI_COMM_WORLD, &all);
		MPI_Group_range_incl(all, 1, range, &reverse);
		MPI_Comm_create(MPI_COMM_WORLD, reverse, &comm);
		MPI_Group_free(&all);
		MPI_Group_free(&reverse);
		break;
	}
	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &members);
}

/* vary gives a member another datatype of as many ints: without gaps, or with one after each. */
static void vary(int how) {
	if (how == 0)
		return;
	MPI_Type_free(&type);
	MPI_Type_vector(shape.size / 4, 1, how, MPI_INT, &type);
	shape = shape_of(type);
}

/* draw_round makes what a round needs. Where buffers have no room for the datatype it takes MPI_INT.
 * Ranks of smaller communicators draw as the others do. */
static void draw_round(int round) {
	draw_comm();
	type = tight(draw_type(3));
	count = 1 + draw(3);
	root = draw(24) % members;
	nonblocking = draw(2);
	in_place = draw(2);
	shape = shape_of(type);
	if (shape.extent * 3 * size > 2 * MIDDLE || shape.size * 2 * 3 * size > 2 * MIDDLE || shape.size / 4 * 3 * size > MOST) {
		MPI_Type_free(&type);
		MPI_Type_dup(MPI_INT, &type);
		shape = shape_of(type);
	}
	if (draw(2))
		vary((me + draw(3)) % 3);
	MPI_Type_commit(&type);
	ints = count * shape.size / 4;
	for (int i = 0; i < members; i++) {
		counts[i] = (i + round) % 3;
		pairs[i] = (me + i + round) % 3;
		places[i] = to[i] = 3 * i;
		from[i] = 3 * (members - 1 - i);
	}
	for (int i = 0; i < INTS; i++) {
		out[i] = (rank * 131 + round * 17 + i) * 65537 + i % 251;
		in[i] = -7;
	}
}

static unsigned checksum(const int *p) {
	unsigned sum = 5381;
	for (int i = 0; i < INTS; i++)
		sum = sum * 33 + (unsigned)p[i];
	return sum;
}

/* show prints what a round has called, and the checksums of the receiving buffers in the order of ranks.
 * What is sent must not have changed. */
static void show(int round, const char *name, unsigned sent) {
	unsigned mine = checksum(in), all[MEMBERS];
	EXPECT(checksum(out) == sent);
	MPI_Gather(&mine, 1, MPI_UNSIGNED, all, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
	if (rank > 0)
		return;
	printf("round %3d: %s%s%s of %d members, root %d, %d elements, size %d, extent %ld at %ld, true extent %ld at %ld:",
	       round, nonblocking ? "nonblocking " : "", in_place ? "in place " : "", name, members, root, count, shape.size,
	       (long)shape.extent, (long)shape.lower, (long)shape.reach, (long)shape.first);
	for (int i = 0; i < size; i++)
		printf(" %08x", all[i]);
	printf("\n");
}

static void complete(void) {
	for (int done = draw(2); request != MPI_REQUEST_NULL;)
		if (done)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		else
			MPI_Test(&request, &(int){0}, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int seed = argc > 1 ? atoi(argv[1]) : 1, rounds = argc > 2 ? atoi(argv[2]) : 40;
	if (size > MEMBERS)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Op_create(compose, 0, &affine);
	for (int round = 0; round < rounds; round++) {
		state = (unsigned long long)seed * 62710561 + (unsigned long long)round * 104729;
		draw(1);
		int chosen = draw(sizeof calls / sizeof *calls);
		draw_round(round);
		unsigned sent = checksum(out);
		request = MPI_REQUEST_NULL;
		calls[chosen].call();
		complete();
		if (calls[chosen].call == exscan && me == 0)
			memset(in, 0, sizeof in); /* it is not defined there */
		show(round, calls[chosen].name, sent);
		MPI_Type_free(&type);
		MPI_Comm_free(&comm);
	}
	MPI_Op_free(&affine);
	return finish("random");
}
