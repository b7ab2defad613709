// Package record records real programs as traces: it compiles libgigatrace for an MPI library, and merges the files that the tasks of a
// program have written.
//
// [Open] returns the library for a compiler of MPI such as mpicc. It is compiled at first use and kept in the user's cache. A
// program that is started with the library in LD_PRELOAD, or linked with it before MPI, writes a file for each task, in the format of
// package trace: a header, notes, blocks of operations. [Merge] makes one trace of them.
//
// # The library
//
// Its sources lie in folder runtime; trace.h is the place to start. It defines every function of MPI that returns an int, under the names MPI_ and
// PMPI_, and calls the next definition. Those in [Recorded] are written by hand and make operations. The others are generated from the mpi.h of
// the MPI library ([prototypes]): they are counted, and calls of those that move data or wait are counted as unrecorded ([Moves]). Calls that
// the library makes inside a call pass: so bindings of Fortran and C++ are heard once, whether they call MPI or PMPI.
//
// What operations look like is package trace's: its functions, fields and layouts come as a header that [trace.WriteLayouts] writes.
package record
