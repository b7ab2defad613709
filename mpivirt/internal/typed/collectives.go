package typed

import (
	"gigarank/collectives"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
)

// vector hands over a vector of T.
func vector[T Datatype](k *kernel.Kernel, name world.Procedure, op collectives.Operation, send, receive []T) *kernel.Collective {
	in, out := Bytes(send), Bytes(receive)
	return k.Hand(kernel.Collective{Procedure: name, Operation: op, Bytes: int64(len(in)), Element: int64(sizeOf[T]()), Type: elementType[T](), Data: true, Input: in, Output: out})
}

// Caller is the rank that calls a collective, as a member of its communicator. What
// it hands in is made alike for both kinds of LP.
type Caller struct {
	Kernel *kernel.Kernel
	Comm   *kernel.Communicator
	Member int
}

// refuse returns an error of the caller's, and a collective that names the call.
func (m Caller) refuse(name world.Procedure, class world.ErrorClass, format string, arguments ...any) (*kernel.Collective, error) {
	return m.Kernel.Hand(kernel.Collective{Procedure: name}), world.Errorf(class, format, arguments...)
}

// tooShort refuses a receive buffer without room for the result.
func (m Caller) tooShort(name world.Procedure, got, need int) (*kernel.Collective, error) {
	return m.refuse(name, world.ErrBuffer, "room for %d elements where the result has %d", got, need)
}

func Bcast[T Datatype](m Caller, data []T, root int) (*kernel.Collective, error) {
	v := vector(m.Kernel, world.Bcast, collectives.Bcast, data, data)
	v.Root = root
	return v, nil
}

func Reduction[T Datatype](m Caller, name world.Procedure, operation collectives.Operation, send, receive []T, o Op[T]) *kernel.Collective {
	v := vector(m.Kernel, name, operation, send, receive)
	v.Operator = o.operator
	return v
}

func Reduce[T Datatype](m Caller, send, receive []T, o Op[T], root int) (*kernel.Collective, error) {
	v := Reduction(m, world.Reduce, collectives.Reduce, send, receive, o)
	v.Root = root
	if m.Member == root && len(receive) < len(send) {
		return m.tooShort(world.Reduce, len(receive), len(send))
	}
	return v, nil
}

func ReductionToAll[T Datatype](m Caller, name world.Procedure, op collectives.Operation, send, receive []T, o Op[T]) (*kernel.Collective, error) {
	if len(receive) < len(send) {
		return m.tooShort(name, len(receive), len(send))
	}
	return Reduction(m, name, op, send, receive[:len(send)], o), nil
}

func sum(counts []int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// inBytes returns counts of elements as bytes.
func inBytes[T Datatype](counts []int) []int64 {
	bytes := make([]int64, len(counts))
	for i, n := range counts {
		bytes[i] = int64(n) * int64(sizeOf[T]())
	}
	return bytes
}

// countOf returns counts[i], 0 outside the slice: the length is checked later.
func countOf(counts []int, i int) int {
	if i < len(counts) {
		return counts[i]
	}
	return 0
}

func ReduceScatter[T Datatype](m Caller, send, receive []T, counts []int, o Op[T]) (*kernel.Collective, error) {
	if len(receive) < countOf(counts, m.Member) {
		return m.tooShort(world.ReduceScatter, len(receive), countOf(counts, m.Member))
	}
	if len(send) < sum(counts) {
		return m.refuse(world.ReduceScatter, world.ErrCount, "%d elements where the counts add up to %d", len(send), sum(counts))
	}
	v := Reduction(m, world.ReduceScatter, collectives.ReduceScatter, send[:sum(counts)], receive[:countOf(counts, m.Member)], o)
	v.Counts = inBytes[T](counts)
	return v, nil
}
