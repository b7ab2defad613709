// Command forecast compares the forecasts of memory and time with runs of gigarank: all
// programs, with every kind of rank and every algorithm of the collective that they time, on
// machines with and without state at the receiver, for several payloads, numbers of ranks,
// iterations and engines. [bench.CostOf] makes the forecasts.
//
// Each run is a process of its own. Memory is the greatest resident set of a run, less that of
// a run of one rank. Time is user CPU time; only that of collectives is foreseen. Runs that are
// foreseen to need more than the flags -memory and -time allow are left out and counted. The
// exit code is 1 if the memory of some run was not foreseen.
//
// The flag -results keeps the comparisons, and -for ends after a time: the next call goes on
// from there. A part of the points is a sample of all: each program, kind of rank, algorithm, payload
// and number of engines comes once before any comes twice, in an order that -seed draws.
package main
