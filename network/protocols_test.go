package network

import (
	"strings"
	"testing"

	"gigarank/vtime"
)

// A message takes the protocol under which it arrives first, at any size: a slow twin asks all of them.
func TestMessagesTakeTheFastestProtocol(t *testing.T) {
	const text = `name: m
ranks_per_node: 2
network:
  model: levels
  levels:
    - {name: node, protocols: [{name: LL, latency: 0.6us, bandwidth: 12GB/s}, {name: LL128, latency: 1.9us, bandwidth: 300GB/s}, {name: Simple, latency: 3.4us, bandwidth: 410GB/s}]}
    - {name: machine, protocols: [{name: LL, latency: 4us, bandwidth: 20GB/s}, {name: never, latency: 13us, bandwidth: 21GB/s}, {name: Simple, latency: 14us, bandwidth: 336GB/s}]}
`
	m, err := Parse("m", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	checkRoundTrip(t, m)
	target, err := m.Target(4)
	if err != nil {
		t.Fatal(err)
	}
	for level, dst := range []int{1, 2} {
		for bytes := int64(0); bytes < 1<<40; bytes = bytes*9/8 + 1 {
			least := vtime.Endless
			for _, p := range m.model.(*levels).all[level].protocols {
				least = min(least, p.delay(bytes))
			}
			// Protocols change at whole bytes.
			if got := target.Delay(0, dst, bytes); got < least-1-least/100_000 || got > least+1 {
				t.Errorf("level %d: %d bytes take %v, want %v", level, bytes, got, least)
			}
		}
	}
}

func TestFaultsOfProtocols(t *testing.T) {
	for protocols, want := range map[string]string{
		"[{name: a, latency: 1us}, {name: b, latency: 2us, bandwidth: 1GB/s}]":                   "is above that of a, whose bandwidth is no less",
		"[{name: a, latency: 1us, bandwidth: 1GB/s}, {name: b, latency: 1us, bandwidth: 2GB/s}]": "network.levels[0].protocols[1].latency: is not above that of a",
		"[{name: a, latency: 1us, bandwidth: 1GB/s}, {name: a, latency: 2us, bandwidth: 2GB/s}]": "protocols[1].name: \"a\" is the name of another protocol, too",
		"[{latency: 1us}]": "protocols[0].name: is missing",
		"[]":               "is an empty list",
		"[{name: a, latency: 1us, bandwidth: 1GB/s}], latency: 3us": "latency: is given beside protocols",
		"[{name: a, latency: 1us, bandwidth: 1GB/s}], delays: []":   "protocols: is given beside delays",
	} {
		_, err := Parse("m", []byte("name: m\nnetwork: {model: levels, levels: [{name: node, protocols: "+protocols+"}, {name: machine, latency: 9us}]}\n"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %s", protocols, err, want)
		}
	}
}

// A message among striped interfaces passes all of them in the time of a part at one: c rings of a c-th of the bytes, each at an
// interface of its own, take as long as one ring of all bytes.
func TestStripedInterfacesPassPartsSideBySide(t *testing.T) {
	with := func(node string) *Target {
		return mustTarget(t, "ranks_per_node: 8\nnode: {"+node+"}\nnetwork: {model: flat, latency: 1us}", 16)
	}
	striped, one := with("interfaces: 8, bandwidth: 42GB/s, rail: striped"), with("interfaces: 8, bandwidth: 42GB/s, rail: local")
	if !striped.Striped() || one.Striped() {
		t.Errorf("striped %v, local %v", striped.Striped(), one.Striped())
	}
	for _, bytes := range []int64{0, 8, 4096, 1 << 20, 8_000_000_008} {
		if got, want := striped.InterfaceTime(bytes), one.InterfaceTime(bytes/8); got < want-1 || got > want+1 {
			t.Errorf("%d bytes pass striped interfaces in %v, an eighth of them one interface in %v", bytes, got, want)
		}
		if got, want := striped.RailTime(bytes), one.InterfaceTime(bytes); got != want || one.RailTime(bytes) != want {
			t.Errorf("%d bytes of a program take %v at an interface, want %v", bytes, got, want)
		}
	}
	checkRoundTrip(t, striped.Machine())
}
