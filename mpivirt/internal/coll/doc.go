// Package coll carries out collective operations.
//
// # Model
//
// A call (collective.go) enters an instance (instance.go), which its communicator and its number
// identify on all engines. All engines choose the same interpreter (interpreter.go), since the
// choice rests on data that all of them know. By messages, each participant has an agent on a clock
// of its own. Over arrays of clocks, package maxplus evaluates all participants of an engine at
// once. Locally, an engine goes through the schedule of its own members round by round. Schedules
// come from package collectives. Node-leader adds joins and releases within nodes to the first two
// interpreters (join.go). Signatures that travel with messages show calls that do not match
// (mismatch.go). PlanOf returns the choice of interpreter beforehand (plan.go).
//
// # Invariants
//
//   - All interpreters give the same times and bytes, on any hosting.
//   - The bytes of a member's input and output belong to the operation from the member's entry to
//     the end of its part, and only then: the program may change them when its call returns.
//     Only messages that no agent has received refer to them (memory.go, moves.go).
//   - Vectors are combined in rank order or in a fixed tree, so that floating-point results
//     do not depend on the partition.
//   - Entering a barrier that is under way touches two cache lines and makes nothing.
//   - A nonblocking operation takes the time of the blocking one, if its rank makes progress by itself or waits at
//     once; else its agents go on only in calls (paced.go). Under state at the receiver, the
//     Wait behind it is an operation that takes its turn at the processor, and may end later.
//
// # Use
//
// [Collectives] adds to [p2p.Messages] the collective operations of communicators. The kernel
// enters ranks and passes on records and tasks. The package must not know kinds of rank, nor how a
// run begins or ends. Its cases are the cases of the MPI standard 4.1, chapters 6 and 7.
//
// # Instances and interpreters
//
// A call enters an *instance* (communicator, number). The instance is carried out in one of five
// ways. All engines choose the same way, from data that all of them know (`interpreter.go`):
//
//   - by messages (`agent.go`): each participant has an agent that goes through the
//     schedule on a clock of its own; every message is an event. Round messages are a type
//     of their own (`round.go`), and a rank's round queue, not its mailbox, holds its agents
//     and its early messages. A root that sends to all members itself and is several instances
//     ahead yields to slower ranks of its engine (`rootAhead`), since early messages take memory;
//   - over arrays (`arrays.go`): once all local members have entered, a round is a pass over
//     an array of clocks; engines exchange the stretches of clocks that cross. Only for
//     operations in which no member can leave before all have entered. Blocks that members
//     receive unchanged travel between engines independent of the clocks (`blocks.go`).
//     Of an alltoallv only the blocks that are not empty have lengths and arithmetic of their own (`uneven.go`).
//     Where ranks share the interfaces of their nodes, a collective whose messages take no places there
//     (`takesNoPlaces`) goes this way in any program. Else only a collective that is the only
//     communication of all ranks does: its messages take interfaces round by
//     round (`layers.go`). Bytes that the rounds combine are then combined round by round beside the clocks
//     (`localRun`), and their contents travel between engines independent of the clocks (`roundsbetween.go`);
//   - locally (`local.go`): a communicator on a single engine, round by round, for any
//     algorithm without windows of several rounds, data and delay model. If the engine runs dry before all members have entered,
//     the instance continues by messages. Where messages take interfaces in layers and positions differ in size, also on
//     several engines, which exchange the messages of each round;
//   - in step (`instep.go`): under state at the receiver, a collective of all ranks on a single engine, while processors have
//     nothing else. A round is a pass over an array of processors. Where the order at a processor may be another than that of
//     rounds, or ranks enter or leave so far apart that their messages meet other work, the instance goes by messages;
//   - at a fixed cost (`fixedcost.go`): a barrier whose cost is in the machine file. The last
//     entry goes up a tree of the engines and down again.
//
// A schedule may have windows of several rounds, whose messages do not wait for each other (`window.go`). They go over arrays where all
// members, or those of each group, shift in each message of a window, and no message waits for its match (`regularwindow.go`); else by messages. In layers a window is one layer.
//
// Bytes are copied once for each receiver, from slice to slice of the program. MPI gives the
// operation a member's input and output from its entry to the end of its part, so the positions of
// a schedule lie there (`memory.go`). Within an engine a message's payload is a view of its
// sender's memory: an agent that waits absorbs it at once, a sender that waits for the match lends
// its memory until then, and otherwise messages of the same content share one copy. Where one
// engine has all members and all have entered, bytes that are not combined are copied from input to
// output directly (`moves.go`). For an allgather and an alltoall that also holds on several
// engines: within an engine blocks are copied directly, between engines many blocks share a record.
// Blocks of an allgather travel up and down the tree of the engines. Blocks of an alltoall travel
// to each engine once messages over the same tree have shown that all members have entered, so that
// they are copied from the record to their place. Between engines a record has one copy.
// Point-to-point messages work alike: a posted receive copies the payload from where it lies, and a
// blocking send lends its slice while it waits (`Messages.keep` in room `p2p`). A content of a few
// pages is copied two pages side by side (`world.CopyContent`), since a processor prefetches up to
// the end of a page.
//
// A call may have sizes alone (`Collective.Moved`): its agents have no memory, its messages no payload. A *phantom* is a call
// with vectors of elements whose bytes the simulation leaves out. It has the layout, the algorithm and the layers of
// the same call with bytes (`Collective.Data`), but the choice of an interpreter need not move bytes.
//
// Forecasts of the host resources of a collective rest on the same choice (`PlanOf` in `plan.go`):
// room `forecast`.
//
// Node-leader (`join.go`) adds to the first two ways a counter per target node, the leaders'
// schedule, and one release per node. The leader goes on at max(its own entry, each other member's
// entry + α_intra + β_intra·m) and combines the other vectors, γm each; the other members leave at
// its exit + α_intra + β_intra·m. This is pure max-plus arithmetic: a later entry makes no exit
// earlier, and the order of counting does not matter. Joins and releases stand for counters and
// buffers in shared memory, so no processor pays the overhead of a message for them. Sums of an
// allreduce are combined in rank order within the node and in a fixed tree over the nodes
// (`tree.go`), so their bits do not depend on the partition. Vectors between engines go up and down
// a binomial tree of the participating engines (`branches.go`): an engine sends vectors that must
// not be combined yet to its parent, and the result to O(log engines) children.
//
// Calls of different collectives, or with arguments that do not match, are detected without extra
// messages (`mismatch.go`): each message and record carries a signature of its sender's call, a
// message that no agent receives exposes its sender, and the deadlock report compares the calls of
// all engines. A call that shares the code of another call has its own procedure for this
// (`Procedure.Plain`), and programs have their own names for procedures (`Partition.NameOf`). The
// error of each rank, and the rank that is named, do not depend on the hosting. If in none of the
// calls a member can leave before all have entered, the collective fails as a whole (`failure.go`):
// all members get the error, at the last entry plus twice the greatest latency from the first
// member. Lengths, types and operations that differ in a rooted collective or a scan go through the
// messages of the algorithm, which carry a mark that they rest on a call that does not match; a
// member that receives such a message gets the error. Any other mismatch ends the run. The members
// of each family of calls then go on among themselves, in an instance of their own with the same
// number, so that nothing before the error depends on the order on the host. An engine that learns
// of two families bounds the run. When nothing is left before the bound, engine 0 gathers the first
// entrants of all engines, finds the first rank whose call is of another family than the call of
// the first entrant, and sends the result to the other engines (`Kernel.conclude`).
//
// Intercommunicators (`inter.go`) have a communicator for each group, for the messages to that
// group. Their blocking collectives consist of parts (`interparts.go`): collectives on a
// communicator of the group alone, and messages between the leaders. Each part is an operation of
// its own on the rank's clock; a rank that is resumed in the middle submits the call again until it
// is over (`Kernel.InParts`). Nonblocking collectives, and every alltoall, are exchanges, as below:
// each member sends to all members that need its data, with one message for each pair. A split
// is a split of a communicator of both groups. The data that the leaders of two groups have
// exchanged travel over the tree of the engines, as the colors of a split do, so that each engine
// has one copy.
//
// Neighbourhood collectives have no schedule: a member knows its own neighbours, and a call may
// have any number of messages. They are an *exchange* (`exchange.go` in `p2p`): receives and sends
// that begin together and have one request, on a separate communicator. All ranks compute the
// context of this communicator by themselves, so a message may come before the receiver's engine
// knows the group. A communicator of which only the context is known stores these early messages
// (`Collectives.IndexOfContext`).
//
// Messages of a collective have the name (instance, round) and cannot overtake each other in a way
// that matters; the send order of point-to-point messages (`sendOrder`) does not apply to them. Where interfaces are shared, messages
// between nodes of which a window has several to one member, as in sparbit, occupy the path to it one after another (`resource.Passage.Path`).
package coll
