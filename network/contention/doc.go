// Package contention models the resources that messages on a network share: interfaces of nodes,
// links, busses, bandwidth. It decides when the transfer of each message begins and ends.
//
// # Model
//
// A [Message] asks a resource for its transfer at an instant. The decisions of a resource are a
// pure function of the messages that have asked, in the order (instant of asking, source rank,
// number among the messages of the source). The caller asks in this order, so a decision never
// changes.
//
//   - [Interfaces] serve the messages of a node in the order in which they ask. A message
//     occupies an interface for its bytes over the bandwidth and the gap that follows. A message of
//     at most a packet does not wait for the bytes of longer messages in front of it.
//   - [Links] are the busses of a machine and the links out of and into each node, as in Dimemas
//     (Badia et al., 2003) and in the contention models of PSINS (Tikir et al., 2009). At each
//     instant at which a message asks or a transfer ends, the waiting messages are examined in
//     their order. Each message whose bus, link out and link in are all free takes all three until
//     its transfer ends. A waiting message holds nothing.
//   - [Scaled] is the PMaC model of PSINS: a message begins when it asks, and its bandwidth is
//     scaled once by the messages that are outstanding at that instant.
//   - [Fair] shares links among transfers by max-min fairness: progressive filling, as in the flow
//     models of SimGrid (Casanova et al., 2014). The beginning or end of a transfer changes the
//     rates of all transfers that links connect to it.
//
// # Rounding
//
// All arithmetic is in integers. Links keep the length of a transfer as given. The scaled length
// rounds to the nearest picosecond, ties to even. Fair rates are multiples of 2^-60 bytes per
// picosecond (0.9 uB/s), rounded down, so that no link exceeds its capacity. They change at whole
// picoseconds: a transfer ends at the nearest picosecond, ties to the later.
//
// # Invariants
//
//   - A message does not end before an earlier message of the same pair of ranks (Links, Scaled,
//     Fair).
//   - In any interval an interface carries no more bytes than its bandwidth allows, and two packets.
//   - The transfers that hold a link at an instant are never more than the link allows.
//   - Each message under Links is examined when it asks, and when the link or bus for which it waits
//     becomes free: not each time that any other transfer ends.
package contention
