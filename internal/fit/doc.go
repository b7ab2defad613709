// Package fit makes a machine file of the text that benchmarks print: the OSU micro-benchmarks, the Intel MPI
// Benchmarks (IMB-MPI1) and nccl-tests.
//
// # Reading
//
// [Read] finds the tables of benchmarks in a file, whatever a job prints around them. The number of nodes and
// of ranks a node comes with the file, or from words of the job in front of a table: options of srun and mpirun, #SBATCH lines,
// variables of Slurm, the list of devices of nccl-tests, or a line "# gigarank: nodes=2 ppn=96". A row that
// cannot be read is a fault with file and line, also a row outside of any table: a table that other output has
// cut in two would lose its end without a word.
//
// # What determines what
//
//   - Delays between nodes and within one: osu_latency and PingPong, half of the two-way time by size, less the
//     overheads. Without them, rings of nccl-tests: a ring of P ranks takes 2(P-1) steps of L + n/(P·B).
//   - The gap of a rank: osu_bw between two ranks. W messages of a window and the answer take (W-1)·g + delay + delay of 4
//     bytes. Both overheads are estimated as the gap, less where that would leave nothing of a delay.
//   - The interfaces of a node: osu_mbw_mr with many pairs between two nodes. The greatest message rate is one
//     message each gap, the greatest bandwidth that of all interfaces.
//   - The eager limit: a step in osu_latency of at least one delay of a small message that the growth before and after
//     it does not explain.
//   - Joins of a node: barriers and allreduces of all ranks of one node, as machine calibrate does.
//   - The bandwidth of reductions: the one with which simulations of the allreduces, reduces and reduce_scatters from 64 KiB on
//     are nearest to their times, by least squares of the logarithms.
//
// What nothing determines is left out of the file, or is an estimate that the file marks; the report says so, with the
// benchmark that would determine it. Every point is then simulated with the machine, and the residual printed.
package fit
