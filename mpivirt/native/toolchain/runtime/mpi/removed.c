/* Functions of MPI-1 that MPI 3.0 has removed, for programs that still call them. Each is another function
 * under an older name. */
#include "mpi/arguments.h"

MPI(MPI_Address, void *location, MPI_Aint *address) { return PMPI_Get_address(location, address); }

MPI(MPI_Errhandler_create, MPI_Handler_function *function, MPI_Errhandler *handler) { return PMPI_Comm_create_errhandler(function, handler); }

MPI(MPI_Errhandler_set, MPI_Comm comm, MPI_Errhandler handler) { return PMPI_Comm_set_errhandler(comm, handler); }

MPI(MPI_Errhandler_get, MPI_Comm comm, MPI_Errhandler *handler) { return PMPI_Comm_get_errhandler(comm, handler); }

MPI(MPI_Type_struct, int count, int lengths[], MPI_Aint displacements[], MPI_Datatype types[], MPI_Datatype *new) {
	return PMPI_Type_create_struct(count, lengths, displacements, types, new);
}

MPI(MPI_Type_hvector, int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *new) { return PMPI_Type_create_hvector(count, length, stride, old, new); }

MPI(MPI_Type_hindexed, int count, int lengths[], MPI_Aint displacements[], MPI_Datatype old, MPI_Datatype *new) {
	return PMPI_Type_create_hindexed(count, lengths, displacements, old, new);
}

MPI(MPI_Type_extent, MPI_Datatype type, MPI_Aint *extent) {
	MPI_Aint low;
	return PMPI_Type_get_extent(type, &low, extent);
}

MPI(MPI_Type_lb, MPI_Datatype type, MPI_Aint *displacement) {
	MPI_Aint extent;
	return PMPI_Type_get_extent(type, displacement, &extent);
}

MPI(MPI_Type_ub, MPI_Datatype type, MPI_Aint *displacement) {
	MPI_Aint low, extent;
	GIVEN(displacement, "displacement", MPI_ERR_ARG);
	CHECK(PMPI_Type_get_extent(type, &low, &extent));
	*displacement = low + extent;
	return MPI_SUCCESS;
}
