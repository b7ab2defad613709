// Package forecast estimates the memory and the time that a simulation takes on the host, before it runs.
//
// # Model
//
// [CostOf] adds up what the ranks of a kind take, what their processors hold under a model with state at
// the receiver, and what the collective that takes most adds to that (collective.go). Room coll tells how
// engines would carry a collective out ([coll.PlanOf]). The forecast has no choice of its own.
//
// Over arrays and at a fixed cost, the memory of a participant follows from the schedule. By messages and
// locally a dry run counts it (dryrun.go): few participants go through the schedule as agents do,
// without content, and the most values in use at the same time are counted by their kind. The counts
// for each participant hardly depend on the number of participants. A dry run follows the order of an
// engine's ready queue: agents first, then the next batch of ranks. Engines take turns, each until it has
// nothing left.
//
// Under a model with state at the receiver, values wait for virtual time. A dry run then has clocks
// (clocked.go): participants have processors, which begin operations and take in messages in the order of
// virtual time, as those of room resource do. What they hold is counted for all engines together.
//
// The time of a collective is a sum of measured constants times counts of ranks, messages and bytes
// (time.go). [HeldBytes] is the memory of messages and requests that a program says its ranks hold (held.go).
//
// # Units
//
// Memory is in bytes. The sizes of agents, messages, mailboxes and the like are constants of the rooms that
// have these values ([coll.AgentBytes], [p2p.MailboxBytes]). Times are in ns of user CPU, over all engines.
// Both are means: for each rank, participant or engine.
//
// # Use
//
// Plan, run and study ask for a forecast through package mpivirt. No simulation calls this package, and no
// result depends on it. scripts/forecast and the tests of internal/measure/forecast compare it with runs.
package forecast
