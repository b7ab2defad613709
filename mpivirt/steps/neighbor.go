package steps

import (
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/topology"
	"gigarank/mpivirt/internal/typed"
	"gigarank/mpivirt/internal/world"
)

// Neighbourhood collectives of event ranks. A rank hands in its neighbours in the communicator:
// those of [mpivirt.Grid.Neighbors], say. All ranks of an engine may share a grid.

// exchange carries out an exchange, unless there is an error.
func (r *Rank) exchange(op world.Procedure, x kernel.Exchange, err error) Outcome {
	return r.do(r.compose(op).Exchanges(x, err))
}

// beginExchange begins an exchange, unless there is an error.
func (r *Rank) beginExchange(op world.Procedure, x kernel.Exchange, err error) Request {
	return r.begin(r.compose(op).Exchanges(x, err).Nonblocking())
}

// NeighborAllgather is [mpivirt.NeighborAllgather] of an event rank.
func NeighborAllgather[T typed.Datatype](r *Rank, n *topology.Neighbors, send, receive []T) Outcome {
	x, err := typed.NeighborAllgather(n, send, receive)
	return r.exchange(world.NeighborAllgather, x, err)
}

// IneighborAllgather begins a NeighborAllgather; see [mpivirt.IneighborAllgather].
func IneighborAllgather[T typed.Datatype](r *Rank, n *topology.Neighbors, send, receive []T) Request {
	x, err := typed.NeighborAllgather(n, send, receive)
	return r.beginExchange(world.NeighborAllgather, x, err)
}

// NeighborAllgatherv is [mpivirt.NeighborAllgatherv] of an event rank.
func NeighborAllgatherv[T typed.Datatype](r *Rank, n *topology.Neighbors, send, receive []T, counts []int) Outcome {
	x, err := typed.NeighborAllgatherv(n, send, receive, counts)
	return r.exchange(world.NeighborAllgatherv, x, err)
}

// IneighborAllgatherv begins a NeighborAllgatherv; see [mpivirt.IneighborAllgatherv].
func IneighborAllgatherv[T typed.Datatype](r *Rank, n *topology.Neighbors, send, receive []T, counts []int) Request {
	x, err := typed.NeighborAllgatherv(n, send, receive, counts)
	return r.beginExchange(world.NeighborAllgatherv, x, err)
}

// NeighborAlltoall is [mpivirt.NeighborAlltoall] of an event rank.
func NeighborAlltoall[T typed.Datatype](r *Rank, n *topology.Neighbors, send, receive []T) Outcome {
	x, err := typed.NeighborAlltoall(n, send, receive)
	return r.exchange(world.NeighborAlltoall, x, err)
}

// IneighborAlltoall begins a NeighborAlltoall; see [mpivirt.IneighborAlltoall].
func IneighborAlltoall[T typed.Datatype](r *Rank, n *topology.Neighbors, send, receive []T) Request {
	x, err := typed.NeighborAlltoall(n, send, receive)
	return r.beginExchange(world.NeighborAlltoall, x, err)
}

// NeighborAlltoallv is [mpivirt.NeighborAlltoallv] of an event rank.
func NeighborAlltoallv[T typed.Datatype](r *Rank, n *topology.Neighbors, send []T, sendCounts []int, receive []T, receiveCounts []int) Outcome {
	x, err := typed.NeighborAlltoallv(n, send, sendCounts, receive, receiveCounts)
	return r.exchange(world.NeighborAlltoallv, x, err)
}

// IneighborAlltoallv begins a NeighborAlltoallv; see [mpivirt.IneighborAlltoallv].
func IneighborAlltoallv[T typed.Datatype](r *Rank, n *topology.Neighbors, send []T, sendCounts []int, receive []T, receiveCounts []int) Request {
	x, err := typed.NeighborAlltoallv(n, send, sendCounts, receive, receiveCounts)
	return r.beginExchange(world.NeighborAlltoallv, x, err)
}
