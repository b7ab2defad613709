/* Collectives of neighbours, which exchanges.c includes once for each sort of counts. */

BOTH(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm), GIGARANK_NEIGHBOR_ALLGATHER,
	(.buffer = (char *)sent, .count = sendcount, .type = sendtype, .same = 1), (.buffer = received, .count = recvcount, .type = recvtype))
BOTH(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, const COUNT recvcounts[], const PLACE displacements[], MPI_Datatype recvtype, MPI_Comm comm), GIGARANK_NEIGHBOR_ALLGATHERV,
	(.buffer = (char *)sent, .count = sendcount, .type = sendtype, .same = 1), (.buffer = received, .counts = LIST(recvcounts), .displacements = LIST(displacements), .type = recvtype))
BOTH(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm), GIGARANK_NEIGHBOR_ALLTOALL,
	(.buffer = (char *)sent, .count = sendcount, .type = sendtype), (.buffer = received, .count = recvcount, .type = recvtype))
BOTH(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, (const void *sent, const COUNT sendcounts[], const PLACE senddisplacements[], MPI_Datatype sendtype, void *received, const COUNT recvcounts[], const PLACE recvdisplacements[], MPI_Datatype recvtype, MPI_Comm comm), GIGARANK_NEIGHBOR_ALLTOALLV,
	(.buffer = (char *)sent, .counts = LIST(sendcounts), .displacements = LIST(senddisplacements), .type = sendtype), (.buffer = received, .counts = LIST(recvcounts), .displacements = LIST(recvdisplacements), .type = recvtype))
BOTH(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, (const void *sent, const COUNT sendcounts[], const MPI_Aint senddisplacements[], const MPI_Datatype sendtypes[], void *received, const COUNT recvcounts[], const MPI_Aint recvdisplacements[], const MPI_Datatype recvtypes[], MPI_Comm comm), GIGARANK_NEIGHBOR_ALLTOALLW,
	(.buffer = (char *)sent, .counts = LIST(sendcounts), .places = senddisplacements, .types = sendtypes), (.buffer = received, .counts = LIST(recvcounts), .places = recvdisplacements, .types = recvtypes))
