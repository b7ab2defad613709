package native

import (
	"golang.org/x/sys/unix"

	"gigarank/mpivirt/internal/kernel"
)

// Kind is the kind of ranks that are C programs.
var Kind = kernel.RegisterKind(kernel.Kind{
	Name: "native", Summary: "a rank is a C program on a stack of its own, built with gigarank cc",
	Bytes:      300, // the copy of the stack of a rank in a barrier, and its place in the tables; see Bytes
	Time:       150, // two switches, and the memory that they bring into the cache
	Measurable: true, NeedsContents: true, Sited: true,
})

// Options are the options of native ranks.
type Options struct {
	// Stack is the size of each rank's stack in bytes; 0 means the size of ulimit -s.
	Stack int64
	// Stacks says where the stacks of ranks lie.
	Stacks Stacks
	// Label has each line of standard output begin with the number of its rank, as in "[3] ".
	Label bool
	// StrictFunctions refuses a program that uses MPI functions that native ranks do not have. Else it is run, and a
	// call of such a function fails with MPI_ERR_UNSUPPORTED_OPERATION.
	StrictFunctions bool
	// Tasks are the tasks of a skeleton or of a timed form; nil: tasks take no time, and nobody counts them.
	Tasks *Tasks
	// Unposted has the rank switch to the engine in each call of MPI, also in a call that could go with the next. Results are the same.
	Unposted bool
	// Journal gets the calls of MPI that ranks make; nil for none.
	Journal *Journal
}

// Stacks says where the stacks of an engine's ranks lie.
type Stacks int

// The ways to have stacks.
const (
	// Automatic has own stacks for few ranks and copied stacks for many.
	Automatic Stacks = iota
	// Own gives each rank a stack of its own in memory: a page at least.
	Own
	// Copied has all ranks run on one stack. The part that a rank uses is copied out and in.
	Copied
)

// String returns the name of a way to have stacks.
func (s Stacks) String() string { return [...]string{"auto", "own", "copied"}[s] }

// Automatic gives ranks own stacks up to these numbers of ranks of an engine. Own stacks save the copies, but what a switch
// touches of them, with their page tables, then fits the second cache. Threads that a rank leaves behind need its own stack.
const (
	fewRanks         = 1 << 12
	fewThreadedRanks = 1 << 14
)

// copies reports whether an engine with n ranks copies stacks.
func (o Options) copies(n int, startsThreads bool) bool {
	few := fewRanks
	if startsThreads {
		few = fewThreadedRanks
	}
	return o.Stacks == Copied || o.Stacks == Automatic && n > few
}

// Bytes returns the memory of a rank beyond the memory of the kind: where it has its own stack, a page
// and page tables. The top and the guard of a large stack lie in tables of their own. The few
// ranks that get own stacks unasked do not count.
func (o Options) Bytes() float64 {
	const page, covered = 4096, 2 << 20
	if o.Stacks != Own {
		return 0
	}
	return page + min(2*page, page*float64(o.stack())/covered)
}

// stack returns the size of a stack in bytes.
func (o Options) stack() int64 {
	if o.Stack > 0 {
		return o.Stack
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_STACK, &limit); err != nil || limit.Cur > 1<<32 {
		return 8 << 20
	}
	return int64(limit.Cur)
}
