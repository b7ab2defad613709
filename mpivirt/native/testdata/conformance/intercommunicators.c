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
