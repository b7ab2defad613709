// Package timeline draws what the ranks of a simulation do over virtual time.
//
// A [Collector] is an observer of the kernel. It keeps the calls of some ranks in a window of virtual time, with the causes for which
// their time passes, and the messages between these ranks. After the run they are a [Timeline]: a value that each format of the
// table [Formats] writes, in a stream, as files that other tools read.
//
// Invariants: the slices of a rank follow one another and do not overlap; the parts of a slice are its time; a message has both its
// ranks and both its instants in the picture. So over the whole run of all ranks the sums of parts are those of the statistics.
package timeline
