// Package profile reads how long the tasks of an MPI program spend in each function, from profiles of measured runs and from results of
// simulations, and compares two of them.
//
// # Model
//
// A [Profile] has times of tasks (ranks of MPI_COMM_WORLD), times of functions summed over the tasks, and, of benchmarks, times of a call by size. A side
// may lack some of them; a [Comparison] has what both sides have, and names what one side alone has. Errors are those of PSINS (Tikir, Laurenzano,
// Carrington and Snavely, Euro-Par 2009, Tables 1 and 2): simulated over measured, less one.
//
// # Formats
//
// There is one reader for each format, in the table formats:
//
//   - the JSON of gigarank run --stats: schema 1 of internal/result;
//   - the JSON of gigarank trace profile: what the tasks of a real program have spent in each function;
//   - mpiP's text report (doc/UserGuide.md and report.c of github.com/LLNL/mpiP): "MPI Time (seconds)" has AppTime and MPITime of
//     each task and of all (*), "Callsite Time statistics (all, milliseconds)" has Count and Mean of each call site by rank and of all (*). Concise reports
//     lack the latter: then "Aggregate Time (top twenty, descending, milliseconds)" counts, which leaves small call sites out;
//   - IPM's banner (src/report_banner.c of github.com/nerscadmin/IPM; versions 0.9 and 2): totals over tasks in seconds by function, under [time] and [count]
//     or [calls]. The region of the whole program counts;
//   - IPM's XML (src/report_xml.c there): for each task the regions below the first <regions>, whose <func> have seconds, and <perf>;
//   - tables of the OSU micro-benchmarks and IMB, as internal/fit reads them.
//
// Times of text reports are rounded to a few digits: mpiP prints three, IPM's banner hundredths of a second.
package profile
