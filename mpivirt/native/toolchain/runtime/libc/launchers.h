/* The variables of the environment that launchers set. */
#ifndef GIGARANK_LIBC_LAUNCHERS_H
#define GIGARANK_LIBC_LAUNCHERS_H

#include "rank/interface.h"

#pragma GCC visibility push(hidden)

/* The number of variables that launchers set, and bytes that hold the entry of a variable. */
#define GIGARANK_LAUNCHER_VARIABLES 19
#define GIGARANK_LAUNCHER_ROOM 48

/* gigarank_of_launcher returns the number of a variable that launchers set, -1 for other variables. gigarank_launcher_entry writes
 * a rank's entry of such a variable. */
int gigarank_of_launcher(const char *name, size_t length);
int gigarank_launcher_entry(struct gigarank_rank *r, int i, char *entry, size_t room);

/* gigarank_without_launcher returns a list of variables of the environment without the variables that launchers set, NULL if
 * memory lacks. */
char **gigarank_without_launcher(char **list);

#pragma GCC visibility pop

#endif
