/* Switches between stacks, and accesses of memory that may fault; see switch.S. */
#ifndef GIGARANK_RANK_SWITCH_H
#define GIGARANK_RANK_SWITCH_H

#pragma GCC visibility push(hidden)

/* gigarank_switch stores the stack pointer and goes on with another stack pointer; see switch.S. */
void gigarank_switch(void **from, void *to);

/* gigarank_begin is where a new stack goes on: it calls gigarank_rank_main. */
extern char gigarank_begin[];

/* gigarank_reads and gigarank_writes access two bytes. They return 0, and another value if a byte cannot be
 * accessed. */
int gigarank_reads(const void *first, const void *last);
int gigarank_writes(void *first, void *last);

/* A signal in the code from gigarank_reads up to gigarank_probed makes the thread go on at gigarank_not_there. */
extern char gigarank_probed[], gigarank_not_there[];

#pragma GCC visibility pop

#endif
