/* The process sets mpi://WORLD and mpi://SELF. Their names are compared without case (MPI 4.1, 11.3.2). */
#include "mpi/process_sets.h"

#include <strings.h>

const char *const gigarank_process_sets[GIGARANK_PROCESS_SETS] = {"mpi://WORLD", "mpi://SELF"};

MPI_Comm gigarank_process_set(const char *set) {
	return !set ? MPI_COMM_NULL : strcasecmp(set, gigarank_process_sets[0]) == 0 ? MPI_COMM_WORLD : strcasecmp(set, gigarank_process_sets[1]) == 0 ? MPI_COMM_SELF : MPI_COMM_NULL;
}
