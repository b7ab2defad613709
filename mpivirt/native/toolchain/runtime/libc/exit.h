/* The end of ranks, and the functions that are called then. */
#ifndef GIGARANK_LIBC_EXIT_H
#define GIGARANK_LIBC_EXIT_H

#pragma GCC visibility push(hidden)

/* gigarank_at_exit has a function called when the running rank ends, with the argument what and the exit code. */
void gigarank_at_exit(void (*f)(void *, int), void *what);

#pragma GCC visibility pop

#endif
