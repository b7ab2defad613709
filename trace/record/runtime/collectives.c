/* Collectives: what members hand in, in bytes. */
#include "trace.h"

/* An argument with counts and types of members. Of one count for all, counts is NULL. */
struct blocks {
	int64_t count;
	const int *counts;
#if MPI_VERSION >= 4
	const MPI_Count *large;
#else
	const int *large;
#endif
	MPI_Datatype type;
	const MPI_Datatype *types;
};

/* An argument of the blocks of all members. */
#define EACH(count_, type_) ((struct blocks){.count = count_, .type = type_})
#define LIST_OF(counts_, type_) ((struct blocks){.MEMBER = counts_, .type = type_})
#define LISTS_OF(counts_, types_) ((struct blocks){.MEMBER = counts_, .types = types_})

static int64_t count_at(const struct blocks *b, int i) { return b->counts ? b->counts[i] : b->large ? b->large[i] : b->count; }

/* lists stores the bytes of each block, and returns their sum; -1 if there are too many. */
static int64_t lists(struct list *l, const struct blocks *b, int n) {
	int64_t all = 0, size = b->types ? 0 : bytes_of(1, b->type);
	l->n = 0;
	if (n > MOST_LISTED) {
		if (!task.stopped)
			stop("the recording stops: a call has counts for more than %d members", MOST_LISTED);
		return -1;
	}
	for (int i = 0; i < n; i++)
		all += l->at[i] = b->types ? bytes_of(count_at(b, i), b->types[i]) : count_at(b, i) * size;
	l->n = n;
	return all;
}

/* joins sets the operation of a collective, and returns its communicator; NULL if the call is not recorded. */
static const struct communicator *joins(struct function *f, int function, MPI_Comm comm) {
	const struct communicator *c = communicator(comm);
	if (!c) {
		unrecorded(f);
		return NULL;
	}
	operation(function);
	V(Comm) = c->number, V(Root) = V(Vector) = V(Datatype) = V(Request) = 0, V(Element) = 1, V(Traits) = TRAIT_DATA, V(Given) = V(Taken) = 0;
	L(Counts)->n = L(InCounts)->n = L(OutCounts)->n = 0;
	return c;
}

/* Of a collective with a root: its number, whether the task is the root, and whether the root is in the remote group. */
static int64_t root_of(const struct communicator *c, int root) { return c->remote && root == MPI_ROOT ? ROOT : rank_of(root); }
static int is_root(const struct communicator *c, int root) { return c->remote ? root == MPI_ROOT : root == c->rank; }
static int is_away(const struct communicator *c, int root) { return c->remote && root != MPI_ROOT && root != MPI_PROC_NULL; }

/* between sets the vectors of a collective on an intercommunicator: some blocks of some bytes that go out and come in. */
static int between(int64_t outgoing, int64_t out, int64_t incoming, int64_t in) {
	V(Given) = outgoing * out, V(Taken) = incoming * in, V(Vector) = outgoing ? out : incoming ? in : 0;
	return 1;
}

/* of_elements sets the elements of a collective whose blocks have the same length. */
static void of_elements(MPI_Datatype type) {
	struct elements e = elements_of(type);
	V(Element) = e.unit, V(Datatype) = e.kind;
}

static int barrier(struct function *f, MPI_Comm comm) {
	if (!joins(f, FUNCTION_Barrier, comm))
		return 0;
	V(Element) = V(Traits) = 0;
	return 1;
}

static int bcast(struct function *f, int64_t count, MPI_Datatype type, int root, MPI_Comm comm) {
	const struct communicator *c = joins(f, FUNCTION_Bcast, comm);
	if (!c)
		return 0;
	V(Root) = root_of(c, root), V(Vector) = bytes_of(count, type);
	f->bytes += V(Vector);
	if (c->remote)
		return between(is_root(c, root), V(Vector), is_away(c, root), V(Vector));
	of_elements(type);
	return 1;
}

static void reduces(MPI_Datatype type, MPI_Op operator) {
	struct elements e = elements_of(type);
	int commutes = 1;
	next.op_commutative(operator, &commutes);
	V(Element) = e.bytes, V(Datatype) = e.is_named ? e.kind : 0;
	V(Traits) |= TRAIT_OPERATOR | (commutes ? TRAIT_COMMUTATIVE : 0);
}

static int reduction(struct function *f, int function, int64_t count, MPI_Datatype type, MPI_Op operator, int root, MPI_Comm comm) {
	const struct communicator *c = joins(f, function, comm);
	if (!c)
		return 0;
	reduces(type, operator);
	V(Root) = root_of(c, root), V(Vector) = bytes_of(count, type);
	f->bytes += V(Vector);
	if (c->remote && function == FUNCTION_Reduce)
		return between(is_away(c, root), V(Vector), is_root(c, root), V(Vector));
	return !c->remote || between(1, V(Vector), 1, V(Vector));
}

static int gather(struct function *f, int function, const void *sent, int64_t sendcount, MPI_Datatype sendtype, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
	const struct communicator *c = joins(f, function, comm);
	if (!c)
		return 0;
	if (sent == MPI_IN_PLACE)
		sendcount = recvcount, sendtype = recvtype;
	V(Root) = root_of(c, root);
	if (c->remote) {
		int all = function == FUNCTION_Allgather, sends = all || is_away(c, root), receives = all || is_root(c, root);
		f->bytes += sends ? bytes_of(sendcount, sendtype) : 0;
		return between(sends, sends ? bytes_of(sendcount, sendtype) : 0, receives * c->remote, receives ? bytes_of(recvcount, recvtype) : 0);
	}
	of_elements(sendtype);
	V(Vector) = bytes_of(sendcount, sendtype);
	f->bytes += V(Vector);
	return 1;
}

static int scatter(struct function *f, int64_t sendcount, MPI_Datatype sendtype, const void *received, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
	const struct communicator *c = joins(f, FUNCTION_Scatter, comm);
	if (!c)
		return 0;
	if (received == MPI_IN_PLACE)
		recvcount = sendcount, recvtype = sendtype;
	V(Root) = root_of(c, root);
	if (c->remote) {
		int sends = is_root(c, root), receives = is_away(c, root);
		f->bytes += receives ? bytes_of(recvcount, recvtype) : 0;
		return between(sends * c->remote, sends ? bytes_of(sendcount, sendtype) : 0, receives, receives ? bytes_of(recvcount, recvtype) : 0);
	}
	of_elements(recvtype);
	V(Vector) = root == c->rank ? bytes_of(sendcount, sendtype) : bytes_of(recvcount, recvtype);
	f->bytes += V(Vector);
	return 1;
}

static int gatherv(struct function *f, int function, const void *sent, int64_t sendcount, MPI_Datatype sendtype, struct blocks received, int root, MPI_Comm comm) {
	const struct communicator *c = joins(f, function, comm);
	if (!c)
		return 0;
	int all = function == FUNCTION_Allgatherv, at_root = all || is_root(c, root);
	int64_t total = at_root ? lists(L(Counts), &received, c->remote ? c->remote : c->size) : 0;
	if (c->remote) {
		int64_t out = all || is_away(c, root) ? bytes_of(sendcount, sendtype) : 0;
		V(Root) = all ? 0 : root_of(c, root), V(Given) = out, V(Taken) = total, f->bytes += out;
		V(Vector) = all ? total : is_away(c, root) ? out : at_root && total >= 0 ? L(Counts)->at[0] : 0;
		return 1;
	}
	int64_t own = sent == MPI_IN_PLACE && at_root && total >= 0 ? L(Counts)->at[c->rank] : sent == MPI_IN_PLACE ? 0 : bytes_of(sendcount, sendtype);
	V(Root) = all ? 0 : root, V(Vector) = all ? total : own;
	f->bytes += own;
	return 1;
}

static int scatterv(struct function *f, struct blocks sent, const void *received, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
	const struct communicator *c = joins(f, FUNCTION_Scatterv, comm);
	if (!c)
		return 0;
	int64_t total = is_root(c, root) ? lists(L(Counts), &sent, c->remote ? c->remote : c->size) : 0;
	if (total < 0)
		return 0;
	if (c->remote) {
		int64_t in = is_away(c, root) ? bytes_of(recvcount, recvtype) : 0;
		V(Root) = root_of(c, root), V(Given) = total, V(Taken) = in, f->bytes += in;
		V(Vector) = is_root(c, root) ? L(Counts)->at[0] : in;
		return 1;
	}
	V(Root) = root, V(Vector) = received == MPI_IN_PLACE ? L(Counts)->at[c->rank] : bytes_of(recvcount, recvtype);
	f->bytes += V(Vector);
	return 1;
}

static int alltoall(struct function *f, const void *sent, int64_t sendcount, MPI_Datatype sendtype, int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
	const struct communicator *c = joins(f, FUNCTION_Alltoall, comm);
	if (!c)
		return 0;
	if (sent == MPI_IN_PLACE)
		sendcount = recvcount, sendtype = recvtype;
	V(Vector) = bytes_of(sendcount, sendtype);
	if (c->remote) {
		f->bytes += V(Vector) * c->remote;
		return between(c->remote, V(Vector), c->remote, bytes_of(recvcount, recvtype));
	}
	of_elements(sendtype);
	f->bytes += V(Vector) * c->size;
	return 1;
}

static int alltoallv(struct function *f, int function, const void *sent, struct blocks out, struct blocks in, MPI_Comm comm) {
	const struct communicator *c = joins(f, function, comm);
	if (!c)
		return 0;
	int n = c->remote ? c->remote : c->size;
	int64_t all = lists(L(InCounts), sent == MPI_IN_PLACE ? &in : &out, n), incoming = lists(L(OutCounts), &in, n);
	if (c->remote)
		V(Given) = all, V(Taken) = incoming;
	f->bytes += all > 0 ? all : 0;
	return 1;
}

static int reduce_scatter(struct function *f, int function, struct blocks received, MPI_Op operator, MPI_Comm comm) {
	const struct communicator *c = joins(f, function, comm);
	if (!c)
		return 0;
	reduces(received.type, operator);
	V(Vector) = lists(L(Counts), &received, c->size);
	if (c->remote && V(Vector) >= 0)
		V(Given) = V(Vector), V(Taken) = L(Counts)->at[c->rank];
	f->bytes += V(Vector) > 0 ? V(Vector) : 0;
	return 1;
}

/* --- exchanges with neighbours ------------------------------------------------------ */

static int *around; /* neighbours of a distributed graph: sources, weights, destinations, weights */

/* Messages of an exchange: peers and tags of the neighbours, in the order of the topology. */
struct neighbours { struct list *peers, *tags; };

static int neighbours_of(MPI_Comm comm, const struct communicator *c, struct neighbours in, struct neighbours out) {
	int kind = MPI_UNDEFINED, n = 0, m = 0, weighted, dims;
	int64_t *sources = in.peers->at, *destinations = out.peers->at, *in_tags = in.tags->at, *out_tags = out.tags->at;
	next.topo_test(comm, &kind);
	if (!around && !(around = room(4 * MOST_LISTED * sizeof *around)))
		return 0;
	if (kind == MPI_CART) {
		next.cartdim_get(comm, &dims);
		for (int d = 0; d < dims; d++, n += 2) {
			int down, up;
			next.cart_shift(comm, d, 1, &down, &up);
			sources[n] = destinations[n] = rank_of(down), sources[n + 1] = destinations[n + 1] = rank_of(up);
			in_tags[n] = out_tags[n + 1] = n + 1, in_tags[n + 1] = out_tags[n] = n; /* both may be one neighbour */
		}
		m = n;
	} else if (kind == MPI_GRAPH) {
		if (next.graph_neighbors_count(comm, c->rank, &n) != MPI_SUCCESS || n > MOST_LISTED)
			return 0;
		next.graph_neighbors(comm, c->rank, n, around);
		for (int i = 0; i < n; i++)
			sources[i] = destinations[i] = rank_of(around[i]), in_tags[i] = out_tags[i] = 0;
		m = n;
	} else if (kind == MPI_DIST_GRAPH) {
		if (next.dist_graph_neighbors_count(comm, &n, &m, &weighted) != MPI_SUCCESS || n > MOST_LISTED || m > MOST_LISTED)
			return 0;
		next.dist_graph_neighbors(comm, n, around, around + MOST_LISTED, m, around + 2 * MOST_LISTED, around + 3 * MOST_LISTED);
		for (int i = 0; i < n; i++)
			sources[i] = rank_of(around[i]), in_tags[i] = 0;
		for (int i = 0; i < m; i++)
			destinations[i] = rank_of(around[2 * MOST_LISTED + i]), out_tags[i] = 0;
	} else
		return 0;
	in.peers->n = in.tags->n = n, out.peers->n = out.tags->n = m;
	return 1;
}

/* neighbourhood sets the operation of an exchange. Of one block for all, is_same is set. */
static int neighbourhood(struct function *f, int function, struct blocks sent, struct blocks received, MPI_Comm comm) {
	const struct communicator *c = communicator(comm);
	if (!c || !neighbours_of(comm, c, (struct neighbours){L(ReceivePeers), L(ReceiveTags)}, (struct neighbours){L(SendPeers), L(SendTags)})) {
		unrecorded(f);
		return 0;
	}
	operation(function);
	V(Comm) = c->number, V(Request) = 0;
	lists(L(ReceiveRooms), &received, (int)L(ReceivePeers)->n);
	int64_t all = lists(L(SendBytes), &sent, (int)L(SendPeers)->n);
	f->bytes += all > 0 ? all : 0;
	return 1;
}

/* --- definitions -------------------------------------------------------------------- */

#define UNPACK(...) __VA_ARGS__

/* COLLECTIVE defines a function in its blocking and its nonblocking form: parameters, arguments, and what sets the operation. */
#define COLLECTIVE(name_, later_, parameters_, arguments_, set_) \
	EXPORT int PASTE(MPI_, name_)(UNPACK parameters_) { \
		BEGIN(name_, UNPACK arguments_); \
		int code = NEXT(name_)(UNPACK arguments_); \
		if (leave(&called, code) && (set_)) \
			emit(); \
		return done(code); \
	} \
	ALSO_PMPI(name_) \
	EXPORT int PASTE(MPI_, later_)(UNPACK parameters_, MPI_Request *request) { \
		BEGIN(later_, UNPACK arguments_, request); \
		int code = NEXT(later_)(UNPACK arguments_, request); \
		if (leave(&called, code) && (set_)) { \
			V(Form) |= FORM_NONBLOCKING; \
			V(Request) = begun(*request); \
			emit(); \
		} \
		return done(code); \
	} \
	ALSO_PMPI(later_)

COLLECTIVE(Barrier, Ibarrier, (MPI_Comm comm), (comm), barrier(&called, comm))

#define COUNT int
#define PLACE int
#define WIDE_PLACE MPI_Aint
#define MEMBER counts
#define NAME(x) x
#define LATER(x) I##x
#include "collectives.h"
#undef COUNT
#undef PLACE
#undef WIDE_PLACE
#undef MEMBER
#undef NAME
#undef LATER

#if MPI_VERSION >= 4
#define COUNT MPI_Count
#define PLACE MPI_Aint
#define WIDE_PLACE MPI_Aint
#define MEMBER large
#define NAME(x) x##_c
#define LATER(x) I##x##_c
#include "collectives.h"
#endif
