/* Attributes of communicators and datatypes. */
#include "mpi/attributes.h"
#include "mpi/arguments.h"
#include "mpi/comm_records.h"
#include "mpi/datatypes.h"
#include "mpi/objects.h"
#include "rank/running.h"

#include <stdlib.h>
#include <string.h>

/* A key, which the program knows by its number. */
struct gigarank_keyval {
	struct gigarank_object object;
	int of_types;
	union {
		MPI_Comm_copy_attr_function *comm;
		MPI_Type_copy_attr_function *type;
	} copy;
	union {
		MPI_Comm_delete_attr_function *comm;
		MPI_Type_delete_attr_function *type;
	} delete;
	void *extra;
};

enum { FIRST_KEY = 0x10000 };

static int number_of(const struct gigarank_keyval *k) { return FIRST_KEY + k->object.number; }

/* key_of returns the key of communicators or types that has a number, NULL if no key has it. A freed key
 * lives on while an attribute has it. */
static struct gigarank_keyval *key_of(int number, int of_types) {
	struct gigarank_engine *e = gigarank_current;
	int place = number - FIRST_KEY;
	if (place < 0 || place >= e->object_count)
		return NULL;
	struct gigarank_keyval *k = (struct gigarank_keyval *)e->objects[place];
	return k->object.kind == GIGARANK_KEYVAL && k->of_types == of_types ? k : NULL;
}

/* find_key checks a key. */
static int find_key(const char *function, int number, int of_types, struct gigarank_keyval **key) {
	*key = key_of(number, of_types);
	if (*key)
		return MPI_SUCCESS;
	return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_KEYVAL, number >= MPI_TAG_UB && number <= MPI_UNIVERSE_SIZE
		? "%d is the key of an attribute that MPI sets" : "%d is no attribute key, or it has been freed", number);
}

static int create_key(const char *function, struct gigarank_keyval what, int *number) {
	CHECK(gigarank_active(function, GIGARANK_NONE));
	struct gigarank_keyval *k = gigarank_new(GIGARANK_KEYVAL, sizeof *k, NULL);
	if (!k)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for a key");
	what.object = k->object;
	*k = what;
	*number = number_of(k);
	return MPI_SUCCESS;
}

MPI(MPI_Comm_create_keyval, MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete, int *key, void *extra) {
	GIVEN(key, "comm_keyval", MPI_ERR_ARG);
	return create_key(__func__, (struct gigarank_keyval){.copy.comm = copy, .delete.comm = delete, .extra = extra}, key);
}

MPI(MPI_Type_create_keyval, MPI_Type_copy_attr_function *copy, MPI_Type_delete_attr_function *delete, int *key, void *extra) {
	GIVEN(key, "type_keyval", MPI_ERR_ARG);
	return create_key(__func__, (struct gigarank_keyval){.of_types = 1, .copy.type = copy, .delete.type = delete, .extra = extra}, key);
}

static int free_key(const char *function, int *number, int of_types) {
	struct gigarank_keyval *k;
	CHECK(gigarank_active(function, GIGARANK_NONE));
	CHECK(find_key(function, *number, of_types, &k));
	if (k->object.handles)
		gigarank_drop_handle(k);
	*number = MPI_KEYVAL_INVALID;
	return MPI_SUCCESS;
}

MPI(MPI_Comm_free_keyval, int *key) {
	GIVEN(key, "comm_keyval", MPI_ERR_ARG);
	return free_key(__func__, key, 0);
}
MPI(MPI_Type_free_keyval, int *key) {
	GIVEN(key, "type_keyval", MPI_ERR_ARG);
	return free_key(__func__, key, 1);
}

/* The communicator or datatype that has attributes. */
struct owner {
	struct gigarank_attribute **list;
	MPI_Comm comm;
	MPI_Datatype type; /* of the two, that which the key is for */
};

/* failed ends a call whose attribute function has returned an error. */
static int failed(const char *function, const char *does, const struct gigarank_keyval *k, int error) {
	return error ? gigarank_refuse(function, GIGARANK_NONE, error, "the function that %s attributes of key %d has returned %d", does, number_of(k), error) : MPI_SUCCESS;
}

static int copied(const char *function, const struct owner *o, const struct gigarank_attribute *a, void **value, int *flag) {
	struct gigarank_keyval *k = a->key;
	*flag = 0;
	if (!k->copy.comm)
		return MPI_SUCCESS;
	if (k->copy.comm == MPI_COMM_DUP_FN) {
		*flag = 1, *value = a->value;
		return MPI_SUCCESS;
	}
	return failed(function, "copies", k, k->of_types ? k->copy.type(o->type, number_of(k), k->extra, a->value, value, flag) : k->copy.comm(o->comm, number_of(k), k->extra, a->value, value, flag));
}

static int deleted(const char *function, const struct owner *o, const struct gigarank_attribute *a) {
	struct gigarank_keyval *k = a->key;
	if (!k->delete.comm)
		return MPI_SUCCESS;
	return failed(function, "deletes", k, k->of_types ? k->delete.type(o->type, number_of(k), a->value, k->extra) : k->delete.comm(o->comm, number_of(k), a->value, k->extra));
}

static struct gigarank_attribute **place_of(const struct owner *o, const struct gigarank_keyval *k) {
	struct gigarank_attribute **link = o->list;
	while (*link && (*link)->key != k)
		link = &(*link)->next;
	return link;
}

static int put(const char *function, const struct owner *o, struct gigarank_keyval *k, void *value) {
	struct gigarank_attribute *a = *place_of(o, k);
	if (a) {
		CHECK(deleted(function, o, a));
		a->value = value;
		return MPI_SUCCESS;
	}
	if (!(a = malloc(sizeof *a)))
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for an attribute");
	*a = (struct gigarank_attribute){*o->list, gigarank_retain(k), value};
	*o->list = a;
	return MPI_SUCCESS;
}

/* removed deletes an attribute, unless its delete function fails. */
static int removed(const char *function, const struct owner *o, struct gigarank_attribute **link) {
	struct gigarank_attribute *a = *link;
	CHECK(deleted(function, o, a));
	for (link = o->list; *link != a; link = &(*link)->next)
		; /* the function may have changed the list */
	*link = a->next;
	gigarank_release_object(a->key);
	free(a);
	return MPI_SUCCESS;
}

static int remove_all(const char *function, const struct owner *o) {
	while (*o->list)
		CHECK(removed(function, o, o->list));
	return MPI_SUCCESS;
}

/* copy_all copies attributes in the order in which they were set. */
static int copy_all(const char *function, const struct owner *from, const struct gigarank_attribute *a, const struct owner *to) {
	void *value = NULL;
	int flag = 0;
	if (!a)
		return MPI_SUCCESS;
	CHECK(copy_all(function, from, a->next, to));
	CHECK(copied(function, from, a, &value, &flag));
	return flag ? put(function, to, a->key, value) : MPI_SUCCESS;
}

/* --- owners of attributes ---------------------------------------------------------- */

/* Attributes that a rank has given a predefined type. */
struct gigarank_noted_type {
	struct gigarank_noted_type *next;
	const struct gigarank_datatype *type;
	struct gigarank_attribute *attributes;
};

void gigarank_forget_types(struct gigarank_own *own) {
	for (struct gigarank_noted_type *n = own->types, *next; n; n = next) {
		next = n->next;
		gigarank_free_attributes(n->attributes);
		free(n);
	}
}

static int comm_owner(const char *function, MPI_Comm comm, struct owner *o) {
	struct gigarank_call c = {0};
	CHECK(gigarank_find(function, GIGARANK_NONE, comm, &c));
	struct gigarank_comm *noted = gigarank_note(&c);
	if (!noted)
		return MPI_ERR_NO_MEM;
	*o = (struct owner){.list = &noted->attributes, .comm = comm};
	return MPI_SUCCESS;
}

static int type_owner(const char *function, MPI_Datatype type, struct owner *o) {
	CHECK(gigarank_active(function, GIGARANK_NONE));
	struct gigarank_datatype *t = gigarank_type(type);
	if (!t)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_TYPE, "the handle is no type, or it has been freed");
	*o = (struct owner){.list = &t->attributes, .type = type};
	if (!t->predefined)
		return MPI_SUCCESS;
	struct gigarank_own *own = gigarank_own();
	struct gigarank_noted_type *n = own ? own->types : NULL;
	while (n && n->type != t)
		n = n->next;
	if (!n) {
		if (!own || !(n = calloc(1, sizeof *n)))
			return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for an attribute");
		n->next = own->types, n->type = t;
		own->types = n;
	}
	o->list = &n->attributes;
	return MPI_SUCCESS;
}

/* find_attribute finds the communicator or datatype, and the key. */
static int find_attribute(const char *function, int of_types, void *handle, int key, struct owner *o, struct gigarank_keyval **k) {
	CHECK(of_types ? type_owner(function, handle, o) : comm_owner(function, handle, o));
	return find_key(function, key, of_types, k);
}

/* --- the functions for communicators and types ------------------------------------------ */

static int set(const char *function, int of_types, void *handle, int key, void *value) {
	struct gigarank_keyval *k;
	struct owner o;
	CHECK(find_attribute(function, of_types, handle, key, &o, &k));
	if (!k->object.handles)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_KEYVAL, "key %d has been freed: what has it keeps it, and nothing more gets it", key);
	return put(function, &o, k, value);
}

static int get(const char *function, int of_types, void *handle, int key, void *value, int *flag) {
	struct gigarank_keyval *k;
	struct owner o;
	CHECK(find_attribute(function, of_types, handle, key, &o, &k));
	const struct gigarank_attribute *a = *place_of(&o, k);
	*flag = a != NULL;
	if (a)
		memcpy(value, &a->value, sizeof a->value);
	return MPI_SUCCESS;
}

static int delete(const char *function, int of_types, void *handle, int key) {
	struct gigarank_keyval *k;
	struct owner o;
	CHECK(find_attribute(function, of_types, handle, key, &o, &k));
	struct gigarank_attribute **link = place_of(&o, k);
	if (!*link)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_KEYVAL, "there is no attribute of key %d", key);
	return removed(function, &o, link);
}

MPI(MPI_Comm_set_attr, MPI_Comm comm, int key, void *value) { return set(__func__, 0, comm, key, value); }
MPI(MPI_Type_set_attr, MPI_Datatype type, int key, void *value) { return set(__func__, 1, type, key, value); }
MPI(MPI_Type_get_attr, MPI_Datatype type, int key, void *value, int *flag) {
	GIVEN(value, "attribute_val", MPI_ERR_ARG);
	GIVEN(flag, "flag", MPI_ERR_ARG);
	return get(__func__, 1, type, key, value, flag);
}
MPI(MPI_Comm_delete_attr, MPI_Comm comm, int key) { return delete(__func__, 0, comm, key); }
MPI(MPI_Type_delete_attr, MPI_Datatype type, int key) { return delete(__func__, 1, type, key); }

/* A communicator has the attributes that MPI sets, too. */
MPI(MPI_Comm_get_attr, MPI_Comm comm, int key, void *value, int *flag) {
	GIVEN(value, "attribute_val", MPI_ERR_ARG);
	GIVEN(flag, "flag", MPI_ERR_ARG);
	static int tag = 0x7fffffff, host = MPI_PROC_NULL, global = 1, io = MPI_ANY_SOURCE, number = 0;
	struct gigarank_call c = {0};
	CHECK(find(GIGARANK_NONE, comm, &c));
	int *found = key == MPI_TAG_UB ? &tag : key == MPI_HOST ? &host : key == MPI_WTIME_IS_GLOBAL ? &global : key == MPI_IO ? &io : key == MPI_APPNUM ? &number : NULL;
	if (key == MPI_UNIVERSE_SIZE || key == MPI_LASTUSEDCODE) {
		struct gigarank_own *own = gigarank_own();
		if (!own)
			return refuse(GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for an attribute");
		found = key == MPI_UNIVERSE_SIZE ? &own->universe : &own->last_code;
	}
	if (!found)
		return get(__func__, 0, comm, key, value, flag);
	*flag = 1;
	memcpy(value, &found, sizeof found);
	return MPI_SUCCESS;
}

MPI(MPI_Attr_put, MPI_Comm comm, int key, void *value) { return PMPI_Comm_set_attr(comm, key, value); }
MPI(MPI_Attr_get, MPI_Comm comm, int key, void *value, int *flag) { return PMPI_Comm_get_attr(comm, key, value, flag); }
MPI(MPI_Attr_delete, MPI_Comm comm, int key) { return PMPI_Comm_delete_attr(comm, key); }
MPI(MPI_Keyval_free, int *key) { return PMPI_Comm_free_keyval(key); }
MPI(MPI_Keyval_create, MPI_Copy_function *copy, MPI_Delete_function *delete, int *key, void *extra) { return PMPI_Comm_create_keyval(copy, delete, key, extra); }

/* --- copies and ends ---------------------------------------------------------------------- */

int gigarank_copy_attributes(const char *function, MPI_Comm comm, MPI_Comm made) {
	struct owner from, to;
	struct gigarank_call c = {0};
	CHECK(gigarank_find(function, GIGARANK_NONE, comm, &c));
	struct gigarank_comm *noted = gigarank_comm_record(c.comm);
	if (!noted || !noted->attributes)
		return MPI_SUCCESS;
	CHECK(comm_owner(function, comm, &from));
	CHECK(comm_owner(function, made, &to));
	return copy_all(function, &from, *from.list, &to);
}

int gigarank_drop_attributes(const char *function, MPI_Comm comm) {
	struct gigarank_call c = {0};
	CHECK(gigarank_find(function, GIGARANK_NONE, comm, &c));
	struct gigarank_comm *noted = gigarank_comm_record(c.comm);
	return noted ? remove_all(function, &(struct owner){.list = &noted->attributes, .comm = comm}) : MPI_SUCCESS;
}

int gigarank_drop_type_attributes(const char *function, struct gigarank_datatype *t) {
	return remove_all(function, &(struct owner){.list = &t->attributes, .type = gigarank_type_handle(t)});
}

int gigarank_copy_type_attributes(MPI_Datatype type, struct gigarank_datatype *from, struct gigarank_datatype *to) {
	struct owner o;
	if (from->predefined && (!gigarank_running()->own || !gigarank_running()->own->types))
		return MPI_SUCCESS;
	CHECK(type_owner("PMPI_Type_dup", type, &o));
	return copy_all("PMPI_Type_dup", &o, *o.list, &(struct owner){.list = &to->attributes, .type = gigarank_type_handle(to)});
}
