// Package watchdog reports goroutines of this process that are blocked but ought to
// run.
//
// # Model
//
// A [Subject], such as an engine, which runs the code of ranks, counts its work. A
// count that stands still means nothing by itself: a rank may compute for as long as it
// likes. After a while of standing still the watchdog reads the stacks of the process,
// as the Go runtime prints them. The subject is blocked under two conditions. A goroutine
// that its home has started, or one of its coroutines (iter.Pull), waits for a channel, a lock
// or the like. No goroutine that this one has started is about to wake it. The stacks must
// show that several times in a row, at the same place, and outside the simulator. Otherwise
// the watchdog looks again after twice the time, so as not to disturb a long computation.
//
// A subject may run code that is not Go's, of which Go's stacks say nothing. It says itself
// where that waits, and is blocked if it says the same several times in a row.
//
// The stacks of a process with very many goroutines take too long to read. There a
// subject is blocked if, look after look, no goroutine of the process runs or could
// run.
//
// Subjects contribute nothing but an atomic counter, which they advance anyway.
package watchdog
