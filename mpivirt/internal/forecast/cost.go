package forecast

import (
	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/network"
	"gigarank/vtime"
)

// Use is a collective of WORLD that all ranks call.
type Use struct {
	Operation collectives.Operation
	Bytes     int64                               // size of the vector, or of one block
	Element   int64                               // size of an element; 0 if only sizes are simulated
	Data      bool                                // vectors of elements; else only sizes
	Alone     bool                                // the ranks have no other communication
	Times     int                                 // number of successive calls by each rank; 0 stands for 1
	Calls     int                                 // that each rank makes in an iteration of the program; 0 is one
	Compute   func(rank, time int) vtime.Duration // compute time of a rank before each call; nil for none
	Unordered bool                                // the ranks of a node call it in any order
	Row       int                                 // number of calls that a rank makes one right after the other; 0 is one
}

// Cost is the time and memory of ranks and their collectives on the host.
type Cost struct {
	Time           float64 // ns of CPU on all engines, for all ranks to pass the collectives once
	BytesPerRank   float64 // while ranks wait in the collective with the greatest memory
	BytesPerEngine float64 // on each engine in addition, for any number of ranks
	PassageBytes   float64 // the part of BytesPerRank for messages of collectives that delay each other
	Waiting        float64 // greatest share of the ranks that wait in a collective at the same time; 1 without collectives
	ByMessages     bool    // a collective is carried out by messages: its ranks leave at different instants
}

// Memory of an engine before it has ranks, in bytes, measured with 64 to 2,048 engines.
const (
	engineBytes = 34 << 10
	chunkBytes  = 16 << 10 // chunks of processors that are used in part
)

// hosting describes how ranks are carried out, as far as the cost of collectives depends on it.
type hosting struct {
	target      *network.Target
	engines     int
	wanted      coll.Interpreter
	null        bool    // engines synchronise by null messages alone
	windowBytes int64   // from one engine to another; 0 is [engine.DefaultWindow]
	resume      float64 // ns of CPU to resume a rank after a collective
	noContents  bool    // only sizes of data are simulated
	transient   bool    // inputs of collectives do not outlive the calls
	counted     bool    // statistics are on
}

// CostOf returns an estimate of the host's time and memory for the ranks of WORLD, on a number of
// engines, that call collectives one after another. Without collectives it is the memory of the
// ranks alone. The program's own memory is not included.
//
// Room coll chooses the interpreters ([coll.PlanOf]), and a dry run with few participants counts
// memory. Memory is right within 10 %, except for partly used chunks of slabs, some hundreds of
// kilobytes, and for allreduces by recursive multiplying with state at the receiver, of which a fifth is missing. On several engines it depends on which engine is ahead, and some runs of the same
// command take 15 % more or less than others. If an engine stands still for long, for example where
// cores are fewer than engines, the other engines go on until their windows to it are full. The
// content of these windows comes on top, two to three times their bytes where messages are small.
// With state at the receiver it is counted for messages of over 32 KiB. Times are right within a
// factor of three.
//
// It reads Target, Kind, Protocol, Collectives, Algorithms, NoContents, Activities, Matrix, Course, Sites and Window of the Config.
// Without a Target it counts no collectives.
func CostOf(c *kernel.Config, engines int, uses ...Use) Cost {
	cost := Cost{BytesPerRank: clockBytes, BytesPerEngine: engineBytes}
	kind := c.RankKind()
	if kind != nil {
		cost.BytesPerRank = max(clockBytes, kind.Bytes)
		cost.BytesPerEngine += kind.Engine
	}
	if c.Target == nil {
		return cost
	}
	if c.Target.ReceiverState() {
		cost.BytesPerRank += processorBytes()
		cost.BytesPerEngine += chunkBytes
	}
	cost.addStatistics(c)
	h := hostingOf(c, engines)
	var most Cost
	if len(uses) == 0 {
		cost.Waiting = 1
	}
	for _, use := range uses {
		one := newCostModel(h, c.AlgorithmFor(use.Operation, use.Bytes, use.Element), use).cost()
		cost.Waiting = max(cost.Waiting, one.Waiting)
		most.Time += one.Time * float64(max(use.Calls, 1))
		if one.BytesPerRank > most.BytesPerRank {
			most.BytesPerRank, most.PassageBytes = one.BytesPerRank, one.PassageBytes
		}
		most.BytesPerEngine = max(most.BytesPerEngine, one.BytesPerEngine)
		cost.ByMessages = cost.ByMessages || one.ByMessages
	}
	cost.BytesPerRank += most.BytesPerRank
	cost.PassageBytes = most.PassageBytes
	cost.BytesPerEngine += most.BytesPerEngine
	cost.Time = most.Time
	return cost
}

// Memory of statistics in bytes, measured.
const (
	describedBytes = 140 // of a rank that has sums of its own, once these are described
	cellBytes      = 8   // of a matrix, described
	siteBytes      = 24  // of the place of a rank's latest call
)

// addStatistics adds the memory of statistics that ranks take beside calls, messages and agents.
func (cost *Cost) addStatistics(c *kernel.Config) {
	if !c.Activities {
		return
	}
	cost.BytesPerRank += float64(kernel.CountedBytes)
	ranks := c.Target.Ranks()
	if ranks <= kernel.TasksKept || c.Observer != nil {
		cost.BytesPerRank += float64(kernel.WaiterBytes)
	}
	if ranks <= kernel.TasksKept {
		cost.BytesPerRank += float64(kernel.TaskBytes) + describedBytes
	}
	if c.Matrix {
		side := float64(min(ranks, kernel.MatrixSide))
		cost.BytesPerEngine += side * side * cellBytes
	}
	if c.Course {
		cost.BytesPerEngine += float64(kernel.CourseBytes)
	}
	if kind := c.RankKind(); c.Sites && kind != nil && kind.Sited {
		cost.BytesPerRank += siteBytes
	}
}

// Check returns the error of a collective that cannot be carried out, nil for none.
func Check(c *kernel.Config, use Use) error {
	h := hostingOf(c, len(c.Transports))
	_, err := h.planOf(h.callOf(c.AlgorithmFor(use.Operation, use.Bytes, use.Element), use), use)
	return err
}

// hostingOf returns what the costs of collectives depend on besides the collectives.
func hostingOf(c *kernel.Config, engines int) *hosting {
	h := &hosting{
		target: c.Target, engines: engines, wanted: c.Collectives, null: c.Protocol == engine.Null, windowBytes: c.Window, noContents: c.NoContents,
		counted: c.Activities,
	}
	if c.Path || c.Observer != nil {
		h.wanted = coll.Message
	}
	if kind := c.RankKind(); kind != nil {
		h.resume, h.transient = kind.Time, kind.Transient
	}
	return h
}

// callOf returns the call of a collective by an algorithm.
func (h *hosting) callOf(a collectives.Algorithm, use Use) *coll.Collective {
	return &coll.Collective{Operation: use.Operation, Algorithm: a, Bytes: use.Bytes, Element: max(use.Element, 1), Data: use.Data, Phantom: use.Data && h.noContents, Transient: h.transient}
}

// planOf returns the plan of a call.
func (h *hosting) planOf(call *coll.Collective, use Use) (coll.Plan, error) {
	return coll.PlanOf(h.target, h.wanted, h.null, h.engines == 1, use.Alone, h.counted, call)
}
