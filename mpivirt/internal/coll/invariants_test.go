//go:build invariants || lint

package coll

import (
	"strings"
	"testing"

	"gigarank/collectives"
	"gigarank/internal/invariant/invarianttest"
	"gigarank/mpivirt/internal/world"
)

// Each of these breaks something that must hold in the collectives of four ranks.
func TestBrokenCollectivesAreFound(t *testing.T) {
	begin := func(k *Collectives) *instance {
		v := k.Barrier
		v.Algorithm = collectives.NodeLeader
		return k.newInstance(k.Communicators.At(world.World), 0, 0, &v)
	}
	for _, c := range []struct {
		why   string
		want  string
		spoil func(k *Collectives)
	}{
		{"more members join than a node has", "1 more members have joined node 0", func(k *Collectives) {
			begin(k).enterOthers(0, 0, 3)
		}},
		{"a member leaves that has not entered", "0 have entered, 0 are counted, 1 have left", func(k *Collectives) {
			k.countExits(begin(k), 1)
		}},
		{"an instance ends twice", "ends twice", func(k *Collectives) {
			k.Communicators.At(world.World).retire(begin(k))
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			k := opened(t, "name: flat\nranks_per_node: 2\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n", 4, 1, Auto)
			if text := invarianttest.Violation(t, func() { c.spoil(k) }); !strings.Contains(text, c.want) {
				t.Errorf("found %q, want %q", text, c.want)
			}
		})
	}
}
