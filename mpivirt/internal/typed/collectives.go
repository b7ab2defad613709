package typed

import (
	"math"

	"gigarank/collectives"
	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
)

// vector returns a member's arguments of a collective on vectors of T.
func vector[T Datatype](k *kernel.Kernel, name world.Procedure, op collectives.Operation, send, receive []T) *kernel.Collective {
	v := k.Blank(name, op)
	v.Input, v.Output, v.Data = Bytes(send), Bytes(receive), true
	v.Bytes, v.Element, v.Type = int64(len(v.Input)), int64(sizeOf[T]()), elementType[T]()
	return v
}

// Caller is the rank that calls a collective, as a member of its communicator.
type Caller struct {
	Kernel *kernel.Kernel
	Comm   *kernel.Communicator
	Member int
}

// peers returns the number of members with which the caller exchanges blocks.
func (m Caller) peers() int { return m.Comm.Peers().Size }

// isRoot reports whether the caller is the root that its arguments name.
func (m Caller) isRoot(root int) bool {
	if m.Comm.Remote != nil {
		return root == world.Root
	}
	return m.Member == root
}

// inter reports whether the communicator is an intercommunicator. There the lengths sent and
// received differ, and a member exchanges no block with itself.
func (m Caller) inter() bool { return m.Comm.Remote != nil }

// refuse returns a collective with the name of the call, and an error of the caller.
func (m Caller) refuse(name world.Procedure, class world.ErrorClass, format string, arguments ...any) (*kernel.Collective, error) {
	return m.Kernel.Prepare(kernel.Collective{Procedure: name}), world.Errorf(class, format, arguments...)
}

// tooShort returns the error of a receive buffer that is shorter than the result.
func (m Caller) tooShort(name world.Procedure, got, need int) (*kernel.Collective, error) {
	return m.refuse(name, world.ErrBuffer, "room for %s where the result has %d", spelling.Count(got, "element"), need)
}

// Bcast returns a member's arguments of MPI_Bcast, and the error in them.
func Bcast[T Datatype](m Caller, data []T, root int) (*kernel.Collective, error) {
	v := vector(m.Kernel, world.Bcast, collectives.Bcast, data, data)
	v.Root = root
	if !m.isRoot(root) {
		v.Input = nil
	}
	return v, nil
}

// Reduction returns a member's arguments of a reduction, without checking lengths.
func Reduction[T Datatype](m Caller, name world.Procedure, operation collectives.Operation, send, receive []T, o Op[T]) *kernel.Collective {
	v := vector(m.Kernel, name, operation, send, receive)
	v.Operator = o.operator
	return v
}

// Reduce returns a member's arguments of MPI_Reduce, and the error in them.
func Reduce[T Datatype](m Caller, send, receive []T, o Op[T], root int) (*kernel.Collective, error) {
	v := Reduction(m, world.Reduce, collectives.Reduce, send, receive, o)
	v.Root = root
	if m.isRoot(root) && len(receive) < len(send) {
		return m.tooShort(world.Reduce, len(receive), len(send))
	}
	return v, nil
}

// ReductionToAll returns a member's arguments of a reduction whose result all members get, and the
// error in them.
func ReductionToAll[T Datatype](m Caller, name world.Procedure, op collectives.Operation, send, receive []T, o Op[T]) (*kernel.Collective, error) {
	if len(receive) < len(send) {
		return m.tooShort(name, len(receive), len(send))
	}
	return Reduction(m, name, op, send, receive[:len(send)], o), nil
}

// AllreduceSize returns a member's arguments of MPI_Allreduce of a number of elements without memory, and the error in them.
func AllreduceSize[T Datatype](m Caller, elements int64, o Op[T]) (*kernel.Collective, error) {
	v := Reduction[T](m, world.Allreduce, collectives.Allreduce, nil, nil, o)
	if elements < 0 || elements > math.MaxInt64/v.Element {
		return m.refuse(world.Allreduce, world.ErrCount, "%d elements of %s", elements, spelling.Count(v.Element, "byte"))
	}
	v.OfSize(elements * v.Element)
	return v, nil
}

// sum returns the sum of the counts.
func sum(counts []int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// inBytes returns counts of elements as numbers of bytes.
func inBytes[T Datatype](counts []int) []int64 {
	bytes := make([]int64, len(counts))
	for i, n := range counts {
		bytes[i] = int64(n) * int64(sizeOf[T]())
	}
	return bytes
}

// countOf returns counts[i], 0 outside the slice. The kernel checks the length later.
func countOf(counts []int, i int) int {
	if i < len(counts) {
		return counts[i]
	}
	return 0
}

// ReduceScatter returns a member's arguments of MPI_Reduce_scatter, and the error in them.
func ReduceScatter[T Datatype](m Caller, send, receive []T, counts []int, o Op[T]) (*kernel.Collective, error) {
	if len(receive) < countOf(counts, m.Member) {
		return m.tooShort(world.ReduceScatter, len(receive), countOf(counts, m.Member))
	}
	if len(send) < sum(counts) {
		return m.refuse(world.ReduceScatter, world.ErrCount, "%s where the counts add up to %d", spelling.Count(len(send), "element"), sum(counts))
	}
	v := Reduction(m, world.ReduceScatter, collectives.ReduceScatter, send[:sum(counts)], receive[:countOf(counts, m.Member)], o)
	v.Counts = inBytes[T](counts)
	return v, nil
}
