/* The beginning and the end of a task, and what all calls have in common. */
#define _GNU_SOURCE
#include "trace.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct task task = {.level = 1};
struct library next;

/* A run of equal tests that have found nothing, which is not written yet. */
static struct {
	int open;
	struct operation o;
	int64_t cpu, wall; /* of the bursts before and in it */
} run;

static COLD void *definition(const char *name) {
	char with_p[128];
	snprintf(with_p, sizeof with_p, "PMPI_%s", name);
	return dlsym(RTLD_NEXT, with_p);
}

static COLD void *needed(const char *name) {
	void *p = definition(name);
	if (p)
		return p;
	fprintf(stderr, "gigatrace: the MPI library of the program has no PMPI_%s: record it with the MPI that it was built with\n", name);
	_exit(127);
}

void *find_next(struct function *f) { return f->next = needed(f->name + 4); }

void find_library(void) {
#define FIND(field_, name_) next.field_ = (__typeof__(next.field_))needed(#name_)
	FIND(comm_rank, Comm_rank), FIND(comm_size, Comm_size), FIND(comm_remote_size, Comm_remote_size), FIND(comm_test_inter, Comm_test_inter);
	FIND(comm_group, Comm_group), FIND(comm_remote_group, Comm_remote_group), FIND(comm_compare, Comm_compare), FIND(group_free, Group_free), FIND(group_size, Group_size);
	FIND(group_translate_ranks, Group_translate_ranks), FIND(error_class, Error_class), FIND(type_size, Type_size_x);
	FIND(type_get_envelope, Type_get_envelope), FIND(type_get_contents, Type_get_contents), FIND(type_free, Type_free);
	FIND(get_elements, Get_elements_x), FIND(topo_test, Topo_test), FIND(cartdim_get, Cartdim_get), FIND(cart_shift, Cart_shift);
	FIND(graph_neighbors_count, Graph_neighbors_count), FIND(graph_neighbors, Graph_neighbors);
	FIND(dist_graph_neighbors_count, Dist_graph_neighbors_count), FIND(dist_graph_neighbors, Dist_graph_neighbors);
	FIND(get_library_version, Get_library_version), FIND(op_commutative, Op_commutative);
}

/* --- calls -------------------------------------------------------------------------- */

/* other_thread says the first call of another thread. */
void other_thread(struct function *f) {
	static int told;
	if (task.mode == MODE_TRACE && !__atomic_exchange_n(&told, 1, __ATOMIC_RELAXED))
		tell("%s was called by a thread other than the thread of MPI_Init: the calls of other threads are not recorded, and the trace is incomplete", f->name);
}

/* may_have_moved reports whether a call that ended with an error may have completed messages. Other failed calls have done nothing. */
int may_have_moved(struct function *f, int code) {
	int class = MPI_ERR_OTHER;
	next.error_class(code, &class);
	task.failed = FORM_FAILED;
	if (class == MPI_ERR_TRUNCATE || class == MPI_ERR_IN_STATUS || class == MPI_ERR_PENDING)
		return 1;
	f->failed++;
	return 0;
}

int enter_local(struct function *f, const char *frame) {
	if (!task.active)
		return 0;
	if (task.thread != __builtin_thread_pointer()) {
		other_thread(f);
		return 0;
	}
	if (task.frame && frame < task.frame)
		return 0;
	task.frame = frame;
	task.calls++;
	task.begun = ticks();
	return 1;
}

int leave_local(struct function *f, int code) {
	f->calls++;
	f->ticks += (int64_t)(ticks() - task.begun);
	f->failed += code != MPI_SUCCESS;
	task.frame = NULL;
	return code;
}

static int same_list(const struct list *a, const struct list *b) { return a->n == b->n && memcmp(a->at, b->at, (size_t)a->n * sizeof *a->at) == 0; }

/* same_poll reports whether a test that has found nothing is like those of the run. */
static int same_poll(const struct operation *o) {
	const struct operation *r = &run.o;
	const int requests = FIELD_Requests - SCALARS;
	return run.open && o->function == r->function && o->v[FIELD_Form] == r->v[FIELD_Form] && o->v[FIELD_Comm] == r->v[FIELD_Comm] && o->v[FIELD_Source] == r->v[FIELD_Source] &&
	       o->v[FIELD_SourceTag] == r->v[FIELD_SourceTag] && same_list(&o->list[requests], &r->list[requests]);
}

static void end_run(void) {
	if (!run.open)
		return;
	run.open = 0;
	if (run.wall)
		append_burst(run.cpu, run.wall);
	append_operation(&run.o);
}

/* lone_burst appends the burst before a call that is no operation. */
void lone_burst(void) {
	int64_t wall = nanoseconds(task.burst_end - task.start);
	end_run();
	if (wall)
		append_burst(task.burst_cpu < 0 ? wall : task.burst_cpu, wall);
	task.start = task.burst_end;
}

void emit(void) {
	if (!task.on)
		return;
	struct operation *o = &task.o;
	int64_t wall = nanoseconds(task.burst_end - task.start), cpu = task.burst_cpu < 0 ? wall : task.burst_cpu;
	o->v[FIELD_Took] = nanoseconds(task.ended - task.begun);
	if (!(o->v[FIELD_Form] & FORM_MISSED)) {
		end_run();
		if (wall)
			append_burst(cpu, wall);
		append_operation(o);
		task.start = task.burst_end; /* a further operation of the call has no burst */
		return;
	}
	if (task.burst_cpu < 0 && same_poll(o)) {
		run.o.v[FIELD_Times]++;
		run.o.v[FIELD_Took] += o->v[FIELD_Took];
		run.cpu += cpu, run.wall += wall;
		task.start = task.burst_end;
		return;
	}
	end_run();
	task.start = task.burst_end;
	int64_t *kept = run.o.list[FIELD_Requests - SCALARS].at;
	run.o = *o, run.open = 1, run.cpu = cpu, run.wall = wall;
	if (class_of[o->function] == class_of[FUNCTION_Test])
		memcpy(kept, L(Requests)->at, (size_t)L(Requests)->n * sizeof *kept);
	run.o.list[FIELD_Requests - SCALARS].at = kept;
}

/* --- beginning and end -------------------------------------------------------------- */

static int64_t number_setting(const char *name, int64_t otherwise) {
	size_t length;
	const char *s = setting(name, &length);
	return s ? strtoll(s, NULL, 10) : otherwise;
}

static enum mode mode_setting(void) {
	size_t length;
	const char *s = setting("mode", &length);
	if (!s || (length == 5 && strncmp(s, "trace", 5) == 0))
		return MODE_TRACE;
	if (length == 5 && strncmp(s, "count", 5) == 0)
		return MODE_COUNT;
	if (length == 5 && strncmp(s, "light", 5) == 0)
		return MODE_LIGHT;
	fprintf(stderr, "gigatrace: mode=%.*s: the modes are trace, count and light; this is a trace\n", (int)length, s);
	return MODE_TRACE;
}

/* begin begins the task. MPI is initialised. */
static void begin(void) {
	find_library();
	next.comm_rank(MPI_COMM_WORLD, &task.rank);
	next.comm_size(MPI_COMM_WORLD, &task.size);
	task.thread = __builtin_thread_pointer();
	task.mode = mode_setting();
	task.from = number_setting("from", 1);
	task.to = number_setting("to", INT64_MAX);
	set_clock();
	if (task.mode != MODE_LIGHT) {
		int64_t *of_run = room(MOST_LISTED * sizeof *of_run);
		int rooms = of_run && start_communicators() && start_types() && start_requests();
		for (int i = 0; i < FIELDS - SCALARS; i++)
			rooms = rooms && (task.o.list[i].at = room(MOST_LISTED * sizeof(int64_t)));
		run.o.list[FIELD_Requests - SCALARS].at = of_run;
		if (!rooms) {
			tell("no memory: nothing is recorded");
			return;
		}
	}
	for (struct function **f = __start_gigatrace; f < __stop_gigatrace; f++)
		if (!(*f)->next)
			(*f)->next = definition((*f)->name + 4); /* mpi.h may declare more than there is */
	if (!open_file())
		return;
	task.is_open = 1, task.process = getpid();
	if (task.mode != MODE_TRACE)
		task.to = 0;
	if (task.mode == MODE_TRACE)
		time_recording();
	task.active = task.mode != MODE_LIGHT;
	start_counters();
	start_time();
	task.start = ticks();
	renew_cpu_clock();
}

/* end ends the task. If it has come to MPI_Finalize, the trace says so. */
static void end(int finalized) {
	if (!task.is_open)
		return;
	task.is_open = 0;
	stop_counters();
	if (task.active && task.mode == MODE_TRACE) {
		task.active = 0;
		task.on = task.level && !task.stopped && task.calls < task.to;
		if (finalized && !task.stopped) {
			uint64_t now = ticks();
			task.burst_cpu = -1;
			task.begun = task.burst_end = now;
			if (now - task.start > ticking.brief)
				end_long_burst();
			int64_t wall = nanoseconds(task.burst_end - task.start);
			end_run();
			if (task.on && wall)
				append_burst(task.burst_cpu < 0 ? wall : task.burst_cpu, wall);
			task.o.function = FUNCTION_end;
			append_operation(&task.o);
		} else if (!task.stopped) {
			end_run();
		}
	}
	task.active = 0;
	end_file();
}

EXPORT int MPI_Init(int *argc, char ***argv) {
	FUNCTION(Init);
	(void)listed;
	start_clock();
	int code = NEXT(Init)(argc, argv);
	if (code == MPI_SUCCESS && !task.size)
		begin();
	return code;
}
ALSO_PMPI(Init)

EXPORT int MPI_Init_thread(int *argc, char ***argv, int wanted, int *provided) {
	FUNCTION(Init_thread);
	(void)listed;
	start_clock();
	int code = NEXT(Init_thread)(argc, argv, wanted, provided);
	if (code == MPI_SUCCESS && !task.size)
		begin();
	return code;
}
ALSO_PMPI(Init_thread)

EXPORT int MPI_Finalize(void) {
	FUNCTION(Finalize);
	(void)listed;
	if (task.is_open && task.thread != __builtin_thread_pointer())
		other_thread(&called);
	end(task.thread == __builtin_thread_pointer());
	return NEXT(Finalize)();
}
ALSO_PMPI(Finalize)

EXPORT int MPI_Abort(MPI_Comm comm, int code) {
	FUNCTION(Abort);
	(void)listed;
	if (task.thread == __builtin_thread_pointer())
		end(0);
	return NEXT(Abort)(comm, code);
}
ALSO_PMPI(Abort)

/* A task that exits without MPI_Finalize leaves what it has done. */
__attribute__((destructor)) static void leave_file(void) {
	if (task.process == getpid() && task.thread == __builtin_thread_pointer())
		end(0);
}

/* mark emits the beginning of a phase, or its end for level 0. */
static void mark(int level) {
	char name[32] = "";
	operation(level ? FUNCTION_mark_begin : FUNCTION_mark_end);
	L(Name)->n = level ? snprintf(name, sizeof name, "MPI_Pcontrol(%d)", level) : 0;
	for (int64_t i = 0; i < L(Name)->n; i++)
		L(Name)->at[i] = name[i];
	emit();
}

/* Level 0 ends a phase and switches the recording off. Others begin a phase, and switch the recording on. */
EXPORT int MPI_Pcontrol(const int level, ...) {
	static int in_phase;
	FUNCTION(Pcontrol);
	(void)listed;
	if (!enter(&called, __builtin_frame_address(0)))
		return NEXT(Pcontrol)(level);
	int code = NEXT(Pcontrol)(level);
	if (leave(&called, code) && task.mode == MODE_TRACE) {
		if (level && !task.level) {
			task.level = 1;
			task.on = !task.stopped && task.calls >= task.from && task.calls <= task.to;
			task.start = task.burst_end;
		}
		if (level || in_phase)
			mark(level);
		in_phase = level != 0;
		if (!level) {
			if (task.on)
				lone_burst();
			task.level = 0;
		}
	}
	return done(code);
}
ALSO_PMPI(Pcontrol)
