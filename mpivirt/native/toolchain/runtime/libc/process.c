/* State that the C library keeps for a process, kept for each rank: random numbers, static results, locale.
 * The state is made when a rank first asks for it. */
#define _GNU_SOURCE
#include "libc/process.h"
#include "libc/pthread_keys.h"
#include "rank/real.h"
#include "rank/running.h"

#include <arpa/inet.h>
#include <langinfo.h>
#include <string.h>

struct gigarank_process *gigarank_process(struct gigarank_rank *r) {
	if (!r->process && !(r->process = calloc(1, sizeof *r->process)))
		gigarank_fatal("gigarank: no memory for what a rank has of a process\n");
	return r->process;
}

int64_t *gigarank_slept(struct gigarank_rank *r, int writes) {
	static int64_t never;
	return writes || r->process ? &gigarank_process(r)->slept : &never;
}

static void forget(struct gigarank_exit_function *all) {
	for (struct gigarank_exit_function *next; all; all = next) {
		next = all->next;
		free(all);
	}
}

void gigarank_forget_process(struct gigarank_rank *r) {
	struct gigarank_process *p = r->process;
	if (!p)
		return;
	forget(p->thread_exits), forget(p->exits), forget(p->quick_exits);
	if (p->locale)
		freelocale(p->locale);
	for (struct gigarank_value *next; p->values; p->values = next) {
		next = p->values->next;
		free(p->values);
	}
	free(p->environment);
	free(p->actions);
	if (p->output)
		real(fclose)(p->output);
	free(p);
	r->process = NULL;
}

struct gigarank_fortran *gigarank_fortran(void) {
	struct gigarank_rank *r = gigarank_running();
	if (r && !r->fortran) {
		r->fortran = gigarank_enlarged(NULL, sizeof *r->fortran);
		memset(r->fortran, 0, sizeof *r->fortran);
	}
	return r ? r->fortran : NULL;
}

void gigarank_close_fortran(struct gigarank_rank *r) {
	if (r->fortran)
		free(r->fortran->handles), gigarank_leave_pthread_keys(r->fortran->pthread_keys);
	free(r->fortran);
	r->fortran = NULL;
}

/* --- random numbers -------------------------------------------------------------------- */

/* generator returns the rank's generator of random, which begins as the generator of the C library does. */
static struct random_data *generator(struct gigarank_rank *r) {
	struct gigarank_process *p = gigarank_process(r);
	if (!p->random.state)
		initstate_r(1, (char *)p->random_state, sizeof p->random_state, &p->random);
	return &p->random;
}

long random(void) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(random)();
	int32_t x;
	random_r(generator(r), &x);
	return x;
}

void srandom(unsigned seed) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		real(srandom)(seed);
	else
		srandom_r(seed, generator(r));
}

int rand(void) { return gigarank_running() ? (int)random() : real(rand)(); }

void srand(unsigned seed) {
	if (gigarank_running())
		srandom(seed);
	else
		real(srand)(seed);
}

/* The functions of the library return a word before the numbers, in which they keep the type. */
char *initstate(unsigned seed, char *state, size_t bytes) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(initstate)(seed, state, bytes);
	struct random_data *g = generator(r);
	char *old = (char *)&g->state[-1];
	return initstate_r(seed, state, bytes, g) == 0 ? old : NULL;
}

char *setstate(char *state) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(setstate)(state);
	struct random_data *g = generator(r);
	char *old = (char *)&g->state[-1];
	return setstate_r(state, g) == 0 ? old : NULL;
}

/* Each function of the family of drand48 has a variant that takes the state. */
#define OF48(type, name, result) \
	type name(void) { \
		struct gigarank_rank *r = gigarank_running(); \
		if (!r) \
			return real(name)(); \
		result x; \
		name##_r(&gigarank_process(r)->drand48, &x); \
		return x; \
	}
#define BY48(type, name, result) \
	type name(unsigned short state[3]) { \
		struct gigarank_rank *r = gigarank_running(); \
		if (!r) \
			return real(name)(state); \
		result x; \
		name##_r(state, &gigarank_process(r)->drand48, &x); \
		return x; \
	}

OF48(double, drand48, double)
OF48(long, lrand48, long)
OF48(long, mrand48, long)
BY48(double, erand48, double)
BY48(long, nrand48, long)
BY48(long, jrand48, long)

void srand48(long seed) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		real(srand48)(seed);
	else
		srand48_r(seed, &gigarank_process(r)->drand48);
}

unsigned short *seed48(unsigned short state[3]) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(seed48)(state);
	struct drand48_data *d = &gigarank_process(r)->drand48;
	seed48_r(state, d);
	return d->__old_x;
}

void lcong48(unsigned short parameters[7]) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		real(lcong48)(parameters);
	else
		lcong48_r(parameters, &gigarank_process(r)->drand48);
}

/* --- static results --------------------------------------------------------------------- */

char *strtok(char *restrict text, const char *restrict separators) {
	struct gigarank_rank *r = gigarank_running();
	return r ? strtok_r(text, separators, &gigarank_process(r)->token) : real(strtok)(text, separators);
}

struct tm *gmtime(const time_t *t) {
	struct gigarank_rank *r = gigarank_running();
	return r ? gmtime_r(t, &gigarank_process(r)->tm) : real(gmtime)(t);
}

struct tm *localtime(const time_t *t) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(localtime)(t);
	tzset();
	return localtime_r(t, &gigarank_process(r)->tm);
}

char *asctime(const struct tm *tm) {
	struct gigarank_rank *r = gigarank_running();
	return r ? asctime_r(tm, gigarank_process(r)->date) : real(asctime)(tm);
}

char *ctime(const time_t *t) { return gigarank_running() ? asctime(localtime(t)) : real(ctime)(t); }

char *strerror(int number) {
	struct gigarank_rank *r = gigarank_running();
	return r ? strerror_r(number, gigarank_process(r)->message, sizeof gigarank_process(r)->message) : real(strerror)(number);
}

/* The library's result is the thread's own. */
char *inet_ntoa(struct in_addr address) {
	struct gigarank_rank *r = gigarank_running();
	return r ? (char *)inet_ntop(AF_INET, &address, gigarank_process(r)->address, sizeof gigarank_process(r)->address) : real(inet_ntoa)(address);
}

/* --- locale ------------------------------------------------------------------------------ */

/* name_of returns the name of a locale for a category, in the rank's memory. */
static char *name_of(struct gigarank_process *p, int category) {
	locale_t l = p->locale;
	if (!l)
		return (char *)"C";
	if (category != LC_ALL)
		return nl_langinfo_l(NL_LOCALE_NAME(category), l);
	static const struct { int category; const char *name; } all[] = {
		{LC_CTYPE, "LC_CTYPE"}, {LC_NUMERIC, "LC_NUMERIC"}, {LC_TIME, "LC_TIME"}, {LC_COLLATE, "LC_COLLATE"}, {LC_MONETARY, "LC_MONETARY"},
		{LC_MESSAGES, "LC_MESSAGES"}, {LC_PAPER, "LC_PAPER"}, {LC_NAME, "LC_NAME"}, {LC_ADDRESS, "LC_ADDRESS"}, {LC_TELEPHONE, "LC_TELEPHONE"},
		{LC_MEASUREMENT, "LC_MEASUREMENT"}, {LC_IDENTIFICATION, "LC_IDENTIFICATION"},
	};
	int same = 1;
	size_t at = 0;
	char *first = nl_langinfo_l(NL_LOCALE_NAME(LC_CTYPE), l);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		const char *name = nl_langinfo_l(NL_LOCALE_NAME(all[i].category), l);
		same = same && strcmp(name, first) == 0;
		int n = snprintf(p->message + at, sizeof p->message - at, "%s%s=%s", i ? ";" : "", all[i].name, name);
		at = at + (size_t)n < sizeof p->message ? at + (size_t)n : sizeof p->message - 1;
	}
	return same ? first : p->message;
}

char *setlocale(int category, const char *name) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(setlocale)(category, name);
	if (category < 0 || category > LC_IDENTIFICATION)
		return NULL;
	struct gigarank_process *p = gigarank_process(r);
	if (name) {
		locale_t base = p->locale ? duplocale(p->locale) : newlocale(LC_ALL_MASK, "C", (locale_t)0);
		locale_t made = base ? newlocale(category == LC_ALL ? LC_ALL_MASK : 1 << category, name, base) : (locale_t)0;
		if (!made) {
			if (base)
				freelocale(base);
			return NULL;
		}
		gigarank_current->keeps |= GIGARANK_KEEPS_LOCALE;
		uselocale(made);
		if (p->locale)
			freelocale(p->locale);
		p->locale = made;
	}
	return name_of(p, category);
}
