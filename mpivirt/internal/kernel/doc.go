// Package kernel is the virtual MPI as ranks of every kind see it, and the simulation that
// runs it.
//
// # Model
//
// A rank composes and submits a [Call], and reads the [Completion] when it goes on. The
// kernel checks arguments, throttles ranks, handles errors and keeps results, for ranks of
// every kind. A [Body], made from a [Form] of the program, runs the ranks; a [Kind] registers
// itself.
//
// A [Kernel] handles the events of one engine. It hands ready items, timed events and
// records to the rooms below: world, ptp and coll. Each room embeds the state of the one
// below it. A [Simulation] sets up the engines of a process and watches them. It merges
// their statistics, failures and deadlock reports.
//
// # Invariants
//
//   - Every virtual time and every received byte is a pure function of program, ranks,
//     machine and seed. No virtual time depends on the wall clock.
//   - The kernel asks nowhere which kind of rank it serves.
//   - A kernel belongs to the goroutine that runs its engine. Ranks use it only while the
//     engine has resumed them.
//
// # Use
//
// A kind of rank is a package in mpivirt, such as mpivirt/steps. It registers its [Kind],
// makes a [Body] for the ranks of an engine, and hands the ranks' calls to [Kernel.Submit]. A
// rank whose call is not complete waits until the body resumes it. Much of what a body uses
// is promoted from the rooms below:
//
//   - calls: Compose, Submit, Compute, Hand, Sized, Split, Dup, Create
//   - waits: Pause, Throttle, Postpone, PostponeEnd
//   - completions: CompletionOf, StatusOf, DataOf, CompletedRequest, SharedResult, NewComm
//   - failures: Fail, EndsWith, Die, HasFailed, Limited, Yield, End
//   - ranks: Global, Clock, Target, Seed, Record; Reserve for arrays by rank
//
// The package must not know Go's types of elements, how control flow is suspended, or where
// output goes.
package kernel
