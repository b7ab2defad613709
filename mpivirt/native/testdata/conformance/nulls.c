/* Null pointers for arguments that must have a value: each is an error of the class that the real MPI
 * gives it. */
#include "check.h"

static int x, y, z, ones[4] = {1, 1, 1, 1}, zeros[4];
static MPI_Aint at;
static char buffer[256];
static void *pointer;
static int *volatile none; /* compilers do not see that it is null */

static void listen(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }
static void combine(void *in, void *inout, int *n, MPI_Datatype *t) { (void)in, (void)inout, (void)n, (void)t; }
static int query(void *extra, MPI_Status *status) { return (void)extra, (void)status, MPI_SUCCESS; }
static int release(void *extra) { return (void)extra, MPI_SUCCESS; }
static int stop(void *extra, int complete) { return (void)extra, (void)complete, MPI_SUCCESS; }

static void environment(void) {
	MPI_Errhandler handler;
	MPI_Group group;
	MPI_Request request;
	MPI_Datatype type;
	MPI_Type_contiguous(2, MPI_INT, &type);
	MPI_Comm_group(MPI_COMM_SELF, &group);
	CHECK_CLASS(MPI_Initialized(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Finalized(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Query_thread(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Get_version(NULL, &x), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Get_version(&x, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Get_library_version(NULL, &x), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Get_library_version(buffer, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Get_processor_name(NULL, &x), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Get_processor_name(buffer, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Alloc_mem(8, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Get_address(&x, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_get_errhandler(MPI_COMM_SELF, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Errhandler_free(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_create_errhandler(NULL, &handler), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_create_errhandler(listen, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Add_error_class(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Add_error_code(MPI_ERR_OTHER, NULL), MPI_ERR_ARG);
#ifdef GIGARANK /* a real MPI may read it */
	CHECK_CLASS(MPI_Add_error_string(MPI_ERR_LASTCODE + 1, NULL), MPI_ERR_ARG);
#else
	CHECK(1);
#endif
	CHECK_CLASS(MPI_Comm_rank(MPI_COMM_SELF, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_size(MPI_COMM_SELF, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_dup(MPI_COMM_SELF, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_split(MPI_COMM_SELF, 0, 0, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_compare(MPI_COMM_SELF, MPI_COMM_SELF, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_test_inter(MPI_COMM_SELF, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_dup_with_info(MPI_COMM_SELF, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_idup(MPI_COMM_SELF, NULL, &request), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_create(MPI_COMM_SELF, group, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_create_group(MPI_COMM_SELF, group, 0, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_split_type(MPI_COMM_SELF, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_group(MPI_COMM_SELF, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_set_name(MPI_COMM_SELF, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_get_name(MPI_COMM_SELF, NULL, &x), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_get_name(MPI_COMM_SELF, buffer, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_get_parent(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_get_attr(MPI_COMM_SELF, MPI_TAG_UB, NULL, &x), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_get_attr(MPI_COMM_SELF, MPI_TAG_UB, &pointer, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, NULL, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_free_keyval(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, NULL, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_free_keyval(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_get_attr(type, MPI_TAG_UB, NULL, &x), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_remote_size(MPI_COMM_SELF, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_remote_group(MPI_COMM_SELF, NULL), MPI_ERR_ARG);
	MPI_Type_free(&type);
	MPI_Group_free(&group);
}

static void groups(void) {
	MPI_Group group, part;
	MPI_Comm_group(MPI_COMM_SELF, &group);
	CHECK_CLASS(MPI_Group_size(group, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Group_rank(group, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Group_compare(group, group, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Group_translate_ranks(group, 1, NULL, group, &x), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_translate_ranks(group, 1, zeros, group, NULL), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_union(group, group, NULL), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_intersection(group, group, NULL), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_difference(group, group, NULL), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_incl(group, 1, zeros, NULL), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_incl(group, 1, NULL, &part), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Group_excl(group, 1, zeros, NULL), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_excl(group, 1, NULL, &part), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Group_free(NULL), MPI_ERR_GROUP);
	MPI_Group_free(&group);
}

static void infos(void) {
	MPI_Info info;
	MPI_Info_create(&info);
	CHECK_CLASS(MPI_Info_create(NULL), MPI_ERR_INFO);
	CHECK_CLASS(MPI_Info_dup(info, NULL), MPI_ERR_INFO);
	CHECK_CLASS(MPI_Info_free(NULL), MPI_ERR_INFO);
	CHECK_CLASS(MPI_Info_set(info, NULL, "a"), MPI_ERR_INFO_KEY);
	CHECK_CLASS(MPI_Info_set(info, "a", NULL), MPI_ERR_INFO_VALUE);
	CHECK_CLASS(MPI_Info_delete(info, NULL), MPI_ERR_INFO_KEY);
	CHECK_CLASS(MPI_Info_get(info, NULL, 10, buffer, &x), MPI_ERR_INFO_KEY);
	CHECK_CLASS(MPI_Info_get(info, "a", 10, NULL, &x), MPI_ERR_INFO_VALUE);
	CHECK_CLASS(MPI_Info_get(info, "a", 10, buffer, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Info_get_valuelen(info, NULL, &x, &y), MPI_ERR_INFO_KEY);
	CHECK_CLASS(MPI_Info_get_valuelen(info, "a", NULL, &y), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Info_get_valuelen(info, "a", &x, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Info_get_nkeys(info, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Info_get_nthkey(info, 0, NULL), MPI_ERR_INFO_KEY);
	CHECK_CLASS(MPI_Comm_get_info(MPI_COMM_SELF, NULL), MPI_ERR_INFO);
	MPI_Info_free(&info);
}

static void topologies(void) {
	int *volatile unweighted = MPI_UNWEIGHTED; /* nor that it is no address */
	MPI_Comm comm, cart, graph, dist;
	int index[1] = {1}, edges[1] = {0};
	MPI_Cart_create(MPI_COMM_SELF, 1, ones, zeros, 0, &cart);
	MPI_Graph_create(MPI_COMM_SELF, 1, index, edges, 0, &graph);
	MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, zeros, unweighted, 1, zeros, unweighted, MPI_INFO_NULL, 0, &dist);
	CHECK_CLASS(MPI_Topo_test(MPI_COMM_SELF, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Dims_create(4, 2, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Cart_create(MPI_COMM_SELF, 1, NULL, zeros, 0, &comm), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Cart_create(MPI_COMM_SELF, 1, ones, NULL, 0, &comm), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Cart_create(MPI_COMM_SELF, 1, ones, zeros, 0, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Cartdim_get(cart, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Cart_get(cart, 1, NULL, &x, &y), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Cart_get(cart, 1, &x, NULL, &y), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Cart_get(cart, 1, &x, &y, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Cart_rank(cart, NULL, &x), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Cart_rank(cart, zeros, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Cart_coords(cart, 0, 1, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Cart_shift(cart, 0, 1, NULL, &x), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Cart_shift(cart, 0, 1, &x, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Cart_map(MPI_COMM_SELF, 1, NULL, zeros, &x), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Cart_map(MPI_COMM_SELF, 1, ones, NULL, &x), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Cart_map(MPI_COMM_SELF, 1, ones, zeros, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Graph_create(MPI_COMM_SELF, 1, NULL, edges, 0, &comm), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Graph_create(MPI_COMM_SELF, 1, index, NULL, 0, &comm), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Graphdims_get(graph, NULL, &x), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Graphdims_get(graph, &x, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Graph_get(graph, 1, 1, NULL, &x), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Graph_get(graph, 1, 1, &x, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Graph_neighbors_count(graph, 0, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Graph_neighbors(graph, 0, 1, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Graph_map(MPI_COMM_SELF, 1, NULL, edges, &x), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Graph_map(MPI_COMM_SELF, 1, index, NULL, &x), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Graph_map(MPI_COMM_SELF, 1, index, edges, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, none, unweighted, 1, zeros, unweighted, MPI_INFO_NULL, 0, &comm), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, zeros, none, 1, zeros, ones, MPI_INFO_NULL, 0, &comm), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, zeros, unweighted, 1, none, unweighted, MPI_INFO_NULL, 0, &comm), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, zeros, unweighted, 1, zeros, unweighted, MPI_INFO_NULL, 0, (MPI_Comm *)none), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Dist_graph_create(MPI_COMM_SELF, 1, none, ones, zeros, unweighted, MPI_INFO_NULL, 0, &comm), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Dist_graph_create(MPI_COMM_SELF, 1, zeros, none, zeros, unweighted, MPI_INFO_NULL, 0, &comm), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Dist_graph_create(MPI_COMM_SELF, 1, zeros, ones, none, unweighted, MPI_INFO_NULL, 0, &comm), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Dist_graph_create(MPI_COMM_SELF, 1, zeros, ones, zeros, unweighted, MPI_INFO_NULL, 0, (MPI_Comm *)none), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Dist_graph_neighbors_count(dist, none, &x, &y), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Dist_graph_neighbors_count(dist, &x, none, &y), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Dist_graph_neighbors_count(dist, &x, &y, none), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Dist_graph_neighbors(dist, 1, none, unweighted, 1, &x, unweighted), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Dist_graph_neighbors(dist, 1, &x, unweighted, 1, none, unweighted), MPI_ERR_ARG);
	MPI_Comm_free(&cart);
	MPI_Comm_free(&graph);
	MPI_Comm_free(&dist);
}

static void messages(void) {
	MPI_Request request = MPI_REQUEST_NULL, requests[1] = {MPI_REQUEST_NULL};
	MPI_Status status = {0};
	CHECK_CLASS(MPI_Isend(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, NULL), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Issend(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, NULL), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Ibsend(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, NULL), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Irsend(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, NULL), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Irecv(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, NULL), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Send_init(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, NULL), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Ssend_init(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, NULL), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Bsend_init(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, NULL), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Rsend_init(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, NULL), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Recv_init(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, NULL), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_SELF, NULL, &status), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Improbe(MPI_PROC_NULL, 0, MPI_COMM_SELF, &x, NULL, &status), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Get_elements(NULL, MPI_INT, &x), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Get_elements(&status, MPI_INT, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Get_elements_x(&status, MPI_INT, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Buffer_attach(NULL, 8), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Buffer_detach(NULL, &x), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Buffer_detach(&pointer, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Start(NULL), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Startall(1, NULL), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Request_free(NULL), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Cancel(NULL), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Grequest_start(query, release, stop, NULL, NULL), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Status_set_cancelled(NULL, 0), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Test_cancelled(NULL, &x), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Test_cancelled(&status, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Request_get_status(MPI_REQUEST_NULL, NULL, &status), MPI_ERR_ARG);
#ifdef GIGARANK
	EXPECT_CLASS(MPI_Request_get_status_all(1, NULL, &x, &status), MPI_ERR_REQUEST);
	EXPECT_CLASS(MPI_Request_get_status_all(1, requests, NULL, &status), MPI_ERR_ARG);
	EXPECT_CLASS(MPI_Request_get_status_any(1, NULL, &x, &y, &status), MPI_ERR_REQUEST);
	EXPECT_CLASS(MPI_Request_get_status_any(1, requests, NULL, &y, &status), MPI_ERR_ARG);
	EXPECT_CLASS(MPI_Request_get_status_any(1, requests, &x, NULL, &status), MPI_ERR_ARG);
	EXPECT_CLASS(MPI_Request_get_status_some(1, NULL, &x, &y, &status), MPI_ERR_REQUEST);
	EXPECT_CLASS(MPI_Request_get_status_some(1, requests, NULL, &y, &status), MPI_ERR_ARG);
	EXPECT_CLASS(MPI_Request_get_status_some(1, requests, &x, NULL, &status), MPI_ERR_ARG);
	EXPECT_CLASS(MPI_Status_set_elements(NULL, MPI_INT, 1), MPI_ERR_ARG);
	EXPECT_CLASS(MPI_Status_set_elements_x(NULL, MPI_INT, 1), MPI_ERR_ARG);
	EXPECT_CLASS(MPI_Status_set_elements_c(NULL, MPI_INT, 1), MPI_ERR_ARG);
	MPI_Count large;
	EXPECT_CLASS(MPI_Get_elements_c(NULL, MPI_INT, &large), MPI_ERR_ARG);
	EXPECT_CLASS(MPI_Get_elements_c(&status, MPI_INT, NULL), MPI_ERR_ARG);
#endif
	CHECK_CLASS(MPI_Wait(NULL, &status), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Waitall(1, NULL, &status), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Waitany(1, NULL, &x, &status), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Waitany(1, requests, NULL, &status), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Waitsome(1, NULL, &x, &y, &status), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Waitsome(1, requests, NULL, &y, &status), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Waitsome(1, requests, &x, NULL, &status), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Test(NULL, &x, &status), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Test(&request, NULL, &status), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Testall(1, NULL, &x, &status), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Testall(1, requests, NULL, &status), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Testany(1, NULL, &x, &y, &status), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Testany(1, requests, NULL, &y, &status), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Testany(1, requests, &x, NULL, &status), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Testsome(1, NULL, &x, &y, &status), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Testsome(1, requests, NULL, &y, &status), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Testsome(1, requests, &x, NULL, &status), MPI_ERR_ARG);
}

static void collectives(void) {
	MPI_Datatype type = MPI_INT;
	MPI_Op operation;
	CHECK_CLASS(MPI_Gatherv(&x, 1, MPI_INT, &y, NULL, zeros, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Scatterv(&x, NULL, zeros, MPI_INT, &y, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Alltoallv(&x, NULL, zeros, MPI_INT, &y, ones, zeros, MPI_INT, MPI_COMM_SELF), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Alltoallv(&x, ones, zeros, MPI_INT, &y, NULL, zeros, MPI_INT, MPI_COMM_SELF), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Alltoallw(&x, ones, zeros, NULL, &y, ones, zeros, &type, MPI_COMM_SELF), MPI_ERR_ARG);
	MPI_Request request;
	CHECK_CLASS(MPI_Alltoallw(&x, ones, NULL, &type, &y, ones, zeros, &type, MPI_COMM_SELF), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Alltoallw(&x, ones, zeros, &type, &y, ones, NULL, &type, MPI_COMM_SELF), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Ialltoallw(&x, NULL, zeros, &type, &y, ones, zeros, &type, MPI_COMM_SELF, &request), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Ialltoallw(&x, ones, NULL, &type, &y, ones, zeros, &type, MPI_COMM_SELF, &request), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Ialltoallw(&x, ones, zeros, &type, &y, ones, zeros, NULL, MPI_COMM_SELF, &request), MPI_ERR_ARG);
	EXPECT_CLASS(MPI_Ialltoallw(&x, ones, zeros, &type, &y, ones, zeros, &type, MPI_COMM_SELF, NULL), MPI_ERR_REQUEST);
	EXPECT_CLASS(MPI_Ibarrier(MPI_COMM_SELF, NULL), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Reduce_scatter(&x, &y, NULL, MPI_INT, MPI_SUM, MPI_COMM_SELF), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Op_create(NULL, 1, &operation), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Op_create(combine, 1, NULL), MPI_ERR_OP);
	CHECK_CLASS(MPI_Op_free(NULL), MPI_ERR_OP);
	CHECK_CLASS(MPI_Op_commutative(MPI_SUM, NULL), MPI_ERR_ARG);
	int commutes = 0;
	CHECK_CLASS(MPI_Op_commutative(MPI_OP_NULL, &commutes), MPI_ERR_OP);
	CHECK(MPI_Op_commutative(MPI_REPLACE, &commutes) == MPI_SUCCESS && commutes);
}

static void neighbors(void) {
	int *volatile unweighted = MPI_UNWEIGHTED; /* compilers do not see that it is no address */
	MPI_Datatype type = MPI_INT;
	MPI_Request request;
	MPI_Comm to_self, alone;
	MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, zeros, unweighted, 1, zeros, unweighted, MPI_INFO_NULL, 0, &to_self);
	MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 0, zeros, unweighted, 0, zeros, unweighted, MPI_INFO_NULL, 0, &alone);
	MPI_Comm_set_errhandler(to_self, MPI_ERRORS_RETURN);
	EXPECT_CLASS(MPI_Neighbor_allgatherv(&x, 1, MPI_INT, &y, NULL, zeros, MPI_INT, to_self), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Neighbor_allgatherv(&x, 1, MPI_INT, &y, ones, NULL, MPI_INT, to_self), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Neighbor_alltoallv(&x, NULL, zeros, MPI_INT, &y, ones, zeros, MPI_INT, to_self), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Neighbor_alltoallv(&x, ones, NULL, MPI_INT, &y, ones, zeros, MPI_INT, to_self), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Neighbor_alltoallv(&x, ones, zeros, MPI_INT, &y, NULL, zeros, MPI_INT, to_self), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Neighbor_alltoallv(&x, ones, zeros, MPI_INT, &y, ones, NULL, MPI_INT, to_self), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Neighbor_alltoallw(&x, NULL, &at, &type, &y, ones, &at, &type, to_self), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Neighbor_alltoallw(&x, ones, NULL, &type, &y, ones, &at, &type, to_self), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Neighbor_alltoallw(&x, ones, &at, NULL, &y, ones, &at, &type, to_self), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Neighbor_alltoallw(&x, ones, &at, &type, &y, NULL, &at, &type, to_self), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Neighbor_alltoallw(&x, ones, &at, &type, &y, ones, NULL, &type, to_self), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Neighbor_alltoallw(&x, ones, &at, &type, &y, ones, &at, NULL, to_self), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Ineighbor_alltoallw(&x, ones, NULL, &type, &y, ones, &at, &type, to_self, &request), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Ineighbor_alltoallw(&x, ones, &at, &type, &y, ones, &at, NULL, to_self, &request), MPI_ERR_ARG);
	EXPECT_CLASS(MPI_Ineighbor_allgather(&x, 1, MPI_INT, &y, 1, MPI_INT, to_self, NULL), MPI_ERR_REQUEST);
	EXPECT_CLASS(MPI_Ineighbor_alltoallw(&x, ones, &at, &type, &y, ones, &at, &type, to_self, NULL), MPI_ERR_REQUEST);
#ifdef GIGARANK
	EXPECT_CLASS(MPI_Neighbor_alltoallw_init(&x, ones, NULL, &type, &y, ones, &at, &type, to_self, MPI_INFO_NULL, &request), MPI_ERR_ARG);
	EXPECT_CLASS(MPI_Neighbor_alltoallw_init(&x, ones, &at, NULL, &y, ones, &at, &type, to_self, MPI_INFO_NULL, &request), MPI_ERR_ARG);
	EXPECT_CLASS(MPI_Neighbor_alltoallw_init(&x, ones, &at, &type, &y, ones, &at, &type, to_self, MPI_INFO_NULL, NULL), MPI_ERR_REQUEST);
#endif
	/* A rank without neighbours needs no lists. */
	CHECK(MPI_Neighbor_alltoallw(&x, NULL, NULL, NULL, &y, NULL, NULL, NULL, alone) == MPI_SUCCESS);
	CHECK(MPI_Neighbor_alltoallv(&x, NULL, NULL, MPI_INT, &y, NULL, NULL, MPI_INT, alone) == MPI_SUCCESS);
	MPI_Comm_free(&to_self);
	MPI_Comm_free(&alone);
}

static void types(void) {
	MPI_Datatype type = MPI_INT;
	CHECK_CLASS(MPI_Type_contiguous(2, MPI_INT, NULL), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_vector(2, 1, 2, MPI_INT, NULL), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_create_hvector(2, 1, 8, MPI_INT, NULL), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_indexed(1, NULL, zeros, MPI_INT, &type), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_indexed(1, ones, NULL, MPI_INT, &type), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_indexed(1, ones, zeros, MPI_INT, NULL), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_create_hindexed(1, NULL, &at, MPI_INT, &type), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_create_hindexed(1, ones, NULL, MPI_INT, &type), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_create_hindexed(1, ones, &at, MPI_INT, NULL), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_create_indexed_block(1, 1, NULL, MPI_INT, &type), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_create_indexed_block(1, 1, zeros, MPI_INT, NULL), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_create_hindexed_block(1, 1, NULL, MPI_INT, &type), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_create_hindexed_block(1, 1, &at, MPI_INT, NULL), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_create_struct(1, NULL, &at, &type, &type), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_create_struct(1, ones, NULL, &type, &type), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_create_struct(1, ones, &at, NULL, &type), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_create_struct(1, ones, &at, &type, NULL), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_create_resized(MPI_INT, 0, 8, NULL), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_create_subarray(1, NULL, ones, zeros, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_create_subarray(1, ones, NULL, zeros, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_create_subarray(1, ones, ones, NULL, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_create_subarray(1, ones, ones, zeros, MPI_ORDER_C, MPI_INT, NULL), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_create_darray(1, 0, 1, NULL, ones, ones, ones, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_dup(MPI_INT, NULL), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_commit(NULL), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_free(NULL), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_size(MPI_INT, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_size_x(MPI_INT, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_get_extent(MPI_INT, NULL, &at), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_get_extent(MPI_INT, &at, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_get_true_extent(MPI_INT, NULL, &at), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_get_true_extent(MPI_INT, &at, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_get_envelope(MPI_INT, NULL, &x, &y, &z), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_get_envelope(MPI_INT, &x, NULL, &y, &z), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_get_envelope(MPI_INT, &x, &y, NULL, &z), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_get_envelope(MPI_INT, &x, &y, &z, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_set_name(MPI_INT, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_get_name(MPI_INT, NULL, &x), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_get_name(MPI_INT, buffer, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Pack(NULL, 1, MPI_INT, buffer, 256, &z, MPI_COMM_SELF), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Pack(&x, 1, MPI_INT, NULL, 256, &z, MPI_COMM_SELF), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Pack(&x, 1, MPI_INT, buffer, 256, NULL, MPI_COMM_SELF), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Unpack(NULL, 256, &z, &x, 1, MPI_INT, MPI_COMM_SELF), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Unpack(buffer, 256, NULL, &x, 1, MPI_INT, MPI_COMM_SELF), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Unpack(buffer, 256, &z, NULL, 1, MPI_INT, MPI_COMM_SELF), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Pack_size(1, MPI_INT, MPI_COMM_SELF, NULL), MPI_ERR_ARG);
	MPI_Aint position = 0;
	CHECK_CLASS(MPI_Pack_external("external32", NULL, 1, MPI_INT, buffer, 256, &position), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Pack_external("external32", &x, 1, MPI_INT, NULL, 256, &position), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Pack_external("external32", &x, 1, MPI_INT, buffer, 256, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Unpack_external("external32", NULL, 256, &position, &x, 1, MPI_INT), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Unpack_external("external32", buffer, 256, NULL, &x, 1, MPI_INT), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Unpack_external("external32", buffer, 256, &position, NULL, 1, MPI_INT), MPI_ERR_BUFFER);
	EXPECT_CLASS(MPI_Unpack_external(NULL, buffer, 256, &position, &x, 1, MPI_INT), MPI_ERR_ARG);
	EXPECT_CLASS(MPI_Type_match_size(MPI_TYPECLASS_REAL, 4, NULL), MPI_ERR_ARG);
	EXPECT_CLASS(MPI_Type_get_value_index(MPI_FLOAT, MPI_INT, NULL), MPI_ERR_ARG);
	EXPECT_CLASS(MPI_Type_create_f90_real(6, 30, NULL), MPI_ERR_ARG);
	EXPECT_CLASS(MPI_Type_create_f90_complex(6, 30, NULL), MPI_ERR_ARG);
	EXPECT_CLASS(MPI_Type_create_f90_integer(6, NULL), MPI_ERR_ARG);
	int key, flag;
	MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
	CHECK_CLASS(MPI_Type_get_attr(MPI_INT, key, NULL, &flag), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_get_attr(MPI_INT, key, &pointer, NULL), MPI_ERR_ARG);
	MPI_Type_free_keyval(&key);
	CHECK_CLASS(MPI_Pack_external_size("external32", 1, MPI_INT, NULL), MPI_ERR_ARG);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	environment();
	groups();
	infos();
	topologies();
	messages();
	collectives();
	neighbors();
	types();
	return finish("nulls");
}
