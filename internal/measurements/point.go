package measurements

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gigarank/collectives"
	"gigarank/collectives/library"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/network"
	"gigarank/sync"
	"gigarank/vtime"
)

// Statistic is the sense in which one figure stands for the times of all ranks; see the package's rule.
type Statistic uint8

// The statistics.
const (
	LastExit   Statistic = iota // from the common entry to the last exit
	MeanExit                    // the mean over the ranks of the time from a rank's own entry, after a barrier
	FirstExit                   // the least of these times
	BackToBack                  // the mean of iterations that follow each other without a barrier
)

var statisticNames = []string{"last exit", "mean over ranks", "first exit", "back to back"}

// String returns the name in reports.
func (s Statistic) String() string { return statisticNames[s] }

// statisticOf returns the sense of a benchmark's figure.
func statisticOf(op collectives.Operation, text string) (Statistic, error) {
	words := strings.ToLower(text)
	has := func(some ...string) bool {
		return slices.ContainsFunc(some, func(word string) bool { return strings.Contains(words, word) })
	}
	switch average := has("avg", "average", "mean"); {
	case has("imb", "nccl-tests"), average && op == collectives.Barrier:
		return BackToBack, nil
	case words == "", has("max"):
		return LastExit, nil
	case average:
		return MeanExit, nil
	case has("min"):
		return FirstExit, nil
	}
	return 0, fmt.Errorf("the statistic %q has none of the words max, avg, min, imb and nccl-tests", text)
}

// Point is a collective to simulate.
type Point struct {
	Operation collectives.Operation
	Algorithm collectives.Algorithm // if Named
	Named     bool                  // else the library chooses
	Library   collectives.Library   // nil for the default of the machine
	Nodes     int
	PerNode   int
	Ranks     int // 0: all nodes are full
	Bytes     int64
	Statistic Statistic
	Then      part // the operation that follows, if the library calls two in turn
	Messages  bool // the library does not have the network carry the operations out
	Agrees    bool // the ranks agree before, as by a barrier
	// AgreesByMessages is whether the barrier network has no part in that.
	AgreesByMessages bool
}

// sameBlocks are operations whose blocks may differ, with the operation on equal blocks that takes as long.
var sameBlocks = map[string]struct {
	op collectives.Operation
	as collectives.Operation // whose default is the algorithm
}{
	"gatherv":    {collectives.Gather, collectives.Gatherv},
	"scatterv":   {collectives.Scatter, collectives.Scatterv},
	"allgatherv": {collectives.Allgather, collectives.Allgatherv},
	"alltoallv":  {collectives.Alltoall, collectives.Alltoallv},
}

// synonyms are names of algorithms in other libraries, with those of gigarank, for all operations or for
// one, as in allreduce/nonoverlapping. Names that differ only in dashes and underscores, or in the name of the library,
// need no entry.
var synonyms = map[string]string{
	// Open MPI, and Fujitsu MPI, which is made of it.
	"basic-linear":                   "linear",
	"modified-bruck":                 "bruck",
	"neighbor":                       "neighbor-exchange",
	"binary-tree":                    "binary",
	"split-binary-tree":              "split-binary",
	"in-order":                       "in-order-binary",
	"linear-synch":                   "linear-sync",
	"linear-nb":                      "linear-nonblocking",
	"segmented-ring":                 "ring-segmented",
	"two-proc":                       "recursive-doubling",
	"barrier/tree":                   "binomial",
	"allreduce/nonoverlapping":       "reduce-bcast",
	"allreduce/tree":                 "double-tree",
	"allreduce/nvlstree":             "nvls-tree",
	"nvls":                           "offload",
	"nvls-off":                       "ring",
	"reduce_scatter/non-overlapping": "reduce-scatterv",
	// Fujitsu MPI; segments of trees depend on the size, see segmentOf.
	"trinaryx3":     "torus-trees:fanout=3",
	"trix3":         "torus-trees:fanout=3",
	"trinaryx6":     "torus-trees:fanout=6",
	"trix6":         "torus-trees:fanout=6",
	"3dtorus":       "torus-rings",
	"gather/simple": "torus-direct",
	"doublespread":  "torus-spread",
	// MPICH.
	"brucks": "bruck",
}

// suffixes are what sources add to the name of an algorithm: the library it is from, or that it is
// written over point to point.
var suffixes = []string{"_ompi", "_mpich", "_over"}

const (
	byLibrary      = "default" // the library chose
	prefixOfTuning = "default-"
)

// algorithmName returns the name of an algorithm of an operation as gigarank writes names, or "" if the library
// chose.
func algorithmName(operation, text string) string {
	name, _, _ := strings.Cut(text, "(")
	name = strings.ToLower(strings.TrimSpace(name))
	for _, suffix := range suffixes {
		name = strings.TrimSuffix(name, suffix)
	}
	name = strings.NewReplacer("_", "-", " ", "-").Replace(name)
	name = strings.TrimPrefix(name, prefixOfTuning)
	if name == byLibrary {
		return ""
	}
	return cmp.Or(synonyms[operation+"/"+name], synonyms[name], name)
}

// exception is a case in which a library does something else under a name than gigarank.
type exception struct {
	operation, name string
	when            func(r *Row) bool
	as              string // the algorithm that it uses then
}

// elementBytes is the size of the elements of which PICO and the OSU micro-benchmarks make vectors, int32 and float.
const elementBytes = 4

var exceptions = []exception{
	// coll_base_alltoall.c, ompi_coll_base_alltoall_intra_basic_linear: all receives and sends are posted, then waited for, in the
	// order of linear_sync, which has all messages under way unless a number is given.
	{"alltoall", "linear", (*Row).ofOpenMPI, "linear-sync"},
	// A vector of one element cannot be split: Fujitsu MPI takes chain, by its times.
	{"bcast", "split-binary", (*Row).ofFujitsuOneElement, "chain"},
	// Of calls by a name that Fujitsu MPI does not know, those without the barrier network take as long as chain and split-binary.
	{"bcast", "linear", func(r *Row) bool { return r.unknownToFujitsu() && r.ofFujitsuOneElement() }, "chain"},
	{"bcast", "linear", func(r *Row) bool { return r.unknownToFujitsu() && r.ofFujitsuByMessages() }, "split-binary"},
	// coll_base_bcast.c, ompi_coll_base_bcast_intra_basic_linear: the root sends to all at once and waits.
	{"bcast", "linear", (*Row).ofOpenMPI, "linear-nonblocking"},
	// Segments of the script that ran them. Shorter vectors are one segment.
	{"reduce", "in-order-binary", (*Row).ofFujitsu, "in-order-binary:64KiB"},
	{"reduce", "binary", (*Row).ofFujitsu, "binary:32KiB"},
	// NVLS among several nodes is a tree of them: only the switches of a node sum vectors up.
	{"allreduce", "offload", func(r *Row) bool { return r.ofNCCL() && r.Nodes > 1 }, "nvls-tree"},
}

// ofOpenMPI reports whether the row is of Open MPI or of Fujitsu MPI, which is made of it, and the algorithm is
// the library's.
func (r *Row) ofOpenMPI() bool {
	library := strings.ReplaceAll(strings.ToLower(r.Library), " ", "")
	known := strings.Contains(library, "ompi") || strings.Contains(library, "openmpi") || strings.HasPrefix(library, "fjmpi")
	return (known || strings.HasSuffix(r.Algorithm, "_ompi")) && !strings.HasSuffix(r.Algorithm, "_over")
}

// ofFujitsu reports whether the row is of Fujitsu MPI.
func (r *Row) ofFujitsu() bool {
	return strings.HasPrefix(strings.ToLower(strings.ReplaceAll(r.Library, " ", "")), "fjmpi")
}

// leastOffloaded is the number of elements up to which the source's scripts take the barrier network from the algorithms of bcast, reduce and
// allreduce of Fujitsu MPI that they name.
const leastOffloaded = 12

// ofFujitsuByMessages reports whether Fujitsu MPI was denied its barrier network.
func (r *Row) ofFujitsuByMessages() bool {
	reduces := r.Operation == "bcast" || r.Operation == "reduce" || r.Operation == "allreduce"
	return r.ofFujitsu() && r.names() && reduces && r.Bytes <= leastOffloaded*elementBytes
}

// unknownToFujitsu reports whether Fujitsu MPI was told a name that it does not know, and chose the algorithm itself: basic-linear in place of
// basic_linear, by its messages in all archives of the source but one.
func (r *Row) unknownToFujitsu() bool {
	return r.ofFujitsu() && strings.HasSuffix(r.Algorithm, "basic-linear") && !strings.Contains(r.Source, "2025_04_12___03_23_58")
}

func (r *Row) ofFujitsuOneElement() bool { return r.ofFujitsu() && r.Bytes <= elementBytes }

// segmentOf returns the argument that is the segment of trees in Fujitsu MPI: those of its own file of rules, which the scripts of the source
// repeat for reduce and allreduce, and its log of decisions shows for bcast.
func (r *Row) segmentOf() string {
	long := int64(6 << 20)
	if r.Operation == "bcast" {
		long = 32 << 20
	}
	switch {
	case r.Operation != "allreduce" && r.Bytes <= 24<<10:
		return ""
	case r.Bytes <= 384<<10:
		return ":4KiB"
	case r.Bytes <= long:
		return ":16KiB"
	}
	return ":64KiB"
}

// ofNCCL reports whether the row is of NCCL.
func (r *Row) ofNCCL() bool { return strings.Contains(strings.ToLower(r.Library), "nccl") }

// names reports whether the row names the algorithm.
func (r *Row) names() bool { return algorithmName(r.Operation, r.Algorithm) != "" }

// PointOf returns the point of a row, or why there is none.
func PointOf(r *Row) (Point, error) {
	p := Point{Nodes: r.Nodes, PerNode: r.PerNode, Bytes: r.Bytes}
	var err error
	if equal, ok := sameBlocks[r.Operation]; ok {
		p.Operation, p.Algorithm, p.Named = equal.op, collectives.Default(equal.as), true
	} else {
		all := collectives.Operations()
		at := slices.IndexFunc(all, func(op collectives.Operation) bool { return op.String() == r.Operation })
		if at < 0 {
			return p, fmt.Errorf("gigarank has no operation %s", r.Operation)
		}
		p.Operation = all[at]
	}
	if p.Statistic, err = statisticOf(p.Operation, r.Statistic); err != nil {
		return p, err
	}
	if name := algorithmName(r.Operation, r.Algorithm); name != "" {
		if composed, err := p.compose(r, name); composed {
			return p, err
		}
		p.Named = true
		for _, e := range exceptions {
			if e.operation == r.Operation && e.name == name && e.when(r) {
				name = e.as
			}
		}
		if base, fanout, trees := strings.Cut(name, ":fanout="); trees && base == "torus-trees" && r.ofFujitsu() {
			name = base + r.segmentOf() + ":fanout=" + fanout
		}
		if p.Algorithm, err = collectives.ParseAlgorithm(p.Operation, name); err != nil {
			return p, fmt.Errorf("gigarank has no algorithm %s of %s", name, p.Operation)
		}
		if p.Algorithm.AlongTorus() {
			p.Agrees = r.ofFujitsuByMessages()
			p.AgreesByMessages = p.Agrees
			return p, nil
		}
		if r.ofOpenMPI() {
			return p, p.fallBack(openMPI)
		}
	}
	return p, nil
}

// openMPI is the library whose fallbacks rows of Open MPI show.
const openMPI = "openmpi-4.1"

// fallBack replaces the algorithm of the point by the one that a library runs when it is told the algorithm.
func (p *Point) fallBack(name string) error {
	table, err := library.Named(name)
	if err != nil {
		return err
	}
	p.Algorithm = table.Runs(collectives.Question{
		Operation: p.Operation, Ranks: p.Nodes * p.PerNode, PerNode: p.PerNode, Bytes: p.Bytes, Commutative: true, ElementBytes: elementBytes,
	}, p.Algorithm)
	return nil
}

// Iterations back to back: the first ones fill the pipeline of a tree, the others count.
const (
	warmIterations    = 4
	countedIterations = 8
)

// jitteredSeeds is the number of seeds whose median counts where the machine has jitter.
const jitteredSeeds = 9

// Where ranks are interrupted the mean of many iterations counts, since each is another one. The more nodes, the more interruptions an
// iteration has, so that fewer iterations do.
const (
	interruptedNodes   = 1024 // nodes times iterations
	leastInterrupted   = 8
	mostInterrupted    = 32
	interruptionWarmth = 1 // iterations before those that count
)

// averages reports whether the figure is a mean of iterations that differ.
func (p *Point) averages(m *network.Machine) bool {
	return m.Interrupts() && p.Statistic != LastExit && !p.Then.Any
}

// iterations returns how many the simulation has, and how many of them count.
func (p *Point) iterations(m *network.Machine) (all, counted int) {
	switch {
	case p.averages(m):
		counted = min(max(interruptedNodes/p.Nodes, leastInterrupted), mostInterrupted)
		return interruptionWarmth + counted, counted
	case p.Statistic == BackToBack:
		return warmIterations + countedIterations, countedIterations
	}
	return 1, 1
}

// target lays a machine out for the point: as many ranks a node as were measured.
func (p *Point) target(m *network.Machine) (*network.Target, error) {
	m, err := m.WithRanksPerNode(p.PerNode)
	if err != nil {
		return nil, err
	}
	ranks := int64(p.Nodes) * int64(p.PerNode)
	if p.Ranks > 0 {
		ranks = int64(p.Ranks)
	}
	t, err := m.Target(ranks)
	if err != nil {
		return nil, err
	}
	if t.Nodes() != p.Nodes {
		return nil, fmt.Errorf("machine %s puts %d ranks on %d nodes, and %d were measured", m.Name(), t.Ranks(), t.Nodes(), p.Nodes)
	}
	return t, nil
}

// afterBarrier reports whether ranks enter the operation as they leave a barrier, and not together.
func (p *Point) afterBarrier() bool { return p.Statistic == MeanExit || p.Statistic == FirstExit }

// config returns the configuration of a simulation of the point on one engine.
func (p *Point) config(t *network.Target) mpivirt.Config {
	// Ranks wait for nothing outside, so that nobody need watch them.
	c := mpivirt.Config{Target: t, Kind: steps.Kind, Transports: sync.NewInProcess(1), Protocol: sync.Hybrid, Seed: 1, Watchdog: -1, Output: func(string) {}}
	if p.Library != nil {
		c.Library = ofElements{p.Library}
	}
	c.Algorithms = p.algorithms(&c)
	all, _ := p.iterations(t.Machine())
	c.Program = mpivirt.Program{Name: p.Operation.String(), Forms: []mpivirt.Form{steps.Main(func() steps.Program { return p.program(all) })}}
	return c
}

// ofElements is a library that is asked about vectors of elements as measured ones have.
type ofElements struct{ collectives.Library }

// Choose implements [collectives.Library].
func (l ofElements) Choose(q collectives.Question) collectives.Algorithm {
	if q.ElementBytes == 0 {
		q.ElementBytes = elementBytes
	}
	return l.Library.Choose(q)
}

// program returns that of the ranks. They enter the first iteration, or the barrier before it, together, and compute nothing.
func (p *Point) program(iterations int) steps.Program {
	barriers, parts := 0, p.parts()
	if p.afterBarrier() {
		barriers = 1
	}
	calls := barriers + len(parts) // of an iteration
	return steps.New(func(r *steps.Rank, taken *uint16) steps.Outcome {
		i, k := int(*taken)/calls, int(*taken)%calls-barriers
		if i == iterations {
			return r.Finish()
		}
		*taken++
		if k < 0 {
			return r.Barrier()
		}
		of := parts[k]
		return r.Timed(i*len(parts)+k, of.Operation.String()).CollectiveSize(of.Operation, of.Bytes, 0)
	})
}

// Chosen returns the name of the algorithm on a machine, or those of the operations of which it is made.
func (p *Point) Chosen(m *network.Machine) (string, error) {
	t, err := p.target(m)
	if err != nil {
		return "", err
	}
	c := p.config(t)
	var names []string
	for _, of := range p.parts() {
		names = append(names, c.AlgorithmFor(of.Operation, of.Bytes, 0).String())
	}
	return strings.Join(names, " + "), nil
}

// Cost returns an estimate of the CPU time that the simulation takes, in seconds; of one iteration, where many that differ are simulated.
func (p *Point) Cost(m *network.Machine) (float64, error) {
	t, err := p.target(m)
	if err != nil {
		return 0, err
	}
	c := p.config(t)
	all, _ := p.iterations(m)
	if p.averages(m) {
		all = 1
	}
	var uses []mpivirt.Use
	for _, of := range p.parts() {
		uses = append(uses, mpivirt.Use{Operation: of.Operation, Bytes: of.Bytes, Times: all})
	}
	if p.afterBarrier() {
		uses = append(uses, mpivirt.Use{Operation: collectives.Barrier, Times: 1})
	}
	return mpivirt.CostOf(&c, 1, uses...).Time * 1e-9 * float64(p.seeds(t)), nil
}

// seeds returns the number of simulations of the point.
func (p *Point) seeds(t *network.Target) int {
	if t.HasJitter() && !p.averages(t.Machine()) {
		return jitteredSeeds
	}
	return 1
}

// Simulate returns the time of the point on a machine, in seconds.
func (p *Point) Simulate(m *network.Machine) (float64, error) { return p.simulate(m, nil) }

// SimulateAlone is Simulate of a program that says that its ranks do nothing but call one collective, so that messages take the interfaces of
// nodes round by round, and rounds over arrays carry it out. The point is that of one call, which ranks enter together.
func (p *Point) SimulateAlone(m *network.Machine) (float64, error) {
	r := &mpivirt.Repeated{Operation: p.Operation}
	if p.Operation != collectives.Barrier { // its ranks contribute nothing
		r.Bytes = p.Bytes
	}
	return p.simulate(m, r)
}

// simulate simulates the point by a program whose ranks repeat a collective, nil for one that says nothing of the kind.
func (p *Point) simulate(m *network.Machine, repeats *mpivirt.Repeated) (float64, error) {
	t, err := p.target(m)
	if err != nil {
		return 0, err
	}
	times := make([]float64, p.seeds(t))
	for i := range times {
		c := p.config(t)
		c.Seed += uint64(i)
		c.Program.Repeats = repeats
		if times[i], err = p.run(&c); err != nil {
			return 0, err
		}
	}
	slices.Sort(times)
	return quantile(times, 0.5), nil
}

// run returns the time of the point in one simulation.
func (p *Point) run(c *mpivirt.Config) (float64, error) {
	simulation, err := mpivirt.New(*c)
	if err != nil {
		return 0, err
	}
	result, err := simulation.Run()
	if err != nil {
		return 0, err
	}
	all, counted := p.iterations(c.Target.Machine())
	if len(result.Iterations) != all*len(p.parts()) || !result.Complete {
		return 0, errors.New("the simulation came to no end")
	}
	if len(p.parts()) > 1 { // the last rank may be another one in each operation
		return vtime.Duration(result.VirtualTime).Seconds(), nil
	}
	var sum vtime.Duration
	for _, it := range result.Iterations[all-counted:] {
		switch p.Statistic {
		case LastExit:
			sum += it.Max
		case FirstExit:
			sum += it.Min
		default:
			sum += it.Mean
		}
	}
	return sum.Seconds() / float64(counted), nil
}
