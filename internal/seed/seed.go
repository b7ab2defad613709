// Package seed gives tests that draw their cases the number to draw from.
package seed

import (
	"math/rand/v2"
	"os"
	"strconv"
)

// Next returns $RAPID_SEED, from which properties draw, too, or a random number where it is not set. scripts/test sets it to a number that
// belongs to the tree, so that two runs of it draw the same cases. Next panics if the variable is not a whole number.
func Next() uint64 {
	text := os.Getenv("RAPID_SEED")
	if text == "" {
		return rand.Uint64()
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic("RAPID_SEED: " + err.Error())
	}
	return n
}
