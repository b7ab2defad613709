/* A skeleton gives these addresses to calls of MPI in the place of buffers that it has not. Messages between two ranks, and most collectives, know them and
 * move no content. Elsewhere nobody reads what is received there, so that ranks may write it at the same time. What is sent from there is never written: the
 * kernel has one page of zeros for all of it. */
#define _GNU_SOURCE
#include "rank/unread.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A buffer may begin before its address, if the lower bound of its datatype is negative. */
#define BEFORE ((size_t)1 << 30)
#define BYTES (GIGARANK_UNREAD_BYTES / 2)

char *gigarank_unread;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_memory(void) {
	char *m = mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m == MAP_FAILED) {
		fputs("gigarank: no addresses for the messages of a skeleton, which take 128 GiB of addresses and no memory: raise ulimit -v\n", stderr);
		_exit(3);
	}
	gigarank_unread = m;
}

struct gigarank_unread_addresses gigarank_unread_memory(void) {
	pthread_once(&once, open_memory);
	return (struct gigarank_unread_addresses){gigarank_unread + BEFORE, gigarank_unread + BYTES + BEFORE};
}
