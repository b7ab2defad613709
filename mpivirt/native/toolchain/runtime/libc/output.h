/* The standard output of ranks. */
#ifndef GIGARANK_LIBC_OUTPUT_H
#define GIGARANK_LIBC_OUTPUT_H

#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* gigarank_print takes n bytes that the running rank writes to standard output. It returns their number. */
ssize_t gigarank_print(const char *text, size_t n);

#pragma GCC visibility pop

#endif
