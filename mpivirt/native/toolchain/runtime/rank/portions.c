/* Portions of variables that many ranks of an engine have with the same content. */
#include "rank/portions.h"

#include <stdlib.h>
#include <string.h>

/* Tables that each rank fills alike, as one of the numbers of all ranks, take memory once, and are not copied at a
 * switch to a rank that has the same. A rank has each portion in its own place, or as one of a few versions.
 * A version is not changed as long as a rank has it. */
enum { VERSIONS = 4, OWN = 0 /* the number before the first version */ };

/* Why the simulator may use the rank's own place: it has got an address there in the call in which the rank waits, or in an earlier call. That counts as long
 * as the rank has active requests; then its portions are compared with the versions again. A rank whose place is used again and again keeps all portions there. */
enum { UNKNOWN, KNOWN_BEFORE, KNOWN, MOST_USES = 16 };

struct gigarank_portions {
	int32_t count;            /* of all ranges */
	int32_t first[32];        /* portion of each range of the program's variables, -1 for a range without */
	char *content;            /* by version and portion */
	int32_t *ranks;           /* that have a version of a portion, likewise */
	uint8_t *placed;          /* by portion: the version that the program has, OWN for another content */
	uint8_t *of;              /* by rank and portion: the rank's version, OWN for its own place; behind them why all must lie there, and the uses of the place that are over */
};

static uint8_t *of(const struct gigarank_portions *s, int64_t lp) { return s->of + lp * (s->count + 2); }

static int32_t at(const struct gigarank_portions *s, int version, int32_t portion) { return (version - 1) * s->count + portion; }

static char *content(const struct gigarank_portions *s, int version, int32_t portion) { return s->content + (size_t)at(s, version, portion) * GIGARANK_PORTION; }

int gigarank_has_portions(const struct gigarank_engine *e, int range) { return e->portions && e->portions->first[range] >= 0; }

/* Large ranges may be mapped, which leaves nothing to copy; images and threads have variables where they are. */
int gigarank_open_portions(struct gigarank_engine *e) {
	const struct gigarank_program *p = e->program;
	struct gigarank_portions *s = calloc(1, sizeof *s);
	if (!s)
		return -1;
	for (int i = 0; i < p->pieces + p->locals; i++) {
		int has = !e->images && i >= p->large && i < p->pieces && p->piece[i].bytes > GIGARANK_PORTION;
		s->first[i] = has ? s->count : -1;
		s->count += has ? (int32_t)((p->piece[i].bytes + GIGARANK_PORTION - 1) / GIGARANK_PORTION) : 0;
	}
	if (!s->count) {
		free(s);
		return 0;
	}
	e->portions = s;
	s->content = calloc((size_t)s->count * VERSIONS, GIGARANK_PORTION);
	s->ranks = calloc((size_t)s->count * VERSIONS, sizeof *s->ranks);
	s->placed = calloc((size_t)s->count, 1);
	s->of = calloc((size_t)e->count + 1, (size_t)s->count + 2);
	return s->content && s->ranks && s->placed && s->of ? 0 : -1;
}

void gigarank_close_portions(struct gigarank_engine *e) {
	struct gigarank_portions *s = e->portions;
	if (!s)
		return;
	free(s->content), free(s->ranks), free(s->placed), free(s->of);
	free(s);
	e->portions = NULL;
}

void gigarank_overwritten(struct gigarank_engine *e) {
	if (e->portions)
		memset(e->portions->placed, OWN, (size_t)e->portions->count);
}

static uint8_t *known(struct gigarank_engine *e, int64_t lp) { return of(e->portions, lp) + e->portions->count; }

static uint8_t *uses(struct gigarank_engine *e, int64_t lp) { return known(e, lp) + 1; }

void gigarank_pin_portions(struct gigarank_engine *e, const struct gigarank_rank *r) { *known(e, r - e->ranks) = KNOWN; }

void gigarank_resume_portions(struct gigarank_engine *e, int32_t lp) {
	if (e->portions && *known(e, lp) == KNOWN)
		*known(e, lp) = KNOWN_BEFORE;
}

/* is_over reports whether the simulator has used a rank's own place and does not any more. */
static int is_over(struct gigarank_engine *e, int32_t lp) { return *known(e, lp) == KNOWN_BEFORE && !e->ranks[lp].actives && *uses(e, lp) < MOST_USES; }

void gigarank_end_portions(struct gigarank_engine *e, int32_t lp) {
	if (e->portions && is_over(e, lp))
		*known(e, lp) = UNKNOWN, ++*uses(e, lp);
}

void gigarank_forget_portions(struct gigarank_engine *e, int32_t lp) {
	struct gigarank_portions *s = e->portions;
	gigarank_overwritten(e);
	for (int32_t i = 0; s && i < s->count; i++)
		if (of(s, lp)[i] != OWN) {
			s->ranks[at(s, of(s, lp)[i], i)]--;
			of(s, lp)[i] = OWN;
		}
}

static size_t bytes_of(const struct gigarank_variables *v, size_t from) { return v->bytes - from < GIGARANK_PORTION ? v->bytes - from : GIGARANK_PORTION; }

void gigarank_portions_in(struct gigarank_engine *e, int32_t lp, int range, const char *own) {
	struct gigarank_portions *s = e->portions;
	const struct gigarank_variables *v = &e->program->piece[range];
	int32_t i = s->first[range];
	for (size_t from = 0; from < v->bytes; from += GIGARANK_PORTION, i++) {
		int version = of(s, lp)[i];
		if (version != OWN && version == s->placed[i])
			continue;
		memcpy(v->address + from, version != OWN ? content(s, version, i) : own + from, bytes_of(v, from));
		s->placed[i] = (uint8_t)version;
	}
}

/* version_of returns the version of a portion that has a content, a new one if there is none, OWN if all versions are taken. */
static int version_of(struct gigarank_portions *s, int32_t portion, const char *now, size_t bytes) {
	int unused = OWN;
	for (int n = 1; n <= VERSIONS; n++) {
		if (!s->ranks[at(s, n, portion)])
			unused = n;
		else if (memcmp(content(s, n, portion), now, bytes) == 0)
			return n;
	}
	if (unused != OWN)
		memcpy(content(s, unused, portion), now, bytes);
	return unused;
}

void gigarank_portions_out(struct gigarank_engine *e, int32_t lp, int range, char *own) {
	struct gigarank_portions *s = e->portions;
	const struct gigarank_variables *v = &e->program->piece[range];
	int over = is_over(e, lp), pinned = *known(e, lp) != UNKNOWN && !over;
	int32_t i = s->first[range];
	for (size_t from = 0; from < v->bytes; from += GIGARANK_PORTION, i++) {
		uint8_t *version = of(s, lp) + i;
		const char *now = v->address + from;
		size_t bytes = bytes_of(v, from);
		if (*version == OWN ? !over && memcmp(now, own + from, bytes) == 0 : !pinned && memcmp(now, content(s, *version, i), bytes) == 0) {
			s->placed[i] = *version;
			continue;
		}
		if (*version != OWN)
			s->ranks[at(s, *version, i)]--;
		*version = (uint8_t)(pinned ? OWN : version_of(s, i, now, bytes));
		s->placed[i] = *version;
		if (*version != OWN)
			s->ranks[at(s, *version, i)]++;
		else
			memcpy(own + from, now, bytes);
	}
}
