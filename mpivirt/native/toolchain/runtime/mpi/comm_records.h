/* The records that a rank has of its communicators. */
#ifndef GIGARANK_MPI_COMM_RECORDS_H
#define GIGARANK_MPI_COMM_RECORDS_H

#include "mpi.h"
#include "rank/interface.h"

/* A rank's record of a communicator that it has made, or of WORLD and SELF. The handle of a communicator is the address of its
 * record, except for WORLD and SELF. */
struct gigarank_comm {
	struct gigarank_comm *next;
	int32_t index, member, size;
	int32_t remote; /* members of the remote group, 0 without one */
	int32_t local_duplicates; /* made of it without a message */
	char *name;     /* that the program has given it, NULL for none */
	MPI_Errhandler handler; /* a predefined handler, or its object; NULL for MPI_ERRORS_ARE_FATAL */
	struct gigarank_attribute *attributes;
	struct gigarank_info *hints; /* that the program has given it, NULL for none */
	struct gigarank_topology topology;
	struct gigarank_channels *channels; /* of partitioned messages, NULL for none */
};

#pragma GCC visibility push(hidden)

/* gigarank_comm_record returns the running rank's record of the communicator with an index, and gigarank_comm_record_of its record of the
 * communicator of a handle. Both return NULL if there is none. WORLD and SELF have no record before the rank gives them a property. */
struct gigarank_comm *gigarank_comm_record(int32_t index);
struct gigarank_comm *gigarank_comm_record_of(MPI_Comm handle);

/* gigarank_add_comm_record adds a record to those of the running rank. It returns the record, NULL without memory. */
struct gigarank_comm *gigarank_add_comm_record(struct gigarank_comm what);

#pragma GCC visibility pop

#endif
