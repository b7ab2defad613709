package measurements

import (
	"os"
	"testing"

	"gigarank/collectives"
	"gigarank/network"
)

// Where one rank of each node takes part, ranks that enter together are never a round ahead of others at an interface: a program that says that it
// does nothing else takes the same time.
func TestSimulatedAloneTakesTheSameTime(t *testing.T) {
	for _, p := range network.Presets() {
		m, err := network.Load(p.Name, os.ReadFile)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range []collectives.Operation{collectives.Barrier, collectives.Allreduce} {
			for _, bytes := range []int64{8, 64 << 10} {
				if op == collectives.Barrier {
					bytes = 0
				}
				one := Point{Operation: op, Algorithm: collectives.NodeLeader, Named: true, Nodes: 4, PerNode: m.RanksPerNode(), Bytes: bytes, Statistic: LastExit}
				want, err := one.Simulate(m)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := one.SimulateAlone(m); err != nil || got != want {
					t.Errorf("%s: %v of %d bytes alone takes %v (%v), else %v", p.Name, op, bytes, got, err, want)
				}
			}
		}
	}
}
