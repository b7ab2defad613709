package mpivirt_test

import (
	"fmt"
	"maps"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
)

// librarySizes is a library that takes linear trees up to 16 bytes and binomial trees above, for the
// allreduce an algorithm by the ranks of a node, and for MPI_Reduce_scatter_block another than for MPI_Reduce_scatter.
type librarySizes struct{}

func (librarySizes) Name() string                          { return "by size" }
func (librarySizes) ByNodes(op collectives.Operation) bool { return op == collectives.Allreduce }

func (librarySizes) Choose(q collectives.Question) collectives.Algorithm {
	switch {
	case q.Operation == collectives.Allreduce && !q.Commutative:
		return collectives.Linear
	case q.Operation == collectives.Allreduce && q.PerNode > 1:
		return collectives.NodeLeader
	case q.Operation == collectives.Allreduce:
		return collectives.Rabenseifner
	case q.Operation == collectives.ReduceScatter && q.EqualBlocks:
		return collectives.Linear
	case q.Operation == collectives.ReduceScatter:
		return collectives.Pairwise
	case q.Operation == collectives.Bcast && q.Bytes > 16:
		return collectives.Binomial
	case q.Operation == collectives.Bcast:
		return collectives.Linear
	}
	return collectives.Default(q.Operation)
}

// A call that a library decides about takes the time of the same call by the named algorithm.
func TestLibraryChoosesByCall(t *testing.T) {
	const ranks, perNode = 12, 4
	machine := fmt.Sprintf("name: nodes\nranks_per_node: %d\nnetwork: {model: twolevel, intra: {latency: 100ns, bandwidth: 1GB/s}, inter: {latency: 1us, bandwidth: 1GB/s}, reduce: {bandwidth: 2GB/s}}\n", perNode)
	bcast := func(bytes int) func(c *mpivirt.Comm) error {
		return func(c *mpivirt.Comm) error { return mpivirt.Bcast(c, make([]byte, bytes), 0) }
	}
	sum := func(c *mpivirt.Comm) error {
		return mpivirt.Allreduce(c, []float64{1, 2}, make([]float64, 2), mpivirt.Sum[float64]())
	}
	// Every second rank: two of each node, which lie together.
	half := func(call func(c *mpivirt.Comm) error) func(c *mpivirt.Comm) error {
		return func(c *mpivirt.Comm) error {
			part, err := c.Split(c.Rank()%2, 0)
			if err != nil {
				return err
			}
			return call(part)
		}
	}
	// The ranks in another order: those of a node are not consecutive.
	apart := func(call func(c *mpivirt.Comm) error) func(c *mpivirt.Comm) error {
		return func(c *mpivirt.Comm) error {
			part, err := c.Split(0, c.Rank()%perNode)
			if err != nil {
				return err
			}
			return call(part)
		}
	}
	for _, c := range []struct {
		name string
		op   collectives.Operation
		a    collectives.Algorithm
		call func(c *mpivirt.Comm) error
	}{
		{"short bcast", collectives.Bcast, collectives.Linear, bcast(16)},
		{"long bcast", collectives.Bcast, collectives.Binomial, bcast(17)},
		{"allreduce", collectives.Allreduce, collectives.NodeLeader, sum},
		{"reduce_scatter", collectives.ReduceScatter, collectives.Pairwise, func(c *mpivirt.Comm) error {
			counts := make([]int, c.Size())
			counts[1], counts[2] = 3, 1
			return mpivirt.ReduceScatter(c, make([]float64, 4), make([]float64, counts[c.Rank()]), counts, mpivirt.Sum[float64]())
		}},
		{"reduce_scatter of equal blocks", collectives.ReduceScatter, collectives.Linear, func(c *mpivirt.Comm) error {
			return mpivirt.ReduceScatterBlock(c, make([]float64, 5*c.Size()), make([]float64, 5), mpivirt.Sum[float64]())
		}},
		{"nonblocking reduce_scatter of equal blocks", collectives.ReduceScatter, collectives.Linear, func(c *mpivirt.Comm) error {
			q, err := mpivirt.IreduceScatterBlock(c, make([]float64, 5*c.Size()), make([]float64, 5), mpivirt.Sum[float64]())
			if err != nil {
				return err
			}
			_, err = q.Wait()
			return err
		}},
		{"allreduce of half the ranks", collectives.Allreduce, collectives.NodeLeader, half(sum)},
		{"allreduce of ranks out of order", collectives.Allreduce, collectives.Rabenseifner, apart(sum)},
	} {
		for engines := 1; engines <= 2; engines++ {
			config := func(a map[collectives.Operation]collectives.Algorithm, l collectives.Library) mpivirt.Config {
				if l == nil { // the library gathers the colors of a split by the default
					a = maps.Clone(a)
					a[collectives.Allgather] = collectives.Default(collectives.Allgather)
				}
				return mpivirt.Config{Target: target(t, machine, ranks), Algorithms: a, Library: l,
					Program: mpivirt.Program{Name: "one", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return c.call(r.World()) })}}}
			}
			want, err := simulate(t, config(map[collectives.Operation]collectives.Algorithm{c.op: c.a}, nil), engines)
			if err != nil {
				t.Fatal(err)
			}
			got, err := simulate(t, config(nil, librarySizes{}), engines)
			if err != nil {
				t.Fatal(err)
			}
			if got.Fingerprint != want.Fingerprint {
				t.Errorf("%s, %d engines: by the library until %v, by %v until %v", c.name, engines, got.VirtualTime, c.a, want.VirtualTime)
			}
			// An algorithm that was chosen goes before the library.
			chosen, err := simulate(t, config(map[collectives.Operation]collectives.Algorithm{c.op: collectives.Binomial}, librarySizes{}), engines)
			if err != nil {
				t.Fatal(err)
			}
			plain, err := simulate(t, config(map[collectives.Operation]collectives.Algorithm{c.op: collectives.Binomial}, nil), engines)
			if err != nil {
				t.Fatal(err)
			}
			if chosen.Fingerprint != plain.Fingerprint {
				t.Errorf("%s, %d engines: binomial with a library until %v, without until %v", c.name, engines, chosen.VirtualTime, plain.VirtualTime)
			}
		}
	}
}
