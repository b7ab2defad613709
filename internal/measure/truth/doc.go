// Command truth checks results at sizes too large to check by hand:
//
//   - interpreters: every algorithm of every operation by the message interpreter, by
//     the bulk one on one engine and on three. All three must have the same
//     fingerprint, and the bulk one must not have events for the messages.
//     Ranks enter at random times. Each algorithm runs at the largest power of two,
//     up to -ranks, at which it sends no more than -messages messages, an eighth of
//     that for operations other than barrier and allreduce.
//
//   - samples: at -large ranks, the exit times of some ranks are computed anew. Each
//     follows from a recursion over the times that it depends on, written from the
//     definition of the algorithm, without schedule, array or event.
//
//   - closedforms: ranks that enter together leave exactly at the time of the closed
//     form, at sizes 2^k, 2^k±1 and 3·2^k up to -large.
//
//     scripts/truth             all of it, at full size
//     scripts/truth samples     a part
//
// The exit status is 1 if anything differs. The package's tests run all of it at
// small sizes.
package main
