//go:build race

package mpivirt_test

import "flag"

// Under the race detector a property draws half of its cases: each runs on several engines, whose races do not depend on rare
// cases. scripts/search draws many, with the checks of invariants.
func init() {
	if err := flag.Set("rapid.checks", "50"); err != nil {
		panic(err)
	}
}
