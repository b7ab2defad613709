package mpivirt

import (
	"gigarank/mpivirt/internal/forecast"
	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/typed"
	"gigarank/mpivirt/internal/world"
)

// Simulations, and what they take and give.
type (
	// Config describes one simulation: go doc gigarank/mpivirt/internal/kernel.Config tells its
	// fields.
	Config = kernel.Config
	// Simulation is one run of a program on a target machine.
	Simulation = kernel.Simulation
	// Result is the result of a simulation. Its fields are described by
	// go doc gigarank/mpivirt/internal/kernel.Result.
	Result = kernel.Result
	// Progress is the state of a running simulation.
	Progress = kernel.Progress
	// Program is a program to simulate.
	Program = kernel.Program
	// Form is a program in the form for ranks of one kind.
	Form = kernel.Form
	// Kind is a kind of rank: how the ranks of a program run.
	Kind = kernel.Kind
	// Use is a collective of WORLD whose cost is asked for.
	Use = forecast.Use
	// Held counts what ranks hold for point-to-point messages.
	Held = forecast.Held
	// Cost holds the needs of ranks and their collectives on the host.
	Cost = forecast.Cost
	// Noise lengthens compute phases.
	Noise = kernel.Noise
	// Bursts is a source of the CPU times that ranks take between MPI calls.
	Bursts = kernel.Bursts
	// Interpreter says how collectives are carried out: Auto, Message or Bulk.
	Interpreter = kernel.Interpreter
	// Iteration sums up one timed operation over all ranks that recorded it.
	Iteration = kernel.Iteration
	// Distribution is the distribution of times over the ranks.
	Distribution = kernel.Distribution
	// OperationTimes is the distribution of an operation's times over ranks and iterations.
	OperationTimes = kernel.OperationTimes
	// Histogram counts times in bins of equal width.
	Histogram = kernel.Histogram
	// ActivityTimes sums up one activity of VACED-SIM over all ranks and messages.
	ActivityTimes = kernel.ActivityTimes
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

// New returns a simulation that is ready to run. The error names all faults of the
// configuration.
func New(c Config) (*Simulation, error) { return kernel.New(c) }

// Kinds returns the kinds of rank of the packages that the program imports.
func Kinds() []*Kind { return kernel.Kinds() }

// CostOf returns an estimate of the host's time and memory for the ranks of WORLD, on a
// number of engines, that call collectives in turn. Without collectives it is the memory of
// the ranks alone. The program's own memory is not included.
//
// It reads Target, Kind, Protocol, Collectives, Algorithms and Window of the Config. Without
// a Target it counts no collectives.
func CostOf(c *Config, engines int, uses ...Use) Cost { return forecast.CostOf(c, engines, uses...) }

// HeldBytes returns the memory that a program's ranks hold for point-to-point messages, over
// what [CostOf] counts.
func HeldBytes(c *Config, h Held) float64 { return forecast.HeldBytes(c, h) }
