// Package maxplus carries out rounds of a collective over arrays of clocks.
//
// # Model
//
// Exit times follow from entry times in max-plus algebra: a sum is a maximum, a product is a sum.
// In each round a receiver's clock becomes the maximum of itself and of its sender's clock plus the
// delay, plus the time of the receiver's own work. A round of a regular pattern is a pass over an
// array, for which package collectives gives the pattern and package network the delays. Messages
// above the eager limit have the same form where all delays are equal (chargeRendezvous). Exchanges
// at doubling distances are fused (fused.go), and shifts are carried out in place (shift.go). Where
// messages share the interfaces of nodes, a round is two passes by node: its messages leave, and
// they arrive (contended.go). A round none of whose messages leaves its node is one without interfaces. Messages that take no time at
// interfaces wait for those of earlier rounds alone, in whatever order they ask. A window of several rounds is one pass, once the clocks
// for all its messages have come (window.go, contendedwindow.go).
//
// # Invariants
//
//   - The clocks do not depend on the division of participants into arrays.
//   - A round moves no clock back.
//   - A clock that may pass the end of virtual time is checked after each addition, by the
//     arithmetic of messages (through). Other clocks are not checked.
//   - Where all delays of a round are equal, the inner loops call no function.
//
// # Use
//
// An [Array] holds the clocks of consecutive participants, set by Begin or BeginWith. Each round is
// prepared, receives clocks of other arrays by [Evaluation.Receive], and is evaluated when it is
// complete. [Array.Receivers] and [Array.Needed] return the clocks that other arrays need; these
// must be the clocks before the round. Finish ends the last round, and End passes memory on to the
// next array. A single goroutine at a time uses the arrays of one [Memory].
//
// The package must not know engines, records of messages or ranks that run. It reaches
// communicators through [Participants].
//
// # The end of virtual time
//
// Virtual time ends after 63 bits of picoseconds. Sums saturate there, and a rank whose clock would
// show that instant ends the run with an error, whatever it does. Rounds over arrays add without
// checking each clock as long as a bound excludes the end of time: the latest entry, which travels
// with stretches of clocks, plus more than all rounds add. Otherwise they check each clock.
package maxplus
