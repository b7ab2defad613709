/* What the files of the C runtime share. */
#ifndef GIGARANK_INTERNAL_H
#define GIGARANK_INTERNAL_H

#include "rank/interface.h"
#include "mpi.h"

#include <sys/types.h>

/* The engine whose rank runs on this thread, NULL outside ranks. A rank that has suspended itself may
 * go on on another thread. On amd64 each access names the thread. Elsewhere compilers take the thread
 * to be the same in all of a function, so a function of its own finds the variable. */
#if defined(__x86_64__)
extern __thread struct gigarank_engine *gigarank_current __attribute__((visibility("hidden"), tls_model("initial-exec")));
#else
struct gigarank_engine **gigarank_engine_of_thread(void) __attribute__((visibility("hidden")));
#define gigarank_current (*gigarank_engine_of_thread())
#endif

/* What few ranks have, of their own. */
struct gigarank_own {
	void *attached;     /* buffer for buffered sends */
	int universe, last_code; /* values of predefined attributes */
	struct gigarank_code *codes; /* error classes and codes of the program's own */
	struct gigarank_noted_type *types; /* attributes of predefined types */
	void *environment;  /* the info object MPI_INFO_ENV */
	int sessions;       /* that are open */
	struct gigarank_threads *threads;
	struct gigarank_file_handler *file_handler; /* that the program has set, for MPI_FILE_NULL */
};

/* A communicator that a rank has made, or what it has noted of WORLD and SELF. */
struct gigarank_comm {
	struct gigarank_comm *next;
	int32_t index, member, size;
	int32_t remote; /* members of the remote group, 0 without one */
	int32_t local_duplicates; /* made of it without a message */
	char *name;     /* that the program has given it, NULL for none */
	MPI_Errhandler handler; /* a predefined one, or its object; NULL for MPI_ERRORS_ARE_FATAL */
	struct gigarank_attribute *attributes;
	struct gigarank_info *hints; /* that the program has given it, NULL for none */
	struct gigarank_topology topology;
};

/* What a new communicator gets of another one, or of the call that makes it. Every function that makes
 * communicators says so by this. A communicator has no name at first. */
struct gigarank_origin {
	MPI_Comm parent;         /* whose error handler it inherits (MPI 4.1, 9.3): of an intercommunicator the local one; NULL for none */
	MPI_Errhandler handler;  /* without a parent, that which the call gives it */
	MPI_Info hints;          /* that the call gives it, NULL for none: it has none of its parent's (MPI 4.1, 7.4.4) */
	const char *duplicating; /* the function, if it copies the parent's attributes by their copy functions (MPI 4.1, 7.7.2); NULL */
};

/* An operation that the program carries out itself. */
struct gigarank_grequest {
	MPI_Grequest_query_function *query;
	MPI_Grequest_free_function *free;
	MPI_Grequest_cancel_function *cancel;
	void *extra;
	int complete, dropped; /* by its handle */
};

/* A persistent collective: what begins it, and gives back what it holds. */
struct gigarank_plan {
	int (*start)(struct gigarank_plan *p, MPI_Request *begun);
	void (*close)(struct gigarank_plan *p);
};

/* gigarank_ticks reads a clock of the host in a few nanoseconds. gigarank_long_ticks is some 50 us on it. */
#if defined(__x86_64__)
static inline uint64_t gigarank_ticks(void) { return __builtin_ia32_rdtsc(); }
static inline uint64_t gigarank_long_ticks(void) { return 150000; }
#else
static inline uint64_t gigarank_ticks(void) {
	uint64_t t;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
}
static inline uint64_t gigarank_long_ticks(void) {
	uint64_t rate;
	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(rate));
	return rate / 20000;
}
#endif

static inline struct gigarank_rank *gigarank_running(void) {
	return gigarank_current ? gigarank_current->running : NULL;
}

/* gigarank_on_stack reports whether an address lies on the stack of an engine's ranks, if they have one. */
static inline int gigarank_on_stack(const struct gigarank_engine *e, const void *address) {
	return !e->copied || (size_t)((const char *)address - e->stacks) < e->stack;
}

/* gigarank_form tells the form of the call that the rank makes next, for messages of errors. */
static inline void gigarank_form(int32_t form) {
	if (gigarank_running())
		gigarank_current->form = form;
}

/* gigarank_variant marks the next call as a variant, such as MPI_Reduce_scatter_block, of the procedure whose code it
 * shares. */
static inline void gigarank_variant(void) {
	if (gigarank_running())
		gigarank_current->form |= GIGARANK_VARIANT;
}

/* gigarank_suspend suspends the running rank in a call until that is over, and returns its error.
 * gigarank_trap calls the error handler, too. */
int gigarank_suspend(struct gigarank_call *c) __attribute__((visibility("hidden")));
int gigarank_trap(struct gigarank_call *c) __attribute__((visibility("hidden")));

/* gigarank_print takes what the running rank writes to standard output. */
ssize_t gigarank_print(const char *text, size_t n) __attribute__((visibility("hidden")));

/* gigarank_leave ends the running rank with a code. */
void gigarank_leave(int code) __attribute__((visibility("hidden"), noreturn));

/* gigarank_size returns the bytes of an element of a type, -1 for a handle that is no type. */
int64_t gigarank_size(MPI_Datatype type) __attribute__((visibility("hidden")));

/* gigarank_element returns the type of an element as the simulator knows it. */
int gigarank_element(MPI_Datatype type) __attribute__((visibility("hidden")));

/* gigarank_applies reports whether an operation applies to a type. */
int gigarank_applies(MPI_Op operation, MPI_Datatype type) __attribute__((visibility("hidden")));

/* gigarank_meter_start begins a burst. gigarank_meter_stop ends it and returns its CPU time in
 * nanoseconds. gigarank_meter_split does so and begins another one. */
void gigarank_meter_start(struct gigarank_meter *m) __attribute__((visibility("hidden")));
int64_t gigarank_meter_stop(struct gigarank_meter *m) __attribute__((visibility("hidden")));
int64_t gigarank_meter_split(struct gigarank_meter *m) __attribute__((visibility("hidden")));

/* gigarank_burst_end ends the burst of a rank that has left its code. */
void gigarank_burst_end(struct gigarank_engine *e, struct gigarank_rank *r) __attribute__((visibility("hidden")));

/* gigarank_burst_look returns the running rank's virtual time in picoseconds, where CPU times
 * count. */
int64_t gigarank_burst_look(struct gigarank_engine *e, struct gigarank_rank *r) __attribute__((visibility("hidden")));

/* A reduction operation of a program. */
struct gigarank_operation {
	uint64_t mark;
	MPI_User_function *function;
	int commutative;
	int fortran; /* the function takes the number of the type */
	int large;   /* it is an MPI_User_function_c */
	int plans;   /* how many persistent collectives hold it */
};

/* A list of counts or displacements, as functions with int counts or with large ones have it; none
 * if both are NULL. MPI_Count and MPI_Aint are 64 bits wide. */
struct gigarank_numbers {
	const int *narrow;
	const int64_t *wide;
};

static inline int has_numbers(struct gigarank_numbers l) { return l.narrow || l.wide; }
static inline int64_t number_at(struct gigarank_numbers l, int32_t i) { return l.narrow ? l.narrow[i] : l.wide[i]; }

#define GIGARANK_OPERATION_MARK 0x6769676172616e6bull

/* MPI defines a function of MPI, as MPI_Send, under its second name, PMPI_Send, and the first as a weak alias. */
#define MPI(name, ...) \
	int name(__VA_ARGS__) __attribute__((weak, alias("P" #name))); \
	int P##name(__VA_ARGS__)

#define CHECK(expression) \
	do { \
		int error_ = (expression); \
		if (error_) \
			return error_; \
	} while (0)

#pragma GCC visibility push(hidden)

/* gigarank_hosted tells that a simulator has loaded a program. Else a program runs by itself. */
extern int gigarank_hosted;

/* gigarank_end_next calls the next one of the functions that end the objects of the running rank, the latest object's
 * first. It returns 0 if there are no more. */
int gigarank_end_next(struct gigarank_rank *r);

/* gigarank_at_exit has a function called when the running rank ends, with what and its code. */
void gigarank_at_exit(void (*f)(void *, int), void *what);

/* gigarank_create_errhandler makes an error handler whose function takes, if it is in Fortran, the
 * number of the communicator. */
int gigarank_create_errhandler(MPI_Comm_errhandler_function *function, int fortran, MPI_Errhandler *handler);

int gigarank_create_session_errhandler(MPI_Session_errhandler_function *function, int fortran, MPI_Errhandler *handler);

/* gigarank_switch stores the stack pointer and goes on with another one; see switch.S. */
void gigarank_switch(void **from, void *to);

/* gigarank_is_own reports whether an object is a library of the program's own. */
int gigarank_is_own(const char *file);

/* gigarank_note_call keeps where the running rank has called a function that returns to an address. */
void gigarank_note_call(void *returns);

/* gigarank_die ends the running rank by a signal. */
void gigarank_die(int number) __attribute__((noreturn));

/* gigarank_fail ends the running rank, with the reason. */
void gigarank_fail(const char *reason) __attribute__((noreturn));

/* gigarank_intrudes notes that code of the program which is no rank's does what only a rank may. It
 * reports false for code that is not the program's, and for a process that a rank has forked. */
int gigarank_intrudes(const char *function, int procedure);

/* gigarank_end_attempt ends a call of gigarank_attempt on this thread. */
void gigarank_end_attempt(void) __attribute__((noreturn));

/* gigarank_forked says that this process is a copy of the simulator, which a rank has forked. */
extern int gigarank_forked;

/* gigarank_outside ends an operation or a thread that calls a function which would end the
 * simulator. It returns in code that is not the program's. */
void gigarank_outside(const char *function);

/* gigarank_own returns what the running rank has of its own, NULL without memory. */
struct gigarank_own *gigarank_own(void);

/* gigarank_parent is the rank that has started this thread. */
struct gigarank_parent {
	struct gigarank_engine *engine; /* NULL if it is unknown */
	int32_t lp;
	struct gigarank_threads *threads;
};
extern __thread struct gigarank_parent gigarank_parent __attribute__((tls_model("initial-exec")));

/* gigarank_has_threads returns the kind of thread, beside the rank that runs on an engine, which uses the rank's variables and
 * its stack: 0 for none. gigarank_note_region notes whether a rank that returns to its engine is in a region of
 * OpenMP. gigarank_threads_live reports whether threads may still use the variables and stacks of an engine's ranks. */
int gigarank_has_threads(const struct gigarank_engine *e);
void gigarank_note_region(const struct gigarank_engine *e, const struct gigarank_rank *r);
int gigarank_threads_live(const struct gigarank_engine *e);

/* gigarank_leave_threads ends the use of what a rank and its threads share. */
struct gigarank_threads;
void gigarank_leave_threads(struct gigarank_threads *t);

/* gigarank_operating is the engine that carries out an operation of the program on this thread,
 * NULL if none does. */
extern __thread struct gigarank_engine *gigarank_operating __attribute__((tls_model("initial-exec")));

/* gigarank_attempt calls a function with what, and returns 0. After a signal in it, it returns the
 * number. */
int gigarank_attempt(struct gigarank_engine *e, void (*f)(void *), void *what);

/* gigarank_reduce carries out an operation. It takes the element's type for predefined operations,
 * and the type that it is told for those of a program. */
void gigarank_reduce(uintptr_t handle, uintptr_t type, void *into, const void *left, const void *right, size_t bytes);

/* gigarank_reads and gigarank_writes access two bytes. They return 0, and another value if one
 * cannot be accessed. */
int gigarank_reads(const void *first, const void *last);
int gigarank_writes(void *first, void *last);

/* gigarank_fatal ends the process: there is no rank to blame. */
void gigarank_fatal(const char *message) __attribute__((noreturn));

/* gigarank_enlarged returns memory of room bytes, with what is in the old one. Where there is none the
 * process ends. */
void *gigarank_enlarged(void *old, size_t room);

/* refuse ends a call with an error in its arguments, as the rank's error handler wants. The
 * message names the function of MPI that is at fault, if the call has no procedure. */
#define refuse(...) gigarank_refuse(__func__, __VA_ARGS__)
int gigarank_refuse(const char *function, int procedure, int class_, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* GIVEN refuses a null pointer for an argument, which has a name in the standard. */
#define GIVEN(given, name, class_) \
	do { \
		if (!(given)) \
			return gigarank_missing(__func__, class_, name); \
	} while (0)
int gigarank_missing(const char *function, int class_, const char *name);

/* active returns an error unless MPI may be used: between its initialisation and its end. */
#define active(procedure) gigarank_active(__func__, procedure)
int gigarank_active(const char *function, int procedure);

/* gigarank_place_variables puts the variables of a suspended rank where the program has them, and
 * gigarank_keep_variables takes them away again. gigarank_has_variables returns 0 for a rank that has
 * ended, or a program without variables. gigarank_among_variables reports whether memory overlaps what
 * is kept of a rank's variables. */
int gigarank_has_variables(const struct gigarank_engine *e, int32_t lp);
int gigarank_among_variables(const struct gigarank_engine *e, int32_t lp, const void *memory, size_t bytes);
void gigarank_place_variables(struct gigarank_engine *e, int32_t lp);
void gigarank_keep_variables(struct gigarank_engine *e, int32_t lp);

/* gigarank_runs returns an error unless a rank runs. It serves the functions that may be called
 * before MPI_Init and after MPI_Finalize, too (MPI 4.1, 11.4.1). */
int gigarank_runs(const char *function);

/* find stores the communicator of a handle, with the rank's place in it. */
#define find(procedure, comm, c) gigarank_find(__func__, procedure, comm, c)
int gigarank_find(const char *function, int procedure, MPI_Comm comm, struct gigarank_call *c);

/* gigarank_note returns what the rank has noted of the communicator of a call, NULL after an error. */
struct gigarank_comm *gigarank_note(struct gigarank_call *c);

/* gigarank_wait_alone waits for a request of the simulator's. */
int gigarank_wait_alone(int32_t index, int64_t *bytes);

/* A persistent collective holds its types and its operation: their handles stay valid after the program
 * has freed them. gigarank_hold_type and gigarank_hold_operation return what they hold, NULL for what
 * nobody can free. gigarank_leave_type and gigarank_leave_operation end that. */
struct gigarank_datatype *gigarank_hold_type(MPI_Datatype handle);
void gigarank_leave_type(struct gigarank_datatype *t);
struct gigarank_operation *gigarank_hold_operation(MPI_Op operation);
void gigarank_leave_operation(struct gigarank_operation *o);

/* gigarank_take stores the handle of the communicator that a call has made, with what it gets. */
int gigarank_take(struct gigarank_call *c, const struct gigarank_origin *from, MPI_Comm *made);

/* gigarank_duplicate_locally makes a communicator like that of a call, which all members make without a
 * message. */
int gigarank_duplicate_locally(struct gigarank_call *c, const struct gigarank_origin *from, MPI_Comm *made);

/* What several functions do, which errors name: make a communicator with the members of another one,
 * divide one, make one of a group among its members alone, and one of two groups. */
int gigarank_duplicate(const char *function, MPI_Comm comm, const struct gigarank_origin *from, MPI_Comm *made);
int gigarank_split(const char *function, MPI_Comm comm, int color, int key, const struct gigarank_origin *from, MPI_Comm *made);
int gigarank_create_group(const char *function, MPI_Comm comm, MPI_Group group, int tag, const struct gigarank_origin *from, MPI_Comm *made);
int gigarank_connect(const char *function, MPI_Comm local, int leader, MPI_Comm peer, int remote, int tag, const struct gigarank_origin *from, MPI_Comm *made);

/* gigarank_create_inter divides the intercommunicator of a call by a group of each side: the members of
 * both groups have a new one. */
int gigarank_create_inter(const char *function, struct gigarank_call *c, MPI_Comm comm, MPI_Group group, MPI_Comm *made);

/* gigarank_check_hints refuses hints that are none. gigarank_hint returns the value of a key, NULL if the
 * hints have no such key. gigarank_process_set returns the communicator with the processes of a set,
 * MPI_COMM_NULL if there is no such set. */
int gigarank_check_hints(const char *function, MPI_Info hints);
const char *gigarank_hint(MPI_Info hints, const char *key);
MPI_Comm gigarank_process_set(const char *name);

/* More bytes than any memory has. Sums of two numbers of bytes up to it do not overflow. */
#define GIGARANK_MOST_BYTES ((int64_t)1 << 56)

/* bytes_of stores, in bytes, the size of count elements of a type. */
int gigarank_bytes_of(int procedure, int64_t count, MPI_Datatype type, int64_t *bytes);

/* gigarank_multiply stores the size of n blocks of as many bytes each, and gigarank_add_up adds one to others. */
int gigarank_multiply(int procedure, int64_t each, int32_t n, int64_t *all);
int gigarank_add_up(int procedure, int64_t *all, int64_t bytes);

/* gigarank_touch checks that both ends of a buffer can be read, and gigarank_touch_to that they can be written. */
int gigarank_touch(int procedure, const void *buffer, int64_t bytes);
int gigarank_touch_to(int procedure, void *buffer, int64_t bytes);

/* gigarank_add_request stores the handle of an operation that the running rank has begun. */
int gigarank_add_request(int32_t index, struct gigarank_call *persistent, MPI_Request *request);

/* set_index makes a request active, or inactive by an index of 0. */
static inline void set_index(struct gigarank_request *q, int32_t index) {
	gigarank_current->ranks[q->rank].actives += (index != 0) - (q->index != 0);
	q->index = index;
}

/* gigarank_drop_request makes a slot free. */
void gigarank_drop_request(struct gigarank_request *q);

/* gigarank_end_grequest ends a generalised request that is complete, with its status, and
 * gigarank_drop_grequest the use of its handle. */
int gigarank_end_grequest(MPI_Request *request, MPI_Status *status);
int gigarank_drop_grequest(MPI_Request *request);

/* gigarank_wait_for_grequests does what a wait for requests can do about generalised ones. It
 * stores whether the wait is over. */
int gigarank_wait_for_grequests(int procedure, int n, MPI_Request *requests, int *which, int *outcount, int *flag, MPI_Status *statuses, int *over);

/* gigarank_look returns the request of a handle, NULL if it is none of the running rank's. */
struct gigarank_request *gigarank_look(MPI_Request request);

/* A nonblocking collective with this for its request checks its arguments, as far as the rank can by itself, and
 * begins nothing. It returns GIGARANK_CHECKED if they are right. */
#define GIGARANK_CHECK_ONLY ((MPI_Request *)8)
enum { GIGARANK_CHECKED = -1 };

/* gigarank_idup_barrier begins the barrier of an MPI_Comm_idup. */
int gigarank_idup_barrier(MPI_Comm comm, MPI_Request *request) __attribute__((visibility("hidden")));

/* gigarank_form_of returns the form of a nonblocking collective with a request. */
static inline int32_t gigarank_form_of(const MPI_Request *request) { return request == GIGARANK_CHECK_ONLY ? GIGARANK_PERSISTENT : GIGARANK_LATER; }

/* gigarank_start_plan begins the collective of a request. gigarank_end_detached waits for what
 * the rank has begun and whose requests it has freed. */
int gigarank_start_plan(MPI_Request *request);
int gigarank_end_detached(void);

void gigarank_set_status(MPI_Status *status, const struct gigarank_status *s, int error);
extern const struct gigarank_status gigarank_empty_status;

#pragma GCC visibility pop

#endif
