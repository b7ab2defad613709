// Package topology is the arithmetic of virtual process topologies (MPI 4.1, chapter 8).
//
// # Model
//
// A [Grid] is a Cartesian grid in row-major order. A [Graph] is a whole graph, known to each
// member. [Neighbors] are a member's own neighbours, which follow from a grid or a graph.
//
// # Invariants
//
//   - All functions are pure. They know members by their numbers, and no communicator.
//   - A message goes to the receiver's place for it: [Neighbors] gives both ends of an edge the
//     same tag, and both ends know edges of one tag between two members in the same order.
//
// # Use
//
// The APIs of all kinds of rank share the package.
package topology
