//go:build cluster

package gigarank_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// cluster is one of scripts/cluster, with a directory that its nodes share.
type cluster struct {
	t        *testing.T
	root     string // of the project: job scripts and the program
	script   string
	gigarank string
	place    string   // of results
	settings []string // environment of all commands
}

// buildForCluster builds gigarank and returns a directory with its program and its scripts, as root of the project.
func buildForCluster(t *testing.T) (root string) {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root = t.TempDir()
	for _, command := range [][]string{
		{"go", "build", "-C", here, "-tags", "mpi", "-o", filepath.Join(root, "bin", "gigarank"), "./cmd/gigarank"},
		{"cp", "-r", filepath.Join(here, "scripts"), root},
	} {
		if output, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, output)
		}
	}
	// Job scripts build the program that is built already, and must not touch the tree.
	if err := os.WriteFile(filepath.Join(root, "bin", "go"), []byte("#!/bin/sh\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	return root
}

// newCluster starts a cluster, which ends with the test.
func newCluster(t *testing.T, root string) *cluster {
	t.Helper()
	bin := filepath.Join(root, "bin")
	c := &cluster{t: t, root: root, place: t.TempDir(),
		script: filepath.Join(root, "scripts", "cluster"), gigarank: filepath.Join(bin, "gigarank")}
	directory := filepath.Join(t.TempDir(), "cluster")
	c.settings = append(os.Environ(), "CLUSTER="+directory, "PATH="+bin+":"+os.Getenv("PATH"))
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.slurm("sinfo", "--Node", "--long"), c.slurm("squeue", "--long"))
			controller, _ := os.ReadFile(filepath.Join(directory, "log", "slurmctld")) // not there: it has not started
			t.Logf("%s", controller)
		}
		c.local(0, c.script, "down")
	})
	c.local(0, c.script, "up")
	return c
}

// slurm runs a command on the login node and returns its output.
func (c *cluster) slurm(command ...string) string {
	c.t.Helper()
	return c.local(0, c.script, append([]string{"run"}, command...)...)
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
	launcher := []string{"run", "timeout", "100", "srun", "--kill-on-bad-exit=1", "--nodelist=" + nodes, "--ntasks-per-node=2", "--mpi=pmix", c.gigarank}
	return c.command(c.script, append(launcher, arguments...)...)
}

// submit submits a job by one of the job scripts, with variables of the environment, and returns its log
// and the exit code of the submission.
func (c *cluster) submit(log string, environment []string, script string, arguments ...string) (path string, code int) {
	c.t.Helper()
	log = filepath.Join(c.place, log)
	cmd := c.command(c.script, append([]string{"run", "bash", filepath.Join(c.root, "scripts", script)}, arguments...)...)
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

// A cluster under Slurm gives the results of one process, and a study survives its time limit. A host that
// is lost is named, also by a study, which goes on without it.
func TestCluster(t *testing.T) {
	root := buildForCluster(t)
	t.Run("jobs", func(t *testing.T) {
		t.Parallel()
		c := newCluster(t, root)
		c.equalFingerprints("barriertest", "--ranks", "5000")
		if err := os.WriteFile(filepath.Join(c.place, "ring.c"), []byte(ringInC), 0o666); err != nil {
			t.Fatal(err)
		}
		c.local(0, c.gigarank, "cc", "-o", "ring", "ring.c")
		// The sum of 0 to 99; rank 0's token has come from rank 97.
		if output := c.equalFingerprints("./ring", "--ranks", "100"); !strings.Contains(output, "token 97 sum 4950\n") {
			t.Errorf("./ring prints %s", output)
		}
		c.manyRanks("30000") // round by round on each host
		c.manyRanks("70000") // over arrays
		finish := c.studyLosesHost()
		c.studyOutOfTime() // beside the other
		finish()
	})
	t.Run("lost hosts", func(t *testing.T) {
		t.Parallel()
		c := newCluster(t, root)
		c.lose("cut", "node4", "node[2-4]")
		c.local(0, c.script, "mend", "node4")
		c.awaitIdle()
		c.lose("kill", "node3", "node[2-3]")
		c.local(0, c.script, "boot", "node3")
		c.awaitIdle()
		c.lose("kill", "node2", "node[2-4]") // with host process 0
	})
}

// awaitIdle waits until all nodes are there and free. Slurm sees within SlurmdTimeout that a node is lost or is back.
func (c *cluster) awaitIdle() {
	c.t.Helper()
	c.await("four idle nodes", time.Minute, func() bool {
		return strings.Count(c.slurm("sinfo", "--Node", "--noheader", "--format=%t;"), "idle;") == 4
	})
}

// equalFingerprints runs a program in one process and on all nodes, and returns what it prints there.
func (c *cluster) equalFingerprints(arguments ...string) string {
	c.t.Helper()
	arguments = append([]string{"run"}, arguments...)
	c.local(0, c.gigarank, append(arguments, "--json", "one.json")...)
	output := c.finish(0, c.srun("node[1-4]", append(arguments, "--json", "all.json")...))
	one, all := c.document("one.json"), c.document("all.json")
	if !all.Complete || all.Hosts != 8 || all.Fingerprint != one.Fingerprint {
		c.t.Errorf("%s: %+v on four nodes, %+v in one process", arguments, all, one)
	}
	return output
}

// manyRanks runs the job script of 221 million ranks with fewer. The number decides by which algorithm the vectors of an allreduce are combined.
func (c *cluster) manyRanks(ranks string) {
	c.t.Helper()
	log, code := c.submit("221m-"+ranks+".log", []string{"RANKS=" + ranks, "NODES=4", "CORES=2", "TIME=2", "GRACE=30",
		"RESULTS=" + filepath.Join(c.place, "many"), "OPTIONS=--wait"}, "slurm-221m.sh")
	text, _ := os.ReadFile(log) // not there: no output
	if code != 0 {
		c.t.Fatalf("slurm-221m.sh ends with %d\n%s", code, text)
	}
	for _, program := range []string{"barriertest", "allreducetest"} {
		c.local(0, c.gigarank, "run", program, "--ranks", ranks, "--lp", "event", "--json", "one.json")
		one, all := c.document("one.json"), c.document("many/"+program+"-"+ranks+".json")
		if !all.Complete || all.Hosts != 8 || all.Fingerprint != one.Fingerprint {
			c.t.Errorf("%s: %+v by slurm-221m.sh, %+v in one process\n%s", program, all, one, text)
		}
	}
}

// study is a study in the queue of a cluster.
type study struct {
	*cluster
	axes  []string
	log   string
	out   string // directory of its results
	hosts int    // processes
}

// holdStudy submits a study on some nodes, with two host processes on each, and holds it when it has a point.
func (c *cluster) holdStudy(name string, nodes int, options string) *study {
	c.t.Helper()
	s := &study{cluster: c, axes: []string{"barrier", "--ranks", "2^4..2^17", "--seed", "1,2,3"},
		out: filepath.Join(c.place, name), hosts: 2 * nodes}
	var code int
	s.log, code = c.submit(name+".log", []string{fmt.Sprintf("NODES=%d", nodes), "CORES=2", "TIME=10", "GRACE=50",
		"OPTIONS=--job-name=" + name + " " + options}, "slurm-study.sh", append(s.axes, "--out", s.out)...)
	if code != 0 {
		c.t.Fatalf("sbatch ends with %d", code)
	}
	c.await("there: a first point of the study "+name, 2*time.Minute, func() bool {
		return holds(filepath.Join(s.out, "results.jsonl"), "\n")
	})
	s.signal(unix.SIGSTOP)
	return s
}

// processes returns the host processes of the study.
func (s *study) processes() (pids []int) {
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is right
	for _, path := range commands {
		text, _ := os.ReadFile(path) // of a process that has ended there is none
		mine := bytes.HasPrefix(text, []byte(s.gigarank+"\x00study\x00")) && bytes.Contains(text, []byte("\x00"+s.out+"\x00"))
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && mine {
			pids = append(pids, pid)
		}
	}
	return pids
}

// signal sends a signal to all host processes of the study.
func (s *study) signal(signal unix.Signal) {
	s.t.Helper()
	pids := s.processes()
	if len(pids) != s.hosts {
		told, _ := os.ReadFile(s.log) // not there: nothing is told
		s.t.Fatalf("%v for %d host processes of the study, want %d\n%s", signal, len(pids), s.hosts, told)
	}
	for _, pid := range pids {
		if err := unix.Kill(pid, signal); err != nil {
			s.t.Fatal(err)
		}
	}
}

// pending reports whether SIGUSR1 waits for all host processes of the study.
func (s *study) pending() bool {
	for _, pid := range s.processes() {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // of a process that has ended there is none
		_, mask, _ := strings.Cut(string(status), "ShdPnd:\t")
		mask, _, _ = strings.Cut(mask, "\n")
		if bits, err := strconv.ParseUint(mask, 16, 64); err != nil || bits>>(unix.SIGUSR1-1)&1 == 0 {
			return false
		}
	}
	return true
}

// finish waits until the study has left the queue. It must have gone back there for a reason once, and its points are
// those of a study in one process.
func (s *study) finish(why string) {
	s.t.Helper()
	name := filepath.Base(s.out)
	s.await("out of the queue: the study "+name, 3*time.Minute, func() bool {
		return s.slurm("squeue", "--noheader", "--name="+name) == ""
	})
	told, _ := os.ReadFile(s.log)
	if !bytes.Contains(told, []byte(why+": the study goes on in the next allocation")) {
		s.t.Errorf("the study %s does not go back to the queue:\n%s", name, told)
	}
	one := s.out + "-one"
	s.local(0, s.gigarank, append(append([]string{"study"}, s.axes...), "--out", one)...)
	if want, got := s.points(one), s.points(s.out); len(want) == 0 || !maps.Equal(want, got) {
		s.t.Errorf("%d points of the study %s, %d in one process, or other times: %v, %v\n%s", len(got), name, len(want), want, got, told)
	}
}

// studyOutOfTime submits a study and holds it until its time is up. The study is finished in a later allocation.
func (c *cluster) studyOutOfTime() {
	c.t.Helper()
	s := c.holdStudy("out-of-time", 1, "--nodelist=node1")
	// Slurm looks at limits each half minute and sends the signal GRACE seconds before.
	job := "JobId=" + strings.TrimSpace(c.slurm("squeue", "--noheader", "--name=out-of-time", "--format=%A"))
	c.slurm("scontrol", "update", job, "EndTime=now+60")
	// The launcher has passed the signal on when it is pending: a process that is held does not take it.
	c.await("there: the signal before the limit", time.Minute, func() bool { return holds(s.log, "SIGUSR1") && s.pending() })
	s.signal(unix.SIGCONT)
	c.slurm("scontrol", "update", job, "TimeLimit=10") // the next allocation has time enough
	s.finish("time is up")
}

// studyLosesHost cuts off the second of two nodes of a study, which goes on with a node that is left. The function that
// it returns waits until the study is finished.
func (c *cluster) studyLosesHost() (finish func()) {
	c.t.Helper()
	s := c.holdStudy("lost-host", 2, "--exclude=node1")
	if nodes := strings.TrimSpace(c.slurm("squeue", "--noheader", "--name=lost-host", "--format=%N")); nodes != "node[2-3]" {
		c.t.Fatalf("the study is on %s, want node[2-3]", nodes)
	}
	c.local(0, c.script, "cut", "node3")
	s.signal(unix.SIGCONT)
	return func() { s.finish("a host has failed (status 3)") }
}

// points returns the time of each point of a study.
func (c *cluster) points(directory string) map[string]int64 {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(directory, "results.jsonl"))
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

// lose cuts off or kills a node in the middle of a run on some nodes. The launcher ends with 3 within 15 seconds. The run
// names the node, and leaves its document.
func (c *cluster) lose(how, victim, nodes string) {
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
	var began time.Time
	var told strings.Builder
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		fmt.Fprintf(&told, "%s %s\n", time.Now().Format("05.0"), lines.Text())
		if began.IsZero() && strings.Contains(lines.Text(), "running") {
			// Hosts connect with their first messages: Open MPI stands still in a handshake with a host that is cut off then.
			time.Sleep(2 * time.Second)
			c.local(0, c.script, how, victim)
			began = time.Now()
		}
	}
	_ = cmd.Wait() // the code tells
	const limit = 15 * time.Second
	code, took := cmd.ProcessState.ExitCode(), time.Since(began)
	c.t.Logf("%s %s: exit code %d after %v", how, victim, code, took)
	if began.IsZero() || code != 3 || took > limit {
		c.t.Errorf("%s %s: exit code %d after %v, want 3 within %v\n%s", how, victim, code, took, limit, &told)
		return
	}
	named := " on " + victim + " has been silent"
	if !strings.Contains(told.String(), named) {
		c.t.Errorf("%s %s is not told on standard error:\n%s", how, victim, &told)
	}
	if d := c.document(document); d.Complete || !strings.Contains(d.Reason, named) {
		c.t.Errorf("%s %s: the document says complete %t, %q", how, victim, d.Complete, d.Reason)
	}
}
