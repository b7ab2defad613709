// Mutations measures how many faults the tests of a room find. It draws faults that one could make by hand, such as a wrong
// comparison, a number that is off by one and a statement that is left out, and runs the room's own tests on the room with
// each of them. scripts/mutations runs it.
//
// One binary of a room holds all mutations that are drawn, and an environment variable switches one of them on (schema.go).
// A mutation that fits only where the compiler wants a constant, or has no place in a statement of its own, is built alone.
//
// A fault that changes no result, as one that only makes a search slower, survives like one that the tests miss: whoever
// reads the list tells them apart. The draw and the random tests rest on the seed, so that a survivor can be looked at
// again after a test was added, as long as the room itself is the same.
package main
