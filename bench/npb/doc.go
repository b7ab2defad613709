// Command npb builds the NAS Parallel Benchmarks 3.4 from a tree that the user has, and runs
// them on virtual ranks. It takes the tree's directory, NPB3.4-MPI, and one of
//
//   - verify: each benchmark at the rank counts that its rules allow, up to 256 in class S,
//     64 in class W (144 for BT, SP and LU) and 16 in class A. Each must verify, or refuse the
//     number by its own message. At 16 ranks of class S the fingerprint must be the same on one
//     engine and two, on copied stacks, and on two processes of MPI.
//
//   - smpi: wall time and memory beside those of SimGrid's SMPI, of classes S and W and of a
//     loop of barriers. Nothing is measured where smpicc and smpirun are missing.
//
//   - star: classes A and B on a star of 50 us and 1 Gbit/s, as the papers on xSim have them:
//     time of a real run, virtual time and what the simulation takes.
//
// The tree is copied, not changed. Tables are Markdown.
package main
