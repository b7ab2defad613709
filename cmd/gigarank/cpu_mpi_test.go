//go:build mpi && cgo && linux && (amd64 || arm64)

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
)

// Each process of a job compares its own file of the program with the recordings of all processes. If one has
// another file, no process runs.
func TestHostsCompareRecordings(t *testing.T) {
	t.Parallel() // its processes wait for each other most of the time
	dir := t.TempDir()
	program, recording := filepath.Join(dir, "picalc"), filepath.Join(dir, "picalc.cpu")
	source := filepath.Join("..", "..", "examples", "c", "picalc.c")
	build := func(optimized string) {
		t.Helper()
		if text, err := command(t, "cc", optimized, source, "-o", program).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	build("-O2")
	run := func(wanted int, processes int, arguments ...string) string {
		t.Helper()
		cmd := underMPI(t, processes, append([]string{"run", "--ranks", "4", "--progress", "none"}, arguments...)...)
		text, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != wanted {
			t.Fatalf("%q on %d processes: exit code %d, want %d\n%s", arguments, processes, code, wanted, text)
		}
		return string(text)
	}
	run(terminal.ExitDone, 2, "--cpu-record", recording, program, "10")
	for _, processes := range []int{1, 2, 3} {
		run(terminal.ExitDone, processes, "--cpu-replay", recording, program, "10")
	}
	text := run(terminal.ExitUsage, 2, "--cpu-replay", recording, program, "1000")
	if strings.Count(text, "give the arguments 10 in place of 1000") != 1 {
		t.Errorf("other arguments are refused by\n%s", text)
	}
	mixed, err := os.ReadFile(recording + ".1")
	if err != nil {
		t.Fatal(err)
	}
	run(terminal.ExitDone, 2, "--cpu-record", recording, program, "10")
	again, err := os.ReadFile(recording + ".1")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct { // a run each
		name string
		file []byte
		code int
	}{{"the run before", mixed, terminal.ExitUsage}, {"the run itself", again, terminal.ExitDone}} {
		if err := os.WriteFile(recording+".1", of.file, 0o666); err != nil {
			t.Fatal(err)
		}
		text := run(of.code, 2, "--cpu-replay", recording, program, "10")
		if told := strings.Contains(text, recording+".1 is the file of process 1 of 2 of another recording"); told != (of.code == terminal.ExitUsage) {
			t.Errorf("a file of %s:\n%s", of.name, text)
		}
	}
	build("-O0")
	if text := run(terminal.ExitUsage, 2, "--cpu-replay", recording, program, "10"); strings.Count(text, "give the file picalc as it was then") != 1 {
		t.Errorf("a file of other bytes is refused by\n%s", text)
	}
	run(terminal.ExitDone, 2, "--cpu-record", recording, program, "10")
	if err := os.WriteFile(recording+".1", mixed, 0o666); err != nil { // as of a job whose machines have other files
		t.Fatal(err)
	}
	if text := run(terminal.ExitUsage, 2, "--cpu-replay", recording, program, "10"); !strings.Contains(text, recording+".1 is a recording of picalc 10") {
		t.Errorf("a recording by processes with other files is refused by\n%s", text)
	}
}

// A fault that a process other than the first finds alone is told, once.
func TestFaultOfOneProcess(t *testing.T) {
	t.Parallel() // its processes wait for each other most of the time
	const script = `[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" -eq 0 ] || set -- "$@" --machine no-such-machine; exec "$0" "$@"`
	cmd := underMPI(t, 3, "run", "barriertest", "--ranks", "100", "--progress", "none")
	cmd.Args = slices.Insert(cmd.Args, 3, "sh", "-c", script)
	text, _ := cmd.CombinedOutput()
	if n, code := strings.Count(string(text), `"no-such-machine"`), cmd.ProcessState.ExitCode(); code != terminal.ExitUsage || n != 1 {
		t.Errorf("exit code %d, the fault is told %d times:\n%s", code, n, text)
	}
}
