// Package gigarank is the root of a conservative parallel discrete event
// simulator that runs MPI programs with up to a billion virtual ranks. It holds
// no code, only the test of the import graph.
//
// The rooms, each a directory with a doc.go: [gigarank/vtime] and
// [gigarank/internal/random] are the ground; [gigarank/lp], [gigarank/sync] and
// [gigarank/network] stand on it; [gigarank/engine] and [gigarank/collectives]
// on those; [gigarank/mpivirt] is the virtual MPI; [gigarank/bench] holds the
// programs and cmd/gigarank the command line.
package gigarank
