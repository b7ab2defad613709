// Package spelling finds the name that a misspelt word stands for, for the remedy in
// messages about flags and machine files.
//
// The distance of two words is the number of insertions, deletions and substitutions of a
// byte and of swaps of neighbours, each byte touched once (optimal string alignment). Upper
// and lower case are the same.
//
// The package knows words only: what they name is its callers' affair.
package spelling
