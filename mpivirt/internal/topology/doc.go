// Package topology is the arithmetic of virtual process topologies (MPI 4.1, chapter 8).
//
// # Model
//
// A [Grid] is a Cartesian grid in row-major order, a [Graph] the whole graph as each member
// knows it, [Neighbors] what a member knows of its own neighbours. From a grid or a graph the
// neighbours of each member follow.
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
