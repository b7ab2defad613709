package mpivirt

import (
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/typed"
	"gigarank/mpivirt/internal/world"
)

// Neighbourhood collectives (MPI 4.1, 8.6 and 8.7). A member receives from each of its sources
// and sends to each of its destinations. All messages begin at the call: receives first, then
// sends, in the order of the neighbours. So a call takes the time of Irecv, Isend and Waitall,
// and its nonblocking form that of their beginnings. Blocks from and to ProcNull are left as
// they are. The slices that are sent and received share no memory.

// exchange makes the call of an exchange of the rank on a topology.
func exchange(t Topology, op world.Procedure, x kernel.Exchange, err error, nonblocking bool) (*kernel.Completion, error) {
	c := t.communicator()
	if c == nil {
		return nil, world.NoComm(op)
	}
	q := c.compose(op).Exchanges(x, err)
	if nonblocking {
		q.Nonblocking()
	}
	b := c.r.do(q)
	return b, b.Err
}

// exchangeAll carries out an exchange.
func exchangeAll(t Topology, op world.Procedure, x kernel.Exchange, err error) error {
	if _, err := exchange(t, op, x, err, false); err != nil {
		return err
	}
	t.communicator().r.throttle()
	return nil
}

// beginExchange begins an exchange.
func beginExchange(t Topology, op world.Procedure, x kernel.Exchange, err error) (Request, error) {
	b, err := exchange(t, op, x, err, true)
	if err != nil {
		return Request{}, err
	}
	r := t.communicator().r
	q := r.request(b.Request)
	r.throttle()
	return q, nil
}

// neighborsOf returns the neighbours of a topology, none without one.
func neighborsOf(t Topology) *Neighbors {
	if t.communicator() == nil {
		return &Neighbors{}
	}
	return t.Neighbors()
}

// NeighborAllgather sends a block to each destination, and receives one from each source into
// the blocks of receive (MPI_Neighbor_allgather). All of them have the length
// len(receive)/len(sources). Errors: ErrCount, ErrBuffer; ErrTruncate for a longer block.
func NeighborAllgather[T Datatype](t Topology, send, receive []T) error {
	x, err := typed.NeighborAllgather(neighborsOf(t), send, receive)
	return exchangeAll(t, world.NeighborAllgather, x, err)
}

// IneighborAllgather is the nonblocking NeighborAllgather (MPI_Ineighbor_allgather).
func IneighborAllgather[T Datatype](t Topology, send, receive []T) (Request, error) {
	x, err := typed.NeighborAllgather(neighborsOf(t), send, receive)
	return beginExchange(t, world.NeighborAllgather, x, err)
}

// NeighborAllgatherv is NeighborAllgather with counts[i] elements from source i, blocks following
// each other without gaps (MPI_Neighbor_allgatherv).
func NeighborAllgatherv[T Datatype](t Topology, send, receive []T, counts []int) error {
	x, err := typed.NeighborAllgatherv(neighborsOf(t), send, receive, counts)
	return exchangeAll(t, world.NeighborAllgatherv, x, err)
}

// IneighborAllgatherv is the nonblocking NeighborAllgatherv (MPI_Ineighbor_allgatherv).
func IneighborAllgatherv[T Datatype](t Topology, send, receive []T, counts []int) (Request, error) {
	x, err := typed.NeighborAllgatherv(neighborsOf(t), send, receive, counts)
	return beginExchange(t, world.NeighborAllgatherv, x, err)
}

// NeighborAlltoall sends the i-th block of send to destination i, and receives the block from
// source j into the j-th block of receive (MPI_Neighbor_alltoall). Blocks have the lengths
// len(send)/len(destinations) and len(receive)/len(sources). Errors: as NeighborAllgather.
func NeighborAlltoall[T Datatype](t Topology, send, receive []T) error {
	x, err := typed.NeighborAlltoall(neighborsOf(t), send, receive)
	return exchangeAll(t, world.NeighborAlltoall, x, err)
}

// IneighborAlltoall is the nonblocking NeighborAlltoall (MPI_Ineighbor_alltoall).
func IneighborAlltoall[T Datatype](t Topology, send, receive []T) (Request, error) {
	x, err := typed.NeighborAlltoall(neighborsOf(t), send, receive)
	return beginExchange(t, world.NeighborAlltoall, x, err)
}

// NeighborAlltoallv is NeighborAlltoall with sendCounts[i] elements to destination i and
// receiveCounts[j] from source j, blocks following each other without gaps
// (MPI_Neighbor_alltoallv).
func NeighborAlltoallv[T Datatype](t Topology, send []T, sendCounts []int, receive []T, receiveCounts []int) error {
	x, err := typed.NeighborAlltoallv(neighborsOf(t), send, sendCounts, receive, receiveCounts)
	return exchangeAll(t, world.NeighborAlltoallv, x, err)
}

// IneighborAlltoallv is the nonblocking NeighborAlltoallv (MPI_Ineighbor_alltoallv).
func IneighborAlltoallv[T Datatype](t Topology, send []T, sendCounts []int, receive []T, receiveCounts []int) (Request, error) {
	x, err := typed.NeighborAlltoallv(neighborsOf(t), send, sendCounts, receive, receiveCounts)
	return beginExchange(t, world.NeighborAlltoallv, x, err)
}
