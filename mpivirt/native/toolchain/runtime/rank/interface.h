/* The data that the simulator and the C runtime of native ranks share, all in C memory.
 * The simulator reads a rank's call while the rank is suspended, and writes its results
 * there before the rank goes on. */
#ifndef GIGARANK_RANK_INTERFACE_H
#define GIGARANK_RANK_INTERFACE_H

#include <stddef.h>
#include <stdint.h>

#include "rank/procedures.h"

/* Calls that are no procedures of MPI. */
enum gigarank_service {
	/* Answered by the simulator at once. */
	GIGARANK_ERRORS_RETURN = GIGARANK_PROCEDURES, GIGARANK_ATTACH, GIGARANK_NODE, GIGARANK_COMPARE,
	GIGARANK_RECORD, GIGARANK_PHASE,
	GIGARANK_CLOCK_POLL, GIGARANK_SAMPLE_BEGIN, GIGARANK_SAMPLE_END,
	GIGARANK_GROUP, GIGARANK_LOCAL_DUPLICATE, GIGARANK_PARTITIONED, GIGARANK_ON_ONE_NODE, GIGARANK_INTRODUCTION, GIGARANK_TOPOLOGY,
	GIGARANK_SETTLE, /* the posted calls are carried out */
	/* Not resumed. */
	GIGARANK_ABORT, GIGARANK_RAISE,
};

/* Requests about groups, in the key of a call. */
enum gigarank_group_request {
	GIGARANK_GROUP_OF, GIGARANK_GROUP_OF_REMOTE, GIGARANK_GROUP_SIZE, GIGARANK_GROUP_RANK, GIGARANK_GROUP_COMPARE, GIGARANK_GROUP_TRANSLATE,
	GIGARANK_GROUP_UNION, GIGARANK_GROUP_INTERSECTION, GIGARANK_GROUP_DIFFERENCE,
	GIGARANK_GROUP_INCL, GIGARANK_GROUP_EXCL, GIGARANK_GROUP_RANGE_INCL, GIGARANK_GROUP_RANGE_EXCL, GIGARANK_GROUP_FREE,
};

/* Requests about topologies, in the key of a call. */
enum gigarank_topology_request {
	GIGARANK_DIMS, GIGARANK_EDGES, GIGARANK_SET_NEIGHBORS, GIGARANK_NEIGHBORS,
	GIGARANK_GRID_MEMBERS, GIGARANK_GRAPH_MEMBERS, /* of arguments, without a communicator */
	GIGARANK_GRAPH_EDGES, GIGARANK_GRAPH_NEIGHBORS,
	GIGARANK_GRID, GIGARANK_GRID_RANK, GIGARANK_GRID_COORDINATES, GIGARANK_GRID_SHIFT,
};

/* The topology of a communicator, as a rank has it. */
enum { GIGARANK_NO_TOPOLOGY, GIGARANK_CART, GIGARANK_GRAPH, GIGARANK_DIST_GRAPH };
struct gigarank_topology {
	int32_t kind;
	int32_t nodes, edges; /* dimensions of a grid; nodes and edges of a graph */
	int32_t weighted;
	int32_t indegree, outdegree; /* neighbours of the rank */
};

/* The types of elements: the simulator's types in its order, then types that the simulator does not have. */
enum gigarank_type {
	GIGARANK_UNTYPED, GIGARANK_BOOLEAN,
	GIGARANK_INT8, GIGARANK_INT16, GIGARANK_INT32, GIGARANK_INT64,
	GIGARANK_UINT8, GIGARANK_UINT16, GIGARANK_UINT32, GIGARANK_UINT64,
	GIGARANK_FLOAT, GIGARANK_DOUBLE, GIGARANK_FLOAT_COMPLEX, GIGARANK_DOUBLE_COMPLEX,
	GIGARANK_LONG_DOUBLE, GIGARANK_LONG_DOUBLE_COMPLEX, GIGARANK_QUAD, GIGARANK_QUAD_COMPLEX, /* long types of C, and types of Fortran of 16 bytes */
	GIGARANK_CHARACTER, GIGARANK_OCTET, /* signed and unsigned in reductions, untyped else */
	GIGARANK_FLOAT_INT, GIGARANK_DOUBLE_INT, GIGARANK_LONG_INT, GIGARANK_2INT, GIGARANK_SHORT_INT, GIGARANK_LONG_DOUBLE_INT,
	GIGARANK_2REAL, GIGARANK_2DOUBLE,
};

/* Numbers that stand for no rank or tag, in calls. */
enum { GIGARANK_ANY_SOURCE = -2, GIGARANK_PROC_NULL = -3, GIGARANK_ANY_TAG = -4, GIGARANK_ROOT = -5, GIGARANK_UNKNOWN = -6, GIGARANK_UNDEFINED = -32766 };

struct gigarank_status {
	int64_t bytes;
	int32_t source, tag;
	int32_t error; /* class, of one of several requests */
	int32_t cancelled;
};

enum { GIGARANK_WITHOUT_CONTENT = 1 };

/* Values of a datatype that do not lie one behind another. The simulator does not see such values. */
struct gigarank_layout {
	void *buffer;
	int64_t count;
	struct gigarank_datatype *type; /* NULL for none */
};

/* A call of a rank, on the rank's stack, with its arguments and its results. The fields that all calls
 * have come first, in one line of the cache. */
struct gigarank_call {
	int32_t procedure;
	int32_t error;       /* in: the class of an error in the arguments, 0 for none; out: the class of the call's error */
	int32_t comm, member, size;  /* index of the communicator, the rank's number in it, its members */
	int32_t nonblocking; /* of a collective; of an error: the form of the call, see below */
	int32_t request;     /* started by the call */
	int32_t found;       /* the wait is complete; the test or probe has succeeded */
	int32_t remote;      /* members of the remote group of an intercommunicator, else 0 */
	const void *input;
	void *output;
	const char *detail;  /* of the error in the arguments */

	int64_t bytes, room, element;
	int64_t given;               /* bytes of the input of a collective */
	int32_t root;                /* or the color of a split */
	int32_t key;                 /* of a split; the flag, code or index that a call takes; of a collective with vectors GIGARANK_WITHOUT_CONTENT if nobody reads them */
	int32_t type;                /* of elements */
	int32_t commutative;
	uintptr_t handle, other;     /* of the reduction operation; of groups, out: of the group made */
	uintptr_t operand;           /* the type that the operation is told */
	uintptr_t called;            /* of a collective: the offset in the program of the address to which it returns, 0 if that is not known */

	const int64_t *counts;            /* bytes by member: of the output or of blocks; alltoallv within a group: lists of struct gigarank_block, n from others */
	const int64_t *incounts;          /* likewise, outcount to others */
	const int32_t *requests;          /* to wait for; NULL if there are handles only */
	const uintptr_t *handles;         /* of a long list of requests, in the program's memory */
	int32_t dest, sendtag, source, tag;
	int32_t message;             /* in, out: the message of a matched probe */
	int32_t n;                   /* requests */
	int32_t outcount;            /* completed requests of Waitsome and the like; GIGARANK_UNKNOWN if all handles must be read */

	int32_t made, made_member, made_size, made_remote; /* the communicator that the call has made */
	struct gigarank_topology topology;    /* of the communicator made, or of the communicator to be made */
	struct gigarank_status status;
	struct gigarank_status *statuses; /* by request, for complete requests */
	int32_t *indices;                 /* of the completed requests */
	struct gigarank_layout from, to;  /* the values that input and output stand for */
};

/* A block of an alltoallv that is not empty, in the list of such blocks by ascending members. If all blocks have the same bytes as the first, their number
 * is GIGARANK_ALIKE. */
enum { GIGARANK_ALIKE = -7 };
struct gigarank_block {
	int64_t bytes, displacement;
	int32_t member;
};

/* A posted call: a send or the beginning of an operation that goes with the next call of its rank; see posts.h. The content of a message lies
 * behind it. */
struct gigarank_posted {
	int32_t size;     /* bytes up to the next */
	int32_t lp;
	int32_t procedure, comm, member;
	int32_t partner, tag;
	int32_t request;  /* slot of the request that it begins, -1 for none */
	int64_t computed; /* time that the rank has computed before it, in picoseconds */
	int64_t bytes;    /* of the message, or of the room for it */
	void *output;     /* the room */
	int64_t content;  /* bytes behind it */
};

/* The index of a request whose beginning is posted, and its place in a list of requests: this number less the slot. */
enum { GIGARANK_POSTED = -2 };

/* The handles below are predefined. */
#define GIGARANK_PREDEFINED 4096

/* The partitions of a persistent message. */
struct gigarank_partitions {
	int32_t count;
	int32_t unready;  /* of a send that is started: partitions that are not ready; else 0 */
	uint8_t receives;
	uint8_t ready[];  /* by partition of a send, since its start */
};

/* An operation that a rank has begun, or can start. A handle is a slot and its generation. */
struct gigarank_request {
	int32_t index;      /* of the simulator's request, 0 for an inactive request, GIGARANK_POSTED before the simulator has it */
	int32_t generation;
	int32_t rank;       /* that it belongs to, within the engine; -1 for a free slot */
	int32_t next;       /* of the free slots */
	int32_t comm;       /* index of its communicator */
	struct gigarank_call *persistent; /* that a start makes, NULL for none */
	struct gigarank_partitions *partitions; /* of the message that persistent describes, NULL for none */
	struct gigarank_plan *plan;       /* of the collective that a start begins, NULL for none */
	struct gigarank_status kept;      /* of the operation, if it is done and has not been waited for */
	uint8_t done, detached;           /* detached: freed while active */
	void (*after)(void *, int64_t); /* called with the argument what and the bytes received, once the operation is over; bytes are -1 after a failure */
	void *what;
	struct gigarank_grequest *grequest; /* NULL if the simulator carries the operation out */
};

/* Forms of calls that have the procedure of a plain call. The simulator names the form in messages: MPI_Ibcast, MPI_Bcast_init,
 * MPI_Mrecv. */
enum { GIGARANK_PLAIN, GIGARANK_LATER, GIGARANK_PERSISTENT, GIGARANK_MATCHED, GIGARANK_FORM = 3 };
/* Beside a form: the call is MPI_Alltoallw, MPI_Reduce_scatter_block, MPI_Comm_split_type, MPI_Dist_graph_create or
 * MPI_Comm_idup, and has the procedure of MPI_Alltoallv, MPI_Reduce_scatter, MPI_Comm_split, MPI_Comm_dup or MPI_Barrier. */
enum { GIGARANK_VARIANT = 4, GIGARANK_OF_VARIANT = 1 << 14 /* in the latest call of a rank */ };

/* In the key of GIGARANK_RAISE: threads of the rank, of the kind in n, go on where another rank may have its variables.
 * The call that it makes is that in dest. A smaller key than 0 else: the reason is in detail. */
enum { GIGARANK_ASTRAY = -2 };
enum { GIGARANK_LIVING_THREAD = 1, GIGARANK_OPEN_REGION };

/* The size of the fields that all calls have. */
#define GIGARANK_COMMON offsetof(struct gigarank_call, bytes)
/* Calls of a buffer and a result have the fields up to the first list. */
#define GIGARANK_OF_BUFFERS offsetof(struct gigarank_call, incounts)

/* States of a rank, as the simulator sees them. */
enum { GIGARANK_RUNS, GIGARANK_CALLS, GIGARANK_HELD, GIGARANK_ENDED };

/* How a rank's code has come back to the engine. */
enum { GIGARANK_BY_CALL, GIGARANK_BY_EXIT, GIGARANK_BY_SIGNAL, GIGARANK_BY_INTERRUPTION };

/* How a rank has left MPI: by MPI_Finalize, or by the end of its last session without MPI_Init. */
enum { GIGARANK_FINALIZED = 1, GIGARANK_OUT_OF_SESSIONS };

/* A rank. */
struct gigarank_rank {
	void *sp;                    /* its stack pointer, while it is suspended */
	struct gigarank_call *call;  /* that it makes */
	int64_t clock, computed;     /* virtual time, and the time that it has computed since; picoseconds */
	struct gigarank_comm *comms; /* that it has made */
	char *variables;             /* its copy of the program's, while the engine runs */
	char *saved;                 /* its copy of the stack, while it is suspended, if stacks are copied */
	struct gigarank_process *process; /* its state of a process, if it has asked for any of it */
	char *line;                  /* of output that has not ended */
	struct gigarank_fortran *fortran; /* its state for Fortran and its library */
	struct gigarank_own *own;    /* state that few ranks have: error codes, attributes of types and the like */
	int32_t line_length;
	int32_t actives;             /* requests with an index */
	int32_t code;                /* with which it has ended, or the signal */
	int32_t saved_room;
	int32_t error_number;        /* errno */
	int32_t ends;                /* functions that end objects whose constructors it has called, and that are still to be called */
	int32_t polls;               /* since its last call, which have failed without one; see gigarank_fails_again */
	int32_t about;               /* index of the communicator of its latest call, whose error handler hears of errors */
	uint8_t state, returned_by, initialized;
	uint8_t left;                /* MPI, and how; 0 if it has not */
	uint8_t model : 3;           /* 1 and more: its copy holds the words that differ from a model */
	uint8_t errors_return : 1;   /* some communicator of its has an error handler */
	uint8_t listed : 1;          /* all its active requests were in the latest long list */
	uint8_t singular : 1;        /* some request of its may be done, or active, without an index */
	uint8_t in_session : 1;      /* it has sessions */
	uint8_t lent : 1;            /* other ranks may read its variables, which stay where they are until the rank is resumed */
	uint8_t polled_clock;        /* it has polled a clock since its last call */
	uint16_t last;               /* its latest call */
};

/* The clocks of the host, in nanoseconds, and their latest readings; see meter.c. */
struct gigarank_meter {
	int64_t (*monotonic)(void);
	int64_t (*cpu)(const void **thread); /* CPU time of the calling thread, and an address that names it */
	int64_t start;                       /* of the burst */
	int64_t at, used;                    /* both clocks at one instant */
	const void *thread;                  /* that the CPU time is of */
};

/* The CPU time of a rank since its last call, where CPU times count. */
struct gigarank_burst {
	int64_t used;    /* CPU time that counts, in nanoseconds of the host */
	double ratio;    /* of the time on the rank's node to that on the host */
	uint8_t unpaid;  /* CPU time does not count */
	uint8_t sampled; /* it belongs to a sample */
};

/* A task of a skeleton: its weights, in femtoseconds of the host's CPU time, the virtual time that it has taken, in nanoseconds, and of entries that
 * were timed the number and sums of iterations x, of those that the skeleton cannot count, and of times y, in nanoseconds. */
struct gigarank_task {
	int64_t entry, iteration;
	int64_t time;
	int64_t entries;
	double x, xx, y, yy, xy;
	double uncounted;
};

/* What a rank has come by of a task. */
struct gigarank_task_count {
	int64_t entries, iterations;
};

/* Where the code of a program has crashed. */
struct gigarank_crash {
	uintptr_t address, pc;
	int32_t overflow; /* the address lies in the guard below the rank's stack */
	const char *file; /* that pc lies in, NULL if it is unknown */
	uintptr_t base;   /* at which that file lies */
	uintptr_t caller; /* where the program has called the function that has crashed; 0 for the program itself */
	uintptr_t callee; /* the function of the runtime that the program has called, 0 if the crash is in another library */
};

/* Where the program has made a call: the offset in a file of the address to which the call returns. */
struct gigarank_site {
	uintptr_t offset; /* 0 if it is not known */
	const char *file; /* NULL for the program itself */
};

/* A foreign call: code of the program outside ranks, in a thread or in an operation, has called a function that only a rank
 * may call. */
struct gigarank_foreign_call {
	int32_t there;
	int32_t lp;        /* the rank that has started the thread, or runs beside it */
	int32_t procedure; /* 0 if function is its name */
	char function[64];
};

/* A stack that copies of other stacks refer to. */
struct gigarank_model {
	uint64_t *words;
	size_t bytes;
	size_t call, length; /* offset of the call, and its bytes that ranks keep themselves */
	int64_t users; /* ranks whose copies refer to it */
};

enum { GIGARANK_MODELS = 4 };

/* Messages of ranks that compute for long leave before they do: other engines may wait for them. Ranks that have run for long as often in a row
 * post no calls, unless there is one engine: there, the order of the calls of all ranks depends on the program alone. */
enum { GIGARANK_COMPUTES = 2 };

/* The ranks of one engine. */
/* Further polls of the running rank that are known to fail, if each is the same as its latest call. */
struct gigarank_foreseen {
	int32_t left;        /* number of polls */
	int32_t procedure;
	uintptr_t subject;   /* handle of the request, or of the communicator */
	int32_t source, tag;
};

struct gigarank_engine {
	struct gigarank_rank *ranks;
	int32_t *list;               /* the ranks to resume */
	int32_t count, first, world; /* ranks here, the number of the first, and of all */
	int32_t lazy;                /* computing only advances the clock */
	int32_t form;                /* of the call that the running rank composes */
	int32_t bound_call;          /* the running rank has called the binding of a collective, which calls the collective in C next */
	uintptr_t called;            /* of the collective that the running rank composes, as in struct gigarank_call */
	int32_t clock_polls;         /* in a row, of the rank that runs; see clocks.c */
	int64_t polled_time;         /* virtual time at the latest poll, in picoseconds */
	uint64_t polled_ticks;       /* of the host's clock at that poll */
	uint64_t ran, long_ticks;    /* how long code of ranks has run on the host; 50 us, about */
	int64_t timeless;            /* long pieces of that code between two clock polls of the same virtual time */
	int32_t declares;            /* a rank has declared the time that it computes */
	int32_t phased;              /* a rank has begun a phase */
	int64_t poll;                /* time of a failing poll, in picoseconds */
	struct gigarank_foreseen foreseen;
	int64_t posts;               /* bytes of the longest message that is posted; less than 0: no call is */
	int64_t bare_posts;          /* likewise, of messages without content */
	char *posted;                /* calls of the ranks resumed last, one rank's behind another's */
	size_t posted_bytes, posted_room;
	int32_t posted_count;        /* of the running rank */
	int32_t copied;              /* all ranks run on one stack, which is copied at a switch */
	int32_t argc;
	char **argv;
	char **environment;          /* that ranks share, without the variables that launchers have set for the simulator */
	char *stacks;
	size_t stack, guard;         /* bytes of each stack, its guard included */
	void *sp;                    /* the engine's stack pointer, while a rank runs */
	struct gigarank_model models[GIGARANK_MODELS];
	struct gigarank_rank *running; /* the rank that runs or is switched to or from */
	int32_t inside;              /* its code runs */
	struct gigarank_program *program; /* of all ranks, or of the rank that has run last */
	struct gigarank_program **images; /* by rank, NULL if all ranks have one image */
	char *variables;             /* of all ranks */
	size_t stride;               /* from one rank's variables to the next rank's */
	char *reserved;              /* the memory that holds them */
	size_t reserved_bytes;
	int32_t plain;               /* variables are few: all are copied at each switch */
	int32_t mapped;              /* ranks, the first, whose large variables are moved, not copied */
	struct gigarank_portions *portions; /* of variables, NULL if the program has none; see portions.c */
	int64_t claimed;             /* mappings that are still to be made for guards and variables */
	int32_t label;               /* lines of output begin with their rank */
	int32_t lengthy;               /* the ranks resumed last have run for long */
	int32_t computes;              /* how often in a row each of them has, on average, up to GIGARANK_COMPUTES */
	int32_t thread;              /* of the system, that runs the ranks */
	int32_t interruptions;       /* of ranks that compute; see interrupt.c */
	int32_t stops;               /* a rank of those resumed last fails or was interrupted: the engine hears of it before other ranks run */
	int32_t asks;                /* a rank is resumed for the place of its call only; see gigarank_place */
	int32_t threads;             /* a rank has started some */
	int32_t ordered;             /* the program has ordered regions of OpenMP */
	int32_t bound;               /* all ranks run in one thread of the system, whose thread-local variables they may keep */
	int32_t keeps;               /* parts of the state of a process that the thread takes from a rank at a switch; see libc/process.h */
	int32_t directory;           /* number of the thread's working directory, 0 for the directory of the run */
	uint32_t mask;               /* of the thread's new files, if it keeps any */
	struct gigarank_directory *directories;
	char *text;                  /* output of ranks, for the simulator to take */
	size_t text_length, text_room;
	struct gigarank_request *requests;
	int32_t request_count, request_free, detached_requests;
	struct gigarank_object **objects; /* of its ranks */
	int32_t object_count, object_room;
	struct gigarank_object *free_objects[8]; /* by kind */
	struct gigarank_crash crash; /* the latest */
	struct gigarank_site *sites; /* by rank, of its latest call, NULL if nobody asks for them */
	struct gigarank_foreign_call by_thread, by_operation;
	struct gigarank_engine *next; /* of the list of open engines */
	struct gigarank_meter meter;
	struct gigarank_burst *bursts; /* by rank, NULL if CPU times do not count */
	struct gigarank_task *tasks; /* of a skeleton or a timed form, NULL if nobody asks for them */
	struct gigarank_task_count *task_counts; /* by rank and task, likewise */
	double *task_ratios;         /* by rank, of the time on the rank's node to that on the host */
	unsigned char *beside;       /* memory that stands for that of other ranks in the caches, NULL for none */
	size_t beside_bytes, beside_at;
	struct gigarank_rank *warm;  /* the rank that has the caches */
	int64_t task_time;           /* virtual time of all tasks, in nanoseconds */
	int32_t task_count;
	int64_t rest, rests;         /* CPU time outside tasks in nanoseconds, and bursts that calls have ended */
	void (*handler)(int, void *, void *); /* of the running rank, for the signal that has stopped it */
	void *aside;                 /* copies of vectors, for operations of the program */
	size_t aside_bytes;
};

enum { GIGARANK_FILLED = 16 };

/* A range of a program's variables. */
struct gigarank_variables {
	char *address;  /* where the program has them, in this thread if they are thread-local */
	size_t bytes;
	size_t given;   /* bytes with initial values at address; the bytes behind them are 0 */
	size_t module;  /* number of the object whose thread-local variables they are */
	size_t offset;  /* of the copy among a rank's variables */
	int32_t filled; /* portions whose initial values are not all 0 */
	size_t place[GIGARANK_FILLED]; /* of the first filled portions */
};

/* The library of OpenMP, libgomp, as a program needs it. Its functions are NULL if the program does not. */
struct gigarank_openmp {
	int (*active_level)(void); /* regions with several threads in which the calling thread is */
	int (*pause)(int);         /* ends the threads that wait for its next region */
};

/* A program as it is loaded. Engines that run at the same time have an image of the program each, if it has
 * variables, or an image for each rank. */
struct gigarank_program {
	const char *file; /* from the root on */
	void *handle;
	int (*main)(int, char **, char **);
	struct gigarank_held *held; /* constructors and the like */
	void (*streams[2])(void);   /* make the standard streams of C++, NULL for none; see streams.cc */
	int32_t pieces, locals;     /* of its variables, and of its thread-local variables, which come last */
	int32_t own_locals;         /* of these, the first, that no other image has */
	int32_t large;              /* of pieces, the first, that can be mapped */
	struct gigarank_variables piece[32];
	size_t bytes;      /* of all pieces */
	uintptr_t low, span; /* all pieces that are not thread-local lie there */
	size_t stride;     /* bytes from one rank's variables to the next rank's */
	char *initial;     /* their contents before any rank ran */
	int32_t image;     /* the file that holds them, if they can be mapped, else -1 */
	const char *fortran_constants; /* its common block of the constants of Fortran, NULL for none */
	uintptr_t base, text, text_bytes; /* where it lies, and its code */
	int32_t executable; /* it executes code on its stack: compilers put a piece of code there for a nested function */
	struct gigarank_openmp openmp;
	char ***environment; /* its variable environ, NULL if it does not use it */
	char *(*exceptions)(void); /* returns where a thread has its exceptions, NULL if it has none */
	char fault[256];   /* why it cannot run, empty if it can */
};

/* The functions that the simulator calls, by name. */
struct gigarank_program *gigarank_load(const char *path);
struct gigarank_engine *gigarank_open(struct gigarank_program *const *programs, int32_t images, int32_t count, int32_t first, int32_t world, size_t stack, int32_t copied, int32_t argc, char **argv, char *fault, size_t room);
int32_t gigarank_resume(struct gigarank_engine *e, int32_t n);
void gigarank_place(struct gigarank_engine *e, int32_t lp);
const char *gigarank_comm_name(const struct gigarank_engine *e, int32_t lp, int32_t comm);
void gigarank_release(struct gigarank_engine *e);
int32_t gigarank_close(struct gigarank_engine *e);
int gigarank_operate(struct gigarank_engine *e, int32_t lp, uintptr_t handle, uintptr_t type, void *into, const void *left, const void *right, size_t bytes);
int gigarank_operate_row(struct gigarank_engine *e, int32_t lp, uintptr_t handle, uintptr_t type, void *vectors, size_t bytes, size_t count);
void gigarank_flush(struct gigarank_engine *e, int32_t lp);
void gigarank_lend(struct gigarank_engine *e, int32_t lp, const void *memory, size_t bytes);
int gigarank_measure(struct gigarank_engine *e);
int gigarank_open_sites(struct gigarank_engine *e);
int gigarank_open_tasks(struct gigarank_engine *e, int32_t number, int32_t by_rank, size_t beside);
void gigarank_interrupt(struct gigarank_engine *e);

#endif
