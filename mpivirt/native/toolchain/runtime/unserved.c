/* Functions that programs may be linked with and that end the rank that calls them. */
#include "fortran.h"

int gigarank_unserved(const char *name) {
	struct gigarank_call c = {.procedure = GIGARANK_NONE, .error = MPI_ERR_UNSUPPORTED_OPERATION, .detail = name};
	return gigarank_running() ? gigarank_trap(&c) : MPI_ERR_UNSUPPORTED_OPERATION;
}

#undef GIGARANK_UNSERVED
#define GIGARANK_UNSERVED(name) \
	int MPI_##name() __attribute__((weak, alias("PMPI_" #name))); \
	int PMPI_##name() { return gigarank_unserved("native ranks do not have MPI_" #name); }
#include "mpi_unserved.h"
