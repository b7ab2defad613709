package typed

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
)

// carryOut moves and combines the bytes of what all members hand in, by the definitions of MPI 4.1, chapter 6.
func carryOut(calls []kernel.Collective) {
	n := len(calls)
	first := &calls[0]
	root := &calls[first.Root]
	lengths := func(counts []int64, each int64) []int64 {
		if counts == nil {
			counts = slices.Repeat([]int64{each}, n)
		}
		return counts
	}
	at := func(counts []int64, m int) (from, to int64) {
		for _, c := range counts[:m] {
			from += c
		}
		return from, from + counts[m]
	}
	folded := func(last int) []byte {
		x := slices.Clone(calls[0].Input)
		for m := 1; m <= last; m++ {
			calls[m].Operator.Apply(x, x, calls[m].Input)
		}
		return x
	}
	for m := range calls {
		v := &calls[m]
		switch v.Operation {
		case collectives.Bcast:
			copy(v.Output, root.Input)
		case collectives.Reduce:
			if v == root {
				copy(v.Output, folded(n-1))
			}
		case collectives.Allreduce:
			copy(v.Output, folded(n-1))
		case collectives.Scan:
			copy(v.Output, folded(m))
		case collectives.Exscan:
			if m > 0 {
				copy(v.Output, folded(m-1))
			}
		case collectives.ReduceScatter:
			from, to := at(v.Counts, m)
			copy(v.Output, folded(n - 1)[from:to])
		case collectives.Gather, collectives.Gatherv:
			from, to := at(lengths(root.Counts, root.Bytes), m)
			copy(root.Output[from:to], v.Input)
		case collectives.Scatter, collectives.Scatterv:
			from, to := at(lengths(root.Counts, v.Bytes), m)
			copy(v.Output, root.Input[from:to])
		case collectives.Allgather, collectives.Allgatherv:
			for sender := range calls {
				from, to := at(lengths(v.Counts, v.Bytes), sender)
				copy(v.Output[from:to], calls[sender].Input)
			}
		case collectives.Alltoall, collectives.Alltoallv:
			for sender := range calls {
				from, to := at(lengths(calls[sender].InCounts, v.Bytes), m)
				into, end := at(lengths(v.OutCounts, v.Bytes), sender)
				copy(v.Output[into:end], calls[sender].Input[from:to])
			}
		}
	}
}

// scratch holds the arguments of a call; no rank runs.
var scratch kernel.Kernel

// member returns a caller of a communicator of n members.
func member(m, n int) Caller {
	return Caller{&scratch, &kernel.Communicator{Comm: world.Comm{Context: world.WorldContext, Size: n}}, m}
}

// number returns the i-th element of a member, and elements those of which there are count.
func number[T Number](m, i int) T { return T(10*m + i + 1) }

func elements[T Number](m, count int) []T {
	s := make([]T, count)
	for i := range s {
		s[i] = number[T](m, i)
	}
	return s
}

// Members hand in what the definitions need: carried out on bytes, each collective on slices gives what MPI 4.1, chapter
// 6, says of elements, and nothing behind the result is written.
func TestCollectivesOnSlices(t *testing.T) {
	rapid.Check(t, testCollectives[uint8])
	rapid.Check(t, testCollectives[int32])
	rapid.Check(t, testCollectives[float64])
}

func testCollectives[T Number](t *rapid.T) {
	n, count := rapid.IntRange(1, 5).Draw(t, "members"), rapid.IntRange(0, 4).Draw(t, "count")
	root, spare := rapid.IntRange(0, n-1).Draw(t, "root"), rapid.IntRange(0, 2).Draw(t, "spare")
	counts := rapid.SliceOfN(rapid.IntRange(0, 3), n, n).Draw(t, "counts")
	before := func(m int) (total int) {
		for _, c := range counts[:m] {
			total += c
		}
		return total
	}
	add, same := Sum[T](), func(m int) int { return count }
	own := func(m int) int { return counts[m] }
	all := func(of func(m int) int) func(int) int {
		return func(int) (total int) {
			for m := range n {
				total += of(m)
			}
			return total
		}
	}
	total := func(last, i int) (x T) {
		for m := range last + 1 {
			x += number[T](m, i)
		}
		return x
	}
	joined := func(m, size func(sender, receiver int) int, receiver int) (want []T) {
		for sender := range n {
			for i := range size(sender, receiver) {
				want = append(want, number[T](sender, m(sender, receiver)+i))
			}
		}
		return want
	}
	zero := func(int, int) int { return 0 }
	vector := func(last, from, size int) (want []T) {
		for i := range size {
			want = append(want, total(last, from+i))
		}
		return want
	}
	between := func(sender, receiver int) int { return (sender + 2*receiver) % 3 } // elements of an alltoallv
	sends := func(m int) (to []int) {
		for receiver := range n {
			to = append(to, between(m, receiver))
		}
		return to
	}
	receives := func(m int) (from []int) {
		for sender := range n {
			from = append(from, between(sender, m))
		}
		return from
	}
	for _, c := range []struct {
		name       string
		send, room func(m int) int // elements of a member
		call       func(m Caller, send, receive []T) (*kernel.Collective, error)
		want       func(m int) []T // nil for no result
	}{
		{"Bcast", same, same, func(m Caller, send, receive []T) (*kernel.Collective, error) {
			if m.Member == root {
				copy(receive, send)
			}
			return Bcast(m, receive[:len(send)], root)
		}, func(int) []T { return elements[T](root, count) }},
		{"Reduce", same, same, func(m Caller, send, receive []T) (*kernel.Collective, error) {
			return Reduce(m, send, receive, add, root)
		}, func(m int) []T { return map[bool][]T{true: vector(n-1, 0, count)}[m == root] }},
		{"Allreduce", same, same, func(m Caller, send, receive []T) (*kernel.Collective, error) {
			return ReductionToAll(m, world.Allreduce, collectives.Allreduce, send, receive, add)
		}, func(int) []T { return vector(n-1, 0, count) }},
		{"Scan", same, same, func(m Caller, send, receive []T) (*kernel.Collective, error) {
			return ReductionToAll(m, world.Scan, collectives.Scan, send, receive, add)
		}, func(m int) []T { return vector(m, 0, count) }},
		{"Exscan", same, same, func(m Caller, send, receive []T) (*kernel.Collective, error) {
			return ReductionToAll(m, world.Exscan, collectives.Exscan, send, receive, add)
		}, func(m int) []T { return map[bool][]T{true: vector(m-1, 0, count)}[m > 0] }},
		{"ReduceScatter", all(own), own, func(m Caller, send, receive []T) (*kernel.Collective, error) {
			return ReduceScatter(m, send, receive, counts, add)
		}, func(m int) []T { return vector(n-1, before(m), counts[m]) }},
		{"Gather", same, all(same), func(m Caller, send, receive []T) (*kernel.Collective, error) {
			if m.Member != root {
				receive = nil // significant at the root only
			}
			return Gather(m, send, receive, root)
		}, func(m int) []T {
			return map[bool][]T{true: joined(zero, func(int, int) int { return count }, m)}[m == root]
		}},
		{"Gatherv", own, all(own), func(m Caller, send, receive []T) (*kernel.Collective, error) {
			if m.Member != root {
				return Gatherv(m, send, nil, nil, root)
			}
			return Gatherv(m, send, receive, counts, root)
		}, func(m int) []T {
			return map[bool][]T{true: joined(zero, func(sender, _ int) int { return counts[sender] }, m)}[m == root]
		}},
		{"Scatter", all(same), same, func(m Caller, send, receive []T) (*kernel.Collective, error) {
			if m.Member != root {
				send = nil
			}
			return Scatter(m, send, receive[:count], root)
		}, func(m int) []T { return elements[T](root, n*count)[m*count:][:count] }},
		{"Scatterv", all(own), own, func(m Caller, send, receive []T) (*kernel.Collective, error) {
			if m.Member != root {
				return Scatterv(m, nil, nil, receive, root)
			}
			return Scatterv(m, send, counts, receive, root)
		}, func(m int) []T { return elements[T](root, before(n-1)+counts[n-1])[before(m):][:counts[m]] }},
		{"Allgather", same, all(same), Allgather[T], func(m int) []T { return joined(zero, func(int, int) int { return count }, m) }},
		{"Allgatherv", own, all(own), func(m Caller, send, receive []T) (*kernel.Collective, error) {
			return Allgatherv(m, send, receive, counts)
		}, func(m int) []T { return joined(zero, func(sender, _ int) int { return counts[sender] }, m) }},
		{"Alltoall", all(same), all(same), Alltoall[T], func(m int) []T {
			return joined(func(_, receiver int) int { return count * receiver }, func(int, int) int { return count }, m)
		}},
		{"Alltoallv", func(m int) int { return sumOf(sends(m)) }, func(m int) int { return sumOf(receives(m)) }, func(m Caller, send, receive []T) (*kernel.Collective, error) {
			return Alltoallv(m, send, sends(m.Member), receive, receives(m.Member))
		}, func(m int) []T {
			return joined(func(sender, receiver int) int { return sumOf(sends(sender)[:receiver]) }, between, m)
		}},
	} {
		calls, received := make([]kernel.Collective, n), make([][]T, n)
		for m := range calls {
			received[m] = make([]T, c.room(m)+spare)
			v, err := c.call(member(m, n), elements[T](m, c.send(m)), received[m])
			if err != nil {
				t.Fatalf("%s of member %d: %v", c.name, m, err)
			}
			if calls[m] = *v; v.Procedure.String() != c.name || !v.Data || v.Element != int64(sizeOf[T]()) {
				t.Fatalf("%s of member %d hands in %+v", c.name, m, v)
			}
		}
		carryOut(calls)
		for m, got := range received {
			if want := append(c.want(m), make([]T, len(got))...)[:len(got)]; !slices.Equal(got, want) {
				t.Fatalf("%s of %d members with root %d: member %d receives %v, want %v", c.name, n, root, m, got, want)
			}
		}
	}
}

func sumOf(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// Arguments that cannot be right are an error of the caller, of a class by the argument: buffers that are too short for
// the result, and numbers of elements that contradict each other. On an intercommunicator blocks are those of
// the remote group, the root names MPI_ROOT, and a member sends and receives as much as it likes.
func TestLengthsOfSlices(t *testing.T) {
	add := Sum[int32]()
	root, other := member(1, 3), member(0, 3)
	alone := func(m Caller) Caller { // a group of one, with three remote members
		m.Comm = &kernel.Communicator{Comm: world.Comm{Context: 9, Size: 1, Remote: &world.Comm{Context: 10, Size: 3}}}
		return m
	}
	inter := alone(member(0, 1))
	s := func(n int) []int32 { return make([]int32, n) }
	type result = func() (*kernel.Collective, error)
	for i, c := range []struct {
		want error
		p    world.Procedure
		call result
	}{
		{world.ErrBuffer, world.Reduce, func() (*kernel.Collective, error) { return Reduce(root, s(3), s(2), add, 1) }},
		{nil, world.Reduce, func() (*kernel.Collective, error) { return Reduce(other, s(3), s(2), add, 1) }},
		{world.ErrBuffer, world.Scan, func() (*kernel.Collective, error) {
			return ReductionToAll(other, world.Scan, collectives.Scan, s(3), s(2), add)
		}},
		{world.ErrBuffer, world.ReduceScatter, func() (*kernel.Collective, error) { return ReduceScatter(root, s(6), s(1), []int{1, 2, 3}, add) }},
		{world.ErrCount, world.ReduceScatter, func() (*kernel.Collective, error) { return ReduceScatter(root, s(5), s(2), []int{1, 2, 3}, add) }},
		{world.ErrBuffer, world.Gather, func() (*kernel.Collective, error) { return Gather(root, s(2), s(5), 1) }},
		{nil, world.Gather, func() (*kernel.Collective, error) { return Gather(other, s(2), s(5), 1) }},
		{world.ErrBuffer, world.Gatherv, func() (*kernel.Collective, error) { return Gatherv(root, s(2), s(5), []int{1, 2, 3}, 1) }},
		{world.ErrCount, world.Gatherv, func() (*kernel.Collective, error) { return Gatherv(root, s(3), s(6), []int{1, 2, 3}, 1) }},
		{world.ErrCount, world.Scatter, func() (*kernel.Collective, error) { return Scatter(root, s(5), s(2), 1) }},
		{nil, world.Scatter, func() (*kernel.Collective, error) { return Scatter(other, s(5), s(2), 1) }},
		{world.ErrCount, world.Scatterv, func() (*kernel.Collective, error) { return Scatterv(root, s(5), []int{1, 2, 3}, s(2), 1) }},
		{world.ErrBuffer, world.Scatterv, func() (*kernel.Collective, error) { return Scatterv(root, s(6), []int{1, 2, 3}, s(1), 1) }},
		{world.ErrBuffer, world.Allgather, func() (*kernel.Collective, error) { return Allgather(root, s(2), s(5)) }},
		{world.ErrBuffer, world.Allgatherv, func() (*kernel.Collective, error) { return Allgatherv(root, s(2), s(5), []int{1, 2, 3}) }},
		{world.ErrCount, world.Allgatherv, func() (*kernel.Collective, error) { return Allgatherv(root, s(1), s(6), []int{1, 2, 3}) }},
		{world.ErrCount, world.Alltoall, func() (*kernel.Collective, error) { return Alltoall(root, s(7), s(9)) }},
		{world.ErrBuffer, world.Alltoall, func() (*kernel.Collective, error) { return Alltoall(root, s(9), s(6)) }},
		{world.ErrCount, world.Alltoallv, func() (*kernel.Collective, error) {
			return Alltoallv(root, s(5), []int{1, 2, 3}, s(6), []int{1, 2, 3})
		}},
		{world.ErrBuffer, world.Alltoallv, func() (*kernel.Collective, error) {
			return Alltoallv(root, s(6), []int{1, 2, 3}, s(5), []int{1, 2, 3})
		}},
		{world.ErrBuffer, world.Gather, func() (*kernel.Collective, error) { return Gather(inter, s(2), s(5), world.Root) }},
		{nil, world.Gather, func() (*kernel.Collective, error) { return Gather(inter, s(2), s(6), world.Root) }},
		{nil, world.Gather, func() (*kernel.Collective, error) { return Gather(inter, s(2), nil, 0) }},
		{nil, world.Gatherv, func() (*kernel.Collective, error) { return Gatherv(inter, s(9), s(6), []int{1, 2, 3}, world.Root) }},
		{nil, world.Scatterv, func() (*kernel.Collective, error) { return Scatterv(inter, s(6), []int{1, 2, 3}, nil, world.Root) }},
		{nil, world.Allgather, func() (*kernel.Collective, error) { return Allgather(inter, s(9), s(1)) }},
		{nil, world.Allgatherv, func() (*kernel.Collective, error) { return Allgatherv(inter, s(9), s(6), []int{1, 2, 3}) }},
		{nil, world.Alltoall, func() (*kernel.Collective, error) { return Alltoall(inter, s(9), s(3)) }},
		{world.ErrCount, world.Alltoall, func() (*kernel.Collective, error) { return Alltoall(inter, s(8), s(3)) }},
	} {
		v, err := c.call()
		if (err == nil) != (c.want == nil) || !errors.Is(err, c.want) || v == nil || v.Procedure != c.p {
			t.Errorf("case %d, %v: %v, want %v; it hands in %+v", i, c.p, err, c.want, v)
		}
	}
}

// Each of Go's types stands for the basic datatype of its kind and size; int and uint have 64 bits here.
func TestElementTypes(t *testing.T) {
	type celsius float32
	for _, c := range []struct{ got, want world.ElementType }{
		{elementType[bool](), world.Boolean},
		{elementType[int8](), world.Signed8},
		{elementType[int16](), world.Signed16},
		{elementType[int32](), world.Signed32},
		{elementType[int64](), world.Signed64},
		{elementType[int](), world.Signed64},
		{elementType[uint8](), world.Unsigned8},
		{elementType[uint16](), world.Unsigned16},
		{elementType[uint32](), world.Unsigned32},
		{elementType[uint64](), world.Unsigned64},
		{elementType[uint](), world.Unsigned64},
		{elementType[celsius](), world.Single},
		{elementType[float64](), world.Double},
		{elementType[complex64](), world.ComplexSingle},
		{elementType[complex128](), world.ComplexDouble},
	} {
		if c.got != c.want {
			t.Errorf("%v stands for %v", c.got, c.want)
		}
	}
	buffer := elements[int32](0, 4)
	if !SameMemory(buffer, Elements[int32](Bytes(buffer))) || SameMemory(buffer, buffer[1:]) || len(Bytes(buffer)) != 16 || Bytes(buffer[:0]) != nil || Elements[int32](nil) != nil {
		t.Error("a slice is not its bytes")
	}
}

// MPI 4.1, 6.9.2: the predefined operations on elements, also where the result replaces an operand.
func TestPredefinedOperations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		testOperations(t, rapid.Int8(), map[string]struct {
			op   Op[int8]
			want func(a, b int8) int8
		}{
			"sum": {Sum[int8](), func(a, b int8) int8 { return a + b }}, "prod": {Prod[int8](), func(a, b int8) int8 { return a * b }},
			"max": {Max[int8](), func(a, b int8) int8 { return slices.Max([]int8{a, b}) }}, "min": {Min[int8](), func(a, b int8) int8 { return slices.Min([]int8{a, b}) }},
			"band": {Band[int8](), func(a, b int8) int8 { return a & b }}, "bor": {Bor[int8](), func(a, b int8) int8 { return a | b }}, "bxor": {Bxor[int8](), func(a, b int8) int8 { return a ^ b }},
			"user": {NewOp(false, func(a, b int8) int8 { return a - 3*b }), func(a, b int8) int8 { return a - 3*b }},
		})
		truth := map[bool]int{true: 1}
		logical := func(f func(a, b int) bool) func(a, b bool) bool {
			return func(a, b bool) bool { return f(truth[a], truth[b]) }
		}
		testOperations(t, rapid.Bool(), map[string]struct {
			op   Op[bool]
			want func(a, b bool) bool
		}{
			"land": {Land[bool](), logical(func(a, b int) bool { return a+b == 2 })}, "lor": {Lor[bool](), logical(func(a, b int) bool { return a+b > 0 })},
			"lxor": {Lxor[bool](), logical(func(a, b int) bool { return a+b == 1 })},
		})
		testOperations(t, rapid.SampledFrom([]complex64{0, 1, 2i, -3 + 1i}), map[string]struct {
			op   Op[complex64]
			want func(a, b complex64) complex64
		}{"sum": {Sum[complex64](), func(a, b complex64) complex64 { return a + b }}, "prod": {Prod[complex64](), func(a, b complex64) complex64 { return a * b }}})
	})
	if commutes := NewOp(true, func(a, b int) int { return a + b }); !commutes.operator.Commutative || NewOp(false, func(a, b int) int { return a }).operator.Commutative {
		t.Error("an operation of the program is not as commutative as it says")
	}
}

func testOperations[T Datatype](t *rapid.T, element *rapid.Generator[T], operations map[string]struct {
	op   Op[T]
	want func(a, b T) T
}) {
	left := rapid.SliceOfN(element, 0, 5).Draw(t, "left")
	right := rapid.SliceOfN(element, len(left), len(left)).Draw(t, "right")
	for name, o := range operations {
		want := make([]T, len(left))
		for i := range want {
			want[i] = o.want(left[i], right[i])
		}
		for place := range 3 {
			l, r, into := slices.Clone(left), slices.Clone(right), make([]T, len(left))
			into = [][]T{into, l, r}[place]
			o.op.Combine(into, l, r)
			if fmt.Sprint(into) != fmt.Sprint(want) {
				t.Fatalf("%s of %v and %v is %v, want %v", name, left, right, into, want)
			}
		}
	}
}
