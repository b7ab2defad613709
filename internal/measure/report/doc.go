// Report measures how fast gigarank is and prints one table: each figure, a floor or
// the figure of another simulator beside it, and the ratio of the two.
//
// # Method
//
// Each figure is the median of five runs, or that of a single one with -quick, -large and
// -hosts. A run is a fresh process of the real binary, whose document gives wall times
// and peak memory. Processor time is the system's count for the process, from its start
// to its end. Floors are bare loops measured in the same way: coroutines of iter.Pull,
// and a slab of 16 bytes a rank. With -floor one bare loop is measured alone. Allocations are
// counted in this process, as the difference between a run and one twice as long.
//
// With -odd a workload runs at two sizes, at each of them a few times and once: the difference is the cost without set-up. The
// ratio of the two costs is its growth.
//
// With -payloads one process simulates an operation on large slices and copies the same slices
// without a simulation, in turns. The memory is what the runtime has got from the system.
//
// Figures of other simulators were measured on a machine of the same kind: SimGrid
// SMPI 4.1 (barriertest and a ring of 8-byte messages), LogGOPSim (dissemination
// barrier of 1M ranks), ROSS (phold).
//
// # Use
//
// scripts/bench builds the binaries and runs it; the machine should be idle. The exit
// code is 1 if a floor is missed.
package main
