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
// records to the rooms below: world, p2p and coll. Each room has the state of the one
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
// goes to the rooms below (port.go):
//
//   - calls: Compose, Submit, Compute, Hand, Sized, Split, Dup, Create
//   - waits: Pause, Throttle, Postpone, PostponeEnd
//   - completions: CompletionOf, StatusOf, DataOf, CompletedRequest, SharedResult, NewComm
//   - failures: Fail, EndsWith, Die, HasFailed, Limited, Yield, End
//   - ranks: Global, Clocks, Target, Seed, Record; Reserve for arrays by rank
//
// The package must not know Go's types of elements, how control flow is suspended, or where
// output goes.
//
// # Layers
//
// A `kernel.Kernel` has `coll.Collectives`, which have `p2p.Messages`, which have a
// `world.Partition`: one value, whose layers see the layers below and not those above. No name of a layer is promoted. A
// kind of rank touches `kernel` and the words of `world` only: port.go has the methods that go to the rooms below, and
// kinds_test.go at the root of the module lists every name that a kind may use.
//
// # What an engine holds
//
// What an engine always needs is one value (`engineRun` in `mpivirt/internal/kernel/hosting.go`): the
// engine, its endpoint, its kernel, the first communicators, requests and peers. A process has them in one
// array, and cuts small arrays by rank from common blocks (`world.Blocks`). A rank's code may end the
// goroutine in which it runs. So an engine, or a worker, has a host: a goroutine that starts the engine's own or the
// worker's, waits for its end, and starts another one if the engine goes on.
//
// # How a run ends
//
// docs/programs.md says what programs see of it. A rank that fails is
// a bound of what counts (`mpivirt/internal/world/failure.go`, `sync.Failure`): the least failure travels
// over the tree of the rounds, each engine drops what lies beyond it, and when nothing is
// left before it the round that finds a deadlock ends the run. That round takes the way
// that the failure took before it, so all engines end with the same one. A failure of a rank that has left MPI is late: it
// bounds nothing, and engine 0 lets it count if no rank waits that has not left MPI (`conclude` in `kernel`). Ranks are unwound
// by Goexit, which no `recover` can hold up.
//
// Ranks in long loops of polls hold nobody back: an engine promises as if they only waited. So they may have to poll on
// when nothing else can go on (`mpivirt/internal/p2p/loops.go`). An engine calls that deferred work, and tells of it in its
// contribution to a round that looks for the end. If the round finds a deadlock and there is such work, its result says from which instant on
// virtual time begins anew (`sync/deferred.go`). Promises that are still on their way know nothing of that. So packets tell how
// often their sender has begun anew. Ranks may then act before instants at which others have acted already. On a machine with progress
// in calls that would want what ranks did then, which is forgotten by then; there, ranks poll on from the latest clock.
//
// Found from outside, without work in the hot path: an engine's counter of events stands
// still while it runs a rank, and the stacks of the process show why (`watchdog`). The
// engine's goroutine is left behind then, and the others are stopped.
package kernel
