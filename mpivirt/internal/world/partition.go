package world

import (
	"gigarank/engine"
	"gigarank/mpivirt/internal/stats"
	"gigarank/network"
	"gigarank/vtime"
)

// Indices and contexts of the predefined communicators.
const (
	Freed        = 0 // index of the communicator without members that stands for freed communicators
	World        = 1 // index of WORLD
	Self         = 2 // index of SELF
	NoContext    = 0 // context of no communicator
	WorldContext = 1
	SelfContext  = 2 // context of each SELF, whose messages never leave their rank
)

// Global returns the rank of an LP.
func (p *Partition) Global(lp int32) int32 { return int32(p.First) + lp }

// Record adds the length of a timed operation to the statistics of the run.
func (p *Partition) Record(index int, operation string, d vtime.Duration) {
	p.Summary.Tally.Record(index, operation, d)
}

// Label returns the label under which the statistics of the run record a timed operation.
func (p *Partition) Label(index int, operation string) int32 {
	return p.Summary.Tally.Label(index, operation)
}

// Local returns the LP of a rank, and whether this engine owns it.
func (p *Partition) Local(rank int) (int32, bool) {
	i := rank - p.First
	return int32(i), uint(i) < uint(p.Ranks)
}

// Partition is the state of an engine's ranks that all rooms share: clocks, ports, buffers,
// communicators, failures.
type Partition struct {
	Engine       *engine.Engine
	Target       *network.Target
	First, Ranks int                 // the least rank and the number of ranks
	Strict       bool                // see [Settings]
	reserve      func(memory []byte) // see [Settings]
	blocks       *Blocks             // nil once the partition is set up
	ClocksOnly   bool                // the run has no noise and no mailboxes, and counts no activities: computing only advances the clock
	Activities   Activities          // hears of activities; nil for none

	Clock    []vtime.Time   // by LP: its virtual time
	Ports    []network.Port // by LP; nil before the first message with a port
	Buffers  bufferPool
	Comms    Table[Comm]       // by index
	SelfMade map[int32]*uint32 // by LP: number of communicators made of SELF
	Contexts map[uint64]int32  // context -> index
	Groups   groupTable

	EagerLimit int64
	Charges    bool  // messages cost time of CPUs or ports, or wait for interruptions
	HasPorts   bool  // the cost of a message depends on earlier messages
	Running    int32 // LP whose code runs, or ran last; None if no LP's code runs

	seen         []vtime.Time // with invariants: by LP, its clock at the last check
	Summary      Summary
	Failing      failing
	Names        func(c Procedure) string // name of a procedure in programs, nil for the names in Go
	Lose         func(err *RankError)     // ends the run from any goroutine
	ErrorsReturn bool                     // an LP has had MPI_ERRORS_RETURN
	errorsReturn []uint64                 // set of LPs with MPI_ERRORS_RETURN; nil for none
}

// Activities hears of the activities that take virtual time.
type Activities interface {
	// Note hears the time of an activity.
	Note(a stats.Activity, d vtime.Duration)
}

// Settings are the arguments of [Partition.Init].
type Settings struct {
	Engine  *engine.Engine
	Target  *network.Target     // the target machine, laid out for the number of ranks
	Blocks  *Blocks             // memory for the set-up; may be nil
	Strict  bool                // every LP that waits is resumed in the order of virtual time
	Reserve func(memory []byte) // receives each array whose length grows with the number of ranks; may be nil
	Now     func() float64      // reads the wall clock in seconds; may be nil

}

// Init makes p, which is zero, the partition of an engine, without communicators. It sets fields
// one by one: a composite value would lie on the stack first, and make the stack grow.
func (p *Partition) Init(s Settings) {
	lo, hi := s.Engine.Range()
	p.Engine, p.Target, p.First, p.Ranks = s.Engine, s.Target, lo, hi-lo
	p.Strict, p.reserve, p.blocks, p.Running = s.Strict, s.Reserve, s.Blocks, None
	p.Contexts = map[uint64]int32{}
	p.EagerLimit, p.Charges, p.HasPorts = s.Target.EagerLimit(), s.Target.Charges(), s.Target.HasPorts()
	p.Clock = Reserve[vtime.Time](p, p.Ranks)
	p.Summary.Tally.Start(p.Ranks, s.Now)
}

// EndSetUp ends the set-up of the partition. Later arrays are temporary, and each is memory of its
// own.
func (p *Partition) EndSetUp() { p.blocks = nil }

// Alone reports whether no other engine of the process is set up at the same time. It is for the
// set-up.
func (p *Partition) Alone() bool { return p.blocks == nil }
