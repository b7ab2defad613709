// Package forecast estimates the memory and the time that a simulation takes on the host, before it runs.
//
// # Model
//
// [CostOf] adds up the memory of the ranks of a kind, the memory of their processors under a model
// with state at the receiver, and the memory of the collective that takes most (collective.go).
// Room coll returns how engines would carry out a collective ([coll.PlanOf]); the forecast makes no
// choice of its own.
//
// Over arrays and at a fixed cost, the memory of a participant follows from the schedule. By
// messages and locally a dry run counts the memory (dryrun.go): few participants go through the
// schedule as agents do, without content, and the dry run counts the greatest number of values of
// each kind in use at the same time. The counts for each participant hardly depend on the number of
// participants. A dry run follows the order of an engine's ready queue: agents first, then the next
// batch of ranks. Engines take turns, each until it has no work left.
//
// Under a model with state at the receiver, values wait for virtual time. A dry run then has clocks
// (clocked.go): participants have processors, which begin operations and take in messages in the
// order of virtual time, like the processors of room resource. Their values are counted for all
// engines together.
//
// The time of a collective is a sum of measured constants times numbers of ranks, messages and
// bytes (time.go). [HeldBytes] returns the memory of the messages and requests that a program
// declares its ranks hold (held.go).
//
// # Units
//
// Memory is in bytes. The sizes of agents, messages, mailboxes and similar values are constants of
// the rooms that define these values ([coll.AgentBytes], [p2p.MailboxBytes]). Times are in ns of
// user CPU, over all engines. Both are means: for each rank, participant or engine.
//
// # Use
//
// Plan, run and study ask for a forecast through package mpivirt. No simulation calls this package, and no
// result depends on it. scripts/forecast and the tests of internal/measure/forecast compare it with runs.
package forecast
