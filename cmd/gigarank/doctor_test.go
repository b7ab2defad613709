package main

import (
	"regexp"
	"testing"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
)

// Doctor shows each of these on a line of its own.
func TestDoctor(t *testing.T) {
	c, stdout, _ := terminaltest.Console(map[string]string{"GOMAXPROCS": "2"})
	if code := execute([]string{"doctor"}, c); code != terminal.ExitDone {
		t.Fatalf("exit code %d", code)
	}
	for _, pattern := range []string{
		`(?m)^version +.*go1\.`,
		`(?m)^cores +2 used of [1-9]`,
		`(?m)^memory +1\.00 GiB available$`,
		`(?m)^ +1\.00 GiB by MemAvailable`,
		// 1 GiB less 18 MiB, at 3008 and 16 bytes a rank.
		`(?m)^goroutine ranks +about 350k fit`,
		`(?m)^event ranks +about 65\.8M fit`,
		`(?m)^switch +[1-9][0-9]* ns`,
		`(?m)^MPI +.+`,
		`(?m)^skeletons +(gigarank cc --skeleton uses clang-19|not available: .*apt-get install .*(clang|llvm)-19)`,
		`(?m)^launcher +none`,
		`(?m)^GOMAXPROCS +2, set`,
		`(?m)^progress +a plain line`,
	} {
		if !regexp.MustCompile(pattern).MatchString(stdout.String()) {
			t.Errorf("no %q in\n%s", pattern, stdout)
		}
	}
}

// All the ranks that can be simulated fit into 64 GiB as event LPs.
func TestRanksThatFit(t *testing.T) {
	for _, c := range []struct {
		kind  *mpivirt.Kind
		bytes int64
		want  string
	}{
		{steps.Kind, 64 << 30, "the most ranks that there can be, 2^31-2,"},
		{steps.Kind, 16*mostRanks + host.ProcessMemory, "the most ranks that there can be, 2^31-2,"},
		{steps.Kind, 16<<20 + host.ProcessMemory, "1.05M"},
		{mpivirt.Goroutine, 3008*2000 + host.ProcessMemory, "2.00k"},
		{mpivirt.Goroutine, 5, "0"},
	} {
		if got := ranksThatFit(c.kind, host.Headroom{Bytes: c.bytes, Bound: "a limit"}); got != c.want {
			t.Errorf("%v ranks in %d bytes: %q, want %q", c.kind, c.bytes, got, c.want)
		}
	}
}

func TestVersion(t *testing.T) {
	c, stdout, _ := terminaltest.Console(nil)
	code := execute([]string{"version"}, c)
	if !regexp.MustCompile(`^gigarank \S+, go1\.\S+, \w+/\w+, .+\n$`).MatchString(stdout.String()) || code != terminal.ExitDone {
		t.Errorf("exit code %d, %q", code, stdout)
	}
}
