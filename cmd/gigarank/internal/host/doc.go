// Package host is the side of the command that faces its host: memory, processors, signals,
// the other host processes of a run, and the supervision of a simulation.
//
// # Model
//
//   - [Open] joins the host processes that a launcher has started. They [Processes.Agree] on
//     exit codes by messages outside simulations: before a run, so that no host begins what
//     another one refuses, and after the run by [Settle], also when a host is lost.
//   - [Supervise] sets a simulation up, runs it and stops it when one of the [Signals] comes. A
//     simulation that does not end in time is given up, and an [Outcome] holds as much of it as
//     can be seen from outside.
//   - [Memory] is the least headroom under the bounds of the system, of control groups and of
//     ulimit. [CheckMemory] refuses a run that would not fit, and [TuneCollector] makes the garbage
//     collector wait until the process has taken twice its expected memory.
//   - [ExitOnFatalErrors] gives fatal errors of Go's runtime the exit code of a failed host.
//   - [Build] names the running executable as exactly as results need it.
//
// # Invariants
//
//   - All hosts end with one exit code, the largest of all, and one of them reports.
//   - A signal ends a run within two seconds. A second signal kills at once.
//
// # Sources
//
// Control groups: the Linux kernel's documentation, admin-guide/cgroup-v1/memory and
// admin-guide/cgroup-v2. Files of /proc: proc(5).
package host
