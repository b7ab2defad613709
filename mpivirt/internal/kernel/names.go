package kernel

import (
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/ptp"
)

// The values that kinds of rank exchange with the kernel. The rooms below describe them.
type (
	// Communicator is a communicator as all ranks of an engine share it.
	Communicator = coll.Communicator
	// Collective is a member's arguments and data of a collective operation.
	Collective = coll.Collective
	// Completion is the result of a call.
	Completion = ptp.Completion
	// Slice is the slice of requests that a rank hands in.
	Slice = ptp.Slice
	// Noise lengthens compute phases.
	Noise = ptp.Noise
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
	MessageNoProc = ptp.MessageNoProc // from ProcNull (MPI_MESSAGE_NO_PROC)
	MessageNull   = ptp.MessageNull   // none, or received already (MPI_MESSAGE_NULL)
)

// EmptyCompletion returns the completion of a call without a result.
func EmptyCompletion() *Completion { return &ptp.EmptyCompletion }
