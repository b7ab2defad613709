/* Virtual topologies: Cartesian grids, graphs and distributed graphs. */
#include "check.h"

static void dimensions(void) {
	int two[2] = {0, 0}, fixed[3] = {0, 3, 0};
	MPI_Dims_create(6, 2, two);
	CHECK(two[0] == 3 && two[1] == 2);
	two[0] = two[1] = 0;
	MPI_Dims_create(7, 2, two);
	CHECK(two[0] == 7 && two[1] == 1);
	MPI_Dims_create(6, 3, fixed);
	CHECK(fixed[0] == 2 && fixed[1] == 3 && fixed[2] == 1);
	int any[3] = {0, 0, 0};
	MPI_Dims_create(size, 3, any);
	CHECK(any[0] * any[1] * any[2] == size && any[0] >= any[1] && any[1] >= any[2]);
}

/* The grid has all ranks, or all but the last. The second dimension is periodic. */
static void grids(void) {
	int dims[2] = {0, 0}, periods[2] = {0, 1}, kind, n, at[2], there[2], members, source, destination;
	MPI_Comm grid;
	int used = size > 4 ? size - 1 : size;
	MPI_Dims_create(used, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
	CHECK((grid == MPI_COMM_NULL) == (rank >= used));
	MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &n);
#ifdef GIGARANK
	EXPECT(n == (rank < used ? rank : MPI_UNDEFINED));
#endif
	if (grid == MPI_COMM_NULL)
		return;
	MPI_Comm_size(grid, &members);
	CHECK(members == used);
	MPI_Topo_test(grid, &kind);
	CHECK(kind == MPI_CART);
	MPI_Cartdim_get(grid, &n);
	CHECK(n == 2);
	int got[2], wraps[2];
	MPI_Cart_get(grid, 2, got, wraps, at);
	CHECK(got[0] == dims[0] && got[1] == dims[1] && wraps[0] == 0 && wraps[1] == 1);
	CHECK(at[0] == rank / dims[1] && at[1] == rank % dims[1]);
	for (int m = 0; m < members; m++) {
		MPI_Cart_coords(grid, m, 2, there);
		MPI_Cart_rank(grid, there, &n);
		EXPECT(n == m && there[0] == m / dims[1] && there[1] == m % dims[1]);
	}
	there[0] = at[0], there[1] = at[1] - 3 * dims[1] - 1;
	MPI_Cart_rank(grid, there, &n);
	CHECK(n == at[0] * dims[1] + (at[1] + dims[1] - 1) % dims[1]);
	MPI_Cart_shift(grid, 0, 1, &source, &destination);
	CHECK(source == (at[0] > 0 ? rank - dims[1] : MPI_PROC_NULL));
	CHECK(destination == (at[0] + 1 < dims[0] ? rank + dims[1] : MPI_PROC_NULL));
	MPI_Cart_shift(grid, 1, -1, &source, &destination);
	CHECK(source == at[0] * dims[1] + (at[1] + 1) % dims[1]);
	CHECK(destination == at[0] * dims[1] + (at[1] + dims[1] - 1) % dims[1]);
	/* Around the ring of a row. */
	int mine = rank, theirs = -1;
	MPI_Sendrecv(&mine, 1, MPI_INT, destination, 0, &theirs, 1, MPI_INT, source, 0, grid, MPI_STATUS_IGNORE);
	CHECK(theirs == source);
	/* Rows and columns. */
	MPI_Comm row, column, copy, none;
	MPI_Cart_sub(grid, (int[]){0, 1}, &row);
	MPI_Cart_sub(grid, (int[]){1, 0}, &column);
	MPI_Comm_size(row, &n);
	CHECK(n == dims[1]);
	MPI_Comm_rank(row, &n);
	CHECK(n == at[1]);
	MPI_Cartdim_get(row, &n);
	MPI_Cart_get(row, 1, got, wraps, there);
	CHECK(n == 1 && got[0] == dims[1] && wraps[0] == 1 && there[0] == at[1]);
	MPI_Comm_size(column, &n);
	CHECK(n == dims[0]);
	MPI_Cart_get(column, 1, got, wraps, there);
	CHECK(got[0] == dims[0] && wraps[0] == 0 && there[0] == at[0]);
	/* A copy has the topology, a split has none. */
	MPI_Comm_dup(grid, &copy);
	MPI_Topo_test(copy, &kind);
	MPI_Cart_coords(copy, rank, 2, there);
	CHECK(kind == MPI_CART && there[0] == at[0] && there[1] == at[1]);
	MPI_Comm_split(grid, 0, 0, &none);
	MPI_Topo_test(none, &kind);
	CHECK(kind == MPI_UNDEFINED);
	MPI_Comm_free(&row), MPI_Comm_free(&column), MPI_Comm_free(&copy), MPI_Comm_free(&none), MPI_Comm_free(&grid);
}

/* A ring, of which each rank knows both neighbours. */
static void graphs(void) {
	int index[64], edges[128], got[64], list[128], n, m, kind;
	MPI_Comm ring;
	for (int r = 0; r < size; r++) {
		index[r] = 2 * (r + 1);
		edges[2 * r] = (r + size - 1) % size, edges[2 * r + 1] = (r + 1) % size;
	}
	MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &ring);
	MPI_Topo_test(ring, &kind);
	CHECK(kind == MPI_GRAPH);
	MPI_Graphdims_get(ring, &n, &m);
	CHECK(n == size && m == 2 * size);
	MPI_Graph_get(ring, 64, 128, got, list);
	int same = 1;
	for (int r = 0; r < size; r++)
		same = same && got[r] == index[r] && list[2 * r] == edges[2 * r] && list[2 * r + 1] == edges[2 * r + 1];
	CHECK(same);
	MPI_Graph_neighbors_count(ring, size - 1, &n);
	CHECK(n == 2);
	MPI_Graph_neighbors(ring, rank, 2, list);
	CHECK(list[0] == (rank + size - 1) % size && list[1] == (rank + 1) % size);
	MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, &n);
	EXPECT(n == MPI_UNDEFINED || (n >= 0 && n < size));
	MPI_Comm_free(&ring);
	if (size > 1) { /* one node less than ranks */
		int chain[64], ends[64], used = size - 1;
		for (int r = 0; r < used; r++)
			chain[r] = r + 1, ends[r] = (r + 1) % used;
		MPI_Graph_create(MPI_COMM_WORLD, used, chain, ends, 1, &ring);
		if (ring != MPI_COMM_NULL) {
			MPI_Comm_size(ring, &n);
			EXPECT(n == used);
			MPI_Comm_free(&ring);
		}
	}
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Each rank sends to the next two, and weighs the edges by the sender. */
static void distributed(void) {
	int sources[2], destinations[2], in[2], out[2], n, m, weighted, kind;
	MPI_Comm graph;
	for (int i = 0; i < 2; i++) {
		sources[i] = (rank + 2 * size - 1 - i) % size, destinations[i] = (rank + 1 + i) % size;
		in[i] = sources[i] + 10, out[i] = rank + 10;
	}
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, in, 2, destinations, out, MPI_INFO_NULL, 0, &graph);
	MPI_Topo_test(graph, &kind);
	CHECK(kind == MPI_DIST_GRAPH);
	MPI_Dist_graph_neighbors_count(graph, &n, &m, &weighted);
	CHECK(n == 2 && m == 2 && weighted);
	int s[2], sw[2], d[2], dw[2];
	MPI_Dist_graph_neighbors(graph, 2, s, sw, 2, d, dw);
	CHECK(s[0] == sources[0] && s[1] == sources[1] && sw[0] == in[0] && sw[1] == in[1]);
	CHECK(d[0] == destinations[0] && d[1] == destinations[1] && dw[0] == out[0] && dw[1] == out[1]);
	MPI_Comm_free(&graph);
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
	MPI_Dist_graph_neighbors_count(graph, &n, &m, &weighted);
	CHECK(n == 1 && m == 1 && !weighted);
	MPI_Dist_graph_neighbors(graph, 1, s, MPI_UNWEIGHTED, 1, d, MPI_UNWEIGHTED);
	CHECK(s[0] == sources[0] && d[0] == destinations[0]);
	MPI_Comm_free(&graph);
	/* The same graph, of which each rank names the edges of the next one. */
	int next = (rank + 1) % size, two = 2, to[2] = {(next + 1) % size, (next + 2) % size}, weights[2] = {next + 10, next + 10};
	MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &next, &two, to, weights, MPI_INFO_NULL, 0, &graph);
	MPI_Dist_graph_neighbors_count(graph, &n, &m, &weighted);
	CHECK(n == 2 && m == 2 && weighted);
	MPI_Dist_graph_neighbors(graph, 2, s, sw, 2, d, dw);
	qsort(s, 2, sizeof *s, compare), qsort(sw, 2, sizeof *sw, compare), qsort(d, 2, sizeof *d, compare);
	qsort(sources, 2, sizeof *s, compare), qsort(in, 2, sizeof *s, compare), qsort(destinations, 2, sizeof *s, compare);
	CHECK(s[0] == sources[0] && s[1] == sources[1] && sw[0] == in[0] && sw[1] == in[1]);
	CHECK(d[0] == destinations[0] && d[1] == destinations[1] && dw[0] == out[0] && dw[1] == out[1]);
	MPI_Comm copy;
	MPI_Comm_dup(graph, &copy);
	MPI_Dist_graph_neighbors_count(copy, &n, &m, &weighted);
	CHECK(n == 2 && m == 2 && weighted);
	MPI_Comm_free(&copy);
	MPI_Comm_free(&graph);
	/* Only rank 0 names edges: from all to itself. */
	int all[64], ones[64], zeros[64];
	for (int r = 0; r < size; r++)
		all[r] = r, ones[r] = 1, zeros[r] = 0;
	MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0 ? size : 0, all, ones, zeros, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
	MPI_Dist_graph_neighbors_count(graph, &n, &m, &weighted);
	CHECK(n == (rank == 0 ? size : 0) && m == 1 && !weighted);
	MPI_Comm_free(&graph);
}

static void errors(void) {
	MPI_Comm made, grid;
	int n, m, at[2] = {0, 0}, dims[2] = {size + 1, 1}, periods[2] = {0, 0}, two[2] = {0, 0};
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Cartdim_get(MPI_COMM_WORLD, &n), MPI_ERR_TOPOLOGY);
	CHECK_CLASS(MPI_Cart_rank(MPI_COMM_WORLD, at, &n), MPI_ERR_TOPOLOGY);
	CHECK_CLASS(MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &n, &m), MPI_ERR_TOPOLOGY);
	CHECK_CLASS(MPI_Cart_sub(MPI_COMM_WORLD, at, &made), MPI_ERR_TOPOLOGY);
	CHECK_CLASS(MPI_Graphdims_get(MPI_COMM_WORLD, &n, &m), MPI_ERR_TOPOLOGY);
	CHECK_CLASS(MPI_Graph_neighbors_count(MPI_COMM_WORLD, 0, &n), MPI_ERR_TOPOLOGY);
	CHECK_CLASS(MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &n, &m, at), MPI_ERR_TOPOLOGY);
	CHECK_CLASS(MPI_Cart_create(MPI_COMM_NULL, 2, dims, periods, 0, &made), MPI_ERR_COMM);
	EXPECT(class_of(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &made)) != MPI_SUCCESS);
	two[0] = 2;
	CHECK_CLASS(MPI_Dims_create(7, 2, two), MPI_ERR_DIMS);
	two[0] = -1;
	CHECK_CLASS(MPI_Dims_create(7, 2, two), MPI_ERR_DIMS);
	dims[0] = size;
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
	MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
	at[0] = size, at[1] = 0;
	EXPECT(class_of(MPI_Cart_rank(grid, at, &n)) != MPI_SUCCESS);
#ifdef GIGARANK /* a real MPI may not look */
	EXPECT(MPI_Cart_coords(grid, size, 2, at) == MPI_ERR_RANK);
	EXPECT(MPI_Cart_coords(grid, 0, 1, at) == MPI_ERR_DIMS);
	EXPECT(MPI_Cart_shift(grid, 2, 1, &n, &m) == MPI_ERR_DIMS);
#endif
	MPI_Comm_free(&grid);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	dimensions();
	grids();
	graphs();
	distributed();
	errors();
	return finish("topologies");
}
