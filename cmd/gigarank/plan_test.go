package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
)

// planned returns the output of plan with the arguments.
func planned(t *testing.T, args ...string) string {
	t.Helper()
	var failure bytes.Buffer
	cmd := command(t, append([]string{"plan"}, args...)...)
	cmd.Stderr = &failure
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("plan %q: %v\n%s", args, err, &failure)
	}
	return string(text)
}

// expectLines expects lines with the patterns.
func expectLines(t *testing.T, text string, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		if !regexp.MustCompile("(?m)" + pattern).MatchString(text) {
			t.Errorf("no %q in\n%s", pattern, text)
		}
	}
}

// One process needs no memory for the processes that several hosts would have.
func TestPlanFitsOneHost(t *testing.T) {
	text := planned(t, "--ranks", "1M", "--lp", "event", "--cores", "256", "--memory", "8GiB")
	expectLines(t, text, `^hosts +1, with 256 cores`, `--nodes=1 --ntasks-per-node=1 --cpus-per-task=256$`)
}

// Where nodes have no interfaces, ranks of a binomial allreduce take half as much on several engines as on one. The fewest hosts are
// found all the same.
func TestPlanFindsFewestHosts(t *testing.T) {
	if testing.Short() {
		t.Skip("one engine of many ranks: nothing for the race detector")
	}
	text := planned(t, strings.Fields("allreducetest --ranks 16Ki --payload 256Ki --allreduce binomial --lp event --iterations 1 --cores 2 --engines 1 --memory 3GB --machine vaced-sim")...)
	expectLines(t, text, `^hosts +2, with 2 cores`)
}

// A plan for another machine needs little memory here: fewer ranks calibrate it.
func TestPlanInLittleMemory(t *testing.T) {
	cmd := command(t, strings.Fields("plan allreducetest --ranks 16Ki --payload 256Ki --lp event --memory 64GiB --iterations 1")...)
	cmd.Env = append(cmd.Environ(), "GOMEMLIMIT=300MiB")
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	expectLines(t, string(text), `^hosts +1, with`)
}

// The number of engines that the user gives holds for the calibration, the forecast and
// the run.
func TestPlanWithEngines(t *testing.T) {
	text := planned(t, "--ranks", "100k", "--lp", "event", "--engines", "1", "--cores", "8", "--memory", "8GiB")
	expectLines(t, text, `^calibration .* on 1 engine:`, `^  exec gigarank run .* --engines 1 `)
}

// Engines share the time among them as far as there are cores for them.
func TestForeseeWithEngines(t *testing.T) {
	c, _, _ := terminaltest.Console(nil)
	r, faults := readRequest(c, &host.Processes{Size: 1, Local: 1}, "barriertest", defaultFlags(t, "--ranks", "1Mi", "--lp", "event"))
	if faults != nil {
		t.Fatal(faults)
	}
	sample := calibration{ranks: 1 << 18, engines: 2, cores: 2, first: 2, iteration: 1, memory: 1}
	for _, a := range []struct {
		allocation
		want float64 // seconds of an iteration; node-leader's grow with the ranks of a core
	}{
		{allocation{hosts: 1, cores: 8, alone: 8}, 1},
		{allocation{hosts: 1, cores: 8, alone: 1}, 8},
		{allocation{hosts: 1, cores: 8, alone: 4}, 2},
		{allocation{hosts: 1, cores: 8, alone: 64}, 1},
		{allocation{hosts: 2, cores: 8, alone: 8}, 0.5},
	} {
		if got := r.foresee(a.allocation, sample).iteration; math.Abs(got-a.want) > 0.02*a.want {
			t.Errorf("%+v: %v s an iteration, want %v", a.allocation, got, a.want)
		}
	}
}

// A shell reads the lines back, and the signal before the time limit reaches the
// command of the batch shell.
func TestJobLines(t *testing.T) {
	t.Chdir(t.TempDir())
	const machine = "my machine.yaml"
	text := []byte("name: mine\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n")
	if err := os.WriteFile(filepath.Join(".", machine), text, 0o666); err != nil {
		t.Fatal(err)
	}
	lines := planned(t, "--machine", machine, "--noise", "periodic:10ms,25us", "--cores", "2", "--memory", "8GiB")
	expectLines(t, lines, `^  exec gigarank run barriertest .*--machine 'my machine\.yaml' `, `--noise periodic:10ms,25us --json`)
	lines = jobLines("gigarank run x", allocation{hosts: 2, cores: 4}, forecast{})
	expectLines(t, lines, `--signal=B:TERM@60$`, `^  exec srun --kill-on-bad-exit=1 gigarank run x$`, `^  mpiexec -n 8 gigarank run x$`)
}

func TestPlanRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"--ranks 1G --lp event --memory 8GiB --hosts 1": `--hosts: 1 host with 8.00 GiB cannot hold`,
		"--memory 8 --cores x":                          `--cores`,
		"--ranks 0 nonsense":                            `unknown program "nonsense"`,
		"--memory 10MiB":                                `--memory: 10.0 MiB for`,
		// A rank lies in one process.
		"matmul --ranks 16 --payload 1MiB --cores 2 --memory 64GiB": `--memory: 64.0 GiB for the 2 host processes of a host, which take 256 GiB with one rank each`,
		// One process for each core takes the memory of the host before it has ranks.
		"--ranks 1M --lp event --cores 256 --memory 8GiB --hosts 2":    `--memory: 8.00 GiB for the 256 host processes of a host`,
		"--ranks 1G --lp event --cores 4 --memory 8GiB --engines 2":    `--engines: 2 engines in a process, but on `,
		"--ranks 1G --lp event --cores 2 --memory 2.5GiB --hosts 2":    `--hosts: 2 hosts with 2.50 GiB cannot hold`,
		"allreducetest --lp event --ranks 16 --payload 2^60 --cores 2": `--memory: `,
	} {
		cmd := command(t, append([]string{"plan"}, strings.Fields(args)...)...)
		text, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != terminal.ExitUsage || !bytes.Contains(text, []byte(want)) {
			t.Errorf("plan %s: %v, %s; want exit code %d and %q", args, err, text, terminal.ExitUsage, want)
		}
	}
}

// The variation of a process's memory does not count as memory of ranks.
func TestMemoryOfCalibration(t *testing.T) {
	first := calibration{taken: 11e6}
	for _, c := range []struct{ taken, expected, want float64 }{
		{11.2e6, 11e3, 1},
		{10.8e6, 11e3, 1},
		{11e6, measurable - 1, 1},
		{11e6 + 1.1*measurable, measurable, 1},
		{11e6 + 2*measurable, measurable, 2},
		{11e6 + 2*measurable, 1e3, 2 * measurable / 1e3},
	} {
		if got := (calibration{taken: c.taken}).over(first, c.expected); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%v bytes after 11e6, %v expected: %v, want %v", c.taken, c.expected, got, c.want)
		}
	}
}

// What no calibration on this machine can hold is planned for others all the same, without times. Runs
// end within their share of the memory and their time.
func TestPlanWithoutCalibration(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"allreducetest --ranks 1024 --payload 1GiB --allreduce node-leader --lp event --memory 64GiB", `^calibration +none: a run with 1 rank takes 3\.02 GiB of memory, and 400 MiB are available here \(GOMEMLIMIT\)`},
		{"deadlock_fix --ranks 4 --payload 1GiB --memory 4TiB", `^calibration +none: a run with 1 rank takes `},
	} {
		cmd := command(t, append([]string{"plan"}, strings.Fields(c.args)...)...)
		cmd.Env = append(cmd.Environ(), "GOMEMLIMIT=400MiB")
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("plan %s: %v", c.args, err)
		}
		expectLines(t, string(text), c.says, `^memory +.* in all$`, `^times +not known`, `^  #SBATCH --mem=[0-9]+G --signal`, `^  exec gigarank run `)
		if strings.Contains(string(text), "walltime") {
			t.Errorf("plan %s: a time limit of no time:\n%s", c.args, text)
		}
	}
}

// A program that times no iterations, as phold, spends its time on all of them nevertheless:
// ten times as many take ten times as long.
func TestPlanWithoutTimedIterations(t *testing.T) {
	var d document
	d.Ranks, d.Engines, d.SetUp, d.Wall, d.TimedIterations = 1<<14, 2, 1, 11, 5
	sample := newCalibration(&d)
	sample.cores, sample.memory = 2, 1
	c, _, _ := terminaltest.Console(nil)
	for _, n := range []struct {
		iterations string
		want       float64
	}{{"5", 11}, {"50", 101}, {"500", 1001}} {
		r, faults := readRequest(c, &host.Processes{Size: 1, Local: 1}, "phold", defaultFlags(t, "--ranks", "16Ki", "--iterations", n.iterations))
		if faults != nil {
			t.Fatal(faults)
		}
		if got := r.foresee(allocation{hosts: 1, cores: 2, alone: 2}, sample).wall; math.Abs(got-n.want) > 0.01*n.want {
			t.Errorf("%s iterations: %v s, want %v", n.iterations, got, n.want)
		}
	}
}

// The first of such iterations takes longer. A run with one iteration says by how much, unless it was
// disturbed.
func TestFirstOfUntimedIterations(t *testing.T) {
	five, one := document{}, document{}
	five.SetUp, five.Wall, five.TimedIterations = 0.5, 8, 5
	one.SetUp, one.Wall, one.TimedIterations = 0.5, 4, 1
	v := newCalibration(&five)
	v.tellApart(newCalibration(&one))
	if v.first != 4 || v.iteration != 1 {
		t.Errorf("first %v s, further ones %v s, want 4 and 1", v.first, v.iteration)
	}
	one.Wall = 9
	v = newCalibration(&five)
	v.tellApart(newCalibration(&one))
	if v.first != 2 || v.iteration != 1.5 {
		t.Errorf("disturbed: first %v s, further ones %v s, want 2 and 1.5", v.first, v.iteration)
	}
}

// A few ranks take the memory that was counted for them, some 13 bytes each.
func TestPlanOfFewRanks(t *testing.T) {
	expectLines(t, planned(t, "--ranks", "5000", "--lp", "event", "--barrier", "node-leader", "--cores", "2"), `^memory +1[0-9.]+ B a rank`, `^calibration .* [0-9.]+ us a rank and iteration`)
	expectLines(t, planned(t, "--ranks", "5000", "--lp", "goroutine", "--barrier", "node-leader", "--cores", "2"), `^memory +2\.9[0-9] KiB a rank`)
}

// A program that fails takes memory and time until then: that is what the plan says, and that it fails.
func TestPlanOfAProgramThatFails(t *testing.T) {
	text := planned(t, "deadlock", "--ranks", "4096", "--engines", "1")
	expectLines(t, text, `^memory +[0-9.]+ KiB a rank`, `^the program fails +deadlock: 4096 ranks wait and none can go on; memory and times are those until then$`, `exec gigarank run deadlock `)
}
