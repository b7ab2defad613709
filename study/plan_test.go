package study

import (
	"os"
	"slices"
	"strings"
	"testing"

	"gigarank/bench"
	"gigarank/internal/result"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/sync"
	"gigarank/vtime"
)

// run simulates a point as the command does, as event ranks on two engines.
func run(t testing.TB, p *Plan, point Point) Record {
	target, err := p.Machine(point).Target(point.Ranks)
	if err != nil {
		t.Fatal(err)
	}
	c := bench.Config{Config: mpivirt.Config{
		Target: target, Kind: steps.Kind, Transports: sync.NewInProcess(2), Protocol: sync.Hybrid, Seed: point.Seed,
	}, Options: bench.Options{Iterations: point.Iterations, Compute: point.Compute, Payload: point.Payload, NoContents: p.NoContents}}
	if point.Compute == 0 {
		c.Compute = bench.None
	}
	p.Choose(point, &c.Config)
	c.Noise = p.Noise(point).Seeded(point.Seed)
	s, err := bench.New(p.Entry.Name, c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run()
	if err != nil {
		t.Fatalf("%+v: %v", point, err)
	}
	d := result.Document{
		Schema: result.Schema, Complete: true, Ranks: point.Ranks, VirtualTime: int64(r.VirtualTime), Fingerprint: r.Fingerprint,
		Wall: 1e-6 * float64(point.Ranks), BytesPerRank: 30 + 1e7/float64(point.Ranks),
	}
	h := r.Finish.Histogram
	d.Finish = result.Distribution{Min: int64(r.Finish.Min), Mean: int64(r.Finish.Mean), Max: int64(r.Finish.Max),
		Histogram: result.Histogram{Low: int64(h.Low), Width: int64(h.Width), Counts: h.Counts}}
	for _, it := range r.Iterations {
		d.Iterations = append(d.Iterations, result.Iteration{Index: it.Index, Operation: it.Operation, Min: int64(it.Min), Mean: int64(it.Mean), Max: int64(it.Max)})
	}
	return p.NewRecord("test", point, d)
}

func runAll(t testing.TB, p *Plan) []Record {
	var records []Record
	for _, point := range p.Points {
		records = append(records, run(t, p, point))
	}
	return records
}

const flatMachine = `name: flat-test
ranks_per_node: 4
network: {model: flat, latency: 1us, bandwidth: 1GB/s, reduce: {bandwidth: 2GB/s}}
`

// writeFile writes a file into the test's directory.
func writeFile(t testing.TB, name, text string) {
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Points come in the order of growing cost to the host, so that a time limit loses the
// fewest. With one algorithm, fewer ranks come first whatever else varies.
func TestCheapPointsComeFirst(t *testing.T) {
	p := testPlan(t, Axes{Operation: "allreduce", Ranks: "2^4..2^10", Payload: "8", Algorithms: "ring", Machines: "xt5,gigabit-star", Seed: "1,2"})
	if len(p.Points) != 7*2*2 {
		t.Errorf("%d points", len(p.Points))
	}
	if !slices.IsSortedFunc(p.Points, func(a, b Point) int { return int(a.Ranks - b.Ranks) }) {
		t.Error("points with more ranks come before points with fewer")
	}
}

// A barrier of given cost is a curve of its own on machines that have it, and left out on
// others.
func TestBarriersOfGivenCostAreStudied(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "given.yaml", "name: given\nnetwork: {model: flat, latency: 1us, barrier: {time: 3us}}\n")
	p := testPlan(t, Axes{Operation: "barrier", Ranks: "1,5,16", Machines: "given.yaml,xt5"})
	for _, m := range []string{"given", "xt5"} {
		all := slices.ContainsFunc(p.Points, func(q Point) bool { return q.Machine == m && q.Algorithm == "given" })
		if want := m == "given"; all != want {
			t.Errorf("%s has a barrier of given cost: %t", m, all)
		}
	}
	if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "xt5") {
		t.Errorf("notes %q do not name xt5", p.Notes)
	}
	for _, point := range p.Points {
		if point.Algorithm != "given" {
			continue
		}
		want := 3 * vtime.Microsecond
		if point.Ranks == 1 {
			want = 0
		}
		if got := run(t, p, point); got.Time != want {
			t.Errorf("%d ranks take %v, want %v", point.Ranks, got.Time, want)
		}
		if form, ok := p.ClosedForm(point); !ok || form != want {
			t.Errorf("the formula for %d ranks gives %v (%t), want %v", point.Ranks, form, ok, want)
		}
	}
	if p := testPlan(t, Axes{Operation: "allreduce", Ranks: "4", Machines: "given.yaml"}); slices.Contains(p.Choices, "given") {
		t.Error("an allreduce has a given cost")
	}
}

// Hopeless points of default algorithms are left out and named. Points of algorithms
// that the user names are not.
func TestHopelessPointsAreLeftOut(t *testing.T) {
	p := testPlan(t, Axes{Operation: "allreduce", Ranks: "16,2^20", Payload: "8"})
	if !slices.ContainsFunc(p.LeftOut, func(q Point) bool { return q.Algorithm == "ring" && q.Ranks == 1<<20 }) {
		t.Errorf("a ring of 2^20 ranks is not left out, but %v", p.LeftOut)
	}
	if !slices.ContainsFunc(p.Points, func(q Point) bool { return q.Algorithm == "ring" && q.Ranks == 16 }) {
		t.Error("a ring of 16 ranks is left out")
	}
	if got := Ranges(p.LeftOut); !strings.Contains(got, "ring from 1Mi ranks on") {
		t.Error(got)
	}
	p = testPlan(t, Axes{Operation: "allreduce", Ranks: "16,2^20", Payload: "8,4Mi"})
	if got := Ranges(p.LeftOut); !strings.Contains(got, "node-leader from 1Mi ranks on with 4 MiB") {
		t.Error(got)
	}
	p = testPlan(t, Axes{Operation: "allreduce", Ranks: "16,2^20", Payload: "8", Algorithms: "ring"})
	if len(p.Points) != 2 || len(p.LeftOut) != 0 {
		t.Errorf("%d points, %d left out", len(p.Points), len(p.LeftOut))
	}
}

// A barrier of 2^30 ranks takes from 15 to 43 s on two cores by node-leader, and over a
// minute on one by dissemination or recursive doubling.
func TestLargestBarriersByDefault(t *testing.T) {
	p := testPlan(t, Axes{Operation: "barrier", Ranks: "2^10..2^30"})
	most := map[string]int64{}
	for _, q := range p.Points {
		most[q.Algorithm] = max(most[q.Algorithm], q.Ranks)
	}
	for algorithm, want := range map[string]int64{"node-leader": 1 << 30, "dissemination": 1 << 29, "recursive-doubling": 1 << 29} {
		if most[algorithm] != want {
			t.Errorf("%s is simulated on up to %d ranks, want %d", algorithm, most[algorithm], want)
		}
	}
}

// A study without a point left is refused.
func TestStudyOfHopelessPointsOnly(t *testing.T) {
	for _, c := range []struct {
		axes Axes
		want []string
	}{
		{Axes{Operation: "bcast", Ranks: "2^30"}, []string{"--algorithms: every point is expected to take over 1 min: name the algorithms that are to be simulated all the same"}},
		{Axes{Operation: "barrier", Ranks: "2^30", Quick: true}, []string{"--algorithms: every point is expected to take over 1.5 s: name the algorithms that are to be simulated all the same"}},
		{Axes{Operation: "bcast", Ranks: "2^30", Algorithms: "linear"}, nil},
		{Axes{Operation: "bcast", Ranks: "2,2^30"}, nil},
	} {
		var got []string
		NewPlan(c.axes, os.ReadFile, func(flag string, err error) { got = append(got, flag+": "+err.Error()) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.axes, got, c.want)
		}
	}
}

// Mappings and ranks per node replace the machine's, in all combinations, and
// distinguish points.
func TestMachineVariants(t *testing.T) {
	p := testPlan(t, Axes{Operation: "barrier", Ranks: "64", Algorithms: "node-leader", Mapping: "block,cyclic,random:3", RanksPerNode: "4,8"})
	seen := map[string]bool{}
	for _, point := range p.Points {
		seen[point.MachineDigest] = true
		if m := p.Machine(point); m.Mapping() != point.Mapping || m.RanksPerNode() != point.RanksPerNode {
			t.Errorf("%+v on %s", point, m)
		}
	}
	if len(p.Points) != 6 || len(seen) != 6 {
		t.Errorf("%d points on %d machines, want 6", len(p.Points), len(seen))
	}
}

// A machine that is named twice is simulated once. Two machines of one name are
// refused, since the name does not distinguish their results.
func TestMachinesOfOneName(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "same.yaml", flatMachine)
	writeFile(t, "again.yaml", "# again\n"+flatMachine)
	writeFile(t, "faster.yaml", strings.Replace(flatMachine, "1us", "1ns", 1))
	p := testPlan(t, Axes{Operation: "barrier", Ranks: "8", Algorithms: "linear", Machines: "same.yaml,xt5,again.yaml,xt5", Mapping: "block,cyclic"})
	if len(p.Machines) != 4 || len(p.Points) != 4 {
		t.Errorf("%d machines and %d points, want 4", len(p.Machines), len(p.Points))
	}
	for _, c := range []struct {
		machines, mapping string
		want              []string
	}{
		{"same.yaml,faster.yaml", "", []string{"--machine: two machines are named flat-test: change name in one of the files"}},
		{"faster.yaml,xt5,same.yaml,again.yaml", "block,cyclic", []string{"--machine: two machines are named flat-test: change name in one of the files"}},
		{"faster.yaml,xt5", "block,cyclic", nil},
	} {
		var got []string
		NewPlan(Axes{Operation: "barrier", Ranks: "8", Algorithms: "linear", Machines: c.machines, Mapping: c.mapping}, os.ReadFile,
			func(flag string, err error) { got = append(got, flag+": "+err.Error()) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.machines, got, c.want)
		}
	}
}

// The study without noise is added to one with noise, for comparison.
func TestNoiseIsComparedWithNone(t *testing.T) {
	p := testPlan(t, Axes{Operation: "barrier", Ranks: "64", Algorithms: "node-leader", Noise: []string{"periodic:10ms,1ms", "periodic:10ms,1ms"}})
	if !slices.Equal(p.Noises, []string{NoNoise, "periodic:10ms,1ms"}) || len(p.Points) != 2 ||
		p.Points[0].Iterations != 10 || p.Points[0].Compute != vtime.Millisecond {
		t.Errorf("%+v", p.Points)
	}
}

// The most ranks that can be simulated, and one more.
func TestMostRanks(t *testing.T) {
	for ranks, want := range map[string][]string{
		"2147483646": nil,
		"2147483647": {"--ranks: 2147483647 is too large: use at most 2147483646"},
	} {
		var got []string
		NewPlan(Axes{Operation: "barrier", Ranks: ranks, Algorithms: "node-leader"}, os.ReadFile,
			func(flag string, err error) { got = append(got, flag+": "+err.Error()) })
		if !slices.Equal(got, want) {
			t.Errorf("%s ranks: %q, want %q", ranks, got, want)
		}
	}
}

// All faults are reported at once, with their flags.
func TestFaultsOfAxes(t *testing.T) {
	var got []string
	NewPlan(Axes{
		Operation: "barrier", Ranks: "0", Payload: "8", Algorithms: "disemination", Machines: "xt6", Mapping: "cyclc",
		RanksPerNode: "0", Noise: []string{"loud"}, Seed: "x", Compute: "-1ms", Iterations: "0",
	}, os.ReadFile, func(flag string, err error) { got = append(got, flag+": "+err.Error()) })
	for _, want := range []string{
		"--ranks: 0 is too small", "--payload: a barrier carries no data", `--algorithms: barrier has no algorithm "disemination": did you mean dissemination`,
		`--machine: machine "xt6" is neither`, `--mapping: "cyclc" is unknown: did you mean cyclic`, "--ranks-per-node: 0 is too small",
		`--noise: "loud" is not a noise SPEC`, `--seed: "x" is not a seed`, "--compute: -1ms is negative", "--iterations: 0 is too small",
	} {
		if !slices.ContainsFunc(got, func(fault string) bool { return strings.HasPrefix(fault, want) }) {
			t.Errorf("no fault %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
	if len(got) != 10 {
		t.Errorf("%d faults:\n%s", len(got), strings.Join(got, "\n"))
	}
}
