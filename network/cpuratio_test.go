package network

import (
	"strings"
	"testing"

	"gigarank/vtime"
)

const ratioFile = `name: two kinds of nodes
ranks_per_node: 2
cpu_ratio: 0.5
cpu_ratios: [{from: 4, to: 5, ratio: 3}, {from: 1, to: 1, ratio: 1.25}]
network: {model: flat, latency: 1us}
`

func TestCPURatios(t *testing.T) {
	m, err := Parse("m.yaml", []byte(ratioFile), nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again.yaml", m.YAML(), nil)
	if err != nil || again.String() != m.String() {
		t.Fatalf("normal form %s reads back as %v, %v", m, again, err)
	}
	for _, x := range []*Machine{m, again} {
		target, err := x.Target(16)
		if err != nil {
			t.Fatal(err)
		}
		for rank, want := range []string{0: "500ns", 1: "500ns", 2: "1.25us", 3: "1.25us", 4: "500ns", 8: "3us", 11: "3us", 12: "500ns", 15: "500ns"} {
			if want == "" {
				continue
			}
			if got := target.CPUTime(rank, vtime.Microsecond).String(); got != want {
				t.Errorf("1us of computing on rank %d takes %s, want %s", rank, got, want)
			}
		}
	}
}

func TestNoCPURatioIsOne(t *testing.T) {
	m, err := Parse("m.yaml", []byte("name: n\nnetwork: {model: flat, latency: 1us}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(2)
	if err != nil {
		t.Fatal(err)
	}
	if got := target.CPUTime(1, 12345); got != 12345 {
		t.Errorf("12345ps of computing take %v", got)
	}
}

func TestWrongCPURatiosAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"cpu_ratio: 0":     "0 is out of range: write a decimal number",
		"cpu_ratio: -1":    "-1 is out of range",
		"cpu_ratio: fast":  `"fast" is no number`,
		"cpu_ratio: [1]":   "is a list",
		"cpu_ratios: 2":    "not a list: write a list such as",
		"cpu_ratios: []":   "is an empty list",
		"cpu_ratios: [{}]": "cpu_ratios[0].ratio: is missing",
		"cpu_ratios: [{from: 3, to: 2, ratio: 1}]":                               "2 is before 3",
		"cpu_ratios: [{from: 3, to: 5, ratio: 1}, {from: 5, to: 6, ratio: 2}]":   "nodes 3 to 5 and 5 to 6 overlap",
		"cpu_ratios: [{from: 3, to: 5, ratio: 1, speed: 2}]":                     "cpu_ratios[0].speed: is unknown",
		"cpu_ratio: 0.000000000000000000000000000000000000000000000000000000001": "is no number",
	} {
		_, err := Parse("m.yaml", []byte("name: n\n"+text+"\nnetwork: {model: flat, latency: 1us}\n"), nil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "m.yaml:2") {
			t.Errorf("%s: error %v, want one in line 2 that contains %q", text, err, want)
		}
	}
}

// Ratios count nodes as node_types does: by their places in the topology. A job on places 6, 7 and 2 has its nodes 0 and 1 there.
func TestCPURatiosOfPlaces(t *testing.T) {
	text := `name: m
nodes: 8
allocation: {nodes: places}
topology: {kind: ring}
cpu_ratios: [{from: 6, to: 7, ratio: 0.5}]
network: {model: flat, latency: 1us, latency_per_hop: 1us}
`
	m, err := Parse("m", []byte(text), func(string) ([]byte, error) { return []byte("6-7\n2\n"), nil })
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(3)
	if err != nil {
		t.Fatal(err)
	}
	for rank, want := range []vtime.Duration{500, 500, 1000} {
		if got := target.CPUTime(rank, 1000); got != want {
			t.Errorf("rank %d takes %v, not %v", rank, got, want)
		}
	}
}
