// Package skeleton builds MPI programs that hold their skeletons: programs that make the same calls of MPI with the same arguments,
// without the computing and the memory that do not decide on these calls.
//
// # Model
//
// The front end compiles sources into bitcode of LLVM, which lies in their objects. A link joins the bitcode, has LLVM prepare it, and
// leaves out what room slice does not need. From the same prepared code come the program, which runs as ever, its timed form and its
// skeleton. All are linked by package toolchain. The program's file has the other two in sections of their own, and a description of
// its tasks. Weights are fitted to sums over entries of tasks that runs of the timed form have observed.
//
// LLVM's tools are programs: clang-19, flang-new-19, llvm-link-19, opt-19, llvm-objcopy-19.
//
// # Invariants
//
//   - A build that is refused leaves no program.
//   - Weights belong to one program: those of other code or other tasks are refused.
//   - Without --skeleton nothing of this package takes part in a build.
//
// # Use
//
//	code, err := skeleton.Wrap(toolchain.C, arguments, os.Stdin, os.Stdout, os.Stderr)
//	path, err := skeleton.Extract("./program")
package skeleton
