// Package engine runs the logical processes of one partition: event list, ready queue,
// delivery between partitions, statistics. It knows LPs and events and nothing of MPI.
// A [Kernel] gives events their meaning.
//
// # Model
//
// An engine owns a contiguous block of LPs ([Partition]). The kernel keeps a clock for
// each LP. Two kinds of work wait in an engine:
//
//   - ready items, whose outcome the program fixes whatever else may happen: an LP whose
//     named message has come, a collective that is complete. They run at once, in no
//     particular order of virtual time. Running ahead of other LPs cannot change what
//     they compute.
//   - timed events, whose outcome depends on everything that happens before their
//     time: a wildcard receive, a probe, an event of PHOLD. They are handled in the
//     total order of [Event.Before], once nothing can still come at or before their
//     time. That is so when the ready queue is empty and the time is below EIT.
//     Synchronisation establishes EIT (Jha and Bagrodia, "A unified framework for
//     conservative and optimistic distributed simulation", PADS 1994).
//
// Every interaction between LPs takes at least a picosecond. Handling the least timed
// event is therefore always safe within the partition: whatever the LPs do from then on
// takes effect later. When an event at time t is handled, all arrivals at LPs of the
// partition at or before t are known.
//
// # Bounded running ahead
//
// Kernels report what they hold in buffers ([Engine.Buffer]). Past the limit, LPs that
// would send are suspended ([Engine.Throttle]). They are resumed one by one in order of
// virtual time until the buffers shrink. Throttling only delays; it never changes a
// result, and an LP that alone can make progress is never held.
//
// # Failures
//
// An LP that fails bounds the simulation ([Engine.LPFailed]). No engine runs what comes
// after the least failure in the order of (time, LP). The simulation ends when nothing
// is left before it. LPs run ahead of virtual time; this bound makes the failure that
// ends a run a property of the program. A late failure, of an LP that others do not depend on
// any more, bounds nothing: it is known to all engines when the simulation has ended.
//
// # Causality
//
// [Engine.CheckArrival] refuses a record from another engine whose effect lies
// below the EIT; see [CausalityError].
//
// # Time-dependent decisions
//
// All interaction takes at least a picosecond of virtual time. So when an engine has
// no ready item left, the least timed event is safe within the partition, and it is
// safe altogether when it lies below the EIT that `sync` has established, by null
// messages on demand, by rounds that compute the global minimum, or by both
// (`hybrid`). At that moment all arrivals at or before its time are known;
// `mpivirt/internal/p2p/matching.go` says why that makes matching independent of the order in
// which the host learns of things.
//
// A timed event of which the outcome is known before, since a rank's calls tell enough, is withdrawn
// (`engine.Withdrawer`): it stays among the others until it is the least, and no engine is asked for its time
// because of it. Answers to messages of a rendezvous are such events, where progress is made in calls
// (`mpivirt/internal/p2p/progress.go`).
//
// No effect is closer than the least latency between two partitions: a message, the
// join of a node and its release all take at least that. Partitions keep the ranks of a
// node together where they can, for a larger lookahead.
//
// One thing bends this rule and is accounted for. While engines exchange arrays of
// clocks (package coll), a round holds back what an engine knew before: promises then bound EIT
// only up to the least clock in the exchange, and beyond it counts a round of the global
// minimum (`sync.Endpoint.Cap`). The same holds while a split holds exits back: the
// groups that its members tell each other are no messages in virtual time.
package engine
