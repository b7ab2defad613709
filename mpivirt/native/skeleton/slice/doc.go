// Package slice finds the instructions of an MPI program that decide its course, and leaves out the others: the result is the
// program's skeleton.
//
// # Model
//
// The course of a rank is the sequence of its calls of MPI, with all arguments but the content of messages, and its exit code. The calls
// are roots. From them the slice goes back (Weiser, Program Slicing, 1984) to the instructions that compute an operand, that
// decide whether an instruction runs (package graph), or that may write the memory that an instruction reads.
//
// A value may lead to places in objects: variables, and what an instruction allocates (Andersen, Program Analysis and Specialization for the C Programming
// Language, 1994). A place is an offset of bytes, or offsets that differ by multiples of a step, as those of a field in an array of structures: all of them, or those that a counter with constant bounds has. All values take part, not
// pointers alone, so that a pointer may pass through an integer or through the bytes of a structure. The slice keeps all writers of the bytes that it
// reads, but for those in front of a store to the same address that each way to a load passes: such a store ends what has been there.
//
// The content of messages is needed where memory is read that a call of MPI receives. Then the senders' content is needed, too, of all
// calls with which that call may exchange messages: of the same operation or, between two ranks, with datatypes that may match. A call
// whose content is not needed gets, in the place of its buffer, memory that nobody reads, by which the runtime knows to move none. Null pointers stay so,
// and two buffers of a reduction that are one address stay one: such a call fails as that of the program does. A collective does so for all
// its members or for none: if a call has no such buffer, or the function of an operation acts, the content of its group is needed.
//
// When the course is complete, the slice adds the calls that enter times into the statistics of a run. These times may be those of clocks.
//
// # Tasks
//
// A block is certain if all branches are kept that decide whether it runs (package graph). The connected parts of the other blocks are regions; all ways
// out of one meet in one certain block. A region with loops or calls is a task, and so is a function that the skeleton leaves out as a whole and calls from certain blocks
// alone. The timed form has a call where a task begins, a block with a call in front of where its ways meet, and a counter in each
// loop. The slice of the timed form keeps the calls. It keeps a counter, with what decides how often its loop runs, unless that takes content of messages, memory of more than a
// page or floating-point numbers; else the counter is taken out of both forms. LLVM turns the empty loops that are left into formulas where it can.
//
// A directive puts a constant in the place of a condition that the skeleton would compute, or says that nobody needs what a call receives.
//
// # Failures
//
// A way of a branch that leads to nothing but the end of the rank before MPI_Finalize is that of a run that fails. It is closed if the skeleton would
// keep data for its condition that it would not keep for the iterations of a loop: the graph is then without it, and [Slice.Failures] has its line. So the
// course is that of runs that do not fail.
//
// # Invariants
//
//   - What is not known is refused, with the line: a function without an entry in package effects, a call by a pointer to functions that are not known
//     ([Resolve] names those that are), a pointer that may lead anywhere, a clock or the result of printing that the course depends on, an exception.
//   - A loop without needed instructions ends (C11, 6.8.5, paragraph 6).
//   - A skeleton has no instruction that its timed form does not have, but for the addresses of unread memory and constants for
//     arguments that nobody reads.
//   - The counters of the timed form and of the skeleton stand in the same blocks: they are equal unless the skeleton takes another course.
//
// # Use
//
//	s, err := slice.Of(m, directives...)
//	s, tasks, err := s.WithTasks() // m is the timed form from here on
//	s.Emit() // m is the skeleton from here on
package slice
