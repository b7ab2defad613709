/* Communicators and error handlers. */
#include "check.h"

static void splits(void) {
	MPI_Comm half, rest, copy;
	int member, members, result, sum;
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
	MPI_Comm_test_inter(half, &result);
	CHECK(!result);
	MPI_Comm_rank(half, &member);
	MPI_Comm_size(half, &members);
	CHECK(members == (size + 1 - rank % 2) / 2);
	CHECK(member == members - 1 - rank / 2);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
	int want = 0;
	for (int r = rank % 2; r < size; r += 2)
		want += r;
	CHECK(sum == want);
	MPI_Comm_dup(half, &copy);
	MPI_Comm_compare(half, copy, &result);
	CHECK(result == MPI_CONGRUENT);
	MPI_Comm_compare(half, half, &result);
	CHECK(result == MPI_IDENT);
	MPI_Comm_compare(half, MPI_COMM_WORLD, &result);
	CHECK(result == (size > 1 ? MPI_UNEQUAL : MPI_CONGRUENT));
	/* Messages on a copy do not meet those on the original. */
	int a = 1, b = 2, x = 0, y = 0, next = (member + 1) % members, last = (member + members - 1) % members;
	MPI_Request requests[2];
	MPI_Isend(&a, 1, MPI_INT, next, 0, half, &requests[0]);
	MPI_Isend(&b, 1, MPI_INT, next, 0, copy, &requests[1]);
	MPI_Recv(&y, 1, MPI_INT, last, 0, copy, MPI_STATUS_IGNORE);
	MPI_Recv(&x, 1, MPI_INT, last, 0, half, MPI_STATUS_IGNORE);
	CHECK(x == 1 && y == 2);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	MPI_Comm_free(&copy);
	CHECK(copy == MPI_COMM_NULL);
	MPI_Comm_split(half, member == 0 ? MPI_UNDEFINED : 3, 0, &rest);
	CHECK((rest == MPI_COMM_NULL) == (member == 0));
	if (rest != MPI_COMM_NULL) {
		MPI_Comm_size(rest, &members);
		CHECK(members == (size + 1 - rank % 2) / 2 - 1);
		MPI_Barrier(rest);
		MPI_Comm_free(&rest);
	}
	MPI_Comm_free(&half);
	MPI_Comm_dup(MPI_COMM_SELF, &copy);
	MPI_Comm_size(copy, &members);
	CHECK(members == 1);
	MPI_Comm_free(&copy);
}

static void errors(void) {
	int data = 0, length;
	char text[MPI_MAX_ERROR_STRING];
	MPI_Errhandler handler;
	MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
	CHECK(handler == MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Send(&data, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Send(&data, 1, MPI_INT, 0, -7, MPI_COMM_WORLD), MPI_ERR_TAG);
	CHECK_CLASS(MPI_Send(&data, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Send(&data, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Bcast(&data, 1, MPI_INT, size + 3, MPI_COMM_WORLD), MPI_ERR_ROOT);
	CHECK_CLASS(MPI_Allreduce(&data, &length, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
	/* A message that is longer than the buffer. */
	int two[2] = {1, 2};
	MPI_Request request;
	MPI_Isend(two, 2, MPI_INT, rank, 9, MPI_COMM_WORLD, &request);
	CHECK_CLASS(MPI_Recv(&data, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Comm comm = MPI_COMM_NULL;
	CHECK_CLASS(MPI_Comm_disconnect(&comm), MPI_ERR_COMM);
	comm = MPI_COMM_WORLD;
	CHECK_CLASS(MPI_Comm_disconnect(&comm), MPI_ERR_COMM);
	CHECK(comm == MPI_COMM_WORLD);
	EXPECT_CLASS(MPI_Comm_disconnect(NULL), MPI_ERR_ARG);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Error_string(MPI_ERR_TAG, text, &length);
	CHECK(length == (int)strlen(text) && length > 0);
	MPI_Comm_get_errhandler(MPI_COMM_SELF, &handler);
	MPI_Errhandler_free(&handler);
	CHECK(handler == MPI_ERRHANDLER_NULL);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	splits();
	errors();
	return finish("communicators");
}
