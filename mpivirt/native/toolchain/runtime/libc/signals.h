/* Signals of ranks. */
#ifndef GIGARANK_LIBC_SIGNALS_H
#define GIGARANK_LIBC_SIGNALS_H

#include "rank/interface.h"

#pragma GCC visibility push(hidden)

/* gigarank_handler returns the function that a rank has for a signal: SIG_DFL, SIG_IGN or its own. */
void (*gigarank_handler(struct gigarank_rank *r, int number))(int);

#pragma GCC visibility pop

#endif
