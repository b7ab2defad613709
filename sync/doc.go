// Package sync keeps the engines of a run causally consistent: conservative
// synchronisation over a small message transport.
//
// # Model
//
// K engines each simulate their own ranks and send each other records. Only the engines
// know a record's effect in virtual time. Engine i promises engine j an earliest output
// time: no record that it sends after the promise has an effect before
//
//	EOT(i,j) = min(next(i), EIT(i)) + lookahead(i,j)
//
// Here next(i) is the time of its next event. EIT(i), its earliest input time, is the
// least of the promises given to it (Jha and Bagrodia, "A unified framework for
// conservative and optimistic distributed simulation", 1994). No record can undo what
// an engine does below EIT. A promise once true stays true, even when records come
// later and next falls, since those too are at EIT or after. So every packet carries
// the latest promise.
//
// An engine whose next event is not below EIT starves. Three protocols help it:
//
//   - [Null]: null messages (Chandy and Misra, 1979; Bryant, 1977), on demand.
//     It asks the engines whose promise holds it back; they answer as theirs
//     grows. It costs O(K²) messages a lookahead when all starve.
//   - [Conditional]: conditional events (Chandy and Sherman, 1989). A round over
//     a tree finds the least next event on a consistent cut with no record in
//     flight. EIT becomes that plus a lookahead. It costs O(K) messages, O(log K)
//     deep, however far the next event is: two for each engine in a phase where
//     all starve in each window.
//   - [Hybrid]: null messages where two waves of a few suffice, else a round.
//
// Nobody starves in a program that does not depend on timing; it runs without a
// synchronisation message.
//
// The tree also detects the end. Engines whose LPs are finished contribute to the next round
// by themselves, and that round decides between an end and a deadlock. round.go argues why
// one round is enough.
//
// An engine may put work off until nothing else can go on anywhere, such as the polls of ranks that seem to
// wait ([Deferrer]). It promises as if there were none. When a round finds no event and no record in
// flight, but such work, all engines take it up: virtual time begins anew at its first action.
//
// # Invariants
//
//   - Poll delivers no record whose effect is before the EIT of that moment, if
//     every engine keeps to what it gave to Advance and Wait.
//   - EIT never falls, except where the engine itself calls Cap or Await, or Wait returns Resumed.
//   - Promises, credits and counts of a packet take effect after its records.
//   - When no engine has a next event and no record is in flight, the outcome is Finished if
//     every LP is finished, else Resumed if work was put off, else Deadlock.
//   - At Deadlock all engines know the same failure, the least that was given to Fail.
//   - Flow control delays but never stops a program that needs buffering.
//   - Packets, records and polls allocate nothing once buffers are there. They take
//     no lock but the transport's, once for a packet.
//
// # Use
//
// An engine's loop, with an event list of its own:
//
//	for {
//		if _, err := endpoint.Poll(deliver); err != nil {
//			return err // *Stopped, *Lost, or the transport's
//		}
//		run what needs no EIT
//		endpoint.Advance(next)
//		if next < endpoint.EIT() {
//			run the next event
//			continue
//		}
//		outcome, err := endpoint.Wait(next, unfinished)
//		if err != nil || outcome != Continue {
//			return outcome, err
//		}
//	}
//
// Records leave when their packet is full, in Wait, at [Endpoint.Flush], and at
// [Endpoint.Advance] once a lookahead has passed; an engine that runs for long at one
// instant calls Flush now and then. After the loop every engine calls
// [Endpoint.Gather], then Close of its transport.
//
// [NewInProcess] connects engines of one process; package sync/mpi connects host
// processes; package sync/transporttest tests any transport.
//
// The directory shares its name with the standard library's package, which is
// imported here as stdsync.
//
// # Engines that take turns
//
// Engines that are many for each processor take turns (`sync/turns.go`): the one of the least number
// that has a message runs next, so that engines near each other meet while the cache has what they
// keep. Turns order the work on the host and have no part in results. Engines with null messages
// alone take none. Event ranks leave nothing on the stack of the goroutine that runs their engine
// (`kernel.Kind.Movable`). So engines of event ranks that take turns have no goroutine of their own: as many
// workers as there are processors run them, and an engine that waits returns to its worker.
package sync
