/* Foreign calls: code of the program that no rank runs calls a function which only a rank may call. */
#ifndef GIGARANK_RANK_FOREIGN_H
#define GIGARANK_RANK_FOREIGN_H

#pragma GCC visibility push(hidden)

/* gigarank_note_foreign_call notes a foreign call, of a function by its name or by its procedure. It returns 0 for code that is
 * not the program's, and ends a process that a rank has forked. */
int gigarank_note_foreign_call(const char *function, int procedure);

/* gigarank_end_foreign stops the thread or operation when code outside a rank calls exit() or the like. It does nothing for
 * library code. */
void gigarank_end_foreign(const char *function);

#pragma GCC visibility pop

#endif
