// Package spelling has the words of messages: the name that a misspelt word stands for, which
// messages about flags and machine files suggest, a number with its noun, and words as a shell reads them.
//
// The distance of two words is the least number of insertions, deletions and
// substitutions of a byte and of swaps of neighbours. Each byte is touched once
// (optimal string alignment). Upper and lower case are the same.
//
// The package knows words only, not the things that they name.
package spelling
