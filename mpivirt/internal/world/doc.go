// Package world holds the state of an engine's ranks that all rooms share.
//
// # Model
//
// A [Partition] is the block of ranks of one engine. It holds their clocks and ports, pooled
// buffers, communicators and failures. A [Comm] holds the members of a communicator; a [Group] is
// an ordered set of ranks. A [Slab] holds short-lived values. A [Writer] packs records between
// engines, and a [Reader] unpacks them. The package also holds the vocabulary of all rooms:
// procedures of MPI, error classes, statuses, element types, reduction operators.
//
// # Invariants
//
//   - The state of a rank does not grow with the number of ranks. It is a clock, and sixteen
//     bytes for a port once a message needs the port.
//   - Equal groups of an engine share one value. A group whose ranks lie at equal distances
//     needs no list.
//   - Failures are ordered by (virtual time, rank). Only the least failure counts.
//
// # Use
//
// Messages (room p2p) have a Partition. The package knows the engine, the target machine and
// statistics. It must not know messages, waits or collectives.
package world
