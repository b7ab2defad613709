// Package native runs the ranks of MPI programs in C, each on a C stack of its own.
//
// # Model
//
// A program is loaded into the process as a shared object (package toolchain builds it). An
// engine has a table of its ranks, and a stack for each, in C memory. A rank that calls MPI
// stores a value, the call, on its stack, and switches to the engine's stack, as a process
// enters a kernel. The engine then runs the next rank. One call of C from Go resumes many
// ranks. It ends when each has made a call or ended, and the calls go to the virtual MPI. No C
// code calls Go, and no rank has a thread.
//
// Calls that need no waiting, as for the rank or the time, are answered in C. Computing adds
// to a sum, which the virtual MPI learns with the next call. Short sends, and calls that begin
// messages, go with the next call, too (`rank/posts.h`).
//
// A program's variables belong to the rank that runs. Variables are copied out and in at a switch,
// or moved in the page tables if they are large. Engines that
// run at the same time load a copy of such a program each.
//
// # Invariants
//
//   - Go keeps no pointer into Go memory in C memory.
//   - A stack is left before the call from Go returns. So ranks may go on in another thread,
//     but for ranks of programs that use errno or the like.
//   - A rank's call is valid while the rank is suspended.
//   - A signal that stops a rank's code ends the rank, and a signal elsewhere is Go's.
//
// # Use
//
//	form, err := native.Open("./ring", []string{"-v"}, native.Options{Stack: 64 << 10})
//	program := mpivirt.Program{Name: "./ring", Forms: []mpivirt.Form{form}}
//
// The package needs cgo. Without it, Open returns an error that says so.
//
// # How ranks run
//
// A program in C is a shared object in the simulator's process, and a rank is a stack of its own.
// An MPI function stores a call on that stack (`struct gigarank_call` in
// `mpivirt/native/toolchain/runtime/rank/interface.h`) and switches to the engine's stack, so a rank
// needs no thread, and no C code calls Go. `ResumeRange` has C run up to 128 ranks, then takes
// their calls one after another; ranks whose calls are over run in the next batch. Before ranks
// run, C reads the tops of their stacks, so that their cache misses overlap. That cut a rank's
// barrier from 310 to 210 ns with own stacks.
//
// `body.begin` composes the call of the kernel from that structure, or answers at once the services that are no procedure of
// MPI; `body.results` stores the results in it. A request of the program is a slot in a table of the engine in C
// (`mpi/waits.h`), which has the index of the kernel's request while the operation is under way. A persistent request keeps
// the call that a start makes. A long content in a blocking call to another host process leaves from where it lies, behind the packet
// (`sync.TailSender`).
//
// With copied stacks, all ranks of an engine run on one stack at the same addresses, and the bytes
// from the stack pointer up are copied out and in at a switch. A call and the memory that it points to lie in
// the copy while the rank is suspended, where the virtual MPI reads and writes them. The copy moves
// when the rank goes on: buffers of operations that go on after their call are moved to the heap
// (`mpivirt/native/toolchain/runtime/mpi/bounce_buffers.c`). A page of memory for each rank,
// and a miss of the translation cache for each switch, are saved.
//
// The runtime is a shared library, compiled from embedded sources into the user's cache, and not a
// part of the command, because a command that is linked with a real MPI has functions of the same
// names. Programs are loaded with their own names first (RTLD_DEEPBIND).
//
// While the engine runs, the variables of every rank lie in the rank's copy, and the virtual MPI
// gets addresses there: a message may arrive for a rank that is suspended. Two engines run the
// same code at the same time, so each loads the program and its own libraries anew, from copies in
// memory, which have other names for the loader (`mpivirt/native/libraries.go`). Libraries in C++
// that were linked without gigarank, and the library of Fortran, are copied for each image of a program, and their
// constructors are held back for the ranks (`mpivirt/native/foreign.go`). Variables that the
// loader has once in a process, as those of inline functions in C++, are made a copy's own. Where CPU
// times count, up to eight ranks of an engine have an image each, so that no variables move
// (`takeFor`). Compilers keep the address of errno across calls; the engines of programs that use it
// stay in one thread.
//
// A reduction operation of the program runs in the call of one rank (`Combining` in
// `mpivirt/internal/coll`). The rank's variables are put in place for it, and it works on copies of
// vectors that lie among the variables (`gigarank_operate`). Short vectors of a node's members wait for each other and
// are combined together, so that the variables are put in place once (`Collectives.Row`).
//
// Large variables are not copied: mremap moves a private mapping of their initial values between
// the rank's place and the program's, with all the tables of pages that it fills
// (`move_variables` in `rank/variables.c`). The engines of a process share the mappings that the system allows
// it; beyond that number variables are copied. Ranks have the thread-local variables of the engine's thread. A rank
// that has waited may go on on another thread: the runtime then finds its engine anew
// (`gigarank_current` in `rank/running.h`). The
// loader calls no constructors: a first initialisation in each program notes them
// (`gigarank_hold`), and ranks call them. The constructor that asks the processor for its features, in a dozen slow
// instructions, is also called as the program is loaded (`gigarank_ask_processor` in `rank/object_constructors.c`), and
// finds its work done in ranks. State that the C library keeps for a process, the runtime keeps for each rank that asks
// for it (`libc/process.h`), under the library's names; getopt, environ and the standard streams of C++, which are
// variables, are linked into programs that use them.
//
// A signal that stops a rank's code diverts the thread to the engine's stack, and the rank fails.
// A rank that computes for long is interrupted by another signal, whose handler runs on the rank's stack and
// switches to the engine; when the rank is resumed the handler returns (`rank/interrupt.c`). Other ranks run meanwhile,
// and the engine hears of failures elsewhere (`computing.go` in `kernel`).
// All other signals go to the Go runtime, whose handlers run on stacks of their own.
package native
