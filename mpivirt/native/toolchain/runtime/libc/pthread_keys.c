/* Keys of pthread_key_create. The keys that a rank makes are its own, and so are the values that it sets for them: the library
 * of Fortran keeps the state of random numbers under a key. A thread that the rank has started has values of
 * its own. */
#define _GNU_SOURCE
#include "libc/pthread_keys.h"
#include "libc/process.h"
#include "rank/real.h"
#include "rank/running.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <threads.h>

/* The number of a key tells its place and how often the place has been used, so that a deleted key
 * is told from a later key in its place. Lower numbers are the C library's. */
enum { FIRST_KEY = 1 << 20, MOST = 1024 /* PTHREAD_KEYS_MAX */, FEW = 4, TURNS = 1 << 20 };

struct key {
	void *value; /* that the rank keeps */
	void (*destructor)(void *);
	pthread_key_t number; /* 0 if the place is free */
	uint32_t turn;
};

struct gigarank_pthread_keys {
	int users; /* the rank, and threads */
	struct key few[FEW], *more;
};

/* The values of a thread, by place of the key. */
struct kept {
	struct gigarank_pthread_keys *of;
	unsigned room;
	struct { pthread_key_t number; void *value; } at[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t end_key; /* by which the C library tells that a thread ends */
static __thread struct kept *mine __attribute__((tls_model("initial-exec")));

/* owner returns the state for Fortran of the rank that runs, or that has started this thread; NULL without such a rank. */
static struct gigarank_fortran *owner(void) {
	if (gigarank_running())
		return gigarank_fortran();
	return gigarank_parent.engine ? gigarank_parent.engine->ranks[gigarank_parent.lp].fortran : NULL;
}

static struct key *place(struct gigarank_pthread_keys *k, unsigned i) {
	struct key *more = i < FEW ? NULL : __atomic_load_n(&k->more, __ATOMIC_ACQUIRE);
	return i < FEW ? &k->few[i] : more ? &more[i - FEW] : NULL;
}

/* key_of returns the key of a rank that has a number, NULL if no key has it. */
static struct key *key_of(struct gigarank_fortran *f, pthread_key_t number) {
	struct key *key = f && f->pthread_keys ? place(f->pthread_keys, (number - FIRST_KEY) % MOST) : NULL;
	return key && key->number == number ? key : NULL;
}

/* take_free returns a free place, NULL if all are taken. */
static struct key *take_free(struct gigarank_fortran *f, unsigned *at) {
	if (!f->pthread_keys && (f->pthread_keys = calloc(1, sizeof *f->pthread_keys)))
		f->pthread_keys->users = 1;
	for (*at = 0; f->pthread_keys && *at < MOST; ++*at) {
		if (*at == FEW && !f->pthread_keys->more)
			__atomic_store_n(&f->pthread_keys->more, calloc(MOST - FEW, sizeof(struct key)), __ATOMIC_RELEASE);
		struct key *key = place(f->pthread_keys, *at);
		if (!key || !key->number)
			return key;
	}
	return NULL;
}

int pthread_key_create(pthread_key_t *number, void (*destructor)(void *)) {
	struct gigarank_fortran *f = owner();
	unsigned at;
	if (!f)
		return real(pthread_key_create)(number, destructor);
	pthread_mutex_lock(&lock);
	struct key *key = take_free(f, &at);
	if (key) {
		key->value = NULL, key->destructor = destructor;
		*number = key->number = FIRST_KEY + key->turn * MOST + at;
	}
	pthread_mutex_unlock(&lock);
	return key ? 0 : EAGAIN;
}

int pthread_key_delete(pthread_key_t number) {
	if (number < FIRST_KEY)
		return real(pthread_key_delete)(number);
	struct gigarank_fortran *f = owner();
	pthread_mutex_lock(&lock);
	struct key *key = key_of(f, number);
	if (key)
		key->number = 0, key->turn = (key->turn + 1) % TURNS;
	pthread_mutex_unlock(&lock);
	return key || !f ? 0 : EINVAL;
}

/* --- values ---------------------------------------------------------------------------------- */

void gigarank_leave_pthread_keys(struct gigarank_pthread_keys *k) {
	if (!k)
		return;
	pthread_mutex_lock(&lock);
	int users = --k->users;
	pthread_mutex_unlock(&lock);
	if (!users)
		free(k->more), free(k);
}

/* destroy calls the destructor for the value that an ending thread keeps at a place, if the rank still has the
 * key, and reports whether it does. */
static int destroy(unsigned at) {
	void *value = mine->at[at].value;
	void (*destructor)(void *) = NULL;
	mine->at[at].value = NULL;
	if (!value)
		return 0;
	pthread_mutex_lock(&lock);
	struct key *key = place(mine->of, at);
	if (key && key->number == mine->at[at].number)
		destructor = key->destructor;
	pthread_mutex_unlock(&lock);
	if (destructor)
		destructor(value);
	return destructor != NULL;
}

/* thread_ends calls the destructors of a thread's values. Destructors may set values anew. */
static void thread_ends(void *unused) {
	(void)unused;
	for (int again = 1, turn = 0; again && turn < 4 /* PTHREAD_DESTRUCTOR_ITERATIONS */; turn++) {
		again = 0;
		for (unsigned i = 0; i < mine->room; i++)
			again |= destroy(i);
	}
	real(pthread_setspecific)(end_key, NULL);
	gigarank_leave_pthread_keys(mine->of);
	free(mine);
	mine = NULL;
}

static void make_end_key(void) { real(pthread_key_create)(&end_key, thread_ends); }

/* keep keeps a value for this thread, which is no rank. */
static int keep(pthread_key_t number, const void *value) {
	unsigned at = (number - FIRST_KEY) % MOST, old = mine ? mine->room : 0;
	struct gigarank_fortran *f = owner();
	if (!key_of(f, number))
		return EINVAL;
	if (at >= old) {
		unsigned room = (at + 8) & ~7u;
		struct kept *larger = realloc(mine, sizeof *larger + room * sizeof *larger->at);
		if (!larger)
			return ENOMEM;
		memset(&larger->at[old], 0, (room - old) * sizeof *larger->at);
		larger->room = room;
		if (!mine) {
			larger->of = f->pthread_keys;
			pthread_mutex_lock(&lock);
			f->pthread_keys->users++;
			pthread_mutex_unlock(&lock);
		}
		mine = larger;
		pthread_once(&once, make_end_key);
		real(pthread_setspecific)(end_key, mine);
	}
	mine->at[at].number = number, mine->at[at].value = (void *)value;
	return 0;
}

void *pthread_getspecific(pthread_key_t number) {
	if (number < FIRST_KEY)
		return real(pthread_getspecific)(number);
	if (gigarank_running()) {
		struct key *key = key_of(gigarank_fortran(), number);
		return key ? key->value : NULL;
	}
	unsigned at = (number - FIRST_KEY) % MOST;
	return mine && at < mine->room && mine->at[at].number == number ? mine->at[at].value : NULL;
}

int pthread_setspecific(pthread_key_t number, const void *value) {
	if (number < FIRST_KEY)
		return real(pthread_setspecific)(number, value);
	if (!gigarank_running())
		return keep(number, value);
	struct key *key = key_of(gigarank_fortran(), number);
	if (key)
		key->value = (void *)value;
	return key ? 0 : EINVAL;
}

/* The same in C11. */
int tss_create(tss_t *key, tss_dtor_t destructor) { return pthread_key_create(key, destructor) ? thrd_error : thrd_success; }
void tss_delete(tss_t key) { pthread_key_delete(key); }
void *tss_get(tss_t key) { return pthread_getspecific(key); }
int tss_set(tss_t key, void *value) { return pthread_setspecific(key, value) ? thrd_error : thrd_success; }
