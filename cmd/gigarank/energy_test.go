package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
)

// consumer writes a machine on which each rank has a node, a message takes a microsecond and a nanosecond a byte, and processors cost nothing.
func consumer(t *testing.T, energy string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "consumer.yaml")
	text := "name: consumer\n" + energy + "network: {model: flat, latency: 1us, bandwidth: 1GB/s}\n"
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

const eightWatts = "energy: {compute: 8W, wait: 4W, node: 100W, interface: 1nJ/B}\n"

// energyDocument returns the document of a command line that reads files.
func energyDocument(t *testing.T, line string) document {
	t.Helper()
	c, stdout, stderr := terminaltest.Console(nil)
	c.ReadFile = os.ReadFile
	if code := execute(append(strings.Fields(line), "--json", "-"), c); code != terminal.ExitDone {
		t.Fatalf("%s: exit code %d, %s", line, code, stderr)
	}
	var d document
	text := stdout.String()
	if err := json.Unmarshal([]byte(text[strings.Index(text, "{"):]), &d); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return d
}

// A barrier by dissemination among four ranks takes 2 us after a millisecond of computing: 4 ranks × 1 ms × 8 W are 32 mJ, 4 × 2 us × 4 W are 32 uJ, and
// 4 nodes × 1.002 ms × 100 W are 400.8 mJ. A barrier's messages carry no bytes.
func TestEnergyOfABarrier(t *testing.T) {
	for _, how := range []string{"", " --lp event --engines 3", " --stats --strict"} {
		d := energyDocument(t, "run barriertest --ranks 4 --iterations 1 --compute 1ms --barrier dissemination --machine "+consumer(t, eightWatts)+how)
		e := d.Energy
		if e == nil {
			t.Fatal("no energy")
		}
		want := map[string]float64{"computing": 0.032, "network": 0.000032, "nodes": 0.4008}
		sum := 0.0
		for cause, v := range want {
			if math.Abs(e.Causes[cause]-v) > 1e-12 {
				t.Errorf("%s%s: %v J, want %v", cause, how, e.Causes[cause], v)
			}
			sum += v
		}
		if len(e.Causes) != len(want) || math.Abs(e.Joules-sum) > 1e-12 || math.Abs(e.Watts-sum/0.001002) > 1e-6 || e.Nodes != 4 {
			t.Errorf("%s: %+v", how, e)
		}
		if asked := strings.Contains(how, "--stats"); (d.Statistics != nil) != asked {
			t.Errorf("%s: statistics are %v", how, d.Statistics)
		}
	}
}

// In a halo exchange the bytes between nodes are those of the matrix off its diagonal, and the allreduce among 8 ranks has three rounds of 8 bytes each.
func TestEnergyOfAStencil(t *testing.T) {
	for _, payload := range []string{"1KiB", "1MiB"} {
		for _, model := range []string{"", "eager_limit: 64KiB", "progress: waits, eager_limit: 64KiB", "overhead: {send: 1us, receive: 1us}, eager_limit: 64KiB"} {
			file := consumer(t, eightWatts)
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(strings.Replace(string(text), "bandwidth: 1GB/s}", "bandwidth: 1GB/s, "+model+"}", 1)), 0o666); err != nil {
				t.Fatal(err)
			}
			for _, how := range []string{"--engines 1", "--engines 3", "--lp event --engines 2"} {
				d := energyDocument(t, fmt.Sprintf("run stencil --ranks 8 --iterations 2 --payload %s --matrix --allreduce recursive-doubling --machine %s %s", payload, file, how))
				between := uint64(2 * 8 * 3 * 8)
				for from, row := range d.Statistics.Matrix.Bytes {
					for to, bytes := range row {
						if from != to {
							between += bytes
						}
					}
				}
				if e := d.Energy; e.InterfaceBytes != between || math.Abs(e.Causes["interfaces"]-float64(between)*1e-9) > 1e-12 {
					t.Errorf("%s, %q, %s: %d bytes, want %d; %+v", payload, model, how, e.InterfaceBytes, between, e)
				}
				var messages uint64
				for _, class := range d.Statistics.Bandwidths {
					messages += class.Count
					if class.High > 1<<30 {
						t.Errorf("%s, %q: messages saw %d B/s on links of 1 GB/s", payload, model, class.Low)
					}
				}
				if messages != 2*8*(6+3) {
					t.Errorf("%s, %q, %s: %d messages saw a bandwidth, want %d", payload, model, how, messages, 2*8*(6+3))
				}
			}
		}
	}
}

// Where the machine tells nothing, nothing is printed; bulk collectives are refused where it tells.
func TestEnergyIsAskedFor(t *testing.T) {
	for energy, want := range map[string]bool{"": false, eightWatts: true} {
		c, stdout, stderr := terminaltest.Console(nil)
		c.ReadFile = os.ReadFile
		if code := execute([]string{"run", "barriertest", "--ranks", "4", "--machine", consumer(t, energy)}, c); code != terminal.ExitDone {
			t.Fatal(stderr.String())
		}
		if got := strings.Contains(stdout.String(), "energy"); got != want {
			t.Errorf("with %q: %s", energy, stdout)
		}
		if strings.Contains(stdout.String(), "where time goes") {
			t.Errorf("statistics without --stats: %s", stdout)
		}
	}
	c, _, stderr := terminaltest.Console(nil)
	c.ReadFile = os.ReadFile
	if code := execute([]string{"run", "barriertest", "--ranks", "4", "--collectives", "bulk", "--machine", consumer(t, eightWatts)}, c); code != terminal.ExitUsage ||
		!strings.Contains(stderr.String(), "--collectives: bulk, but machine consumer has energy") {
		t.Errorf("%d: %s", code, stderr)
	}
}

// A study has the energy beside the time, in its text, its page and its table.
func TestEnergyOfAStudy(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	c, stdout, stderr := terminaltest.Console(nil)
	c.ReadFile = os.ReadFile
	if code := execute([]string{"study", "barriertest", "--ranks", "2,4", "--machine", consumer(t, eightWatts), "--out", dir}, c); code != terminal.ExitDone {
		t.Fatal(stderr.String())
	}
	if !strings.Contains(stdout.String(), "energy of a run") {
		t.Errorf("the text is %s", stdout)
	}
	for file, want := range map[string]string{"report.html": "<h2>Energy</h2>", "results.csv": "energy_j", "results.jsonl": `"energy":{"joules":`} {
		if text, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q: %v", file, want, err)
		}
	}
}
