// Command gigarank simulates MPI programs with up to a billion virtual ranks and
// reports their cost on a machine of that size.
//
// # Model
//
// The command is the edge of the simulator. Everything that touches the host — files,
// flags, signals, the terminal, memory, the wall clock, real MPI — is here, and goes
// into the core as values. The user's side is package terminal, the host's side package
// host. Each command has a file of its name; compare, predict and scaling are commands
// of study, and measure is machine calibrate. A run has five stages:
//
//  1. the host processes find each other ([host.Open]);
//  2. the command line becomes a request, or a list of all its faults
//     ([newRequest]); the hosts agree on whether to go on;
//  3. the simulation is set up and runs under a supervisor, which passes signals
//     on and reports progress ([host.Supervise]);
//  4. the result becomes a document, in JSON or for people ([newDocument]);
//  5. the outcome becomes the exit code ([terminal.ExitCode]).
//
// # Invariants
//
//   - Nothing runs before everything on the command line has been checked.
//   - Standard output carries results only. Progress, logs and errors go to standard
//     error. Over MPI only host 0 writes either, except for failures of a host itself.
//   - A document is complete on disk or not there. An interrupted or failed run
//     leaves one with the part that was finished.
//   - Virtual results do not depend on anything here; wall times and memory do.
//
// # Use
//
//	gigarank run barriertest --ranks 1M --machine xt5 --json result.json
//	mpirun -n 64 gigarank run barriertest --ranks 221184000 --lp event
//	gigarank study barrier --ranks 2^10..2^30 --out barrier-study
//	gigarank list
package main
