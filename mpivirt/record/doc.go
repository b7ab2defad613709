// Package record records a simulated run as a trace, for ranks of any kind.
//
// A [Recording] is the recorder of a simulation: Config.Recorder. It hears each call as its rank hands it in, and its outcome, and
// each declared or measured computing, without noise. The recorded times are those of the simulated machine. A replay on the same
// machine has the same virtual times.
//
// The first call that cannot be recorded ends the run with its name.
package record
