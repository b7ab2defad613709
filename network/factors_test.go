package network

import (
	"errors"
	"strings"
	"testing"

	"gigarank/internal/input"
	"gigarank/vtime"
)

// Of 4 ranks on 2 nodes the least delay of any message between nodes is that of 1,000 bytes,
// 10 us + 1,000 B / 0.5 GB/s. Within a node it is that of none. Where messages share interfaces, one
// asks at the other node after its latency.
func TestLookaheadOfFactors(t *testing.T) {
	const text = `ranks_per_node: 2
topology: {kind: ring}
network:
  latency_per_hop: %
  model: factors
  intra: {latency: 1us, bandwidth: 1GB/s, latency_factors: [{size: 5, factor: 2}]}
  inter: {latency: 10us, bandwidth: 1GB/s, latency_factors: [{size: 0, factor: 2}, {size: 1000, factor: 1}], bandwidth_factors: [{size: 1000, factor: 0.5}]}
`
	for _, c := range []struct {
		perHop, more    string
		ranks           int64
		within, between vtime.Duration
	}{
		{"0", "", 4, 1 * us, 12 * us},
		{"1us", "", 4, 1 * us, 13 * us},
		{"0", "node_types: {fat: {intra: {latency: 100ns}}}\nnodes_of: {0: fat}\n", 4, 100 * ns, 12 * us},
	} {
		target := mustTarget(t, strings.Replace(text, "%", c.perHop, 1)+c.more, c.ranks)
		if within, between := target.Lookahead(0, 1, 1, 2), target.Lookahead(0, 2, 2, 4); within != c.within || between != c.between {
			t.Errorf("%s a hop, %q: lookahead %v within a node and %v between nodes, want %v and %v", c.perHop, c.more, within, between, c.within, c.between)
		}
		if least := target.LeastBetweenNodes(0, 4); least != c.between {
			t.Errorf("%s a hop, %q: %v between nodes at least, want %v", c.perHop, c.more, least, c.between)
		}
		if !target.LatencyBySize() {
			t.Errorf("%s a hop, %q: the latency does not depend on the size", c.perHop, c.more)
		}
	}
}

// The longest delay of up to 2,000 bytes is that of 999, 20 us + 999 ns, and not that of 2,000.
func TestLongestDelayOfFactors(t *testing.T) {
	target := mustTarget(t, "network: {model: factors, intra: {latency: 1us}, inter: {latency: 10us, bandwidth: 1GB/s, latency_factors: [{size: 0, factor: 2}, {size: 1000, factor: 1}]}}", 2)
	for bytes, want := range map[int64]vtime.Duration{0: 20 * us, 999: 20999 * ns, 1000: 20999 * ns, 2000: 20999 * ns, 10999: 20999 * ns, 11000: 21 * us} {
		if got := target.LongestDelay(bytes); got != want {
			t.Errorf("up to %d bytes take %v at most, want %v", bytes, got, want)
		}
	}
}

func TestFactorFaults(t *testing.T) {
	const text = `name: bad
network:
  model: factors
  intra: {latency: 0, bandwidth: infinite, latency_factors: [{size: 0, factor: 2}], bandwidth_factors: [{size: 0, factor: 2}]}
  inter:
    latency: 1s
    bandwidth: 1GB/s
    latency_factors:
      - {size: 10, factor: 1}
      - {size: 10, factor: 2}
      - {size: 20, factor: 0}
      - {size: 30, factor: 100000}
      - {sise: 40, factor: slow}
    bandwidth_factors: {65472: 0.94}
`
	_, err := Parse("m.yaml", []byte(text), nil)
	var faults input.Faults
	if !errors.As(err, &faults) {
		t.Fatal(err)
	}
	want := []string{
		"4: network.intra.latency_factors: makes no difference: the latency is 0", "4: network.intra.bandwidth_factors: makes no difference: the bandwidth is infinite",
		"10: network.inter.latency_factors[1].size: is not larger than the one before", "11: network.inter.latency_factors[2].factor: 0 is out of range",
		"12: network.inter.latency_factors[3].factor: makes the latency 100000s, which is too long", "13: network.inter.latency_factors[4].size: is missing",
		"13: network.inter.latency_factors[4].factor: \"slow\" is no number", "13: network.inter.latency_factors[4].sise: is unknown", "14: network.inter.bandwidth_factors: is a mapping, not a list",
	}
	if len(faults) != len(want) {
		t.Errorf("%d faults, want %d", len(faults), len(want))
	}
	for i, f := range faults {
		if i < len(want) && !strings.Contains(f.Error(), want[i]) {
			t.Errorf("%v, want %s", f, want[i])
		}
	}
}
