/* Memory that takes the place of buffers whose content nobody reads. */
#ifndef GIGARANK_RANK_UNREAD_H
#define GIGARANK_RANK_UNREAD_H

/* The addresses of memory from which, and into which, messages of skeletons go. All ranks of a process share both, and they do not overlap. */
void *gigarank_unread_sent(void);
void *gigarank_unread_received(void);

#endif
