/* The engines of the process, and the mappings that they share. */
#define _GNU_SOURCE
#include "rank/engines.h"
#include "rank/interface.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The engines of this process, which threads of programs look for, and which share its mappings. */
static struct gigarank_engine *engines;
static pthread_mutex_t engines_lock = PTHREAD_MUTEX_INITIALIZER;

struct gigarank_engine *gigarank_lock_engines(void) {
	pthread_mutex_lock(&engines_lock);
	return engines;
}

void gigarank_unlock_engines(void) { pthread_mutex_unlock(&engines_lock); }

void gigarank_enlist(struct gigarank_engine *e) {
	pthread_mutex_lock(&engines_lock);
	e->next = engines;
	engines = e;
	pthread_mutex_unlock(&engines_lock);
}

void gigarank_strike_off(struct gigarank_engine *e) {
	pthread_mutex_lock(&engines_lock);
	struct gigarank_engine **link = &engines;
	while (*link && *link != e)
		link = &(*link)->next;
	if (*link)
		*link = e->next;
	pthread_mutex_unlock(&engines_lock);
}

int64_t gigarank_most_mappings(void) {
	long long most = 65530; /* Linux's default */
	FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
	if (f) {
		if (fscanf(f, "%lld", &most) != 1)
			most = 65530;
		fclose(f);
	}
	return most;
}

/* mappings returns the number of mappings that the process has. */
static int64_t mappings(void) {
	char text[16 << 10];
	int64_t lines = 0;
	ssize_t n;
	int f = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (f < 0)
		return 0;
	while ((n = read(f, text, sizeof text)) > 0)
		for (const char *at = text; (at = memchr(at, '\n', (size_t)(text + n - at))); at++)
			lines++;
	close(f);
	return lines;
}

int64_t gigarank_claim(struct gigarank_engine *e, int64_t wanted) {
	int64_t most = gigarank_most_mappings(), claimed = 0, left;
	for (struct gigarank_engine *other = gigarank_lock_engines(); other; other = other->next)
		claimed += __atomic_load_n(&other->claimed, __ATOMIC_RELAXED);
	left = most - most / 8 - claimed - mappings(); /* in this order: mappings that are made meanwhile count twice */
	if (wanted > left)
		wanted = left > 0 ? left : 0;
	e->claimed += wanted;
	gigarank_unlock_engines();
	return wanted;
}

void gigarank_made(struct gigarank_engine *e, int64_t n) { __atomic_fetch_sub(&e->claimed, n, __ATOMIC_RELAXED); }
