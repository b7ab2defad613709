// Package resource decides when ranks use resources, which they share with other ranks or among
// their own messages, in the order of virtual time.
//
// # Model
//
// A resource is busy with one use at a time. The instant at which its next use begins depends on
// all uses requested up to that instant, by ranks of any engine. So the engine of the resource
// decides: a timed event at the earliest instant at which a use can begin serves the resource, once
// all events up to that instant are known (EIT). [Turns] keeps that order for any kind of resource.
//
// Ranks have such a resource: a processor ([Processors]), the CPU and the network interface of a
// rank under a delay model with state at the receiver, such as `loggops`
// (`network.Target.ReceiverState`). Its uses are operations of the rank's program and of the agents
// of its collectives, and messages that reach the rank. processor.go describes the order of these
// uses, which is that of Schedgen and LogGOPSim.
//
// Nodes may have such resources, too: [Interfaces] that their ranks share (interfaces.go). They
// decide when each message between nodes begins and arrives. In a run that only calls one
// collective repeatedly, messages take interfaces round by round (layers.go).
//
// # Invariants
//
//   - Uses begin in the order (virtual time, release, source rank, number), never in the
//     order of the host.
//   - No use begins before all events up to its instant are known. A match without delay is sent
//     a picosecond later; so a use may begin in the past, by [Slack] at most.
//
// # Use
//
// The package knows the partition (room world), the engine and the target machine. It decides when
// a use begins; a [Work] carries the use out: the rooms of messages and of collectives each provide
// one. It must not know requests, mailboxes or algorithms.
//
// # Processors
//
// Under most delay models the cost of a message follows from its sender's clock and its receiver's
// call. Under a model with state at the receiver, such as `loggops`
// (`network.Target.ReceiverState`), the cost depends on other arrivals at the receiver. Each rank
// then has a processor (processor.go), which decides in the order of virtual time, when all
// arrivals up to an instant are known, as receives from any source do. A rank's calls become
// operations in a queue; the rank is suspended only where it needs an outcome or the time.
// Collectives are carried out by messages, or in step: room coll does the work of all processors in one
// go while they have nothing else (still.go).
//
// The lookahead between engines is the time of a message (o + L), less the slack of a nanosecond
// for matches that lead to matches without time in between. The match of a rendezvous has no
// lookahead. So an engine with a pending match lets promises bound its EIT only up to the message's
// arrival; beyond the arrival a round of the global minimum counts, plus a picosecond
// (`sync.Endpoint.Await`).
//
// A message occupies its receiver's processor even if no receive waits for it. So a collective
// cannot fail as a whole there: members that call different procedures end the run.
//
// docs/decisions/0005-exact-processors.md has the price of this exactness.
package resource
