/* The standard output of ranks. */
#ifndef GIGARANK_LIBC_OUTPUT_H
#define GIGARANK_LIBC_OUTPUT_H

#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* gigarank_print takes what the running rank writes to standard output. */
ssize_t gigarank_print(const char *text, size_t n);

#pragma GCC visibility pop

#endif
