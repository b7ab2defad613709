// Package engine runs the logical processes of one partition: event list, ready
// queue, delivery between partitions, statistics. It knows LPs and events and
// nothing of MPI; what an event means is the business of a [Kernel].
//
// # Model
//
// An engine owns a contiguous block of LPs ([Partition]). Each LP has a clock of
// its own, kept by the kernel. Two kinds of work wait in an engine:
//
//   - ready items, whose outcome is fixed by the program whatever else may
//     happen (an LP whose named message has come, a collective that is complete).
//     They are run at once, in no particular order of virtual time: running ahead
//     of other LPs cannot change what they compute.
//   - timed events, whose outcome depends on everything that happens before their
//     time (a wildcard receive, a probe, an event of PHOLD). They are handled in
//     the total order of [Event.Before], and only when nothing that could still
//     come lies at or before their time: the ready queue is empty, and the time
//     is below the EIT that synchronisation has established (Jha and Bagrodia, "A
//     unified framework for conservative and optimistic distributed simulation",
//     PADS 1994).
//
// With every interaction between LPs delayed by at least a picosecond, handling
// the least timed event is always safe within the partition: whatever the LPs do
// from then on takes effect later. Hence at the moment an event at time t is
// handled, all that arrives at any LP of the partition at or before t is known.
//
// # Bounded running ahead
//
// Kernels report what they hold in buffers ([Engine.Buffer]). Past the limit,
// LPs that would send are suspended ([Engine.Throttle]) and resumed one by one in
// order of virtual time until the buffers shrink. Throttling only delays; it
// never changes a result, and an LP that alone can make progress is never held.
//
// # Failures
//
// An LP that fails bounds the simulation ([Engine.LPFailed]): what comes after the least
// failure, in the order of (time, LP), is not run, on any engine, and the simulation ends
// when nothing is left before it. LPs run ahead of virtual time, so this alone makes it
// a property of the program which failure it ends with.
//
// # Causality
//
// [Engine.CheckArrival] refuses a record from another engine whose effect lies
// below the EIT; see [CausalityError].
package engine
