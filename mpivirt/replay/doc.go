// Package replay is the kind of rank that replays a trace: a rank is a cursor in the operations of its task.
//
// A replay has no matching, no collective and no clock of its own. Each operation becomes a call of the kernel, with sizes and without
// contents. On the machine on which the trace was recorded it has the same virtual times.
//
// What the course of the program hung on is kept as it was recorded. A Waitany or Waitsome waits for the requests that it completed in the
// record. A test that found something then waits if it would find nothing now. A test that found nothing is a test again; if
// it completes a request now, the later wait for that request is over at once. A receive that was posted with wildcards is that again.
package replay
