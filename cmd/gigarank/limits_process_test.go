//go:build !race

package main

import (
	"os/exec"
	"strings"
	"testing"
)

// Limits that the shell sets count as memory: nothing begins that would not fit.
func TestLimitsOfTheShell(t *testing.T) {
	for _, limit := range []string{"-v 2500000", "-d 500000"} {
		run := command(t, "run", "barriertest", "--ranks", "8M", "--lp", "goroutine")
		cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", "ulimit " + limit + `; exec "$@"`, "sh"}, run.Args...)...)
		cmd.Env = run.Env
		output, _ := cmd.CombinedOutput()
		if want := "ulimit " + limit[:2]; cmd.ProcessState.ExitCode() != exitUsage || !strings.Contains(string(output), want) {
			t.Errorf("%s: exit code %d, want 2 and %q in\n%.500s", limit, cmd.ProcessState.ExitCode(), want, output)
		}
	}
}

// Memory that ends, against the forecast, is such an error. The race detector reserves more
// address space than any limit would leave it.
func TestMemoryEnds(t *testing.T) {
	run := command(t, "run", "barriertest", "--ranks", "8M", "--lp", "goroutine")
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", `ulimit -v 2500000; exec "$@"`, "sh"}, run.Args...)...)
	cmd.Env = append(run.Env, "GOMEMLIMIT=100GiB") // overrides the forecast
	checkFatal(t, cmd, "out of memory")
}
