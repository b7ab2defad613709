/* Functions with large counts, beside those with int counts where a library has no others. */
#include "check.h"

#if MPI_VERSION >= 4 || defined GIGARANK_MPI_H
#define OF(name) MPI_##name##_c
#define FORMS 3 /* blocking, nonblocking, persistent */
typedef MPI_Count number;
typedef MPI_Aint place;
#else
#define OF(name) MPI_##name
#define FORMS 2
typedef int number, place;
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
	CHECK(OF(Op_create)(add, 1, &sum) == MPI_SUCCESS);
	CHECK(OF(Reduce_local)(x, y, 3, MPI_INT, sum) == MPI_SUCCESS && y[0] == 11 && y[1] == 22 && y[2] == 33);
	/* An int that does not lie as one block: it goes through packed copies. */
	MPI_Datatype types[1] = {MPI_INT};
	MPI_Type_create_struct(1, lengths, at, types, &spread);
	MPI_Type_create_resized(spread, 0, sizeof(int), &types[0]);
	MPI_Type_commit(&types[0]);
	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
	for (int form = 0; form < FORMS; form++) {
		even(form, sum);
		uneven(form, MPI_INT);
		uneven(form, types[0]);
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
	MPI_Type_free(&types[0]);
	MPI_Type_free(&spread);
	MPI_Comm_free(&ring);
	return finish("large");
}
