/* Functions with large counts, beside those with int counts where a library has no others. */
#include "check.h"

#ifdef MPI_4
#define OF(name) MPI_##name##_c
#define FORMS 3 /* blocking, nonblocking, persistent */
typedef MPI_Count number, distance;
typedef MPI_Aint place;
#else
#define OF(name) MPI_##name
#define FORMS 2
typedef int number, place;
typedef MPI_Aint distance;
#endif

static int next, last;

typedef int sends(const void *, number, MPI_Datatype, int, int, MPI_Comm);
typedef int begins(const void *, number, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void messages(void) {
	static sends *const blocking[] = {OF(Send), OF(Bsend), OF(Ssend), OF(Rsend)};
	static begins *const later[] = {OF(Isend), OF(Ibsend), OF(Issend), OF(Irsend)};
	static begins *const persistent[] = {OF(Send_init), OF(Bsend_init), OF(Ssend_init), OF(Rsend_init)};
	static char room[8 * (MPI_BSEND_OVERHEAD + 64)];
	MPI_Request receive, again, send;
	MPI_Status status;
	int x[2], y[2] = {rank, 7}, n;
	CHECK(OF(Buffer_attach)(room, sizeof room) == MPI_SUCCESS);
	OF(Recv_init)(x, 2, MPI_INT, last, 3, MPI_COMM_WORLD, &again);
	for (int mode = 0; mode < 4; mode++)
		for (int form = 0; form < 3; form++) {
			x[0] = x[1] = -1;
			if (form == 2) {
				receive = again;
				MPI_Start(&receive);
			} else
				OF(Irecv)(x, 2, MPI_INT, last, 3, MPI_COMM_WORLD, &receive);
			MPI_Barrier(MPI_COMM_WORLD); /* for ready mode */
			if (form == 0)
				blocking[mode](y, 2, MPI_INT, next, 3, MPI_COMM_WORLD);
			else if (form == 1)
				later[mode](y, 2, MPI_INT, next, 3, MPI_COMM_WORLD, &send);
			else {
				persistent[mode](y, 2, MPI_INT, next, 3, MPI_COMM_WORLD, &send);
				MPI_Start(&send);
			}
			MPI_Wait(&receive, &status);
			MPI_Get_count(&status, MPI_INT, &n);
			CHECK(x[0] == last && x[1] == 7 && n == 2);
			if (form > 0)
				MPI_Wait(&send, MPI_STATUS_IGNORE);
			if (form == 2)
				MPI_Request_free(&send);
		}
	MPI_Request_free(&again);
	void *was = NULL;
	number size_was = 0;
	OF(Buffer_detach)(&was, &size_was);
	CHECK(was == room && size_was == sizeof room);

	x[0] = -1;
	MPI_Isend(&rank, 1, MPI_INT, next, 4, MPI_COMM_WORLD, &send);
	OF(Recv)(x, 1, MPI_INT, last, 4, MPI_COMM_WORLD, &status);
	CHECK(x[0] == last && status.MPI_SOURCE == last && status.MPI_TAG == 4);
	MPI_Wait(&send, MPI_STATUS_IGNORE);
	MPI_Message message;
	MPI_Isend(&rank, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &send);
	MPI_Mprobe(last, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	x[0] = -1;
	OF(Mrecv)(x, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
	CHECK(x[0] == last && message == MPI_MESSAGE_NULL);
	MPI_Wait(&send, MPI_STATUS_IGNORE);
	MPI_Isend(&rank, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &send);
	MPI_Mprobe(last, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	x[0] = -1;
	OF(Imrecv)(x, 1, MPI_INT, &message, &receive);
	MPI_Wait(&receive, &status);
	CHECK(x[0] == last && message == MPI_MESSAGE_NULL && status.MPI_TAG == 5);
	MPI_Wait(&send, MPI_STATUS_IGNORE);
	OF(Sendrecv)(y, 2, MPI_INT, next, 6, x, 2, MPI_INT, last, 6, MPI_COMM_WORLD, &status);
	CHECK(x[0] == last && x[1] == 7 && status.MPI_SOURCE == last);
	OF(Sendrecv_replace)(y, 2, MPI_INT, next, 7, last, 7, MPI_COMM_WORLD, &status);
	CHECK(y[0] == last && y[1] == 7);
}

/* RUN makes a collective in one of its forms. SEE checks what it has done: the persistent form is
 * not counted. */
#if FORMS == 3
#define PERSISTENT(init, ...) \
	OF(init)(__VA_ARGS__, MPI_INFO_NULL, &q); \
	MPI_Start(&q); \
	MPI_Wait(&q, MPI_STATUS_IGNORE); \
	MPI_Request_free(&q)
#else
#define PERSISTENT(init, ...) (void)0
#endif
#define RUN(blocking, later, init, ...) \
	do { \
		MPI_Request q; \
		(void)q; \
		if (form == 0) \
			OF(blocking)(__VA_ARGS__); \
		else if (form == 1) { \
			OF(later)(__VA_ARGS__, &q); \
			MPI_Wait(&q, MPI_STATUS_IGNORE); \
		} else { \
			PERSISTENT(init, __VA_ARGS__); \
		} \
	} while (0)
#define SEE(condition) \
	do { \
		if (form < 2) \
			CHECK(condition); \
		else \
			EXPECT(condition); \
	} while (0)

#define MOST 16

static void even(int form, MPI_Op add) {
	int x = rank == 0 ? 7 : -1, one = rank + 1, all = size * (size + 1) / 2, to[2 * MOST], from[2 * MOST];
	RUN(Bcast, Ibcast, Bcast_init, &x, 1, MPI_INT, 0, MPI_COMM_WORLD);
	SEE(x == 7);
	x = -1;
	RUN(Reduce, Ireduce, Reduce_init, &one, &x, 1, MPI_INT, add, size - 1, MPI_COMM_WORLD);
	SEE(x == (rank == size - 1 ? all : -1));
	x = -1;
	RUN(Allreduce, Iallreduce, Allreduce_init, &one, &x, 1, MPI_INT, add, MPI_COMM_WORLD);
	SEE(x == all);
	RUN(Scan, Iscan, Scan_init, &one, &x, 1, MPI_INT, add, MPI_COMM_WORLD);
	SEE(x == (rank + 1) * (rank + 2) / 2);
	x = 0;
	RUN(Exscan, Iexscan, Exscan_init, &one, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	SEE(rank == 0 || x == rank * (rank + 1) / 2);
	int pair[2] = {rank, -rank}, good = 1;
	for (int i = 0; i < 2 * MOST; i++)
		to[i] = 99;
	RUN(Gather, Igather, Gather_init, pair, 2, MPI_INT, to, 2, MPI_INT, 0, MPI_COMM_WORLD);
	for (int i = 0; rank == 0 && i < size; i++)
		good &= to[2 * i] == i && to[2 * i + 1] == -i;
	RUN(Allgather, Iallgather, Allgather_init, pair, 2, MPI_INT, to, 2, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < size; i++)
		good &= to[2 * i] == i && to[2 * i + 1] == -i;
	SEE(good);
	for (int i = 0; i < 2 * size; i++)
		from[i] = 100 * rank + i;
	RUN(Scatter, Iscatter, Scatter_init, from, 2, MPI_INT, pair, 2, MPI_INT, 0, MPI_COMM_WORLD);
	SEE(pair[0] == 2 * rank && pair[1] == 2 * rank + 1);
	RUN(Alltoall, Ialltoall, Alltoall_init, from, 2, MPI_INT, to, 2, MPI_INT, MPI_COMM_WORLD);
	good = 1;
	for (int i = 0; i < size; i++)
		good &= to[2 * i] == 100 * i + 2 * rank && to[2 * i + 1] == 100 * i + 2 * rank + 1;
	SEE(good);
	x = -1;
	for (int i = 0; i < size; i++)
		from[i] = rank + i;
	RUN(Reduce_scatter_block, Ireduce_scatter_block, Reduce_scatter_block_init, from, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	SEE(x == size * rank + size * (size - 1) / 2);
}

/* Blocks of different lengths, with gaps between them. */
static void uneven(int form, MPI_Datatype type) {
	number counts[MOST], mine[MOST];
	place displacements[MOST], places[MOST], bytes[MOST];
	MPI_Datatype types[MOST];
	int from[4 * MOST], to[4 * MOST], good = 1, own = rank % 2 + 1, total = 0;
	for (int i = 0; i < MOST; i++) {
		counts[i] = i % 2 + 1, mine[i] = own;
		displacements[i] = 3 * i, places[i] = 4 * i, bytes[i] = 4 * i * (place)sizeof(int), types[i] = type;
		total += i < size ? i % 2 + 1 : 0;
	}
	for (int i = 0; i < 4 * MOST; i++)
		from[i] = 1000 * rank + i, to[i] = -1;
	RUN(Gatherv, Igatherv, Gatherv_init, from, own, MPI_INT, to, counts, displacements, type, 0, MPI_COMM_WORLD);
	for (int i = 0; rank == 0 && i < size; i++)
		good &= to[3 * i] == 1000 * i && to[3 * i + 1] == (i % 2 ? 1000 * i + 1 : -1) && to[3 * i + 2] == -1;
	RUN(Allgatherv, Iallgatherv, Allgatherv_init, from, own, MPI_INT, to, counts, displacements, type, MPI_COMM_WORLD);
	for (int i = 0; i < size; i++)
		good &= to[3 * i] == 1000 * i && to[3 * i + 1] == (i % 2 ? 1000 * i + 1 : -1) && to[3 * i + 2] == -1;
	SEE(good);
	to[0] = to[1] = -1;
	RUN(Scatterv, Iscatterv, Scatterv_init, from, counts, displacements, type, to, own, MPI_INT, 0, MPI_COMM_WORLD);
	SEE(to[0] == 3 * rank && to[1] == (own == 2 ? 3 * rank + 1 : -1));
	/* To member i go as many as it has: its own number of values from each. */
	for (int i = 0; i < 4 * MOST; i++)
		to[i] = -1;
	RUN(Alltoallv, Ialltoallv, Alltoallv_init, from, counts, displacements, type, to, mine, places, type, MPI_COMM_WORLD);
	good = 1;
	for (int i = 0; i < size; i++)
		good &= to[4 * i] == 1000 * i + 3 * rank && to[4 * i + 1] == (own == 2 ? 1000 * i + 3 * rank + 1 : -1) && to[4 * i + 2] == -1;
	SEE(good);
	for (int i = 0; i < 4 * MOST; i++)
		to[i] = -1;
	RUN(Alltoallw, Ialltoallw, Alltoallw_init, from, counts, bytes, types, to, mine, bytes, types, MPI_COMM_WORLD);
	good = 1;
	for (int i = 0; i < size; i++)
		good &= to[4 * i] == 1000 * i + 4 * rank && to[4 * i + 1] == (own == 2 ? 1000 * i + 4 * rank + 1 : -1);
	SEE(good);
	int sum[2] = {-1, -1}, before = 0;
	for (int i = 0; i < rank; i++)
		before += i % 2 + 1;
	for (int i = 0; i < total; i++)
		from[i] = i;
	RUN(Reduce_scatter, Ireduce_scatter, Reduce_scatter_init, from, sum, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	SEE(sum[0] == size * before && sum[1] == (own == 2 ? size * (before + 1) : -1));
}

static void neighbours(int form, MPI_Comm ring) {
	number counts[2] = {1, 1};
	place displacements[2] = {1, 0};
	MPI_Aint bytes[2] = {sizeof(int), 0};
	MPI_Datatype types[2] = {MPI_INT, MPI_INT};
	int same[2] = {rank, rank}, to[2];
#define CLEAR to[0] = to[1] = -1
	CLEAR;
	RUN(Neighbor_allgather, Ineighbor_allgather, Neighbor_allgather_init, same, 1, MPI_INT, to, 1, MPI_INT, ring);
	SEE(to[0] == last && to[1] == next);
	CLEAR;
	RUN(Neighbor_allgatherv, Ineighbor_allgatherv, Neighbor_allgatherv_init, same, 1, MPI_INT, to, counts, displacements, MPI_INT, ring);
	SEE(to[1] == last && to[0] == next);
	CLEAR;
	RUN(Neighbor_alltoall, Ineighbor_alltoall, Neighbor_alltoall_init, same, 1, MPI_INT, to, 1, MPI_INT, ring);
	SEE(to[0] == last && to[1] == next);
	CLEAR;
	RUN(Neighbor_alltoallv, Ineighbor_alltoallv, Neighbor_alltoallv_init, same, counts, displacements, MPI_INT, to, counts, displacements, MPI_INT, ring);
	SEE(to[1] == last && to[0] == next);
	CLEAR;
	RUN(Neighbor_alltoallw, Ineighbor_alltoallw, Neighbor_alltoallw_init, same, counts, bytes, types, to, counts, bytes, types, ring);
	SEE(to[1] == last && to[0] == next);
}

static void add(void *in, void *inout, number *n, MPI_Datatype *type) {
	(void)type;
	for (number i = 0; i < *n; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

#if FORMS == 3
/* Counts whose bytes for each member there may be, and not those for all; the last of them times 20
 * is 4 in 64 bits. */
static void too_large(MPI_Datatype type, MPI_Op sum) {
	static const MPI_Count absurd[] = {INT64_MAX, INT64_MAX / 8, INT64_MAX / 16, 922337203685477581};
	static int x[8];
	MPI_Count *counts = malloc((size_t)size * sizeof *counts);
	MPI_Aint *places = calloc((size_t)size, sizeof *places);
	MPI_Datatype *types = malloc((size_t)size * sizeof *types);
	for (int i = 0; i < 4; i++) {
		MPI_Count n = absurd[i];
		for (int k = 0; k < size; k++)
			counts[k] = n, types[k] = type;
		EXPECT(class_of(MPI_Allgather_c(x, 1, MPI_INT, x + 4, n, type, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
		EXPECT(class_of(MPI_Allgatherv_c(x, 1, MPI_INT, x + 4, counts, places, type, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
		EXPECT(class_of(MPI_Alltoall_c(x, 1, type, x + 4, n, type, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
		EXPECT(class_of(MPI_Alltoall_c(MPI_IN_PLACE, 0, type, x, n, type, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
		EXPECT(class_of(MPI_Alltoallv_c(x, counts, places, type, x + 4, counts, places, type, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
		EXPECT(class_of(MPI_Alltoallw_c(x, counts, places, types, x + 4, counts, places, types, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
		EXPECT(class_of(MPI_Reduce_scatter_block_c(x, x + 4, n, type, sum, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
		EXPECT(class_of(MPI_Reduce_scatter_c(x, x + 4, counts, type, sum, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
		EXPECT(class_of(MPI_Allreduce_c(x, x + 4, n, type, sum, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
		if (rank == 0) {
			EXPECT(class_of(MPI_Gather_c(x, 1, MPI_INT, x + 4, n, type, 0, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
			EXPECT(class_of(MPI_Scatter_c(x, n, type, x + 4, 1, MPI_INT, 0, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
			EXPECT(class_of(MPI_Gatherv_c(x, 1, MPI_INT, x + 4, counts, places, type, 0, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
			EXPECT(class_of(MPI_Scatterv_c(x, counts, places, type, x + 4, 1, MPI_INT, 0, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
		}
	}
	free(counts), free(places), free(types);
}
#endif

/* picks checks which integers of a row of them a type has, and frees it. */
static void picks(MPI_Datatype type, int n, const int *want) {
	int row[32], got[32], there = -1;
	MPI_Status status;
	for (int i = 0; i < 32; i++)
		row[i] = i, got[i] = -1;
	MPI_Type_commit(&type);
	MPI_Sendrecv(row, 1, type, rank, 5, got, 32, MPI_INT, rank, 5, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_INT, &there);
	CHECK(there == n && memcmp(got, want, (size_t)n * sizeof *got) == 0);
	MPI_Type_free(&type);
}

#define PICKS(type, ...) picks(type, sizeof((int[]){__VA_ARGS__}) / sizeof(int), (const int[]){__VA_ARGS__})

static void types(void) {
	const number one_two[2] = {1, 2}, two_one[2] = {2, 1}, four_one[2] = {4, 1}, six_none[2] = {6, 0}, ones[2] = {1, 1};
	const distance at[2] = {8, 20}, back[2] = {12, 4}, fields[2] = {4, 16};
	const number sizes[2] = {4, 5}, parts[2] = {2, 2}, starts[2] = {1, 3}, six[1] = {6};
	const int cyclic[1] = {MPI_DISTRIBUTE_CYCLIC}, usual[1] = {MPI_DISTRIBUTE_DFLT_DARG}, two[1] = {2};
	const MPI_Datatype both[2] = {MPI_INT, MPI_INT};
	MPI_Datatype t, u;
	CHECK(OF(Type_contiguous)(3, MPI_INT, &t) == MPI_SUCCESS);
	PICKS(t, 0, 1, 2);
	CHECK(OF(Type_vector)(2, 2, 3, MPI_INT, &t) == MPI_SUCCESS);
	PICKS(t, 0, 1, 3, 4);
	CHECK(OF(Type_create_hvector)(2, 1, 20, MPI_INT, &t) == MPI_SUCCESS);
	PICKS(t, 0, 5);
	CHECK(OF(Type_indexed)(2, two_one, four_one, MPI_INT, &t) == MPI_SUCCESS);
	PICKS(t, 4, 5, 1);
	CHECK(OF(Type_create_hindexed)(2, one_two, at, MPI_INT, &t) == MPI_SUCCESS);
	PICKS(t, 2, 5, 6);
	CHECK(OF(Type_create_indexed_block)(2, 2, six_none, MPI_INT, &t) == MPI_SUCCESS);
	PICKS(t, 6, 7, 0, 1);
	CHECK(OF(Type_create_hindexed_block)(2, 1, back, MPI_INT, &t) == MPI_SUCCESS);
	PICKS(t, 3, 1);
	CHECK(OF(Type_create_struct)(2, ones, fields, both, &t) == MPI_SUCCESS);
	PICKS(t, 1, 4);
	CHECK(OF(Type_create_resized)(MPI_INT, 0, 8, &u) == MPI_SUCCESS);
	OF(Type_contiguous)(3, u, &t);
	PICKS(t, 0, 2, 4);
	MPI_Type_free(&u);
	CHECK(OF(Type_create_subarray)(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &t) == MPI_SUCCESS);
	PICKS(t, 8, 9, 13, 14);
	CHECK(OF(Type_create_darray)(2, 1, 1, six, cyclic, usual, two, MPI_ORDER_C, MPI_INT, &t) == MPI_SUCCESS);
	PICKS(t, 1, 3, 5);
	CHECK_CLASS(OF(Type_contiguous)(3, MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE);
#if FORMS == 3
	/* What types were made of. Counts and displacements are large ones, all else are integers. */
	MPI_Count integers, addresses, counts, inner, count[8], bytes, low, extent;
	MPI_Aint address[1];
	int combiner, integer[8], few, fewer, fewest;
	MPI_Datatype of[2];
	OF(Type_create_hvector)(2, 1, 20, MPI_INT, &t);
	EXPECT(MPI_Type_get_envelope_c(t, &integers, &addresses, &counts, &inner, &combiner) == MPI_SUCCESS);
	EXPECT(integers == 0 && addresses == 0 && counts == 3 && inner == 1 && combiner == MPI_COMBINER_HVECTOR);
	EXPECT(MPI_Type_get_contents_c(t, 0, 0, 3, 1, integer, address, count, of) == MPI_SUCCESS);
	EXPECT(count[0] == 2 && count[1] == 1 && count[2] == 20 && of[0] == MPI_INT);
	EXPECT(class_of(MPI_Type_get_contents_c(t, 0, 0, 2, 1, integer, address, count, of)) == MPI_ERR_ARG);
	EXPECT(class_of(MPI_Type_get_envelope(t, &few, &fewer, &fewest, &combiner)) == MPI_ERR_TYPE);
	EXPECT(class_of(MPI_Type_get_contents(t, 8, 1, 1, integer, address, of)) == MPI_ERR_TYPE);
	MPI_Type_free(&t);
	OF(Type_create_darray)(2, 1, 1, six, cyclic, usual, two, MPI_ORDER_C, MPI_INT, &t);
	MPI_Type_get_envelope_c(t, &integers, &addresses, &counts, &inner, &combiner);
	EXPECT(integers == 7 && addresses == 0 && counts == 1 && inner == 1 && combiner == MPI_COMBINER_DARRAY);
	MPI_Type_get_contents_c(t, 7, 0, 1, 1, integer, address, count, of);
	EXPECT(integer[0] == 2 && integer[1] == 1 && integer[2] == 1 && integer[3] == MPI_DISTRIBUTE_CYCLIC && integer[4] == MPI_DISTRIBUTE_DFLT_DARG && integer[5] == 2 && integer[6] == MPI_ORDER_C && count[0] == 6);
	MPI_Type_free(&t);
	MPI_Type_create_hvector(2, 1, 20, MPI_INT, &t);
	MPI_Type_get_envelope_c(t, &integers, &addresses, &counts, &inner, &combiner);
	EXPECT(integers == 2 && addresses == 1 && counts == 0 && inner == 1);
	EXPECT(MPI_Type_get_contents_c(t, 2, 1, 0, 1, integer, address, count, of) == MPI_SUCCESS && integer[0] == 2 && integer[1] == 1 && address[0] == 20);
	MPI_Type_free(&t);
	/* More than an int counts. */
	EXPECT(MPI_Type_contiguous_c(5000000000, MPI_INT, &t) == MPI_SUCCESS);
	MPI_Type_size_c(t, &bytes);
	EXPECT(bytes == 20000000000);
	MPI_Type_free(&t);
	EXPECT(MPI_Type_vector_c(3, 1, 3000000000, MPI_INT, &t) == MPI_SUCCESS);
	MPI_Type_get_extent_c(t, &low, &extent);
	EXPECT(low == 0 && extent == 24000000004);
	MPI_Type_free(&t);
	const MPI_Count wide[2] = {1ll << 33, 4}, part[2] = {2, 3}, start[2] = {1ll << 32, 1}, huge[2] = {1ll << 40, 1ll << 40};
	EXPECT(MPI_Type_create_subarray_c(2, wide, part, start, MPI_ORDER_C, MPI_INT, &t) == MPI_SUCCESS);
	MPI_Type_get_extent_c(t, &low, &extent);
	EXPECT(low == 0 && extent == 16ll << 33);
	MPI_Type_get_true_extent_c(t, &low, &extent);
	EXPECT(low == ((1ll << 32) * 4 + 1) * 4 && extent == (4 + 3) * 4);
	MPI_Type_free(&t);
	/* And more than memory has. */
	EXPECT(class_of(MPI_Type_contiguous_c(INT64_MAX / 2, MPI_INT, &t)) == MPI_ERR_COUNT);
	EXPECT(class_of(MPI_Type_vector_c(2, 1, INT64_MAX, MPI_INT, &t)) == MPI_ERR_COUNT);
	EXPECT(class_of(MPI_Type_create_subarray_c(2, huge, part, start, MPI_ORDER_C, MPI_INT, &t)) == MPI_ERR_COUNT);
	EXPECT(class_of(MPI_Type_contiguous_c(-1, MPI_INT, &t)) == MPI_ERR_COUNT);
#endif
}

int main(int argc, char **argv) {
	MPI_Op sum;
	MPI_Comm ring;
	MPI_Datatype spread;
	int periodic = 1, x[3] = {1, 2, 3}, y[3] = {10, 20, 30}, lengths[1] = {1};
	MPI_Aint at[1] = {0};
	begin(&argc, &argv);
	next = (rank + 1) % size, last = (rank + size - 1) % size;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	messages();
	types();
	CHECK(OF(Op_create)(add, 1, &sum) == MPI_SUCCESS);
	CHECK(OF(Reduce_local)(x, y, 3, MPI_INT, sum) == MPI_SUCCESS && y[0] == 11 && y[1] == 22 && y[2] == 33);
	/* An int that does not lie as one block: it goes through packed copies. */
	MPI_Datatype each[1] = {MPI_INT};
	MPI_Type_create_struct(1, lengths, at, each, &spread);
	MPI_Type_create_resized(spread, 0, sizeof(int), &each[0]);
	MPI_Type_commit(&each[0]);
	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
	for (int form = 0; form < FORMS; form++) {
		even(form, sum);
		uneven(form, MPI_INT);
		uneven(form, each[0]);
		neighbours(form, ring);
	}
	CHECK_CLASS(OF(Send)(x, -1, MPI_INT, next, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
	CHECK_CLASS(OF(Bcast)(x, -1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
#if FORMS == 3
	/* More values than an int counts, of no bytes; and more bytes than there are. */
	MPI_Datatype nothing;
	MPI_Status status;
	MPI_Count got = 5;
	MPI_Request send;
	MPI_Type_contiguous(0, MPI_INT, &nothing);
	MPI_Type_commit(&nothing);
	MPI_Isend_c(x, 5000000000, nothing, next, 9, MPI_COMM_WORLD, &send);
	EXPECT(MPI_Recv_c(x, 5000000000, nothing, last, 9, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
	MPI_Get_count_c(&status, MPI_INT, &got);
	EXPECT(got == 0);
	MPI_Wait(&send, MPI_STATUS_IGNORE);
	MPI_Type_free(&nothing);
	EXPECT(class_of(MPI_Send_c(x, INT64_MAX / 2, MPI_INT, next, 0, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
	MPI_Datatype gaps;
	MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
	MPI_Type_commit(&gaps);
	too_large(MPI_INT, MPI_SUM);
	too_large(gaps, sum);
	MPI_Type_free(&gaps);
#endif
	MPI_Op_free(&sum);
	MPI_Type_free(&each[0]);
	MPI_Type_free(&spread);
	MPI_Comm_free(&ring);
	return finish("large");
}
