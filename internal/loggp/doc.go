// Package loggp measures the messages of a real MPI library and makes a machine file
// of them.
//
// # Model
//
// One pair of processes on one node and one on two nodes are measured, where the job has
// them, over messages of 8 bytes to 64 MiB; caches hold none of the longest messages. Each figure is
// the least of several runs: what disturbs a run comes on top of it, and is the business of
// noise. A run goes through all figures, since a disturbance lasts longer than one figure
// takes, and runs are apart. What disturbs a whole job no run shows: [Combine] takes medians
// of several jobs.
//
//   - The delay of a size is half the time of a ping-pong, as mpiping simulates it. Long messages that
//     are cold go both ways at a time, and the median of the runs counts: see [Measurements].
//   - The overheads os and or are the times in the sender's and the receiver's call, the
//     latter for a message that has come before. The gap g is the time between two
//     messages of a train. So does the LogGP method of Kielmann, Bal and Verstoep, "Fast
//     Measurement of LogP Parameters for Message Passing Platforms", 2000.
//   - The time per byte reduced is that of MPI_Reduce_local on doubles.
//   - The times of a rank's own block in an alltoall are those of messages to oneself, while the
//     others of the node send themselves some, too: memory is shared.
//   - From some size on a sender waits for a receiver that is late. The eager limit below it is
//     found among the sizes of ping-pongs and then by bisection. The receiver makes progress
//     before it posts the receive: it probes for other messages. For one message above the limit it
//     posts the receive and computes: if the sender waits, a rank that computes makes no progress.
//   - Barriers and allreduces are timed in a row, over all processes and over those of a
//     node. A bcast is timed to its last end, by an answer.
//
// [Measurements.Machine] takes os and or from the delays, since a target machine adds them.
// Half of a barrier on a node is the time of a join, in which ranks enter by counters and pay
// no overhead. Half of an allreduce, without the sums, is that of a join with data.
// Model table keeps the delay of each size. Model hockney (flat, or twolevel where both
// pairs are known) keeps the line α + βm with the least squares of the relative errors, and no
// eager limit: it is fitted to delays that contain a handshake above it. In a table, rows above the
// limit are the delays less the request and the acknowledgement that the target machine adds, two
// latencies. The limit is that of the longer way, since a machine has one.
//
// The package calls MPI through a [Link], so that a test can stand in for it.
package loggp
