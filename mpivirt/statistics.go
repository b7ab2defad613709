package mpivirt

import "gigarank/mpivirt/internal/kernel"

// CallStatistics are the times of calls by their cause. docs/statistics.md has the rules by which the time of a call is divided.
//
//   - Calls has a row for each procedure and communicator. If there are more than 256 communicators besides WORLD and SELF, they
//     share rows.
//   - Tasks has the sums of each rank, nil above 65,536 ranks. The times of a rank add up to its finish time.
//   - ByTask has the sums of each rank by procedure, nil above 1,024 ranks.
//   - Phases has the six activities of a process in VACED-SIM, summed over ranks.
//   - Balance has the sum and the greatest of the ranks' computing times, and the least rank with the greatest.
//   - Speeds has the messages by the bandwidth that they saw, in bytes a second: the bytes of a message over the time from when its content leaves
//     until it is there. Messages of collectives count, messages without bytes do not. Bytes are those of the messages.
//   - Blamed has the ranks for which others have waited, those that have cost most time first, of equal ranks the least; nil above 65,536 ranks.
//   - Between has the bytes of messages between nodes, those of collectives included, 0 if the machine has no energy; 2^64-1 stands for more, too.
//   - Sites has a row for each place of the program that makes calls, and procedure, by place; nil without Config.Sites. The rows add up to those of Calls.
//   - Course has the ranks' times by cause in at most 128 bins of virtual time, of which the first begins at 0; without bins unless Config.Course is set.
//     Within a collective the work of processors and the network alternate; the course has them one after the other.
//   - Matrix has the bytes of messages point to point, by sender and receiver, each a block of Block ranks.
type CallStatistics = kernel.CallStatistics

// CallTimes sums up the calls of a procedure on a communicator.
type CallTimes = kernel.CallTimes

// LateSends is the time for which calls have waited for late senders whose sends come from a place of the program.
type LateSends = kernel.LateSends

// SiteTimes sums up the calls of a procedure from a place of the program.
type SiteTimes = kernel.SiteTimes

// CourseTimes are the ranks' times by cause in bins of virtual time, whose width is a power of two of picoseconds.
type CourseTimes = kernel.CourseTimes

// Task sums up the calls of a rank: their number, the bytes that they send, receive or hand to collectives, and the rank's time by cause.
type Task = kernel.Task

// RankBlame is the time for which other ranks have waited for a rank, by cause, from LateSender on.
type RankBlame = kernel.RankBlame

// TaskCalls sums up the calls of a procedure by rank.
type TaskCalls = kernel.TaskCalls

// Cause is the reason for which a rank's time passes.
type Cause = kernel.Cause

// Computing is the cause of time outside MPI, LateSender the first of the causes of waiting for another rank.
const (
	Computing  = kernel.Computing
	LateSender = kernel.LateSender
)

// NumberOfCauses is the number of causes, counted from 0.
const NumberOfCauses = kernel.NumberOfCauses

// Causes are times by cause.
type Causes = kernel.Causes

// Total is a sum of times in picoseconds.
type Total = kernel.Total

// CriticalPath is the chain of computing, work for MPI and messages that ends the run. Its length is the time of the run. It has no
// time of waiting for other ranks, since it passes to the rank that is waited for.
//
//   - Rank ends last, the least of those that end together; Length is its time.
//   - Changes is the number of times that the path passes from one rank to another.
//   - Times has the length by cause, Functions by function, the greatest first, and Ranks by rank. The time of a message under way
//     belongs to the call and the rank that wait for it.
//   - Segments has the parts of the path from the beginning to the end.
type CriticalPath = kernel.CriticalPath

// FunctionShare is the share of a function of MPI in the critical path, or of computing.
type FunctionShare = kernel.FunctionShare

// RankShare is the share of a rank in the critical path.
type RankShare = kernel.RankShare

// PathSegment is a part of the critical path from an instant to another: the work of a rank in a function, or what is under way to the
// rank from Sender.
type PathSegment = kernel.PathSegment
