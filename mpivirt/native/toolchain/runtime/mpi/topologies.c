/* Virtual topologies. The simulator has them, and answers inquiries at once. */
#include "mpi/arguments.h"
#include "mpi/comm_records.h"
#include "mpi/communicators.h"
#include "mpi/info.h"
#include "rank/ranks.h"

#include <stdlib.h>
#include <string.h>

/* joined returns the numbers of several lists in one list, NULL after an error. */
static int32_t *joined(int lists, const int *const list[], const int64_t lengths[], int64_t *all) {
	*all = 0;
	for (int i = 0; i < lists; i++)
		*all += lengths[i];
	int32_t *to = malloc(((size_t)*all + 1) * sizeof *to), *at = to;
	if (!to) {
		gigarank_refuse("", GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for %lld numbers of a topology", (long long)*all);
		return NULL;
	}
	for (int i = 0; i < lists; i++) {
		for (int64_t j = 0; j < lengths[i]; j++)
			*at++ = list[i][j];
	}
	return to;
}

/* ask makes a request of a topology. */
static int ask(const char *function, int request, struct gigarank_call *c) {
	CHECK(gigarank_active(function, GIGARANK_NONE));
	c->procedure = GIGARANK_TOPOLOGY, c->key = request, c->detail = function + 1;
	return gigarank_trap(c);
}

/* on finds a communicator with a topology of a kind. */
static int on(const char *function, MPI_Comm comm, int kind, struct gigarank_call *c) {
	CHECK(gigarank_find(function, GIGARANK_NONE, comm, c));
	struct gigarank_comm *noted = gigarank_note(c);
	if (!noted)
		return MPI_ERR_NO_MEM;
	c->topology = noted->topology;
	if (c->topology.kind == kind)
		return MPI_SUCCESS;
	static const char *const kinds[] = {"topology", "Cartesian grid", "graph", "distributed graph"};
	return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_TOPOLOGY, "the communicator has no %s", kinds[kind]);
}

/* make makes a communicator with a topology, from lists of numbers. */
static int make(int procedure, struct gigarank_call *c, int lists, const int *const list[], const int64_t lengths[], const struct gigarank_origin *from, MPI_Comm *made) {
	int32_t *all = joined(lists, list, lengths, &c->given);
	if (!all)
		return MPI_ERR_NO_MEM;
	c->procedure = procedure, c->input = all;
	gigarank_trap(c);
	free(all);
	return gigarank_take(c, from, made);
}

MPI(MPI_Topo_test, MPI_Comm comm, int *status) {
	GIVEN(status, "status", MPI_ERR_ARG);
	static const int kinds[] = {MPI_UNDEFINED, MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH};
	struct gigarank_call c = {0};
	CHECK(find(GIGARANK_NONE, comm, &c));
	struct gigarank_comm *noted = gigarank_note(&c);
	if (!noted)
		return MPI_ERR_NO_MEM;
	*status = kinds[noted->topology.kind];
	return MPI_SUCCESS;
}

/* --- grids --------------------------------------------------------------------------- */

MPI(MPI_Dims_create, int nodes, int n, int dims[]) {
	GIVEN(n <= 0 || dims, "dims", MPI_ERR_ARG);
	struct gigarank_call c = {.n = nodes, .input = dims, .given = n, .output = dims, .room = n};
	if (n < 0)
		return refuse(GIGARANK_NONE, MPI_ERR_DIMS, "%d dimensions", n);
	return ask(__func__, GIGARANK_DIMS, &c);
}

MPI(MPI_Cart_create, MPI_Comm comm, int n, const int dims[], const int periods[], int reorder, MPI_Comm *made) {
	GIVEN(n <= 0 || dims, "dims", MPI_ERR_ARG);
	GIVEN(n <= 0 || periods, "periods", MPI_ERR_ARG);
	GIVEN(made, "comm_cart", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	(void)reorder;
	CHECK(find(GIGARANK_CART_CREATE, comm, &c));
	if (n < 0)
		return refuse(GIGARANK_CART_CREATE, MPI_ERR_DIMS, "%d dimensions", n);
	c.n = n;
	return make(GIGARANK_CART_CREATE, &c, 2, (const int *const[]){dims, periods}, (const int64_t[]){n, n}, &(struct gigarank_origin){.parent = comm}, made);
}

MPI(MPI_Cart_sub, MPI_Comm comm, const int remain[], MPI_Comm *made) {
	GIVEN(made, "newcomm", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	CHECK(on(__func__, comm, GIGARANK_CART, &c));
	GIVEN(c.topology.nodes == 0 || remain, "remain_dims", MPI_ERR_ARG);
	return make(GIGARANK_CART_SUB, &c, 1, &remain, (const int64_t[]){c.topology.nodes}, &(struct gigarank_origin){.parent = comm}, made);
}

MPI(MPI_Cartdim_get, MPI_Comm comm, int *n) {
	GIVEN(n, "ndims", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	CHECK(on(__func__, comm, GIGARANK_CART, &c));
	*n = c.topology.nodes;
	return MPI_SUCCESS;
}

static int coordinates(const char *function, struct gigarank_call *c, int member, int room, int at[]) {
	if (room < c->topology.nodes)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_DIMS, "room for %d of %d coordinates", room, c->topology.nodes);
	c->n = member, c->output = at, c->room = c->topology.nodes;
	return ask(function, GIGARANK_GRID_COORDINATES, c);
}

MPI(MPI_Cart_get, MPI_Comm comm, int room, int dims[], int periods[], int at[]) {
	GIVEN(room <= 0 || dims, "dims", MPI_ERR_ARG);
	GIVEN(room <= 0 || periods, "periods", MPI_ERR_ARG);
	GIVEN(room <= 0 || at, "coords", MPI_ERR_ARG);
	struct gigarank_call c = {0}, d;
	CHECK(on(__func__, comm, GIGARANK_CART, &c));
	d = c;
	CHECK(coordinates(__func__, &d, c.member, room, at));
	size_t n = (size_t)c.topology.nodes;
	int32_t *both = malloc((2 * n + 1) * sizeof *both);
	if (!both)
		return refuse(GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for %zu dimensions", n);
	c.output = both, c.room = 2 * (int64_t)n;
	int error = ask(__func__, GIGARANK_GRID, &c);
	if (!error && n > 0)
		memcpy(dims, both, n * sizeof *dims), memcpy(periods, both + n, n * sizeof *periods);
	free(both);
	return error;
}

MPI(MPI_Cart_coords, MPI_Comm comm, int member, int room, int at[]) {
	GIVEN(room <= 0 || at, "coords", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	CHECK(on(__func__, comm, GIGARANK_CART, &c));
	return coordinates(__func__, &c, member, room, at);
}

MPI(MPI_Cart_rank, MPI_Comm comm, const int at[], int *member) {
	GIVEN(member, "rank", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	CHECK(on(__func__, comm, GIGARANK_CART, &c));
	GIVEN(c.topology.nodes == 0 || at, "coords", MPI_ERR_ARG);
	c.input = at, c.given = c.topology.nodes;
	CHECK(ask(__func__, GIGARANK_GRID_RANK, &c));
	*member = c.found;
	return MPI_SUCCESS;
}

static int neighbor(int32_t member) { return member == GIGARANK_PROC_NULL ? MPI_PROC_NULL : member; }

MPI(MPI_Cart_shift, MPI_Comm comm, int dimension, int by, int *source, int *destination) {
	GIVEN(source, "rank_source", MPI_ERR_ARG);
	GIVEN(destination, "rank_dest", MPI_ERR_ARG);
	int32_t in[2] = {dimension, by}, out[2];
	struct gigarank_call c = {0};
	CHECK(on(__func__, comm, GIGARANK_CART, &c));
	c.input = in, c.given = 2, c.output = out, c.room = 2;
	CHECK(ask(__func__, GIGARANK_GRID_SHIFT, &c));
	*source = neighbor(out[0]), *destination = neighbor(out[1]);
	return MPI_SUCCESS;
}

/* map stores the rank's place in a topology of the first members, which keep their numbers. */
static int map(const char *function, int request, MPI_Comm comm, int n, const int first[], const int second[], int64_t others, int *member) {
	struct gigarank_call c = {0};
	CHECK(gigarank_find(function, GIGARANK_NONE, comm, &c));
	if (n < 0)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_ARG, "%d dimensions or nodes", n);
	c.n = n;
	int32_t *all = joined(2, (const int *const[]){first, second}, (const int64_t[]){n, others}, &c.given);
	if (!all)
		return MPI_ERR_NO_MEM;
	c.input = all;
	int error = ask(function, request, &c);
	free(all);
	if (!error && c.found > c.size)
		error = gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_TOPOLOGY, "%d member%s of a topology in a communicator of %d rank%s", c.found, plural(c.found), c.size, plural(c.size));
	if (!error)
		*member = c.member < c.found ? c.member : MPI_UNDEFINED;
	return error;
}

MPI(MPI_Cart_map, MPI_Comm comm, int n, const int dims[], const int periods[], int *member) {
	GIVEN(n <= 0 || dims, "dims", MPI_ERR_ARG);
	GIVEN(n <= 0 || periods, "periods", MPI_ERR_ARG);
	GIVEN(member, "newrank", MPI_ERR_ARG);
	return map(__func__, GIGARANK_GRID_MEMBERS, comm, n, dims, periods, n, member);
}

/* --- graphs --------------------------------------------------------------------------- */

MPI(MPI_Graph_create, MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder, MPI_Comm *made) {
	GIVEN(nodes <= 0 || index, "index", MPI_ERR_ARG);
	GIVEN(nodes <= 0 || index[nodes - 1] <= 0 || edges, "edges", MPI_ERR_ARG);
	GIVEN(made, "comm_graph", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	(void)reorder;
	CHECK(find(GIGARANK_GRAPH_CREATE, comm, &c));
	if (nodes < 0)
		return refuse(GIGARANK_GRAPH_CREATE, MPI_ERR_TOPOLOGY, "%d nodes", nodes);
	c.n = nodes;
	int n = nodes ? index[nodes - 1] : 0;
	return make(GIGARANK_GRAPH_CREATE, &c, 2, (const int *const[]){index, edges}, (const int64_t[]){nodes, n < 0 ? 0 : n}, &(struct gigarank_origin){.parent = comm}, made);
}

MPI(MPI_Graph_map, MPI_Comm comm, int nodes, const int index[], const int edges[], int *member) {
	GIVEN(nodes <= 0 || index, "index", MPI_ERR_ARG);
	GIVEN(nodes <= 0 || index[nodes - 1] <= 0 || edges, "edges", MPI_ERR_ARG);
	GIVEN(member, "newrank", MPI_ERR_ARG);
	int n = nodes > 0 ? index[nodes - 1] : 0;
	return map(__func__, GIGARANK_GRAPH_MEMBERS, comm, nodes, index, edges, n < 0 ? 0 : n, member);
}

MPI(MPI_Graphdims_get, MPI_Comm comm, int *nodes, int *edges) {
	GIVEN(nodes, "nnodes", MPI_ERR_ARG);
	GIVEN(edges, "nedges", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	CHECK(on(__func__, comm, GIGARANK_GRAPH, &c));
	*nodes = c.topology.nodes, *edges = c.topology.edges;
	return MPI_SUCCESS;
}

MPI(MPI_Graph_get, MPI_Comm comm, int nodes, int room, int index[], int edges[]) {
	GIVEN(nodes <= 0 || index, "index", MPI_ERR_ARG);
	GIVEN(room <= 0 || edges, "edges", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	CHECK(on(__func__, comm, GIGARANK_GRAPH, &c));
	if (nodes < 0 || room < 0)
		return refuse(GIGARANK_NONE, MPI_ERR_ARG, "room for %d node%s and %d edge%s", nodes, plural(nodes), room, plural(room));
	size_t n = (size_t)c.topology.nodes, m = (size_t)c.topology.edges;
	int32_t *both = malloc((n + m + 1) * sizeof *both);
	if (!both)
		return refuse(GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for a graph");
	c.output = both, c.room = (int64_t)(n + m);
	int error = ask(__func__, GIGARANK_GRAPH_EDGES, &c);
	for (size_t i = 0; !error && i < n && i < (size_t)nodes; i++)
		index[i] = both[i];
	for (size_t i = 0; !error && i < m && i < (size_t)room; i++)
		edges[i] = both[n + i];
	free(both);
	return error;
}

MPI(MPI_Graph_neighbors_count, MPI_Comm comm, int member, int *n) {
	GIVEN(n, "nneighbors", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	CHECK(on(__func__, comm, GIGARANK_GRAPH, &c));
	c.n = member;
	CHECK(ask(__func__, GIGARANK_GRAPH_NEIGHBORS, &c));
	*n = c.outcount;
	return MPI_SUCCESS;
}

MPI(MPI_Graph_neighbors, MPI_Comm comm, int member, int room, int neighbors[]) {
	GIVEN(room <= 0 || neighbors, "neighbors", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	CHECK(on(__func__, comm, GIGARANK_GRAPH, &c));
	if (room < 0)
		return refuse(GIGARANK_NONE, MPI_ERR_ARG, "room for %d neighbour%s", room, plural(room));
	c.n = member, c.output = neighbors, c.room = room;
	return ask(__func__, GIGARANK_GRAPH_NEIGHBORS, &c);
}

/* --- distributed graphs ---------------------------------------------------------------- */

/* weights_in returns the length of a list of weights. MPI_WEIGHTS_EMPTY has no weights. */
static int64_t weights_in(const int *weights, int64_t n) { return weights == MPI_UNWEIGHTED || weights == MPI_WEIGHTS_EMPTY ? 0 : n; }

MPI(MPI_Dist_graph_create_adjacent, MPI_Comm comm, int indegree, const int sources[], const int sourceweights[], int outdegree, const int destinations[], const int destinationweights[], MPI_Info info, int reorder, MPI_Comm *made) {
	GIVEN(indegree <= 0 || sources, "sources", MPI_ERR_ARG);
	GIVEN(indegree <= 0 || sourceweights, "sourceweights", MPI_ERR_ARG);
	GIVEN(outdegree <= 0 || destinations, "destinations", MPI_ERR_ARG);
	GIVEN(outdegree <= 0 || destinationweights, "destweights", MPI_ERR_ARG);
	GIVEN(made, "comm_dist_graph", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	(void)reorder;
	CHECK(find(GIGARANK_DIST_GRAPH_CREATE_ADJACENT, comm, &c));
	CHECK(gigarank_check_hints(__func__, info));
	if (indegree < 0 || outdegree < 0)
		return refuse(c.procedure, MPI_ERR_ARG, "%d sources and %d destinations", indegree, outdegree);
	if ((sourceweights == MPI_UNWEIGHTED) != (destinationweights == MPI_UNWEIGHTED))
		return refuse(c.procedure, MPI_ERR_ARG, "MPI_UNWEIGHTED for the sources or the destinations only");
	if ((sourceweights == MPI_WEIGHTS_EMPTY && indegree) || (destinationweights == MPI_WEIGHTS_EMPTY && outdegree))
		return refuse(c.procedure, MPI_ERR_ARG, "MPI_WEIGHTS_EMPTY for neighbours that there are");
	c.topology = (struct gigarank_topology){.indegree = indegree, .outdegree = outdegree, .weighted = sourceweights != MPI_UNWEIGHTED};
	return make(c.procedure, &c, 4, (const int *const[]){sources, destinations, sourceweights, destinationweights},
		(const int64_t[]){indegree, outdegree, weights_in(sourceweights, indegree), weights_in(destinationweights, outdegree)},
		&(struct gigarank_origin){.parent = comm, .hints = info}, made);
}

/* edges are the edges that a rank names, with the numbers that it sends each member about them. */
struct edges {
	int n;
	int64_t all;
	const int *sources, *degrees, *destinations, *weights;
};

/* news is an edge under way to a member, with the member that has named it and its number among the edges of that member. */
struct news {
	int64_t to, by, number, edge[3];
};

#define NEWS_NUMBERS ((int)(sizeof(struct news) / sizeof(int64_t)))

/* named stores the edges that a rank names, once for each end. */
static int64_t named(const struct edges *e, int by, struct news *news) {
	int64_t at = 0, n = 0;
	for (int i = 0; i < e->n; i++)
		for (int j = 0; j < e->degrees[i]; j++, at++) {
			struct news one = {e->sources[i], by, at, {e->sources[i], e->destinations[at], weights_in(e->weights, 1) ? e->weights[at] : 1}};
			news[n++] = one;
			one.to = one.edge[1];
			if (one.to != one.edge[0])
				news[n++] = one;
		}
	return n;
}

/* hand_on sends the last of n edges, from kept on, to a member, and stores those that another member sends in their place. It
 * may move the edges. */
static int hand_on(struct news **news, int64_t kept, int64_t *n, int to, int from, MPI_Comm comm) {
	MPI_Request sent;
	MPI_Status status;
	int numbers = 0, error = PMPI_Isend(*news + kept, (int)(*n - kept) * NEWS_NUMBERS, MPI_INT64_T, to, 0, comm, &sent);
	if (error || (error = PMPI_Probe(from, 0, comm, &status)) || (error = PMPI_Get_count(&status, MPI_INT64_T, &numbers)))
		return error;
	struct news *all = malloc((size_t)(kept + numbers / NEWS_NUMBERS + 1) * sizeof *all);
	if (!all)
		return MPI_ERR_NO_MEM;
	memcpy(all, *news, (size_t)kept * sizeof *all);
	if (!(error = PMPI_Recv(all + kept, numbers, MPI_INT64_T, from, 0, comm, MPI_STATUS_IGNORE)))
		error = PMPI_Wait(&sent, MPI_STATUS_IGNORE);
	free(*news);
	*news = all, *n = kept + numbers / NEWS_NUMBERS;
	return error;
}

static int by_names(const void *left, const void *right) {
	const struct news *a = left, *b = right;
	if (a->by != b->by)
		return a->by < b->by ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* parted moves the edges that are to go on by an odd multiple of a distance behind the others, and returns how many stay. */
static int64_t parted(struct news *news, int64_t n, int64_t distance, int rank, int size) {
	int64_t kept = 0;
	for (int64_t i = 0; i < n; i++)
		if (((news[i].to - rank + size) % size & distance) == 0) {
			struct news one = news[i];
			news[i] = news[kept], news[kept++] = one;
		}
	return kept;
}

/* spread sends each edge to both of its ends, in rounds of the distances 1, 2, 4, ... (Bruck et al., 1997), so that no rank
 * has a list or a message for each other rank. It stores the edges at the rank, which the caller frees. */
static int spread(const struct edges *e, struct gigarank_call *c, MPI_Comm comm, int64_t **told, int64_t *n) {
	int size = (int)c->size, rank, error = PMPI_Comm_rank(comm, &rank);
	struct news *news = malloc((size_t)(2 * e->all + 1) * sizeof *news);
	int64_t held = 0;
	*told = NULL, *n = 0;
	if (!error && !news)
		error = MPI_ERR_NO_MEM;
	if (!error)
		held = named(e, rank, news);
	for (int64_t distance = 1; !error && distance < size; distance *= 2)
		error = hand_on(&news, parted(news, held, distance, rank, size), &held, (int)((rank + distance) % size), (int)((rank - distance + size) % size), comm);
	if (!error && !(*told = malloc((size_t)(3 * held + 1) * sizeof **told)))
		error = MPI_ERR_NO_MEM;
	if (!error) {
		qsort(news, (size_t)held, sizeof *news, by_names);
		for (int64_t i = 0; i < held; i++, *n += 3)
			memcpy(*told + *n, news[i].edge, sizeof news[i].edge);
	} else if (error == MPI_ERR_NO_MEM)
		gigarank_refuse("", GIGARANK_DIST_GRAPH_CREATE_ADJACENT, error, "no memory for %lld edges", (long long)held);
	free(news);
	return error;
}

MPI(MPI_Dist_graph_create, MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[], const int weights[], MPI_Info info, int reorder, MPI_Comm *made) {
	GIVEN(n <= 0 || sources, "sources", MPI_ERR_ARG);
	GIVEN(n <= 0 || degrees, "degrees", MPI_ERR_ARG);
	int leaves = 0;
	for (int i = 0; i < n; i++)
		leaves |= degrees[i] > 0;
	GIVEN(!leaves || destinations, "destinations", MPI_ERR_ARG);
	GIVEN(made, "comm_dist_graph", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	struct edges e = {n, 0, sources, degrees, destinations, weights};
	(void)reorder;
	*made = MPI_COMM_NULL;
	CHECK(find(GIGARANK_NONE, comm, &c));
	CHECK(gigarank_check_hints(__func__, info));
	if (c.remote)
		return refuse(GIGARANK_NONE, MPI_ERR_COMM, "called on an intercommunicator");
	if (n < 0)
		return refuse(GIGARANK_NONE, MPI_ERR_ARG, "%d sources", n);
	for (int i = 0; i < n; i++)
		e.all += degrees[i] > 0 ? degrees[i] : 0;
	c.topology.weighted = weights_in(weights, 1) != 0, c.n = n, c.outcount = (int32_t)e.all;
	int32_t *numbers = joined(4, (const int *const[]){sources, degrees, destinations, weights}, (const int64_t[]){n, n, e.all, weights_in(weights, e.all)}, &c.given);
	if (!numbers)
		return MPI_ERR_NO_MEM;
	c.input = numbers;
	int error = ask(__func__, GIGARANK_EDGES, &c);
	free(numbers);
	CHECK(error);
	MPI_Comm copy;
	int64_t *told, length;
	gigarank_variant();
	CHECK(gigarank_duplicate(__func__, comm, &(struct gigarank_origin){.parent = comm, .hints = info}, &copy));
	CHECK(find(GIGARANK_NONE, copy, &c));
	error = spread(&e, &c, copy, &told, &length);
	if (!error) {
		int32_t *narrow = (int32_t *)told; /* in place: each is read before it is written over */
		for (int64_t i = 0; i < length; i++)
			narrow[i] = (int32_t)told[i];
		c.topology = (struct gigarank_topology){.weighted = weights != MPI_UNWEIGHTED};
		c.input = narrow, c.given = length;
		error = ask(__func__, GIGARANK_SET_NEIGHBORS, &c);
	}
	free(told);
	CHECK(error);
	((struct gigarank_comm *)copy)->topology = c.topology;
	*made = copy;
	return MPI_SUCCESS;
}

MPI(MPI_Dist_graph_neighbors_count, MPI_Comm comm, int *indegree, int *outdegree, int *weighted) {
	GIVEN(indegree, "indegree", MPI_ERR_ARG);
	GIVEN(outdegree, "outdegree", MPI_ERR_ARG);
	GIVEN(weighted, "weighted", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	CHECK(on(__func__, comm, GIGARANK_DIST_GRAPH, &c));
	*indegree = c.topology.indegree, *outdegree = c.topology.outdegree, *weighted = c.topology.weighted;
	return MPI_SUCCESS;
}

MPI(MPI_Dist_graph_neighbors, MPI_Comm comm, int maxin, int sources[], int sourceweights[], int maxout, int destinations[], int destinationweights[]) {
	GIVEN(maxin <= 0 || sources, "sources", MPI_ERR_ARG);
	GIVEN(maxout <= 0 || destinations, "destinations", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	CHECK(on(__func__, comm, GIGARANK_DIST_GRAPH, &c));
	size_t in = (size_t)c.topology.indegree, out = (size_t)c.topology.outdegree, weights = c.topology.weighted ? 2 : 1;
	if (maxin < 0 || maxout < 0)
		return refuse(GIGARANK_NONE, MPI_ERR_ARG, "room for %d sources and %d destinations", maxin, maxout);
	int32_t *all = malloc((weights * (in + out) + 1) * sizeof *all);
	if (!all)
		return refuse(GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for %zu neighbours", in + out);
	c.output = all, c.room = (int64_t)(weights * (in + out));
	int error = ask(__func__, GIGARANK_NEIGHBORS, &c);
	const int32_t *to = all + weights * in;
	for (size_t i = 0; !error && i < in && i < (size_t)maxin; i++) {
		sources[i] = all[i];
		if (weights == 2 && weights_in(sourceweights, 1))
			sourceweights[i] = all[in + i];
	}
	for (size_t i = 0; !error && i < out && i < (size_t)maxout; i++) {
		destinations[i] = to[i];
		if (weights == 2 && weights_in(destinationweights, 1))
			destinationweights[i] = to[out + i];
	}
	free(all);
	return error;
}
