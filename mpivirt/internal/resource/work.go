package resource

import (
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Owner is the owner of an operation or a message, which carries it out.
type Owner uint8

// The owners, in the order in which operations of one release begin.
const (
	OfProgram Owner = iota // the rank's program: its calls and messages
	OfAgents               // the agents of the rank's collectives, and the messages of their rounds
)

// Need is the condition for an operation to begin, besides its turn.
type Need uint8

// The needs.
const (
	Nothing   Need = iota
	CPU            // a free CPU
	Interface      // free CPU and network interface: a message leaves
	End            // of the program: the end of its wait, which [Program] knows
	Order          // only that all earlier operations of the program have begun; the operation takes no part in the order of time
)

// Operation is work of a rank's program, or of an agent, for the processor.
type Operation struct {
	Need      Need
	Owner     Owner
	Kind      uint8           // for the owner
	Direct    bool            // a wait of a blocking call: it ends with the request, even if the CPU is busy
	Procedure world.Procedure // of a send, or of a computation
	Call      uint32          // agents: number of the rank's call
	Index     int32           // for the owner: the message or the agent
	Request   int32           // of a send: 0 if no wait needs it
	Dest      int32           // of a send: a rank
	Earliest  vtime.Time      // earliest start
	Released  vtime.Time      // order among equal starts
	Length    vtime.Duration  // of a computation
	Function  func()          // function to call; nil for an operation that the owner carries out
}

// Work carries out the uses of processors for one owner. LPs are LPs of the engine. A message is
// identified by the owner's index for it.
type Work interface {
	// Begin carries out an operation at an instant. It returns false for an End that must begin at
	// another instant.
	Begin(lp int32, p *Processor, op *Operation, at vtime.Time) bool
	// Size returns the bytes of a message that has reached an LP.
	Size(index int32) int64
	// CallOf returns the call that a message of an LP is for, as far as it is known.
	CallOf(lp, index int32) world.Procedure
	// TakeIn handles a message that has arrived at an instant; the CPU of an LP takes it in from at
	// on.
	TakeIn(lp, index int32, arrival, at vtime.Time)
	// Sender returns the LP and call that wait for the match of an index, and whether they still
	// wait.
	Sender(index int32) (lp int32, c world.Procedure, live bool)
	// Matched handles the match of an index at t.
	Matched(index int32, t vtime.Time)
	// Leaving returns the call of an operation that needs the interface, and the name of its
	// message. It returns false if the call is over.
	Leaving(op *Operation) (c world.Procedure, message string, live bool)
}

// Program is the Work of ranks' programs, whose waits and loops of polls share the processor.
type Program interface {
	Work
	// Pass carries out an operation of a kind that needs only Order.
	Pass(lp int32, kind uint8)
	// Ends returns the instant at which an End of an LP can begin, Forever if unknown, and its
	// release.
	Ends(lp int32, p *Processor, op *Operation) (at, released vtime.Time)
	// InLoop reports whether an End that may begin at an instant is a poll in a long loop of polls,
	// which fail until an event at the LP.
	InLoop(lp int32, earliest vtime.Time) bool
	// Skipped records the skipped polls of a long loop between two instants.
	Skipped(from, to vtime.Time)
	// Ended ends the wait of an LP at the LP's clock, and resumes the LP.
	Ended(lp int32)
}
