package typed

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/topology"
	"gigarank/mpivirt/internal/world"
)

// deliver moves the messages of all members' exchanges: those from one member to another with one tag arrive in order.
func deliver(t *rapid.T, exchanges []kernel.Exchange) {
	type route struct{ from, to, tag int }
	sent := map[route][][]byte{}
	for m := range exchanges {
		for _, s := range exchanges[m].Sends {
			if s.Peer != world.ProcNull {
				sent[route{m, s.Peer, s.Tag}] = append(sent[route{m, s.Peer, s.Tag}], s.Buffer)
			}
		}
	}
	for m := range exchanges {
		for _, r := range exchanges[m].Receives {
			if r.Peer == world.ProcNull {
				continue
			}
			at := route{r.Peer, m, r.Tag}
			if len(sent[at]) == 0 || len(sent[at][0]) != int(r.Bytes) || len(r.Buffer) != int(r.Bytes) {
				t.Fatalf("member %d receives %d bytes from %d with tag %d; there are %v", m, r.Bytes, r.Peer, r.Tag, sent[at])
			}
			copy(r.Buffer, sent[at][0])
			sent[at] = sent[at][1:]
		}
	}
	for at, left := range sent {
		if len(left) > 0 {
			t.Fatalf("%d messages from %d to %d with tag %d are not received", len(left), at.from, at.to, at.tag)
		}
	}
}

// MPI 4.1, 8.6: on a grid a member has two neighbours in each dimension, first the one below and then the one above, also where
// both are the same or itself. The block that it receives from below is the one that its neighbour there has sent
// upwards, and the other way round.
func TestNeighboursOnGrids(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dims := rapid.SliceOfN(rapid.IntRange(1, 3), 1, 3).Draw(t, "dims")
		periods := rapid.SliceOfN(rapid.Bool(), len(dims), len(dims)).Draw(t, "periods")
		grid, err := topology.NewGrid(dims, periods)
		if err != nil {
			t.Fatal(err)
		}
		n, sides, size := grid.Members(), 2*len(dims), rapid.IntRange(0, 2).Draw(t, "elements")
		each := slices.Repeat([]int{size}, sides)
		gather, alltoall := make([]kernel.Exchange, n), make([]kernel.Exchange, n)
		gathered, exchanged := make([][]int32, n), make([][]int32, n)
		counted := rapid.Bool().Draw(t, "counts")
		for m := range n {
			neighbors, one, all := grid.Neighbors(m), elements[int32](m, size), elements[int32](m, size*sides)
			gathered[m], exchanged[m] = make([]int32, size*sides), make([]int32, size*sides)
			var err1, err2 error
			if counted {
				gather[m], err1 = NeighborAllgatherv(neighbors, one, gathered[m], each)
				alltoall[m], err2 = NeighborAlltoallv(neighbors, all, each, exchanged[m], each)
			} else {
				gather[m], err1 = NeighborAllgather(neighbors, one, gathered[m])
				alltoall[m], err2 = NeighborAlltoall(neighbors, all, exchanged[m])
			}
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
		}
		deliver(t, gather)
		deliver(t, alltoall)
		for m := range n {
			for side := range sides {
				below, above, err := grid.Shift(m, side/2, 1)
				if err != nil {
					t.Fatal(err)
				}
				peer := []int{below, above}[side%2]
				want, wantAll := make([]int32, size), make([]int32, size)
				if peer != world.ProcNull {
					want = elements[int32](peer, size)
					wantAll = elements[int32](peer, size*sides)[(side^1)*size:][:size]
				}
				if got := gathered[m][side*size:][:size]; !slices.Equal(got, want) {
					t.Fatalf("member %d of %v gathers %v at side %d, want %v", m, dims, got, side, want)
				}
				if got := exchanged[m][side*size:][:size]; !slices.Equal(got, wantAll) {
					t.Fatalf("member %d of %v receives %v at side %d, want %v", m, dims, got, side, wantAll)
				}
			}
		}
	})
}

// MPI 4.1, 8.6: on a distributed graph a member receives from its sources, in their order, and sends to its
// destinations, blocks of different lengths if there are counts.
func TestNeighboursOfGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "members")
		sources, destinations := make([][]int, n), make([][]int, n)
		for range rapid.IntRange(0, 8).Draw(t, "edges") {
			from, to := rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")
			destinations[from], sources[to] = append(destinations[from], to), append(sources[to], from)
		}
		size := func(from, to int) int { return (from + 2*to) % 3 }
		exchanges, received := make([]kernel.Exchange, n), make([][]int32, n)
		for m := range n {
			neighbors, err := topology.NewNeighbors(n, sources[m], nil, destinations[m], nil)
			if err != nil {
				t.Fatal(err)
			}
			var in, out []int
			var send []int32
			for _, from := range sources[m] {
				in = append(in, size(from, m))
			}
			for _, to := range destinations[m] {
				out = append(out, size(m, to))
				send = append(send, slices.Repeat([]int32{int32(10*m + to)}, size(m, to))...)
			}
			received[m] = make([]int32, sumOf(in))
			if exchanges[m], err = NeighborAlltoallv(neighbors, send, out, received[m], in); err != nil {
				t.Fatal(err)
			}
		}
		deliver(t, exchanges)
		for m := range n {
			var want []int32
			for _, from := range sources[m] {
				want = append(want, slices.Repeat([]int32{int32(10*from + m)}, size(from, m))...)
			}
			if !slices.Equal(received[m], want) {
				t.Fatalf("member %d receives %v from %v, want %v", m, received[m], sources[m], want)
			}
		}
	})
}

// Lengths that do not fit the neighbours are an error of the caller, as are buffers that overlap (MPI 4.1, 6.2.3).
func TestLengthsOfNeighbours(t *testing.T) {
	two, err := topology.NewNeighbors(3, []int{1, 2}, nil, []int{1, 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := func(n int) []int32 { return make([]int32, n) }
	shared := s(8)
	for i, c := range []struct {
		want error
		call func() (kernel.Exchange, error)
	}{
		{nil, func() (kernel.Exchange, error) { return NeighborAlltoall(two, s(4), s(4)) }},
		{world.ErrCount, func() (kernel.Exchange, error) { return NeighborAlltoall(two, s(3), s(4)) }},
		{world.ErrCount, func() (kernel.Exchange, error) { return NeighborAlltoall(two, s(4), s(5)) }},
		{world.ErrCount, func() (kernel.Exchange, error) { return NeighborAllgather(two, s(4), s(5)) }},
		{world.ErrCount, func() (kernel.Exchange, error) { return NeighborAllgatherv(two, s(4), s(8), []int{4}) }},
		{world.ErrCount, func() (kernel.Exchange, error) { return NeighborAllgatherv(two, s(4), s(8), []int{4, -1}) }},
		{world.ErrBuffer, func() (kernel.Exchange, error) { return NeighborAllgatherv(two, s(4), s(7), []int{4, 4}) }},
		{world.ErrBuffer, func() (kernel.Exchange, error) {
			return NeighborAlltoallv(two, s(4), []int{3, 2}, s(8), []int{4, 4})
		}},
		{world.ErrBuffer, func() (kernel.Exchange, error) { return NeighborAllgather(two, shared[:3], shared[2:]) }},
		{nil, func() (kernel.Exchange, error) { return NeighborAllgather(two, shared[:2], shared[2:]) }},
	} {
		if _, err := c.call(); (err == nil) != (c.want == nil) || !errors.Is(err, c.want) {
			t.Errorf("case %d: %v, want %v", i, err, c.want)
		}
	}
}
