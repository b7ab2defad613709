// Package kernel is the virtual MPI as ranks of every kind see it, and the simulation that
// runs it.
//
// # Model
//
// Whatever a rank asks, it asks by a [Call], which is composed and submitted; it reads the
// [Completion] when it goes on. Arguments are checked, ranks held back, errors handled and
// results kept here, whoever asks. How a program runs is the business of a [Body], made from
// a [Form] of the program; a [Kind] registers itself.
//
// A [Kernel] gives the events of one engine their meaning: it takes ready items, timed
// events and records to the rooms below, world, ptp and coll, whose states it embeds one
// in the other. A [Simulation] sets the engines of a process up, watches them, and brings
// together what they report: statistics, failures, deadlocks.
//
// # Invariants
//
//   - Every virtual time and every received byte is a pure function of program, ranks,
//     machine and seed. No virtual time depends on the wall clock.
//   - The kernel asks nowhere which kind of rank it serves.
//   - All of a kernel belongs to the goroutine that runs its engine; ranks touch it only
//     while the engine has resumed them.
//
// # Use
//
// A kind of rank is a package in mpivirt, such as mpivirt/steps. It registers its [Kind], makes a [Body] for
// the ranks of an engine, and hands the ranks' calls to [Kernel.Submit]. A rank whose call is
// not over waits until the body is told to resume it. Much of what a body uses is promoted
// from the rooms below:
//
//   - calls: Compose, Submit, Compute, Hand, Sized, Split, Dup, Create
//   - waiting: Pause, MakeRoom, Postpone, PostponeEnd
//   - outcomes: CompletionOf, StatusOf, DataOf, Brought, Common, Made
//   - failing: Fail, Die, HasFailed, Limited, Yield, End
//   - ranks: Global, Clock, Target, Seed, Record; Reserve for arrays by rank
//
// The package must not know Go's types of
// elements, how control flow is suspended, or where output goes.
package kernel
