/* Tasks: pieces of computing that a skeleton leaves out, and that the timed form of a program times. */
#ifndef GIGARANK_RANK_TASKS_H
#define GIGARANK_RANK_TASKS_H

#include "rank/interface.h"

/* A program calls both around a task. The iterations are those that the loops of the task have made. A skeleton makes the second call alone. */
void gigarank_task_begin(int32_t task);
void gigarank_task_end(int32_t task, int64_t iterations);

/* A timed form calls this in front of the second, with the iterations of loops that its skeleton cannot count. */
void gigarank_task_uncounted(int32_t task, int64_t iterations);

#endif
