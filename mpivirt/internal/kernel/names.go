package kernel

import (
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/p2p"
)

// Values that kinds of rank exchange with the kernel, defined in the rooms below.
type (
	// Communicator is a communicator as all ranks of an engine share it.
	Communicator = coll.Communicator
	// Collective is a member's arguments and data of a collective operation.
	Collective = coll.Collective
	// Completion is the result of a call.
	Completion = p2p.Completion
	// Slice is the slice of requests that a rank passes to a call.
	Slice = p2p.Slice
	// Noise lengthens compute phases.
	Noise = p2p.Noise
	// Repeated describes the only collective of a program.
	Repeated = coll.Repeated
	// Interpreter selects how collectives are carried out.
	Interpreter = coll.Interpreter
)

// The interpreters of collectives.
const (
	Auto    = coll.Auto
	Message = coll.Message
	Bulk    = coll.Bulk
)

// Indices of the messages that a matched probe returns without a message.
const (
	MessageNoProc = p2p.MessageNoProc // of a probe from ProcNull (MPI_MESSAGE_NO_PROC)
	MessageNull   = p2p.MessageNull   // no message, or a message already received (MPI_MESSAGE_NULL)
)

// EmptyCompletion returns the completion of a call without a result.
func EmptyCompletion() *Completion { return &p2p.EmptyCompletion }
