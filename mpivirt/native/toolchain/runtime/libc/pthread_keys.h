/* Keys of pthread_key_create. */
#ifndef GIGARANK_LIBC_PTHREAD_KEYS_H
#define GIGARANK_LIBC_PTHREAD_KEYS_H

#pragma GCC visibility push(hidden)

struct gigarank_pthread_keys;

/* gigarank_leave_pthread_keys ends the use of the keys that a rank has made. */
void gigarank_leave_pthread_keys(struct gigarank_pthread_keys *k);

#pragma GCC visibility pop

#endif
