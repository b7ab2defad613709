/* The start and end of MPI in a rank. */
#ifndef GIGARANK_MPI_START_H
#define GIGARANK_MPI_START_H

struct gigarank_rank;

#pragma GCC visibility push(hidden)

/* gigarank_forget_rank gives back the rare state of a rank, and its communicators. */
void gigarank_forget_rank(struct gigarank_rank *r);

#pragma GCC visibility pop

#endif
