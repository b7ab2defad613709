package typed

import (
	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/topology"
	"gigarank/mpivirt/internal/world"
)

// blocks returns the parts of an exchange with peers, one after the other in a buffer, with the
// number of elements in counts. It returns an error for bad counts.
func blocks[T Datatype](peers []int, tag func(i int) int, buffer []T, counts func(i int) int) ([]kernel.Part, error) {
	parts, rest := make([]kernel.Part, len(peers)), buffer
	for i, peer := range peers {
		n := counts(i)
		switch {
		case n < 0:
			return nil, world.Errorf(world.ErrCount, "%s for neighbour %d", spelling.Count(n, "element"), i)
		case n > len(rest):
			return nil, world.Errorf(world.ErrBuffer, "room for %s where the blocks of %s have more", spelling.Count(len(buffer), "element"), spelling.Count(len(peers), "neighbour"))
		}
		b := Bytes(rest[:n])
		parts[i], rest = kernel.Part{Peer: peer, Tag: tag(i), Bytes: int64(len(b)), Buffer: b}, rest[n:]
	}
	return parts, nil
}

// lengths returns the numbers of elements in the blocks of peers: the counts, or equal parts of the
// buffer. It returns an error for a wrong number of counts.
func lengths[T Datatype](peers []int, buffer []T, counts []int, counted bool) (func(i int) int, error) {
	n := max(len(peers), 1)
	switch {
	case counted && len(peers) != len(counts):
		return nil, world.Errorf(world.ErrCount, "%s for %s", spelling.Count(len(counts), "count"), spelling.Count(len(peers), "neighbour"))
	case counted:
		return func(i int) int { return counts[i] }, nil
	case len(buffer)%n != 0:
		return nil, world.Errorf(world.ErrCount, "%s for %s", spelling.Count(len(buffer), "element"), spelling.Count(len(peers), "neighbour"))
	}
	return func(int) int { return len(buffer) / n }, nil
}

// neighborExchange returns the exchange that receives a block from each source, of equal length or
// with counts, and sends the parts of sends.
func neighborExchange[T Datatype](n *topology.Neighbors, sends []kernel.Part, err error, receive []T, counts []int, counted bool) (kernel.Exchange, error) {
	if err != nil {
		return kernel.Exchange{}, err
	}
	in, err := lengths(n.Sources, receive, counts, counted)
	if err != nil {
		return kernel.Exchange{}, err
	}
	receives, err := blocks(n.Sources, n.SourceTag, receive, in)
	if err != nil {
		return kernel.Exchange{}, err
	}
	for i := range sends {
		if world.Overlap(sends[i].Buffer, Bytes(receive)) {
			return kernel.Exchange{}, world.Errorf(world.ErrBuffer, "the slices to send and to receive share memory: give two that do not, or copy one")
		}
	}
	return kernel.Exchange{Receives: receives, Sends: sends}, nil
}

// sameToAll returns the parts that send a block to each destination.
func sameToAll[T Datatype](n *topology.Neighbors, send []T) []kernel.Part {
	parts, b := make([]kernel.Part, len(n.Destinations)), Bytes(send)
	for i, peer := range n.Destinations {
		parts[i] = kernel.Part{Peer: peer, Tag: n.DestinationTag(i), Bytes: int64(len(b)), Buffer: b}
	}
	return parts
}

// oneToEach returns the parts that send a separate block to each destination.
func oneToEach[T Datatype](n *topology.Neighbors, send []T, counts []int, counted bool) ([]kernel.Part, error) {
	out, err := lengths(n.Destinations, send, counts, counted)
	if err != nil {
		return nil, err
	}
	return blocks(n.Destinations, n.DestinationTag, send, out)
}

// NeighborAllgather returns the messages of MPI_Neighbor_allgather, and the error in its
// arguments.
func NeighborAllgather[T Datatype](n *topology.Neighbors, send, receive []T) (kernel.Exchange, error) {
	return neighborExchange(n, sameToAll(n, send), nil, receive, nil, false)
}

// NeighborAllgatherv returns the messages of MPI_Neighbor_allgatherv, and the error in its
// arguments.
func NeighborAllgatherv[T Datatype](n *topology.Neighbors, send, receive []T, counts []int) (kernel.Exchange, error) {
	return neighborExchange(n, sameToAll(n, send), nil, receive, counts, true)
}

// NeighborAlltoall returns the messages of MPI_Neighbor_alltoall, and the error in its arguments.
func NeighborAlltoall[T Datatype](n *topology.Neighbors, send, receive []T) (kernel.Exchange, error) {
	sends, err := oneToEach(n, send, nil, false)
	return neighborExchange(n, sends, err, receive, nil, false)
}

// NeighborAlltoallv returns the messages of MPI_Neighbor_alltoallv, and the error in its
// arguments.
func NeighborAlltoallv[T Datatype](n *topology.Neighbors, send []T, sendCounts []int, receive []T, receiveCounts []int) (kernel.Exchange, error) {
	sends, err := oneToEach(n, send, sendCounts, true)
	return neighborExchange(n, sends, err, receive, receiveCounts, true)
}
