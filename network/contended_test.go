package network

import (
	"strings"
	"testing"
)

func TestContentionOfMachines(t *testing.T) {
	for section, want := range map[string]Contention{
		"{model: fair, out: 12GB/s, in: 11GB/s, topology: true}\ntopology: {kind: ring}":  {Model: ModelFair, OutBandwidth: 12e9, InBandwidth: 11e9, Topology: true, Link: 12e9},
		"{model: fair, out: 12GB/s, link: 9GB/s, topology: true}\ntopology: {kind: ring}": {Model: ModelFair, OutBandwidth: 12e9, Topology: true, Link: 9e9},
		"{model: links, busses: 16, out: 2, in: 1}":                                       {Model: ModelLinks, Busses: 16, Out: 2, In: 1},
		"{model: pmac, in: 3}": {Model: ModelPMaC, In: 3},
		"{model: fair, out: 12GB/s, in: 12.5GB/s, backbone: 3200Gbit/s}": {Model: ModelFair, OutBandwidth: 12e9, InBandwidth: 125e8, Backbone: 400e9},
		"{model: links}": {},
	} {
		m, err := Parse("m", []byte("name: m\nranks_per_node: 2\ncontention: "+section+"\nnetwork: {model: flat, latency: 1us}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("again", m.YAML(), nil)
		if err != nil || again.String() != m.String() {
			t.Errorf("%v: %s\nis read as\n%s", err, m, again)
		}
		target, err := m.Target(4)
		if err != nil {
			t.Fatal(err)
		}
		got := target.Contention()
		got.text = [4]bandwidth{}
		if got != want || target.Contended() != (want.Model != "") {
			t.Errorf("%s: %+v, contended %v", section, got, target.Contended())
		}
		if alone, err := m.Target(2); err != nil || alone.Contended() {
			t.Errorf("%s: one node is contended: %v", section, err)
		}
	}
}

func TestFaultsOfContention(t *testing.T) {
	for section, want := range map[string]string{
		"contention: {model: busses}":                                                                                "write one of fair, links, pmac",
		"contention: {model: links, busses: 0}":                                                                      "contention.busses",
		"contention: {model: links, backbone: 3GB/s}":                                                                "contention.backbone: belongs to another model: fair",
		"contention: {model: fair, out: 3GB/s, topology: true}":                                                      "topology: is missing, and contention.topology depends on it",
		"contention: {model: fair, out: 3GB/s, topology: maybe}":                                                     `contention.topology: "maybe" is neither true nor false`,
		"contention: {model: fair, topology: true}\ntopology: {kind: ring}":                                          "contention.topology: limits nothing",
		"contention: {model: fair, link: 1GB/s}":                                                                     "contention.link: makes no difference without topology",
		"contention: {model: links, topology: true}":                                                                 "contention.topology: belongs to another model: fair",
		"taper: 0.5\ncontention: {model: fair, link: 1GB/s, topology: true}\ntopology: {kind: torus, dimensions: 2}": "taper: does not go with topology torus",
		"taper: 1.5\ncontention: {model: fair, link: 1GB/s, topology: true}\ntopology: {kind: fat-tree, arity: 2}":   "taper: 1.5 is more than full bisection",
		"taper: none": `taper: "none" is no number`,
		"contention: {model: pmac, in: 1}\nnode: {bandwidth: 1}": "contention: does not go with node",
		"contention: {model: links, in: 1}\nx: {}":               "x: is unknown",
		"taper: 0.5":                           "taper: makes no difference",
		"taper: 0.5\nnode: {bandwidth: 1GB/s}": "taper: makes no difference",
	} {
		_, err := Parse("m", []byte("name: m\n"+section+"\nnetwork: {model: flat, latency: 1us}\n"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %s", section, err, want)
		}
	}
}
