/* Start and end, version, names, clocks, memory. */
#include "check.h"

static void environment(void) {
	int flag, length, version, subversion, *bound, bytes;
	char name[MPI_MAX_PROCESSOR_NAME];
	MPI_Aint low, extent;
	MPI_Initialized(&flag);
	CHECK(flag);
	MPI_Finalized(&flag);
	CHECK(!flag);
	MPI_Get_processor_name(name, &length);
	CHECK(length == (int)strlen(name) && length > 0);
	MPI_Get_version(&version, &subversion);
	CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION);
	char library[MPI_MAX_LIBRARY_VERSION_STRING];
	MPI_Get_library_version(library, &length);
	CHECK(length > 0 && strlen(library) > 0);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag);
	CHECK(flag && *bound >= 32767);
	double before = MPI_Wtime();
	CHECK(MPI_Wtime() >= before && MPI_Wtick() > 0);
	MPI_Type_size(MPI_DOUBLE_INT, &bytes);
	MPI_Type_get_extent(MPI_DOUBLE_INT, &low, &extent);
	CHECK(bytes == 12 && low == 0 && extent == 16);
	void *memory;
	MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory);
	memset(memory, 1, 1000);
	MPI_Free_mem(memory);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory), MPI_ERR_ARG);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
	MPI_Aint here, next;
	int pair[2];
	MPI_Get_address(&pair[0], &here);
	MPI_Get_address(&pair[1], &next);
	CHECK(next - here == sizeof(int));
	CHECK(MPI_Pcontrol(1) == MPI_SUCCESS);
}

int main(int argc, char **argv) {
	int flag, provided, query;
	MPI_Initialized(&flag);
	CHECK(!flag);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	if (provided < MPI_THREAD_FUNNELED)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Query_thread(&query);
	CHECK(query == provided);
	MPI_Is_thread_main(&flag);
	CHECK(flag);
	environment();
	int code = finish("environment");
	MPI_Finalized(&flag);
	return code || !flag;
}
