/* Objects that ranks make and name by handles: datatypes, error handlers, info objects, keys. */
#ifndef GIGARANK_MPI_OBJECTS_H
#define GIGARANK_MPI_OBJECTS_H

#include "rank/interface.h"

enum gigarank_kind { GIGARANK_FREE, GIGARANK_DATATYPE, GIGARANK_ERRHANDLER, GIGARANK_INFO, GIGARANK_KEYVAL, GIGARANK_SESSION, GIGARANK_KINDS };

/* The head of every object. The memory of an object serves objects of its kind until the engine closes, so that
 * the handle of a freed object is recognised: a handle is the address, and above it
 * how often the memory has been used. */
struct gigarank_object {
	uint32_t kind;
	uint16_t generation; /* of valid handles */
	int32_t handles;     /* uses by handles, and all uses */
	int32_t uses;
	int32_t number;      /* in the engine's table; the object's handle in Fortran */
	struct gigarank_object *next; /* of the free objects of a kind */
	void (*destroy)(struct gigarank_object *); /* gives back the memory and objects that it refers to */
};

/* An attribute of a communicator or datatype. */
struct gigarank_attribute {
	struct gigarank_attribute *next; /* set earlier */
	struct gigarank_keyval *key;     /* an object */
	void *value;
};

#pragma GCC visibility push(hidden)

/* gigarank_new returns a new object with one handle, all zero behind its head, or NULL. All
 * objects of a kind have one size. */
void *gigarank_new(enum gigarank_kind kind, size_t bytes, void (*destroy)(struct gigarank_object *));

/* gigarank_handle returns the handle of an object. */
static inline void *gigarank_handle(const void *object) {
	const struct gigarank_object *o = object;
	return (void *)((uintptr_t)object | (uintptr_t)o->generation << 48);
}

/* gigarank_object returns the object of a kind that a handle names, NULL if it names no such object. */
void *gigarank_object(enum gigarank_kind kind, const void *handle);

/* gigarank_retain adds a use of an object, which it returns. gigarank_release_object ends a use. */
void *gigarank_retain(void *object);
void gigarank_release_object(void *object);

/* gigarank_drop_handle ends the use of an object by a handle. After the last such use its handles are
 * refused. */
void gigarank_drop_handle(void *object);

/* gigarank_free_attributes gives attributes back. It calls no function of their keys, and the keys stay. */
void gigarank_free_attributes(struct gigarank_attribute *list);

/* gigarank_close_objects gives back all objects of an engine. */
void gigarank_close_objects(struct gigarank_engine *e);

#pragma GCC visibility pop

#endif
