/* What the files share that run ranks: ranks.c, variables.c, programs.c, crashes.c and output.c. */
#ifndef GIGARANK_RANKS_H
#define GIGARANK_RANKS_H

#include "rank/internal.h"

/* The exceptions that a thread has thrown and caught belong to a rank, too. They take the place of
 * the thread-local variables of an object: this stands for its module. */
#define GIGARANK_EXCEPTIONS ((size_t)-1)

struct dl_phdr_info;

#pragma GCC visibility push(hidden)

/* gigarank_claim has an engine make further mappings, as many of those wanted as there are, and
 * returns their number. gigarank_made notes that it has made some of them. */
int64_t gigarank_claim(struct gigarank_engine *e, int64_t wanted);
void gigarank_made(struct gigarank_engine *e, int64_t n);

/* gigarank_add_variables adds a range of variables to a program, and gigarank_add_object those of a loaded
 * object. gigarank_keep_initial keeps their values before any rank has run. */
void gigarank_add_variables(struct gigarank_program *p, char *address, size_t bytes, size_t given, size_t module);
void gigarank_add_object(struct gigarank_program *p, const struct dl_phdr_info *o);
void gigarank_keep_initial(struct gigarank_program *p);

/* gigarank_open_variables makes the places of the variables of an engine's ranks, and returns another
 * value than 0 if there is no memory. */
int gigarank_open_variables(struct gigarank_engine *e);

/* gigarank_restore puts the variables of a rank where the program has them; gigarank_keep_variables
 * takes them away again. gigarank_locate finds the thread-local ones in this thread. */
void gigarank_restore(struct gigarank_engine *e, int32_t lp);
void gigarank_locate(struct gigarank_program *p);
void gigarank_leave_locals(const struct gigarank_program *p);
int gigarank_first_moved(const struct gigarank_engine *e);

/* gigarank_faults reports whether memory cannot be read. */
int gigarank_faults(const void *address);

/* gigarank_is_system reports whether a library is the system's. */
int gigarank_is_system(const char *file);

#pragma GCC visibility pop

#endif
