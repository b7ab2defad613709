// Command npb builds the NAS Parallel Benchmarks 3.4 from a tree that the user has, and runs
// them on virtual ranks. It takes the tree's directory, NPB3.4-MPI, and one of
//
//   - verify: each benchmark at the rank counts that its rules allow, up to 256 in class S
//     (1,024 for CG and EP), 64 in class W (144 for BT, SP and LU) and 16 in class A. Each must
//     verify, or refuse the number by its own message. From one number to the next the way of
//     hosting changes: one engine or two, two processes of MPI, own or copied stacks. So each
//     benchmark and class has all of them. Runs on as many ranks must have the same fingerprint.
//     -results keeps the runs, and -for ends after a time: the next call goes on from there.
//
//   - smpi: wall time and memory beside those of SimGrid's SMPI, of classes S and W and of a
//     loop of barriers. Nothing is measured where smpicc and smpirun are missing.
//
//   - star: classes A and B on a star of 50 us and 1 Gbit/s, as the papers on xSim have them:
//     time of a real run, virtual time and what the simulation takes.
//
//   - traces: real runs with and without the recorder in turn, their recordings replayed on the machine that machine calibrate
//     measures: what recording costs, run times and times in MPI measured and predicted, CPU time of a replay, bytes of an operation. Further tables
//     take the time in MPI apart, and compare the bytes with those of other forms.
//     The plain runs behind the recorded ones tell how much equal runs differ. -cpu wall counts the wall time of bursts, where others load the machine.
//
//   - ways: one program, three ways: predictions of run times on other machines by native ranks whose CPU time is measured, by the replay of a
//     recorded real run, and by that of a recorded simulated run, with the spread of each.
//
// The tree is copied, not changed. Tables are Markdown.
package main
