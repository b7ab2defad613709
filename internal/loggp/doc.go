// Package loggp measures the messages of a real MPI library and writes a machine file from the
// measurements.
//
// # Model
//
// The package measures a pair of processes on one node and a pair on two nodes, where the job has
// them, with messages of 8 bytes to 64 MiB; the longest messages exceed the caches. Each figure is
// the least of several runs: a disturbance adds to a run, and belongs to noise. A run measures all
// figures, since a disturbance lasts longer than one figure takes, and runs are apart. A
// disturbance of a whole job affects all its runs: [Combine] takes medians of several jobs.
//
//   - The delay of a size is half the time of a ping-pong, as mpiping simulates it. Long messages
//     from uncached memory go both ways at a time, and the median of the runs counts: see
//     [Measurements].
//   - The overheads os and or are the times in the sender's and the receiver's call, the
//     latter for a message that has come before. The gap g is the time between two
//     messages of a train. So does the LogGP method of Kielmann, Bal and Verstoep, "Fast
//     Measurement of LogP Parameters for Message Passing Platforms", 2000.
//   - The time per byte reduced is that of MPI_Reduce_local on doubles.
//   - The times of a rank's own block in an alltoall are those of messages to oneself, while the
//     other processes of the node send themselves messages, too: they share memory.
//   - From some size on a sender waits for a late receiver. The eager limit below this size is
//     found among the sizes of ping-pongs and then by bisection. The receiver makes progress
//     before it posts the receive: it probes for other messages. For one message above the limit it
//     posts the receive and computes: if the sender waits, a rank that computes makes no progress. For another one it
//     computes, posts the receive, computes on and waits: if the sender waits for that, the call that posts makes none.
//   - Barriers and allreduces are timed in a row, over all processes and over those of a
//     node. A bcast is timed with a barrier after it, whose own time is subtracted.
//
// [Measurements.Machine] takes os and or from the delays, since a target machine adds them. Half of
// a barrier on a node is the time of a join, in which ranks enter by counters without overhead.
// Half of an allreduce, without the sums, is the time of a join with data. If all processes share a node, bcasts are the times of whole
// broadcasts there. Model table keeps the
// delay of each size. Model hockney (flat, or twolevel where both pairs are known) keeps the line α
// + βm with the least squares of the relative errors, and no eager limit: it is fitted to delays
// that contain a handshake above the limit. In a table, rows above the limit are the delays without
// the request and the acknowledgement that the target machine adds, two latencies. The limit is the
// limit of the longer path, since a machine has a single limit.
//
// The package calls MPI through a [Link], so that a test can stand in for it.
package loggp
