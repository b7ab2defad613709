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
//   - avg (osu_allreduce and its kin): a barrier precedes each iteration, too, and each rank takes the time from
//     its own exit of the barrier to its exit of the operation. The figure is the mean over the ranks, min the least
//     of these times. A barrier by a tree releases its root a latency a level before its leaves, so the
//     figure of a bcast may be less than a latency, and that of an allreduce holds the wait for the
//     last rank. So the barrier is simulated, by the algorithm that the library takes for it.
//   - back to back (IMB, nccl-tests, and osu_barrier, where the operation itself is the barrier): ranks enter an iteration as
//     they leave the one before. The figure is the mean over ranks and iterations after the first few,
//     which warm the pipeline of a tree up.
//
// All warm iterations of a simulation without jitter are alike, so one is enough. With jitter in the
// machine file the figure is the median of several seeds. With interruptions of the ranks, which differ from one iteration to the next,
// and where a benchmark prints a mean, it is the mean of 8 to 32 iterations. The last exit changes little with the barrier before it,
// whose last exit is the common entry.
//
// A point is carried out with the algorithm that its row names, if gigarank has it under that name or one
// in the table of synonyms, else it is listed with the reason. Where it is known that Open MPI does something else
// under the name, that takes part (see exceptions, and the fallbacks of the library's table). Where the library chose, the default
// of gigarank takes part, which is another comparison: of the choices, too. Rows that are set aside are
// simulated all the same and shown, but do not count; so are rows that figures of the machine come from (fitted_to).
package measurements
