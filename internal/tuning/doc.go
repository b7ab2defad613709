// Package tuning finds which algorithm is the fastest for each size of a collective call, by simulating
// them all on some machines, and writes the choice as the table of a library.
//
// A table serves all machines that it is made for. At each point the choice is the algorithm whose loss is
// the least, where the loss is the greatest ratio, over the machines, of its time to that of the fastest
// algorithm there. Neighbouring sizes take one algorithm where its loss stays below [Most].
//
// [Simulated] is the choice without a library: it simulates the algorithms of a call when the call first comes, on the machine
// and the ranks at hand, or on fewer ranks where that takes too many messages.
//
// Points of a table are apart in three layouts: on one node, with one rank a node, and with several ranks on each of
// several nodes. A table has rows for each.
package tuning
