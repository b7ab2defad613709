package measurements

import (
	"errors"

	"gigarank/collectives"
	"gigarank/mpivirt"
)

// part is one of the operations that a library calls in turn for another operation. No operation is the zero value: the library
// calls one.
type part struct {
	Operation collectives.Operation
	Bytes     int64
	Linear    bool // the library has nothing else for it; else it chooses
	Any       bool // there is such an operation
}

// composition is an algorithm that calls other collectives of the communicator, whose algorithms the library chooses.
type composition struct {
	operation, name string
	when            func(r *Row) bool
	messages        bool // by messages even where the network carries out the operations
	parts           func(r *Row) [2]part
	agrees          bool // the ranks agree first that the algorithm suits the call
}

// joined returns the bytes of the blocks of all ranks.
func (r *Row) joined() int64 { return r.Bytes * int64(r.Nodes) * int64(r.PerNode) }

var compositions = []composition{
	// coll_base_allreduce.c, ompi_coll_base_allreduce_intra_nonoverlapping. Those of 4 and 32 bytes on 8 nodes of Fugaku take as long as
	// a binomial reduce and bcast, not as those of its network.
	{"allreduce", "reduce-bcast", (*Row).ofOpenMPI, true, func(r *Row) [2]part {
		return [2]part{called(collectives.Reduce, r.Bytes), called(collectives.Bcast, r.Bytes)}
	}, false},
	// rdbc of Fujitsu MPI, by its log of decisions in the archive of the source.
	{"allreduce", "rdbc", (*Row).ofFujitsu, true, func(r *Row) [2]part {
		return [2]part{called(collectives.Reduce, r.Bytes), called(collectives.Bcast, r.Bytes)}
	}, true},
	// coll_base_reduce_scatter.c, ompi_coll_base_reduce_scatter_intra_nonoverlapping: a reduce to rank 0 and a scatterv.
	{"reduce_scatter", "reduce-scatterv", (*Row).ofOpenMPI, false, func(r *Row) [2]part {
		return [2]part{called(collectives.Reduce, r.joined()), {collectives.Scatter, r.Bytes, true, true}}
	}, false},
	// coll_base_allgather.c, ompi_coll_base_allgather_intra_basic_linear calls coll_gather and coll_bcast of the communicator. So does gtbc
	// of Fujitsu MPI, by its log of decisions.
	{"allgather", "linear", (*Row).ofOpenMPI, false, gatherAndBcast, false},
	{"allgather", "gtbc", (*Row).ofFujitsu, false, gatherAndBcast, true},
	// use-bcast of Fujitsu MPI: all ranks get all blocks. So says its log of decisions.
	{"scatter", "use-bcast", (*Row).ofFujitsu, false, func(r *Row) [2]part {
		return [2]part{called(collectives.Bcast, r.joined())}
	}, false},
	// Six trees want three nodes in each dimension; the library chooses another algorithm on 2·2·2.
	{"bcast", "torus-trees:fanout=6", (*Row).ofFujitsuCube, true, chosen(collectives.Bcast), false},
	{"allreduce", "torus-trees:fanout=6", (*Row).ofFujitsuCube, true, chosen(collectives.Allreduce), false},
	{"reduce", "torus-trees:fanout=6", (*Row).ofFujitsuCube, true, chosen(collectives.Reduce), false},
	// Neither suits a torus of 2·2·2, 4·4·4 or 8·8·8, by their times: at all 23 points they take as long as the library's choice.
	{"alltoall", "crp", (*Row).ofFujitsu, false, chosen(collectives.Alltoall), false},
	{"alltoall", "blacc6d", (*Row).ofFujitsu, false, chosen(collectives.Alltoall), false},
	// A name that the library does not know, see exceptions.
	{"bcast", "linear", func(r *Row) bool { return r.unknownToFujitsu() && !r.ofFujitsuByMessages() }, false, chosen(collectives.Bcast), false},
}

// ofFujitsuCube reports whether the row is of Fujitsu MPI on 8 nodes, 2·2·2.
func (r *Row) ofFujitsuCube() bool { return r.ofFujitsu() && r.Nodes <= 8 }

// chosen is a call of the same operation whose algorithm the library chooses.
func chosen(op collectives.Operation) func(r *Row) [2]part {
	return func(r *Row) [2]part { return [2]part{called(op, r.Bytes)} }
}

func called(op collectives.Operation, bytes int64) part {
	return part{Operation: op, Bytes: bytes, Any: true}
}

func gatherAndBcast(r *Row) [2]part {
	return [2]part{called(collectives.Gather, r.Bytes), called(collectives.Bcast, r.joined())}
}

// compose makes the point of a row that of the operations which the library calls, and reports whether it calls any.
func (p *Point) compose(r *Row, name string) (bool, error) {
	for _, c := range compositions {
		if c.operation != r.Operation || c.name != name || !c.when(r) {
			continue
		}
		if p.Statistic != LastExit {
			return true, errors.New("the mean over ranks of two operations in turn is not simulated")
		}
		parts := c.parts(r)
		p.Operation, p.Bytes, p.Then, p.Messages = parts[0].Operation, parts[0].Bytes, parts[1], c.messages
		p.Agrees, p.AgreesByMessages = c.agrees, c.agrees && r.ofFujitsuByMessages()
		return true, nil
	}
	return false, nil
}

// parts returns the operations of the point, in turn.
func (p *Point) parts() []part {
	var all []part
	if p.Agrees {
		all = append(all, called(collectives.Barrier, 0))
	}
	all = append(all, called(p.Operation, p.Bytes))
	if p.Then.Any {
		all = append(all, p.Then)
	}
	return all
}

// algorithms names those algorithms of a composed point that the library does not choose.
func (p *Point) algorithms(c *mpivirt.Config) map[collectives.Operation]collectives.Algorithm {
	named := map[collectives.Operation]collectives.Algorithm{}
	if p.AgreesByMessages {
		named[collectives.Barrier] = collectives.RecursiveDoubling
	}
	if p.Named {
		named[p.Operation] = p.Algorithm
		return named
	}
	for _, of := range p.parts() {
		switch {
		case of.Linear:
			named[of.Operation] = collectives.Linear
		case of.Operation != collectives.Barrier && p.Messages && c.AlgorithmFor(of.Operation, of.Bytes, 0) == collectives.Offload:
			named[of.Operation] = collectives.Binomial
		}
	}
	return named
}
