package typed

import (
	"gigarank/collectives"
	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
)

// Gather returns a member's arguments of MPI_Gather, and the error in them.
func Gather[T Datatype](m Caller, send, receive []T, root int) (*kernel.Collective, error) {
	if m.isRoot(root) && len(receive) < len(send)*m.peers() {
		return m.tooShort(world.Gather, len(receive), len(send)*m.peers())
	}
	v := vector(m.Kernel, world.Gather, collectives.Gather, send, receive)
	v.Root = root
	return v, nil
}

// Gatherv returns a member's arguments of MPI_Gatherv, and the error in them.
func Gatherv[T Datatype](m Caller, send, receive []T, counts []int, root int) (*kernel.Collective, error) {
	v := vector(m.Kernel, world.Gatherv, collectives.Gatherv, send, receive)
	v.Root = root
	if !m.isRoot(root) {
		return v, nil
	}
	if len(receive) < sum(counts) {
		return m.tooShort(world.Gatherv, len(receive), sum(counts))
	}
	v.Counts = inBytes[T](counts)
	if !m.inter() && countOf(counts, root) != len(send) {
		return m.refuse(world.Gatherv, world.ErrCount, "the root sends %s but counts %d of itself", spelling.Count(len(send), "element"), countOf(counts, root))
	}
	return v, nil
}

// Scatter returns a member's arguments of MPI_Scatter, and the error in them.
func Scatter[T Datatype](m Caller, send, receive []T, root int) (*kernel.Collective, error) {
	v := vector(m.Kernel, world.Scatter, collectives.Scatter, receive, receive)
	v.Root, v.Input = root, nil
	if m.isRoot(root) {
		v.Input = Bytes(send)
	}
	if m.isRoot(root) && len(send) < len(receive)*m.peers() {
		return m.refuse(world.Scatter, world.ErrCount, "%s to scatter where each of %s gets %d", spelling.Count(len(send), "element"), spelling.Count(m.peers(), "rank"), len(receive))
	}
	return v, nil
}

// Scatterv returns a member's arguments of MPI_Scatterv, and the error in them.
func Scatterv[T Datatype](m Caller, send []T, counts []int, receive []T, root int) (*kernel.Collective, error) {
	v := vector(m.Kernel, world.Scatterv, collectives.Scatterv, receive, receive)
	v.Root, v.Input = root, nil
	if !m.isRoot(root) {
		return v, nil
	}
	v.Input = Bytes(send)
	if len(send) < sum(counts) {
		return m.refuse(world.Scatterv, world.ErrCount, "%s to scatter where the counts add up to %d", spelling.Count(len(send), "element"), sum(counts))
	}
	if !m.inter() && countOf(counts, root) > len(receive) {
		return m.tooShort(world.Scatterv, len(receive), countOf(counts, root))
	}
	v.Counts = inBytes[T](counts)
	return v, nil
}

// Allgather returns a member's arguments of MPI_Allgather, and the error in them.
func Allgather[T Datatype](m Caller, send, receive []T) (*kernel.Collective, error) {
	if !m.inter() && len(receive) < len(send)*m.peers() {
		return m.tooShort(world.Allgather, len(receive), len(send)*m.peers())
	}
	return vector(m.Kernel, world.Allgather, collectives.Allgather, send, receive), nil
}

// Allgatherv returns a member's arguments of MPI_Allgatherv, and the error in them.
func Allgatherv[T Datatype](m Caller, send, receive []T, counts []int) (*kernel.Collective, error) {
	if len(receive) < sum(counts) {
		return m.tooShort(world.Allgatherv, len(receive), sum(counts))
	}
	if !m.inter() && countOf(counts, m.Member) != len(send) {
		return m.refuse(world.Allgatherv, world.ErrCount, "%s to send where the count is %d", spelling.Count(len(send), "element"), countOf(counts, m.Member))
	}
	v := vector(m.Kernel, world.Allgatherv, collectives.Allgatherv, send, receive)
	v.Bytes = int64(sum(counts)) * v.Element
	v.Counts = inBytes[T](counts)
	return v, nil
}

// Alltoall returns a member's arguments of MPI_Alltoall, and the error in them.
func Alltoall[T Datatype](m Caller, send, receive []T) (*kernel.Collective, error) {
	if len(send)%max(m.peers(), 1) != 0 {
		return m.refuse(world.Alltoall, world.ErrCount, "%s for %s", spelling.Count(len(send), "element"), spelling.Count(m.peers(), "rank"))
	}
	if m.inter() {
		return vector(m.Kernel, world.Alltoall, collectives.Alltoall, send, receive), nil
	}
	if len(receive) < len(send) {
		return m.tooShort(world.Alltoall, len(receive), len(send))
	}
	v := vector(m.Kernel, world.Alltoall, collectives.Alltoall, send, receive[:len(send)])
	v.Bytes /= int64(max(m.peers(), 1))
	return v, nil
}

// Alltoallv returns a member's arguments of MPI_Alltoallv, and the error in them.
func Alltoallv[T Datatype](m Caller, send []T, sendCounts []int, receive []T, receiveCounts []int) (*kernel.Collective, error) {
	if len(send) < sum(sendCounts) {
		return m.refuse(world.Alltoallv, world.ErrCount, "%s to send where the counts add up to %d", spelling.Count(len(send), "element"), sum(sendCounts))
	}
	if len(receive) < sum(receiveCounts) {
		return m.tooShort(world.Alltoallv, len(receive), sum(receiveCounts))
	}
	v := vector(m.Kernel, world.Alltoallv, collectives.Alltoallv, send, receive)
	v.Bytes = 0
	v.InCounts, v.OutCounts = inBytes[T](sendCounts), inBytes[T](receiveCounts)
	return v, nil
}
