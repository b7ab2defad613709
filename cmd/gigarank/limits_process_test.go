//go:build linux && !race

package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
)

// Limits that the shell sets count as memory: nothing begins that would not fit.
func TestLimitsOfTheShell(t *testing.T) {
	for _, limit := range []string{"-v 2500000", "-d 500000"} {
		run := command(t, "run", "barriertest", "--ranks", "8M", "--lp", "goroutine")
		cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", "ulimit " + limit + `; exec "$@"`, "sh"}, run.Args...)...)
		cmd.Env = run.Env
		output, _ := cmd.CombinedOutput()
		if want := "ulimit " + limit[:2]; cmd.ProcessState.ExitCode() != terminal.ExitUsage || !strings.Contains(string(output), want) {
			t.Errorf("%s: exit code %d, want 2 and %q in\n%.500s", limit, cmd.ProcessState.ExitCode(), want, output)
		}
	}
}

// Memory that ends, against the forecast, is such an error. A report of stacks could want memory. The race detector reserves more
// address space than any limit would leave it.
func TestMemoryEnds(t *testing.T) {
	for limit, want := range map[string]string{"2500000": "raise the limit to 4000 MB, ", "4000000": "raise the limit, "} {
		run := command(t, "run", "barriertest", "--ranks", "8M", "--lp", "goroutine")
		cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", "ulimit -v " + limit + `; exec "$@"`, "sh"}, run.Args...)...)
		cmd.Env = append(run.Env, "GOMEMLIMIT=100GiB") // overrides the forecast
		checkFatal(t, cmd, 0, "out of memory", want)
	}
}

// A limit on addresses below what the process needs to begin ends it with 3 and names the
// limit. Above that, the limit counts as memory. How much it takes to begin depends on the
// threads that the runtime happens to start.
func TestTooFewAddressesToBegin(t *testing.T) {
	for limit := 100_000; limit < 1_600_000; limit += 125_000 {
		run := command(t, "run", "barriertest", "--ranks", "16")
		cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", fmt.Sprintf(`ulimit -v %d; exec "$@"`, limit), "sh"}, run.Args...)...)
		cmd.Env = run.Env
		output, _ := cmd.CombinedOutput()
		code := cmd.ProcessState.ExitCode()
		named := strings.Contains(string(output), "ulimit -v")
		switch {
		case code == terminal.ExitHost && named, limit > 500_000 && (code == terminal.ExitDone || code == terminal.ExitUsage && named):
		default:
			t.Errorf("ulimit -v %d: exit code %d, and the limit is named: %t, in\n%.2000s", limit, code, named, output)
		}
	}
}
