package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
)

// A module made outside the checkout builds without a network and simulates: the sum over
// 100 ranks is 4950. Its machine file has no faults, and its job script is one.
func TestInitMakesAModule(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "hello")
	source, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	printed(t, "init", dir, "--source", source)
	run := func(name string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off")
		output, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, output)
		}
		return string(output)
	}
	run("go", "vet", ".")
	if out := run("go", "run", ".", "-ranks", "100"); !strings.Contains(out, "the sum is 4950 at 1") || !strings.Contains(out, "fingerprint") {
		t.Errorf("the program prints\n%s", out)
	}
	run("bash", "-n", "job.sh")
	printed(t, "machine", "check", filepath.Join(dir, "machine.yaml"))
	if info, err := os.Stat(filepath.Join(dir, "job.sh")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("job.sh: %v, %v", info.Mode(), err)
	}
	for _, c := range []struct{ args, want string }{
		{dir + " --source " + source, "has files, such as go.mod: name a new directory"},
		{filepath.Join(filepath.Dir(dir), "7") + " --source " + filepath.Dir(dir), "is no name of a module"},
		{filepath.Join(filepath.Dir(dir), "other") + " --source " + filepath.Dir(dir), "name the directory of gigarank's go.mod by --source"},
	} {
		console, _, stderr := terminaltest.Console(nil)
		if code := execute(append([]string{"init"}, strings.Fields(c.args)...), console); code != terminal.ExitUsage || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%s: exit code %d, want %q in\n%s", c.args, code, c.want, stderr)
		}
	}
}
