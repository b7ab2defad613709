package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gigarank/bench"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/network"
)

// printed returns the standard output of a command line that must end well.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	c, stdout, stderr := terminaltest.Console(nil)
	if code := execute(args, c); code != terminal.ExitDone {
		t.Fatalf("%v: exit code %d: %s", args, code, stderr)
	}
	return stdout.String()
}

// Version and --version print the same.
func TestVersionFlag(t *testing.T) {
	if a, b := printed(t, "version"), printed(t, "--version"); a != b || !strings.HasPrefix(a, "gigarank ") {
		t.Errorf("version prints %q, --version %q", a, b)
	}
}

// The document of list has each name and description that the text has.
func TestListAsJSON(t *testing.T) {
	var l listing
	if err := json.Unmarshal([]byte(printed(t, "list", "--json")), &l); err != nil {
		t.Fatal(err)
	}
	text := printed(t, "list")
	names := map[string]bool{}
	for _, p := range l.Programs {
		names[p.Name] = true
		if !strings.Contains(text, p.Description) || len(p.Kinds) == 0 {
			t.Errorf("list has no %+v", p)
		}
	}
	for _, o := range l.Operations {
		if !slices.ContainsFunc(o.Algorithms, func(a listed) bool { return a.Name == o.Default }) {
			t.Errorf("the default of %+v is none of its algorithms", o)
		}
		for _, a := range o.Algorithms {
			if !regexp.MustCompile(regexp.QuoteMeta(a.Name) + ` +` + regexp.QuoteMeta(a.Description)).MatchString(text) {
				t.Errorf("list has no %+v", a)
			}
		}
	}
	for _, m := range l.Machines {
		names[m.Name] = true
		if !strings.Contains(text, "source: "+m.Source) {
			t.Errorf("list has no %+v", m)
		}
	}
	for _, e := range bench.Programs() {
		if !names[e.Name] {
			t.Errorf("the document has no %s", e.Name)
		}
	}
	for _, p := range network.Presets() {
		if !names[p.Name] {
			t.Errorf("the document has no %s", p.Name)
		}
	}
}

// Shells complete the names of programs, machines and algorithms.
func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		line, want string
		files      bool
	}{
		{"run barr", "barriertest", true},
		{"study scaling all", "allreduce", false},
		{"validate mpi", "mpiping", false},
		{"machine show tian", "tianhe-1a", true},
		{"run barriertest --machine tian", "tianhe-1a", true},
		{"run barriertest --algorithm bcast=bi", "bcast=binomial", false},
		{"study barrier --sync hy", "hybrid", false},
		{"study allgather --algorithms br", "bruck", false},
		{"study allgather --algorithms ring,br", "ring,bruck", false},
		{"study barrier --machine xt5,tian", "xt5,tianhe-1a", true},
		{"study scaling barrier --algorithm lin", "linear", false},
		{"machine calibrate --model hock", "hockney", false},
		{"run barriertest --cpu mea", "measured", false},
		{"run ./native --stacks c", "copied", false},
		{"run barriertest --noise per", "periodic:PERIOD,DURATION", false},
		{"study predict --calibrate w", "warm", false},
		{"cou", "counts", false},
	} {
		out := printed(t, append([]string{"__complete"}, strings.Fields(c.line)...)...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		found := slices.ContainsFunc(lines, func(line string) bool { name, _, _ := strings.Cut(line, "\t"); return name == c.want })
		if directive := lines[len(lines)-1]; !found || (directive == ":0") != c.files {
			t.Errorf("%s: want %s, files %t, in\n%s", c.line, c.want, c.files, out)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script := filepath.Join(t.TempDir(), "completion")
		text := printed(t, "completion", shell)
		if !strings.Contains(text, "__complete") {
			t.Errorf("the completion for %s is\n%s", shell, text)
		}
		if err := os.WriteFile(script, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			continue // the shell is not on every machine; bash is
		}
		if output, err := exec.Command(path, "-n", script).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", shell, err, output)
		}
	}
}

// Shells complete the values of each flag that takes one of a set, and only values that it takes.
func TestEachSetOfValuesCompletes(t *testing.T) {
	free := strings.Fields("N K M n DUR FILE DIR LIST AXIS BYTES SIZE RATIO REGEXP NAME COMMAND PROGRAM SPEC WHERE NAME=LIST FROM..TO")
	c, _, _ := terminaltest.Console(nil)
	sets := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			kind, usage := pflag.UnquoteUsage(flag)
			if flag.Value.Type() == "bool" || slices.Contains(free, kind) {
				return
			}
			sets++
			complete, found := cmd.GetFlagCompletionFunc(flag.Name)
			if !found {
				t.Errorf("%s --%s takes one of a set, %s (%s), and no value completes", cmd.CommandPath(), flag.Name, kind, usage)
				return
			}
			values, _ := complete(cmd, []string{"barrier"}, "")
			if len(values) == 0 {
				t.Errorf("%s --%s has no values to complete", cmd.CommandPath(), flag.Name)
			}
			for _, value := range values {
				if !strings.HasSuffix(kind, "ALGORITHM") && kind != "LIBRARY" && !strings.Contains(usage, value) {
					t.Errorf("%s --%s completes to %s, which is none of %s", cmd.CommandPath(), flag.Name, value, usage)
				}
			}
		})
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	c.Arguments = append(c.Arguments, cobra.ShellCompRequestCmd)
	visit(newRoot(c))
	if sets < 15 {
		t.Errorf("%d flags take one of a set", sets)
	}
}

// There is a page for each command, with its flags and examples.
func TestManualPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	printed(t, "man", dir)
	c, _, _ := terminaltest.Console(nil)
	for _, cmd := range newRoot(c).Commands() {
		if _, err := os.Stat(filepath.Join(dir, "gigarank-"+cmd.Name()+".1")); err != nil && cmd.IsAvailableCommand() {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "gigarank-run.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{".TH \"GIGARANK-RUN\" \"1\"", `\fB--lambda\fP`, "Exit codes", "gigarank run barriertest",
		"\n  exponential:MEANGAP,MEANDURATION  gaps and durations exponentially distributed\n", // a table keeps its lines
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	c, _, stderr := terminaltest.Console(nil)
	if code := execute([]string{"man", "/dev/null/man1"}, c); code != terminal.ExitUsage {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
