/* Handles and statuses of C in Fortran, and back. */
#include "check.h"

/* The numbers of MPI 5.0. */
#ifdef GIGARANK
#define TO(name) MPI_##name##_toint
#define FROM(name) MPI_##name##_fromint
#else
#define TO(name) MPI_##name##_c2f
#define FROM(name) MPI_##name##_f2c
/* Statuses of mpi_f08 stand beside those of mpif.h. */
typedef struct {
	MPI_Fint MPI_SOURCE, MPI_TAG, MPI_ERROR, rest[61];
} MPI_F08_status;
static int MPI_Status_f082f(const MPI_F08_status *status, MPI_Fint *fields) { return memcpy(fields, status, sizeof *status) == NULL; }
static int MPI_Status_f2f08(const MPI_Fint *fields, MPI_F08_status *status) { return memcpy(status, fields, sizeof *status) == NULL; }
static int MPI_Status_c2f08(const MPI_Status *status, MPI_F08_status *other) {
	MPI_Fint fields[64];
	return MPI_Status_c2f(status, fields) || MPI_Status_f2f08(fields, other);
}
static int MPI_Status_f082c(const MPI_F08_status *other, MPI_Status *status) {
	MPI_Fint fields[64];
	return MPI_Status_f082f(other, fields) || MPI_Status_f2c(fields, status);
}
#endif

static void first(void *in, void *inout, int *n, MPI_Datatype *type) {
	(void)type;
	for (int i = 0; i < *n; i++)
		((int *)inout)[i] = ((int *)in)[i];
}

static void ignore(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }

/* Handles that differ have numbers that differ, and both ways lead back. */
static void handles(void) {
	MPI_Comm comms[3] = {MPI_COMM_WORLD, MPI_COMM_SELF};
	MPI_Datatype types[3] = {MPI_INT, MPI_DOUBLE};
	MPI_Group group;
	MPI_Info info;
	MPI_Op op;
	MPI_Errhandler handler;
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]);
	MPI_Type_contiguous(3, MPI_INT, &types[2]);
	MPI_Comm_group(MPI_COMM_WORLD, &group);
	MPI_Info_create(&info);
	MPI_Op_create(first, 0, &op);
	MPI_Comm_create_errhandler(ignore, &handler);
	for (int i = 0; i < 3; i++) {
		CHECK(MPI_Comm_f2c(MPI_Comm_c2f(comms[i])) == comms[i] && MPI_Type_f2c(MPI_Type_c2f(types[i])) == types[i]);
		for (int j = 0; j < i; j++)
			CHECK(MPI_Comm_c2f(comms[i]) != MPI_Comm_c2f(comms[j]) && MPI_Type_c2f(types[i]) != MPI_Type_c2f(types[j]));
	}
	CHECK(MPI_Comm_c2f(comms[2]) == MPI_Comm_c2f(comms[2]));
	CHECK(MPI_Group_f2c(MPI_Group_c2f(group)) == group && MPI_Group_f2c(MPI_Group_c2f(MPI_GROUP_EMPTY)) == MPI_GROUP_EMPTY);
	CHECK(MPI_Info_f2c(MPI_Info_c2f(info)) == info && MPI_Op_f2c(MPI_Op_c2f(op)) == op && MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM);
	CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(handler)) == handler && MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN);
	CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_NULL)) == MPI_COMM_NULL && MPI_Type_f2c(MPI_Type_c2f(MPI_DATATYPE_NULL)) == MPI_DATATYPE_NULL);
	CHECK(MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL && MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NULL)) == MPI_MESSAGE_NULL);
	CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL && MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL);
	CHECK(FROM(File)(TO(File)(MPI_FILE_NULL)) == MPI_FILE_NULL && FROM(Win)(TO(Win)(MPI_WIN_NULL)) == MPI_WIN_NULL);
	for (int i = 0; i < 3; i++)
		CHECK(FROM(Comm)(TO(Comm)(comms[i])) == comms[i] && FROM(Type)(TO(Type)(types[i])) == types[i]);
	CHECK(TO(Comm)(comms[2]) != TO(Comm)(MPI_COMM_WORLD) && TO(Type)(types[2]) != TO(Type)(MPI_INT));
	CHECK(FROM(Group)(TO(Group)(group)) == group && FROM(Info)(TO(Info)(info)) == info && FROM(Info)(TO(Info)(MPI_INFO_NULL)) == MPI_INFO_NULL);
	CHECK(FROM(Op)(TO(Op)(op)) == op && FROM(Op)(TO(Op)(MPI_MAX)) == MPI_MAX);
	CHECK(FROM(Errhandler)(TO(Errhandler)(handler)) == handler && FROM(Errhandler)(TO(Errhandler)(MPI_ERRORS_ARE_FATAL)) == MPI_ERRORS_ARE_FATAL);
	CHECK(FROM(Request)(TO(Request)(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL && FROM(Message)(TO(Message)(MPI_MESSAGE_NULL)) == MPI_MESSAGE_NULL);
#ifdef GIGARANK /* predefined handles are those numbers */
	EXPECT(TO(Comm)(MPI_COMM_WORLD) == (int)(intptr_t)MPI_COMM_WORLD && TO(Type)(MPI_DOUBLE) == (int)(intptr_t)MPI_DOUBLE && TO(Op)(MPI_SUM) == (int)(intptr_t)MPI_SUM);
#endif
	int sum = 0, one = 1;
	MPI_Allreduce(&one, &sum, 1, MPI_Type_f2c(MPI_Type_c2f(MPI_INT)), MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)), MPI_Comm_f2c(MPI_Comm_c2f(comms[2])));
	CHECK(sum == size);
	MPI_Comm_free(&comms[2]);
	MPI_Type_free(&types[2]);
	MPI_Group_free(&group);
	MPI_Info_free(&info);
	MPI_Op_free(&op);
	MPI_Errhandler_free(&handler);
}

/* A request and a message go through their numbers, a status through its fields. */
static void messages(void) {
	int next = (rank + 1) % size, last = (rank + size - 1) % size, got = -1, mine = 7 * rank, n;
	MPI_Request sent, back;
	MPI_Message message;
	MPI_Status status, again;
	MPI_Fint fields[64];
	MPI_Isend(&mine, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &sent);
	back = MPI_Request_f2c(MPI_Request_c2f(sent));
	CHECK(back == sent && FROM(Request)(TO(Request)(sent)) == sent);
	MPI_Mprobe(last, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	message = FROM(Message)(TO(Message)(MPI_Message_f2c(MPI_Message_c2f(message))));
	MPI_Mrecv(&got, 1, MPI_INT, &message, &status);
	CHECK(got == 7 * last);
	MPI_Wait(&back, MPI_STATUS_IGNORE);
	CHECK(MPI_Status_c2f(&status, fields) == MPI_SUCCESS && MPI_Status_f2c(fields, &again) == MPI_SUCCESS);
	CHECK(again.MPI_SOURCE == last && again.MPI_TAG == 3);
	MPI_Get_count(&again, MPI_INT, &n);
	CHECK(n == 1);
	MPI_F08_status new, other;
	CHECK(MPI_Status_c2f08(&status, &new) == MPI_SUCCESS && new.MPI_SOURCE == last && new.MPI_TAG == 3);
	memset(&again, 0, sizeof again);
	CHECK(MPI_Status_f082c(&new, &again) == MPI_SUCCESS && again.MPI_SOURCE == last && again.MPI_TAG == 3);
	MPI_Get_count(&again, MPI_INT, &n);
	CHECK(n == 1);
	memset(fields, 0, sizeof fields);
	CHECK(MPI_Status_f082f(&new, fields) == MPI_SUCCESS && MPI_Status_f2f08(fields, &other) == MPI_SUCCESS);
	memset(&again, 0, sizeof again);
	MPI_Status_f082c(&other, &again);
	MPI_Get_elements(&again, MPI_INT, &n);
	CHECK(n == 1 && again.MPI_SOURCE == last && again.MPI_TAG == 3);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	handles();
	messages();
	return finish("conversions");
}
