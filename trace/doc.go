// Package trace holds what the ranks of an MPI program did, as values and as a file.
//
// The trace of a rank, a task, is a stream of operations: bursts of computing, calls of MPI with the
// arguments that decide on their time, and marks. [Operation] is one of them, [Function] says which.
// A message has a size and no contents. Times are integer picoseconds.
//
// Requests, communicators and probed messages have numbers of the task's own: the least number that
// is free when the operation begins. So equal iterations of a program are equal operations.
// Communicator 0 is WORLD, 1 is SELF.
//
// # The file
//
// A file is the 8 bytes of its beginning, records, and the 24 bytes of its end. A record is
//
//	A5 67 52, a letter for the type, the length of the payload in 7-bit groups, the payload,
//	CRC-32C of all of that, the low byte first
//
//	H  header: JSON, see [Header]
//	B  block of operations of one task: task, number of its first operation, number of operations,
//	   way of compression (0 none, 1 zstd), bytes before compression, the bytes
//	T  note on a task of a real program: JSON, see [Note]
//	S  summary: JSON, see [Summary]
//	I  index: for each block, in the order (task, first operation), 32 bytes: task, length of the record, place of the
//	   record, first operation, number of operations
//
// A reader skips records of other types by their length. The end has the places of index and
// summary. So a reader finds task N by O(log N) reads. Without index, as in a file that was torn, [Walk] goes
// from record to record, and finds the next record by its first bytes and checksum where one is damaged.
//
// The recorder of real programs (room trace/record) writes a file of header, notes and blocks for each task, without summary, index and end.
//
// # Operations in a block
//
// An operation is its function, a mask, and the fields that the mask names. A field that the mask does not
// name has the value that the field had in the operation before that had it, of whatever function, or
// 0 where that is the commoner value ([field].rare). A number is its difference to that, in 7-bit groups with the sign in
// the lowest bit. A time is written whole, in nanoseconds if it is a number of them ([appendTime]). A list is its length and the difference of each element to the element before. Blocks
// are independent of each other: each begins with zeros and empty lists.
// The function [extension] stands for functions that a later version adds: their number, the length of the rest, the rest.
package trace
