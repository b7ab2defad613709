/* Tables of handles, and numbers. */
#include "trace.h"

#include <stddef.h>

int make_table(struct table *t) {
	t->entries = room(sizeof *t->entries * MOST_ENTRIES);
	t->chains = room(sizeof *t->chains * CHAINS);
	t->next = 1;
	return t->entries && t->chains;
}

static int32_t *chain_of(const struct table *t, uint64_t key) { return &t->chains[(key * 0x9e3779b97f4a7c15u) >> 50]; }

/* add_entry returns the new entry, the last of its chain; 0 if there is no room. */
int32_t add_entry(struct table *t, uint64_t key, int32_t value) {
	int32_t e = t->free;
	if (e)
		t->free = t->entries[e].after;
	else if (t->next < MOST_ENTRIES)
		e = t->next++;
	else
		return 0;
	int32_t *chain = chain_of(t, key), first = *chain;
	t->entries[e] = (struct entry){.key = key, .value = value, .before = e};
	if (!first) {
		*chain = e;
		return e;
	}
	int32_t last = t->entries[first].before;
	t->entries[last].after = e, t->entries[e].before = last, t->entries[first].before = e;
	return e;
}

/* find_entry returns the first entry with a key, 0 for none. */
int32_t find_entry(const struct table *t, uint64_t key) {
	int32_t e = *chain_of(t, key);
	while (e && t->entries[e].key != key)
		e = t->entries[e].after;
	return e;
}

void remove_entry(struct table *t, int32_t e) {
	struct entry *x = &t->entries[e];
	int32_t *chain = chain_of(t, x->key), first = *chain;
	if (first == e) {
		*chain = x->after;
		if (x->after)
			t->entries[x->after].before = x->before;
	} else {
		t->entries[x->before].after = x->after;
		t->entries[x->after ? x->after : first].before = x->before;
	}
	x->after = t->free;
	t->free = e;
}

/* take_number returns the least free number, -1 if there are too many. */
int64_t take_number(struct numbers *n) {
	for (; n->from < MOST_ENTRIES / 64; n->from++)
		if (~n->used[n->from]) {
			int bit = __builtin_ctzll(~n->used[n->from]);
			n->used[n->from] |= 1ull << bit;
			return n->from * 64 + bit;
		}
	return -1;
}

void free_number(struct numbers *n, int64_t i) {
	n->used[i / 64] &= ~(1ull << (i % 64));
	if (i / 64 < n->from)
		n->from = i / 64;
}
