/* Programs that are loaded. */
#ifndef GIGARANK_RANK_PROGRAMS_H
#define GIGARANK_RANK_PROGRAMS_H

#pragma GCC visibility push(hidden)

/* gigarank_hosted tells that a simulator has loaded a program. Else a program runs by itself. */
extern int gigarank_hosted;

/* gigarank_rank_main is a rank, on its own stack. */
void gigarank_rank_main(void) __attribute__((noreturn));

#pragma GCC visibility pop

#endif
