/* Memory that takes the place of buffers whose content nobody reads. */
#ifndef GIGARANK_RANK_UNREAD_H
#define GIGARANK_RANK_UNREAD_H

#include <stddef.h>
#include <stdint.h>

/* The addresses from which, and into which, messages go. All ranks of a process share both, and their memory does not overlap. */
struct gigarank_unread_addresses {
	void *sent, *received;
};
struct gigarank_unread_addresses gigarank_unread_memory(void);

/* The memory of both, NULL before a rank has asked for an address. */
#define GIGARANK_UNREAD_BYTES ((size_t)128 << 30)
extern char *gigarank_unread;

/* gigarank_is_null reports whether a buffer is a null pointer. In a skeleton one that has no content is the first address of the unread memory. */
static inline int gigarank_is_null(const void *buffer) {
	return !buffer || buffer == gigarank_unread;
}

/* gigarank_is_unread reports whether nobody reads a buffer. Its messages have a size, and no content. */
static inline int gigarank_is_unread(const void *buffer) {
	return gigarank_unread && (uintptr_t)buffer - (uintptr_t)gigarank_unread < GIGARANK_UNREAD_BYTES;
}

#endif
