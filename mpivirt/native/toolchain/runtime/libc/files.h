/* The files and working directories of ranks. */
#ifndef GIGARANK_LIBC_FILES_H
#define GIGARANK_LIBC_FILES_H

#include "rank/interface.h"
#include <stdio.h>

#pragma GCC visibility push(hidden)

/* gigarank_adopt gives the thread the locale, directory and mask of a rank, or those of the run if r is NULL. */
void gigarank_adopt(struct gigarank_engine *e, struct gigarank_rank *r);

/* gigarank_close_directories ends the use of an engine's directories. */
void gigarank_close_directories(struct gigarank_engine *e);

/* gigarank_has_closed reports whether a rank has closed the file of a standard stream.
 * gigarank_output returns the file to which the rank's standard output goes, NULL if it goes to the simulator. */
int gigarank_has_closed(struct gigarank_rank *r, int file);
FILE *gigarank_output(struct gigarank_rank *r);

#pragma GCC visibility pop

#endif
