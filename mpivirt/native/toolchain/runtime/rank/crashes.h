/* Crashes of ranks, operations that may crash, and the files that code lies in. */
#ifndef GIGARANK_RANK_CRASHES_H
#define GIGARANK_RANK_CRASHES_H

#include "rank/interface.h"

#pragma GCC visibility push(hidden)

/* gigarank_is_own reports whether an object is a library of the program's own. */
int gigarank_is_own(const char *file);

/* gigarank_is_system reports whether a library is the system's. */
int gigarank_is_system(const char *file);

/* gigarank_note_call keeps where the running rank has called a function that returns to an address. */
void gigarank_note_call(void *returns);

/* gigarank_note_place keeps where the program has made the call that the running rank is in. */
void gigarank_note_place(struct gigarank_engine *e);

/* gigarank_note_site keeps where the program makes the call that the running rank is in, in its entry of sites. */
void gigarank_note_site(struct gigarank_engine *e);

/* gigarank_prepare_places makes calls of gigarank_note_place and gigarank_note_site need little stack. */
void gigarank_prepare_places(void);

/* gigarank_die ends the running rank by a signal. */
void gigarank_die(int number) __attribute__((noreturn));

/* gigarank_attempt calls a function with the argument what, and returns 0. After a signal in the function it returns the
 * number of the signal. */
int gigarank_attempt(struct gigarank_engine *e, void (*f)(void *), void *what);

/* gigarank_end_attempt ends a call of gigarank_attempt on this thread. */
void gigarank_end_attempt(void) __attribute__((noreturn));

/* gigarank_faults reports whether memory cannot be read. */
int gigarank_faults(const void *address);

#pragma GCC visibility pop

#endif
