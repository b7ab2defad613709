// Package kernel is the virtual MPI as ranks of every kind see it, and the simulation that runs it.
//
// # Model
//
// A rank composes and submits a [Call], and reads the [Completion] when it goes on. The kernel
// checks arguments, throttles ranks, handles errors and stores results, for ranks of every kind. A
// [Body], made from a [Form] of the program, runs the ranks. A [Kind] of rank registers itself.
//
// A [Kernel] handles the events of one engine. It passes ready items, timed events and records to
// the rooms below: world, p2p and coll. Each room contains the state of the room below. A
// [Simulation] sets up the engines of a process and watches them. It merges their statistics,
// failures and deadlock reports.
//
// # Invariants
//
//   - Every virtual time and every received byte is a pure function of program, ranks,
//     machine and seed. No virtual time depends on the wall clock.
//   - No code of the kernel depends on the kind of rank that it serves.
//   - A kernel belongs to the goroutine that runs its engine. Ranks use it only while the
//     engine has resumed them.
//
// # Use
//
// A kind of rank is a package in mpivirt, such as mpivirt/steps. It registers its [Kind], makes a
// [Body] for the ranks of an engine, and passes the ranks' calls to [Kernel.Submit]. A rank whose
// call is not complete waits until the body resumes it. Many methods that a body calls belong to
// the rooms below (port.go):
//
//   - calls: Compose, Submit, Compute, Hand, Sized, Split, Dup, Create
//   - waits: Pause, Throttle, Postpone, PostponeEnd
//   - completions: CompletionOf, StatusOf, DataOf, CompletedRequest, SharedResult, NewComm
//   - failures: Fail, EndsWith, Die, HasFailed, Limited, Yield, End
//   - ranks: Global, Clocks, Target, Seed, Record; Reserve for arrays by rank
//
// The package must not know Go's element types, how control flow is suspended, or where output
// goes.
//
// # Layers
//
// A `kernel.Kernel` contains `coll.Collectives`, which contain `p2p.Messages`, which contain a
// `world.Partition`: one value, whose layers see the layers below and not the layers above. No name
// of a layer is promoted. A kind of rank uses `kernel` and the vocabulary of `world` only: port.go
// has the methods that forward to the rooms below, and kinds_test.go at the root of the module
// lists every name that a kind may use.
//
// # The state of an engine
//
// The fixed state of an engine is one value (`engineRun` in `mpivirt/internal/kernel/hosting.go`):
// the engine, its endpoint, its kernel, the first communicators, requests and peers. A process
// stores these values in one array, and cuts small arrays by rank from common blocks
// (`world.Blocks`). A rank's code may end the goroutine in which it runs. So an engine, or a
// worker, has a host: a goroutine that starts the goroutine of the engine or worker, waits for its
// end, and starts another goroutine if the engine goes on.
//
// # How a run ends
//
// docs/programs.md describes the end of a run as programs see it. The failure of a rank bounds the
// part of the run that counts (`mpivirt/internal/world/failure.go`, `sync.Failure`). The least
// failure travels over the tree of the rounds, and each engine drops all events beyond it. When no
// event is left before the failure, the round that finds a deadlock ends the run. That round takes
// the same way as the failure before it, so all engines end with the same failure. The failure of a
// rank that has left MPI is late: it bounds nothing, and engine 0 lets it count if all waiting
// ranks have left MPI (`conclude` in `kernel`). Ranks are unwound by Goexit, which no `recover` can
// stop.
//
// Ranks in long loops of polls hold no engine back: an engine promises as if these ranks only
// waited. So they may have to poll on when no other rank can go on
// (`mpivirt/internal/p2p/loops.go`). An engine calls these polls deferred work, and reports them in
// its contribution to a round that looks for the end. If the round finds a deadlock and there is
// deferred work, its result is the instant from which virtual time begins anew
// (`sync/deferred.go`). Promises that are still on their way do not include this new beginning. So
// packets carry the number of times that their sender has begun anew. Ranks may then act before
// instants at which other ranks have already acted. On a machine with progress in calls that would
// need the forgotten past of these ranks; there, ranks poll on from the latest clock.
//
// A watchdog finds blocked ranks from outside, without work in the hot path: an engine's counter of
// events stands still while the engine runs a rank, and the stacks of the process show why
// (`watchdog`). The process then abandons the engine's goroutine and stops the other engines.
//
// # Observers
//
// An [Observer] hears the calls of an engine's ranks, with partners, tags, bytes, virtual times and the rank that each call
// waited for. It also hears the activities that statistics sum up. What no call shows, such as the bandwidth that a message
// sees, room p2p counts in the same summary (`activities.go`, `reasons.go`). The end of a call has the causes for which its
// time has passed, and the chain by which it ends, from which the critical path is found (`path.go` in `stats`). Messages
// carry what explains the waiting of their receivers only while an observer wants it (`reasons.go` in rooms p2p and coll;
// docs/statistics.md). The observer of `--stats` (`sums` in summed.go) counts in the summary of its engine,
// `world.Summary`, and engine 0 merges the summaries at the end.
//
// An observed rank makes each call by Submit, without short cuts; without an observer that costs a branch a call. There are
// three exceptions. A [Recorder] needs no virtual times: recorded ranks keep the short cuts, which tell it of their calls.
// Under statistics alone a collective over arrays sums up its calls as members leave (`meeting.go` in coll), so ranks enter
// its barriers by the short cut. There, too, sends and receives that are over at once tell the statistics in short forms,
// without a description of the call (`sums.go` in p2p, summed.go).
package kernel
