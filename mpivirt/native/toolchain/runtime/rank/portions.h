/* Portions of variables that many ranks of an engine have with the same content. */
#ifndef GIGARANK_RANK_PORTIONS_H
#define GIGARANK_RANK_PORTIONS_H

#include "rank/interface.h"

#pragma GCC visibility push(hidden)

enum { GIGARANK_PORTION = 4096 }; /* bytes */

/* gigarank_open_portions makes the portions of an engine, if its program has some. It returns another value than 0 if there is no memory. */
int gigarank_open_portions(struct gigarank_engine *e);
void gigarank_close_portions(struct gigarank_engine *e);

/* gigarank_has_portions reports whether a range of variables is kept by portions. gigarank_portions_in copies a range from a rank's own place, and from what it has
 * in common with others, to the program; gigarank_portions_out takes it away again, and gigarank_end_portions follows once that is done for all ranges. */
int gigarank_has_portions(const struct gigarank_engine *e, int range);
void gigarank_portions_in(struct gigarank_engine *e, int32_t lp, int range, const char *own);
void gigarank_portions_out(struct gigarank_engine *e, int32_t lp, int range, char *own);
void gigarank_end_portions(struct gigarank_engine *e, int32_t lp);

/* gigarank_overwritten says that the program's variables are no longer those of the rank that was there last. gigarank_forget_portions says that a rank has ended. */
void gigarank_overwritten(struct gigarank_engine *e);
void gigarank_forget_portions(struct gigarank_engine *e, int32_t lp);

/* gigarank_pin_portions has all variables of the running rank lie in its own place from its next switch on: the simulator gets an address there, for the call in
 * which the rank waits, and for requests that it begins. gigarank_resume_portions says that the rank goes on after the call. */
void gigarank_pin_portions(struct gigarank_engine *e, const struct gigarank_rank *r);
void gigarank_resume_portions(struct gigarank_engine *e, int32_t lp);

#pragma GCC visibility pop

#endif
