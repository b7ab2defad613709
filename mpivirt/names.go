package mpivirt

import (
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/typed"
	"gigarank/mpivirt/internal/world"
)

// The parts of a [Config]. Kinds of rank are packages below this one, which share these types.
type (
	// Program is a program to simulate: its name on the command line, and its Forms, one for each kind of
	// rank that it can run as, such as [Main] returns.
	Program = kernel.Program
	// Repeated is the only collective of a program: [Program].Repeats.
	Repeated = kernel.Repeated
	// Form is a program in the form for ranks of one kind. The package of the kind makes it: [Main] here,
	// steps.Main, native.Open.
	Form = kernel.Form
	// Kind is a kind of rank: how the ranks of a program run. It has a Name and a Summary.
	Kind = kernel.Kind
	// Noise lengthens compute phases. It must be a pure function of its arguments. Its method
	// Extend(rank int, t vtime.Time, d vtime.Duration) vtime.Duration returns the length, with
	// noise, of a phase of length d that a rank starts at t.
	Noise = kernel.Noise
	// Bursts is a source of the CPU times that ranks take between MPI calls. Package cputime has some.
	Bursts = kernel.Bursts
	// Observer hears calls of ranks begin and end, and the activities that virtual time goes into.
	Observer = kernel.Observer
	// Fault is the error of a run in which gigarank itself fails, which is a bug.
	Fault = kernel.Fault
	// Recorder hears calls of ranks with all their arguments, and their outcomes.
	Recorder = kernel.Recorder
	// CallBegin is a call of a rank that begins.
	CallBegin = kernel.CallBegin
	// CallEnd is the end of a call.
	CallEnd = kernel.CallEnd
	// Envelope is the other side of a message of an observed call.
	Envelope = kernel.Envelope
	// Interpreter says how collectives are carried out: Auto, Message or Bulk.
	Interpreter = kernel.Interpreter
	// Late counts the events that came later than decisions which they might have changed.
	Late = kernel.Late
	// Departures counts operations of a replay that did not take the course of the record.
	Departures = kernel.Departures
)

// What ranks of every kind share.
type (
	// Group is an ordered set of ranks of WORLD (MPI_Group).
	Group = world.Group
	// Range names members of a group at equal distances.
	Range = world.Range
	// Comparison is how two groups or communicators compare.
	Comparison = world.Comparison
	// Status is the envelope of a message that a receive or probe has found (MPI_Status).
	Status = world.Status
	// Datatype is the constraint of types whose slices can be sent.
	Datatype = typed.Datatype
	// Op combines the elements that members contribute to a reduction (MPI_Op).
	Op[T Datatype] = typed.Op[T]
)

// Errors of a simulation.
type (
	// Error is an MPI error of one rank.
	Error = world.Error
	// ErrorClass is a standard class of MPI errors.
	ErrorClass = world.ErrorClass
	// RankError is the failure of a rank of the simulated program.
	RankError = world.RankError
	// DeadlockError is the error of a run in which no rank can go on and some have not
	// finished.
	DeadlockError = kernel.DeadlockError
	// Blocked is one rank that waits for ever.
	Blocked = kernel.Blocked
)

// Numbers that stand for no rank, tag or index. They differ from one another, so that a
// mistaken one is found.
const (
	NoMember  = world.NoMember  // result of [Group.Member] for a rank outside the group
	AnySource = world.AnySource // MPI_ANY_SOURCE
	ProcNull  = world.ProcNull  // MPI_PROC_NULL
	AnyTag    = world.AnyTag    // MPI_ANY_TAG
	Root      = world.Root      // MPI_ROOT
	Undefined = world.Undefined // MPI_UNDEFINED: the color of no communicator, the index of no request, [Group.Translate] of a rank outside
)

// TagUB is the largest tag (MPI_TAG_UB).
const TagUB = world.TagUB

// The outcomes of a comparison.
const (
	Ident     = world.Ident     // MPI_IDENT
	Congruent = world.Congruent // MPI_CONGRUENT
	Similar   = world.Similar   // MPI_SIMILAR
	Unequal   = world.Unequal   // MPI_UNEQUAL
)

// The interpreters of collectives.
const (
	Auto    = kernel.Auto    // bulk where the collective allows it, else message
	Message = kernel.Message // every message of the algorithm is an event
	Bulk    = kernel.Bulk    // max-plus algebra over arrays of clocks
)

// The error classes, with the MPI name of each.
const (
	ErrBuffer   = world.ErrBuffer   // MPI_ERR_BUFFER
	ErrCount    = world.ErrCount    // MPI_ERR_COUNT
	ErrTag      = world.ErrTag      // MPI_ERR_TAG
	ErrComm     = world.ErrComm     // MPI_ERR_COMM
	ErrRank     = world.ErrRank     // MPI_ERR_RANK
	ErrRequest  = world.ErrRequest  // MPI_ERR_REQUEST
	ErrRoot     = world.ErrRoot     // MPI_ERR_ROOT
	ErrGroup    = world.ErrGroup    // MPI_ERR_GROUP
	ErrOp       = world.ErrOp       // MPI_ERR_OP
	ErrArgument = world.ErrArgument // MPI_ERR_ARG
	ErrTruncate = world.ErrTruncate // MPI_ERR_TRUNCATE
	ErrOther    = world.ErrOther    // MPI_ERR_OTHER
	ErrType     = world.ErrType     // MPI_ERR_TYPE
	ErrKeyval   = world.ErrKeyval   // MPI_ERR_KEYVAL
	ErrTopology = world.ErrTopology // MPI_ERR_TOPOLOGY
	ErrDims     = world.ErrDims     // MPI_ERR_DIMS
)

// Kinds returns the kinds of rank of the packages that the program imports.
func Kinds() []*Kind { return kernel.Kinds() }
