/* Persistent collectives with counts, which requests.c includes once for each sort of them. */

PERSISTENT(MPI_Bcast_init, (void *buffer, COUNT count, MPI_Datatype type, int root, MPI_Comm comm), (.received = buffer, .recvcount = count, .recvtype = type, .root = root),
	SECOND(MPI_Ibcast)(p->received, (COUNT)p->recvcount, p->recvtype, p->root, p->comm, begun))
#define REDUCTION (const void *sent, void *received, COUNT count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm)
#define REDUCED (.sent = sent, .received = received, .recvcount = count, .recvtype = type, .operation = operation)
PERSISTENT(MPI_Reduce_init, (const void *sent, void *received, COUNT count, MPI_Datatype type, MPI_Op operation, int root, MPI_Comm comm),
	(.sent = sent, .received = received, .recvcount = count, .recvtype = type, .operation = operation, .root = root),
	SECOND(MPI_Ireduce)(p->sent, p->received, (COUNT)p->recvcount, p->recvtype, p->operation, p->root, p->comm, begun))
PERSISTENT(MPI_Allreduce_init, REDUCTION, REDUCED, SECOND(MPI_Iallreduce)(p->sent, p->received, (COUNT)p->recvcount, p->recvtype, p->operation, p->comm, begun))
PERSISTENT(MPI_Scan_init, REDUCTION, REDUCED, SECOND(MPI_Iscan)(p->sent, p->received, (COUNT)p->recvcount, p->recvtype, p->operation, p->comm, begun))
PERSISTENT(MPI_Exscan_init, REDUCTION, REDUCED, SECOND(MPI_Iexscan)(p->sent, p->received, (COUNT)p->recvcount, p->recvtype, p->operation, p->comm, begun))
PERSISTENT(MPI_Reduce_scatter_block_init, REDUCTION, REDUCED, SECOND(MPI_Ireduce_scatter_block)(p->sent, p->received, (COUNT)p->recvcount, p->recvtype, p->operation, p->comm, begun))
PERSISTENT(MPI_Reduce_scatter_init, (const void *sent, void *received, const COUNT recvcounts[], MPI_Datatype type, MPI_Op operation, MPI_Comm comm),
	(.sent = sent, .received = received, .recvcounts = LIST(recvcounts), .recvtype = type, .operation = operation),
	SECOND(MPI_Ireduce_scatter)(p->sent, p->received, UNLIST(p->recvcounts), p->recvtype, p->operation, p->comm, begun))

#define EVEN const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype
#define EVENLY .sent = sent, .sendcount = sendcount, .sendtype = sendtype, .received = received, .recvcount = recvcount, .recvtype = recvtype
#define EVEN_ARGUMENTS p->sent, (COUNT)p->sendcount, p->sendtype, p->received, (COUNT)p->recvcount, p->recvtype
PERSISTENT(MPI_Gather_init, (EVEN, int root, MPI_Comm comm), (EVENLY, .root = root, .gathers = 1), SECOND(MPI_Igather)(EVEN_ARGUMENTS, p->root, p->comm, begun))
PERSISTENT(MPI_Scatter_init, (EVEN, int root, MPI_Comm comm), (EVENLY, .root = root, .scatters = 1), SECOND(MPI_Iscatter)(EVEN_ARGUMENTS, p->root, p->comm, begun))
PERSISTENT(MPI_Allgather_init, (EVEN, MPI_Comm comm), (EVENLY), SECOND(MPI_Iallgather)(EVEN_ARGUMENTS, p->comm, begun))
PERSISTENT(MPI_Alltoall_init, (EVEN, MPI_Comm comm), (EVENLY), SECOND(MPI_Ialltoall)(EVEN_ARGUMENTS, p->comm, begun))
PERSISTENT(MPI_Neighbor_allgather_init, (EVEN, MPI_Comm comm), (EVENLY), SECOND(MPI_Ineighbor_allgather)(EVEN_ARGUMENTS, p->comm, begun))
PERSISTENT(MPI_Neighbor_alltoall_init, (EVEN, MPI_Comm comm), (EVENLY), SECOND(MPI_Ineighbor_alltoall)(EVEN_ARGUMENTS, p->comm, begun))

#define GATHERED const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, const COUNT recvcounts[], const PLACE displacements[], MPI_Datatype recvtype
#define GATHERING .sent = sent, .sendcount = sendcount, .sendtype = sendtype, .received = received, .recvcounts = LIST(recvcounts), .recvdisplacements = LIST(displacements), .recvtype = recvtype
#define GATHERED_ARGUMENTS p->sent, (COUNT)p->sendcount, p->sendtype, p->received, UNLIST(p->recvcounts), UNLIST(p->recvdisplacements), p->recvtype
PERSISTENT(MPI_Gatherv_init, (GATHERED, int root, MPI_Comm comm), (GATHERING, .root = root, .gathers = 1), SECOND(MPI_Igatherv)(GATHERED_ARGUMENTS, p->root, p->comm, begun))
PERSISTENT(MPI_Allgatherv_init, (GATHERED, MPI_Comm comm), (GATHERING), SECOND(MPI_Iallgatherv)(GATHERED_ARGUMENTS, p->comm, begun))
PERSISTENT(MPI_Neighbor_allgatherv_init, (GATHERED, MPI_Comm comm), (GATHERING), SECOND(MPI_Ineighbor_allgatherv)(GATHERED_ARGUMENTS, p->comm, begun))
PERSISTENT(MPI_Scatterv_init, (const void *sent, const COUNT sendcounts[], const PLACE displacements[], MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
	(.sent = sent, .sendcounts = LIST(sendcounts), .senddisplacements = LIST(displacements), .sendtype = sendtype, .received = received, .recvcount = recvcount, .recvtype = recvtype, .root = root, .scatters = 1),
	SECOND(MPI_Iscatterv)(p->sent, UNLIST(p->sendcounts), UNLIST(p->senddisplacements), p->sendtype, p->received, (COUNT)p->recvcount, p->recvtype, p->root, p->comm, begun))

#define UNEVEN const void *sent, const COUNT sendcounts[], const PLACE senddisplacements[], MPI_Datatype sendtype, void *received, const COUNT recvcounts[], const PLACE recvdisplacements[], MPI_Datatype recvtype
#define UNEVENLY .sent = sent, .sendcounts = LIST(sendcounts), .senddisplacements = LIST(senddisplacements), .sendtype = sendtype, \
	.received = received, .recvcounts = LIST(recvcounts), .recvdisplacements = LIST(recvdisplacements), .recvtype = recvtype
#define UNEVEN_ARGUMENTS p->sent, UNLIST(p->sendcounts), UNLIST(p->senddisplacements), p->sendtype, p->received, UNLIST(p->recvcounts), UNLIST(p->recvdisplacements), p->recvtype
PERSISTENT(MPI_Alltoallv_init, (UNEVEN, MPI_Comm comm), (UNEVENLY), SECOND(MPI_Ialltoallv)(UNEVEN_ARGUMENTS, p->comm, begun))
PERSISTENT(MPI_Neighbor_alltoallv_init, (UNEVEN, MPI_Comm comm), (UNEVENLY), SECOND(MPI_Ineighbor_alltoallv)(UNEVEN_ARGUMENTS, p->comm, begun))
PERSISTENT(MPI_Alltoallw_init, (const void *sent, const COUNT sendcounts[], const PLACE senddisplacements[], const MPI_Datatype sendtypes[], void *received, const COUNT recvcounts[], const PLACE recvdisplacements[], const MPI_Datatype recvtypes[], MPI_Comm comm),
	(.sent = sent, .sendcounts = LIST(sendcounts), .senddisplacements = LIST(senddisplacements), .sendtypes = sendtypes,
	.received = received, .recvcounts = LIST(recvcounts), .recvdisplacements = LIST(recvdisplacements), .recvtypes = recvtypes),
	SECOND(MPI_Ialltoallw)(p->sent, UNLIST(p->sendcounts), UNLIST(p->senddisplacements), p->sendtypes, p->received, UNLIST(p->recvcounts), UNLIST(p->recvdisplacements), p->recvtypes, p->comm, begun))
PERSISTENT(MPI_Neighbor_alltoallw_init, (const void *sent, const COUNT sendcounts[], const MPI_Aint senddisplacements[], const MPI_Datatype sendtypes[], void *received, const COUNT recvcounts[], const MPI_Aint recvdisplacements[], const MPI_Datatype recvtypes[], MPI_Comm comm),
	(.sent = sent, .sendcounts = LIST(sendcounts), .sendplaces = senddisplacements, .sendtypes = sendtypes,
	.received = received, .recvcounts = LIST(recvcounts), .recvplaces = recvdisplacements, .recvtypes = recvtypes),
	SECOND(MPI_Ineighbor_alltoallw)(p->sent, UNLIST(p->sendcounts), p->sendplaces, p->sendtypes, p->received, UNLIST(p->recvcounts), p->recvplaces, p->recvtypes, p->comm, begun))
