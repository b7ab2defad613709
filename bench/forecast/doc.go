// Command forecast compares the forecasts of memory and time with runs of gigarank, for
// the program of each collective operation, each algorithm, both interpreters, two
// numbers of ranks and two payloads. [mpivirt.CostOf] makes the forecasts. The constants
// in it rest on these measurements.
//
// Each run is a process of its own. Memory is the greatest resident set of a run, less
// that of a run of one rank. Time is user CPU time: half of what three iterations take
// more than one, the least of some attempts. Runs that are foreseen to need more than
// the flags -memory and -time allow are left out.
package main
