//go:build !race && !invariants

// The race detector and the checks of invariants multiply the memory and the time of a
// run.

package main

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
)

// foreseenMemory runs plan with the arguments and returns its bytes.
func foreseenMemory(t *testing.T, args []string) float64 {
	t.Helper()
	m := regexp.MustCompile(`memory .* rank, ([0-9.]+) ([KMG])iB in all`).FindStringSubmatch(planned(t, args...))
	if m == nil {
		t.Fatalf("plan %q forecasts no memory", args)
	}
	size, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return size * map[string]float64{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[m[2]]
}

// measured runs the command with the arguments and returns the memory and the seconds of CPU
// that it takes.
func measured(t *testing.T, args []string, more ...string) (memory, cpu float64) {
	t.Helper()
	cmd := command(t, slices.Concat([]string{"run"}, args, more, []string{"--json", "-", "--progress", "none"})...)
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("run %q %q: %v", args, more, err)
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return float64(d.PeakRSS), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
}

// A plan is within 10 % of the memory of the real run. Run and study forecast the same. What other work
// on the machine holds up, such as the collector, only adds to a run's memory: the least of a few counts.
func TestPlanAgainstRuns(t *testing.T) {
	const attempts = 3
	// A test binary takes more than the command.
	own, _ := measured(t, strings.Fields("barriertest --ranks 1 --lp event"))
	for _, line := range []string{
		"barriertest --ranks 1M --lp event --iterations 3 --engines 1",
		"barriertest --ranks 100k --iterations 3 --engines 1",
		"allreducetest --ranks 1M --lp event --payload 8 --iterations 2 --engines 1",
		"allreducetest --ranks 2Ki --lp event --payload 256KiB --iterations 3 --allreduce binomial --engines 1",
		"stencil --ranks 32Ki --lp event --iterations 3 --engines 1",
		"barriertest --ranks 64Ki --lp event --iterations 3 --machine loggops-default --engines 1",
		"allreducetest --ranks 8Ki --lp event --iterations 2 --machine loggops-default --engines 1",
		"barriertest --ranks 1M --lp event --iterations 2 --engines 64",
		"barriertest --ranks 1M --lp event --iterations 2 --engines 1Ki",
		"barriertest --ranks 32Ki --lp event --iterations 1 --machine loggops-default --engines 256",
	} {
		args := strings.Fields(line)
		foreseen := foreseenMemory(t, args) - host.ProcessMemory + own
		taken, _ := measured(t, args)
		for i := 1; i < attempts && foreseen < 0.9*taken; i++ {
			again, _ := measured(t, args)
			taken = min(taken, again)
		}
		if ratio := foreseen / taken; ratio < 0.9 || ratio > 1.1 {
			t.Errorf("%s: %.1f MB foreseen, %.1f MB taken: %.2f of it, want 0.9 to 1.1", line, foreseen/1e6, taken/1e6, ratio)
		}
	}
}

// A forecast from fewer ranks is within 30 % of the time of the real run, both in seconds of CPU. What
// else runs on the machine shares caches and execution units and only adds to them: the least of a few
// attempts counts, of each run. Where other work never pauses, short runs find quiet moments and long runs none. Then the
// median of the ratios of five attempts or more counts, whose runs follow each other. The iterations that the forecast rests on take some 100 ms or more,
// since the start of a process takes 20 to 80 ms. LPs of phold are visited at random: an event takes up to
// five times as long where caches do not hold them. Caches that tenants of a host share may hold few, so both
// runs have few LPs.
func TestForecastOfTime(t *testing.T) {
	const attempts, least, most = 10, 0.7, 1.3
	for _, line := range []struct {
		program, fewer string
		few            int
		ranks          string
		iterations     int
		more           string
	}{
		{"barriertest", "512Ki", 15, "4Mi", 20, "--lp event"},
		{"barriertest", "16Ki", 30, "100k", 10, "--lp goroutine"},
		{"phold", "4Ki", 400, "8Ki", 800, "--lp event"},
	} {
		args := append([]string{line.program, "--engines", "1"}, strings.Fields(line.more)...)
		flags := append(args[1:], "--ranks", line.ranks, "--iterations", strconv.Itoa(line.iterations))
		c, _, _ := terminaltest.Console(nil)
		r, faults := readRequest(c, &host.Processes{Size: 1, Local: 1}, line.program, defaultFlags(t, flags...))
		if faults != nil {
			t.Fatal(faults)
		}
		fewer, err := terminal.ReadCount(line.fewer, 1, mostRanks)
		if err != nil {
			t.Fatal(err)
		}
		// own is the start of a process, which a forecast leaves out.
		own, one, many, taken := math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)
		lower := func(cpu *float64, args []string, ranks string, iterations int) float64 {
			_, again := measured(t, args, "--ranks", ranks, "--iterations", strconv.Itoa(iterations))
			*cpu = min(*cpu, again)
			return again
		}
		ratioOf := func(own, one, many, taken float64) float64 {
			sample := calibration{ranks: fewer, engines: 1, cores: 1, memory: 1, first: one - own, iteration: (many - one) / float64(line.few)}
			return r.foresee(allocation{hosts: 1, cores: 1, alone: 1}, sample).wall / (taken - own)
		}
		within := func(ratio float64) bool { return least <= ratio && ratio <= most }
		var ofLeast, together []float64 // ratios of the least times up to an attempt, and of the times of each attempt
		right := false
		for i := 0; i < attempts && !right; i++ {
			nowOwn := lower(&own, []string{"barriertest", "--lp", "event"}, "1", 1)
			nowOne := lower(&one, args, line.fewer, 1)
			nowMany := lower(&many, args, line.fewer, 1+line.few)
			nowTaken := lower(&taken, args, line.ranks, line.iterations)
			ofLeast = append(ofLeast, ratioOf(own, one, many, taken))
			together = append(together, ratioOf(nowOwn, nowOne, nowMany, nowTaken))
			right = within(ofLeast[i]) || i >= 4 && within(slices.Sorted(slices.Values(together))[i/2])
		}
		if !right {
			t.Errorf("%s with %s ranks: foreseen %.2f of the time, %.2f of that of each attempt; start %.3f s, one iteration %.3f s, %d %.3f s, the run %.3f s",
				line.program, line.ranks, ofLeast, together, own, one, 1+line.few, many, taken)
		}
	}
}

// More ranks than one host has memory for get more hosts, each core of which has a
// host process.
func TestPlanAllotsHosts(t *testing.T) {
	text, err := command(t, "plan", "--ranks", "1G", "--lp", "event", "--memory", "8GiB", "--cores", "4").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`hosts +2, with 4 cores`, `--nodes=2 --ntasks-per-node=4 --cpus-per-task=1`, `select=2:ncpus=4:mpiprocs=4:`,
		`exec srun --kill-on-bad-exit=1 gigarank run barriertest --ranks 1G --machine xt5 --lp event --json`, `mpiexec -n 8 `} {
		if !regexp.MustCompile(want).Match(text) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// There may be more engines than the ranks that the calibration begins with.
func TestPlanWithManyEngines(t *testing.T) {
	text := planned(t, "--ranks", "6000", "--lp", "event", "--engines", "5000", "--iterations", "1")
	expectLines(t, text, `^calibration .* on 5000 engines:`)
}
