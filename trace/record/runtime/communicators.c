/* Communicators: their numbers, and the calls that make and free them. These calls are recorded even while MPI_Pcontrol has the recording off. */
#include "trace.h"

#include <stddef.h>

enum { MOST_COMMUNICATORS = 1 << 16, MOST_CONTEXT = 1 << 20 };

static struct table known; /* by handle: index in all */
static struct communicator *all;
static int32_t *free_places; /* of all */
static int32_t free_count, places;
static struct numbers numbers; /* from 2 on: minus 2 */
static int *ranks, *translated; /* of a group */
static MPI_Group world;
static struct table counted; /* by hash of the groups: communicators of a group that are there without a call, intercommunicators of two groups */
static MPI_Comm latest;
static struct communicator *latest_of;

static struct communicator *enter_communicator(MPI_Comm comm, int64_t number) {
	int32_t place = free_count ? free_places[--free_count] : places < MOST_COMMUNICATORS ? places++ : -1;
	if (place < 0 || !add_entry(&known, KEY(comm), place)) {
		stop("the recording stops: there are more than %d communicators", MOST_COMMUNICATORS);
		return NULL;
	}
	struct communicator *c = &all[place];
	*c = (struct communicator){.number = number};
	int inter = 0;
	next.comm_size(comm, &c->size), next.comm_rank(comm, &c->rank), next.comm_test_inter(comm, &inter);
	if (inter)
		next.comm_remote_size(comm, &c->remote);
	latest_of = NULL;
	return c;
}

int start_communicators(void) {
	size_t n = (size_t)task.size;
	if (!make_table(&known) || !make_table(&counted) || !(all = room(MOST_COMMUNICATORS * sizeof *all)) || !(free_places = room(MOST_COMMUNICATORS * sizeof *free_places)) ||
	    !(numbers.used = room(MOST_ENTRIES / 8)) || !(ranks = room(n * sizeof *ranks)) || !(translated = room(n * sizeof *translated)))
		return 0;
	next.comm_group(MPI_COMM_WORLD, &world);
	return enter_communicator(MPI_COMM_WORLD, 0) && enter_communicator(MPI_COMM_SELF, 1);
}

struct communicator *communicator(MPI_Comm comm) {
	if (latest_of && comm == latest)
		return latest_of;
	int32_t e = comm == MPI_COMM_NULL ? 0 : find_entry(&known, KEY(comm));
	if (!e || all[known.entries[e].value].number < 0)
		return NULL;
	latest = comm;
	return latest_of = &all[known.entries[e].value];
}

/* runs stores the members of a group as runs of ranks of WORLD: first rank, distance, number. It reports whether it could. */
static int runs(struct list *l, MPI_Group group) {
	int n = 0;
	l->n = 0;
	next.group_size(group, &n);
	if (n > task.size)
		return 0;
	for (int i = 0; i < n; i++)
		ranks[i] = i;
	if (next.group_translate_ranks(group, n, ranks, world, translated) != MPI_SUCCESS)
		return 0;
	for (int i = 0; i < n;) {
		int count = 1, distance = i + 1 < n ? translated[i + 1] - translated[i] : 1;
		if (translated[i] == MPI_UNDEFINED || l->n + 3 > MOST_LISTED)
			return 0;
		while (i + count < n && translated[i + count] == translated[i] + count * distance)
			count++;
		l->at[l->n++] = translated[i], l->at[l->n++] = distance, l->at[l->n++] = count;
		i += count;
	}
	return 1;
}

/* runs_of is runs of the group of a communicator, or of its remote group. */
static int runs_of(struct list *l, MPI_Comm comm, int is_remote) {
	MPI_Group group;
	if ((is_remote ? next.comm_remote_group(comm, &group) : next.comm_group(comm, &group)) != MPI_SUCCESS)
		return 0;
	int could = runs(l, group);
	next.group_free(&group);
	return could;
}

/* makes sets the operation of a call on a parent that makes communicators, and reports whether there is one. */
static int makes(struct function *f, int function, MPI_Comm parent) {
	const struct communicator *c = communicator(parent);
	if (!c) {
		unrecorded(f);
		return 0;
	}
	operation(function);
	V(Comm) = c->number, V(Made) = -1, V(Color) = COLOR_UNDEFINED, V(Key) = V(Context) = 0;
	L(Group)->n = 0;
	return 1;
}

/* mixed returns a number that depends on all bits of two others. */
static uint64_t mixed(uint64_t a, uint64_t b) {
	a = (a ^ b) * 0x9e3779b97f4a7c15u;
	a = (a ^ a >> 32) * 0xd6e8feb86659fd93u;
	return a ^ a >> 32;
}

static uint64_t hash_of(const struct list *l) {
	uint64_t hash = 1;
	for (int64_t i = 0; i < l->n; i++)
		hash = mixed(hash, (uint64_t)l->at[i]);
	return hash;
}

/* count counts a communicator whose groups have a hash, and returns how many there have been. All members count alike. */
static int32_t count(uint64_t hash) {
	int32_t e = find_entry(&counted, hash);
	return e ? ++counted.entries[e].value : add_entry(&counted, hash, 1);
}

/* emit_always emits an operation that a replay needs even if it has the calls around it not. */
static void emit_always(void) {
	if (task.stopped || task.mode != MODE_TRACE)
		return;
	int before = task.on;
	task.on = 1;
	if (!before)
		task.start = task.burst_end; /* the burst is not recorded */
	emit();
	task.on = before;
}

/* made gives a new communicator a number, and emits the operation. */
static void made(MPI_Comm comm) {
	if (comm != MPI_COMM_NULL) {
		int64_t number = take_number(&numbers);
		if (number < 0 || !enter_communicator(comm, 2 + number))
			return;
		V(Made) = 2 + number;
	}
	emit_always();
}

/* first_of returns the rank in WORLD of the first member, which tells the communicators that a call makes apart. */
static int64_t first_of(MPI_Comm comm) {
	MPI_Group group;
	int zero = 0, first = 0;
	if (next.comm_group(comm, &group) == MPI_SUCCESS) {
		next.group_translate_ranks(group, 1, &zero, world, &first);
		next.group_free(&group);
	}
	return first;
}

/* splits records a call whose new communicator has its members in some order. */
static void splits(struct function *f, int function, MPI_Comm parent, int64_t color, int64_t key, MPI_Comm comm) {
	if (!makes(f, function, parent))
		return;
	if (comm != MPI_COMM_NULL)
		V(Color) = color, V(Key) = key;
	made(comm);
}

static int64_t rank_in(MPI_Comm comm) {
	int rank = 0;
	if (comm != MPI_COMM_NULL)
		next.comm_rank(comm, &rank);
	return rank;
}

/* duplicates records a call whose new communicator has the members of its parent. If they are in another order, it is a split. */
static void duplicates(struct function *f, int function, MPI_Comm parent, MPI_Comm comm) {
	int result = MPI_CONGRUENT;
	struct communicator *c = communicator(parent);
	if (c && c->remote && makes(f, function, parent)) { /* all wait, and then make the duplicate with a number */
		emit_always();
		operation(FUNCTION_local_duplicate);
		V(Comm) = c->number, V(Key) = c->duplicates++;
		made(comm);
		return;
	}
	next.comm_compare(parent, comm, &result);
	if (result == MPI_SIMILAR)
		splits(f, FUNCTION_Comm_split, parent, 0, rank_in(comm), comm);
	else
		splits(f, function, parent, 0, 0, comm);
}

/* of_group sets the group of a call that makes a communicator of some members. Members of the group tell it from others by its first member. */
static void of_group(MPI_Comm comm) {
	if (comm != MPI_COMM_NULL && runs_of(L(Group), comm, 0) && L(Group)->n)
		V(Color) = L(Group)->at[0];
}

/* covers records a call that makes a communicator of some members. The others hand in no group. */
static void covers(struct function *f, int function, MPI_Comm parent, MPI_Comm comm) {
	const struct communicator *c = communicator(parent);
	if (c && c->remote) { /* the groups are parts of both groups */
		splits(f, FUNCTION_Comm_split, parent, 0, rank_in(comm), comm);
		return;
	}
	if (!makes(f, function, parent))
		return;
	of_group(comm);
	made(comm);
}

/* is_given records a communicator that no recorded call has made. All its members count those with their group alike. */
static void is_given(MPI_Comm comm) {
	if (comm == MPI_COMM_NULL)
		return;
	operation(FUNCTION_communicator);
	if (!runs_of(L(Group), comm, 0))
		return;
	V(Context) = count(hash_of(L(Group))) % MOST_CONTEXT;
	made(comm);
}

/* greets records the messages by which the leaders tell each other of their groups. The call's time is that of the call itself. */
static void greets(const struct communicator *peer, int leader, int tag, int own, int remote) {
	int64_t number = number_within();
	uint64_t ended = task.ended;
	task.ended = task.begun;
	operation(FUNCTION_Isend);
	V(Comm) = peer->number, V(Peer) = leader, V(Tag) = tag, V(Bytes) = 8 * (1 + (int64_t)own), V(Request) = number;
	emit_always();
	operation(FUNCTION_Probe);
	V(Source) = V(GotSource) = leader, V(SourceTag) = V(GotTag) = tag, V(GotBytes) = 8 * (1 + (int64_t)remote);
	emit_always();
	operation(FUNCTION_Recv);
	V(Room) = V(GotBytes);
	emit_always();
	operation(FUNCTION_Wait);
	L(Requests)->n = 1, L(Requests)->at[0] = number, L(Completed)->n = L(Matched)->n = 0;
	emit_always();
	task.ended = ended;
}

/* token returns the number of a group that meets another one. */
static int64_t token(uint64_t group, uint64_t other, uint64_t number) { return (int64_t)mixed(mixed(group, other * 3), number); }

/* meets records a call that makes an intercommunicator. All members of both groups number those of the same groups alike. */
static void meets(struct function *f, MPI_Comm local, int leader, MPI_Comm peer, int remote_leader, int tag, MPI_Comm comm) {
	const struct communicator *c = communicator(local), *with = c && c->rank == leader ? communicator(peer) : c;
	int remote = 0;
	if (!c || !with || c->remote || with->remote || comm == MPI_COMM_NULL) {
		unrecorded(f);
		return;
	}
	next.comm_remote_size(comm, &remote);
	if (c->rank == leader)
		greets(with, remote_leader, tag, c->size, remote);
	operation(FUNCTION_Intercomm_create);
	if (!runs_of(L(Group), comm, 0))
		return;
	uint64_t own = hash_of(L(Group));
	if (!runs_of(L(Group), comm, 1))
		return;
	uint64_t others = hash_of(L(Group)), number = (uint64_t)count(own ^ others);
	V(Comm) = c->number, V(Made) = -1, V(Root) = leader;
	V(Token) = token(own, others, number), V(RemoteToken) = token(others, own, number);
	made(comm);
}

/* merges records the call that makes a communicator of both groups, and the communicator, which is made with a number. */
static void merges(struct function *f, MPI_Comm parent, MPI_Comm comm) {
	struct communicator *c = communicator(parent);
	if (!c || !c->remote) {
		unrecorded(f);
		is_given(comm);
		return;
	}
	operation(FUNCTION_Intercomm_merge);
	V(Comm) = c->number, V(Root) = V(Datatype) = V(Request) = 0, V(Vector) = V(Element) = V(Given) = V(Taken) = 1, V(Traits) = TRAIT_DATA;
	L(Counts)->n = L(InCounts)->n = L(OutCounts)->n = 0;
	emit_always();
	operation(FUNCTION_local_merge);
	V(Comm) = c->number, V(Key) = c->duplicates++, V(Color) = first_of(comm) == first_of(parent);
	made(comm);
}

/* --- definitions -------------------------------------------------------------------- */

/* MAKES defines a function that makes a communicator, and what records it. */
#define MAKES(name_, parameters_, arguments_, recorded_) \
	EXPORT int MPI_##name_ parameters_ { \
		BEGIN(name_, UNPACK arguments_); \
		int code = NEXT(name_) arguments_; \
		if (leave(&called, code)) { \
			recorded_; \
		} \
		return done(code); \
	} \
	ALSO_PMPI(name_)
#define UNPACK(...) __VA_ARGS__

static int is_inter(MPI_Comm comm) {
	int flag = 0;
	next.comm_test_inter(comm, &flag);
	return flag;
}

MAKES(Comm_dup, (MPI_Comm comm, MPI_Comm *new), (comm, new), duplicates(&called, FUNCTION_Comm_dup, comm, *new))
MAKES(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *new), (comm, info, new), duplicates(&called, FUNCTION_Comm_dup, comm, *new))
MAKES(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *new), (comm, color, key, new), splits(&called, FUNCTION_Comm_split, comm, color, key, *new))
MAKES(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *new), (comm, type, key, info, new),
	splits(&called, FUNCTION_Comm_split_type, comm, *new == MPI_COMM_NULL ? 0 : first_of(*new), rank_in(*new), *new))
MAKES(Cart_create, (MPI_Comm comm, int n, const int dims[], const int periods[], int reorder, MPI_Comm *new), (comm, n, dims, periods, reorder, new),
	covers(&called, FUNCTION_Cart_create, comm, *new))
MAKES(Graph_create, (MPI_Comm comm, int n, const int index[], const int edges[], int reorder, MPI_Comm *new), (comm, n, index, edges, reorder, new),
	covers(&called, FUNCTION_Graph_create, comm, *new))
MAKES(Cart_sub, (MPI_Comm comm, const int remains[], MPI_Comm *new), (comm, remains, new), splits(&called, FUNCTION_Cart_sub, comm, *new == MPI_COMM_NULL ? 0 : first_of(*new), rank_in(*new), *new))
MAKES(Dist_graph_create, (MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[], const int weights[], MPI_Info info, int reorder, MPI_Comm *new),
	(comm, n, sources, degrees, destinations, weights, info, reorder, new), duplicates(&called, FUNCTION_Dist_graph_create, comm, *new))
MAKES(Dist_graph_create_adjacent, (MPI_Comm comm, int in, const int sources[], const int in_weights[], int out, const int destinations[], const int out_weights[], MPI_Info info, int reorder, MPI_Comm *new),
	(comm, in, sources, in_weights, out, destinations, out_weights, info, reorder, new), duplicates(&called, FUNCTION_Dist_graph_create_adjacent, comm, *new))
MAKES(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *new), (comm, high, new), merges(&called, comm, *new))
MAKES(Intercomm_create, (MPI_Comm local, int leader, MPI_Comm peer, int remote_leader, int tag, MPI_Comm *new), (local, leader, peer, remote_leader, tag, new),
	meets(&called, local, leader, peer, remote_leader, tag, *new))
#if MPI_VERSION >= 4
MAKES(Comm_create_from_group, (MPI_Group group, const char *tag, MPI_Info info, MPI_Errhandler handler, MPI_Comm *new), (group, tag, info, handler, new), is_given(*new))
#endif

MAKES(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *new), (comm, group, new), covers(&called, FUNCTION_Comm_create, comm, *new))

EXPORT int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *new) {
	BEGIN(Comm_create_group, comm, group, tag, new);
	int code = NEXT(Comm_create_group)(comm, group, tag, new);
	if (leave(&called, code) && *new != MPI_COMM_NULL) {
		if (is_inter(comm))
			unrecorded(&called);
		else {
			operation(FUNCTION_Comm_create_group);
			V(Comm) = V(Color) = V(Key) = 0, V(Made) = -1, V(Context) = tag;
			runs(L(Group), group);
			made(*new);
		}
	}
	return done(code);
}
ALSO_PMPI(Comm_create_group)

/* later records a duplicate that is made without waiting: the communicator, and a collective with a request. */
static void later(struct function *f, MPI_Comm parent, MPI_Comm comm, MPI_Request request) {
	struct communicator *c = communicator(parent);
	if (!c) {
		unrecorded(f);
		return;
	}
	operation(FUNCTION_local_duplicate);
	V(Comm) = c->number, V(Key) = c->duplicates++;
	made(comm);
	operation(FUNCTION_Comm_idup);
	V(Comm) = c->number, V(Root) = V(Vector) = V(Element) = V(Datatype) = V(Traits) = V(Given) = V(Taken) = 0;
	L(Counts)->n = L(InCounts)->n = L(OutCounts)->n = 0;
	V(Form) |= FORM_NONBLOCKING;
	V(Request) = begun(request);
	emit();
}

MAKES(Comm_idup, (MPI_Comm comm, MPI_Comm *new, MPI_Request *request), (comm, new, request), later(&called, comm, *new, *request))
#if MPI_VERSION >= 4
MAKES(Comm_idup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *new, MPI_Request *request), (comm, info, new, request), later(&called, comm, *new, *request))
#endif

/* frees records that a communicator is freed. */
static void frees(struct communicator *c, MPI_Comm freed) {
	int32_t e = find_entry(&known, KEY(freed));
	operation(FUNCTION_Comm_free);
	V(Comm) = c->number;
	free_number(&numbers, c->number - 2);
	free_places[free_count++] = known.entries[e].value;
	remove_entry(&known, e);
	latest_of = NULL;
	V(Made) = -1;
	made(MPI_COMM_NULL);
}

#define FREES(name_) \
	EXPORT int MPI_##name_(MPI_Comm *comm) { \
		MPI_Comm freed = comm ? *comm : MPI_COMM_NULL; \
		BEGIN(name_, comm); \
		int code = NEXT(name_)(comm); \
		struct communicator *c = leave(&called, code) ? communicator(freed) : NULL; \
		if (c && c->number >= 2) \
			frees(c, freed); \
		return done(code); \
	} \
	ALSO_PMPI(name_)

FREES(Comm_free)
FREES(Comm_disconnect)
