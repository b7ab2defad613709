/* Neighbourhood collectives on grids and graphs. */
#include "check.h"

static MPI_Comm grid, ring;

/* The neighbours of a rank in a grid of one row, which is periodic or not. */
static int left(void) { return rank > 0 ? rank - 1 : MPI_PROC_NULL; }
static int right(void) { return rank + 1 < size ? rank + 1 : MPI_PROC_NULL; }

static void even(void) {
	int mine = 100 + rank, got[2] = {-1, -1}, out[2] = {10 * rank, 10 * rank + 1}, in[2] = {-1, -1};
	MPI_Request requests[2];
	/* A line: what comes from nowhere leaves the buffer as it is. */
	MPI_Neighbor_allgather(&mine, 1, MPI_INT, got, 1, MPI_INT, grid);
	CHECK(got[0] == (left() < 0 ? -1 : 100 + left()) && got[1] == (right() < 0 ? -1 : 100 + right()));
	MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, grid);
	CHECK(in[0] == (left() < 0 ? -1 : 10 * left() + 1) && in[1] == (right() < 0 ? -1 : 10 * right()));
	/* Both at once, of which one is waited for by a test. */
	int flag = 0;
	got[0] = got[1] = in[0] = in[1] = -1;
	MPI_Ineighbor_allgather(&mine, 1, MPI_INT, got, 1, MPI_INT, grid, &requests[0]);
	MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, grid, &requests[1]);
	while (!flag)
		MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	CHECK(got[0] == (left() < 0 ? -1 : 100 + left()) && got[1] == (right() < 0 ? -1 : 100 + right()));
	CHECK(in[0] == (left() < 0 ? -1 : 10 * left() + 1) && in[1] == (right() < 0 ? -1 : 10 * right()));
}

/* A ring of edges in one direction: from the last two ranks, to the next two. */
static void uneven(void) {
	int sources[2], sent[6], counts[2] = {1, 2}, received[8], incounts[2] = {1, 2}, at[2] = {0, 4}, inat[2] = {6, 1};
	MPI_Request request;
	for (int i = 0; i < 2; i++)
		sources[i] = (rank + 2 * size - 1 - i) % size;
	for (int i = 0; i < 6; i++)
		sent[i] = 100 * rank + i;
	/* To the next rank one element, to the second next two. */
	for (int later = 0; later < 2; later++) {
		for (int i = 0; i < 8; i++)
			received[i] = -1;
		if (later) {
			MPI_Ineighbor_alltoallv(sent, counts, at, MPI_INT, received, incounts, inat, MPI_INT, ring, &request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		} else
			MPI_Neighbor_alltoallv(sent, counts, at, MPI_INT, received, incounts, inat, MPI_INT, ring);
		CHECK(received[6] == 100 * sources[0] && received[1] == 100 * sources[1] + 4 && received[2] == 100 * sources[1] + 5);
		CHECK(received[0] == -1 && received[3] == -1 && received[5] == -1 && received[7] == -1);
	}
	for (int later = 0; later < 2; later++) {
		int two[2] = {2, 2}, places[2] = {5, 2};
		for (int i = 0; i < 8; i++)
			received[i] = -1;
		if (later) {
			MPI_Ineighbor_allgatherv(sent, 2, MPI_INT, received, two, places, MPI_INT, ring, &request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		} else
			MPI_Neighbor_allgatherv(sent, 2, MPI_INT, received, two, places, MPI_INT, ring);
		CHECK(received[5] == 100 * sources[0] && received[6] == 100 * sources[0] + 1 && received[2] == 100 * sources[1] && received[3] == 100 * sources[1] + 1);
		CHECK(received[0] == -1 && received[1] == -1 && received[4] == -1 && received[7] == -1);
	}
	/* A column of a matrix to the next rank, doubles to the second next. */
	struct { int matrix[3][3]; double x[2]; } mine, theirs;
	MPI_Datatype column;
	MPI_Type_vector(3, 1, 3, MPI_INT, &column);
	MPI_Type_commit(&column);
	MPI_Datatype types[2] = {column, MPI_DOUBLE};
	int ones[2] = {1, 2};
	for (int later = 0; later < 2; later++) {
		for (int i = 0; i < 9; i++)
			mine.matrix[i / 3][i % 3] = 10 * rank + i, theirs.matrix[i / 3][i % 3] = -1;
		mine.x[0] = rank + 0.5, mine.x[1] = rank + 0.25;
		MPI_Aint from[2] = {sizeof(int), (char *)mine.x - (char *)&mine}, to[2] = {2 * sizeof(int), (char *)mine.x - (char *)&mine};
		if (later) {
			MPI_Ineighbor_alltoallw(&mine, ones, from, types, &theirs, ones, to, types, ring, &request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		} else
			MPI_Neighbor_alltoallw(&mine, ones, from, types, &theirs, ones, to, types, ring);
		CHECK(theirs.matrix[0][2] == 10 * sources[0] + 1 && theirs.matrix[1][2] == 10 * sources[0] + 4 && theirs.matrix[2][2] == 10 * sources[0] + 7);
		CHECK(theirs.matrix[0][0] == -1 && theirs.matrix[1][1] == -1 && theirs.x[0] == sources[1] + 0.5 && theirs.x[1] == sources[1] + 0.25);
	}
	MPI_Type_free(&column);
}

/* Each wrong argument is refused before a block leaves. */
static void refused(void) {
	int out[2] = {0}, in[2], counts[2] = {1, 1}, negative[2] = {1, -1};
	MPI_Aint at[2] = {0, sizeof(int)};
	MPI_Datatype types[2] = {MPI_INT, MPI_INT}, none[2] = {MPI_INT, MPI_DATATYPE_NULL};
	MPI_Request request;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Neighbor_alltoallw(out, counts, at, types, in, counts, at, types, MPI_COMM_WORLD), MPI_ERR_TOPOLOGY);
	CHECK_CLASS(MPI_Neighbor_alltoallw(out, counts, at, types, in, counts, at, types, MPI_COMM_NULL), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Neighbor_alltoallw(out, negative, at, types, in, counts, at, types, ring), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Neighbor_alltoallw(out, counts, at, types, in, negative, at, types, ring), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Neighbor_alltoallw(out, counts, at, none, in, counts, at, types, ring), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Neighbor_alltoallw(out, counts, at, types, in, counts, at, none, ring), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Ineighbor_alltoallw(out, counts, at, types, in, counts, at, types, MPI_COMM_WORLD, &request), MPI_ERR_TOPOLOGY);
	CHECK_CLASS(MPI_Ineighbor_alltoallw(out, negative, at, types, in, counts, at, types, ring, &request), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Ineighbor_alltoallw(out, counts, at, types, in, counts, at, none, ring, &request), MPI_ERR_TYPE);
#ifdef GIGARANK
	EXPECT_CLASS(MPI_Neighbor_alltoallw_init(out, counts, at, types, in, counts, at, types, MPI_COMM_WORLD, MPI_INFO_NULL, &request), MPI_ERR_TOPOLOGY);
	EXPECT_CLASS(MPI_Neighbor_alltoallw_init(out, counts, at, types, in, negative, at, types, ring, MPI_INFO_NULL, &request), MPI_ERR_COUNT);
	EXPECT_CLASS(MPI_Neighbor_alltoallw_init(out, counts, at, none, in, counts, at, types, ring, MPI_INFO_NULL, &request), MPI_ERR_TYPE);
#endif
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(ring, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int dims[1] = {size}, periods[1] = {0}, sources[2], destinations[2];
	MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
	for (int i = 0; i < 2; i++)
		sources[i] = (rank + 2 * size - 1 - i) % size, destinations[i] = (rank + 1 + i) % size;
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, MPI_UNWEIGHTED, 2, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
	even();
	uneven();
	refused();
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	EXPECT(class_of(MPI_Neighbor_allgather(dims, 1, MPI_INT, sources, 1, MPI_INT, MPI_COMM_WORLD)) != MPI_SUCCESS);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_free(&grid);
	MPI_Comm_free(&ring);
	return finish("neighbors");
}
