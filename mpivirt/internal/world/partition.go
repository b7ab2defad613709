package world

import (
	"gigarank/engine"
	"gigarank/network"
	"gigarank/vtime"
)

// worldComm is the index of WORLD in every kernel, selfContext the context of
// every SELF: no message of it leaves its rank. freedComm stands in the place of
// those that a rank has freed: it has no members.
const (
	Freed        = 0
	World        = 1
	Self         = 2
	NoContext    = 0
	WorldContext = 1
	SelfContext  = 2
)

// Global returns the rank of an LP.
func (k *Partition) Global(lp int32) int32 { return int32(k.First) + lp }

// Record enters the length of a timed operation into the statistics of the run.
func (k *Partition) Record(index int, operation string, d vtime.Duration) {
	k.Summary.Tally.Record(index, operation, d)
}

// Label returns the label for k.timing of an operation that is timed.
func (k *Partition) Label(index int, operation string) int32 {
	return k.Summary.Tally.Label(index, operation)
}

// Local returns the local number of a rank, or false if another engine owns it.
func (k *Partition) Local(rank int) (int32, bool) {
	i := rank - k.First
	return int32(i), uint(i) < uint(k.Ranks)
}

// Partition is what an engine keeps of its ranks, whatever they do: clocks, ports,
// buffers, communicators, failures.
type Partition struct {
	Engine       *engine.Engine
	Target       *network.Target
	First, Ranks int // the partition: ranks lo to lo+n-1
	Strict       bool
	reserve      func(memory []byte) // see Config
	ClocksOnly   bool                // no noise and no mailboxes: a compute phase does nothing but advance the clock

	Clock    []vtime.Time   // by LP: its virtual time
	Ports    []network.Port // by LP; nil until the first is needed
	Buffers  bufferPool
	Comms    []*Comm             // by index
	SelfMade map[int32]*uint32   // by LP: how many communicators it has made of SELF
	Contexts map[uint64]int32    // context -> index
	Strays   map[uint64][][]byte // records on communicators that are not known yet, by context
	Groups   groupTable

	EagerLimit int64
	Charges    bool  // messages cost processors or ports something
	HasPorts   bool  // what a message costs depends on those before it
	Running    int32 // LP whose code runs, or ran last; None if that is over for sure

	seen         []vtime.Time // with invariants: by LP, its clock when it was looked at last
	Summary      Summary
	Failing      failing
	Lose         func(err *RankError) // ends the run from any goroutine
	Returning    bool                 // a rank has asked for its errors
	errorsReturn []uint64             // set of LPs that get their errors; nil for none
}

// Settings of a partition.
type Settings struct {
	Engine  *engine.Engine
	Target  *network.Target     // the machine, laid out for the number of ranks
	Strict  bool                // every LP that waits is resumed in the order of virtual time
	Reserve func(memory []byte) // is told of each array whose length grows with the number of ranks; may be nil
	Now     func() float64      // reads the wall clock in seconds; may be nil
}

// NewPartition returns the partition of an engine, which has no communicators yet.
func NewPartition(s Settings) Partition {
	lo, hi := s.Engine.Range()
	k := Partition{
		Engine: s.Engine, Target: s.Target, First: lo, Ranks: hi - lo, Strict: s.Strict, reserve: s.Reserve, Running: None,
		Contexts: map[uint64]int32{}, Strays: map[uint64][][]byte{},
		EagerLimit: s.Target.EagerLimit(), Charges: s.Target.Charges(), HasPorts: s.Target.HasPorts(),
	}
	k.Clock = Reserve[vtime.Time](&k, k.Ranks)
	k.Summary.Tally.Start(k.Ranks, s.Now)
	return k
}
