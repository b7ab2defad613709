//go:build mpi && cgo && linux && (amd64 || arm64)

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
)

// A real program is recorded, merged, told, checked, and replayed by the commands that a user gives.
func TestRecordARealProgram(t *testing.T) {
	for _, setting := range anyHost {
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
	}
	dir := t.TempDir()
	program, files, merged := filepath.Join(dir, "ring"), filepath.Join(dir, "files"), filepath.Join(dir, "ring.grt")
	if text, err := exec.Command("mpicc", "../../mpivirt/native/testdata/ring.c", "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	said := executed(t, terminal.ExitDone, "trace", "record", "-n", "3", "-o", files, program, "-x", "--json")
	if !strings.Contains(said, "3 hops with 2 arguments") || !strings.Contains(said, "3 processes left 3 files") {
		t.Errorf("it says %s", said)
	}
	if said := executed(t, terminal.ExitUsage, "trace", "record", "-n", "3", "-o", files, program); !strings.Contains(said, "is not empty") {
		t.Errorf("a second time it says %s", said)
	}
	executed(t, terminal.ExitDone, "trace", "merge", files, "-o", merged)
	executed(t, terminal.ExitDone, "trace", "check", merged)
	var x contentsOf
	if err := json.Unmarshal([]byte(executed(t, terminal.ExitDone, "trace", "info", merged, "--json")), &x); err != nil {
		t.Fatal(err)
	}
	if x.Header.Origin != "real" || x.Header.Tasks != 3 || x.Calls["MPI_Send"] != 3 || x.Calls["MPI_Recv"] != 3 || x.Bytes != 12 || strings.Join(x.Header.Arguments, " ") != "-x --json" || len(x.Header.Digest) != 64 {
		t.Errorf("%+v", x)
	}
	for _, what := range []string{files, merged} {
		var p tasksProfile
		if err := json.Unmarshal([]byte(executed(t, terminal.ExitDone, "trace", "profile", what, "--json")), &p); err != nil {
			t.Fatal(err)
		}
		if len(p.Tasks) != 3 || p.Tasks[1].Functions["MPI_Send"].Calls != 1 || p.Tasks[1].Functions["MPI_Send"].Bytes != 4 || p.Tasks[1].Took <= 0 {
			t.Errorf("%s: %+v", what, p.Tasks)
		}
	}
	if said := executed(t, terminal.ExitDone, "replay", merged, "--machine", "xt5"); !strings.Contains(said, "3 messages") {
		t.Errorf("the replay says %s", said)
	}
	for _, mode := range []string{"count", "light"} {
		to := filepath.Join(dir, mode)
		executed(t, terminal.ExitDone, "trace", "record", "-n", "2", "--mode", mode, "-o", to, program)
		if said := executed(t, terminal.ExitDone, "trace", "profile", to); !strings.Contains(said, "2 tasks of 2") || strings.Contains(said, "MPI_Send") != (mode == "count") || !strings.Contains(said, "page_faults") {
			t.Errorf("mode %s: %s", mode, said)
		}
	}
	path := strings.TrimSpace(executed(t, terminal.ExitDone, "trace", "library"))
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// Faults of the command line come all at once, before anything runs; a program that fails, or that has no MPI, is told.
func TestRecordThatIsRefused(t *testing.T) {
	for _, setting := range anyHost {
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
	}
	t.Chdir(t.TempDir())
	said := executed(t, terminal.ExitUsage, "trace", "record", "--mode", "all", "--calls", "5..2", "-o", "a,b", "./nothing")
	for _, want := range []string{"-n: name the number", `unknown mode "all"`, "--calls: ", "has a comma", "PROGRAM: "} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q but %s", want, said)
		}
	}
	if said := executed(t, terminal.ExitUsage, "trace", "record", "-n", "1", "--mpicc", "no-such-mpicc", "true"); !strings.Contains(said, "recording needs a compiler of MPI") {
		t.Errorf("it says %s", said)
	}
	if said := executed(t, terminal.ExitProgram, "trace", "record", "-n", "1", "true"); !strings.Contains(said, "true was not recorded") {
		t.Errorf("it says %s", said)
	}
	if said := executed(t, terminal.ExitUsage, "trace", "merge", "true.trace", "-o", "x.grt"); !strings.Contains(said, "no task has called MPI_Init") {
		t.Errorf("it says %s", said)
	}
}
