/* Waits for requests. */
#ifndef GIGARANK_MPI_WAITS_H
#define GIGARANK_MPI_WAITS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* gigarank_wait_alone waits for a request of the simulator's. */
int gigarank_wait_alone(int32_t index, int64_t *bytes);

#pragma GCC visibility pop

#endif
