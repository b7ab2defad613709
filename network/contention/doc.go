// Package contention holds what messages on a network share: the interfaces of nodes, links, busses,
// bandwidth. It says when each message begins and ends there.
//
// # Model
//
// A [Message] asks a resource for its transfer at an instant. All that a resource answers is a pure
// function of the messages that have asked, in the order (instant of asking, source rank, number
// among those of the source). The caller asks in this order, so an answer never changes.
//
//   - [Interfaces] serve the messages of a node in the order in which they ask. One takes an
//     interface for its bytes over the bandwidth and the gap that follows.
//   - [Links] are the busses of a machine and the links out of and into each node, as in Dimemas
//     (Badia et al., 2003) and in the contention models of PSINS (Tikir et al., 2009). At each instant at
//     which a message asks or a transfer ends, the messages that wait are looked at in their order.
//     Each whose bus, link out and link in are all free takes all three until its transfer ends. One that
//     waits holds nothing.
//   - [Scaled] is the PMaC model of PSINS: a message begins when it asks, and its bandwidth is scaled
//     once by the messages that are outstanding then.
//   - [Fair] shares links among transfers by max-min fairness: progressive filling, as the flow models
//     of SimGrid (Casanova et al., 2014). A begin and an end change the rates of the transfers that are
//     connected to it by links.
//
// # Rounding
//
// Nothing is floating point. Links keep the length of a transfer as given. The scaled length rounds to the nearest
// picosecond, ties to even. Fair rates are multiples of 2^-60 bytes per picosecond (0.9 uB/s),
// rounded down, so that no link carries more than it can. They change at whole picoseconds: a transfer ends at the
// nearest picosecond, ties to the later.
//
// # Invariants
//
//   - A message of a pair of ranks does not end before an earlier one of the pair (Links, Scaled, Fair).
//   - The transfers that hold a link at an instant are never more than the link allows.
//   - Each message under Links is looked at when it asks, and when the link or bus for which it waits
//     becomes free: not each time that any other transfer ends.
package contention
