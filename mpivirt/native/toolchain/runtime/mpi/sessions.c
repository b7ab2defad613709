/* Sessions (MPI 4.1, 11.3). There are the process sets mpi://WORLD and mpi://SELF. Objects that a session makes can be
 * used with objects of other sessions and of the world model. */
#include "mpi/arguments.h"
#include "mpi/communicators.h"
#include "mpi/error_handlers.h"
#include "mpi/errors.h"
#include "mpi/info.h"
#include "mpi/intercomm.h"
#include "mpi/objects.h"
#include "mpi/process_sets.h"
#include "mpi/requests.h"
#include "rank/running.h"

#include <stdio.h>
#include <string.h>

struct session {
	struct gigarank_object object;
	void *own;              /* object of the error handler, NULL for a predefined handler */
	MPI_Errhandler handler; /* if it is predefined */
};

static void destroy(struct gigarank_object *o) {
	struct session *s = (struct session *)o;
	if (s->own)
		gigarank_release_object(s->own);
}

/* fault has the error handler of a session take an error, and returns the class. */
#define fault(s, class_, ...) blame(s) ? (class_) : call_handler(s, class_) ? (class_) : refuse(GIGARANK_NONE, class_, __VA_ARGS__)

static int blame(const struct session *s) { return s && !s->own && s->handler == MPI_ERRORS_RETURN; }

static int call_handler(struct session *s, int code) {
	MPI_Session handle = s ? gigarank_handle(s) : MPI_SESSION_NULL;
	if (!s || !s->own)
		return 0;
	gigarank_call_handler(s->own, &handle, code);
	return 1;
}

static struct session *session_of(MPI_Session handle) {
	return gigarank_running() && (uintptr_t)handle >= GIGARANK_PREDEFINED ? gigarank_object(GIGARANK_SESSION, handle) : NULL;
}

#define FIND(s, handle) \
	struct session *s = session_of(handle); \
	if (!s) \
		return refuse(GIGARANK_NONE, MPI_ERR_SESSION, "the handle is no session, or it has been finalized")

/* set_handler gives a session an error handler. It returns 0 for a handle that is no error handler. */
static int set_handler(struct session *s, MPI_Errhandler handler) {
	void *kept = gigarank_keep_handler(handler);
	if (!kept && handler != MPI_ERRORS_RETURN && handler != MPI_ERRORS_ARE_FATAL && handler != MPI_ERRORS_ABORT)
		return 0;
	if (s->own)
		gigarank_release_object(s->own);
	s->own = kept, s->handler = handler;
	return 1;
}

MPI(MPI_Session_init, MPI_Info info, MPI_Errhandler handler, MPI_Session *session) {
	GIVEN(session, "session", MPI_ERR_ARG);
	CHECK(gigarank_runs(__func__));
	(void)info;
	struct session *s = gigarank_own() ? gigarank_new(GIGARANK_SESSION, sizeof *s, destroy) : NULL;
	if (!s)
		return refuse(GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for a session");
	if (!set_handler(s, handler)) {
		gigarank_drop_handle(s);
		return refuse(GIGARANK_NONE, MPI_ERR_ERRHANDLER, "the handle is no error handler, or it has been freed");
	}
	gigarank_own()->sessions++;
	gigarank_running()->in_session = 1;
	if (gigarank_running()->left == GIGARANK_OUT_OF_SESSIONS)
		gigarank_running()->left = 0;
	*session = gigarank_handle(s);
	return MPI_SUCCESS;
}

MPI(MPI_Session_finalize, MPI_Session *session) {
	GIVEN(session, "session", MPI_ERR_ARG);
	FIND(s, *session);
	struct gigarank_own *own = gigarank_own();
	if (own->sessions == 1)
		CHECK(gigarank_end_detached());
	gigarank_drop_handle(s);
	struct gigarank_rank *r = gigarank_running();
	r->in_session = --own->sessions > 0;
	if (!r->in_session && !r->initialized)
		r->left = GIGARANK_OUT_OF_SESSIONS;
	*session = MPI_SESSION_NULL;
	return MPI_SUCCESS;
}

MPI(MPI_Session_get_info, MPI_Session session, MPI_Info *info) {
	GIVEN(info, "info_used", MPI_ERR_INFO);
	FIND(s, session);
	CHECK(PMPI_Info_create(info));
	return PMPI_Info_set(*info, "thread_level", "MPI_THREAD_FUNNELED");
}

MPI(MPI_Session_get_num_psets, MPI_Session session, MPI_Info info, int *n) {
	GIVEN(n, "npset_names", MPI_ERR_ARG);
	FIND(s, session);
	(void)info;
	*n = GIGARANK_PROCESS_SETS;
	return MPI_SUCCESS;
}

/* The length counts the end of the name. With a length of 0 the call asks for the length alone. */
MPI(MPI_Session_get_nth_pset, MPI_Session session, MPI_Info info, int n, int *length, char *name) {
	GIVEN(length, "pset_len", MPI_ERR_ARG);
	FIND(s, session);
	(void)info;
	if (n < 0 || n >= GIGARANK_PROCESS_SETS)
		return fault(s, MPI_ERR_ARG, "process set %d of %d", n, GIGARANK_PROCESS_SETS);
	int full = (int)strlen(gigarank_process_sets[n]) + 1;
	if (*length > 0) {
		size_t kept = (size_t)(*length < full ? *length : full) - 1;
		memcpy(name, gigarank_process_sets[n], kept);
		name[kept] = 0;
	}
	*length = full;
	return MPI_SUCCESS;
}

MPI(MPI_Session_get_pset_info, MPI_Session session, const char *name, MPI_Info *info) {
	GIVEN(info, "info", MPI_ERR_INFO);
	FIND(s, session);
	int size;
	char text[16];
	if (gigarank_process_set(name) == MPI_COMM_NULL)
		return fault(s, MPI_ERR_ARG, "there is no process set %s", name ? name : "without a name");
	CHECK(PMPI_Comm_size(gigarank_process_set(name), &size));
	snprintf(text, sizeof text, "%d", size);
	CHECK(PMPI_Info_create(info));
	return PMPI_Info_set(*info, "mpi_size", text);
}

MPI(MPI_Session_set_errhandler, MPI_Session session, MPI_Errhandler handler) {
	FIND(s, session);
	return set_handler(s, handler) ? MPI_SUCCESS : fault(s, MPI_ERR_ERRHANDLER, "the handle is no error handler, or it has been freed");
}

MPI(MPI_Session_get_errhandler, MPI_Session session, MPI_Errhandler *handler) {
	GIVEN(handler, "errhandler", MPI_ERR_ARG);
	FIND(s, session);
	*handler = s->handler;
	if (s->own) {
		struct gigarank_object *o = gigarank_retain(s->own);
		o->handles++;
		*handler = gigarank_handle(o);
	}
	return MPI_SUCCESS;
}

MPI(MPI_Session_call_errhandler, MPI_Session session, int code) {
	FIND(s, session);
	if (call_handler(s, code) || blame(s))
		return MPI_SUCCESS;
	return refuse(GIGARANK_NONE, code, "called by MPI_Session_call_errhandler");
}

MPI(MPI_Group_from_session_pset, MPI_Session session, const char *name, MPI_Group *group) {
	GIVEN(group, "newgroup", MPI_ERR_GROUP);
	FIND(s, session);
	*group = MPI_GROUP_NULL;
	if (gigarank_process_set(name) == MPI_COMM_NULL)
		return fault(s, MPI_ERR_ARG, "there is no process set %s", name ? name : "without a name");
	return PMPI_Comm_group(gigarank_process_set(name), group);
}

/* tag_of returns a tag for a text. */
static int tag_of(const char *text) {
	uint32_t hash = 2166136261u;
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return (int)(hash % 32767);
}

/* from_group makes a communicator of a group, and of nothing else. */
static int from_group(const char *function, MPI_Group group, const char *stringtag, MPI_Info info, MPI_Errhandler handler, MPI_Comm *comm) {
	CHECK(gigarank_active(function, GIGARANK_NONE));
	CHECK(gigarank_check_hints(function, info));
	CHECK(gigarank_check_handler(function, handler));
	return gigarank_create_group(function, MPI_COMM_WORLD, group, tag_of(stringtag), &(struct gigarank_origin){.handler = handler, .hints = info}, comm);
}

MPI(MPI_Comm_create_from_group, MPI_Group group, const char *stringtag, MPI_Info info, MPI_Errhandler handler, MPI_Comm *comm) {
	GIVEN(comm, "newcomm", MPI_ERR_ARG);
	GIVEN(stringtag, "stringtag", MPI_ERR_ARG);
	return from_group(__func__, group, stringtag, info, handler, comm);
}

MPI(MPI_Intercomm_create_from_groups, MPI_Group local, int leader, MPI_Group remote, int remote_leader, const char *stringtag, MPI_Info info, MPI_Errhandler handler, MPI_Comm *comm) {
	GIVEN(comm, "newintercomm", MPI_ERR_ARG);
	GIVEN(stringtag, "stringtag", MPI_ERR_ARG);
	MPI_Comm own;
	MPI_Group all;
	int far = MPI_PROC_NULL;
	CHECK(from_group(__func__, local, stringtag, info, handler, &own));
	CHECK(PMPI_Comm_group(MPI_COMM_WORLD, &all));
	int error = PMPI_Group_translate_ranks(remote, 1, &remote_leader, all, &far);
	PMPI_Group_free(&all);
	if (error == MPI_SUCCESS)
		error = gigarank_connect(__func__, own, leader, MPI_COMM_WORLD, far, tag_of(stringtag), &(struct gigarank_origin){.handler = handler, .hints = info}, comm);
	PMPI_Comm_free(&own);
	return error;
}
