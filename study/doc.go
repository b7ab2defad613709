// Package study plans the simulations that show how a collective operation or a program
// scales, keeps their results, and draws them.
//
// # Model
//
// A study varies axes: ranks, payload, algorithm, machine, mapping, ranks per node,
// noise, seed; of a program its own arguments too. A [Plan] holds a [Point] for each combination, in the order of growing
// cost. The caller simulates one point after the other and appends a [Record] of each
// to the [Journal]. Tables, plots and the report are functions of the plan and the
// records. They need not have all points.
//
// A [Scaling] studies the simulator itself: the wall time of an operation and its remote
// events as ranks and host processes grow. The caller makes its runs.
//
// # Invariants
//
//   - The time of a record comes from a simulation, never from a formula. The formula
//     is drawn beside it where it is exact ([Plan.ClosedForm]); there the two are the
//     same to the picosecond.
//   - A record that was appended is on the disk. A kill at any instant loses at
//     most the point that was running.
//   - A study that was ended and resumed leaves the results of a study that was not,
//     except for wall times and memory.
//   - Results of another version of gigarank are never taken for this one's unless
//     the user says so.
//
// # Use
//
//	plan := study.NewPlan(axes, os.ReadFile, fault)
//	journal, err := study.OpenJournal(dir, resume)
//	for each point: journal.Append(plan.NewRecord(version, point, document))
//	records, _ := journal.Outcome(plan)
//	plan.WriteText(os.Stdout, records)
package study
