package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
)

// Programs, ranks and flags that need contents are refused with the reason, and so are datatypes that a program has not or that do
// not fit the payload, and calls that algorithms cut into too many segments.
func TestContentsAreRefused(t *testing.T) {
	for line, want := range map[string][]string{
		"run picalc --contents none":                                                              {"--contents", "picalc needs the contents of messages", "broadcast"},
		"plan picalc --contents none":                                                             {"--contents", "picalc needs the contents of messages"},
		"run barriertest --contents some":                                                         {"--contents", `"some"`, "full", "none"},
		"run allreducetest --contents none --cpu measured":                                        {"--contents", "CPU time"},
		"run allreducetest --datatype quad":                                                       {"--datatype", `"quad"`, "float"},
		"run ring --datatype float":                                                               {"--datatype", "ring has no vectors"},
		"run allreducetest --datatype float --payload 10":                                         {"payload of 10 bytes", "floats have 4 bytes each"},
		"run allreducetest --payload 12":                                                          {"payload of 12 bytes", "doubles have 8 bytes each"},
		"run bcasttest --datatype double --payload 12":                                            {"payload of 12 bytes", "double have 8 bytes each"},
		"run allreducetest --datatype float --ranks 8M --lp event":                                {"--datatype", "use double"},
		"study allreduce --ranks 16 --payload 12 --out DIR":                                       {"--payload", "doubles have 8 bytes each"},
		"study barrier --ranks 16 --datatype float --out DIR":                                     {"--datatype", "barriertest has no vectors"},
		"run bcasttest --ranks 8 --payload 4GiB --algorithm bcast=pipeline:1":                     {"--algorithm", "pipeline:1B among 8 members", "4294967296 segments", "at most 16777216", "a segment of at least 257"},
		"run bcasttest --ranks 8 --payload 1GiB --algorithm bcast=pipeline:1":                     {"--algorithm", "1073741824 segments", "a segment of at least 65"},
		"run reducetest --ranks 8 --payload 4GiB --algorithm reduce=chain:8:fanout=2":             {"--algorithm", "chain:8B:fanout=2", "536870912 segments"},
		"run allreducetest --contents none --ranks 8 --payload 4GiB --allreduce ring-segmented:1": {"--algorithm", "ring-segmented:1B among 8 members", "536870912 segments", "3758096384 rounds", "a segment of at least 33"},
		"plan bcasttest --ranks 8 --payload 4GiB --algorithm bcast=pipeline:1":                    {"--algorithm", "4294967296 segments"},
	} {
		c, _, stderr := terminaltest.Console(nil)
		if code := execute(strings.Fields(strings.ReplaceAll(line, "DIR", t.TempDir())), c); code != terminal.ExitUsage {
			t.Errorf("%s: exit code %d, want %d", line, code, terminal.ExitUsage)
		}
		for _, text := range want {
			if !strings.Contains(stderr.String(), text) {
				t.Errorf("%s: no %q in %q", line, text, stderr)
			}
		}
	}
}

// resultOf runs a command line and returns its document.
func resultOf(t *testing.T, line string) document {
	t.Helper()
	c, stdout, stderr := terminaltest.Console(nil)
	if code := execute(append(strings.Fields(line), "--json", "-"), c); code != terminal.ExitDone {
		t.Fatalf("%s: exit code %d, %s", line, code, stderr)
	}
	var d document
	text := stdout.String()
	if err := json.Unmarshal([]byte(text[strings.Index(text, "{"):]), &d); err != nil {
		t.Fatalf("%s: %v in %q", line, err, text)
	}
	return d
}

// A run without contents has the results of a run with contents, and says that it had none.
func TestContentsNone(t *testing.T) {
	for _, line := range []string{
		"run allreducetest --ranks 50 --payload 4100 --datatype float --allreduce ring-segmented:16 --machine frontier",
		"run allreducetest --ranks 50 --lp event --payload 40000", "run stencil --ranks 27 --stats", "run matmul --ranks 4 --payload 128", "run mpiping --ranks 4",
		"run scattertest --ranks 20 --datatype int --payload 12 --algorithm scatter=linear",
	} {
		full, none := resultOf(t, line), resultOf(t, line+" --contents none")
		if full.Contents != "" || none.Contents != "none" || full.Datatype != none.Datatype || strings.Contains(line, "float") != (full.Datatype == "float") {
			t.Errorf("%s: contents %q and %q, datatype %q and %q", line, full.Contents, none.Contents, full.Datatype, none.Datatype)
		}
		for i := range full.Iterations {
			full.Iterations[i].Wall, none.Iterations[i].Wall = 0, 0
		}
		if full.Fingerprint != none.Fingerprint || full.VirtualTime != none.VirtualTime || full.Messages != none.Messages ||
			fmt.Sprint(full.Iterations, full.Finish, full.Sent, full.Handed, full.Activities) != fmt.Sprint(none.Iterations, none.Finish, none.Sent, none.Handed, none.Activities) {
			t.Errorf("%s: %+v without contents, %+v with", line, none.Document, full.Document)
		}
	}
}

// The table of mpiping is made of received numbers: without contents it is left out.
func TestNoTableWithoutContents(t *testing.T) {
	c, stdout, stderr := terminaltest.Console(nil)
	if code := execute(strings.Fields("run mpiping --ranks 4 --contents none"), c); code != terminal.ExitDone {
		t.Fatal(stderr)
	}
	if text := stdout.String(); !strings.Contains(text, "no table of pairs without contents") || strings.Contains(text, "bandwidth") {
		t.Error(text)
	}
}

// 8 GiB on each of some ranks take no memory without contents, neither in a run nor in a study, and its forecast says so.
func TestLongVectorsWithoutContents(t *testing.T) {
	for _, line := range []string{"--allreduce ring", "--lp event --allreduce ring-segmented:64MiB", "", "--allreduce rabenseifner --datatype float"} {
		if d := resultOf(t, "run allreducetest --ranks 64 --iterations 1 --payload 8GiB --contents none "+line); !d.Complete || d.VirtualTime == 0 {
			t.Errorf("%s: %+v", line, d.Document)
		}
	}
	dir := filepath.Join(t.TempDir(), "study")
	c, _, stderr := terminaltest.Console(nil)
	if code := execute(strings.Fields("study allreduce --ranks 16,64 --payload 1MiB,8GiB --datatype int --contents none --out "+dir), c); code != terminal.ExitDone {
		t.Fatal(stderr)
	}
	results, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
	if err != nil || !strings.Contains(string(results), `"payload_bytes":8589934592`) || !strings.Contains(string(results), `"datatype":"int"`) {
		t.Errorf("%v in %.2000s", err, results)
	}
}
