/* Communicators: how they are made and freed, and inquiries about them. */
#include "mpi/communicators.h"
#include "mpi/arguments.h"
#include "mpi/attributes.h"
#include "mpi/collectives.h"
#include "mpi/comm_records.h"
#include "mpi/error_handlers.h"
#include "mpi/info.h"
#include "mpi/objects.h"
#include "mpi/process_sets.h"
#include "rank/ranks.h"
#include "rank/running.h"

#include <stdlib.h>
#include <string.h>

MPI(MPI_Comm_rank, MPI_Comm comm, int *rank) {
	GIVEN(rank, "rank", MPI_ERR_ARG);
	struct gigarank_call c;
	CHECK(find(GIGARANK_NONE, comm, &c));
	*rank = c.member;
	return MPI_SUCCESS;
}

MPI(MPI_Comm_size, MPI_Comm comm, int *size) {
	GIVEN(size, "size", MPI_ERR_ARG);
	struct gigarank_call c;
	CHECK(find(GIGARANK_NONE, comm, &c));
	*size = c.size;
	return MPI_SUCCESS;
}

/* inherit gives a communicator the error handler, hints and attributes of its origin. */
static int inherit(const struct gigarank_origin *from, MPI_Comm *made) {
	struct gigarank_comm *new = (struct gigarank_comm *)*made;
	struct gigarank_call c = {0};
	if (from->parent) {
		CHECK(find(GIGARANK_NONE, from->parent, &c));
		gigarank_inherit_handler(c.comm, new);
	} else {
		CHECK(PMPI_Comm_set_errhandler(*made, from->handler));
	}
	if (from->hints)
		CHECK(gigarank_add_hints(__func__, new, from->hints));
	int error = from->duplicating ? gigarank_copy_attributes(from->duplicating, from->parent, *made) : MPI_SUCCESS;
	if (error)
		PMPI_Comm_free(made);
	return error;
}

int gigarank_take(struct gigarank_call *c, const struct gigarank_origin *from, MPI_Comm *made) {
	*made = MPI_COMM_NULL;
	if (c->error || c->made == 0)
		return c->error;
	struct gigarank_comm *new = gigarank_add_comm_record((struct gigarank_comm){
		.index = c->made, .member = c->made_member, .size = c->made_size, .remote = c->made_remote, .topology = c->topology});
	if (!new)
		return refuse(c->procedure, MPI_ERR_NO_MEM, "no memory for a communicator");
	*made = (MPI_Comm)new;
	return inherit(from, made);
}

int gigarank_duplicate_locally(struct gigarank_call *c, const struct gigarank_origin *from, MPI_Comm *made) {
	struct gigarank_comm *of = gigarank_note(c);
	if (!of)
		return MPI_ERR_NO_MEM;
	c->procedure = GIGARANK_LOCAL_DUPLICATE, c->key = ++of->local_duplicates;
	gigarank_trap(c);
	return gigarank_take(c, from, made);
}

int gigarank_duplicate(const char *function, MPI_Comm comm, const struct gigarank_origin *from, MPI_Comm *made) {
	struct gigarank_call c = {0};
	CHECK(gigarank_find(function, GIGARANK_COMM_DUP, comm, &c));
	if (c.remote) {
		*made = MPI_COMM_NULL;
		gigarank_variant();
		CHECK(PMPI_Barrier(comm));
		return gigarank_duplicate_locally(&c, from, made);
	}
	gigarank_trap(&c);
	return gigarank_take(&c, from, made);
}

MPI(MPI_Comm_dup, MPI_Comm comm, MPI_Comm *made) {
	GIVEN(made, "newcomm", MPI_ERR_ARG);
	return gigarank_duplicate(__func__, comm, &(struct gigarank_origin){.parent = comm, .duplicating = __func__}, made);
}

MPI(MPI_Comm_dup_with_info, MPI_Comm comm, MPI_Info info, MPI_Comm *made) {
	GIVEN(made, "newcomm", MPI_ERR_ARG);
	CHECK(gigarank_check_hints(__func__, info));
	return gigarank_duplicate(__func__, comm, &(struct gigarank_origin){.parent = comm, .hints = info, .duplicating = __func__}, made);
}

/* idup makes a communicator that is valid at once. Its request takes the time of a barrier. */
static int idup(const struct gigarank_origin *from, MPI_Comm *made, MPI_Request *request) {
	struct gigarank_call c = {0};
	gigarank_form(GIGARANK_LATER);
	gigarank_variant();
	CHECK(gigarank_find(from->duplicating, GIGARANK_BARRIER, from->parent, &c));
	CHECK(gigarank_duplicate_locally(&c, from, made));
	return gigarank_idup_barrier(from->parent, request);
}

MPI(MPI_Comm_idup, MPI_Comm comm, MPI_Comm *made, MPI_Request *request) {
	GIVEN(made, "newcomm", MPI_ERR_ARG);
	GIVEN(request, "request", MPI_ERR_ARG);
	return idup(&(struct gigarank_origin){.parent = comm, .duplicating = __func__}, made, request);
}

MPI(MPI_Comm_idup_with_info, MPI_Comm comm, MPI_Info info, MPI_Comm *made, MPI_Request *request) {
	GIVEN(made, "newcomm", MPI_ERR_ARG);
	GIVEN(request, "request", MPI_ERR_ARG);
	CHECK(gigarank_check_hints(__func__, info));
	return idup(&(struct gigarank_origin){.parent = comm, .hints = info, .duplicating = __func__}, made, request);
}

int gigarank_split(const char *function, MPI_Comm comm, int color, int key, const struct gigarank_origin *from, MPI_Comm *made) {
	struct gigarank_call c = {0};
	CHECK(gigarank_find(function, GIGARANK_COMM_SPLIT, comm, &c));
	c.root = color == MPI_UNDEFINED ? GIGARANK_UNDEFINED : color;
	c.key = key;
	gigarank_trap(&c);
	return gigarank_take(&c, from, made);
}

MPI(MPI_Comm_split, MPI_Comm comm, int color, int key, MPI_Comm *made) {
	GIVEN(made, "newcomm", MPI_ERR_ARG);
	return gigarank_split(__func__, comm, color, key, &(struct gigarank_origin){.parent = comm}, made);
}

/* The hardware that ranks share is a node of the target machine, whose memory is the one resource with a name. */
static const char resource_key[] = "mpi_hw_resource_type", set_key[] = "mpi_pset_name", shared_memory[] = "mpi_shared_memory";

/* resource_of returns the color of the running rank in a split that is guided by hints (MPI 4.1, 7.4.2), MPI_UNDEFINED
 * if they name no resource of the rank. Process sets are the sets of sessions. */
static int resource_of(int type, MPI_Info hints, int node) {
	const char *resource = gigarank_hint(hints, resource_key), *set = type == MPI_COMM_TYPE_RESOURCE_GUIDED ? gigarank_hint(hints, set_key) : NULL;
	if (resource)
		return strcmp(resource, shared_memory) == 0 ? node : MPI_UNDEFINED;
	MPI_Comm members = gigarank_process_set(set);
	if (members == MPI_COMM_WORLD)
		return 0;
	struct gigarank_engine *e = gigarank_current;
	return members == MPI_COMM_SELF ? 1 + e->first + (int32_t)(e->running - e->ranks) : MPI_UNDEFINED;
}

MPI(MPI_Comm_split_type, MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made) {
	GIVEN(made, "newcomm", MPI_ERR_ARG);
	struct gigarank_call c = {0}, node = {.procedure = GIGARANK_NODE};
	gigarank_variant();
	CHECK(find(GIGARANK_COMM_SPLIT, comm, &c));
	CHECK(gigarank_check_hints(__func__, info));
	if (type == MPI_COMM_TYPE_RESOURCE_GUIDED && gigarank_hint(info, resource_key) && gigarank_hint(info, set_key))
		return refuse(c.procedure, MPI_ERR_INFO, "the info object has both %s and %s: a split is guided by one of them", resource_key, set_key);
	int color = MPI_UNDEFINED;
	switch (type) {
	case MPI_COMM_TYPE_SHARED:
	case MPI_COMM_TYPE_HW_UNGUIDED:
	case MPI_COMM_TYPE_HW_GUIDED:
	case MPI_COMM_TYPE_RESOURCE_GUIDED:
		CHECK(gigarank_trap(&node));
		color = type == MPI_COMM_TYPE_SHARED || type == MPI_COMM_TYPE_HW_UNGUIDED ? node.found : resource_of(type, info, node.found);
		break;
	case MPI_UNDEFINED:
		break;
	default:
		return refuse(c.procedure, MPI_ERR_ARG, "%d is no type of a split", type);
	}
	if (type == MPI_COMM_TYPE_HW_UNGUIDED) { /* parts are smaller than the whole */
		c.procedure = GIGARANK_ON_ONE_NODE;
		CHECK(gigarank_trap(&c));
		if (c.found)
			color = MPI_UNDEFINED;
	}
	gigarank_variant();
	CHECK(gigarank_split(__func__, comm, color, key, &(struct gigarank_origin){.parent = comm, .hints = info}, made));
	int told = type == MPI_COMM_TYPE_HW_UNGUIDED && *made != MPI_COMM_NULL && info != MPI_INFO_NULL && info != MPI_INFO_ENV;
	return told ? PMPI_Info_set(info, resource_key, shared_memory) : MPI_SUCCESS;
}

/* create_between divides the intercommunicator of a call by a group of each side: the members of both groups have a new one. */
static int create_between(const char *function, struct gigarank_call *c, MPI_Comm comm, MPI_Group group, MPI_Comm *made) {
	MPI_Group local, others;
	int member;
	*made = MPI_COMM_NULL;
	CHECK(PMPI_Comm_group(comm, &local));
	int error = PMPI_Group_difference(group, local, &others);
	PMPI_Group_free(&local);
	CHECK(error);
	if (others != MPI_GROUP_EMPTY) {
		PMPI_Group_free(&others);
		return gigarank_refuse(function, c->procedure, MPI_ERR_GROUP, "a member of the group is none of the communicator");
	}
	CHECK(PMPI_Group_rank(group, &member));
	int none = member == MPI_UNDEFINED;
	return gigarank_split(function, comm, none ? MPI_UNDEFINED : 0, none ? 0 : member, &(struct gigarank_origin){.parent = comm}, made);
}

MPI(MPI_Comm_create, MPI_Comm comm, MPI_Group group, MPI_Comm *made) {
	GIVEN(made, "newcomm", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	CHECK(find(GIGARANK_COMM_CREATE, comm, &c));
	if (c.remote)
		return create_between(__func__, &c, comm, group, made);
	c.handle = (uintptr_t)group;
	gigarank_trap(&c);
	return gigarank_take(&c, &(struct gigarank_origin){.parent = comm}, made);
}

int gigarank_create_group(const char *function, MPI_Comm comm, MPI_Group group, int tag, const struct gigarank_origin *from, MPI_Comm *made) {
	struct gigarank_call c = {0};
	CHECK(gigarank_find(function, GIGARANK_COMM_CREATE_GROUP, comm, &c));
	c.handle = (uintptr_t)group, c.sendtag = tag;
	gigarank_trap(&c);
	return gigarank_take(&c, from, made);
}

MPI(MPI_Comm_create_group, MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made) {
	GIVEN(made, "newcomm", MPI_ERR_ARG);
	return gigarank_create_group(__func__, comm, group, tag, &(struct gigarank_origin){.parent = comm}, made);
}

void gigarank_forget_comm(struct gigarank_comm *c) {
	gigarank_free_attributes(c->attributes);
	free(c->name);
	free(c->channels);
	free(c);
}

MPI(MPI_Comm_free, MPI_Comm *comm) {
	GIVEN(comm, "comm", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	CHECK(find(GIGARANK_COMM_FREE, *comm, &c));
	CHECK(gigarank_drop_attributes(__func__, *comm));
	CHECK(gigarank_trap(&c));
	struct gigarank_comm **link = &gigarank_running()->comms, *freed = (struct gigarank_comm *)*comm;
	while (*link != freed)
		link = &(*link)->next;
	*link = freed->next;
	gigarank_leave_handler(freed);
	gigarank_leave_hints(freed);
	gigarank_forget_comm(freed);
	*comm = MPI_COMM_NULL;
	return MPI_SUCCESS;
}

/* Operations that the rank has begun on the communicator go on. */
MPI(MPI_Comm_disconnect, MPI_Comm *comm) {
	GIVEN(comm, "comm", MPI_ERR_ARG);
	return PMPI_Comm_free(comm);
}

MPI(MPI_Comm_compare, MPI_Comm one, MPI_Comm other, int *result) {
	GIVEN(result, "result", MPI_ERR_ARG);
	struct gigarank_call c = {0}, d = {0};
	CHECK(find(GIGARANK_NONE, one, &c));
	CHECK(find(GIGARANK_NONE, other, &d));
	c.procedure = GIGARANK_COMPARE, c.key = d.comm;
	CHECK(gigarank_trap(&c));
	*result = c.comm == d.comm ? MPI_IDENT : c.found == 2 ? MPI_CONGRUENT : c.found == 1 ? MPI_SIMILAR : MPI_UNEQUAL;
	return MPI_SUCCESS;
}

MPI(MPI_Comm_test_inter, MPI_Comm comm, int *flag) {
	GIVEN(flag, "flag", MPI_ERR_ARG);
	struct gigarank_call c;
	CHECK(find(GIGARANK_NONE, comm, &c));
	*flag = c.remote > 0;
	return MPI_SUCCESS;
}

MPI(MPI_Comm_remote_size, MPI_Comm comm, int *size) {
	GIVEN(size, "size", MPI_ERR_ARG);
	struct gigarank_call c;
	CHECK(find(GIGARANK_NONE, comm, &c));
	if (!c.remote)
		return refuse(GIGARANK_NONE, MPI_ERR_COMM, "the communicator has no remote group");
	*size = c.remote;
	return MPI_SUCCESS;
}

MPI(MPI_Comm_set_name, MPI_Comm comm, const char *name) {
	GIVEN(name, "comm_name", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	CHECK(find(GIGARANK_NONE, comm, &c));
	if (!name)
		return refuse(GIGARANK_NONE, MPI_ERR_ARG, "a null pointer in place of a name");
	struct gigarank_comm *noted = gigarank_note(&c);
	char *copy = noted ? strndup(name, MPI_MAX_OBJECT_NAME - 1) : NULL;
	if (!copy)
		return refuse(GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for a name");
	free(noted->name);
	noted->name = copy;
	return MPI_SUCCESS;
}

/* gigarank_comm_name returns the name that a rank has given the communicator with an index, NULL for none. */
__attribute__((visibility("default"))) const char *gigarank_comm_name(const struct gigarank_engine *e, int32_t lp, int32_t comm) {
	for (const struct gigarank_comm *c = e->ranks[lp].comms; c; c = c->next)
		if (c->index == comm)
			return c->name;
	return NULL;
}

MPI(MPI_Comm_get_name, MPI_Comm comm, char *name, int *length) {
	GIVEN(name, "comm_name", MPI_ERR_ARG);
	GIVEN(length, "resultlen", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	CHECK(find(GIGARANK_NONE, comm, &c));
	struct gigarank_comm *noted = gigarank_note(&c);
	if (!noted)
		return MPI_ERR_NO_MEM;
	strcpy(name, noted->name ? noted->name : comm == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : comm == MPI_COMM_SELF ? "MPI_COMM_SELF" : "");
	*length = (int)strlen(name);
	return MPI_SUCCESS;
}

/* All ranks are there from the beginning. */
MPI(MPI_Comm_get_parent, MPI_Comm *parent) {
	GIVEN(parent, "parent", MPI_ERR_ARG);
	CHECK(active(GIGARANK_NONE));
	*parent = MPI_COMM_NULL;
	return MPI_SUCCESS;
}
