/* Objects of ranks, by handle. */
#include "mpi/objects.h"
#include "rank/running.h"

#include <stdlib.h>
#include <string.h>

static const uintptr_t address_bits = ((uintptr_t)1 << 48) - 1;

void *gigarank_new(enum gigarank_kind kind, size_t bytes, void (*destroy)(struct gigarank_object *)) {
	struct gigarank_engine *e = gigarank_current;
	struct gigarank_object *o = e->free_objects[kind];
	if (o) {
		int32_t number = o->number;
		uint16_t generation = o->generation;
		e->free_objects[kind] = o->next;
		memset(o, 0, bytes);
		o->number = number, o->generation = generation;
	} else {
		if (e->object_count == e->object_room) {
			int32_t room = 2 * e->object_room + 64;
			struct gigarank_object **larger = realloc(e->objects, (size_t)room * sizeof *larger);
			if (!larger)
				return NULL;
			e->objects = larger, e->object_room = room;
		}
		if (!(o = calloc(1, bytes)))
			return NULL;
		o->generation = 1;
		o->number = e->object_count;
		e->objects[e->object_count++] = o;
	}
	o->kind = kind, o->handles = o->uses = 1, o->destroy = destroy;
	return o;
}

void *gigarank_object(enum gigarank_kind kind, const void *handle) {
	struct gigarank_object *o = (struct gigarank_object *)((uintptr_t)handle & address_bits);
	if ((uintptr_t)o < GIGARANK_PREDEFINED || (uintptr_t)o % 16)
		return NULL;
	return o->kind == kind && o->handles > 0 && o->generation == (uintptr_t)handle >> 48 ? o : NULL;
}

void *gigarank_retain(void *object) {
	((struct gigarank_object *)object)->uses++;
	return object;
}

void gigarank_release_object(void *object) {
	struct gigarank_object *o = object;
	if (--o->uses > 0)
		return;
	if (o->destroy)
		o->destroy(o);
	struct gigarank_engine *e = gigarank_current;
	o->next = e->free_objects[o->kind];
	e->free_objects[o->kind] = o;
	o->kind = GIGARANK_FREE;
}

void gigarank_drop_handle(void *object) {
	struct gigarank_object *o = object;
	if (--o->handles == 0 && ++o->generation == 0)
		o->generation = 1;
	gigarank_release_object(o);
}

void gigarank_free_attributes(struct gigarank_attribute *list) {
	for (struct gigarank_attribute *next; list; list = next) {
		next = list->next;
		free(list);
	}
}

void gigarank_close_objects(struct gigarank_engine *e) {
	gigarank_current = e; /* destroying an object releases other objects */
	for (int32_t i = 0; i < e->object_count; i++)
		if (e->objects[i]->kind != GIGARANK_FREE && e->objects[i]->destroy) {
			void (*destroy)(struct gigarank_object *) = e->objects[i]->destroy;
			e->objects[i]->destroy = NULL;
			destroy(e->objects[i]);
		}
	gigarank_current = NULL;
	for (int32_t i = 0; i < e->object_count; i++)
		free(e->objects[i]);
	free(e->objects);
}
