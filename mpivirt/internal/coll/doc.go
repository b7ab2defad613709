// Package coll carries collectives out.
//
// # Model
//
// A call (collective.go) enters an instance (instance.go). Its communicator and its number name
// it on all engines. All engines make the same choice of an interpreter (interpreter.go), since
// it rests on what all of them know. By messages, each participant has an agent on a clock of
// its own. Over arrays of clocks, package maxplus evaluates all participants of an engine at
// once. Locally, one engine that has all members goes through the schedule round by round.
// Schedules come from package collectives. Node-leader wraps the first two with joins and
// releases within nodes (join.go). Signatures that travel with messages show that members call
// different things (mismatch.go). PlanOf tells the same choice
// beforehand (plan.go).
//
// # Invariants
//
//   - All three ways give the same times and bytes, on any hosting.
//   - The bytes of a member's input and output are the operation's from its entry to the end of
//     its part, and only then: the program may change them when its call returns. Nothing else
//     holds bytes of them but messages that nobody has taken in (memory.go, moves.go).
//   - Vectors are combined in rank order or in a fixed tree, so that floating-point results
//     do not depend on the partition.
//   - Entering a barrier that is under way touches two cache lines and makes nothing.
//   - A nonblocking operation takes the time of the blocking one. Under state at the receiver, the
//     Wait behind it is an operation that takes its turn at the processor, and may end later.
//
// # Use
//
// [Collectives] adds to [p2p.Messages] what the members of communicators do together. The
// kernel enters ranks and hands over records and tasks. The package must not know kinds of
// rank, how a run begins or how it ends. The cases are those of the MPI standard 4.1,
// chapters 6 and 7.
//
// # Instances and interpreters
//
// A call enters an *instance* (communicator, number). The instance is carried out in
// one of four ways, which the engines choose alike from what they all know
// (`interpreter.go`):
//
//   - by messages (`agent.go`): each participant has an agent that goes through the
//     schedule on a clock of its own; every message is an event. Round messages are a type
//     of their own (`round.go`), and a rank's round queue, not its mailbox, holds its agents
//     and what comes before they wait for it. A root that sends to all members itself lets those on
//     its engine go first who are some instances behind (`rootAhead`): early messages take memory;
//   - over arrays (`arrays.go`): once all local members are in, a round is a pass over
//     an array of clocks; engines exchange the stretches that cross. Only for
//     operations in which nobody can leave before everybody has entered. Blocks that members get as
//     they are go between engines beside the clocks (`blocks.go`);
//     Where ranks share the interfaces of their nodes, that holds for a collective that is all they
//     do, whose messages take interfaces round by round (`layers.go`);
//   - locally (`local.go`): a communicator that lies on one engine, round by round,
//     for any algorithm, data and delay model. If the engine runs dry before all
//     members have entered, the instance turns into one by messages;
//   - at a fixed cost (`fixedcost.go`): a barrier whose cost the machine file gives. The last entry
//     goes up a tree of the engines and down again.
//
// Bytes are moved once to each receiver, and lie in the program's slices. MPI gives the
// operation a member's input and output from its entry to the end of its part, so positions of
// a schedule lie there (`memory.go`). Within an engine a message's payload is a view of its
// sender's memory: an agent that waits takes it in at once, a sender that waits for the match
// lends it until then, and otherwise messages of the same content share one copy. Where one
// engine has all members and all have entered, what is not combined goes from input to output
// directly (`moves.go`). Of an allgather and an alltoall that holds on several engines, too: within an engine blocks
// go directly, between engines many in a record. Those of an allgather take the tree of the engines up
// and down. Those of an alltoall go to each engine once all members have entered, which the same tree tells, so that they go
// from the record to their place. Between engines a record has one copy. Point-to-point messages do the
// same: a posted receive takes the payload from where it is, and a blocking send lends its slice
// while it waits (`Messages.keep` in room `p2p`). A content of a few pages is copied two pages
// side by side (`world.CopyContent`), since a processor fetches ahead up to the end of a page.
//
// Forecasts of the needs of a collective on the host rest on the same choice (`PlanOf` in `plan.go`): room `forecast`.
//
// Node-leader (`join.go`) wraps the first two: a counter per target node, the
// leaders' schedule, one release per node. The leader goes on at max(its own entry, each
// other member's entry + α_intra + β_intra·m) and combines the other vectors, γm each; the
// others leave at its exit + α_intra + β_intra·m. This is pure max-plus arithmetic: a
// later entry makes no exit earlier, and who was counted last does not matter. Joins and
// releases stand for counters and buffers in shared memory, so that no processor pays a
// message's overhead for them. Sums of an allreduce are combined in rank
// order within the node and in a fixed tree over the nodes (`tree.go`), so their bits
// do not depend on the partition. Vectors between engines go up and down a binomial tree of
// those that take part (`branches.go`): an engine sends what may not be combined yet to its
// parent, and the result to O(log engines) children.
//
// Members that call different collectives, or with arguments that do not match, are
// found out without messages for that (`mismatch.go`): each message and record has a
// signature of its sender's call, one that nobody takes gives its sender away, and the
// report of a deadlock compares what engines have called. A call that goes like another one has a
// procedure of its own for that (`Procedure.Plain`), and programs have their own names for procedures
// (`Partition.NameOf`). What each rank gets, and which rank is named, does not depend on the hosting.
// If nobody can leave any of the calls before all have entered, the
// collective fails as a whole (`failure.go`): all get the error, at the last entry and twice
// the greatest latency from the first member. Lengths, types and operations that differ in
// a rooted collective or a scan go through the messages of the algorithm, which say that
// they rest on a call that does not match; who receives one gets the error. Anything else
// ends the run. The members of each family of calls then go on among themselves, in an
// instance of their own with the same number, so that nothing before the error depends on
// who came first on the host. An engine that hears of two families bounds the run. When
// nothing is left before the bound, engine 0 gathers the first entrants of all engines, finds
// the first rank whose call is of another family than the first of all, and tells the others
// (`Kernel.conclude`).
//
// Intercommunicators (`inter.go`) have a communicator for each group, whose messages go to that
// group. Their blocking collectives go in parts (`interparts.go`): collectives on a communicator of the
// group alone, and messages between the leaders. Each part is an operation of its own on the rank's
// clock; a rank that is resumed in the middle submits the call again until it is over
// (`Kernel.InParts`). Nonblocking ones, and every alltoall, are exchanges, as below: each member sends
// to all that need its data, so they take as many messages as there are such pairs. A split is one of
// a communicator of both groups. What the leaders of two groups have told each other goes over the
// tree of the engines, as the colors of a split do, so that each engine has one copy of it.
//
// Neighbourhood collectives have no schedule: a member knows its own neighbours, and messages of
// one call may be of any number. They are an *exchange* (`exchange.go` in `p2p`): receives and
// sends that begin together and have one request, on a communicator beside the program's. All
// ranks work out its context by themselves, so a message may come before the receiver's engine
// knows the group. A communicator of which only the context is known keeps such messages
// (`Collectives.IndexOfContext`).
//
// Messages of a collective are named by (instance, round) and cannot overtake each
// other in a way that matters; the order kept between point-to-point messages of one
// sender (`sendOrder`) does not concern them.
package coll
