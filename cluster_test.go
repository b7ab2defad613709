//go:build cluster

package gigarank_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// cluster is one of scripts/cluster, with a directory that its nodes share.
type cluster struct {
	t        *testing.T
	script   string
	place    string // of results; job scripts and the program are in its directory root
	gigarank string
	settings []string // environment of all commands
}

// newCluster builds gigarank and starts a cluster, which ends with the test.
func newCluster(t *testing.T) *cluster {
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	place := t.TempDir()
	c := &cluster{t: t, script: filepath.Join(root, "scripts", "cluster"), place: place,
		gigarank: filepath.Join(place, "root", "bin", "gigarank")}
	c.settings = append(os.Environ(), "CLUSTER="+filepath.Join(t.TempDir(), "cluster"))
	c.local(0, "go", "build", "-C", root, "-tags", "mpi", "-o", c.gigarank, "./cmd/gigarank")
	// Job scripts build what is built already, and must not touch the tree.
	c.local(0, "cp", "-r", filepath.Join(root, "scripts"), filepath.Join(place, "root"))
	tools := t.TempDir()
	if err := os.WriteFile(filepath.Join(tools, "go"), []byte("#!/bin/sh\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	c.settings = append(c.settings, "PATH="+tools+":"+os.Getenv("PATH"))
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.local(0, c.script, "run", "squeue", "--long"))
		}
		c.local(0, c.script, "down")
	})
	c.local(0, c.script, "up")
	return c
}

// command returns a command in the directory that the nodes share.
func (c *cluster) command(name string, arguments ...string) *exec.Cmd {
	cmd := exec.Command(name, arguments...)
	cmd.Dir, cmd.Env = c.place, c.settings
	return cmd
}

// local runs a command outside the cluster, which must end with a code, and returns its output.
func (c *cluster) local(code int, name string, arguments ...string) string {
	c.t.Helper()
	return c.finish(code, c.command(name, arguments...))
}

func (c *cluster) finish(code int, cmd *exec.Cmd) string {
	c.t.Helper()
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	_ = cmd.Run() // the code tells
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		c.t.Fatalf("%s: %v, want exit code %d\n%s", cmd, cmd.ProcessState, code, &output)
	}
	return output.String()
}

// srun returns a command that runs gigarank on some nodes, with two host processes on each.
func (c *cluster) srun(nodes string, arguments ...string) *exec.Cmd {
	launcher := []string{"run", "timeout", "100", "srun", "--nodelist=" + nodes, "--ntasks-per-node=2", "--mpi=pmix", c.gigarank}
	return c.command(c.script, append(launcher, arguments...)...)
}

// submit submits a job by one of the job scripts, with variables of the environment, and returns its log
// and the exit code of the submission.
func (c *cluster) submit(log string, environment []string, script string, arguments ...string) (path string, code int) {
	c.t.Helper()
	log = filepath.Join(c.place, log)
	cmd := c.command(c.script, append([]string{"run", "bash", filepath.Join(c.place, "root", "scripts", script)}, arguments...)...)
	cmd.Env = append(append(cmd.Env, "LAUNCH=srun --mpi=pmix"), environment...)
	for i, setting := range cmd.Env {
		if options, found := strings.CutPrefix(setting, "OPTIONS="); found {
			cmd.Env[i] = "OPTIONS=--output=" + log + " " + options
		}
	}
	output, _ := cmd.CombinedOutput() // the code tells
	if code = cmd.ProcessState.ExitCode(); code != 0 {
		c.t.Logf("%s: %s", script, output)
	}
	return log, code
}

// clusterDocument is what the test looks at of a result.
type clusterDocument struct {
	Complete    bool   `json:"complete"`
	Reason      string `json:"reason"`
	Hosts       int    `json:"hosts"`
	Fingerprint string `json:"fingerprint"`
}

func (c *cluster) document(name string) (d clusterDocument) {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.place, name))
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return d
}

// until looks again and again until something is so, and reports whether it came to be within a limit.
func until(limit time.Duration, so func() bool) bool {
	for began := time.Now(); !so(); time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > limit {
			return false
		}
	}
	return true
}

func (c *cluster) await(what string, limit time.Duration, so func() bool) {
	c.t.Helper()
	if !until(limit, so) {
		c.t.Fatalf("after %v: not yet %s", limit, what)
	}
}

// holds reports whether a file has a text in it.
func holds(path, text string) bool {
	content, _ := os.ReadFile(path) // not there yet: it holds nothing
	return bytes.Contains(content, []byte(text))
}

// Ranks in C: what each gets depends on all others, and the time on the messages.
const ringInC = `#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
	int rank, size;
	long mine, sum, token = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	mine = rank;
	for (int i = 0; i < 3; i++) {
		MPI_Sendrecv(&mine, 1, MPI_LONG, (rank + 1) % size, 7, &token, 1, MPI_LONG,
			(rank + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		mine = token;
		MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("token %ld sum %ld\n", token, sum);
	MPI_Finalize();
	return 0;
}
`

// A cluster under Slurm gives the results of one process; a study survives its time limit; a host that
// is lost is named. The parts run one after another, and the study beside them.
func TestCluster(t *testing.T) {
	c := newCluster(t)
	c.equalFingerprints("barriertest", "--ranks", "5000")
	if err := os.WriteFile(filepath.Join(c.place, "ring.c"), []byte(ringInC), 0o666); err != nil {
		t.Fatal(err)
	}
	c.local(0, c.gigarank, "cc", "-o", "ring", "ring.c")
	// The sum of 0 to 99; rank 0's token has come from rank 97.
	if output := c.equalFingerprints("./ring", "--ranks", "100"); !strings.Contains(output, "token 97 sum 4950\n") {
		t.Errorf("./ring prints %s", output)
	}
	c.manyRanks()
	finish := c.study()
	c.lose("cut", "node4", "node[2-4]")
	c.local(0, c.script, "mend", "node4")
	c.lose("kill", "node3", "node[2-3]")
	c.local(0, c.script, "boot", "node3")
	c.freeNodes()
	c.lose("kill", "node2", "node[2-4]") // with host process 0
	finish()
}

// freeNodes waits until Slurm has the nodes beside that of the study back. A node whose processes it could not reach in
// time is set aside until an operator takes it back.
func (c *cluster) freeNodes() {
	c.t.Helper()
	var states string
	if !until(100*time.Second, func() bool {
		states = c.local(0, c.script, "run", "sinfo", "--Node", "--noheader", "--format=%N %t %E")
		for line := range strings.Lines(states) {
			if f := strings.Fields(line); len(f) > 1 && (strings.HasPrefix(f[1], "down") || strings.HasPrefix(f[1], "drain")) {
				_ = c.command(c.script, "run", "scontrol", "update", "NodeName="+f[0], "State=RESUME").Run() // it may have come back by itself
			}
		}
		return strings.Count(states, " idle ") == 3
	}) {
		c.t.Fatalf("the nodes are not free:\n%s", states)
	}
}

// starts runs a job again, a few times, whose processes have died in MPI_Init: those of programs without
// gigarank do so, too, on one of some fifty starts under Slurm 22.05 with PMIx 4.2. The job must end with 0.
func (c *cluster) starts(run func() (output string, code int)) {
	c.t.Helper()
	for tries := 1; ; tries++ {
		output, code := run()
		if code == 0 {
			return
		}
		if tries == 3 || !strings.Contains(output, diedInInit) {
			c.t.Fatalf("the job ends with %d\n%s", code, output)
		}
		c.t.Logf("start %d dies in MPI_Init", tries)
	}
}

// diedInInit is in the stack of a host process that dies in MPI_Init.
const diedInInit = "mpi.initialise()"

// equalFingerprints runs a program in one process and on all nodes, and returns what it prints there.
func (c *cluster) equalFingerprints(arguments ...string) string {
	c.t.Helper()
	arguments = append([]string{"run"}, arguments...)
	c.local(0, c.gigarank, append(arguments, "--json", "one.json")...)
	var output string
	c.starts(func() (text string, code int) {
		cmd := c.srun("node[1-4]", append(arguments, "--json", "all.json")...)
		both, _ := cmd.CombinedOutput() // the code tells
		output = string(both)
		return output, cmd.ProcessState.ExitCode()
	})
	one, all := c.document("one.json"), c.document("all.json")
	if !all.Complete || all.Hosts != 8 || all.Fingerprint != one.Fingerprint {
		c.t.Errorf("%s: %+v on four nodes, %+v in one process", arguments, all, one)
	}
	return output
}

// manyRanks runs the job script of 221 million ranks with fewer.
func (c *cluster) manyRanks() {
	c.t.Helper()
	var log string
	c.starts(func() (string, int) {
		var code int
		log, code = c.submit("221m.log", []string{"RANKS=30000", "NODES=4", "CORES=2", "TIME=2", "GRACE=30",
			"RESULTS=" + filepath.Join(c.place, "many"), "OPTIONS=--wait"}, "slurm-221m.sh")
		text, _ := os.ReadFile(log) // not there: no output
		return string(text), code
	})
	for _, program := range []string{"barriertest", "allreducetest"} {
		c.local(0, c.gigarank, "run", program, "--ranks", "30000", "--lp", "event", "--json", "one.json")
		one, all := c.document("one.json"), c.document("many/"+program+"-30000.json")
		if !all.Complete || all.Hosts != 8 || all.Fingerprint != one.Fingerprint {
			text, _ := os.ReadFile(log)
			c.t.Errorf("%s: %+v by slurm-221m.sh, %+v in one process\n%s", program, all, one, text)
		}
	}
}

// study submits a study, which it holds until its time is up. The function that it returns waits until
// the study is finished in a later allocation.
func (c *cluster) study() (finish func()) {
	c.t.Helper()
	axes := []string{"barrier", "--ranks", "2^4..2^14", "--seed", "1,2,3"}
	c.local(0, c.gigarank, append([]string{"study"}, append(axes, "--out", "one")...)...)
	// Slurm's least limit is a minute. It looks at limits each half minute and sends the signal early.
	log, code := c.submit("study.log", []string{"NODES=1", "CORES=2", "TIME=1", "GRACE=50", "OPTIONS=--nodelist=node1"},
		"slurm-study.sh", append(axes, "--out", "all")...)
	if code != 0 {
		c.t.Fatalf("sbatch ends with %d", code)
	}
	results := filepath.Join(c.place, "all", "results.jsonl")
	c.await("there: a first point", time.Minute, func() bool { return holds(results, "\n") })
	if err := c.signalStudy(unix.SIGSTOP); err != nil {
		c.t.Fatal(err)
	}
	released := make(chan error, 1)
	go func() {
		// The launcher has passed the signal on when it is pending: a process that is held does not take it.
		if !until(time.Minute, func() bool { return holds(log, "SIGUSR1") && c.pending() }) {
			released <- errors.New("no signal comes before the limit")
			return
		}
		released <- c.signalStudy(unix.SIGCONT)
	}()
	return func() {
		c.t.Helper()
		if err := <-released; err != nil {
			c.t.Fatal(err)
		}
		c.await("out of the queue: the study", 90*time.Second, func() bool {
			return c.local(0, c.script, "run", "squeue", "--noheader", "--name=gigarank-study") == ""
		})
		told, _ := os.ReadFile(log)
		if !bytes.Contains(told, []byte("time is up: the study goes on in the next allocation")) {
			c.t.Errorf("the study does not go back to the queue:\n%s", told)
		}
		one, all := c.points("one"), c.points("all")
		if len(one) == 0 || !maps.Equal(one, all) {
			c.t.Errorf("%d points over two allocations, %d in one process, or other times: %v, %v\n%s", len(all), len(one), all, one, told)
		}
	}
}

// studyProcesses returns the host processes of the study.
func (c *cluster) studyProcesses() (pids []int) {
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is right
	for _, path := range commands {
		text, _ := os.ReadFile(path) // of a process that has ended there is none
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && bytes.HasPrefix(text, []byte(c.gigarank+"\x00study\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// signalStudy sends a signal to both host processes of the study.
func (c *cluster) signalStudy(signal unix.Signal) error {
	pids := c.studyProcesses()
	if len(pids) != 2 {
		return fmt.Errorf("%v for %d host processes of the study, want 2", signal, len(pids))
	}
	for _, pid := range pids {
		if err := unix.Kill(pid, signal); err != nil {
			return err
		}
	}
	return nil
}

// pending reports whether SIGUSR1 waits for all host processes of the study.
func (c *cluster) pending() bool {
	for _, pid := range c.studyProcesses() {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // of a process that has ended there is none
		_, mask, _ := strings.Cut(string(status), "ShdPnd:\t")
		mask, _, _ = strings.Cut(mask, "\n")
		if bits, err := strconv.ParseUint(mask, 16, 64); err != nil || bits>>(unix.SIGUSR1-1)&1 == 0 {
			return false
		}
	}
	return true
}

// points returns the time of each point of a study.
func (c *cluster) points(name string) map[string]int64 {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.place, name, "results.jsonl"))
	if err != nil {
		c.t.Fatal(err)
	}
	times := map[string]int64{}
	for line := range bytes.Lines(text) {
		var record struct {
			Point json.RawMessage `json:"point"`
			Time  int64           `json:"time_ps"`
		}
		if err := json.Unmarshal(line, &record); err != nil {
			c.t.Fatal(err)
		}
		times[string(record.Point)] = record.Time
	}
	return times
}

// lose cuts off or kills a node in the middle of a run on some nodes. A host process ends with 3 within 15
// seconds, and so the launcher. The run names the node, and leaves its document.
func (c *cluster) lose(how, victim, nodes string) {
	c.t.Helper()
	for tries := 1; !c.loseOnce(how, victim, nodes); tries++ {
		if tries == 3 {
			c.t.Fatal("three starts die in MPI_Init")
		}
	}
}

// endsWith3 matches the lines in which MPI or Slurm says that a host process ends with 3, of which one may be
// missing: Slurm does not hear of the code where it ends the step itself.
var endsWith3 = regexp.MustCompile("^with errorcode 3|Exited with exit code 3")

// loseOnce reports whether the run has started.
func (c *cluster) loseOnce(how, victim, nodes string) bool {
	c.t.Helper()
	document := how + "-" + victim + ".json"
	cmd := c.srun(nodes, "run", "barriertest", "--ranks", "1000", "--iterations", "1G", "-v", "--json", document)
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	var began, ended time.Time
	var told strings.Builder
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		told.WriteString(lines.Text() + "\n")
		if began.IsZero() && strings.Contains(lines.Text(), "running") {
			began = time.Now()
			c.local(0, c.script, how, victim)
		}
		if ended.IsZero() && endsWith3.MatchString(lines.Text()) {
			ended = time.Now() // the launcher takes longer where Slurm cannot reach the node
		}
	}
	_ = cmd.Wait() // the code tells
	if began.IsZero() && strings.Contains(told.String(), diedInInit) {
		return false
	}
	const limit = 15 * time.Second
	if code, took := cmd.ProcessState.ExitCode(), ended.Sub(began); began.IsZero() || ended.IsZero() || code != 3 || took > limit {
		c.t.Errorf("%s %s: exit code %d after %v, want 3 within %v\n%s", how, victim, code, took, limit, &told)
		return true
	}
	named := " on " + victim + " has been silent"
	if !strings.Contains(told.String(), named) {
		c.t.Errorf("%s %s is not told on standard error:\n%s", how, victim, &told)
	}
	if d := c.document(document); d.Complete || !strings.Contains(d.Reason, named) {
		c.t.Errorf("%s %s: the document says complete %t, %q", how, victim, d.Complete, d.Reason)
	}
	return true
}
