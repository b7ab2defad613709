/* Persistent collectives with counts, which requests.c includes once for each sort of them. */

PERSISTENT(Bcast_init, (void *buffer, COUNT count, MPI_Datatype type, int root, MPI_Comm comm), (.received = buffer, .recvcount = count, .recvtype = type, .root = root),
	SECOND(Ibcast)(p->received, (COUNT)p->recvcount, p->recvtype, p->root, p->comm, begun))
#define REDUCTION (const void *sent, void *received, COUNT count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm)
#define REDUCED (.sent = sent, .received = received, .recvcount = count, .recvtype = type, .operation = operation)
PERSISTENT(Reduce_init, (const void *sent, void *received, COUNT count, MPI_Datatype type, MPI_Op operation, int root, MPI_Comm comm),
	(.sent = sent, .received = received, .recvcount = count, .recvtype = type, .operation = operation, .root = root),
	SECOND(Ireduce)(p->sent, p->received, (COUNT)p->recvcount, p->recvtype, p->operation, p->root, p->comm, begun))
PERSISTENT(Allreduce_init, REDUCTION, REDUCED, SECOND(Iallreduce)(p->sent, p->received, (COUNT)p->recvcount, p->recvtype, p->operation, p->comm, begun))
PERSISTENT(Scan_init, REDUCTION, REDUCED, SECOND(Iscan)(p->sent, p->received, (COUNT)p->recvcount, p->recvtype, p->operation, p->comm, begun))
PERSISTENT(Exscan_init, REDUCTION, REDUCED, SECOND(Iexscan)(p->sent, p->received, (COUNT)p->recvcount, p->recvtype, p->operation, p->comm, begun))
PERSISTENT(Reduce_scatter_block_init, REDUCTION, REDUCED, SECOND(Ireduce_scatter_block)(p->sent, p->received, (COUNT)p->recvcount, p->recvtype, p->operation, p->comm, begun))
PERSISTENT(Reduce_scatter_init, (const void *sent, void *received, const COUNT recvcounts[], MPI_Datatype type, MPI_Op operation, MPI_Comm comm),
	(.sent = sent, .received = received, .recvcounts = LIST(recvcounts), .recvtype = type, .operation = operation),
	SECOND(Ireduce_scatter)(p->sent, p->received, UNLIST(p->recvcounts), p->recvtype, p->operation, p->comm, begun))

#define EVEN const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype
#define EVENLY .sent = sent, .sendcount = sendcount, .sendtype = sendtype, .received = received, .recvcount = recvcount, .recvtype = recvtype
#define EVEN_ARGUMENTS p->sent, (COUNT)p->sendcount, p->sendtype, p->received, (COUNT)p->recvcount, p->recvtype
PERSISTENT(Gather_init, (EVEN, int root, MPI_Comm comm), (EVENLY, .root = root, .gathers = 1), SECOND(Igather)(EVEN_ARGUMENTS, p->root, p->comm, begun))
PERSISTENT(Scatter_init, (EVEN, int root, MPI_Comm comm), (EVENLY, .root = root, .scatters = 1), SECOND(Iscatter)(EVEN_ARGUMENTS, p->root, p->comm, begun))
PERSISTENT(Allgather_init, (EVEN, MPI_Comm comm), (EVENLY), SECOND(Iallgather)(EVEN_ARGUMENTS, p->comm, begun))
PERSISTENT(Alltoall_init, (EVEN, MPI_Comm comm), (EVENLY), SECOND(Ialltoall)(EVEN_ARGUMENTS, p->comm, begun))
PERSISTENT(Neighbor_allgather_init, (EVEN, MPI_Comm comm), (EVENLY), SECOND(Ineighbor_allgather)(EVEN_ARGUMENTS, p->comm, begun))
PERSISTENT(Neighbor_alltoall_init, (EVEN, MPI_Comm comm), (EVENLY), SECOND(Ineighbor_alltoall)(EVEN_ARGUMENTS, p->comm, begun))

#define GATHERED const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, const COUNT recvcounts[], const PLACE displacements[], MPI_Datatype recvtype
#define GATHERING .sent = sent, .sendcount = sendcount, .sendtype = sendtype, .received = received, .recvcounts = LIST(recvcounts), .recvdisplacements = LIST(displacements), .recvtype = recvtype
#define GATHERED_ARGUMENTS p->sent, (COUNT)p->sendcount, p->sendtype, p->received, UNLIST(p->recvcounts), UNLIST(p->recvdisplacements), p->recvtype
PERSISTENT(Gatherv_init, (GATHERED, int root, MPI_Comm comm), (GATHERING, .root = root, .gathers = 1), SECOND(Igatherv)(GATHERED_ARGUMENTS, p->root, p->comm, begun))
PERSISTENT(Allgatherv_init, (GATHERED, MPI_Comm comm), (GATHERING), SECOND(Iallgatherv)(GATHERED_ARGUMENTS, p->comm, begun))
PERSISTENT(Neighbor_allgatherv_init, (GATHERED, MPI_Comm comm), (GATHERING), SECOND(Ineighbor_allgatherv)(GATHERED_ARGUMENTS, p->comm, begun))
PERSISTENT(Scatterv_init, (const void *sent, const COUNT sendcounts[], const PLACE displacements[], MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
	(.sent = sent, .sendcounts = LIST(sendcounts), .senddisplacements = LIST(displacements), .sendtype = sendtype, .received = received, .recvcount = recvcount, .recvtype = recvtype, .root = root, .scatters = 1),
	SECOND(Iscatterv)(p->sent, UNLIST(p->sendcounts), UNLIST(p->senddisplacements), p->sendtype, p->received, (COUNT)p->recvcount, p->recvtype, p->root, p->comm, begun))

#define UNEVEN const void *sent, const COUNT sendcounts[], const PLACE senddisplacements[], MPI_Datatype sendtype, void *received, const COUNT recvcounts[], const PLACE recvdisplacements[], MPI_Datatype recvtype
#define UNEVENLY .sent = sent, .sendcounts = LIST(sendcounts), .senddisplacements = LIST(senddisplacements), .sendtype = sendtype, \
	.received = received, .recvcounts = LIST(recvcounts), .recvdisplacements = LIST(recvdisplacements), .recvtype = recvtype
#define UNEVEN_ARGUMENTS p->sent, UNLIST(p->sendcounts), UNLIST(p->senddisplacements), p->sendtype, p->received, UNLIST(p->recvcounts), UNLIST(p->recvdisplacements), p->recvtype
PERSISTENT(Alltoallv_init, (UNEVEN, MPI_Comm comm), (UNEVENLY), SECOND(Ialltoallv)(UNEVEN_ARGUMENTS, p->comm, begun))
PERSISTENT(Neighbor_alltoallv_init, (UNEVEN, MPI_Comm comm), (UNEVENLY), SECOND(Ineighbor_alltoallv)(UNEVEN_ARGUMENTS, p->comm, begun))
PERSISTENT(Alltoallw_init, (const void *sent, const COUNT sendcounts[], const PLACE senddisplacements[], const MPI_Datatype sendtypes[], void *received, const COUNT recvcounts[], const PLACE recvdisplacements[], const MPI_Datatype recvtypes[], MPI_Comm comm),
	(.sent = sent, .sendcounts = LIST(sendcounts), .senddisplacements = LIST(senddisplacements), .sendtypes = sendtypes,
	.received = received, .recvcounts = LIST(recvcounts), .recvdisplacements = LIST(recvdisplacements), .recvtypes = recvtypes),
	SECOND(Ialltoallw)(p->sent, UNLIST(p->sendcounts), UNLIST(p->senddisplacements), p->sendtypes, p->received, UNLIST(p->recvcounts), UNLIST(p->recvdisplacements), p->recvtypes, p->comm, begun))
PERSISTENT(Neighbor_alltoallw_init, (const void *sent, const COUNT sendcounts[], const MPI_Aint senddisplacements[], const MPI_Datatype sendtypes[], void *received, const COUNT recvcounts[], const MPI_Aint recvdisplacements[], const MPI_Datatype recvtypes[], MPI_Comm comm),
	(.sent = sent, .sendcounts = LIST(sendcounts), .sendplaces = senddisplacements, .sendtypes = sendtypes,
	.received = received, .recvcounts = LIST(recvcounts), .recvplaces = recvdisplacements, .recvtypes = recvtypes),
	SECOND(Ineighbor_alltoallw)(p->sent, UNLIST(p->sendcounts), p->sendplaces, p->sendtypes, p->received, UNLIST(p->recvcounts), p->recvplaces, p->recvtypes, p->comm, begun))
