// Package watchdog finds out that a goroutine of this process is blocked which ought to
// run.
//
// # Model
//
// A [Subject] is something that goes on as long as nothing holds it up, and counts what
// it does: an engine, which runs the code of ranks. That its count stands still means
// nothing by itself, for a rank may compute for as long as it likes. So after a while of
// standing still the watchdog looks at the stacks of the process, as the Go runtime
// prints them: the subject is blocked if its goroutine, or one that it has made, waits
// for a channel, a lock or the like, and nothing that this one has started in its turn
// is about to wake it. That has to be so several times in a row, at the same place, and
// outside the simulator. If it is not, the watchdog looks again after twice the time, so
// that a long computation is not disturbed.
//
// Of a process with very many goroutines the stacks cannot be had in reasonable time.
// There it counts that, look for look, no goroutine of the process runs or could.
//
// The subjects have no part in this but an atomic counter, which they advance anyway.
package watchdog
