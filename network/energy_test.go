package network_test

import (
	"strings"
	"testing"

	"gigarank/network"
)

const consuming = `name: c
energy: {compute: 6.5W, wait: 4W, node: 0.12kW, interface: 8pJ/bit}
network: {model: flat, latency: 1us, bandwidth: 1GB/s}
`

// Values keep their digits, and the normal form is read again.
func TestEnergy(t *testing.T) {
	m, err := network.Parse("c", []byte(consuming), nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := network.Parse("again", m.YAML(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*network.Machine{m, again} {
		e := m.Energy()
		if got := strings.Join([]string{e.Compute.FloatString(1), e.Wait.FloatString(0), e.Node.FloatString(0), e.Interface.FloatString(12)}, " "); got != "6.5 4 120 0.000000000064" {
			t.Errorf("energy is %s", got)
		}
	}
	if m.Digest() != again.Digest() {
		t.Error("the normal form has another digest")
	}
	bare, err := network.Parse("c", []byte(strings.Replace(consuming, "energy: {compute: 6.5W, wait: 4W, node: 0.12kW, interface: 8pJ/bit}\n", "", 1)), nil)
	if err != nil || bare.Energy() != nil || bare.Digest() == m.Digest() {
		t.Errorf("without energy: %v, %v", bare.Energy(), err)
	}
}

// All faults are told, with their lines.
func TestEnergyFaults(t *testing.T) {
	for text, want := range map[string]string{
		"{}":                             "c:2: energy: has no field",
		"6W":                             "c:2: energy",
		"{compute: 6}":                   "c:2: energy.compute",
		"{compute: -6W}":                 "c:2: energy.compute",
		"{wait: 4J/B}":                   "c:2: energy.wait",
		"{node: 4KiW}":                   "c:2: energy.node",
		"{interface: 4W}":                "c:2: energy.interface",
		"{interface: 1e99J/B}":           "c:2: energy.interface: \"1e99J/B\" is out of range",
		"{compute: 6W, idle: 4W}":        "c:2: energy.idle",
		"{compute: 6W, compute: 7W}":     "c:2: energy",
		"{compute: fast, wait: nothing}": "c:2: energy.wait",
	} {
		_, err := network.Parse("c", []byte("name: c\nenergy: "+text+"\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
