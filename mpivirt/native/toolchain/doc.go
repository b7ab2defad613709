// Package toolchain builds MPI programs in C, C++ and Fortran for native ranks, and checks
// them.
//
// # Model
//
// A program is linked as a shared object, since the C library loads no executables into
// another process. Its MPI is the runtime of native ranks, a shared library whose sources in C
// are part of this package. The library is compiled once for each compiler and version of the
// sources, into the user's cache directory. Objects are kept there by their source and the headers, so
// that an edit of one source compiles that one. The folders of the sources, in runtime:
//
//   - include: the headers that programs include.
//   - rank: ranks as C stacks: how programs are loaded, how ranks are switched, measured, interrupted
//     and crash, and the data that the simulator and the runtime share (interface.h).
//   - libc: functions of the C library whose state is a rank's own, and functions that show virtual time.
//   - mpi: the functions of MPI.
//   - fortran: the bindings of Fortran that differ from C, and functions that the generated bindings share.
//
// Files in fortran use functions of mpi, libc and rank; files in mpi and libc use functions of rank; files in rank
// use no other folder. A call the other way goes by a table of functions (rank/hooks.h). Each source has a header with
// its own name, which declares the functions that other files may call; a file includes the header of each source that
// it uses. The files of mpi form a tree. At its bottom lie the objects that handles name (objects, datatypes, comm_records) and
// the calls of error handlers (error_handlers). The checks of arguments use them, and all functions of MPI use these checks.
//
// The bindings of Fortran are generated from the declarations in mpi.h when the library is
// compiled, and mpif.h with them: each function that C has Fortran has too.
//
// The wrappers behind [Wrap] are compilers with the flags that native ranks take, as mpicc is.
// [Check] reads a program and names the faults that keep it from running.
//
// # Invariants
//
//   - A directory of the cache is complete or not there.
//   - The runtime has no variables that belong to one rank, except in memory that an engine
//     has.
//   - Programs without variables have no writable pages.
//
// # Use
//
//	code, err := toolchain.Wrap(toolchain.C, []string{"-O2", "-o", "ring", "ring.c"}, os.Stdin, os.Stdout, os.Stderr)
//	err = toolchain.Check("./ring")
package toolchain
