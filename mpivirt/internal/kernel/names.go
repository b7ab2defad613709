package kernel

import (
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/ptp"
)

// What kinds of rank hand in and get back. The rooms below describe it.
type (
	// Communicator is a communicator as all ranks of an engine share it.
	Communicator = coll.Communicator
	// Collective is what a member hands in when it calls a collective operation.
	Collective = coll.Collective
	// Completion is what a call has come to.
	Completion = ptp.Completion
	// Noise lengthens compute phases.
	Noise = ptp.Noise
	// Interpreter says how collectives are carried out.
	Interpreter = coll.Interpreter
	// Use is a collective of WORLD that all ranks call.
	Use = coll.Use
	// Cost holds the needs of ranks and their collectives on the host.
	Cost = coll.Cost
)

// The interpreters of collectives.
const (
	Auto    = coll.Auto
	Message = coll.Message
	Bulk    = coll.Bulk
)

// What stands for a message that a matched probe has found.
const (
	MessageNoProc = ptp.MessageNoProc // the one of ProcNull
	MessageNull   = ptp.MessageNull   // none, or one that has been received
)

// EmptyCompletion returns the completion of a call that has brought nothing.
func EmptyCompletion() *Completion { return &ptp.EmptyCompletion }
