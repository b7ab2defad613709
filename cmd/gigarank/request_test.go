package main

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/bench"
	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/vtime"
)

// A number has the same meaning in every notation.
func TestCountSuffixes(t *testing.T) {
	scales := map[string]int64{
		"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "e3": 1e3, "e6": 1e6,
	}
	rapid.Check(t, func(t *rapid.T) {
		suffix := rapid.SampledFrom([]string{"", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "e6"}).Draw(t, "suffix")
		n := rapid.Int64Range(1, 5000).Draw(t, "n")
		want := n * scales[suffix]
		got, err := terminal.ReadCount(fmt.Sprintf("%d%s", n, suffix), 1, math.MaxInt64)
		if err != nil || got != want {
			t.Fatalf("%d%s is %d, %v, want %d", n, suffix, got, err, want)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		base, exponent := rapid.Int64Range(2, 10).Draw(t, "base"), rapid.Int64Range(0, 40).Draw(t, "exponent")
		want := new(big.Int).Exp(big.NewInt(base), big.NewInt(exponent), nil)
		got, err := terminal.ReadCount(fmt.Sprintf("%d^%d", base, exponent), 1, math.MaxInt64)
		if want.IsInt64() != (err == nil) || err == nil && got != want.Int64() {
			t.Fatalf("%d^%d is %d, %v, want %v", base, exponent, got, err, want)
		}
	})
}

// No number outside the bounds is accepted, and no text makes it panic.
func TestCountBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`-?[0-9]{1,12}(\.[0-9])?([kMGTPE]i?|\^[0-9]{1,3}|e-?[0-9]{1,3})?`),
			rapid.String(),
		).Draw(t, "text")
		n, err := terminal.ReadCount(text, 5, 1e6)
		if err == nil && (n < 5 || n > 1e6) {
			t.Fatalf("%q is %d", text, n)
		}
		if plain, e := strconv.ParseInt(text, 10, 64); e == nil && !strings.HasPrefix(text, "+") {
			if ok := plain >= 5 && plain <= 1e6; ok != (err == nil) || ok && n != plain {
				t.Fatalf("%q is %d, %v", text, n, err)
			}
		}
	})
}

func defaultFlags(t *testing.T, args ...string) *runFlags {
	c, _, _ := terminaltest.Console(nil)
	cmd := newRun(c)
	var f runFlags
	cmd.ResetFlags()
	f.define(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return &f
}

// An option that is not given takes the program's default, zero means none.
func TestOptions(t *testing.T) {
	for _, c := range []struct {
		args []string
		want bench.Options
	}{
		{nil, bench.Options{Iterations: 10, Compute: vtime.Millisecond}},
		{[]string{"--compute", "0"}, bench.Options{Iterations: 10}},
		{[]string{"--iterations", "2Ki", "--compute", "3us", "--payload", "1KiB"},
			bench.Options{Iterations: 2048, Compute: 3 * vtime.Microsecond, Payload: 1024}},
	} {
		console, _, _ := terminaltest.Console(nil)
		r, err := newRequest(console, &host.Processes{Size: 1, Local: 1}, "barriertest", defaultFlags(t, c.args...))
		if err != nil {
			t.Errorf("%v: %v", c.args, err)
		} else if r.options != c.want {
			t.Errorf("%v gives %+v, want %+v", c.args, r.options, c.want)
		}
	}
}

// One engine for each core, but no more than ranks; over MPI one in each process.
func TestEngines(t *testing.T) {
	for _, c := range []struct {
		why   string
		args  []string
		hosts int
		want  int // 0 for a fault
	}{
		{"as many as cores", nil, 1, 2},
		{"no more than ranks", []string{"--ranks", "1"}, 1, 1},
		{"no more than ranks, though given", []string{"--ranks", "3", "--engines", "5"}, 1, 3},
		{"as given", []string{"--engines", "5"}, 1, 5},
		{"over MPI", nil, 3, 1},
		{"over MPI, given", []string{"--engines", "1"}, 3, 1},
		{"over MPI, two in a process", []string{"--engines", "2"}, 3, 0},
	} {
		console, _, _ := terminaltest.Console(nil)
		r, err := newRequest(console, &host.Processes{Size: c.hosts, Local: 1}, "barriertest", defaultFlags(t, c.args...))
		switch {
		case c.want == 0 && terminal.ExitCode(err) != terminal.ExitUsage:
			t.Errorf("%s: accepted with %d engines, %v", c.why, r.engines, err)
		case c.want != 0 && (err != nil || r.engines != c.want):
			t.Errorf("%s: %d engines, %v, want %d", c.why, r.engines, err, c.want)
		}
	}
}

// The need counts all processes of the machine, and GOMEMLIMIT replaces the available
// memory.
func TestMemoryOfSeveralProcesses(t *testing.T) {
	// 1 GiB is available. 512 Ki ranks of 3300 bytes on two hosts take 825 MiB on each,
	// and twice that if both are on this machine.
	for _, c := range []struct {
		local int
		want  int
	}{{1, terminal.ExitDone}, {2, terminal.ExitUsage}} {
		console, _, _ := terminaltest.Console(nil)
		_, err := newRequest(console, &host.Processes{Size: 2, Local: c.local}, "barriertest", defaultFlags(t, "--ranks", "512Ki"))
		if terminal.ExitCode(err) != c.want {
			t.Errorf("%d processes on this machine: %v, want exit code %d", c.local, err, c.want)
		}
	}
}

// Payloads that do not fit the memory are refused before anything is allocated. The
// need may not even fit into 64 bits.
func TestPayloadsWithoutTheMemory(t *testing.T) {
	const needed, available = "the run needs about", "1.00 GiB are available"
	for line, want := range map[string][]string{
		"run allreducetest --lp event --ranks 16 --payload 64Gi":                                             {needed, available},
		"run allreducetest --lp event --ranks 16 --payload 2^60":                                             {needed, available},
		"run allreducetest --lp event --ranks 16 --payload 2^62":                                             {needed, available},
		"run allreducetest --lp goroutine --ranks 16 --payload 2^62":                                         {needed, available},
		"run ring --ranks 2 --payload 2^62":                                                                  {needed, available},
		"run matmul --ranks 2 --payload 4Gi":                                                                 {needed, available},
		"study allreduce --ranks 16 --payload 8..64Gi --contents full --out DIR":                             {"will not fit", needed, available},
		"study allreduce --ranks 16 --payload 8..64Gi:x8 --contents full --out DIR --algorithms node-leader": {"will not fit", needed, available},
		"study allreduce --ranks 16 --payload 2^60 --contents full --out DIR":                                {"--payload", "use at most 2^46"},
	} {
		c, _, stderr := terminaltest.Console(nil)
		code := execute(strings.Fields(strings.ReplaceAll(line, "DIR", t.TempDir())), c)
		if code != terminal.ExitUsage {
			t.Errorf("%s: exit code %d, want %d", line, code, terminal.ExitUsage)
		}
		for _, text := range want {
			if !strings.Contains(stderr.String(), text) {
				t.Errorf("%s: no %q in %q", line, text, stderr)
			}
		}
	}
}
