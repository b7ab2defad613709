package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gigarank/bench"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/network"
)

// Every name that a run takes is listed with a line of description, and one algorithm
// of each operation as the default.
func TestListIsComplete(t *testing.T) {
	c, stdout, _ := terminaltest.Console(nil)
	if code := execute([]string{"list"}, c); code != terminal.ExitDone {
		t.Fatalf("exit code %d", code)
	}
	want := func(parts ...string) {
		for i, p := range parts {
			parts[i] = regexp.QuoteMeta(p)
		}
		if !regexp.MustCompile(`(?m)^ .*` + strings.Join(parts, ".* +.*")).MatchString(stdout.String()) {
			t.Errorf("no line with %q in\n%s", parts, stdout)
		}
	}
	for _, e := range bench.Programs() {
		want(e.Name, e.Forms[0].String(), e.Summary)
	}
	for _, op := range collectives.Operations() {
		mark := "(default)"
		if algorithms := collectives.Algorithms(op); len(algorithms) > 1 && op != collectives.Alltoallv {
			mark = "(preferred)" // simulations may choose another
		}
		want(op.String(), collectives.Default(op).String(), mark)
		for _, a := range collectives.AllAlgorithms(op) {
			want(a.String(), collectives.Describe(op, a))
		}
	}
	for _, k := range mpivirt.Kinds() {
		want(k.Name, k.Summary)
	}
	for _, p := range network.Presets() {
		want(p.Name, p.Summary)
		want("source:", p.Source)
		if p.Validated != "" {
			want("validated:", p.Validated)
		}
	}
	marks := strings.Count(stdout.String(), "(default)") + strings.Count(stdout.String(), "(preferred)")
	if n := len(collectives.Operations()); marks != n {
		t.Errorf("%d algorithms are marked for %d operations", marks, n)
	}
}

// The output of machine show is a machine file of the same machine.
func TestMachineShowIsAFile(t *testing.T) {
	show := func(name string) string {
		c, stdout, stderr := terminaltest.Console(nil)
		if code := execute([]string{"machine", "show", name}, c); code != terminal.ExitDone {
			t.Fatalf("%s: exit code %d: %s", name, code, stderr)
		}
		return stdout.String()
	}
	for _, p := range network.Presets() {
		shown := show(p.Name)
		path := filepath.Join(t.TempDir(), p.Name+".yaml")
		if err := os.WriteFile(path, []byte(shown), 0o666); err != nil {
			t.Fatal(err)
		}
		if again := show(path); again != shown {
			t.Errorf("%s is shown as\n%sand its file as\n%s", p.Name, shown, again)
		}
		c, stdout, _ := terminaltest.Console(nil)
		if code := execute([]string{"machine", "check", path}, c); code != terminal.ExitDone || !strings.Contains(stdout.String(), "no faults") {
			t.Errorf("the file of %s is checked with exit code %d: %s", p.Name, code, stdout)
		}
	}
}
