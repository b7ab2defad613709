/* Intercommunicators: ranks with an even number in WORLD are one group, the others the other. */
#include "check.h"

static MPI_Comm half, inter;
static int group, member, members, others;

static void messages(void) {
	int flag, n, result;
	MPI_Comm_test_inter(inter, &flag);
	CHECK(flag);
	MPI_Comm_remote_size(inter, &n);
	CHECK(n == others);
	MPI_Comm_size(inter, &n);
	CHECK(n == members);
	MPI_Group remote, world;
	int first = 0, of;
	MPI_Comm_remote_group(inter, &remote);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_translate_ranks(remote, 1, &first, world, &of);
	CHECK(of == 1 - group);
	MPI_Group_free(&remote), MPI_Group_free(&world);
	/* Ranks with a partner in the other group exchange what they are. */
	if (member < others) {
		int theirs = -1;
		MPI_Status status;
		MPI_Sendrecv(&rank, 1, MPI_INT, member, 3, &theirs, 1, MPI_INT, MPI_ANY_SOURCE, 3, inter, &status);
		CHECK(theirs == rank + 1 - 2 * group && status.MPI_SOURCE == member);
	}
	MPI_Comm copy, merged;
	MPI_Comm_dup(inter, &copy);
	MPI_Comm_compare(inter, copy, &result);
	CHECK(result == MPI_CONGRUENT);
	MPI_Comm_compare(inter, half, &result);
	CHECK(result == MPI_UNEQUAL);
	MPI_Barrier(copy);
	MPI_Comm_free(&copy);
	MPI_Intercomm_merge(inter, group == 0, &merged);
	MPI_Comm_rank(merged, &n);
	CHECK(n == (group == 0 ? others + member : member));
	MPI_Comm_size(merged, &n);
	CHECK(n == size);
	MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_SUM, merged);
	CHECK(n == size * (size - 1) / 2);
	MPI_Comm_free(&merged);
}

/* What the group of rank 0 sends, with its member 0 as the root, and the other way round. */
static void rooted(int first) {
	int mine = group == first, root = mine ? member == 0 ? MPI_ROOT : MPI_PROC_NULL : 0;
	int x = mine ? 42 : -1, all[64], parts[128], counts[64], at[64], sum = -1;
	MPI_Request request;
	MPI_Bcast(&x, 1, MPI_INT, root, inter);
	CHECK(x == 42);
	for (int i = 0; i < 64; i++)
		all[i] = -1, counts[i] = i % 2 + 1, at[i] = 2 * i;
	MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, root, inter);
	int right = 1;
	for (int i = 0; root == MPI_ROOT && i < others; i++)
		right = right && all[i] == 2 * i + 1 - group;
	CHECK(right);
	int own[2] = {rank, -rank};
	for (int i = 0; i < 128; i++)
		parts[i] = -7;
	MPI_Gatherv(own, counts[member], MPI_INT, parts, counts, at, MPI_INT, root, inter);
	for (int i = 0; root == MPI_ROOT && i < others; i++)
		right = right && parts[2 * i] == 2 * i + 1 - group && parts[2 * i + 1] == (counts[i] == 2 ? -(2 * i + 1 - group) : -7);
	CHECK(right);
	for (int i = 0; i < 128; i++)
		parts[i] = i;
	int got[2] = {-1, -1};
	MPI_Scatter(parts, 2, MPI_INT, got, 2, MPI_INT, root, inter);
	CHECK(mine ? got[0] == -1 : got[0] == 2 * member && got[1] == 2 * member + 1);
	got[0] = got[1] = -1;
	MPI_Iscatterv(parts, counts, at, MPI_INT, got, counts[member], MPI_INT, root, inter, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	CHECK(mine ? got[0] == -1 : got[0] == 2 * member && got[1] == (counts[member] == 2 ? 2 * member + 1 : -1));
	MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, root, inter);
	int want = 0;
	for (int i = 0; i < others; i++)
		want += 2 * i + 1 - group;
	CHECK(root == MPI_ROOT ? sum == want : sum == -1);
}

static void unrooted(void) {
	int sum = 0, want = 0, all[64], right = 1, sent[64], blocks[64], counts[64], at[64];
	MPI_Request request;
	for (int i = 0; i < others; i++)
		want += 2 * i + 1 - group;
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
	CHECK(sum == want);
	sum = 0;
	MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	CHECK(sum == want);
	MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, inter);
	for (int i = 0; i < others; i++)
		right = right && all[i] == 2 * i + 1 - group;
	CHECK(right);
	for (int i = 0; i < 64; i++)
		all[i] = -1, counts[i] = 1, at[i] = 63 - i, sent[i] = 100 * rank + i;
	MPI_Allgatherv(&rank, 1, MPI_INT, all, counts, at, MPI_INT, inter);
	for (int i = 0; i < others; i++)
		right = right && all[63 - i] == 2 * i + 1 - group;
	CHECK(right && all[0] == -1);
	MPI_Alltoall(sent, 1, MPI_INT, blocks, 1, MPI_INT, inter);
	for (int i = 0; i < others; i++)
		right = right && blocks[i] == 100 * (2 * i + 1 - group) + member;
	CHECK(right);
	MPI_Alltoallv(sent, counts, at, MPI_INT, blocks, counts, at, MPI_INT, inter);
	for (int i = 0; i < others; i++)
		right = right && blocks[63 - i] == 100 * (2 * i + 1 - group) + 63 - member;
	CHECK(right);
	/* Both groups get vectors of as many elements as there are pairs. */
	int each = others, vector[64], part[64];
	for (int i = 0; i < 64; i++)
		vector[i] = rank + i;
	MPI_Reduce_scatter_block(vector, part, each, MPI_INT, MPI_SUM, inter);
	for (int i = 0; i < each; i++)
		right = right && part[i] == want + others * (member * each + i);
	CHECK(right);
	MPI_Barrier(inter);
}

/* A part has the members of both groups that give a color, by key. */
static void parts(void) {
	MPI_Comm part;
	int color = member % 3, n = 0, m = 0, left = 0, sum = -1, want = 0;
	for (int i = 0; i < size; i++) {
		int same = i / 2 % 3 == color;
		n += same && i % 2 == group, m += same && i % 2 != group;
		left += same && i % 2 == group && i > rank; /* the last comes first */
		want += same && i % 2 != group ? i : 0;
	}
	MPI_Comm_split(inter, color, -rank, &part);
	CHECK((part == MPI_COMM_NULL) == (m == 0));
	if (m > 0) {
		int r, s, t, is;
		MPI_Comm_rank(part, &r);
		MPI_Comm_size(part, &s);
		MPI_Comm_remote_size(part, &t);
		MPI_Comm_test_inter(part, &is);
		CHECK(is && r == left && s == n && t == m);
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, part);
		CHECK(sum == want);
		MPI_Comm again;
		MPI_Comm_split(part, 0, 0, &again);
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_MAX, again);
		CHECK(sum % 2 != group);
		MPI_Comm_free(&again);
		MPI_Comm_free(&part);
	}
	MPI_Comm_split(inter, group == 0 ? MPI_UNDEFINED : 4, 0, &part);
	CHECK(part == MPI_COMM_NULL);
	/* The last of each group, and the first of that. Open MPI 4.1 needs the order of the whole: it has
	 * each remote group in that order, which IN_ORDER keeps. */
	MPI_Group all, some;
#if defined GIGARANK && !defined IN_ORDER
	int list[2] = {members - 1, 0}, r, root = (size - 1) / 2 * 2;
#else
	int list[2] = {0, members - 1}, r, root = 0;
#endif
	MPI_Comm_group(inter, &all);
	MPI_Group_incl(all, members > 1 ? 2 : 1, list, &some);
	MPI_Group_rank(some, &r);
	MPI_Comm_create(inter, some, &part);
	CHECK((part == MPI_COMM_NULL) == (r == MPI_UNDEFINED));
	if (part != MPI_COMM_NULL) {
		int s, first = rank;
		MPI_Comm_rank(part, &s);
		CHECK(s == r);
		MPI_Bcast(&first, 1, MPI_INT, group == 0 ? (r == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, part);
		CHECK(first == (group == 0 ? rank : root));
		MPI_Comm_free(&part);
	}
	MPI_Comm_create(inter, group == 0 ? some : MPI_GROUP_EMPTY, &part);
	CHECK(part == MPI_COMM_NULL);
	MPI_Group_free(&some);
	MPI_Group_free(&all);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	group = rank % 2;
	MPI_Comm_split(MPI_COMM_WORLD, group, rank, &half);
	MPI_Comm_rank(half, &member);
	MPI_Comm_size(half, &members);
	others = size - members;
	if (size > 1) {
		MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - group, 5, &inter);
		messages();
		rooted(0);
		rooted(1);
		unrooted();
		parts();
		int sum;
		MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
		CHECK_CLASS(MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
		MPI_Comm_free(&inter);
	}
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm merged;
	CHECK_CLASS(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &merged), MPI_ERR_COMM);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_free(&half);
	return finish("intercommunicators");
}
