package study

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gigarank/network"
	"gigarank/vtime"
)

const (
	twoLevels = "network: {model: twolevel, intra: {latency: 0.5us, bandwidth: 6GB/s}, inter: {latency: 5us, bandwidth: 2GB/s}, reduce: {bandwidth: 3GB/s}}"
	costly    = "network: {model: flat, latency: 1us, bandwidth: 1GB/s, overhead: {send: 200ns, receive: 300ns}, gap: 400ns, reduce: {bandwidth: 2GB/s}}"
	overHops  = "network: {model: hops, latency: 1us, latency_per_hop: 100ns, bandwidth: 2GB/s, memory_bandwidth: 5GB/s, overhead: {send: 100ns, receive: 0}}"
)

// machines of which closed forms hold for all ranks, for leaders, or seldom.
var formMachines = map[string]string{
	"flat":           "ranks_per_node: 4\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, reduce: {bandwidth: 2GB/s}}",
	"flat-eager":     "network: {model: flat, latency: 1us, bandwidth: 1GB/s, eager_limit: 1KiB}",
	"costly-eager":   strings.Replace(costly, "gap", "eager_limit: 1KiB, gap", 1),
	"hops-eager":     "ranks_per_node: 1\ntopology: {kind: star}\n" + strings.Replace(overHops, "overhead", "eager_limit: 1KiB, overhead", 1),
	"costly":         "ranks_per_node: 4\n" + costly,
	"costly-ports":   "ranks_per_node: 4\n" + strings.Replace(costly, "400ns", "900ns", 1),
	"costly-narrow":  "ranks_per_node: 4\n" + strings.Replace(costly, "400ns", "1900ns", 1),
	"levels":         "ranks_per_node: 4\n" + twoLevels,
	"levels-charged": "ranks_per_node: 4\n" + strings.Replace(twoLevels, "reduce", "overhead: {send: 200ns, receive: 100ns}, gap: 900ns, eager_limit: 1KiB, reduce", 1),
	"levels-cyclic":  "ranks_per_node: 4\nmapping: cyclic\n" + twoLevels,
	"levels-joined":  "ranks_per_node: 4\n" + strings.Replace(twoLevels, "reduce", "join: [{size: 0, delay: 70ns}, {size: 100, delay: 200ns}, {size: 4KiB, delay: 3us}], reduce", 1),
	"joins-by-level": "ranks_per_node: 4\n" + strings.Replace(costly, "gap", "join: {levels: [{name: complex, ranks: 2, latency: 70ns, gap: 9ns}, {name: node, latency: 300ns}], bandwidth: 3GB/s}, gap", 1),
	"levels-single":  "ranks_per_node: 1\n" + twoLevels,
	"levels-on-one":  "ranks_per_node: 64\n" + twoLevels,
	"measured":       "ranks_per_node: 1\nnetwork: {model: table, intra: [{size: 0, delay: 1us}], inter: [{size: 0, delay: 3us}, {size: 1KiB, delay: 4us}]}",
	"factors":        "ranks_per_node: 1\nnetwork: {model: factors, intra: {latency: 1us}, inter: {latency: 3us, bandwidth: 1GB/s, latency_factors: [{size: 0, factor: 1.5}, {size: 64, factor: 0.1}, {size: 1KiB, factor: 2}], bandwidth_factors: [{size: 100, factor: 0.5}]}}",
	"groups":         "ranks_per_node: 1\nnetwork: {model: levels, levels: [{name: node, latency: 1us}, {name: leaf, nodes: 16, latency: 2us, bandwidth: 2GB/s}, {name: machine, latency: 5us, bandwidth: 1GB/s}], reduce: {bandwidth: 3GB/s}}",
	"star":           "ranks_per_node: 1\ntopology: {kind: star}\n" + overHops,
	"star-of-four":   "ranks_per_node: 4\ntopology: {kind: star}\n" + strings.Replace(overHops, ", overhead: {send: 100ns, receive: 0}", "", 1),
	"board":          "ranks_per_node: 1\ntopology: {kind: hierarchy, levels: [{size: 8, hops: 1}, {hops: 3}]}\n" + overHops,
	"torus":          "ranks_per_node: 1\ntopology: {kind: torus, dimensions: 2}\n" + overHops,
	"loggops-narrow": "network: {model: loggops, L: 100ns, o: 100ns, g: 1us, G: 1ns, O: 2ns, S: 64KiB}",
	"given":          "ranks_per_node: 4\n" + strings.Replace(costly, "gap", "barrier: {time: 3us}, gap", 1),
	"offload":        "ranks_per_node: 4\n" + strings.Replace(costly, "gap", "switches: {most: 1Ki, levels: [{name: leaf, nodes: 4, latency: 1us, bandwidth: 3GB/s}, {name: core, latency: 2us}]}, gap", 1),
	"offload-ranks":  "ranks_per_node: 4\n" + strings.Replace(costly, "gap", "switches: {levels: [{name: chip, nodes: 1, latency: 1us, bandwidth: 3GB/s}, {name: core, latency: 2us}]}, gap", 1),
	"loggops-wide":   "network: {model: loggops, L: 2us, o: 1us, g: 1us, G: 1ns, O: 3ns, S: 64KiB}",
}

// Each delay model takes part in the comparison with closed forms.
func TestClosedFormsOfEachModel(t *testing.T) {
	all := strings.Join(slices.Collect(maps.Values(formMachines)), "\n")
	for _, m := range network.Models() {
		model := m.Name
		if !regexp.MustCompile(`model: ` + model + `\b`).MatchString(all) {
			t.Errorf("no machine of formMachines has delay model %s: add a machine, and its share of closed forms in TestSimulationMeetsTheClosedForm", model)
		}
	}
}

// Wherever a closed form is drawn, the simulated time equals it to the picosecond, for
// any operation, algorithm, machine and mapping. It is drawn at no less than a share of
// the points of each machine, in percent, but for the algorithms that have none.
func TestSimulationMeetsTheClosedForm(t *testing.T) {
	if testing.Short() {
		t.Skip("many small simulations have nothing for the race detector")
	}
	drawn := map[string]int{
		"costly-eager": 50, "hops-eager": 50, "flat": 80, "flat-eager": 50, "costly": 80, "costly-ports": 35, "costly-narrow": 12, "levels": 20, "levels-charged": 3, "levels-cyclic": 20, "levels-joined": 20, "joins-by-level": 30, "levels-single": 80, "levels-on-one": 80,
		"measured": 80, "factors": 80, "groups": 15, "star": 80, "star-of-four": 3, "board": 50, "torus": 15, "given": 80, "offload": 60, "offload-ranks": 60, "loggops-narrow": 0, "loggops-wide": 15,
		"frontier": 2, "frontera": 2, "fugaku": 7, // ranks of a node share its memory
		"loggops-default": 15, "xt5": 3, "tianhe-1a": 3, "gigabit-star": 20, // interfaces hold back messages of algorithms that are not in step
	}
	byNodes := []string{"smp", "smp-rabenseifner", "han", "two-level"}
	t.Chdir(t.TempDir())
	for name, text := range formMachines {
		writeFile(t, name+".yaml", "name: "+name+"\n"+text+"\n")
	}
	for _, machine := range slices.Sorted(maps.Keys(drawn)) {
		file := machine
		if formMachines[machine] != "" {
			file += ".yaml"
		}
		t.Run(machine, func(t *testing.T) {
			points, compared := 0, 0
			for _, operation := range Operations() {
				axes := Axes{Operation: operation, Ranks: "2,3,8,30,32", Machines: file, Compute: "0", Iterations: "1"}
				if operation != "barrier" {
					axes.Payload = "8,4Ki"
				}
				p := testPlan(t, axes)
				for _, r := range runAll(t, p) {
					if slices.Contains(byNodes, r.Point.Algorithm) {
						continue
					}
					if points++; r.ClosedForm == 0 {
						continue
					}
					if compared++; r.Time != r.ClosedForm {
						t.Errorf("%s %s of %d bytes, %d ranks: %v, closed form %v", operation, r.Point.Algorithm, r.Point.Payload, r.Point.Ranks, r.Time, r.ClosedForm)
					}
				}
			}
			if compared*100 < points*drawn[machine] {
				t.Errorf("a closed form is drawn at %d of %d points, want %d in a hundred: is that the share of this machine in the table above?", compared, points, drawn[machine])
			}
		})
	}
}

// Closed forms are not drawn where they do not hold, however close they are.
func TestClosedFormsThatDoNotHold(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range formMachines {
		writeFile(t, name+".yaml", "name: "+name+"\n"+text+"\n")
	}
	for _, c := range []struct {
		why  string
		axes Axes
		want bool
	}{
		{"the root's processor takes one message after another", Axes{Operation: "allreduce", Algorithms: "linear", Machines: "loggops-default", Ranks: "1Ki"}, false},
		{"some neighbours are on one node", Axes{Operation: "allreduce", Algorithms: "ring", Machines: "xt5", Ranks: "48"}, false},
		{"all are on one node", Axes{Operation: "allreduce", Algorithms: "ring", Machines: "levels-on-one.yaml", Ranks: "48"}, true},
		{"each is on a node of its own", Axes{Operation: "allreduce", Algorithms: "ring", Machines: "levels.yaml", RanksPerNode: "1", Ranks: "48"}, true},
		{"each is on a node of its own by the mapping", Axes{Operation: "barrier", Algorithms: "binomial", Machines: "levels-on-one.yaml", Mapping: "cyclic", Ranks: "1"}, false},
		{"nodes are full", Axes{Operation: "barrier", Algorithms: "node-leader", Machines: "levels.yaml", Ranks: "48"}, true},
		{"nodes are full and join with data", Axes{Operation: "allreduce", Algorithms: "node-leader", Machines: "levels.yaml", Ranks: "44", Payload: "8Ki"}, true},
		{"the last node has fewer to combine", Axes{Operation: "allreduce", Algorithms: "node-leader", Machines: "levels.yaml", Ranks: "50", Payload: "8Ki"}, false},
		{"full nodes and leaders in step above the eager limit", Axes{Operation: "allreduce", Algorithms: "node-leader", Machines: "levels-charged.yaml", Ranks: "64", Payload: "8Ki"}, true},
		{"leaders that fold wait for ports", Axes{Operation: "allreduce", Algorithms: "node-leader", Machines: "levels-charged.yaml", Ranks: "48", Payload: "8"}, false},
		{"leaders are so many hops apart as they are", Axes{Operation: "barrier", Algorithms: "node-leader", Machines: "torus.yaml", Ranks: "48"}, false},
		{"the last node has one rank only", Axes{Operation: "barrier", Algorithms: "node-leader", Machines: "levels.yaml", Ranks: "49"}, false},
		{"the last node has two ranks", Axes{Operation: "barrier", Algorithms: "node-leader", Machines: "levels.yaml", Ranks: "50"}, true},
		{"messages are eager", Axes{Operation: "bcast", Algorithms: "binomial", Machines: "flat-eager.yaml", Ranks: "8", Payload: "1Ki"}, true},
		{"messages are not", Axes{Operation: "bcast", Algorithms: "binomial", Machines: "flat-eager.yaml", Ranks: "8", Payload: "1025"}, false},
		{"messages are not, but all exchange them in step", Axes{Operation: "allreduce", Algorithms: "recursive-doubling", Machines: "flat-eager.yaml", Ranks: "8", Payload: "2Ki"}, true},
		{"bundles are not", Axes{Operation: "gather", Algorithms: "binomial", Machines: "flat-eager.yaml", Ranks: "8", Payload: "1Ki"}, false},
		{"ranks enter together", Axes{Operation: "allreduce", Algorithms: "ring", Machines: "flat.yaml", Ranks: "8", Compute: "0"}, true},
		{"ranks compute for different times", Axes{Operation: "allreduce", Algorithms: "ring", Machines: "flat.yaml", Ranks: "8", Compute: "1us"}, false},
		{"ranks compute equally long", Axes{Operation: "barrier", Algorithms: "linear", Machines: "flat.yaml", Ranks: "8", Compute: "1us"}, true},
		{"ranks do not leave together", Axes{Operation: "barrier", Algorithms: "linear", Machines: "flat.yaml", Ranks: "8", Iterations: "2"}, false},
		{"ranks leave together", Axes{Operation: "barrier", Algorithms: "dissemination", Machines: "flat.yaml", Ranks: "8", Iterations: "2"}, true},
		{"overheads are those of each round", Axes{Operation: "barrier", Algorithms: "dissemination", Machines: "costly-ports.yaml", Ranks: "7"}, true},
		{"ports are not ready for the next round", Axes{Operation: "barrier", Algorithms: "dissemination", Machines: "costly-narrow.yaml", Ranks: "7"}, false},
	} {
		p := testPlan(t, c.axes)
		r := run(t, p, p.Points[0])
		if drawn := r.ClosedForm != 0; drawn != c.want || drawn && r.Time != r.ClosedForm {
			t.Errorf("%s: %v simulated, closed form %v, want it drawn: %t", c.why, r.Time, r.ClosedForm, c.want)
		}
	}
	p := testPlan(t, Axes{Operation: "barrier", Algorithms: "dissemination", Machines: "flat.yaml", Ranks: "8", Noise: []string{"periodic:1ms,1us"}})
	for _, q := range p.Points {
		if _, drawn := p.ClosedForm(q); drawn != (q.Noise == NoNoise) {
			t.Errorf("%s: closed form drawn: %t", q.Noise, drawn)
		}
	}
}

// The node-leader barrier on nodes of two levels: 2·α_intra + (L + 2[np2])·α_inter,
// here 2·0.5us + 4·5us on 16 nodes of 4 ranks; on one node 2·α_intra.
func TestClosedFormOfTwoLevels(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "levels.yaml", "name: levels\n"+formMachines["levels"]+"\n")
	p := testPlan(t, Axes{Operation: "barrier", Ranks: "4,64", Algorithms: "node-leader", Machines: "levels.yaml"})
	for i, want := range []vtime.Duration{vtime.Microsecond, 21 * vtime.Microsecond} {
		r := run(t, p, p.Points[i])
		if r.ClosedForm != want || r.Time != want {
			t.Errorf("%d ranks: %v, closed form %v, want %v", r.Point.Ranks, r.Time, r.ClosedForm, want)
		}
	}
}

// LogGOPSim's dissemination of 1 byte with its default parameters takes 16500 ns
// for 8 ranks and 33000 ns for 64.
func TestClosedFormOfLogGOPS(t *testing.T) {
	p := testPlan(t, Axes{Operation: "barrier", Ranks: "8,64", Algorithms: "dissemination", Machines: "loggops-default"})
	for i, want := range []vtime.Duration{16500 * vtime.Nanosecond, 33000 * vtime.Nanosecond} {
		if r := run(t, p, p.Points[i]); r.ClosedForm != want || r.Time != want {
			t.Errorf("%d ranks: %v, closed form %v, want %v", r.Point.Ranks, r.Time, r.ClosedForm, want)
		}
	}
}

// The ratio is 1 only for equal times. A difference of a picosecond shows, and the
// report says that something is wrong.
func TestRatioIsExact(t *testing.T) {
	p := testPlan(t, Axes{Operation: "barrier", Ranks: "8", Algorithms: "dissemination", Machines: "loggops-default"})
	right := run(t, p, p.Points[0])
	wrong := right
	wrong.Time++
	none := right
	none.ClosedForm = 0
	for _, c := range []struct {
		r         Record
		ratio     string
		agreement string
	}{
		{right, "1", "agrees with them to the picosecond"},
		{wrong, "1.00000006061", "DIFFERS from the closed form at 1 of the 1 point"},
		{none, "", ""},
	} {
		if got := c.r.ratio(); got != c.ratio {
			t.Errorf("%v : %v is %q, want %q", c.r.Time, c.r.ClosedForm, got, c.ratio)
		}
		if got := agreement([]Record{c.r}); got == "" != (c.agreement == "") || !strings.Contains(got, c.agreement) {
			t.Errorf("of %v : %v it is said that %q, want %q", c.r.Time, c.r.ClosedForm, got, c.agreement)
		}
	}
	if text := string(reportOf(t, p, []Record{wrong})); !strings.Contains(text, fmt.Sprint(">", wrong.ratio(), "<")) {
		t.Error("the report does not have the ratio")
	}
}
