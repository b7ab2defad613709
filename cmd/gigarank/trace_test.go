package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/result"
	"gigarank/vtime"
)

// A run is recorded, looked at, checked, converted, damaged, repaired and replayed.
func TestTraces(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	printed(t, "run", "stencil", "--ranks", "9", "--iterations", "3", "--machine", "xt5", "--trace", in("s.grt"), "--json", in("run.json"), "--progress", "none")
	printed(t, "replay", in("s.grt"), "--machine", "xt5", "--json", in("replay.json"), "--progress", "none")
	if run, again := readDocument(t, in("run.json")), readDocument(t, in("replay.json")); run.Fingerprint != again.Fingerprint || again.VirtualTime != run.VirtualTime {
		t.Errorf("the run takes %v, %s, its replay %v, %s", run.VirtualTime, run.Fingerprint, again.VirtualTime, again.Fingerprint)
	}
	if text := printed(t, "trace", "info", in("s.grt")); !strings.Contains(text, "stencil") || !strings.Contains(text, "9 tasks") {
		t.Errorf("trace info prints\n%s", text)
	}
	printed(t, "trace", "check", in("s.grt"))
	if d := readDocument(t, in("replay.json")).Departures; d == nil || *d != (result.Departures{}) {
		t.Errorf("departures on the machine of the record: %v", d)
	}
	if text := printed(t, "replay", in("s.grt"), "--machine", "xt5", "--stats", "--progress", "none"); !strings.Contains(text, "departures from the record") {
		t.Errorf("replay --stats prints\n%s", text)
	}
	printed(t, "run", "stencil", "--ranks", "9", "--iterations", "3", "--machine", "xt5", "--trace", in("plain.grt"), "--compress", "none", "--progress", "none")

	text, err := os.ReadFile(in("plain.grt"))
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(b []byte) []byte{
		"torn.grt":    func(b []byte) []byte { return b[:2*len(b)/3] },
		"flipped.grt": func(b []byte) []byte { b[len(b)/2] ^= 4; return b },
	} {
		if err := os.WriteFile(in(name), damage(append([]byte(nil), text...)), 0o666); err != nil {
			t.Fatal(err)
		}
		if says := executed(t, terminal.ExitUsage, "replay", in(name), "--machine", "xt5", "--progress", "none"); !strings.Contains(says, name) || !strings.Contains(says, "byte ") {
			t.Errorf("replay of %s: %s", name, says)
		}
		printed(t, "trace", "info", in(name), "--repair", "-o", in("sound-"+name))
		if says := executed(t, terminal.ExitProgram, "replay", in("sound-"+name), "--machine", "xt5", "--progress", "none"); !strings.Contains(says, "task") {
			t.Errorf("replay of what is sound of %s: %s", name, says)
		}
	}
	for _, c := range []struct{ line, says string }{
		{"replay FILE --from-mark step#0", `--from-mark: "step#0" is no mark: write the name of a phase and the number of its beginning, such as step#3`},
		{"replay FILE --to-mark step#2", "the task ends without the mark step#2: its last one of that phase is number 0"},
		{"replay FILE --cpu-ratio -1 --cpu none", "--cpu-ratio: -1 is out of range"},
		{"replay FILE --cpu other", "--cpu: "},
		{"replay " + in("none.grt"), "none.grt"},
		{"run barriertest --ranks 2 --trace " + filepath.Join(in("s.grt"), "under"), "--trace: "},
		{"run phold --ranks 2 --trace " + in("p.grt"), "phold makes no calls of MPI: there is nothing to record"},
	} {
		if says := executed(t, terminal.ExitUsage, strings.Fields(strings.ReplaceAll(c.line, "FILE", in("s.grt")))...); !strings.Contains(says, c.says) {
			t.Errorf("%s: %s", c.line, says)
		}
	}
}

// A configuration of Dimemas becomes a machine file, on which a trace replays; its faults are named by their lines.
func TestMachineImport(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	node := "\"multi node information\" {0, 4, \"\", 2, 1.0, 0.000001, 1000.0, 0, 0, 0, 0.000002, 1, 1, 0.0};;\n"
	for name, text := range map[string]string{
		"m.cfg":     "#DIMEMAS_CONFIGURATION\n\"environment information\" {\"\", 0, \"\", 4, 250.0, 1, 3};;\n" + node,
		"wrong.cfg": "#DIMEMAS_CONFIGURATION\n" + node,
	} {
		if err := os.WriteFile(in(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if text := printed(t, "machine", "import", in("m.cfg"), "-o", in("m.yaml")); !strings.Contains(text, "left out of "+in("m.cfg")+", line 2: the model of collectives 3") {
		t.Errorf("machine import prints\n%s", text)
	}
	printed(t, "machine", "check", in("m.yaml"))
	printed(t, "run", "ring", "--ranks", "8", "--machine", in("m.yaml"), "--progress", "none")
	if says := executed(t, terminal.ExitUsage, "machine", "import", in("wrong.cfg")); !strings.Contains(says, "a configuration has the records") {
		t.Errorf("a configuration without environment: %s", says)
	}
	executed(t, terminal.ExitUsage, "machine", "import", in("none.cfg"))
}

// Bursts of a trace of another machine take the ratio of their node, of the command line, their CPU time or none. Each task computes for a second here.
func TestBurstsOfReplays(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"b.dim":  "#DIMEMAS:\"b\":1,0:3(1,1,1),1,0,0\nd:1:14:2:2:0\n1:0:0:1.0\n1:1:0:1.0\n1:2:0:1.0\ns:0:0\n",
		"m.yaml": "name: m\nranks_per_node: 1\ncpu_ratio: 2\ncpu_ratios: [{from: 1, to: 1, ratio: 3}]\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n",
	} {
		if err := os.WriteFile(in(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for flags, want := range map[string]vtime.Duration{"": 3 * vtime.Second, "--cpu-ratio 0.5": 1500 * vtime.Millisecond, "--cpu thread": 3 * vtime.Second, "--cpu wall": 3 * vtime.Second, "--cpu none": 0} {
		printed(t, append([]string{"replay", in("b.dim"), "--machine", in("m.yaml"), "--progress", "none", "--json", in("r.json")}, strings.Fields(flags)...)...)
		if got := readDocument(t, in("r.json")).VirtualTime; got != int64(want) {
			t.Errorf("%s: %d ps, want %v", flags, got, want)
		}
	}
}

// A run that is refused leaves nothing of the trace that it was to write.
func TestRefusedRunsLeaveNoTrace(t *testing.T) {
	dir := t.TempDir()
	said := executed(t, terminal.ExitUsage, "run", "ring", "--ranks", "4", "--trace", filepath.Join(dir, "r.grt"), "--json", filepath.Join(dir, "none", "r.json"))
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("%v, %v: %s", files, err, said)
	}
}
