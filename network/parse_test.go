package network

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"gigarank/internal/input"
)

// readFake reads the mapping files of the test scripts, beside machines/m.yaml.
func readFake(path string) ([]byte, error) {
	switch path {
	case "machines/good.map":
		return []byte("0\n1\n2\n"), nil
	case "machines/bad.map":
		return []byte("0\n1 # fine\n4\n-1\ntwo\n3\n5 1\n"), nil
	case "machines/empty.map":
		return []byte("# none\n"), nil
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

// The scripts hold machine files and the results of Parse: faults, or the machine in
// normal form. go test -rewrite rewrites them.
func TestParseScripts(t *testing.T) {
	// Remedies list the entries of a registry; a new entry does not change the scripts.
	keepFirst(t, &models, 5)
	keepFirst(t, &topologies, 9)
	keepFirst(t, &mappings, 4)
	for _, script := range []string{"testdata/faults", "testdata/normal"} {
		datadriven.RunTest(t, script, func(t *testing.T, d *datadriven.TestData) string {
			m, err := Parse("machines/m.yaml", []byte(d.Input), readFake)
			if err == nil {
				checkRoundTrip(t, m)
				return m.String()
			}
			checkFaults(t, err)
			return err.Error() + "\n"
		})
	}
}

// keepFirst keeps the first entries of a registry until the end of the test.
func keepFirst[K any](t *testing.T, registry *[]K, n int) {
	before := *registry
	*registry = before[:n]
	t.Cleanup(func() { *registry = before })
}

// checkRoundTrip checks that the normal form describes the same machine and is its own
// normal form.
func checkRoundTrip(t *testing.T, m *Machine) {
	t.Helper()
	if err := sameAgain(m); err != nil {
		t.Fatal(err)
	}
}

// checkFaults checks that faults name a place and a cause, in order.
func checkFaults(t *testing.T, err error) {
	t.Helper()
	var faults input.Faults
	if !errors.As(err, &faults) || len(faults) == 0 {
		t.Fatalf("no Faults: %v", err)
	}
	if !slices.IsSortedFunc(faults, func(a, b input.Fault) int { return a.Line - b.Line }) {
		t.Errorf("not in the order of lines:\n%v", err)
	}
	for _, f := range faults {
		if f.File == "" || f.Line < 1 || f.What == "" {
			t.Errorf("says too little: %+v", f)
		}
	}
	var one input.Fault
	if !errors.As(err, &one) || one != faults[0] {
		t.Errorf("errors.As finds no single fault in %v", err)
	}
}

func TestPresets(t *testing.T) {
	presets := Presets()
	var names []string
	for _, p := range presets {
		names = append(names, p.Name)
		if p.Summary == "" || p.Source == "" || strings.Contains(p.Summary, "\n") {
			t.Errorf("preset %s: summary %q, source %q", p.Name, p.Summary, p.Source)
		}
		m, err := Load(p.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if m.Name() != p.Name {
			t.Errorf("preset %s calls itself %s", p.Name, m.Name())
		}
		checkRoundTrip(t, m)
		if _, err := m.Target(1_000_000_000); err != nil {
			t.Errorf("preset %s has no room for a billion ranks: %v", p.Name, err)
		}
	}
	if want := []string{"aws-c5n", "aws-hpc6a", "aws-p3dn", "bluegene-q", "dgx-h100", "dgx-h200", "frontera", "frontier", "fugaku", "gigabit-star", "infiniband-ndr", "leonardo", "loggops-default", "lumi", "marenostrum5-acc", "qsnet", "tianhe-1a", "vaced-sim", "xsim-star", "xt5"}; !slices.Equal(names, want) {
		t.Errorf("presets %v, want %v", names, want)
	}
}

// The figures of the published machines.
func TestPresetFigures(t *testing.T) {
	if got, want := *mustPreset(t, "loggops-default", 1).LogGOPS(), (LogGOPS{
		Latency: 2500 * ns, Overhead: 1500 * ns, Gap: 1000 * ns, GapPerByte: 6 * ns, OverheadPerByte: 0, Eager: 65535,
	}); got != want {
		t.Errorf("loggops-default: %+v, want %+v", got, want)
	}
	tianhe := mustPreset(t, "vaced-sim", 1).Machine()
	if m := tianhe.model.(*hops); m.memory.bandwidth != 6.38e9 || m.network != (link{15 * us, 4.16e9}) || m.perHop != 600*ns {
		t.Errorf("vaced-sim:\n%s", tianhe)
	}
	for name, perNode := range map[string]int{
		"xt5": 12, "tianhe-1a": 12, "gigabit-star": 1, "frontier": 64, "frontera": 56, "aws-hpc6a": 96, "fugaku": 48,
		"lumi": 64, "leonardo": 32, "aws-c5n": 36, "infiniband-ndr": 112, "vaced-sim": 12, "xsim-star": 1, "bluegene-q": 16, "qsnet": 4,
		"dgx-h100": 8, "dgx-h200": 8, "marenostrum5-acc": 4, "aws-p3dn": 8,
	} {
		if got := mustPreset(t, name, 1).Machine().RanksPerNode(); got != perNode {
			t.Errorf("%s: %d ranks per node, want %d", name, got, perNode)
		}
	}
}

// On every machine a message costs some processor time, so that linear algorithms are
// not free, and long messages go by rendezvous. A GPU pays for the launch of a collective instead, whose messages have
// buffers for channels at their receivers.
func TestPresetsCharge(t *testing.T) {
	for _, p := range Presets() {
		if p.Name == "xsim-star" {
			continue // xSim has no such time
		}
		target := mustPreset(t, p.Name, 1)
		ofGPUs := target.LaunchTime() > 0
		if o := target.Overhead(); !ofGPUs && (o.Send == 0 || o.Receive == 0 || target.Gap() == 0) {
			t.Errorf("%s: overheads %+v, gap %v", p.Name, o, target.Gap())
		}
		if !ofGPUs && target.EagerLimit() > 1<<20 {
			t.Errorf("%s: eager limit %d", p.Name, target.EagerLimit())
		}
		if o := target.Overhead(); target.Gap() > o.Send+o.Receive && target.LogGOPS() == nil {
			t.Errorf("%s: a gap of %v, longer than both overheads, keeps collectives out of the bulk interpreter", p.Name, target.Gap())
		}
		text, _ := presetText(p.Name)
		if !strings.Contains(string(text), "reduce:") {
			t.Errorf("%s does not say what combining bytes takes", p.Name)
		}
	}
}

func TestEstimatesAreMarked(t *testing.T) {
	for preset, want := range map[string]int{
		"xt5": 8, "gigabit-star": 6, "vaced-sim": 6, "tianhe-1a": 8, "loggops-default": 0,
		"frontier": 10, "frontera": 9, "aws-hpc6a": 11, "fugaku": 14,
		"lumi": 9, "leonardo": 10, "aws-c5n": 9, "infiniband-ndr": 15, "xsim-star": 0, "bluegene-q": 13, "qsnet": 9,
	} {
		text := mustPreset(t, preset, 1).Machine().String()
		if got := strings.Count(text, "# estimate"); got != want {
			t.Errorf("%s: %d marks, want %d\n%s", preset, got, want, text)
		}
	}
}

// A field of section network that stands beside it is told where it belongs. The fields that
// there are include those that the file leaves out.
func TestMisplacedFields(t *testing.T) {
	read := func(string) ([]byte, error) {
		return []byte("name: m\njitter: {distribution: uniform, most: 1us}\nbarrier: {time: 1us}\nhops: 3\nnetwork: {model: flat, latency: 1us}"), nil
	}
	_, err := Load("m.yaml", read)
	for _, want := range []string{
		"m.yaml:2: jitter: is a field of network: write it there", "m.yaml:3: barrier: is a field of network: write it there",
		"m.yaml:4: hops: is unknown: the fields here are name, description, source, validated, library, nodes, ranks_per_node, mapping",
	} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%q is missing in\n%v", want, err)
		}
	}
}

func TestLoadFile(t *testing.T) {
	files := map[string]string{
		"dir/m.yaml": "name: m\nmapping: file:p.map\nnetwork: {model: flat, latency: 1us}",
		"dir/p.map":  "1\n0",
	}
	read := func(path string) ([]byte, error) {
		if text, ok := files[path]; ok {
			return []byte(text), nil
		}
		return nil, os.ErrNotExist
	}
	m, err := Load("dir/m.yaml", read)
	if err != nil {
		t.Fatal(err)
	}
	if m.Name() != "m" || m.Mapping() != "file:p.map" || m.Model() != "flat" || m.Topology() != "star" || m.Nodes() != 0 {
		t.Errorf("read as\n%s", m)
	}
	_, err = Load("xt6", read)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(fmt.Sprint(err), "did you mean xt5?") {
		t.Errorf("for a preset that does not exist: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range presetNames() {
		text, _ := presetText(name)
		f.Add(text)
	}
	for _, script := range []string{"testdata/faults", "testdata/normal"} {
		text, err := os.ReadFile(script)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "parse\n")[1:] {
			input, _, _ := strings.Cut(part, "----\n")
			f.Add([]byte(input))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Parse("machines/m.yaml", text, readFake)
		if err != nil {
			checkFaults(t, err)
			return
		}
		checkRoundTrip(t, m)
		target, err := m.Target(3)
		if err != nil {
			return
		}
		if d := target.Delay(0, 2, 1<<40); d < target.Latency(0, 2) || target.Latency(2, 2) < 1 {
			t.Errorf("latency %s, delay %s of\n%s", target.Latency(0, 2), d, m)
		}
	})
}
