package network

import (
	"os"
	"testing"

	"gigarank/vtime"
)

// On the ideal network of each preset a message of any size takes a picosecond, between nodes and within them; nodes, mapping and eager limit stay.
func TestIdealNetworks(t *testing.T) {
	for _, preset := range Presets() {
		m, err := Load(preset.Name, os.ReadFile)
		if err != nil {
			t.Fatal(err)
		}
		ranks := int64(3 * m.RanksPerNode())
		real, err := m.Target(ranks)
		if err != nil {
			t.Fatal(err)
		}
		ideal, err := m.Ideal().Target(ranks)
		if err != nil {
			t.Errorf("%s: %v", preset.Name, err)
			continue
		}
		if ideal.Nodes() != real.Nodes() || ideal.EagerLimit() != real.EagerLimit() || ideal.Charges() || ideal.Contended() || ideal.ReceiverState() || ideal.PollTime() != real.PollTime() {
			t.Errorf("%s: %d nodes of %d, eager limit %d of %d, charges %t, contended %t", preset.Name, ideal.Nodes(), real.Nodes(), ideal.EagerLimit(), real.EagerLimit(), ideal.Charges(), ideal.Contended())
		}
		for _, bytes := range []int64{0, 1, 1 << 40} {
			for _, to := range []int{1, int(ranks) - 1} {
				if d := ideal.Delay(0, to, bytes); d != 1 {
					t.Errorf("%s: %d bytes from 0 to %d take %v", preset.Name, bytes, to, vtime.Duration(d))
				}
			}
		}
	}
}
