// Package maxplus carries rounds of a collective out over arrays of clocks.
//
// # Model
//
// Exit times follow from entry times in max-plus algebra: a sum is a maximum, a product is
// a sum. In each round a receiver's clock becomes the maximum of itself and of its sender's
// clock plus the delay, plus the time of its own work. A round of a regular pattern is a
// pass over an array, for which package collectives gives the pattern and package network
// the delays. Messages above the eager limit fit the same form where all delays are alike
// (chargeRendezvous). Exchanges at doubling distances are fused (fused.go), and shifts are
// made in place (shift.go). Where messages share the interfaces of nodes, a round is two passes by node:
// its messages leave, and they arrive (contended.go).
//
// # Invariants
//
//   - However participants are cut into arrays, their clocks are the same.
//   - A round leaves no clock earlier than it was.
//   - A clock that may pass the end of virtual time is looked at after each addition, by the
//     arithmetic of messages (through). The others are added to without a look.
//   - Where all delays of a round are alike, the inner loops call nothing.
//
// # Use
//
// An [Array] holds the clocks of consecutive participants. It is given clocks by Begin or
// BeginWith. Each round is prepared, takes in clocks of other arrays by
// [Evaluation.Receive], and is evaluated when it is complete. [Array.Receivers] and
// [Array.Needed] say which clocks other arrays need; they get them as they were before the
// round. Finish ends the last round, and End gives memory to the next array. Arrays of one
// [Memory] are used by one goroutine at a time.
//
// The package must not know engines, records of messages or ranks that run. What depends on
// communicators it asks by [Participants].
//
// # The end of virtual time
//
// Virtual time ends after 63 bits of picoseconds. Sums saturate there, and a rank whose
// clock would show that instant ends the run with an error, whatever it does. Rounds over
// arrays add without a look at each clock as long as a bound says that none can get
// there: the latest entry, which stretches of clocks carry with them, plus more than all
// rounds add; otherwise they look.
package maxplus
