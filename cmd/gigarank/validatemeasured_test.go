package main

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/internal/measurements"
	"gigarank/study"
)

// measuredFiles writes a table and a machine file on which messages of 8 bytes take 1.008 us and cost
// nothing else, in a directory of its own, which becomes the current one.
func measuredFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"m.csv": "machine,nodes,ppn,op,bytes,measured_us,source,algorithm,statistic\n" +
			"one,8,1,allreduce,8,3.024,\"a, b\",recursive_doubling_ompi,max\n" + // 3 rounds
			"one,16,1,allreduce,8,8.064,c,recursive_doubling_ompi,max\n" + // 4 rounds, half of the measured time
			"two,8,1,bcast,8,1,c,sparbit_over,max\n" +
			"one,8,1,barrier,0,3,c,dissemination,osu avg\n" +
			"xt5,8,1,barrier,0,3,c,dissemination,osu avg\n",
		"flat.yaml": "name: flat\nranks_per_node: 48\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// The figures of points whose times are known, in the text, in JSON, in the table and on the page.
func TestValidateMeasured(t *testing.T) {
	measuredFiles(t)
	c, stdout, stderr := terminaltest.Console(nil)
	args := []string{"validate", "measured", "m.csv", "--machine", "one=xt5", "--machine", "o*@8=flat.yaml", "--machine", "one@16=flat.yaml", "--machine", "none=flat.yaml",
		"--set-aside", "nodes=16: sixteen nodes", "--class", "eight: nodes=8,op=allreduce", "--json", "m.json", "--out", "out"}
	if code := execute(args, c); code != terminal.ExitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, part := range []string{"5 rows, of which 3 count", "eight", "1: sixteen nodes; simulated : measured 0.5 to 0.5; lines 3", "1: gigarank has no algorithm sparbit of bcast; lines 4"} {
		if !strings.Contains(stdout.String(), part) {
			t.Errorf("no %q in\n%s", part, stdout)
		}
	}
	for _, rule := range []string{"one=xt5", "none=flat.yaml"} { // the rules for 8 and 16 nodes go before the first one
		if !strings.Contains(stderr.String(), "--machine "+rule+": no row is of this machine") {
			t.Errorf("no word on the rule %s in %q", rule, stderr)
		}
	}
	text, err := os.ReadFile("m.json")
	if err != nil {
		t.Fatal(err)
	}
	var d measurements.Document
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{1, 0.5, 0, 1} {
		if got := d.Points[i].Ratio; math.Abs(got-want) > 1e-9 {
			t.Errorf("point %d has the ratio %v, want %v", i, got, want)
		}
	}
	if got := d.Points[4]; got.Model != "xt5" || got.Simulated <= 0 {
		t.Errorf("a row of xt5 without --machine is %+v, want it on the preset", got)
	}
	file, err := os.Open(filepath.Join("out", study.TableFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	table, err := csv.NewReader(file).ReadAll()
	if err != nil || len(table) != 6 {
		t.Fatalf("got %v, %v", table, err)
	}
	if simulated, err := strconv.ParseFloat(table[1][12], 64); err != nil || math.Abs(simulated-3.024) > 1e-6 {
		t.Errorf("simulated %v us, want 3.024", table[1])
	}
	page, err := os.ReadFile(filepath.Join("out", study.ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(page), "<svg viewBox=\"0 0 440"); n < 4 || strings.Contains(string(page), "src=") {
		t.Errorf("the page has %d charts, want those of all and of one machine, and no other file", n)
	}
	if !strings.Contains(string(page), "one 8×1, allreduce 8 B, recursive-doubling: measured 3.02 us, simulated 3.02 us, ratio 1 (line 2)") {
		t.Error("no mark of the first row on the page")
	}
}

// With --json - the document alone is on standard output. One machine file may serve all rows.
func TestValidateMeasuredAlone(t *testing.T) {
	measuredFiles(t)
	c, stdout, stderr := terminaltest.Console(nil)
	if code := execute([]string{"validate", "measured", "m.csv", "--machine", "flat.yaml", "--only", "machine=one", "--json", "-"}, c); code != terminal.ExitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var d measurements.Document
	if err := json.Unmarshal(stdout.Bytes(), &d); err != nil || d.Rows != 3 || d.Counted != 3 {
		t.Errorf("got %+v, %v", d, err)
	}
}

// Wrong usage is named, all at once, and nothing runs.
func TestValidateMeasuredFaults(t *testing.T) {
	measuredFiles(t)
	if err := os.WriteFile("bad.csv", []byte("machine,nodes,ppn,op,bytes,measured_us\na,1,1,bcast,x,1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"bad.csv --machine none.yaml --limit never --only nodes=x --set-aside nodes=1 --class nodes=1",
			`bad.csv:2: bytes: "x"|--machine: |--limit: "never"|--only: "nodes=x"|--set-aside: "nodes=1": write 'WHERE: REASON'|--class: "nodes=1": write 'NAME: WHERE'`},
		{"m.csv --only nodes=3", "--only: the conditions nodes=3 hold for no row"},
		{"m.csv --only machine=two", "no row can be simulated"},
		{"m.csv --machine one@x=xt5", "--machine: "},
		{"m.csv --machine [=xt5", "--machine: "},
		{"", "takes one FILE of measurements"},
	} {
		console, _, stderr := terminaltest.Console(nil)
		code := execute(append([]string{"validate", "measured"}, strings.Fields(c.args)...), console)
		if code != terminal.ExitUsage {
			t.Errorf("%s: exit code %d, want %d", c.args, code, terminal.ExitUsage)
		}
		for _, want := range strings.Split(c.want, "|") {
			if !strings.Contains(stderr.String(), want) {
				t.Errorf("%s: no %q in\n%s", c.args, want, stderr)
			}
		}
	}
}
