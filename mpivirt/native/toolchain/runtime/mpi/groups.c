/* Groups. The simulator has them and answers calls at once; a handle is a number that the simulator gives. */
#include "mpi/arguments.h"
#include "rank/ranks.h"

/* ask makes a request of a group. */
static int ask(const char *function, int request, MPI_Group one, MPI_Group other, struct gigarank_call *c) {
	CHECK(gigarank_active(function, GIGARANK_NONE));
	c->procedure = GIGARANK_GROUP, c->key = request, c->detail = function + 1;
	c->handle = (uintptr_t)one, c->other = (uintptr_t)other;
	return gigarank_trap(c);
}

/* make makes a request whose answer is a group. */
static int make(const char *function, int request, MPI_Group one, MPI_Group other, struct gigarank_call *c, MPI_Group *made) {
	CHECK(ask(function, request, one, other, c));
	*made = (MPI_Group)c->other;
	return MPI_SUCCESS;
}

static int group_of(const char *function, int request, MPI_Comm comm, MPI_Group *made) {
	struct gigarank_call c = {0};
	CHECK(gigarank_find(function, GIGARANK_NONE, comm, &c));
	if (request == GIGARANK_GROUP_OF_REMOTE && !c.remote)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_COMM, "the communicator has no remote group");
	return make(function, request, MPI_GROUP_NULL, MPI_GROUP_NULL, &c, made);
}

MPI(MPI_Comm_group, MPI_Comm comm, MPI_Group *made) {
	GIVEN(made, "group", MPI_ERR_ARG);
	return group_of(__func__, GIGARANK_GROUP_OF, comm, made);
}

MPI(MPI_Comm_remote_group, MPI_Comm comm, MPI_Group *made) {
	GIVEN(made, "group", MPI_ERR_ARG);
	return group_of(__func__, GIGARANK_GROUP_OF_REMOTE, comm, made);
}

MPI(MPI_Group_size, MPI_Group group, int *size) {
	GIVEN(size, "size", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	CHECK(ask(__func__, GIGARANK_GROUP_SIZE, group, MPI_GROUP_NULL, &c));
	*size = c.found;
	return MPI_SUCCESS;
}

MPI(MPI_Group_rank, MPI_Group group, int *rank) {
	GIVEN(rank, "rank", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	CHECK(ask(__func__, GIGARANK_GROUP_RANK, group, MPI_GROUP_NULL, &c));
	*rank = c.found < 0 ? MPI_UNDEFINED : c.found;
	return MPI_SUCCESS;
}

MPI(MPI_Group_compare, MPI_Group one, MPI_Group other, int *result) {
	GIVEN(result, "result", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	CHECK(ask(__func__, GIGARANK_GROUP_COMPARE, one, other, &c));
	*result = c.found == 2 ? MPI_IDENT : c.found == 1 ? MPI_SIMILAR : MPI_UNEQUAL;
	return MPI_SUCCESS;
}

MPI(MPI_Group_translate_ranks, MPI_Group one, int n, const int ranks[], MPI_Group other, int translated[]) {
	struct gigarank_call c = {.input = ranks, .given = n, .output = translated, .room = n};
	if (n < 0)
		return refuse(GIGARANK_NONE, MPI_ERR_ARG, "%d ranks", n);
	GIVEN(n == 0 || ranks, "ranks1", MPI_ERR_GROUP);
	GIVEN(n == 0 || translated, "ranks2", MPI_ERR_GROUP);
	CHECK(ask(__func__, GIGARANK_GROUP_TRANSLATE, one, other, &c));
	for (int i = 0; i < n; i++)
		translated[i] = translated[i] == GIGARANK_PROC_NULL ? MPI_PROC_NULL : translated[i] < 0 ? MPI_UNDEFINED : translated[i];
	return MPI_SUCCESS;
}

#define TWO(name, request) \
	MPI(name, MPI_Group one, MPI_Group other, MPI_Group *made) { \
		struct gigarank_call c = {0}; \
		GIVEN(made, "newgroup", MPI_ERR_GROUP); \
		return make(__func__, request, one, other, &c, made); \
	}
TWO(MPI_Group_union, GIGARANK_GROUP_UNION)
TWO(MPI_Group_intersection, GIGARANK_GROUP_INTERSECTION)
TWO(MPI_Group_difference, GIGARANK_GROUP_DIFFERENCE)

/* part makes a group of the given members, or of all other members. A member is given by its number, members of a range by three
 * numbers. */
static int part(const char *function, int request, MPI_Group group, int n, const void *members, int64_t each, MPI_Group *made) {
	struct gigarank_call c = {.input = members, .given = each * n};
	if (n < 0)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_ARG, "%d members or ranges", n);
	if (n > 0 && !members)
		return gigarank_missing(function, MPI_ERR_ARG, each == 1 ? "ranks" : "ranges");
	return make(function, request, group, MPI_GROUP_NULL, &c, made);
}

MPI(MPI_Group_incl, MPI_Group group, int n, const int ranks[], MPI_Group *made) {
	GIVEN(made, "newgroup", MPI_ERR_GROUP);
	return part(__func__, GIGARANK_GROUP_INCL, group, n, ranks, 1, made);
}

MPI(MPI_Group_excl, MPI_Group group, int n, const int ranks[], MPI_Group *made) {
	GIVEN(made, "newgroup", MPI_ERR_GROUP);
	return part(__func__, GIGARANK_GROUP_EXCL, group, n, ranks, 1, made);
}

MPI(MPI_Group_range_incl, MPI_Group group, int n, int ranges[][3], MPI_Group *made) { return part(__func__, GIGARANK_GROUP_RANGE_INCL, group, n, ranges, 3, made); }

MPI(MPI_Group_range_excl, MPI_Group group, int n, int ranges[][3], MPI_Group *made) { return part(__func__, GIGARANK_GROUP_RANGE_EXCL, group, n, ranges, 3, made); }

MPI(MPI_Group_free, MPI_Group *group) {
	GIVEN(group, "group", MPI_ERR_GROUP);
	struct gigarank_call c = {0};
	CHECK(ask(__func__, GIGARANK_GROUP_FREE, *group, MPI_GROUP_NULL, &c));
	*group = MPI_GROUP_NULL;
	return MPI_SUCCESS;
}
