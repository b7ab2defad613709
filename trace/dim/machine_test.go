package dim_test

import (
	"slices"
	"strings"
	"testing"

	"gigarank/network"
	"gigarank/trace/dim"
)

// A configuration becomes a machine file that says the same, and what is left out is said with its line.
func TestMachinesOfConfigurations(t *testing.T) {
	const begin = "#DIMEMAS_CONFIGURATION\n# by hand\n"
	node := func(values string) string { return `"multi node information" {` + values + "};;\n" }
	environment := func(values string) string { return `"environment information" {` + values + "};;\n" }
	collectives := "line 3: the model of collectives 3: gigarank simulates the algorithms of collectives"
	for _, c := range []struct {
		why, text, want string
		leftOut         []string
	}{
		{"one task a node", begin + environment(`"m", 0, "", 8, 100.0, 2, 3`) + node(`0, 8, "", 1, 1.0, 0.0, 0.0, 0, 1, 1, 0.000005, 1, 8, 0.0`) +
			`"predefined mapping information" {"1 TASKS_PER_NODE"};;`, `description: "m"
nodes: 8
ranks_per_node: 1
network: {model: flat, latency: 1ps, bandwidth: 104857600B/s, overhead: {send: 5000000ps, receive: 0ns}}
contention: {model: links, busses: 2, out: 8, in: 1}
`, []string{collectives}},
		{"no limits", begin + environment(`"", 0, "", 2, 0.0, 0, 3`) + node(`0, 2, "", 1, 1.0, 0.0, 0.0, 0, 0, 0, 0.0, 0, 0, 0.0`), `nodes: 2
ranks_per_node: 1
network: {model: flat, latency: 1ps, bandwidth: 9000000000GB/s}
`, []string{collectives}},
		{"nodes of four processors, some twice as fast", begin + environment(`"", 0, "", 5, 250.0, 0, 3`) +
			node(`0, 2, "", 4, 1.0, 0.000001, 1000.0, 1, 0, 0, 0.000008, 0, 2, 0.001`) + node(`0, 3, "", 4, 2.0, 0.000001, 1000.0, 0, 0, 0, 0.000008, 1, 2, 0.0`) +
			`"modules information" {1, 2, 0.5};;`, `nodes: 5
ranks_per_node: 4
cpu_ratios: [{from: 2, to: 4, ratio: 0.5}]
network:
  model: twolevel
  intra: {latency: 1000000ps, bandwidth: 1048576000B/s}
  inter: {latency: 8000000ps, bandwidth: 262144000B/s}
contention: {model: links, out: 2, in: 1}
`, []string{collectives, "line 4: 1 bus within a node: its messages are not limited", "line 4: the startup of 0.001 s between machines", "line 4: no links in one direction: they act as 1, as in Dimemas",
			`line 6: the record "modules information"`, "line 5: the processor that a startup keeps busy, since it differs within nodes: it is the latency of the message"}},
	} {
		yaml, leftOut, err := dim.Machine("m.cfg", "m", []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		text := strings.TrimPrefix(string(yaml), "name: \"m\"\n")
		if text = strings.Replace(text, "source: \"configuration of Dimemas m.cfg\"\n", "", 1); text != c.want || !slices.Equal(leftOut, c.leftOut) {
			t.Errorf("%s:\n%s%q\nwant\n%s%q", c.why, text, leftOut, c.want, c.leftOut)
		}
		if _, err := network.Parse("m", yaml, nil); err != nil {
			t.Errorf("%s: %v", c.why, err)
		}
	}
	for text, wants := range map[string][]string{
		"environment": {"m.cfg, line 1: a configuration of Dimemas begins with #DIMEMAS_CONFIGURATION"},
		begin + environment(`"", 0, "", x, -1, 0, 3`) + node(`0, 2, "", 0`) + "\n\nrest": {`line 3: "x" is no number`, `line 3: "-1" is no number`,
			`line 4: the record "multi node information" has 4 values, and takes 14`, "line 7: a record is"},
		begin + environment(`"", 0, "", 8, 1, 0, 3`) + environment(`"", 1, "", 8, 1, 0, 3`):                                                                      {"line 4: a second machine"},
		begin + environment(`"", 0, "", 8, 1, 0, 3`) + node(`0, 4, "", 1, 0.0, 0, 0, 0, 0, 0, 0.0, 0, 0, 0`):                                                     {"line 4: a relative speed of processors of 0", "4 nodes, where the environment has 8"},
		begin + environment(`"", 0, "", 2, 1, 0, 3`) + node(`0, 1, "", 1, 1, 0, 0, 0, 0, 0, 0.0, 1, 1, 0`) + node(`0, 1, "", 1, 1, 0, 0, 0, 0, 0, 0.0, 2, 1, 0`): {"line 5: nodes that differ from those of line 4"},
	} {
		_, _, err := dim.Machine("m.cfg", "m", []byte(text))
		for _, want := range wants {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v; want %s", text, err, want)
			}
		}
	}
}
