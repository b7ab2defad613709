// Package bench holds the programs that gigarank can run by name.
//
// # Model
//
// An [Entry] describes a program: its purpose, the kinds of its ranks (package lp), the
// defaults of its options, and how it is built. Most programs are virtual MPI programs
// and become an [mpivirt.Simulation]. A program without MPI, such as PHOLD (Fujimoto,
// "Performance of Time Warp under synthetic workloads", 1990), builds its simulation on
// the engine directly. Both are a [Simulation] to the caller.
//
// # Invariants
//
//   - A program is a package-level Entry, which [Programs] lists.
//   - The two forms of a program give the same fingerprint.
//
// # Use
//
//	s, err := bench.New("barriertest", bench.Config{Config: c, Options: bench.Options{Iterations: 10}})
//	result, err := s.Run()
package bench
