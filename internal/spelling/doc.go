// Package spelling finds the name that a misspelt word stands for. Messages about flags
// and machine files suggest it.
//
// The distance of two words is the least number of insertions, deletions and
// substitutions of a byte and of swaps of neighbours. Each byte is touched once
// (optimal string alignment). Upper and lower case are the same.
//
// The package knows words only, not what they name.
package spelling
