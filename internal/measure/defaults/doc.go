// Defaults compares the choice of algorithms without a library with the fastest of all algorithms, on presets or other
// machines, by simulating both. It prints the points at which the choice takes longer than a bound, and ends with exit
// code 1 if there is one. scripts/defaults runs it.
package main
