/* Collectives with counts, which collectives.c includes once for each sort: COUNT is the type of counts, PLACE and WIDE_PLACE that of displacements, MEMBER the field
 * of struct blocks, NAME(x) and LATER(x) are the names of both forms. */

COLLECTIVE(NAME(Bcast), LATER(bcast), (void *buffer, COUNT count, MPI_Datatype type, int root, MPI_Comm comm), (buffer, count, type, root, comm),
	bcast(&called, count, type, root, comm))
COLLECTIVE(NAME(Reduce), LATER(reduce), (const void *sent, void *received, COUNT count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm), (sent, received, count, type, op, root, comm),
	reduction(&called, FUNCTION_Reduce, count, type, op, root, comm))
COLLECTIVE(NAME(Allreduce), LATER(allreduce), (const void *sent, void *received, COUNT count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), (sent, received, count, type, op, comm),
	reduction(&called, FUNCTION_Allreduce, count, type, op, 0, comm))
COLLECTIVE(NAME(Scan), LATER(scan), (const void *sent, void *received, COUNT count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), (sent, received, count, type, op, comm),
	reduction(&called, FUNCTION_Scan, count, type, op, 0, comm))
COLLECTIVE(NAME(Exscan), LATER(exscan), (const void *sent, void *received, COUNT count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), (sent, received, count, type, op, comm),
	reduction(&called, FUNCTION_Exscan, count, type, op, 0, comm))
COLLECTIVE(NAME(Gather), LATER(gather), (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm), (sent, sendcount, sendtype, received, recvcount, recvtype, root, comm),
	gather(&called, FUNCTION_Gather, sent, sendcount, sendtype, recvcount, recvtype, root, comm))
COLLECTIVE(NAME(Allgather), LATER(allgather), (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm), (sent, sendcount, sendtype, received, recvcount, recvtype, comm),
	gather(&called, FUNCTION_Allgather, sent, sendcount, sendtype, recvcount, recvtype, 0, comm))
COLLECTIVE(NAME(Scatter), LATER(scatter), (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm), (sent, sendcount, sendtype, received, recvcount, recvtype, root, comm),
	scatter(&called, sendcount, sendtype, received, recvcount, recvtype, root, comm))
COLLECTIVE(NAME(Gatherv), LATER(gatherv), (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, const COUNT counts[], const PLACE places[], MPI_Datatype recvtype, int root, MPI_Comm comm), (sent, sendcount, sendtype, received, counts, places, recvtype, root, comm),
	gatherv(&called, FUNCTION_Gatherv, sent, sendcount, sendtype, LIST_OF(counts, recvtype), root, comm))
COLLECTIVE(NAME(Allgatherv), LATER(allgatherv), (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, const COUNT counts[], const PLACE places[], MPI_Datatype recvtype, MPI_Comm comm), (sent, sendcount, sendtype, received, counts, places, recvtype, comm),
	gatherv(&called, FUNCTION_Allgatherv, sent, sendcount, sendtype, LIST_OF(counts, recvtype), 0, comm))
COLLECTIVE(NAME(Scatterv), LATER(scatterv), (const void *sent, const COUNT counts[], const PLACE places[], MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm), (sent, counts, places, sendtype, received, recvcount, recvtype, root, comm),
	scatterv(&called, LIST_OF(counts, sendtype), received, recvcount, recvtype, root, comm))
COLLECTIVE(NAME(Alltoall), LATER(alltoall), (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm), (sent, sendcount, sendtype, received, recvcount, recvtype, comm),
	alltoall(&called, sent, sendcount, sendtype, recvcount, recvtype, comm))
COLLECTIVE(NAME(Alltoallv), LATER(alltoallv), (const void *sent, const COUNT outcounts[], const PLACE outplaces[], MPI_Datatype sendtype, void *received, const COUNT counts[], const PLACE places[], MPI_Datatype recvtype, MPI_Comm comm), (sent, outcounts, outplaces, sendtype, received, counts, places, recvtype, comm),
	alltoallv(&called, FUNCTION_Alltoallv, sent, LIST_OF(outcounts, sendtype), LIST_OF(counts, recvtype), comm))
COLLECTIVE(NAME(Alltoallw), LATER(alltoallw), (const void *sent, const COUNT outcounts[], const PLACE outplaces[], const MPI_Datatype sendtypes[], void *received, const COUNT counts[], const PLACE places[], const MPI_Datatype recvtypes[], MPI_Comm comm), (sent, outcounts, outplaces, sendtypes, received, counts, places, recvtypes, comm),
	alltoallv(&called, FUNCTION_Alltoallw, sent, LISTS_OF(outcounts, sendtypes), LISTS_OF(counts, recvtypes), comm))
COLLECTIVE(NAME(Reduce_scatter), LATER(reduce_scatter), (const void *sent, void *received, const COUNT counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm), (sent, received, counts, type, op, comm),
	reduce_scatter(&called, FUNCTION_Reduce_scatter, LIST_OF(counts, type), op, comm))
COLLECTIVE(NAME(Reduce_scatter_block), LATER(reduce_scatter_block), (const void *sent, void *received, COUNT count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), (sent, received, count, type, op, comm),
	reduce_scatter(&called, FUNCTION_Reduce_scatter_block, EACH(count, type), op, comm))
COLLECTIVE(NAME(Neighbor_allgather), LATER(neighbor_allgather), (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm), (sent, sendcount, sendtype, received, recvcount, recvtype, comm),
	neighbourhood(&called, FUNCTION_Neighbor_allgather, EACH(sendcount, sendtype), EACH(recvcount, recvtype), comm))
COLLECTIVE(NAME(Neighbor_allgatherv), LATER(neighbor_allgatherv), (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, const COUNT counts[], const PLACE places[], MPI_Datatype recvtype, MPI_Comm comm), (sent, sendcount, sendtype, received, counts, places, recvtype, comm),
	neighbourhood(&called, FUNCTION_Neighbor_allgatherv, EACH(sendcount, sendtype), LIST_OF(counts, recvtype), comm))
COLLECTIVE(NAME(Neighbor_alltoall), LATER(neighbor_alltoall), (const void *sent, COUNT sendcount, MPI_Datatype sendtype, void *received, COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm), (sent, sendcount, sendtype, received, recvcount, recvtype, comm),
	neighbourhood(&called, FUNCTION_Neighbor_alltoall, EACH(sendcount, sendtype), EACH(recvcount, recvtype), comm))
COLLECTIVE(NAME(Neighbor_alltoallv), LATER(neighbor_alltoallv), (const void *sent, const COUNT outcounts[], const PLACE outplaces[], MPI_Datatype sendtype, void *received, const COUNT counts[], const PLACE places[], MPI_Datatype recvtype, MPI_Comm comm), (sent, outcounts, outplaces, sendtype, received, counts, places, recvtype, comm),
	neighbourhood(&called, FUNCTION_Neighbor_alltoallv, LIST_OF(outcounts, sendtype), LIST_OF(counts, recvtype), comm))
COLLECTIVE(NAME(Neighbor_alltoallw), LATER(neighbor_alltoallw), (const void *sent, const COUNT outcounts[], const WIDE_PLACE outplaces[], const MPI_Datatype sendtypes[], void *received, const COUNT counts[], const WIDE_PLACE places[], const MPI_Datatype recvtypes[], MPI_Comm comm), (sent, outcounts, outplaces, sendtypes, received, counts, places, recvtypes, comm),
	neighbourhood(&called, FUNCTION_Neighbor_alltoallw, LISTS_OF(outcounts, sendtypes), LISTS_OF(counts, recvtypes), comm))
