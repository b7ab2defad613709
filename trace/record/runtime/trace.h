/* The recorder of real programs: libgigatrace. It stands between a program and its MPI library: it defines each function of MPI, and PMPI
 * under the same code, and calls the next definition. So programs in C, C++ and Fortran are heard, whose bindings call MPI or PMPI. Calls
 * that a function of MPI makes inside another one pass.
 *
 * A task has all its memory from MPI_Init on: mappings, of which pages are taken as they are used. Nothing is allocated, locked or sent
 * afterwards. Only the thread of MPI_Init is recorded. */
#ifndef GIGATRACE_TRACE_H
#define GIGATRACE_TRACE_H

#include <mpi.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "layouts.h" /* written from package trace */

#pragma GCC visibility push(hidden)

#define EXPORT __attribute__((visibility("default")))
#define COLD __attribute__((cold, noinline))

/* A function of MPI that the library defines. */
struct function {
	const char *name; /* with MPI_ */
	void *next;       /* the definition of PMPI behind this library */
	int64_t calls, ticks, bytes, unrecorded, failed;
};

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

/* FUNCTION declares the function of a definition, and enters it into the list of all. */
#define FUNCTION(name_) FUNCTION_OF(name_)
#define FUNCTION_OF(name_) \
	static struct function called = {.name = "MPI_" #name_}; \
	static struct function *const listed __attribute__((used, section("gigatrace"))) = &called

/* NEXT is the definition of a function behind this library. */
#define NEXT(name_) NEXT_OF(name_)
#define NEXT_OF(name_) ((__typeof__(&PMPI_##name_))(called.next ? called.next : find_next(&called)))

/* ALSO_PMPI gives a function its other name. */
#define ALSO_PMPI(name_) ALSO_PMPI_OF(name_)
#define ALSO_PMPI_OF(name_) extern EXPORT __typeof__(PMPI_##name_) PMPI_##name_ __attribute__((alias("MPI_" #name_)));

void *find_next(struct function *f);

extern struct function *__start_gigatrace[], *__stop_gigatrace[];

/* The functions of MPI that the library itself uses. */
struct library {
	__typeof__(&PMPI_Comm_rank) comm_rank;
	__typeof__(&PMPI_Comm_size) comm_size;
	__typeof__(&PMPI_Comm_remote_size) comm_remote_size;
	__typeof__(&PMPI_Comm_test_inter) comm_test_inter;
	__typeof__(&PMPI_Comm_group) comm_group;
	__typeof__(&PMPI_Comm_remote_group) comm_remote_group;
	__typeof__(&PMPI_Comm_compare) comm_compare;
	__typeof__(&PMPI_Group_free) group_free;
	__typeof__(&PMPI_Group_size) group_size;
	__typeof__(&PMPI_Group_translate_ranks) group_translate_ranks;
	__typeof__(&PMPI_Error_class) error_class;
	__typeof__(&PMPI_Type_size_x) type_size;
	__typeof__(&PMPI_Type_get_envelope) type_get_envelope;
	__typeof__(&PMPI_Type_get_contents) type_get_contents;
	__typeof__(&PMPI_Type_free) type_free;
	__typeof__(&PMPI_Get_elements_x) get_elements;
	__typeof__(&PMPI_Topo_test) topo_test;
	__typeof__(&PMPI_Cartdim_get) cartdim_get;
	__typeof__(&PMPI_Cart_shift) cart_shift;
	__typeof__(&PMPI_Graph_neighbors_count) graph_neighbors_count;
	__typeof__(&PMPI_Graph_neighbors) graph_neighbors;
	__typeof__(&PMPI_Dist_graph_neighbors_count) dist_graph_neighbors_count;
	__typeof__(&PMPI_Dist_graph_neighbors) dist_graph_neighbors;
	__typeof__(&PMPI_Get_library_version) get_library_version;
	__typeof__(&PMPI_Op_commutative) op_commutative;
};
extern struct library next;
void find_library(void);

/* A list of numbers of an operation. */
struct list { int64_t n, *at; };

enum { MOST_LISTED = 1 << 18 }; /* elements of a list */

/* The operation that a call makes. */
struct operation {
	int function;
	int64_t v[SCALARS];
	struct list list[FIELDS - SCALARS];
};
#define V(field_) (task.o.v[FIELD_##field_])
#define L(field_) (&task.o.list[FIELD_##field_ - SCALARS])

/* How the calls of a program are recorded. */
enum mode { MODE_TRACE, MODE_COUNT, MODE_LIGHT };

/* The state of a task. */
struct task {
	int active;              /* from the end of MPI_Init to the beginning of MPI_Finalize */
	int on;                  /* the call is recorded */
	int level;               /* of MPI_Pcontrol */
	int stopped;             /* nothing more is recorded */
	void *thread;            /* of MPI_Init */
	const char *frame;       /* of the function that is under way; NULL for none */
	int64_t calls, from, to; /* calls of MPI; the first and the last that is recorded */
	uint64_t start, burst_end, begun, ended; /* ticks: of the burst, of the call */
	int64_t burst_cpu;       /* nanoseconds; -1 for as much as it took by the clock */
	uint64_t read;           /* ticks of the latest reading of the CPU clock */
	int64_t used;            /* that reading */
	int64_t failed;          /* the form of the call: 0, or FORM_FAILED */
	struct operation o;
	enum mode mode;
	int rank, size;
	int wrote;               /* a block was written since the call has ended */
	int is_open;             /* the file */
	int process;             /* that has called MPI_Init: its children may exit, too */
	int64_t operations;
};
extern struct task task;

/* --- clocks ------------------------------------------------------------------------- */

/* The ticks of the clock in a nanosecond, and those after which the CPU clock is read; see clocks.c. */
struct clock {
	int by_system; /* the processor has no clock of constant rate */
	uint64_t multiplier, brief, recent;
	uint64_t recording; /* ticks that it takes to record a call */
};
extern struct clock ticking;

static inline uint64_t system_ticks(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline uint64_t ticks(void) {
	if (ticking.by_system)
		return system_ticks();
#if defined(__x86_64__)
	return __rdtsc();
#elif defined(__aarch64__)
	uint64_t t;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
#else
	return system_ticks();
#endif
}

static inline int64_t nanoseconds(uint64_t n) { return (int64_t)(((unsigned __int128)n * ticking.multiplier) >> 32); }

void start_clock(void);
void set_clock(void);
int64_t cpu_clock(void);
void end_long_burst(void);
void renew_cpu_clock(void);
void time_recording(void);

/* --- calls -------------------------------------------------------------------------- */

void other_thread(struct function *f);

/* enter begins a call, and reports whether it is to be recorded or counted. */
static inline int enter(struct function *f, const char *frame) {
	if (!task.active)
		return 0;
	if (__builtin_expect(task.thread != __builtin_thread_pointer(), 0)) {
		other_thread(f);
		return 0;
	}
	if (task.frame && frame < task.frame)
		return 0; /* inside the call that is under way */
	task.frame = frame;
	task.calls++;
	task.on = task.level && !task.stopped && task.calls >= task.from && task.calls <= task.to;
	task.burst_cpu = -1;
	task.begun = task.burst_end = ticks();
	if (__builtin_expect((int64_t)(task.begun - task.start) < 0, 0))
		task.start = task.begun; /* the recording took less than usual */
	if (__builtin_expect(task.begun - task.start > ticking.brief, 0))
		end_long_burst();
	return 1;
}

int may_have_moved(struct function *f, int code);

/* leave ends a call. It reports whether what the call asked for has taken place. */
static inline int leave(struct function *f, int code) {
	task.ended = ticks();
	task.failed = 0;
	f->calls++;
	f->ticks += (int64_t)(task.ended - task.begun);
	return __builtin_expect(code == MPI_SUCCESS, 1) || may_have_moved(f, code);
}

void lone_burst(void);

/* done begins the burst that follows a call: when the call has ended, and the usual time of recording it is over. */
static inline int done(int code) {
	task.frame = NULL;
	if (task.on && task.start != task.burst_end)
		lone_burst();
	task.start = task.ended + ticking.recording;
	if (__builtin_expect(task.wrote, 0))
		task.start = ticks(), task.wrote = 0;
	if (__builtin_expect(task.ended - task.read > ticking.recent || task.ended - task.begun > ticking.brief, 0))
		renew_cpu_clock();
	return code;
}

/* BEGIN begins the definition of a function that is recorded. */
#define BEGIN(name_, ...) \
	FUNCTION(name_); \
	(void)listed; \
	if (!enter(&called, __builtin_frame_address(0))) \
		return NEXT(name_)(__VA_ARGS__)

/* enter_local begins a call that is counted and is no operation: to the recording it is a part of the burst. leave_local ends it. */
int enter_local(struct function *f, const char *frame);
int leave_local(struct function *f, int code);

/* LOCAL defines what a function does that moves no data. UNRECORDED defines what another function does that is no operation. */
#define LOCAL(name_, ...) \
	FUNCTION(name_); \
	(void)listed; \
	if (!enter_local(&called, __builtin_frame_address(0))) \
		return NEXT(name_)(__VA_ARGS__); \
	return leave_local(&called, NEXT(name_)(__VA_ARGS__))
#define UNRECORDED(name_, ...) \
	BEGIN(name_, __VA_ARGS__); \
	int code_ = NEXT(name_)(__VA_ARGS__); \
	if (leave(&called, code_)) \
		unrecorded(&called); \
	return done(code_)

/* operation begins an operation. Its class has all fields set before emit, but for the rare ones. */
static inline void operation(int function) {
	struct operation *o = &task.o;
	o->function = function;
	o->v[FIELD_Form] = task.failed, o->v[FIELD_Message] = o->v[FIELD_Times] = 0;
}

/* emit appends the operation, and the burst before it, unless nothing is recorded now. unrecorded counts a call instead. */
void emit(void);
static inline void unrecorded(struct function *f) { f->unrecorded += task.on; }

/* stop ends the recording of the task, for a reason that is said. */
COLD void stop(const char *format, ...) __attribute__((format(printf, 1, 2)));
COLD void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* room returns memory, of which pages are taken as they are used; NULL for none. */
void *room(size_t bytes);

/* --- file.c ------------------------------------------------------------------------- */

int open_file(void);
void write_note(int begins);
void start_time(void);
void flush_file(void);
void forget_block(void);
void end_file(void);
void append_operation(const struct operation *o);
void append_burst(int64_t cpu, int64_t wall);
const char *setting(const char *name, size_t *length);

/* --- tables.c ----------------------------------------------------------------------- */

/* A table of handles. Several entries may have one handle: the first is found first. */
struct entry {
	uint64_t key;
	int32_t value, after, before; /* neighbours of the chain; of the first entry, before is the last */
};
struct table {
	struct entry *entries;
	int32_t *chains; /* by hash: the first entry; 0 for none */
	int32_t free, next;
};
enum { MOST_ENTRIES = 1 << 20, CHAINS = 1 << 14 };

int make_table(struct table *t);
int32_t add_entry(struct table *t, uint64_t key, int32_t value);
int32_t find_entry(const struct table *t, uint64_t key);
void remove_entry(struct table *t, int32_t e);

/* Numbers of a task: the least that is free. */
struct numbers { uint64_t *used; int64_t from; };
int64_t take_number(struct numbers *n);
void free_number(struct numbers *n, int64_t i);

/* KEY makes a key of a handle, a pointer or an integer. */
#define KEY(handle_) ((uint64_t)(uintptr_t)(handle_))

/* --- objects of MPI ----------------------------------------------------------------- */

/* A communicator, as far as the task knows it. */
struct communicator {
	int64_t number;   /* -1 for one whose calls are not recorded */
	int32_t size, rank;
	int32_t remote;     /* size of the remote group; 0 for none */
	int32_t duplicates; /* that are made with a number: by MPI_Comm_idup, of intercommunicators, and merges */
};

/* communicator returns a communicator, NULL for one whose calls are not recorded. */
struct communicator *communicator(MPI_Comm comm);
int start_communicators(void);

/* What the elements of a type are: bytes of a value, bytes and sort of its basic elements, and whether it is predefined. */
struct elements { int64_t bytes, unit; int kind, is_named; };
struct elements elements_of(MPI_Datatype type);
int start_types(void);

static inline int64_t bytes_of(int64_t count, MPI_Datatype type) {
	MPI_Count size;
	return next.type_size(type, &size) == MPI_SUCCESS && size > 0 ? count * size : 0;
}

/* requests */
int start_requests(void);
int64_t begun(MPI_Request request);
int64_t number_within(void);
extern int64_t *named; /* entries of the requests that a wait names, 0 for none */

static inline int64_t rank_of(int rank) { return rank == MPI_ANY_SOURCE ? RANK_ANY_SOURCE : rank == MPI_PROC_NULL ? RANK_PROC_NULL : rank; }
static inline int64_t tag_of(int tag) { return tag == MPI_ANY_TAG ? TAG_ANY : tag; }

/* counters.c */
void start_counters(void);
void stop_counters(void);
int write_counters(char *to, int room);
int write_remarks(char *to, int room);

#pragma GCC visibility pop

#endif
