package mpivirt_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/mpivirt"
	"gigarank/vtime"
)

// MPI 4.1, 8.5: a topology takes the first processes of the old communicator; the others get
// MPI_COMM_NULL. A Cartesian one is divided by MPI_CART_SUB. A duplicate has the topology.
func TestTopologiesTakeTheFirstRanks(t *testing.T) {
	for _, engines := range []int{1, 2, 3} {
		err := inside(t, 14, engines, engines == 2, func(r *mpivirt.Rank) error {
			w := r.World()
			cart, err1 := w.CartCreate([]int{4, 3}, []bool{true, false}, true)
			graph, err2 := w.GraphCreate([]int{2, 3, 4, 6}, []int{1, 3, 0, 3, 0, 2}, true)
			point, err3 := w.CartCreate(nil, nil, false)
			if err := errors.Join(err1, err2, err3); err != nil {
				return err
			}
			if (cart == nil) != (r.Rank() >= 12) || (graph == nil) != (r.Rank() >= 4) || (point == nil) != (r.Rank() >= 1) {
				return fmt.Errorf("%v, %v, %v", cart, graph, point)
			}
			if graph != nil {
				dup := must(graph.Dup())
				if want := [][]int{{1, 3}, {0}, {3}, {0, 2}}[r.Rank()]; !slices.Equal(dup.Neighbors().Sources, want) || !slices.Equal(must(dup.NeighborsOf(r.Rank())), want) {
					return fmt.Errorf("%+v, want %v", dup.Neighbors(), want)
				}
			}
			if cart == nil {
				return nil
			}
			if cart.Size() != 12 || cart.Rank() != r.Rank() || !slices.Equal(cart.Coordinates(), []int{r.Rank() / 3, r.Rank() % 3}) {
				return fmt.Errorf("member %d of %d at %v", cart.Rank(), cart.Size(), cart.Coordinates())
			}
			row := must(cart.Sub([]bool{false, true}))
			column := must(must(cart.Dup()).Sub([]bool{true, false}))
			if row.Size() != 3 || row.Rank() != r.Rank()%3 || row.Grid().Periods()[0] || column.Size() != 4 || column.Rank() != r.Rank()/3 || !column.Grid().Periods()[0] {
				return fmt.Errorf("%d of %d in the row, %d of %d in the column", row.Rank(), row.Size(), column.Rank(), column.Size())
			}
			sum := []int{0}
			if err := mpivirt.Allreduce(row.Comm, []int{r.Rank()}, sum, mpivirt.Sum[int]()); err != nil || sum[0] != 9*(r.Rank()/3)+3 {
				return fmt.Errorf("the row of rank %d adds up to %d, %v", r.Rank(), sum[0], err)
			}
			_, down, err := column.Shift(0, 1)
			if err != nil || down != (r.Rank()/3+1)%4 {
				return fmt.Errorf("%d is below, %v", down, err)
			}
			return cart.Free()
		})
		if err != nil {
			t.Errorf("%d engines: %v", engines, err)
		}
	}
}

// A topology that does not fit is an error of the call, on any number of ranks that ask.
func TestFaultyTopologies(t *testing.T) {
	err := inside(t, 3, 2, false, func(r *mpivirt.Rank) error {
		r.SetErrorsReturn(true)
		w := r.World()
		_, large := w.CartCreate([]int{2, 2}, make([]bool, 2), false)
		_, empty := w.CartCreate([]int{0}, make([]bool, 1), false)
		_, edges := w.GraphCreate([]int{1, 0}, []int{1}, false)
		_, rank := w.DistGraphCreateAdjacent([]int{3}, nil, nil, nil, false)
		_, degree := w.DistGraphCreate([]int{0}, []int{1}, nil, nil, false)
		cart := must(w.CartCreate([]int{3}, []bool{true}, false))
		odd := mpivirt.NeighborAlltoall(cart, []int{1, 2, 3}, make([]int, 2))
		counts := mpivirt.NeighborAllgatherv(cart, []int{1}, make([]int, 2), []int{1})
		short := mpivirt.NeighborAlltoallv(cart, []int{1}, []int{1, 1}, make([]int, 2), []int{1, 1})
		same := make([]int, 2)
		shared := mpivirt.NeighborAlltoall(cart, same, same)
		var none *mpivirt.Cart
		null := mpivirt.NeighborAlltoall(none, []int{1}, []int{1})
		for i, c := range []struct {
			err  error
			want mpivirt.ErrorClass
		}{
			{large, mpivirt.ErrTopology}, {empty, mpivirt.ErrDims}, {edges, mpivirt.ErrTopology}, {rank, mpivirt.ErrRank}, {degree, mpivirt.ErrArgument},
			{odd, mpivirt.ErrCount}, {counts, mpivirt.ErrCount}, {short, mpivirt.ErrBuffer}, {shared, mpivirt.ErrBuffer}, {null, mpivirt.ErrComm},
		} {
			if !errors.Is(c.err, c.want) {
				return fmt.Errorf("%d: %v, want %v", i, c.err, c.want)
			}
		}
		err := mpivirt.NeighborAlltoall(cart, []int{1, 2, 3, 4}, make([]int, 2)) // two numbers for one
		if !errors.Is(err, mpivirt.ErrTruncate) {
			return fmt.Errorf("%v, want ErrTruncate", err)
		}
		return w.Barrier()
	})
	if err != nil {
		t.Error(err)
	}
}

// MPI 4.1, 8.5.4: MPI_DIST_GRAPH_CREATE gives each process the edges that lead to it and from
// it, whoever has named them; MPI_DIST_GRAPH_NEIGHBORS returns them with their weights.
func TestDistributedGraphs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(rt, "ranks")
		type edge struct{ by, from, to, weight int }
		var edges []edge
		for range rapid.IntRange(0, 20).Draw(rt, "edges") {
			of := rapid.IntRange(0, n-1)
			edges = append(edges, edge{of.Draw(rt, "by"), of.Draw(rt, "from"), of.Draw(rt, "to"), rapid.IntRange(0, 9).Draw(rt, "weight")})
		}
		weighted := rapid.Bool().Draw(rt, "weighted")
		slices.SortStableFunc(edges, func(a, b edge) int { return a.by - b.by })
		err := inside(t, n, rapid.IntRange(1, 3).Draw(rt, "engines"), false, func(r *mpivirt.Rank) error {
			var sources, degrees, destinations, weights, in, inWeights, out, outWeights []int
			for _, e := range edges {
				if e.by == r.Rank() {
					sources, degrees, destinations, weights = append(sources, e.from), append(degrees, 1), append(destinations, e.to), append(weights, e.weight)
				}
				if e.to == r.Rank() {
					in, inWeights = append(in, e.from), append(inWeights, e.weight)
				}
				if e.from == r.Rank() {
					out, outWeights = append(out, e.to), append(outWeights, e.weight)
				}
			}
			if !weighted {
				weights, inWeights, outWeights = nil, nil, nil
			} else if weights == nil {
				weights = []int{}
			}
			g := must(r.World().DistGraphCreate(sources, degrees, destinations, weights, false))
			got := must(g.Dup()).Neighbors()
			if !slices.Equal(got.Sources, in) || !slices.Equal(got.Destinations, out) || !slices.Equal(got.SourceWeights, inWeights) ||
				!slices.Equal(got.DestinationWeights, outWeights) || (got.SourceWeights != nil) != weighted {
				return fmt.Errorf("rank %d has %+v, want %v %v to %v %v", r.Rank(), got, in, inWeights, out, outWeights)
			}
			received := make([]int, len(in))
			if err := mpivirt.NeighborAllgather(g, []int{r.Rank()}, received); err != nil || !slices.Equal(received, in) {
				return fmt.Errorf("rank %d gets %v, %v; want %v", r.Rank(), received, err, in)
			}
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// MPI 4.1, 8.6.2: in MPI_NEIGHBOR_ALLTOALL on a Cartesian topology the first block of each
// dimension goes to and comes from the negative direction. So a block that is sent in one
// direction is received from the other, also in a periodic dimension of one or two processes
// where both lead to the same; a block for MPI_PROC_NULL is not touched.
func TestNeighborsOfShortDimensions(t *testing.T) {
	for n := 1; n <= 3; n++ {
		for _, periodic := range []bool{true, false} {
			err := inside(t, n, min(n, 2), false, func(r *mpivirt.Rank) error {
				cart := must(r.World().CartCreate([]int{n}, []bool{periodic}, false))
				got := []int{-1, -1}
				if err := mpivirt.NeighborAlltoall(cart, []int{10*r.Rank() + 1, 10*r.Rank() + 2}, got); err != nil {
					return err
				}
				want := []int{10*((r.Rank()+n-1)%n) + 2, 10*((r.Rank()+1)%n) + 1}
				if !periodic && r.Rank() == 0 {
					want[0] = -1
				}
				if !periodic && r.Rank() == n-1 {
					want[1] = -1
				}
				if !slices.Equal(got, want) {
					return fmt.Errorf("rank %d of %d gets %v, want %v", r.Rank(), n, got, want)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
}

// MPI 4.1, 8.6.2, describes MPI_NEIGHBOR_ALLTOALL by MPI_Isend, MPI_Irecv and MPI_Waitall. It
// takes their time under every model, and a receive from any source does not see its messages.
func TestNeighborAlltoallIsIsendIrecvWaitall(t *testing.T) {
	for _, machine := range []string{"xt5", hockney, "loggops-default", "tianhe-1a"} {
		for _, bytes := range []int{8, 70_000} {
			ends := func(engines int, strict bool, body func(cart *mpivirt.Cart, send, receive []byte) error) (ends []vtime.Time) {
				ends = make([]vtime.Time, 12)
				_, err := simulate(t, mpivirt.Config{Target: target(t, machine, 12), Strict: strict, Program: mpivirt.Program{Name: "halo", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
					cart := must(r.World().CartCreate([]int{4, 3}, []bool{true, false}, false))
					r.Compute(us(r.Rank() % 5))
					send, receive := make([]byte, 4*bytes), make([]byte, 4*bytes)
					for i := range send {
						send[i] = byte(r.Rank()*4 + i/bytes)
					}
					for range 2 {
						if err := body(cart, send, receive); err != nil {
							return err
						}
					}
					for i, source := range cart.Neighbors().Sources {
						if source != mpivirt.ProcNull && receive[(i+1)*bytes-1] != byte(source*4+i^1) {
							return fmt.Errorf("block %d of rank %d is of %d", i, r.Rank(), receive[i*bytes])
						}
					}
					ends[r.Rank()] = r.Now()
					return nil
				})}}}, engines)
				if err != nil {
					t.Errorf("%s, %d bytes, %d engines: %v", machine, bytes, engines, err)
				}
				return ends
			}
			plain := ends(1, false, func(cart *mpivirt.Cart, send, receive []byte) error {
				var requests []mpivirt.Request
				n := cart.Neighbors()
				for i, source := range n.Sources {
					requests = append(requests, must(mpivirt.Irecv(cart.Comm, receive[i*bytes:(i+1)*bytes], source, i^1)))
				}
				for i, destination := range n.Destinations {
					requests = append(requests, must(mpivirt.Isend(cart.Comm, send[i*bytes:(i+1)*bytes], destination, i)))
				}
				_, err := mpivirt.Waitall(requests)
				return err
			})
			blocking := func(cart *mpivirt.Cart, send, receive []byte) error {
				return mpivirt.NeighborAlltoall(cart, send, receive)
			}
			nonblocking := func(cart *mpivirt.Cart, send, receive []byte) error {
				q := must(mpivirt.IneighborAlltoall(cart, send, receive))
				any, found, err := cart.Iprobe(mpivirt.AnySource, mpivirt.AnyTag)
				if found || err != nil {
					return fmt.Errorf("a probe finds %v, %v", any, err)
				}
				_, err = q.Wait()
				return err
			}
			for engines := 1; engines <= 3; engines++ {
				if got := ends(engines, engines == 3, blocking); !slices.Equal(got, plain) {
					t.Errorf("%s, %d bytes, %d engines: ends at %v, point to point at %v", machine, bytes, engines, got, plain)
				}
			}
			ends(2, false, nonblocking)
		}
	}
}

// A member may be its own neighbour, several times, and wait for large messages to itself.
func TestNeighborhoodWithItself(t *testing.T) {
	for _, machine := range []string{"xt5", hockney, "loggops-default"} {
		for _, count := range []int{1, 50_000} {
			for engines := 1; engines <= 2; engines++ {
				_, err := simulate(t, mpivirt.Config{Target: target(t, machine, 4), Strict: engines == 2, Program: mpivirt.Program{Name: "self", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
					me, other := r.Rank(), (r.Rank()+2)%4
					g := must(r.World().DistGraphCreateAdjacent([]int{me, other, me}, nil, []int{me, me, other}, nil, false))
					send, receive := make([]int, 3*count), make([]int, 3*count)
					for i := range send {
						send[i] = 10*me + i/count
					}
					for range 2 {
						q := must(mpivirt.IneighborAlltoall(g, send, receive))
						if _, err := mpivirt.Waitall([]mpivirt.Request{q}); err != nil {
							return err
						}
						if got, want := []int{receive[0], receive[count], receive[2*count]}, []int{10 * me, 10*other + 2, 10*me + 1}; !slices.Equal(got, want) {
							return fmt.Errorf("rank %d gets %v, want %v", me, got, want)
						}
					}
					return nil
				})}}}, engines)
				if err != nil {
					t.Errorf("%s, %d numbers, %d engines: %v", machine, count, engines, err)
				}
			}
		}
	}
}

// The error of a call that does not match names the call, also one that goes like another, on one engine and on several.
func TestMismatchNamesTheCall(t *testing.T) {
	for name, call := range map[string]func(c *mpivirt.Comm) error{
		"CartCreate":  func(c *mpivirt.Comm) error { _, err := c.CartCreate([]int{3}, []bool{true}, false); return err },
		"GraphCreate": func(c *mpivirt.Comm) error { _, err := c.GraphCreate([]int{1, 2, 2}, []int{1, 0}, false); return err },
		"DistGraphCreateAdjacent": func(c *mpivirt.Comm) error {
			_, err := c.DistGraphCreateAdjacent(nil, nil, nil, nil, false)
			return err
		},
		"DistGraphCreate": func(c *mpivirt.Comm) error { _, err := c.DistGraphCreate(nil, nil, nil, nil, false); return err },
		"Comm.Create":     func(c *mpivirt.Comm) error { _, err := c.Create(c.Group()); return err },
		"Comm.Dup":        func(c *mpivirt.Comm) error { _, err := c.Dup(); return err },
	} {
		for _, engines := range []int{1, 3} {
			_, err := simulate(t, mpivirt.Config{Target: target(t, hockney, 3), Program: mpivirt.Program{Name: "mismatch", Forms: []mpivirt.Form{
				mpivirt.Main(func(r *mpivirt.Rank) error {
					if r.Rank() == 0 {
						return call(r.World())
					}
					return r.World().Barrier()
				})}}}, engines)
			if want := ": MPI_ERR_OTHER: " + name + ", but rank 1 calls Barrier as collective 0 on WORLD"; err == nil || !strings.Contains(err.Error(), "in "+name+", called in ") || !strings.Contains(err.Error(), want) {
				t.Errorf("%d engines: ended with %v, want %q", engines, err, want)
			}
		}
	}
}
