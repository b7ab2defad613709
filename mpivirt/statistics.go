package mpivirt

import "gigarank/mpivirt/internal/kernel"

// CallStatistics are the times of calls by their cause. docs/statistics.md has the rules by which the time of a call is divided.
//
//   - Calls has a row for each procedure and communicator. If there are more than 256 communicators besides WORLD and SELF, they
//     share rows.
//   - Tasks has the sums of each rank, nil above 65,536 ranks. The times of a rank add up to its finish time.
//   - Phases has the six activities of a process in VACED-SIM, summed over ranks.
//   - Balance has the sum and the greatest of the ranks' computing times, and the least rank with the greatest.
//   - Speeds has the messages by the bandwidth that they saw, in bytes a second: the bytes of a message over the time from when its content leaves
//     until it is there. Messages of collectives count, messages without bytes do not. Bytes are those of the messages.
//   - Between has the bytes of messages between nodes, those of collectives included, 0 if the machine has no energy; 2^64-1 stands for more, too.
//   - Matrix has the bytes of messages point to point, by sender and receiver, each a block of Block ranks.
type CallStatistics = kernel.CallStatistics

// CallTimes sums up the calls of a procedure on a communicator.
type CallTimes = kernel.CallTimes

// Task sums up the calls of a rank: their number, the bytes that they send, receive or hand to collectives, and the rank's time by cause.
type Task = kernel.Task

// Cause is the reason for which a rank's time passes.
type Cause = kernel.Cause

// Computing is the cause of time outside MPI.
const Computing = kernel.Computing

// NumberOfCauses is the number of causes, counted from 0.
const NumberOfCauses = kernel.NumberOfCauses

// Causes are times by cause.
type Causes = kernel.Causes

// Total is a sum of times in picoseconds.
type Total = kernel.Total
