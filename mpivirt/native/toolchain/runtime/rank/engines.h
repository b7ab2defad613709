/* The engines of the process, and the mappings that they share. */
#ifndef GIGARANK_RANK_ENGINES_H
#define GIGARANK_RANK_ENGINES_H

#include "rank/interface.h"

#pragma GCC visibility push(hidden)

/* gigarank_enlist adds an engine to the list of the process, and gigarank_strike_off takes it from the list. */
void gigarank_enlist(struct gigarank_engine *e);
void gigarank_strike_off(struct gigarank_engine *e);

/* gigarank_lock_engines returns the first engine of the list, which stays as it is until gigarank_unlock_engines. */
struct gigarank_engine *gigarank_lock_engines(void);
void gigarank_unlock_engines(void);

/* gigarank_most_mappings returns the number of mappings that the system lets a process have. */
int64_t gigarank_most_mappings(void);

/* gigarank_claim reserves further mappings for guards and variables of an engine's ranks, at most the wanted number, and returns
 * their number. An eighth of the mappings that the process may have stays free. gigarank_made notes that the engine has made
 * some of them. */
int64_t gigarank_claim(struct gigarank_engine *e, int64_t wanted);
void gigarank_made(struct gigarank_engine *e, int64_t n);

#pragma GCC visibility pop

#endif
