// Mutations measures how many faults the tests of a room find. It draws faults that one could make by hand, such as a wrong
// comparison, a number that is off by one and a statement that is left out, and runs the room's own tests on the room with
// each of them. scripts/mutations runs it.
//
// One binary of a room holds all mutations that are drawn, and an environment variable switches one of them on (schema.go).
// A mutation that fits only where the compiler wants a constant, or has no place in a statement of its own, is built alone.
//
// No fault is drawn where none can change a result: in arguments of prefetching, in the capacity of a slice or a map, in sizes for
// forecasts, and in checks of invariants, which are not in the binary, with the functions that only such checks call.
//
// A fault that changes no result elsewhere, as one that only makes a search slower, survives like one that the tests miss: whoever
// reads the list tells them apart. The draw and the random tests rest on the seed, so that a survivor can be looked at
// again after a test was added, as long as the room itself is the same.
package main
