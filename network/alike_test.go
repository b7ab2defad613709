package network

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/vtime"
)

// delaysAmong lists the different delays of a message between any two of some ranks.
func delaysAmong(t *Target, ranks []int, bytes int64) (all []vtime.Duration) {
	for _, a := range ranks {
		for _, b := range ranks {
			if d := t.Delay(a, b, bytes); a != b && !slices.Contains(all, d) {
				all = append(all, d)
			}
		}
	}
	return all
}

// Ranks are alike only if all pairs have the delays of the pair that stands for them,
// and leaders likewise. With at most two nodes or few ranks, the reverse holds too. The
// sizes of nodes are those of a look at each.
func TestAlikeRanksHaveOneDelay(t *testing.T) {
	topologies := []string{"star", "ring", "mesh, dims: [3, 4]", "torus, dims: [4, 3]", "tree, arity: 2", "fat-tree, arity: 4, levels: 2",
		"hierarchy, levels: [{size: 4, hops: 1}, {hops: 3}]", "dragonfly, groups: 3, routers: 2, nodes_per_router: 2, global_links: 1"}
	models := []string{
		"{model: flat, latency: 1us, bandwidth: 1GB/s}",
		"{model: twolevel, intra: {latency: 1us, bandwidth: 3GB/s}, inter: {latency: 2us, bandwidth: 1GB/s}}",
		"{model: hops, latency: 1us, latency_per_hop: 100ns, bandwidth: 1GB/s, memory_bandwidth: 4GB/s}",
	}
	alike := 0
	rapid.Check(t, func(t *rapid.T) {
		topology, model := rapid.SampledFrom(topologies).Draw(t, "topology"), rapid.SampledFrom(models).Draw(t, "model")
		if topology != "star" && !strings.Contains(model, "per_hop") {
			model = strings.TrimSuffix(model, "}") + ", latency_per_hop: 70ns}"
		}
		text := fmt.Sprintf("ranks_per_node: %d\nmapping: %s\ntopology: {kind: %s}\nnetwork: %s\n", rapid.IntRange(1, 5).Draw(t, "per node"),
			rapid.SampledFrom([]string{"block", "cyclic", "random:3"}).Draw(t, "mapping"),
			topology, model)
		m, err := Parse("m.yaml", []byte("name: m\n"+text), nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		target, err := m.Target(rapid.Int64Range(1, 12).Draw(t, "ranks"))
		if err != nil {
			t.Fatal(err)
		}
		var ranks, leaders, sizes []int
		for r := range target.Ranks() {
			ranks = append(ranks, r)
		}
		for n := range target.Nodes() {
			leaders, sizes = append(leaders, target.NodeMember(n, 0)), append(sizes, target.NodeSize(n))
		}
		for who, some := range map[string][]int{"ranks": ranks, "leaders": leaders} {
			src, dst, ok := target.AlikeRanks()
			if who == "leaders" {
				src, dst, ok = target.AlikeLeaders()
			}
			for _, bytes := range []int64{0, 1000} {
				all := delaysAmong(target, some, bytes)
				if one := len(all) <= 1; ok != one {
					t.Fatalf("%s are alike: %t, and their delays are %v on\n%s", who, ok, all, text)
				}
				if ok && len(all) == 1 && target.Delay(src, dst, bytes) != all[0] {
					t.Fatalf("a message from %d to %d takes %v, and all others %v", src, dst, target.Delay(src, dst, bytes), all[0])
				}
			}
			if ok {
				alike++
			}
		}
		if least, most := target.NodeSizes(); least != slices.Min(sizes) || most != slices.Max(sizes) {
			t.Fatalf("nodes have %d to %d ranks, want those of %v", least, most, sizes)
		}
	})
	if alike == 0 {
		t.Error("no machine had ranks that are alike")
	}
}
