// Package fit writes a machine file from the text output of benchmarks: the OSU micro-benchmarks,
// the Intel MPI Benchmarks (IMB-MPI1) and nccl-tests.
//
// # Reading
//
// [Read] finds the tables of benchmarks in a file, among other output of the job. The numbers of
// nodes and of ranks a node come with the file, or from words of the job in front of a table:
// options of srun and mpirun, #SBATCH lines, variables of Slurm, the list of devices of nccl-tests,
// or a line "# gigarank: nodes=2 ppn=96". A row that cannot be read is a fault with file and line,
// also a row outside of any table: else a table that other output has cut in two would lose its end
// silently.
//
// # From benchmarks to fields
//
//   - Levels: osu_latency and PingPong of two ranks, half of the two-way time by size, less the
//     overheads. Two ranks of a node and two nodes give the levels of the node and of the machine. A
//     pair with a [Level] gives the level of a socket or of a leaf switch. Without ping-pongs, rings
//     of nccl-tests: a ring of P ranks takes 2(P-1) steps of L + n/(P·B).
//   - The gap of a rank: osu_bw between two ranks. W messages of a window and the answer take
//     (W-1)·g + delay + delay of 4 bytes. Both overheads are estimated as the gap, or less if that
//     would exceed a delay.
//   - The interfaces of a node: osu_mbw_mr or Uniband with the most pairs between two nodes. The
//     simulation of the row with the greatest rate of bytes takes as long as measured with the
//     bandwidth, and that of the shortest messages with the gap. Where each pair gets as much as one
//     pair alone, or pairs are fewer than a node's ranks, the figures are lower bounds, and estimates.
//   - The memory of a node: osu_mbw_mr or Uniband with the most pairs within a node. Twice the greatest
//     rate of bytes, which are read and written. Where pairs do not hold each other up, or are fewer
//     than a node has, it is a lower bound, and an estimate.
//   - The eager limit: a step in osu_latency of at least one delay of a small message that the
//     growth before and after the step does not explain.
//   - Joins of a node: barriers and allreduces of all ranks of one node, as in machine calibrate.
//   - The bandwidth of reductions: the bandwidth with which simulations of the allreduces, reduces
//     and reduce_scatters from 64 KiB on are nearest to their times, by least squares of the
//     logarithms.
//
// A field that no benchmark determines is left out of the file, or is an estimate that the file
// marks; the report says so, with the benchmark that would determine the field. Every point is then
// simulated with the machine, and its residual printed.
package fit
