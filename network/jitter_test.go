package network

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/vtime"
)

const jittered = "name: j\nnetwork: {model: flat, latency: 5us, jitter: {distribution: DISTRIBUTION}}\n"

func jitteredTarget(t *testing.T, distribution string) *Target {
	m, err := Parse("j", []byte(strings.Replace(jittered, "DISTRIBUTION", distribution, 1)), nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again", m.YAML(), nil)
	if err != nil || again.Digest() != m.Digest() {
		t.Fatalf("%v: written and read again it is\n%s", err, again)
	}
	target, err := m.Target(4)
	if err != nil {
		t.Fatal(err)
	}
	return target.Seeded(7)
}

// jitterLaws are the laws of targets whose messages may have jitter.
var jitterLaws = []law[*Target]{
	{"jitter adds, is bounded, and depends on seed, sender and message alone", func(t *rapid.T, target *Target) error {
		src, dst := drawPair(t, target)
		seeded, message := target.Seeded(rapid.Uint64().Draw(t, "seed")), rapid.Uint64().Draw(t, "message")
		d := seeded.Jitter(src, dst, message)
		switch {
		case d < 0 || d > seeded.LongestDelay(0)-seeded.Latency(src, dst):
			return fmt.Errorf("jitter %v from %d to %d beyond a latency of %v, the longest delay is %v", d, src, dst, seeded.Latency(src, dst), seeded.LongestDelay(0))
		case d != 0 && (!target.HasJitter() || target.Node(src) == target.Node(dst)):
			return fmt.Errorf("jitter %v from %d to %d of nodes %d and %d", d, src, dst, target.Node(src), target.Node(dst))
		case d != seeded.Jitter(src, dst, message):
			return fmt.Errorf("two jitters of one message from %d to %d", src, dst)
		case target.HasJitter() && (target.LeadersUniform() && target.Nodes() > 1 || target.UniformFrom() != target.Ranks()):
			return fmt.Errorf("messages with jitter are called alike from distance %d on", target.UniformFrom())
		case seeded.Latency(src, dst) < seeded.Lookahead(src, src+1, dst, dst+1):
			return fmt.Errorf("the lookahead from %d to %d is above the latency", src, dst)
		}
		return nil
	}},
}

// Every distribution obeys the laws, and those of models hold with it.
func TestJittersConform(t *testing.T) {
	for _, k := range jitterKinds {
		t.Run(k.name, func(t *testing.T) {
			obey(t, jitterLaws, func(t *rapid.T) *Target { return drawTargetOf(t, parts{jitter: k}) })
			obey(t, modelLaws, func(t *rapid.T) *Target { return drawTargetOf(t, parts{jitter: k}) })
		})
	}
}

// The laws catch a distribution beyond its bound, one below zero, and one that is not a
// function of its key.
func TestBrokenJittersAreCaught(t *testing.T) {
	calls := vtime.Duration(0)
	for name, draw := range map[string]func(seed, stream, counter uint64, scale vtime.Duration, shape float64) vtime.Duration{
		"too long": func(_, _, _ uint64, scale vtime.Duration, _ float64) vtime.Duration { return scale + 1 },
		"negative": func(_, _, _ uint64, _ vtime.Duration, _ float64) vtime.Duration { return -1 },
		"stateful": func(_, _, _ uint64, scale vtime.Duration, _ float64) vtime.Duration { calls++; return calls % scale },
	} {
		t.Run(name, func(t *testing.T) {
			k := &jitterKind{name: "broken", figure: "most", draw: draw, most: func(scale vtime.Duration) vtime.Duration { return scale }}
			registered(t, &jitterKinds, k)
			if got := caught(jitterLaws, func(t *rapid.T) *Target { return drawTargetOf(t, parts{jitter: k}) }); len(got) == 0 {
				t.Error("no law is broken")
			}
		})
	}
}

// The moments are those of the distributions: of the uniform one from 0 to b the mean b/2
// and the deviation b/√12, of the exponential one both its mean. Means of n numbers vary by
// the deviation over √n.
func TestJitterHasItsDistribution(t *testing.T) {
	const n, us = 20_000, float64(vtime.Microsecond)
	for distribution, want := range map[string]struct{ mean, deviation float64 }{
		"uniform, most: 2us":              {us, 2 * us / math.Sqrt(12)},
		"exponential, mean: 3us":          {3 * us, 3 * us},
		"list, times: [0, 2us, 2us, 4us]": {2 * us, us * math.Sqrt2},
		// alpha·least/(alpha-1) and least·√(alpha/(alpha-2))/(alpha-1)
		"pareto, least: 2us, alpha: 8, most: 1s": {2 * us * 8 / 7, 2 * us * math.Sqrt(8.0/6) / 7},
		// median·e^(sigma²/2) and that times √(e^(sigma²)-1)
		"lognormal, median: 2us, sigma: 0.5, most: 1s": {2 * us * math.Exp(0.125), 2 * us * math.Exp(0.125) * math.Sqrt(math.Exp(0.25)-1)},
	} {
		target := jitteredTarget(t, distribution)
		var sum, squares float64
		for message := range uint64(n) {
			d := float64(target.Jitter(int(message%4), int(message+1)%4, message))
			sum, squares = sum+d, squares+d*d
		}
		mean := sum / n
		deviation := math.Sqrt(squares/n - mean*mean)
		if math.Abs(mean-want.mean) > 5*want.deviation/math.Sqrt(n) || math.Abs(deviation/want.deviation-1) > 0.05 {
			t.Errorf("%s: mean %g us and deviation %g us, want %g and %g", distribution, mean/us, deviation/us, want.mean/us, want.deviation/us)
		}
	}
}

// Each level has its own distribution, or none: of a model with levels those of its names, else the node and the machine.
func TestJitterByLevel(t *testing.T) {
	levelled := "name: m\nranks_per_node: 4\nnetwork: {model: levels, levels: [{name: socket, ranks: 2, latency: 1us}, {name: node, latency: 1us}, {name: leaf, nodes: 2, latency: 1us}, {name: machine, latency: 1us}], " +
		"jitter: [{level: socket, distribution: list, times: [3ns]}, {level: leaf, distribution: list, times: [5us]}, {level: machine, distribution: list, times: [7us]}]}"
	flat := "name: m\nranks_per_node: 4\nnetwork: {model: flat, latency: 1us, jitter: [{level: node, distribution: list, times: [3ns]}, {level: machine, distribution: list, times: [7us]}]}"
	between := "name: m\nranks_per_node: 4\nnetwork: {model: flat, latency: 1us, jitter: {distribution: list, times: [7us]}}"
	for _, c := range []struct {
		text   string
		within bool
		want   [5]vtime.Duration // from rank 0 to 0, 1, 2, 4, 8
	}{
		{levelled, true, [5]vtime.Duration{0, 3 * ns, 0, 5 * us, 7 * us}},
		{flat, true, [5]vtime.Duration{0, 3 * ns, 3 * ns, 7 * us, 7 * us}},
		{between, false, [5]vtime.Duration{0, 0, 0, 7 * us, 7 * us}},
	} {
		m, err := Parse("m", []byte(c.text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse("m", m.YAML(), nil); err != nil || again.Digest() != m.Digest() {
			t.Errorf("%v in\n%s", err, m.YAML())
		}
		target, err := m.Target(16)
		if err != nil {
			t.Fatal(err)
		}
		for i, dst := range []int{0, 1, 2, 4, 8} {
			if got := target.Seeded(3).Jitter(0, dst, 9); got != c.want[i] {
				t.Errorf("%s: the jitter to rank %d is %v, want %v", c.text, dst, got, c.want[i])
			}
		}
		if !target.HasJitter() || target.HasJitterWithinNodes() != c.within || target.LongestDelay(0) != 8*us {
			t.Errorf("%s: jitter within nodes %t, longest delay %v", c.text, target.HasJitterWithinNodes(), target.LongestDelay(0))
		}
	}
}

// Other seeds, senders and messages have other jitter.
func TestJitterDependsOnItsKey(t *testing.T) {
	target := jitteredTarget(t, "uniform, most: 1s")
	same := target.Jitter(0, 1, 5)
	for name, other := range map[string]vtime.Duration{
		"message": target.Jitter(0, 1, 6), "sender": target.Jitter(2, 1, 5), "seed": target.Seeded(8).Jitter(0, 1, 5),
	} {
		if other == same {
			t.Errorf("another %s has the same jitter %v", name, same)
		}
	}
	if again := target.Seeded(7).Jitter(0, 1, 5); again != same {
		t.Errorf("the same key has %v and %v", same, again)
	}
}

// The faults of section jitter are named.
func TestJitterFaults(t *testing.T) {
	for section, want := range map[string]string{
		"jitter: {distribution: normal, mean: 1us}":                                                                  `network.jitter.distribution: "normal" is unknown`,
		"jitter: {distribution: uniform, mean: 1us}":                                                                 "network.jitter.mean: belongs to another distribution: exponential",
		"jitter: {distribution: uniform}":                                                                            "network.jitter.most: is missing",
		"jitter: {distribution: exponential, mean: 0}":                                                               "network.jitter.mean: is zero",
		"jitter: {distribution: exponential, mean: 1us, seed: 4}":                                                    "network.jitter.seed: is unknown",
		"jitter: {distribution: pareto, least: 1us, alpha: 1, most: 1s}":                                             "network.jitter.alpha: \"1\" is no such number",
		"jitter: {distribution: lognormal, median: 1us, sigma: 9, most: 1s}":                                         "network.jitter.sigma: \"9\" is no such number",
		"jitter: {distribution: pareto, least: 1us, alpha: 2}":                                                       "network.jitter.most: is missing",
		"jitter: {distribution: pareto, least: 1us, alpha: 2, most: 1ns}":                                            "network.jitter.most: is less than least",
		"jitter: {distribution: list, times: [0, 1us, fast]}":                                                        "network.jitter.times: entry 2:",
		"jitter: {distribution: list, times: [0, 0]}":                                                                "network.jitter.times: are zero",
		"jitter: {distribution: list}":                                                                               "network.jitter.times: is missing",
		"jitter: [{distribution: exponential, mean: 1us}]":                                                           "network.jitter[0].level: is missing",
		"jitter: [{level: nodes, distribution: exponential, mean: 1us}]":                                             `network.jitter[0].level: "nodes" is unknown: did you mean node?`,
		"jitter: [{level: node, distribution: uniform, most: 1us}, {level: node, distribution: uniform, most: 2us}]": `network.jitter[1].level: "node" is given again`,
		"jitter: 3us":                         `network.jitter: is the value "3us", not a mapping`,
		"jitter: " + strings.Repeat("x", 100): `network.jitter: is a value that begins with "` + strings.Repeat("x", 60) + `", not a mapping`,
	} {
		_, err := Parse("m", []byte("name: m\nnetwork: {model: flat, latency: 1us, "+section+"}\n"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", section, err, want)
		}
	}
	_, err := Parse("m", []byte("name: m\nnetwork: {model: loggops, L: 1us, o: 1us, g: 1us, G: 1ns, jitter: {distribution: uniform, most: 1us}}\n"), nil)
	if err == nil || !strings.Contains(err.Error(), "network.jitter: belongs to another model") {
		t.Errorf("loggops with jitter: %v", err)
	}
}
