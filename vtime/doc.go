// Package vtime holds virtual time: the time on the target machine.
//
// Virtual time is an integer count of picoseconds. Integers make results equal bit for
// bit on every host. A picosecond is fine enough for one byte on the fastest links (1
// TB/s is one byte per picosecond), and 63 bits of them last 106 days. [Time] is an
// instant, [Duration] a length; neither converts to or from the wall clock.
//
// Sums saturate at [Forever], and lengths at [Endless]; they do not wrap round. An
// instant past the end of the range therefore compares as later than every real one. A
// simulation that gets there ends with an error.
package vtime
