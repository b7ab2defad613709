/* The environment of ranks. */
#ifndef GIGARANK_LIBC_ENVIRONMENT_H
#define GIGARANK_LIBC_ENVIRONMENT_H

#include "rank/interface.h"

#pragma GCC visibility push(hidden)

/* gigarank_environment returns the running rank's own environment. */
char **gigarank_environment(struct gigarank_rank *r);

/* gigarank_begin_environment returns the environment for the main of the running rank: its own if the program has
 * a variable for it, else the environment that all ranks share. */
char **gigarank_begin_environment(struct gigarank_rank *r);

#pragma GCC visibility pop

#endif
