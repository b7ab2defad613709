package native

import "sync"

// Tasks are pieces of computing that a skeleton leaves out. A run charges time for them by their weights, or times them in the timed form of a
// program, and counts them.
type Tasks struct {
	Weights []Weight // by task; those of a timed form are 0
	Rest    int64    // femtoseconds for what lies between two calls of MPI besides tasks
	ByRank  bool     // the run counts entries and iterations of each rank
	// Beside is a number of bytes that an engine writes while each of its ranks runs once, so that a rank finds the caches as if other ranks had as much memory.
	Beside int64

	lock sync.Mutex
	sums []TaskSums
	rest TaskSums
	// counts are by rank and task.
	counts map[int][]TaskCount
}

// Weight is the CPU time that a task takes on the host, in femtoseconds: for an entry, and for an iteration.
type Weight struct{ Entry, Iteration int64 }

// TaskSums are sums over the entries of a task that were timed: of the iterations x and the CPU times y in nanoseconds, and of the iterations that the skeleton
// cannot count. Time is the virtual time that the task has taken by its weights.
type TaskSums struct {
	Entries          int64
	X, XX, Y, YY, XY float64
	Uncounted        float64
	Time             int64 // nanoseconds
}

// TaskCount has the entries of a rank into a task, and the iterations of the task there.
type TaskCount struct{ Entries, Iterations int64 }

// Sums returns the sums of a run, by task, over the engines of this process.
func (t *Tasks) Sums() []TaskSums { return t.sums }

// RestSums returns the number of bursts that were timed, and their CPU time outside tasks in Y.
func (t *Tasks) RestSums() TaskSums { return t.rest }

// Counts returns the counts of each rank of this process, by task, if the run has counted.
func (t *Tasks) Counts() map[int][]TaskCount { return t.counts }

// Forget removes the sums and counts of runs.
func (t *Tasks) Forget() { t.sums, t.rest, t.counts = nil, TaskSums{}, nil }

// add adds the sums and counts of an engine.
func (t *Tasks) add(sums []TaskSums, rest TaskSums, counts map[int][]TaskCount) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.sums == nil {
		t.sums, t.counts = make([]TaskSums, len(t.Weights)), map[int][]TaskCount{}
	}
	for n, s := range sums {
		to := &t.sums[n]
		to.Entries += s.Entries
		to.X, to.XX, to.Y, to.YY, to.XY = to.X+s.X, to.XX+s.XX, to.Y+s.Y, to.YY+s.YY, to.XY+s.XY
		to.Uncounted, to.Time = to.Uncounted+s.Uncounted, to.Time+s.Time
	}
	t.rest.Entries += rest.Entries
	t.rest.Y += rest.Y
	for rank, c := range counts {
		t.counts[rank] = c
	}
}
