package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/internal/loggp"
	"gigarank/study"
)

// lineDelays are delays of 1 us and 1 ns for each byte.
func lineDelays() *loggp.Pair {
	v := &loggp.Pair{Partner: 1}
	for _, n := range loggp.Sizes() {
		s := 1e-6 + 1e-9*float64(n)
		v.Delays = append(v.Delays, loggp.Point{Bytes: n, Seconds: s, Runs: []float64{s, 2 * s}})
	}
	one := []loggp.Point{{Bytes: 8, Seconds: 0.2e-6, Runs: []float64{0.2e-6}}}
	v.SendTimes, v.ReceiveTimes, v.Gaps = one, one, one
	return v
}

// lineMeasurements are those of a machine on which messages between nodes take twice as
// long as within one.
func lineMeasurements() loggp.Measurements {
	m := loggp.Measurements{Schema: loggp.Schema, Library: "fake MPI", Processes: 4, Nodes: 2, RanksPerNode: 2, Intra: lineDelays(), Inter: lineDelays(),
		Reduce: loggp.Point{Bytes: 1000, Seconds: 1e-6, Runs: []float64{1e-6}}, LocalCopies: []loggp.Point{{Bytes: 1000, Seconds: 1e-6, Runs: []float64{1e-6}}}}
	for i := range m.Inter.Delays {
		m.Inter.Delays[i].Seconds *= 2
	}
	for _, operation := range []string{"barrier", "bcast", "allreduce"} {
		m.Collectives = append(m.Collectives, loggp.Collective{Operation: operation, Point: loggp.Point{Bytes: 0, Seconds: 1e-6, Runs: []float64{1e-6}}})
	}
	m.Collectives[1].Bytes, m.Collectives[2].Bytes = 8, 1024
	return m
}

// writeMeasurements writes measurements and the machine file that they make.
func writeMeasurements(t *testing.T, model string) (machine, measured string) {
	m, dir := lineMeasurements(), t.TempDir()
	text, err := m.Machine("line", model)
	if err != nil {
		t.Fatal(err)
	}
	measurements, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	machine, measured = filepath.Join(dir, "line.yaml"), filepath.Join(dir, "line.json")
	for path, text := range map[string][]byte{machine: text, measured: measurements} {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return machine, measured
}

// Of times on a line, mpiping on the machine file made of them simulates the same, within
// nodes and between, in both models. On a machine twice as fast it is off by a half.
func TestValidatePings(t *testing.T) {
	validated := func(machine, measured string) [][]string {
		out := filepath.Join(t.TempDir(), "out")
		c, stdout, stderr := terminaltest.Console(nil)
		if code := execute([]string{"validate", "mpiping", "--machine", machine, "--measured", measured, "--out", out}, c); code != terminal.ExitDone {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		if !strings.Contains(stdout.String(), "within a node: the simulation is off by ") {
			t.Errorf("no summary in\n%s", stdout)
		}
		text, err := os.ReadFile(filepath.Join(out, study.TableFile))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
		if err != nil || len(rows) != 1+2*len(loggp.Sizes()) {
			t.Fatalf("%v: %d rows", err, len(rows))
		}
		page, err := os.ReadFile(filepath.Join(out, study.ReportFile))
		if err != nil || strings.Count(string(page), "<figure>") != 2 || strings.Contains(string(page), "NaN") {
			t.Errorf("%v: the report is\n%s", err, page)
		}
		return rows[1:]
	}
	off := func(row []string) float64 {
		e, err := strconv.ParseFloat(row[5], 64)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for _, model := range loggp.Models {
		for _, row := range validated(writeMeasurements(t, model)) {
			if math.Abs(off(row)) > 1e-5 {
				t.Errorf("%s: %v is off", model, row)
			}
		}
	}
	_, measured := writeMeasurements(t, "table")
	fast := filepath.Join(t.TempDir(), "fast.yaml")
	text := "name: fast\nranks_per_node: 2\nnetwork: {model: twolevel, intra: {latency: 0.5us, bandwidth: 2GB/s}, inter: {latency: 1us, bandwidth: 1GB/s}}\n"
	if err := os.WriteFile(fast, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, row := range validated(fast, measured) {
		if math.Abs(off(row)+0.5) > 1e-5 {
			t.Errorf("on a machine twice as fast %v is not off by a half", row)
		}
	}
}

// If the jobs of validate were all slow alike, the ping-pongs beside those of the machine file show
// it, whatever is validated. Most are of one class of sizes: the other one is compared by itself.
func TestValidateTellsOfSlowJobs(t *testing.T) {
	machine, measured := writeMeasurements(t, "table")
	slow := filepath.Join(t.TempDir(), "slow.json")
	m := lineMeasurements()
	for _, pair := range []*loggp.Pair{m.Intra, m.Inter} {
		for i := range pair.Delays {
			if pair.Delays[i].Bytes <= loggp.ShortMost {
				pair.Delays[i].Seconds *= 3
			}
		}
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(slow, text, 0o666); err != nil {
		t.Fatal(err)
	}
	const remedy = "validate once more when nothing else runs"
	for _, program := range validated {
		for measured, want := range map[string]string{
			measured: "Ping-pongs up to 4 KiB take 1.00 times those of the machine file, longer ones 1.00 times, by the medians.",
			slow:     "Ping-pongs up to 4 KiB take 3.00 times those of the machine file, longer ones 1.00 times, by the medians. Unless",
		} {
			c, stdout, stderr := terminaltest.Console(nil)
			out := t.TempDir()
			code := execute([]string{"validate", program, "--machine", machine, "--measured", measured, "--out", out}, c)
			page, err := os.ReadFile(filepath.Join(out, study.ReportFile))
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{stdout.String(), string(page)} {
				if code != terminal.ExitDone || !strings.Contains(text, want) || strings.Contains(text, remedy) != (measured == slow) {
					t.Errorf("%s: exit code %d, want %q in\n%s%s", program, code, want, text, stderr)
				}
			}
		}
	}
}

// The collectives are simulated with as many ranks as were measured.
func TestValidateCollectives(t *testing.T) {
	machine, measured := writeMeasurements(t, "hockney")
	c, stdout, stderr := terminaltest.Console(nil)
	code := execute([]string{"validate", "collectives", "--machine", machine, "--measured", measured}, c)
	// Node-leader among two nodes of two: a join and a release of 1 us less the overheads of
	// 0.4 us each, and an exchange of the leaders, which takes 2 us with the overheads.
	for _, want := range []string{`barrier of 4 processes +0 B +1 us +1 us +3.2 us +220.0 %`, "bcast of 4 processes", "allreduce of 4 processes"} {
		if code != terminal.ExitDone || !regexp.MustCompile(want).MatchString(stdout.String()) {
			t.Errorf("exit code %d, want %q in\n%s%s", code, want, stdout, stderr)
		}
	}
}

// All faults are named at once.
func TestValidateNamesAllFaults(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.json")
	if err := os.WriteFile(empty, []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	line, measured := writeMeasurements(t, "table")
	for _, c := range []struct{ args, want string }{
		{"mpipong --hosts 1 --launcher none", `PROGRAM: unknown program "mpipong": did you mean mpiping?|--machine: name the machine file|--hosts: 1 is too small|--launcher: measuring needs mpirun`},
		{"mpiping --machine xt5 --measured " + empty, "holds no measurements of schema 2"},
		{"mpiping --machine " + line + " --cold --measured " + measured, "--cold: " + measured + " was measured without"},
		{"mpiping --machine xt5 --measured /nowhere.json --runs 0", "--runs: 0 is too small|--measured: open /nowhere.json"},
	} {
		console, _, stderr := terminaltest.Console(nil)
		code := execute(append([]string{"validate"}, strings.Fields(c.args)...), console)
		for want := range strings.SplitSeq(c.want, "|") {
			if code != terminal.ExitUsage || !strings.Contains(stderr.String(), want) {
				t.Errorf("%s: exit code %d, want %d and %q in\n%s", c.args, code, terminal.ExitUsage, want, fmt.Sprint(stderr))
			}
		}
	}
}
