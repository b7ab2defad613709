// Recorded compares the messages of collectives with those that Open MPI sends on this machine.
//
// It builds a recorder with mpicc, which calls each operation with the library's own choice of algorithms, and
// notes below the collectives who sends to whom, how many bytes and in which order. The same call is then put
// to a table of package library, and each member's part of the schedule is walked. A call is equal if every
// rank sends the same messages in the same order.
//
// With -forced the library is told the algorithm, its segment and fan-out, and all of component tuned are compared, also
// those that its rules never take.
//
// Differences that are known are listed with their reasons. The exit status is 1 if a call differs without a
// reason, or a reason is of no use.
//
// It needs mpicc, mpirun and the headers of Open MPI's components (Debian: libopenmpi-dev).
package main
