/* Constructors of the objects of a program, and the functions that end objects. */
#ifndef GIGARANK_RANK_OBJECT_CONSTRUCTORS_H
#define GIGARANK_RANK_OBJECT_CONSTRUCTORS_H

#include "rank/interface.h"

/* gigarank_hold keeps, for ranks to call, the constructors of the object with a dynamic section, and the functions that end it.
 * Each object of a program calls it when it is loaded; see start.c. */
void gigarank_hold(const void *dynamic);

#pragma GCC visibility push(hidden)

struct dl_phdr_info;

/* gigarank_begin_holding has the objects that this thread loads keep their constructors for ranks, until
 * gigarank_end_holding. gigarank_hold_copy keeps them of an object that is loaded, if it is a program's own copy of a library
 * of the system. gigarank_held returns the constructors that have been kept. */
void gigarank_begin_holding(void);
void gigarank_end_holding(void);
void gigarank_hold_copy(const struct dl_phdr_info *o);
struct gigarank_held *gigarank_held(void);

/* gigarank_ask_processor calls the constructors of a program that ask the processor for its features. */
void gigarank_ask_processor(const struct gigarank_program *p);

/* gigarank_construct has the running rank call the constructors, libraries' first. */
void gigarank_construct(struct gigarank_held *h, int argc, char **argv, char **envp);

/* gigarank_end_next calls the next one of the functions that end the objects of the running rank, the latest object's
 * first. It returns 0 if there are no more. */
int gigarank_end_next(struct gigarank_rank *r);

#pragma GCC visibility pop

#endif
