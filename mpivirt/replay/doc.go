// Package replay is the kind of rank that replays a trace: a rank is a cursor in the operations of its task.
//
// `body.call` composes the [kernel.Call] of the operation at a rank's cursor, and `body.end` takes its completion. So a replay has no
// matching, no collective and no clock of its own. Calls have sizes and no contents. On the machine on which the trace was recorded a
// replay has the same virtual times.
//
// What the course of the program hung on is kept as it was recorded. A Waitany or Waitsome waits for the requests that it completed in the
// record. A test that found something then waits if it would find nothing now. A test that found nothing is a test again; if
// it completes a request now, the later wait for that request is over at once. A receive that was posted with wildcards is that again.
package replay
