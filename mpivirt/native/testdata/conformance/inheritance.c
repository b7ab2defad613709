/* What a communicator gets of the one that it is made of, for all functions that make communicators. MPI 4.1: the
 * error handler (9.3), of an intercommunicator that of local_comm; attributes by duplicates alone (7.7.2); no hints but those
 * that the call gives (7.4.4); no name (7.8). */
#include "check.h"

/* The handler, an attribute, a hint and the name of the communicators that others are made of. */
static MPI_Errhandler handler;
static int heard, key, copies;
static MPI_Info mine;

static void hear(MPI_Comm *comm, int *code, ...) { heard += *comm != MPI_COMM_NULL && class_of(*code) == MPI_ERR_RANK; }

static int copy(MPI_Comm comm, int k, void *extra, void *in, void *out, int *flag) {
	copies++;
	*(void **)out = in, *flag = 1;
	return MPI_SUCCESS;
}

static void mark(MPI_Comm comm) {
	MPI_Info theirs;
	MPI_Info_create(&theirs);
	MPI_Info_set(theirs, "mpi_assert_no_any_tag", "true");
	MPI_Comm_set_info(comm, theirs);
	MPI_Info_free(&theirs);
	MPI_Comm_set_errhandler(comm, handler);
	MPI_Comm_set_attr(comm, key, &key);
	MPI_Comm_set_name(comm, "parent");
}

/* has returns whether the value of a hint of a communicator is "true". */
static int has(MPI_Comm comm, const char *hint) {
	char value[8] = "";
	int flag;
	MPI_Info info;
	MPI_Comm_get_info(comm, &info);
	MPI_Info_get(info, hint, 7, value, &flag);
	MPI_Info_free(&info);
	return flag && strcmp(value, "true") == 0;
}

enum { DUPLICATE = 1, HINTS = 2, GIVEN = 4 /* the handler is that of the call: MPI_ERRORS_RETURN */ };

/* Open MPI 4.1 does not keep the hints that MPI_Dist_graph_create is given. It calls copy functions in
 * MPI_Comm_create_group and for intercommunicators, too. */
#ifdef GIGARANK
enum { KEPT = HINTS, COPIES_TOO = 0 };
#else
enum { KEPT = 0, COPIES_TOO = 8 };
#endif

/* check checks what a communicator has, and frees it. */
static void check(const char *function, MPI_Comm made, int what) {
	int failed = failures, flag, length, before = heard, x = 0;
	char name[MPI_MAX_OBJECT_NAME] = "none";
	void *value;
	MPI_Errhandler got;
	CHECK(made != MPI_COMM_NULL);
	if (made == MPI_COMM_NULL)
		return;
	MPI_Comm_get_errhandler(made, &got);
	CHECK(got == (what & GIVEN ? MPI_ERRORS_RETURN : handler));
	MPI_Errhandler_free(&got);
	CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, 9999, 0, made), MPI_ERR_RANK);
	CHECK(heard == before + !(what & GIVEN));
	MPI_Comm_get_attr(made, key, &value, &flag);
	CHECK(what & COPIES_TOO || (flag == !!(what & DUPLICATE) && copies == flag));
	copies = 0;
	MPI_Comm_get_name(made, name, &length);
	CHECK(length == 0 && name[0] == 0);
	CHECK(!has(made, "mpi_assert_no_any_tag"));
	CHECK(has(made, "mpi_assert_no_any_source") == !!(what & HINTS));
	if (failures > failed)
		printf("rank %d of %d: %s\n", rank, size, function);
	MPI_Comm_free(&made);
}

static void of_one(MPI_Comm parent) {
	int n = size, no = 0, yes = 1, *degrees = calloc((size_t)size, sizeof *degrees), none[1] = {0};
	MPI_Comm made;
	MPI_Request request;
	MPI_Group group;
	MPI_Comm_dup(parent, &made), check("Comm_dup", made, DUPLICATE);
	MPI_Comm_dup_with_info(parent, mine, &made), check("Comm_dup_with_info", made, DUPLICATE | HINTS);
	MPI_Comm_dup_with_info(parent, MPI_INFO_NULL, &made), check("Comm_dup_with_info, without", made, DUPLICATE);
	MPI_Comm_idup(parent, &made, &request), MPI_Wait(&request, MPI_STATUS_IGNORE), check("Comm_idup", made, DUPLICATE);
#ifdef GIGARANK
	int counted = checks;
	MPI_Comm_idup_with_info(parent, mine, &made, &request), MPI_Wait(&request, MPI_STATUS_IGNORE), check("Comm_idup_with_info", made, DUPLICATE | HINTS);
	checks = counted;
#endif
	MPI_Comm_split(parent, 0, 0, &made), check("Comm_split", made, 0);
	MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, 0, mine, &made), check("Comm_split_type", made, HINTS);
	MPI_Comm_group(parent, &group);
	MPI_Comm_create(parent, group, &made), check("Comm_create", made, 0);
	MPI_Comm_create_group(parent, group, 7, &made), check("Comm_create_group", made, COPIES_TOO);
	MPI_Group_free(&group);
	MPI_Cart_create(parent, 1, &n, &no, 0, &made);
	MPI_Comm grid = made, line;
	mark(grid);
	MPI_Cart_sub(grid, &yes, &line), check("Cart_sub", line, 0);
	MPI_Comm_dup(grid, &line), check("Comm_dup of a grid", line, DUPLICATE);
	MPI_Comm_free(&grid);
	MPI_Cart_create(parent, 1, &n, &no, 0, &made), check("Cart_create", made, 0);
	MPI_Graph_create(parent, n, degrees, none, 0, &made), check("Graph_create", made, 0);
	MPI_Dist_graph_create(parent, 1, &rank, &yes, &rank, MPI_UNWEIGHTED, mine, 0, &made), check("Dist_graph_create", made, KEPT);
	MPI_Dist_graph_create_adjacent(parent, 1, &rank, MPI_UNWEIGHTED, 1, &rank, MPI_UNWEIGHTED, mine, 0, &made), check("Dist_graph_create_adjacent", made, HINTS);
	free(degrees);
}

/* The handler of the local communicator is another one than that of the peer's, WORLD. */
static void of_two(MPI_Comm local) {
	MPI_Comm inter, made;
	MPI_Group group;
	MPI_Request request;
	MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &inter);
	check("Intercomm_create", inter, COPIES_TOO);
	MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &inter);
	mark(inter);
	MPI_Intercomm_merge(inter, rank % 2, &made), check("Intercomm_merge", made, COPIES_TOO);
	MPI_Comm_dup(inter, &made), check("Comm_dup between groups", made, DUPLICATE | COPIES_TOO);
	MPI_Comm_dup_with_info(inter, mine, &made), check("Comm_dup_with_info between groups", made, DUPLICATE | HINTS | COPIES_TOO);
	MPI_Comm_idup(inter, &made, &request), MPI_Wait(&request, MPI_STATUS_IGNORE), check("Comm_idup between groups", made, DUPLICATE | COPIES_TOO);
	MPI_Comm_split(inter, 0, 0, &made), check("Comm_split between groups", made, COPIES_TOO);
	MPI_Comm_group(inter, &group);
	MPI_Comm_create(inter, group, &made), check("Comm_create between groups", made, COPIES_TOO);
	MPI_Group_free(&group);
	MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
	EXPECT_CLASS(MPI_Dist_graph_create(inter, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made), MPI_ERR_COMM);
	EXPECT_CLASS(MPI_Dist_graph_create_adjacent(inter, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made), MPI_ERR_COMM);
	MPI_Comm_free(&inter);
}

#ifdef GIGARANK
/* What sessions make has the handler of the call. */
static void of_groups(MPI_Comm parent) {
	MPI_Group local, remote;
	MPI_Comm made;
	int counted = checks, here[1][3] = {{rank % 2, size - 1, 2}}, there[1][3] = {{1 - rank % 2, size - 1, 2}};
	MPI_Comm_group(parent, &local);
	MPI_Comm_create_from_group(local, "all", mine, MPI_ERRORS_RETURN, &made), check("Comm_create_from_group", made, GIVEN | HINTS);
	MPI_Comm_create_from_group(local, "all", MPI_INFO_NULL, handler, &made), check("Comm_create_from_group, heard", made, 0);
	EXPECT_CLASS(MPI_Comm_create_from_group(local, "all", MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &made), MPI_ERR_ERRHANDLER);
	MPI_Group_free(&local);
	if (size > 1) {
		MPI_Group all;
		MPI_Comm_group(parent, &all);
		MPI_Group_range_incl(all, 1, here, &local), MPI_Group_range_incl(all, 1, there, &remote);
		MPI_Intercomm_create_from_groups(local, 0, remote, 0, "two", mine, MPI_ERRORS_RETURN, &made), check("Intercomm_create_from_groups", made, GIVEN | HINTS);
		MPI_Intercomm_create_from_groups(local, 0, remote, 0, "two", MPI_INFO_NULL, handler, &made), check("Intercomm_create_from_groups, heard", made, 0);
		MPI_Group_free(&all), MPI_Group_free(&local), MPI_Group_free(&remote);
	}
	checks = counted;
}

/* Hints that a communicator is given add to those that it has. Those of a freed info object stay. */
static void hints(MPI_Comm parent) {
	MPI_Info info;
	int n;
	MPI_Info_create(&info);
	MPI_Info_set(info, "a", "true"), MPI_Info_set(info, "b", "no");
	MPI_Comm_set_info(parent, info);
	MPI_Info_set(info, "b", "true"), MPI_Info_delete(info, "a");
	MPI_Comm_set_info(parent, info);
	EXPECT_CLASS(MPI_Comm_set_info(parent, MPI_INFO_NULL), MPI_SUCCESS);
	MPI_Info gone = info;
	MPI_Info_free(&info);
	EXPECT(has(parent, "a") && has(parent, "b") && has(parent, "mpi_assert_no_any_tag"));
	MPI_Comm_get_info(parent, &info);
	MPI_Info_get_nkeys(info, &n);
	EXPECT(n == 3);
	MPI_Info_set(info, "a", "no"); /* a copy */
	MPI_Info_free(&info);
	EXPECT(has(parent, "a") && !has(MPI_COMM_WORLD, "a"));
	MPI_Comm made;
	MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN), MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	EXPECT_CLASS(MPI_Comm_set_info(parent, gone), MPI_ERR_INFO);
	EXPECT_CLASS(MPI_Comm_dup_with_info(parent, gone, &made), MPI_ERR_INFO);
	EXPECT_CLASS(MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, 0, gone, &made), MPI_ERR_INFO);
}

/* members returns the size of what a split by a type makes, 0 for MPI_COMM_NULL. */
static int members(MPI_Comm comm, int type, MPI_Info info) {
	MPI_Comm made = MPI_COMM_WORLD;
	int n = 0;
	MPI_Comm_split_type(comm, type, -rank, info, &made);
	if (made != MPI_COMM_NULL)
		MPI_Comm_size(made, &n), MPI_Comm_free(&made);
	return n;
}

/* Splits that hints guide (MPI 4.1, 7.4.2). */
static void guided(void) {
	static const int types[] = {MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED};
	static const char resource[] = "mpi_hw_resource_type", set[] = "mpi_pset_name";
	MPI_Info info;
	MPI_Comm made;
	int shared = members(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, MPI_INFO_NULL), n = -1, flag;
	char value[32] = "";
	for (int i = 0; i < 2; i++) {
		EXPECT(members(MPI_COMM_WORLD, types[i], MPI_INFO_NULL) == 0);
		MPI_Info_create(&info);
		EXPECT(members(MPI_COMM_WORLD, types[i], info) == 0);
		MPI_Info_set(info, resource, "mpi_shared_memory");
		EXPECT(members(MPI_COMM_WORLD, types[i], info) == shared);
		MPI_Comm_split_type(MPI_COMM_WORLD, types[i], -rank, info, &made);
		MPI_Scan(&rank, &n, 1, MPI_INT, MPI_MIN, made);
		EXPECT(n == rank); /* ranks are in the order of keys */
		MPI_Comm_free(&made);
		EXPECT((members(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : types[i], info) == 0) == (rank == 0));
		MPI_Info_set(info, resource, "Mpi_shared_memory");
		EXPECT(members(MPI_COMM_WORLD, types[i], info) == 0);
		MPI_Info_set(info, resource, "hwloc://NUMANode");
		EXPECT(members(MPI_COMM_WORLD, types[i], info) == 0);
		MPI_Info_free(&info);
		/* Process sets are for one of the types alone. */
		int by_set = types[i] == MPI_COMM_TYPE_RESOURCE_GUIDED;
		MPI_Info_create(&info);
		MPI_Info_set(info, set, "mpi://WORLD");
		EXPECT(members(MPI_COMM_WORLD, types[i], info) == by_set * size);
		EXPECT(members(MPI_COMM_SELF, types[i], info) == by_set);
		MPI_Info_set(info, set, "mpi://self");
		EXPECT(members(MPI_COMM_WORLD, types[i], info) == by_set);
		MPI_Info_set(info, set, "app://none");
		EXPECT(members(MPI_COMM_WORLD, types[i], info) == 0);
		MPI_Info_set(info, set, "mpi://WORLD"), MPI_Info_set(info, resource, "mpi_shared_memory");
		if (by_set)
			EXPECT_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, types[i], 0, info, &made), MPI_ERR_INFO);
		else
			EXPECT(members(MPI_COMM_WORLD, types[i], info) == shared);
		MPI_Info_free(&info);
	}
	/* A split without a guide is told which resource the parts are of, if there are parts. */
	MPI_Info_create(&info);
	n = members(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, info);
	MPI_Info_get(info, resource, 31, value, &flag);
	EXPECT(n == (shared == size ? 0 : shared) && flag == (n > 0) && strcmp(value, flag ? "mpi_shared_memory" : "") == 0);
	MPI_Info_free(&info);
	EXPECT(members(MPI_COMM_SELF, MPI_COMM_TYPE_HW_UNGUIDED, MPI_INFO_NULL) == 0);
}
#endif

int main(int argc, char **argv) {
	MPI_Comm parent, local;
	begin(&argc, &argv);
	MPI_Comm_create_errhandler(hear, &handler);
	MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	MPI_Info_create(&mine);
	MPI_Info_set(mine, "mpi_assert_no_any_source", "true");
	MPI_Comm_dup(MPI_COMM_WORLD, &parent);
	mark(parent);
	of_one(parent);
	if (size > 1) {
		MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &local);
		mark(local);
		of_two(local);
		MPI_Comm_free(&local);
	}
#ifdef GIGARANK
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	of_groups(parent);
	hints(parent);
	guided();
#endif
	MPI_Comm_free(&parent);
	MPI_Info_free(&mine);
	MPI_Comm_free_keyval(&key);
	MPI_Errhandler_free(&handler);
	return finish("inheritance");
}
