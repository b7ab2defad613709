// Package world holds what an engine keeps of its ranks, whatever they do.
//
// # Model
//
// A [Partition] is the block of ranks of one engine: their clocks and ports, pooled buffers,
// the communicators that they are members of, and which of them have failed. A [Comm] says
// who the members of a communicator are; a [Group] is an ordered set of ranks. Values that
// come and go lie in a [Slab], records between engines are packed and read field by field
// ([Writer], [Reader]). The vocabulary of all rooms stands here, too: procedures of MPI,
// error classes, statuses, types of elements, reduction operators.
//
// # Invariants
//
//   - Nothing is kept per rank that grows with the number of ranks. A rank takes its clock,
//     and sixteen bytes for a port once a message needs one.
//   - Equal groups of an engine are one value. One whose ranks lie at equal distances needs
//     no list.
//   - Failures are ordered by (virtual time, rank), and what lies beyond the least one that
//     is known does not count.
//
// # Use
//
// The rooms above embed a Partition. The package knows the engine, the target machine and
// statistics. It must not know messages, waits or collectives.
package world
