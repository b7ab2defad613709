/* Memory that stands for that of other ranks displaces the memory of a rank from the caches. */
#include "rank/caches.h"

void gigarank_displace(struct gigarank_engine *e, struct gigarank_rank *r) {
	if (e->warm == r && e->count > 1)
		return;
	e->warm = r;
	for (size_t n = 0; n < e->beside_bytes / (size_t)e->count; n += GIGARANK_CACHE_LINE) {
		e->beside[e->beside_at]++;
		e->beside_at += GIGARANK_CACHE_LINE;
		if (e->beside_at >= e->beside_bytes)
			e->beside_at = 0;
	}
}
