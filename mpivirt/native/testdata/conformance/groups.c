/* Groups, and what is made of them. */
#include "check.h"

#ifndef MPI_4
#define MPI_Comm_idup_with_info(comm, info, made, request) MPI_Comm_idup(comm, made, request)
#endif

static int size_of(MPI_Group group) {
	int n = -1;
	MPI_Group_size(group, &n);
	return n;
}

static int compared(MPI_Group one, MPI_Group other) {
	int result = -1;
	MPI_Group_compare(one, other, &result);
	return result;
}

/* is reports whether a group has these ranks of WORLD. */
static int is(MPI_Group group, int n, const int want[]) {
	MPI_Group world;
	int members[64], ranks[64], same = size_of(group) == n;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	for (int i = 0; i < n; i++)
		members[i] = i;
	if (same && n > 0)
		MPI_Group_translate_ranks(group, n, members, world, ranks);
	for (int i = 0; same && i < n; i++)
		same = ranks[i] == want[i];
	MPI_Group_free(&world);
	return same;
}

static void sets(void) {
	MPI_Group world, self, evens, backwards, made;
	int list[64], n = 0, other[64], rest = 0, member;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Comm_group(MPI_COMM_SELF, &self);
	MPI_Group_rank(world, &member);
	CHECK(member == rank && size_of(world) == size && size_of(self) == 1);
	MPI_Group_rank(self, &member);
	CHECK(member == 0);
	CHECK(is(self, 1, &rank));
	CHECK(compared(world, world) == MPI_IDENT);
	CHECK(compared(world, self) == (size == 1 ? MPI_IDENT : MPI_UNEQUAL));
	for (int r = 0; r < size; r++)
		if (r % 2 == 0)
			list[n++] = r;
		else
			other[rest++] = r;
	MPI_Group_incl(world, n, list, &evens);
	CHECK(is(evens, n, list));
	MPI_Group_rank(evens, &member);
	CHECK(member == (rank % 2 == 0 ? rank / 2 : MPI_UNDEFINED));
	MPI_Group_excl(world, n, list, &made);
	CHECK(is(made, rest, other));
	CHECK((made == MPI_GROUP_EMPTY) == (rest == 0));
	/* The union has the first group's members first. */
	MPI_Group both, none, odd = made;
	int want[64];
	for (int i = 0; i < rest; i++)
		want[i] = other[i];
	for (int i = 0; i < n; i++)
		want[rest + i] = list[i];
	MPI_Group_union(odd, evens, &both);
	CHECK(is(both, size, want));
	CHECK(compared(both, world) == (size > 1 ? MPI_SIMILAR : MPI_IDENT));
	MPI_Group_intersection(odd, evens, &none);
	CHECK(none == MPI_GROUP_EMPTY && size_of(none) == 0);
	MPI_Group_intersection(both, evens, &made);
	CHECK(is(made, n, list));
	MPI_Group_free(&made);
	MPI_Group_difference(both, odd, &made);
	CHECK(is(made, n, list) && compared(made, evens) == MPI_IDENT);
	MPI_Group_free(&made);
	CHECK(made == MPI_GROUP_NULL);
	MPI_Group_difference(evens, world, &made);
	CHECK(size_of(made) == 0 && compared(made, MPI_GROUP_EMPTY) == MPI_IDENT);
	/* Ranges, forwards and backwards. */
	int back[1][3] = {{size - 1, 0, -1}}, steps[2][3] = {{0, size - 1, 2}, {1, size - 1, 2}};
	MPI_Group_range_incl(world, 1, back, &backwards);
	for (int i = 0; i < size; i++)
		want[i] = size - 1 - i;
	CHECK(is(backwards, size, want));
	MPI_Group_range_excl(backwards, 1, steps, &made);
	rest = 0;
	for (int i = 1; i < size; i += 2)
		other[rest++] = size - 1 - i;
	CHECK(is(made, rest, other));
	if (made != MPI_GROUP_EMPTY)
		MPI_Group_free(&made);
	if (size > 1) {
		MPI_Group_range_incl(world, 2, steps, &made);
		CHECK(compared(made, world) == (size > 2 ? MPI_SIMILAR : MPI_IDENT));
		MPI_Group_free(&made);
	}
	MPI_Group_incl(world, 0, list, &made);
	CHECK(made == MPI_GROUP_EMPTY);
	/* Ranks of one group in another. */
	int from[3] = {0, MPI_PROC_NULL, size - 1}, to[3] = {-7, -7, -7};
	MPI_Group_translate_ranks(world, 3, from, self, to);
	CHECK(to[0] == (rank == 0 ? 0 : MPI_UNDEFINED) && to[1] == MPI_PROC_NULL && to[2] == (rank == size - 1 ? 0 : MPI_UNDEFINED));
	MPI_Group_free(&world), MPI_Group_free(&self), MPI_Group_free(&evens), MPI_Group_free(&both), MPI_Group_free(&backwards);
}

static void communicators(void) {
	MPI_Group world, made;
	MPI_Comm comm, part;
	int result, member, members, sum;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	/* All but the last, backwards. */
	int range[1][3] = {{size - 1, 1, -1}};
	if (size > 1)
		MPI_Group_range_incl(world, 1, range, &made);
	else
		made = MPI_GROUP_EMPTY;
	MPI_Comm_create(MPI_COMM_WORLD, made, &comm);
	CHECK((comm == MPI_COMM_NULL) == (rank == 0));
	if (comm != MPI_COMM_NULL) {
		MPI_Group of;
		MPI_Comm_group(comm, &of);
		CHECK(compared(of, made) == MPI_IDENT);
		MPI_Comm_rank(comm, &member);
		CHECK(member == size - 1 - rank);
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
		CHECK(sum == size * (size - 1) / 2);
		MPI_Group_free(&of);
		/* Only the members call it. */
		MPI_Comm_create_group(MPI_COMM_WORLD, made, 7, &part);
		MPI_Comm_compare(comm, part, &result);
		CHECK(result == MPI_CONGRUENT);
		MPI_Comm_size(part, &members);
		CHECK(members == size - 1);
		MPI_Barrier(part);
		MPI_Comm_disconnect(&part);
		CHECK(part == MPI_COMM_NULL);
		MPI_Comm_free(&comm);
	}
	/* Two groups at once. */
	int halves[1][3] = {{rank % 2, size - 1, 2}};
	MPI_Group half;
	MPI_Group_range_incl(world, 1, halves, &half);
	MPI_Comm_create(MPI_COMM_WORLD, half, &comm);
	MPI_Comm_rank(comm, &member);
	CHECK(member == rank / 2);
	MPI_Comm_free(&comm);
	MPI_Group_free(&half);
	/* The same members in another order. */
	int back[1][3] = {{size - 1, 0, -1}};
	MPI_Group backwards;
	MPI_Group_range_incl(world, 1, back, &backwards);
	MPI_Comm_create(MPI_COMM_WORLD, backwards, &comm);
	MPI_Comm_compare(MPI_COMM_WORLD, comm, &result);
	CHECK(result == (size > 1 ? MPI_SIMILAR : MPI_CONGRUENT));
	MPI_Comm_free(&comm);
	MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &result);
	CHECK(result == (size > 1 ? MPI_UNEQUAL : MPI_CONGRUENT));
	MPI_Group_free(&backwards);
	MPI_Group_free(&world);
	if (made != MPI_GROUP_EMPTY)
		MPI_Group_free(&made);
}

static void copies(void) {
	MPI_Comm copy, later[2], shared;
	MPI_Request requests[2];
	char name[MPI_MAX_OBJECT_NAME];
	int length, result, a = rank, b = -1, members, all, member;
	MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
	CHECK(strcmp(name, "MPI_COMM_WORLD") == 0 && length == 14);
	MPI_Comm_get_name(MPI_COMM_SELF, name, &length);
	CHECK(strcmp(name, "MPI_COMM_SELF") == 0);
	MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &copy);
	MPI_Comm_get_name(copy, name, &length);
	EXPECT(length == (int)strlen(name));
	MPI_Comm_set_name(copy, "a copy");
	MPI_Comm_get_name(copy, name, &length);
	CHECK(strcmp(name, "a copy") == 0 && length == 6);
	MPI_Comm_set_name(MPI_COMM_SELF, "myself");
	MPI_Comm_get_name(MPI_COMM_SELF, name, &length);
	CHECK(strcmp(name, "myself") == 0);
	MPI_Comm_idup(copy, &later[0], &requests[0]);
	MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &later[1], &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	MPI_Comm_compare(later[0], later[1], &result);
	CHECK(result == MPI_CONGRUENT);
	MPI_Isend(&a, 1, MPI_INT, (rank + 1) % size, 1, later[1], &requests[0]);
	MPI_Irecv(&b, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, later[1], &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	CHECK(b == (rank + size - 1) % size);
	MPI_Comm_free(&later[0]), MPI_Comm_free(&later[1]), MPI_Comm_free(&copy);
	/* Ranks that share memory: how many depends on the machine. */
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &shared);
	MPI_Comm_size(shared, &members);
	MPI_Comm_rank(shared, &member);
	EXPECT(members >= 1 && members <= size && member < members);
	int first = member == 0;
	MPI_Allreduce(&first, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	EXPECT(all >= 1);
	MPI_Comm_free(&shared);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &shared);
	CHECK(shared == MPI_COMM_NULL);
	MPI_Comm_get_parent(&shared);
	CHECK(shared == MPI_COMM_NULL);
}

static void errors(void) {
	MPI_Group world, made, freed;
	MPI_Comm comm;
	int ranks[2] = {0, size}, twice[2] = {0, 0}, range[1][3] = {{0, size - 1, 0}}, n;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Group_incl(world, 1, &ranks[1], &made), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Group_excl(world, 1, &ranks[1], &made), MPI_ERR_RANK);
	EXPECT(class_of(MPI_Group_range_incl(world, 1, range, &made)) != MPI_SUCCESS);
	EXPECT(class_of(MPI_Group_range_excl(world, 1, range, &made)) != MPI_SUCCESS);
	CHECK_CLASS(MPI_Group_size(MPI_GROUP_NULL, &n), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_rank(MPI_GROUP_NULL, &n), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_union(world, MPI_GROUP_NULL, &made), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &comm), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Comm_group(MPI_COMM_NULL, &made), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_remote_group(MPI_COMM_WORLD, &made), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, 12345, 0, MPI_INFO_NULL, &comm), MPI_ERR_ARG);
#ifdef GIGARANK /* a real MPI may crash, or take any */
	EXPECT(class_of(MPI_Comm_remote_size(MPI_COMM_WORLD, &n)) != MPI_SUCCESS);
	EXPECT(MPI_Group_incl(world, 2, twice, &made) == MPI_ERR_RANK);
	freed = world;
	MPI_Group_free(&freed);
	freed = world;
	EXPECT(MPI_Group_size(freed, &n) == MPI_ERR_GROUP);
	EXPECT(MPI_Group_free(&freed) == MPI_ERR_GROUP);
#endif
	(void)freed, (void)twice;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	sets();
	communicators();
	copies();
	errors();
	return finish("groups");
}
