package mpivirt

import (
	"gigarank/engine"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/vtime"
)

// Result is the result of a simulation. In one process it covers all engines. Over MPI it
// covers all engines on host 0, and the host's own engine elsewhere.
type Result struct {
	Complete    bool              // the run came to its end without an error
	VirtualTime vtime.Time        // last finish of any rank
	Finished    uint64            // ranks that finished
	Fingerprint string            // 32 hexadecimal digits over (rank, finish time)
	Statistics  engine.Statistics // events and the like of the engines; for times of ranks see Calls
	Iterations  []Iteration
	Finish      Distribution     // of the finish times of the ranks that finished
	Operations  []OperationTimes // by name
	SetupWall   float64          // seconds until the first rank ran
	Activities  []ActivityTimes  // all six, or nil if they were not counted
	Sent        []SizeClass      // messages sent point to point, by size; nil if they were not counted
	Handed      []SizeClass      // calls of collectives, by the bytes that the rank hands over; nil if they were not counted
	Calls       *CallStatistics  // times of calls by their cause; nil if they were not counted
	Path        *CriticalPath    // nil if it was not followed, or the run did not come to its end
	Uncharged   bool             // ranks have computed, and no virtual time was charged for it; it rests on times of the host
	Weighed     float64          // seconds of virtual time that tasks of a skeleton have taken by their weights, summed over the ranks
	Departures  Departures       // of a replay from the course of the record
	Late        Late             // what came later than decisions that it might have changed
}

// Iteration sums up one timed operation over all ranks that recorded it.
type Iteration struct {
	Index     int
	Operation string
	Min, Max  vtime.Duration
	Mean      vtime.Duration // rounded down
	Count     uint64
	Wall      float64 // seconds from the end of the one before; 0 without a clock
}

// Distribution is the distribution of times over the ranks.
type Distribution struct {
	Min, Max  vtime.Duration
	Mean      vtime.Duration // rounded down
	Histogram Histogram
}

// OperationTimes is the distribution of an operation's times over ranks and iterations.
type OperationTimes struct {
	Operation string
	Histogram Histogram
}

// Histogram counts times in at most 64 bins of equal width. The width is the least power of
// two of picoseconds that suffices, and the bins begin at multiples of it. So a histogram is
// a function of the times alone.
type Histogram struct {
	Low    vtime.Duration // beginning of the first bin
	Width  vtime.Duration // of each bin
	Counts []uint64       // of ranks; neither the first nor the last is 0
}

// Activity is the name of one of the six activities of VACED-SIM (Lin et al., 2013): computation, copy at
// sender, REQ, ACK, DATA, copy at receiver.
type Activity string

// String returns the name.
func (a Activity) String() string { return string(a) }

// ActivityTimes sums up one activity of VACED-SIM over all ranks and messages.
type ActivityTimes struct {
	Activity       Activity
	Count          uint64
	Min, Mean, Max vtime.Duration // Mean is rounded down
	PerRank        vtime.Duration // total over the number of ranks, rounded down
}

// SizeClass counts the sizes from a power of two up to the next, or those of 0.
type SizeClass struct {
	Low, High int64  // least and greatest size of the class in bytes
	Count     uint64 // of messages or calls
	Bytes     uint64 // their sum; 2^64-1 stands for more, too
}

// Progress is the state of a running simulation.
type Progress struct {
	Ranks     uint64 // ranks of this process
	SetUp     uint64 // those that are set up
	Finished  uint64 // those that have finished
	Iteration int    // iterations that all ranks of this process have recorded
	Time      vtime.Time
	Events    uint64
	// Computing is the rank that has run longest without a call, and ComputingFor how long, about, in
	// seconds: 0 if none has for some tenths of a second, or there is no watchdog.
	Computing    int
	ComputingFor float64
}

// resultOf returns the kernel's result under the names of this package, nil for none.
func resultOf(r *kernel.Result) *Result {
	if r == nil {
		return nil
	}
	of := &Result{
		Complete: r.Complete, VirtualTime: r.VirtualTime, Finished: r.Finished, Fingerprint: r.Fingerprint,
		Statistics: r.Statistics, SetupWall: r.SetupWall, Uncharged: r.Uncharged, Weighed: r.Weighed, Late: r.Late, Departures: r.Departures,
		Finish: Distribution{Min: r.Finish.Min, Max: r.Finish.Max, Mean: r.Finish.Mean, Histogram: Histogram(r.Finish.Histogram)},
	}
	if r.Iterations != nil {
		of.Iterations = make([]Iteration, 0, len(r.Iterations))
	}
	for _, i := range r.Iterations {
		of.Iterations = append(of.Iterations, Iteration(i))
	}
	for _, o := range r.Operations {
		of.Operations = append(of.Operations, OperationTimes{o.Operation, Histogram(o.Histogram)})
	}
	for _, a := range r.Activities {
		of.Activities = append(of.Activities, ActivityTimes{
			Activity: Activity(a.Activity.String()), Count: a.Count, Min: a.Min, Mean: a.Mean, Max: a.Max, PerRank: a.PerRank,
		})
	}
	of.Sent, of.Handed = sizeClasses(r.Sent), sizeClasses(r.Handed)
	of.Calls, of.Path = r.Calls, r.Path
	return of
}

// sizeClasses returns the kernel's classes under the names of this package, nil for nil.
func sizeClasses(classes []kernel.SizeClass) []SizeClass {
	if classes == nil {
		return nil
	}
	of := make([]SizeClass, 0, len(classes))
	for _, c := range classes {
		of = append(of, SizeClass(c))
	}
	return of
}
