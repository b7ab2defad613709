//go:build mpi && cgo && linux && (amd64 || arm64)

package main

import (
	"path/filepath"
	"regexp"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/mpivirt/native/skeleton"
	"gigarank/mpivirt/native/toolchain"
)

// A skeleton with weights has the same fingerprint on one and on several engines and host processes, and with both kinds of stacks.
func TestSkeletonOnHosts(t *testing.T) {
	if err := skeleton.Missing(toolchain.C); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	program, weights := filepath.Join(dir, "stencil"), filepath.Join(dir, "weights")
	source := filepath.Join("..", "..", "mpivirt", "native", "skeleton", "ir", "testdata", "stencil.c")
	line := func(arguments ...string) string {
		t.Helper()
		c, stdout, stderr := terminaltest.Console(nil)
		if code := execute(arguments, c); code != terminal.ExitDone {
			t.Fatalf("%q: exit code %d\n%s%s", arguments, code, stdout, stderr)
		}
		return stdout.String()
	}
	line("cc", "--skeleton", "-O2", source, "-o", program)
	line("skeleton", "weigh", program, "--ranks", "4", "-o", weights, "--", "200")
	run := []string{"run", program, "--skeleton", weights, "--ranks", "50", "--stack", "64KiB", "--progress", "none"}
	fingerprint := regexp.MustCompile(`fingerprint +\w+`)
	want := ""
	for _, stacks := range []string{"own", "copied"} {
		on := append(run[:len(run):len(run)], "--stacks", stacks)
		for _, engines := range []string{"1", "2"} {
			got := fingerprint.FindString(line(append(on[:len(on):len(on)], "--engines", engines)...))
			if want == "" {
				want = got
			}
			if got != want || got == "" {
				t.Errorf("%s stacks, %s engines: %s, want %s", stacks, engines, got, want)
			}
		}
		output, err := underMPI(t, 2, on...).CombinedOutput()
		if got := fingerprint.FindString(string(output)); err != nil || got != want {
			t.Errorf("%s stacks on 2 host processes: %v, %s, want %s\n%s", stacks, err, got, want, output)
		}
	}
}
