package kernel

import (
	"gigarank/mpivirt/internal/stats"
	"gigarank/mpivirt/internal/world"
)

// Why a rank's time passes, and what adds it up.
type (
	// Cause is the reason for which a rank's time passes.
	Cause = stats.Cause
	// Causes are times by cause.
	Causes = stats.Causes
	// Total is a sum of times in picoseconds, with 128 bits.
	Total = stats.Total
	// Task sums up the calls of a rank.
	Task = stats.Task
	// CourseTimes are the ranks' times by cause in bins of virtual time.
	CourseTimes = stats.CourseTimes
	// RankBlame is the time for which other ranks have waited for a rank.
	RankBlame = stats.RankBlame
)

// Computing is the cause of time outside MPI, LateSender the first cause of waiting for another rank, and NumberOfCauses the number of causes.
const (
	Computing      = stats.Computing
	LateSender     = stats.LateSender
	NumberOfCauses = stats.NumberOfCauses
)

// Passing returns the causes in the order in which the parts of a call pass; see docs/statistics.md.
func Passing() []Cause { return stats.Passing() }

// CallStatistics are the times of calls by their cause. Package mpivirt documents the fields.
type CallStatistics struct {
	Calls   []CallTimes // by procedure, then by communicator
	Tasks   []Task      // by rank; nil above TasksKept ranks
	ByTask  []TaskCalls // by procedure; nil above FunctionsKept ranks
	Phases  []PhaseTimes
	Balance Balance
	Matrix  [][]uint64
	Block   int // ranks of a row or column of Matrix; 0 without it
	Speeds  []SizeClass
	Blamed  []RankBlame // the greatest first; nil above TasksKept ranks
	Between uint64
	Sites   []SiteTimes
	Course  CourseTimes
}

// SiteTimes sums up the calls of a procedure from a place of the program.
type SiteTimes struct {
	Place        string // function, file and line, such as "exchange (halo.c:42)"; "" if it is not known
	Procedure    string // as programs name it
	Count, Bytes uint64
	Times        [NumberOfCauses]Total
	Senders      []LateSends // the longest first
}

// LateSends is the time for which calls have waited for late senders whose sends come from a place of the program.
type LateSends = stats.LateSends

// CallTimes sums up the calls of a procedure on a communicator.
type CallTimes struct {
	Procedure    string // as programs name it
	Communicator string // "" for calls without one
	Count, Bytes uint64
	Times        [NumberOfCauses]Total
}

// TaskCalls sums up the calls of a procedure by rank.
type TaskCalls struct {
	Procedure string // as programs name it
	Tasks     []Task // by rank
}

// FunctionsKept is the number of ranks up to which the calls of each rank are kept by procedure.
const FunctionsKept = stats.FunctionsKept

// PhaseTimes sums up an activity of processes as VACED-SIM defines it.
type PhaseTimes struct {
	Name  string
	Count uint64
	Time  Total
}

// Balance is what the load balance of ranks rests on: the sum and the greatest of their computing times.
type Balance = stats.Balance

// manyCommunicators is the name of communicators that are too many to be listed.
const manyCommunicators = "other communicators"

// statisticsOf returns the statistics of the calls that a summary has.
func (s *Simulation) statisticsOf(total *world.Summary) *CallStatistics {
	calls := &total.Calls
	all := &CallStatistics{Tasks: calls.Tasks(), Balance: calls.Balance(), Matrix: calls.Matrix().Rows(), Block: calls.Matrix().Block(),
		Course: calls.Course().Times(), Speeds: calls.Traffic().Speeds(), Between: calls.Traffic().Between(), Blamed: calls.Blamed()}
	own := func(context uint64) bool {
		return context == world.NoContext || context == world.WorldContext || context == world.SelfContext
	}
	name := s.runs[0].kernel.partition.NameOf
	for _, row := range calls.Times(own) {
		of := CallTimes{Procedure: name(world.Procedure(row.Procedure)), Communicator: row.Name, Count: row.Count, Bytes: row.Bytes, Times: row.Times}
		if row.Context == stats.OtherContext {
			of.Communicator = manyCommunicators
		}
		all.Calls = append(all.Calls, of)
	}
	for _, row := range calls.Sites() {
		all.Sites = append(all.Sites, SiteTimes{row.Place, name(world.Procedure(row.Procedure)), row.Count, row.Bytes, row.Times, row.Senders})
	}
	for p, tasks := range calls.Functions() {
		if tasks != nil {
			all.ByTask = append(all.ByTask, TaskCalls{name(world.Procedure(p)), tasks})
		}
	}
	for p, sum := range calls.Phases() {
		all.Phases = append(all.Phases, PhaseTimes{stats.Phase(p).String(), sum.Count, sum.Time})
	}
	return all
}
