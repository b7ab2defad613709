// Package measurements holds published or own measurements of collectives against simulations of the same
// points.
//
// # Measurements
//
// [Read] takes a table in CSV with a line of column names:
//
//	machine, nodes, ppn   the name of a machine; nodes; ranks a node
//	op, bytes             operation; bytes of the vector for allreduce, reduce, bcast, scan and exscan, of
//	                      the block of one rank for the others, reduce_scatter included
//	measured_us           microseconds
//	statistic             the sense of the figure, see below
//	algorithm             the algorithm that the library was asked for; empty or default: its own choice
//	mpi, source           the library; where the figure was published
//	fallback_suspected    1: the library seems to have used another algorithm than it was asked for
//	set_aside             the reason for which the figure does not count
//
// The first six are required. Some 2,900 published figures have this form.
//
// # Rule
//
// A benchmark gives one figure for thousands of iterations on all ranks. The simulated figure of a point
// follows the same definition, on a machine without disturbance:
//
//   - max (PICO: "median of max over ranks"): a barrier precedes each iteration, so that all ranks
//     enter together. The figure is the time from the common entry to the last exit.
//   - avg (osu_allreduce and its kin): a barrier precedes each iteration, too (as in version 5.3 of the
//     OSU micro-benchmarks). The figure is the mean over the ranks of the time from the common entry to
//     the exit of each. min is that of the first exit.
//   - back to back (IMB, nccl-tests, and osu_barrier, where the operation itself is the barrier): ranks enter an iteration as
//     they leave the one before. The figure is the mean over ranks and iterations after the first few,
//     which warm the pipeline of a tree up.
//
// All warm iterations of a simulation without jitter are alike, so one is enough. With jitter in the
// machine file the figure is the median of several seeds. Barriers of a real benchmark release its
// ranks at different times; the simulated ranks enter at one instant.
//
// A point is carried out with the algorithm that its row names, if gigarank has it under that name or one
// in the table of synonyms, else it is listed with the reason. Where it is known that Open MPI does something else
// under the name, that takes part (see exceptions, and the fallbacks of the library's table). Where the library chose, the default
// of gigarank takes part, which is another comparison: of the choices, too. Rows that are set aside are
// simulated all the same and shown, but do not count; so are rows that figures of the machine come from (fitted_to).
package measurements
