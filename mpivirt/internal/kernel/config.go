package kernel

import (
	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/ptp"
	"gigarank/mpivirt/internal/stats"
	"gigarank/network"
	"gigarank/vtime"
)

// Config describes one simulation. The zero value of an optional field is its
// default.
type Config struct {
	// Target is the machine, laid out for the number of ranks. Required.
	Target *network.Target
	// Program to run. Required.
	Program Program
	// Kind of the ranks; the program must have a form for it. Nil stands for that of the
	// program's first form.
	Kind *Kind
	// Transports of the engines that run in this process: one for each. All
	// engines of all processes together are Transports[0].Size(). Required.
	Transports []engine.Transport
	// Protocol of synchronisation.
	Protocol engine.Protocol
	// Strict switches the shortcut for deterministic waits off: every LP that
	// waits is resumed in the order of virtual time.
	Strict bool
	// Collectives chooses the interpreter.
	Collectives coll.Interpreter
	// Algorithms to use for operations, where they are not the default.
	Algorithms map[collectives.Operation]collectives.Algorithm
	// Seed of every random number that the program draws.
	Seed uint64
	// Noise of the operating system added to compute phases; nil for none.
	Noise ptp.Noise
	// Now reads the wall clock in seconds; nil leaves wall times at zero. It
	// has no influence on virtual time.
	Now func() float64
	// BufferLimit of each engine in bytes; see [engine.Config].
	BufferLimit int64
	// Window from one engine to another in bytes; see [engine.Config].
	Window int64
	// Reserve is told of each array whose length grows with the number of ranks,
	// before it is used; the host may have larger pages ready for it. It must
	// neither keep nor change it. Nil if nobody wants to know.
	Reserve func(memory []byte)
	// Watchdog is the wall time in seconds after which a rank whose code is blocked
	// outside MPI ends the run: it waits for a channel, a lock or the like that only
	// another rank could give it. A rank that computes is left alone, however long.
	// 0 means 5; a negative one switches the watchdog off.
	Watchdog float64
	// Output receives what rank 0 or others print with [Rank.Printf]; nil
	// drops it.
	Output func(text string)
}

// The statistics of a [Result].
type (
	// Iteration sums up one timed operation over all ranks that recorded it.
	Iteration = stats.Iteration
	// Distribution says how times are distributed over the ranks.
	Distribution = stats.Distribution
	// OperationTimes says how the times of an operation are distributed over ranks and
	// iterations.
	OperationTimes = stats.OperationTimes
	// Histogram counts times in bins of equal width.
	Histogram = stats.Histogram
)

// Result is what a simulation gave. On engines of one process it covers all
// engines; over MPI it is complete on host 0 and elsewhere covers the host's own
// engine.
type Result struct {
	Complete    bool       // false if the run was stopped
	VirtualTime vtime.Time // last finish of any rank
	Finished    uint64     // ranks that finished
	Fingerprint string     // 32 hexadecimal digits over (rank, finish time)
	Statistics  engine.Statistics
	Iterations  []Iteration
	Finish      Distribution     // of the finish times of the ranks that finished
	Operations  []OperationTimes // by name
	SetupWall   float64          // seconds until the first rank ran
}

// Progress is a look at a simulation that runs.
type Progress struct {
	Ranks     uint64 // ranks of this process
	SetUp     uint64 // of which are set up
	Finished  uint64 // of which have finished
	Iteration int    // iterations that all ranks of this process have recorded
	Time      vtime.Time
	Events    uint64
}
