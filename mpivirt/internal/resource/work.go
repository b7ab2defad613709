package resource

import (
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// Owner says whose an operation or a message is, and so who carries it out.
type Owner uint8

// The owners, in the order in which operations of one release begin.
const (
	OfProgram Owner = iota // the rank's program: its calls, its messages
	OfAgents               // the agents of its collectives, and the messages of their rounds
)

// Need is what an operation needs to begin, besides its turn.
type Need uint8

// The needs.
const (
	Nothing   Need = iota
	CPU            // the CPU is free
	Interface      // CPU and network interface are free: a message leaves
	End            // of the program: its wait can end, which [Program] knows
	Order          // only that all operations of the program before it have begun; it takes no part in the order of time
)

// Operation is work of a rank's program, or of an agent, for the processor.
type Operation struct {
	Need      Need
	Owner     Owner
	Kind      uint8           // for the owner
	Direct    bool            // a wait of a blocking call: it ends with the request, busy CPU or not
	Procedure world.Procedure // of a send
	Call      uint32          // agents: number of the rank's call
	Index     int32           // for the owner: the message or the agent
	Request   int32           // of a send: 0 if nobody waits for it
	Dest      int32           // of a send: a rank
	Earliest  vtime.Time      // earliest start
	Released  vtime.Time      // order among equal starts
	Length    vtime.Duration  // of a computation
	Function  func()          // it is called; nil for an operation that the owner carries out
}

// Work carries out what processors begin for one owner. LPs are those of the engine. Messages are named by the index
// that the owner has given them.
type Work interface {
	// Begin carries out an operation at an instant. False puts an End off, which may begin at another instant.
	Begin(lp int32, p *Processor, op *Operation, at vtime.Time) bool
	// Size returns the bytes of a message that has reached an LP.
	Size(index int32) int64
	// CallOf returns the call for which a message reaches an LP, as far as it is known.
	CallOf(lp, index int32) world.Procedure
	// TakeIn handles a message that has arrived at an instant and that the CPU of an LP takes in from another on.
	TakeIn(lp, index int32, arrival, at vtime.Time)
	// Sender returns the LP and the call that wait for the match of a message of the index, and whether they still do.
	Sender(index int32) (lp int32, c world.Procedure, live bool)
	// Matched handles the match of that message at t.
	Matched(index int32, t vtime.Time)
	// Leaving returns the call of an operation that needs the interface, and names its message. It reports false if
	// the call is over.
	Leaving(op *Operation) (c world.Procedure, message string, live bool)
}

// Program is the work of ranks' programs, whose waits and loops of polls share the processor.
type Program interface {
	Work
	// Pass carries out an operation of a kind that needs only Order.
	Pass(lp int32, kind uint8)
	// Ends returns when an End of an LP can begin, and its release. The instant is Forever if that is unknown.
	Ends(lp int32, p *Processor, op *Operation) (at, released vtime.Time)
	// InLoop reports whether an End that may begin at an instant is a poll in a long loop of polls, which fail until
	// something happens to the LP.
	InLoop(lp int32, earliest vtime.Time) bool
	// Skipped notes that an LP has not made the polls of a long loop between two instants.
	Skipped(from, to vtime.Time)
	// Ended has the wait of an LP end at its clock, and the LP go on.
	Ended(lp int32)
}
