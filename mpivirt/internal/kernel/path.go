package kernel

import (
	"cmp"
	"maps"
	"slices"

	"gigarank/internal/invariant"
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// CriticalPath is the critical path of a run. Package mpivirt documents the fields.
type CriticalPath struct {
	Rank      int
	Length    vtime.Duration
	Changes   int
	Times     Causes
	Functions []FunctionShare
	Ranks     []RankShare
	Segments  []PathSegment
}

// FunctionShare is the share of a function in the critical path.
type FunctionShare struct {
	Function string
	Times    Causes
}

// RankShare is the share of a rank in the critical path.
type RankShare struct {
	Rank  int
	Times Causes
}

// PathSegment is a part of the critical path.
type PathSegment struct {
	Rank, Sender int
	Function     string
	Way          bool
	From, To     vtime.Time
}

// OutsideMPI is the function of computing.
const OutsideMPI = "computing"

// follower is the observer of Config.Path: it keeps what the critical path needs, in the summary of the engine's ranks.
type follower struct {
	log   *stats.PathLog
	first int
}

// newFollower returns the observer of Config.Path.
func (k *Kernel) newFollower() *follower {
	p := k.partition
	p.Summary.Path.Open(p.First, p.Ranks)
	return &follower{&p.Summary.Path, p.First}
}

func (f *follower) Begins(*CallBegin) {}

func (f *follower) Note(Activity, vtime.Duration) {}

// Ends keeps a call that has taken time.
func (f *follower) Ends(e *CallEnd) {
	if e.Ended == e.Began {
		return
	}
	class := e.Procedure.Class()
	c := stats.PathCall{
		Procedure: uint8(e.Procedure), Computing: class == world.ClassLocal, Polls: class == world.ClassTest || class == world.ClassProbe && !e.Procedure.Blocks(), Began: e.Began, Ended: e.Ended,
		Chained: e.Chained, Waited: e.Waited, Chain: e.Chain, Ready: e.There, Busy: e.Busy,
	}
	f.log.Note(int32(e.Rank-f.first), &c, uint8(world.Compute))
}

// pathOf returns the critical path of a run that has come to its end.
func (s *Simulation) pathOf(total *world.Summary) *CriticalPath {
	rank, end := total.Path.End()
	of := &CriticalPath{Rank: rank, Length: end.Sub(0)}
	functions, ranks := map[string]*Causes{}, map[int]*Causes{}
	name := s.runs[0].kernel.partition.NameOf
	total.Path.Walk(rank, end, func(g *stats.PathSegment) {
		function := OutsideMPI
		if world.Procedure(g.Procedure) != world.Compute {
			function = name(world.Procedure(g.Procedure))
		}
		of.Times.Add(&g.Times)
		shareOf(functions, function).Add(&g.Times)
		shareOf(ranks, int(g.Rank)).Add(&g.Times)
		of.Segments = append(of.Segments, PathSegment{int(g.Rank), int(g.Sender), function, g.Way, g.From, g.To})
		if g.Sender != g.Rank {
			of.Changes++
		}
	})
	if of.Times.Total() != of.Length {
		invariant.Broken("the critical path takes %v, and its parts %v", of.Length, of.Times.Total())
	}
	slices.Reverse(of.Segments)
	for function, times := range functions {
		of.Functions = append(of.Functions, FunctionShare{function, *times})
	}
	slices.SortFunc(of.Functions, func(a, b FunctionShare) int {
		return cmp.Or(cmp.Compare(b.Times.Total(), a.Times.Total()), cmp.Compare(a.Function, b.Function))
	})
	for _, rank := range slices.Sorted(maps.Keys(ranks)) {
		of.Ranks = append(of.Ranks, RankShare{rank, *ranks[rank]})
	}
	return of
}

// shareOf returns the times of a key. It makes missing times.
func shareOf[K comparable](shares map[K]*Causes, key K) *Causes {
	times := shares[key]
	if times == nil {
		times = &Causes{}
		shares[key] = times
	}
	return times
}
