// Package resource decides the uses of resources that ranks share with others, or with their own messages, in the
// order of virtual time.
//
// # Model
//
// A resource is busy with one use at a time. When its next use begins depends on all uses that are asked for up to
// that instant, from whatever rank and engine. So the engine that has the resource decides: a timed event at the
// earliest instant at which a use can begin serves the resource, once all events up to that instant are known (EIT).
// [Turns] keeps that order for any kind of resource.
//
// The resource of this kind that ranks have is a processor ([Processors]): the CPU and the network interface of a
// rank under a delay model with state at the receiver, as `loggops` (`network.Target.ReceiverState`). Its uses are
// operations of the rank's program and of the agents of its collectives, and messages that reach the rank.
// processor.go has the order of these uses, and of Schedgen's and LogGOPSim's.
//
// The nodes of a machine may have resources, too: [Interfaces] that their ranks share (interfaces.go). They decide when
// each message between nodes begins and arrives. In a run of one collective that is called again and again, messages take
// them round by round (layers.go).
//
// # Invariants
//
//   - Uses begin in the order (virtual time, release, source rank, number), never in the order in which the host
//     learns of them.
//   - No use begins before all events up to its instant are known. A match without delay is told a picosecond later;
//     so a use may begin in the past, by [Slack] at most.
//
// # Use
//
// The package knows the partition (room world), the engine and the target machine. It decides when; [Work] carries
// out what begins: the rooms of messages and of collectives each give one. It must not know requests, mailboxes or
// algorithms.
//
// # Processors
//
// Under most delay models what a message costs follows from its sender's clock and its
// receiver's call. Under one with state at the receiver, as `loggops`
// (`network.Target.ReceiverState`), it depends on what else arrives there. Each rank then has
// a processor (processor.go), which takes its decisions in the order of virtual time,
// when all arrivals up to that instant are known, as receives from any source do. A rank's
// calls become operations in a queue; it is suspended only where it asks for an outcome or
// the time. Collectives are carried out by messages.
//
// The lookahead between engines is what a message takes (o + L), less the slack of a
// nanosecond for matches that lead to matches without time between them. The match of a
// rendezvous keeps no lookahead. So an engine that has one under way lets promises bound its
// EIT only up to the message's arrival; beyond it counts a round of the global minimum, plus
// a picosecond (`sync.Endpoint.Await`).
//
// A message takes effect on its receiver's processor whether or not somebody waits for it.
// So a collective cannot fail as a whole there: members that call different ones end the run.
//
// docs/decisions/0005-exact-processors.md has the price of that.
package resource
