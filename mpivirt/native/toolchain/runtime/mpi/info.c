/* Info objects: keys with values, in the order in which they were set. */
#include "mpi/info.h"
#include "mpi/arguments.h"
#include "mpi/comm_records.h"
#include "mpi/objects.h"
#include "rank/running.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
	struct pair *next;
	char *key, *value;
};

struct gigarank_info {
	struct gigarank_object object;
	struct pair *first;
};

static void drop_pair(struct pair *p) {
	free(p->key);
	free(p->value);
	free(p);
}

static void destroy(struct gigarank_object *o) {
	for (struct pair *p = ((struct gigarank_info *)o)->first, *next; p; p = next) {
		next = p->next;
		drop_pair(p);
	}
}

static int no_memory(void) { return refuse(GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for an info object"); }

static struct gigarank_info *new_info(void) { return gigarank_new(GIGARANK_INFO, sizeof(struct gigarank_info), destroy); }

/* set stores the value of a key. It returns 0 without memory. */
static int set(struct gigarank_info *info, const char *key, const char *value) {
	struct pair **link = &info->first;
	while (*link && strcmp((*link)->key, key) != 0)
		link = &(*link)->next;
	char *copy = strdup(value);
	if (!copy)
		return 0;
	if (!*link) {
		struct pair *p = calloc(1, sizeof *p);
		if (!p || !(p->key = strdup(key))) {
			free(p);
			free(copy);
			return 0;
		}
		*link = p;
	}
	free((*link)->value);
	(*link)->value = copy;
	return 1;
}

/* set_all stores all pairs of another info object. It returns 0 without memory. */
static int set_all(struct gigarank_info *info, const struct gigarank_info *of) {
	for (const struct pair *p = of->first; p; p = p->next)
		if (!set(info, p->key, p->value))
			return 0;
	return 1;
}

/* describe stores the keys of MPI_INFO_ENV that a run has values for (MPI 4.1, 11.2.1). */
static int describe(struct gigarank_info *info, int argc, char **argv) {
	struct gigarank_engine *e = gigarank_current;
	char number[16], all[MPI_MAX_INFO_VAL] = "";
	size_t at = 0;
	snprintf(number, sizeof number, "%d", e->world);
	for (int i = 1; i < argc && at < sizeof all; i++)
		at += (size_t)snprintf(all + at, sizeof all - at, i > 1 ? " %s" : "%s", argv[i]);
	return (argc < 1 || set(info, "command", argv[0])) && set(info, "argv", all) && set(info, "maxprocs", number) && set(info, "thread_level", "MPI_THREAD_FUNNELED");
}

/* info_of finds an info object. */
static int info_of(const char *function, MPI_Info handle, struct gigarank_info **info) {
	CHECK(gigarank_runs(function));
	if (handle == MPI_INFO_ENV) {
		struct gigarank_own *own = gigarank_own();
		if (own && !own->environment && (own->environment = new_info()) && !describe(own->environment, gigarank_current->argc, gigarank_current->argv))
			own->environment = NULL;
		*info = own ? own->environment : NULL;
		return *info ? MPI_SUCCESS : no_memory();
	}
	*info = gigarank_object(GIGARANK_INFO, handle);
	if (*info)
		return MPI_SUCCESS;
	return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_INFO, handle == MPI_INFO_NULL ? "the info object is MPI_INFO_NULL" : "the handle is no info object, or it has been freed");
}

/* pair_of finds a key of an info object, and checks its length. */
static int pair_of(const char *function, MPI_Info handle, const char *key, struct gigarank_info **info, struct pair ***place) {
	CHECK(info_of(function, handle, info));
	if (!key || !*key || strlen(key) >= MPI_MAX_INFO_KEY)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_INFO_KEY, "a key must have 1 to %d characters", MPI_MAX_INFO_KEY - 1);
	struct pair **link = &(*info)->first;
	while (*link && strcmp((*link)->key, key) != 0)
		link = &(*link)->next;
	*place = link;
	return MPI_SUCCESS;
}

MPI(MPI_Info_create, MPI_Info *info) {
	GIVEN(info, "info", MPI_ERR_INFO);
	CHECK(gigarank_runs(__func__));
	struct gigarank_info *new = new_info();
	if (!new)
		return no_memory();
	*info = gigarank_handle(new);
	return MPI_SUCCESS;
}

MPI(MPI_Info_create_env, int argc, char *argv[], MPI_Info *info) {
	CHECK(PMPI_Info_create(info));
	if (describe(gigarank_object(GIGARANK_INFO, *info), argc, argv))
		return MPI_SUCCESS;
	PMPI_Info_free(info);
	return no_memory();
}

MPI(MPI_Info_free, MPI_Info *handle) {
	GIVEN(handle, "info", MPI_ERR_INFO);
	struct gigarank_info *info;
	if (*handle == MPI_INFO_ENV)
		return refuse(GIGARANK_NONE, MPI_ERR_INFO, "MPI_INFO_ENV cannot be freed");
	CHECK(info_of(__func__, *handle, &info));
	gigarank_drop_handle(info);
	*handle = MPI_INFO_NULL;
	return MPI_SUCCESS;
}

MPI(MPI_Info_set, MPI_Info handle, const char *key, const char *value) {
	GIVEN(key, "key", MPI_ERR_INFO_KEY);
	GIVEN(value, "value", MPI_ERR_INFO_VALUE);
	struct gigarank_info *info;
	struct pair **place;
	CHECK(pair_of(__func__, handle, key, &info, &place));
	if (handle == MPI_INFO_ENV)
		return refuse(GIGARANK_NONE, MPI_ERR_INFO, "MPI_INFO_ENV cannot be changed");
	if (!value || strlen(value) >= MPI_MAX_INFO_VAL)
		return refuse(GIGARANK_NONE, MPI_ERR_INFO_VALUE, "the value of %s has %d characters or more", key, MPI_MAX_INFO_VAL);
	return set(info, key, value) ? MPI_SUCCESS : no_memory();
}

MPI(MPI_Info_delete, MPI_Info handle, const char *key) {
	GIVEN(key, "key", MPI_ERR_INFO_KEY);
	struct gigarank_info *info;
	struct pair **place;
	CHECK(pair_of(__func__, handle, key, &info, &place));
	struct pair *p = *place;
	if (!p || handle == MPI_INFO_ENV)
		return refuse(GIGARANK_NONE, MPI_ERR_INFO_NOKEY, "the info object has no key %s that can be deleted", key);
	*place = p->next;
	drop_pair(p);
	return MPI_SUCCESS;
}

/* A value is cut to the room of the program, without the end of the string. */
MPI(MPI_Info_get, MPI_Info handle, const char *key, int room, char *value, int *flag) {
	GIVEN(key, "key", MPI_ERR_INFO_KEY);
	GIVEN(value, "value", MPI_ERR_INFO_VALUE);
	GIVEN(flag, "flag", MPI_ERR_ARG);
	struct gigarank_info *info;
	struct pair **place;
	CHECK(pair_of(__func__, handle, key, &info, &place));
	if (room < 0)
		return refuse(GIGARANK_NONE, MPI_ERR_ARG, "room for %d characters", room);
	*flag = *place != NULL;
	if (*place)
		snprintf(value, (size_t)room + 1, "%s", (*place)->value);
	return MPI_SUCCESS;
}

/* The length counts the end of the text. */
MPI(MPI_Info_get_string, MPI_Info handle, const char *key, int *length, char *value, int *flag) {
	struct gigarank_info *info;
	struct pair **place;
	CHECK(pair_of(__func__, handle, key, &info, &place));
	*flag = *place != NULL;
	if (!*place)
		return MPI_SUCCESS;
	if (*length > 0)
		snprintf(value, (size_t)*length, "%s", (*place)->value);
	*length = (int)strlen((*place)->value) + 1;
	return MPI_SUCCESS;
}

MPI(MPI_Info_get_valuelen, MPI_Info handle, const char *key, int *length, int *flag) {
	GIVEN(key, "key", MPI_ERR_INFO_KEY);
	GIVEN(length, "valuelen", MPI_ERR_ARG);
	GIVEN(flag, "flag", MPI_ERR_ARG);
	struct gigarank_info *info;
	struct pair **place;
	CHECK(pair_of(__func__, handle, key, &info, &place));
	*flag = *place != NULL;
	if (*place)
		*length = (int)strlen((*place)->value);
	return MPI_SUCCESS;
}

MPI(MPI_Info_get_nkeys, MPI_Info handle, int *n) {
	GIVEN(n, "nkeys", MPI_ERR_ARG);
	struct gigarank_info *info;
	CHECK(info_of(__func__, handle, &info));
	*n = 0;
	for (const struct pair *p = info->first; p; p = p->next)
		++*n;
	return MPI_SUCCESS;
}

MPI(MPI_Info_get_nthkey, MPI_Info handle, int n, char *key) {
	GIVEN(key, "key", MPI_ERR_INFO_KEY);
	struct gigarank_info *info;
	int keys;
	CHECK(info_of(__func__, handle, &info));
	CHECK(PMPI_Info_get_nkeys(handle, &keys));
	if (n < 0 || n >= keys)
		return refuse(GIGARANK_NONE, MPI_ERR_ARG, "key %d of %d", n, keys);
	const struct pair *p = info->first;
	while (n-- > 0)
		p = p->next;
	strcpy(key, p->key);
	return MPI_SUCCESS;
}

MPI(MPI_Info_dup, MPI_Info handle, MPI_Info *made) {
	GIVEN(made, "newinfo", MPI_ERR_INFO);
	struct gigarank_info *info, *new;
	CHECK(info_of(__func__, handle, &info));
	if (!(new = new_info()))
		return no_memory();
	*made = gigarank_handle(new);
	if (set_all(new, info))
		return MPI_SUCCESS;
	PMPI_Info_free(made);
	return no_memory();
}

/* --- hints of communicators ------------------------------------------------------------- */

/* A communicator keeps all hints that the program gives it. None of its operations depends on them. */

int gigarank_check_hints(const char *function, MPI_Info handle) {
	struct gigarank_info *info;
	return handle == MPI_INFO_NULL ? MPI_SUCCESS : info_of(function, handle, &info);
}

const char *gigarank_hint(MPI_Info handle, const char *key) {
	const struct gigarank_info *info = handle == MPI_INFO_NULL ? NULL : gigarank_object(GIGARANK_INFO, handle);
	const struct pair *p = info ? info->first : NULL;
	while (p && strcmp(p->key, key) != 0)
		p = p->next;
	return p ? p->value : NULL;
}

int gigarank_add_hints(const char *function, struct gigarank_comm *c, MPI_Info handle) {
	struct gigarank_info *info;
	if (handle == MPI_INFO_NULL)
		return MPI_SUCCESS;
	CHECK(info_of(function, handle, &info));
	if (!c->hints && !(c->hints = new_info()))
		return no_memory();
	return set_all(c->hints, info) ? MPI_SUCCESS : no_memory();
}

void gigarank_leave_hints(struct gigarank_comm *c) {
	if (c->hints)
		gigarank_release_object(c->hints);
	c->hints = NULL;
}

MPI(MPI_Comm_set_info, MPI_Comm comm, MPI_Info handle) {
	struct gigarank_call c = {0};
	CHECK(find(GIGARANK_NONE, comm, &c));
	CHECK(gigarank_check_hints(__func__, handle));
	struct gigarank_comm *noted = handle == MPI_INFO_NULL ? NULL : gigarank_note(&c);
	return noted ? gigarank_add_hints(__func__, noted, handle) : handle == MPI_INFO_NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

MPI(MPI_Comm_get_info, MPI_Comm comm, MPI_Info *made) {
	GIVEN(made, "info_used", MPI_ERR_INFO);
	struct gigarank_call c = {0};
	CHECK(find(GIGARANK_NONE, comm, &c));
	struct gigarank_comm *noted = gigarank_note(&c);
	if (!noted)
		return MPI_ERR_NO_MEM;
	return noted->hints ? PMPI_Info_dup(gigarank_handle(noted->hints), made) : PMPI_Info_create(made);
}
