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

// Config describes one simulation. It is that of package mpivirt, which converts its own to this one and
// says what the fields mean.
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
	Observer    func(first, n int) Observer // of the engine with these ranks; nil for none
	Output      func(text string)
}

// The statistics of a [Result].
type (
	// Iteration sums up one timed operation over all ranks that recorded it.
	Iteration = stats.Iteration
	// Distribution is the distribution of times over the ranks.
	Distribution = stats.Distribution
	// OperationTimes is the distribution of an operation's times over ranks and iterations.
	OperationTimes = stats.OperationTimes
	// Histogram counts times in bins of equal width.
	Histogram = stats.Histogram
	// ActivityTimes sums up one activity of VACED-SIM over all ranks and messages.
	ActivityTimes = stats.ActivityTimes
	// Late counts the events that came later than decisions which they might have changed.
	Late = world.Late
)

// Result is the result of a simulation. Package mpivirt has one with the same fields, which says what they
// mean.
type Result struct {
	Complete    bool       // the run came to its end without an error
	VirtualTime vtime.Time // last finish of any rank
	Finished    uint64     // ranks that finished
	Fingerprint string     // 32 hexadecimal digits over (rank, finish time)
	Statistics  engine.Statistics
	Iterations  []Iteration
	Finish      Distribution     // of the finish times of the ranks that finished
	Operations  []OperationTimes // by name
	SetupWall   float64          // seconds until the first rank ran
	Activities  []ActivityTimes  // all six, or nil if they were not counted
	Late        Late             // events that came later than decisions which they might have changed
	Uncharged   bool             // ranks have computed, and no virtual time was charged for it; it rests on times of the host
}

// Progress is the state of a running simulation. It is that of package mpivirt, which says what the fields
// mean.
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

// Algorithm returns the algorithm of an operation: the configured one, else the default on
// the target.
func (c *Config) Algorithm(op collectives.Operation) collectives.Algorithm {
	if a, chosen := c.Algorithms[op]; chosen {
		return a
	}
	if c.Target == nil {
		return collectives.Default(op)
	}
	return collectives.DefaultOn(op, c.Target.BarrierTime())
}
