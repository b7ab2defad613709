/* Threads that ranks start, and functions that a rank must not call. */
#ifndef GIGARANK_LIBC_THREADS_H
#define GIGARANK_LIBC_THREADS_H

#pragma GCC visibility push(hidden)

/* gigarank_forbid ends a rank that calls a function which would change the process of the simulator. It says why. */
void gigarank_forbid(const char *function, const char *why);

#pragma GCC visibility pop

#endif
