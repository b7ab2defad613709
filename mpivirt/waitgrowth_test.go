//go:build !invariants

// The checks of invariants look through a rank's lists themselves.

package mpivirt_test

import (
	"testing"
	"time"

	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
)

// A wait for any of many requests takes no look at all of them, in a list of a length at which even
// a look at its memory would count: four times as many take about four times the CPU time.
func TestCostOfAWaitForAnyStaysConstant(t *testing.T) {
	const n, more, most = 25_000, 4, 7
	for _, g := range anyGrowths {
		for _, kind := range []*mpivirt.Kind{steps.Kind, mpivirt.Goroutine} {
			t.Run(g.name+"/"+kind.Name, func(t *testing.T) {
				var few, many time.Duration
				for try := 0; try == 0 || try < 4 && many > most*few; try++ { // what else the process did
					few, many = g.run(t, n, kind, growthMachines["flat"], false), g.run(t, more*n, kind, growthMachines["flat"], false)
				}
				t.Logf("%.2f us a request of %d, %.2f us of %d", few.Seconds()*1e6/n, n, many.Seconds()*1e6/(more*n), more*n)
				if many > most*few {
					t.Errorf("%d requests take %v of CPU time, %d take %v", n, few, more*n, many)
				}
			})
		}
	}
}
