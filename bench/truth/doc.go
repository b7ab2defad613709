// Command truth checks results at sizes at which nobody can look at them by hand:
//
//   - interpreters: every algorithm of every operation by the message interpreter, by
//     the bulk one on one engine and on three. All three must have the same
//     fingerprint, and the bulk one must have done without the messages' events.
//     Ranks come at random times. Each algorithm is run at the largest power of two,
//     up to -ranks, at which it sends no more than -messages messages, an eighth of
//     that for operations other than barrier and allreduce.
//
//   - samples: at -large ranks, the exit times of some ranks are computed anew, each
//     by a recursion over what it depends on, written from the definition of the
//     algorithm, without schedule, array or event.
//
//   - closedforms: ranks that come all at once leave when the closed form says, at
//     sizes 2^k, 2^k±1 and 3·2^k up to -large, exactly.
//
//     scripts/truth             all of it, at full size
//     scripts/truth samples     a part
//
// The exit status is 1 if anything differs. The package's tests run all of it at
// small sizes.
package main
