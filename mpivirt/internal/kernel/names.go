package kernel

import (
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/p2p"
)

// The values that kinds of rank exchange with the kernel. The rooms below describe them.
type (
	// Communicator is a communicator as all ranks of an engine share it.
	Communicator = coll.Communicator
	// Collective is a member's arguments and data of a collective operation.
	Collective = coll.Collective
	// Completion is the result of a call.
	Completion = p2p.Completion
	// Slice is the slice of requests that a rank hands in.
	Slice = p2p.Slice
	// Noise lengthens compute phases.
	Noise = p2p.Noise
	// Repeated is the only collective of a program.
	Repeated = coll.Repeated
	// Interpreter says how collectives are carried out.
	Interpreter = coll.Interpreter
)

// The interpreters of collectives.
const (
	Auto    = coll.Auto
	Message = coll.Message
	Bulk    = coll.Bulk
)

// Indices that stand for messages of matched probes.
const (
	MessageNoProc = p2p.MessageNoProc // from ProcNull (MPI_MESSAGE_NO_PROC)
	MessageNull   = p2p.MessageNull   // none, or received already (MPI_MESSAGE_NULL)
)

// EmptyCompletion returns the completion of a call without a result.
func EmptyCompletion() *Completion { return &p2p.EmptyCompletion }
