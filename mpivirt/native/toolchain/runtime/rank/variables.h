/* The variables of programs, of which each rank has its own. */
#ifndef GIGARANK_RANK_VARIABLES_H
#define GIGARANK_RANK_VARIABLES_H

#include "rank/interface.h"

#pragma GCC visibility push(hidden)

/* The exceptions that a thread has thrown and caught belong to a rank, too. They take the place of
 * the thread-local variables of an object: this stands for its module. */
#define GIGARANK_EXCEPTIONS ((size_t)-1)

struct dl_phdr_info;

/* gigarank_add_variables adds a range of variables to a program, and gigarank_add_object those of a loaded
 * object. gigarank_keep_initial keeps the values of all variables before any rank has run. */
void gigarank_add_variables(struct gigarank_program *p, char *address, size_t bytes, size_t given, size_t module);
void gigarank_add_object(struct gigarank_program *p, const struct dl_phdr_info *o);
void gigarank_keep_initial(struct gigarank_program *p);

/* gigarank_open_variables makes the places of the variables of an engine's ranks, and returns another
 * value than 0 if there is no memory. */
int gigarank_open_variables(struct gigarank_engine *e);

/* gigarank_restore puts the variables of a rank where the program has them; gigarank_keep_variables
 * takes them away again. gigarank_locate finds the thread-local variables in this thread. */
void gigarank_restore(struct gigarank_engine *e, int32_t lp);
void gigarank_locate(struct gigarank_program *p);
void gigarank_leave_locals(const struct gigarank_program *p);
int gigarank_first_moved(const struct gigarank_engine *e);

/* gigarank_place_variables puts the variables of a suspended rank where the program has them, and
 * gigarank_keep_variables takes them away again. gigarank_has_variables returns 0 for a rank that has
 * ended, or a program without variables. gigarank_among_variables reports whether memory overlaps the
 * copy of a rank's variables. */
int gigarank_has_variables(const struct gigarank_engine *e, int32_t lp);
int gigarank_among_variables(const struct gigarank_engine *e, int32_t lp, const void *memory, size_t bytes);
void gigarank_place_variables(struct gigarank_engine *e, int32_t lp);
void gigarank_keep_variables(struct gigarank_engine *e, int32_t lp);

#pragma GCC visibility pop

#endif
