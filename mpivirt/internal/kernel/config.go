package kernel

import (
	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/p2p"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// Config describes one simulation. Package mpivirt converts its own Config into it, and documents
// the fields.
type Config struct {
	Target      *network.Target
	Program     Program
	Kind        *Kind
	Transports  []engine.Transport
	Protocol    engine.Protocol
	Strict      bool
	Polls       int32
	Collectives coll.Interpreter
	Algorithms  map[collectives.Operation]collectives.Algorithm
	Library     collectives.Library
	NoContents  bool
	Seed        uint64
	Noise       p2p.Noise
	Bursts      func(first, n int) Bursts
	Now         func() float64
	BufferLimit int64
	Window      int64
	Reserve     func(memory []byte)
	Touch       func(memory []byte)
	Watchdog    float64
	Activities  bool
	Matrix      bool
	Course      bool
	Sites       bool
	Path        bool
	Observer    func(first, n int) Observer // of the engine with these ranks; nil for none
	Recorder    func(first, n int) Recorder // likewise
	Output      func(text string)
}

// The statistics of a [Result].
type (
	// Iteration summarises one timed operation over all ranks that recorded it.
	Iteration = stats.Iteration
	// Distribution is the distribution of times over the ranks.
	Distribution = stats.Distribution
	// OperationTimes is the distribution of the times of an operation over ranks and iterations.
	OperationTimes = stats.OperationTimes
	// Histogram counts times in bins of equal width.
	Histogram = stats.Histogram
	// ActivityTimes summarises one activity of VACED-SIM over all ranks and messages.
	ActivityTimes = stats.ActivityTimes
	// SizeClass counts sizes of one class.
	SizeClass = stats.SizeClass
	// Late counts events that came after decisions that they might have changed.
	Late = world.Late
	// Departures counts operations of a replay that did not take the course of the record.
	Departures = world.Departures
)

// Result is the result of a simulation. Package mpivirt has a Result with the same fields, and
// documents them.
type Result struct {
	Complete    bool       // the run ended without an error
	VirtualTime vtime.Time // latest finish of all ranks
	Finished    uint64     // ranks that finished
	Fingerprint string     // 32 hexadecimal digits over (rank, finish time)
	Statistics  engine.Statistics
	Iterations  []Iteration
	Finish      Distribution     // of the finish times of the ranks that finished
	Operations  []OperationTimes // by name
	SetupWall   float64          // seconds until the first rank ran
	Activities  []ActivityTimes  // all six activities; nil if they were not counted
	Sent        []SizeClass      // of messages point to point; nil if they were not counted
	Handed      []SizeClass      // of what ranks hand to collectives; nil if that was not counted
	Calls       *CallStatistics  // times of calls by their cause; nil if they were not counted
	Path        *CriticalPath    // nil if it was not followed, or the run did not come to its end
	Late        Late             // events that came after decisions that they might have changed
	Uncharged   bool             // ranks have computed without a charge of virtual time; depends on times of the host
	Weighed     float64          // seconds of virtual time that tasks of a skeleton have taken, summed over the ranks
	Departures  Departures       // of a replay from the course of the record
}

// Progress is the state of a running simulation. Package mpivirt documents the fields.
type Progress struct {
	Ranks        uint64
	SetUp        uint64
	Finished     uint64
	Iteration    int
	Time         vtime.Time
	Events       uint64
	Computing    int
	ComputingFor float64
}

// sited reports whether calls are summed up by the places of the program that make them.
func (c *Config) sited() bool {
	kind := c.RankKind()
	return c.Sites && kind != nil && kind.Sited
}

// Algorithm returns the algorithm of an operation: the configured algorithm, else the default of
// the target machine.
func (c *Config) Algorithm(op collectives.Operation) collectives.Algorithm {
	if a, chosen := c.Algorithms[op]; chosen {
		return a
	}
	if c.Target == nil {
		return collectives.Default(op)
	}
	return collectives.DefaultOn(op, HardwareOf(c.Target.Machine()))
}

// HardwareOf returns the collectives that a machine carries out by itself, on any number of nodes.
func HardwareOf(m *network.Machine) collectives.Hardware {
	return collectives.Hardware{Barrier: m.BarrierTime() > 0, Offload: m.Offloads() && m.OffloadsAcross(), Torus: m.WritesAlongTorus() && m.RanksPerNode() == 1}
}

// AlgorithmFor returns the algorithm of an operation that all ranks call with some bytes.
func (c *Config) AlgorithmFor(op collectives.Operation, bytes, element int64) collectives.Algorithm {
	a := c.algorithms()
	if c.Target == nil {
		return a.First[op]
	}
	return a.OfWorld(c.Target, op, bytes, element)
}

// algorithms returns what chooses the algorithms of calls.
func (c *Config) algorithms() coll.Algorithms {
	n := len(collectives.Operations())
	a := coll.Algorithms{First: make([]collectives.Algorithm, n), Library: c.Library, Free: make([]bool, n)}
	for _, op := range collectives.Operations() {
		a.First[op] = c.Algorithm(op)
		_, chosen := c.Algorithms[op]
		a.Free[op] = !chosen
	}
	return a
}
