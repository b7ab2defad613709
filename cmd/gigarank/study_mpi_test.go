//go:build mpi

package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/study"
)

var hostCount = regexp.MustCompile(`"(hosts|engines|lambda)":[0-9.]+`)

// The points of a study are the same on any number of host processes, in the same
// order. Several can resume a study that one has begun.
func TestHostsStudyTogether(t *testing.T) {
	t.Parallel() // its processes wait for each other most of the time
	args := func(dir, ranks string) []string {
		return []string{"study", "allreduce", "--ranks", ranks, "--payload", "8,64", "--algorithms", "node-leader,ring,linear",
			"--mapping", "block,cyclic", "--out", dir, "--resume"}
	}
	base := t.TempDir()
	dirs := map[int]string{}
	for n := 1; n <= 3; n++ {
		dirs[n] = filepath.Join(base, "hosts", string(rune('0'+n)))
		ranks := "8..64"
		if n == 3 {
			ranks = "8..16" // the rest after a resume
		}
		if output, err := underMPI(t, n, args(dirs[n], ranks)...).CombinedOutput(); err != nil {
			t.Fatalf("%d host processes: %v\n%s", n, err, output)
		}
	}
	if output, err := underMPI(t, 2, args(dirs[3], "8..64")...).CombinedOutput(); err != nil {
		t.Fatalf("resumed on 2 host processes: %v\n%s", err, output)
	}
	want := hostCount.ReplaceAllString(resultLines(t, dirs[1]), "$1")
	if lines := strings.Count(want, "\n"); lines != 4*2*3*2 {
		t.Fatalf("%d points:\n%s", lines, want)
	}
	if got := hostCount.ReplaceAllString(resultLines(t, dirs[2]), "$1"); got != want {
		t.Errorf("2 host processes:\n%s\none:\n%s", got, want)
	}
	if got := hostCount.ReplaceAllString(resultLines(t, dirs[3]), "$1"); sorted(got) != sorted(want) {
		t.Errorf("resumed on other host processes:\n%s\none:\n%s", got, want)
	}
}

// Faults are named by one host, and all end with 2.
func TestHostsRefuseAStudyTogether(t *testing.T) {
	t.Parallel() // its processes wait for each other most of the time
	dir := filepath.Join(t.TempDir(), "study")
	if output, err := underMPI(t, 2, "study", "barrier", "--ranks", "8", "--out", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	cmd := underMPI(t, 2, "study", "barrier", "--ranks", "8", "--out", dir)
	output, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != terminal.ExitUsage || strings.Count(string(output), "go on with them by --resume") != 1 {
		t.Errorf("exit code %d, want 2 and the fault once in\n%s", cmd.ProcessState.ExitCode(), output)
	}
}

// A host that cannot keep which point is under way ends the study in order on all hosts: before the
// point if it sees that then, else before the next one or after the last.
func TestHostsEndAStudyThatKeepsNothing(t *testing.T) {
	run := func(dir, ranks string, started func()) {
		cmd := underMPI(t, 2, "study", "barrier", "--ranks", ranks, "--algorithms", "linear", "--iterations", "20K", "--out", dir)
		var output bytes.Buffer
		cmd.Stdout, cmd.Stderr = &output, &output
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		started()
		code, took := endIn(cmd)
		text := output.String()
		if code != terminal.ExitHost || took > within(t, time.Minute) || strings.Count(text, "killed.json, which names points that were killed, cannot be written") != 1 {
			t.Errorf("exit code %d after %v, want 3 and the fault once in\n%s", code, took, text)
		}
		for _, without := range []string{"does not answer", "MPI_ABORT"} {
			if strings.Contains(text, without) {
				t.Errorf("%q in\n%s", without, text)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, study.ReportFile)); err != nil {
			t.Error(err)
		}
	}
	block := func(dir string) {
		if err := os.MkdirAll(filepath.Join(dir, "in the way"), 0o777); err != nil {
			t.Error(err)
		}
	}
	dir := t.TempDir()
	block(filepath.Join(dir, study.KilledFile+".tmp"))
	run(dir, "64,128", func() {})
	for _, ranks := range []string{"64,128", "64"} {
		dir := t.TempDir()
		run(dir, ranks, func() {
			mark := filepath.Join(dir, study.KilledFile)
			for os.Remove(mark) != nil {
				time.Sleep(time.Millisecond)
			}
			block(mark)
		})
	}
}

// The launcher passes signals on to all hosts. Finished points stay, and the study can
// be resumed, also with fewer points.
func TestSignalEndsAStudyOfHosts(t *testing.T) {
	for _, signal := range []unix.Signal{unix.SIGTERM, unix.SIGUSR1} {
		dir := filepath.Join(t.TempDir(), "study")
		args := func(seeds string) []string {
			return []string{"study", "barrier", "--ranks", "64", "--algorithms", "node-leader,linear", "--iterations", "2K",
				"--seed", seeds, "--out", dir, "--resume"}
		}
		cmd := underMPI(t, 2, args(seeds(100))...)
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		reader := bufio.NewReader(stderr)
		waitForLine(t, reader, ` 1/200 `)
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if signal == unix.SIGUSR1 { // after the other, Open MPI listens no more
			waitForLine(t, reader, `interrupted by SIGUSR1; [0-9]+ of 200 points are finished; the same command with --resume goes on`)
		}
		go func() { _, _ = io.Copy(io.Discard, reader) }()
		if code, _ := endIn(cmd); code == terminal.ExitDone {
			t.Errorf("%v: the launcher ends with 0", signal)
		}
		finished := strings.Count(resultLines(t, dir), "\n")
		if finished < 1 || finished > 199 {
			t.Errorf("%v: %d points are finished", signal, finished)
		}
		for _, name := range []string{study.TableFile, study.ReportFile} {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Errorf("%v: %v", signal, err)
			}
		}
		output, err := underMPI(t, 2, args("1,2")...).CombinedOutput()
		counts := regexp.MustCompile(`4 points: ([0-9]) to simulate, ([0-9]) finished before`).FindSubmatch(output)
		if err != nil || counts == nil {
			t.Fatalf("%v: resumed: %v\n%s", signal, err, output)
		}
		simulated, before := int(counts[1][0]-'0'), int(counts[2][0]-'0')
		if all := strings.Count(resultLines(t, dir), "\n"); before < 1 || simulated+before != 4 || all != finished+simulated {
			t.Errorf("%v: %d points after %d were finished and %s", signal, all, finished, counts[0])
		}
	}
}

// seeds lists the seeds 1 to n.
func seeds(n int) string {
	var all []string
	for i := range n {
		all = append(all, strconv.Itoa(i+1))
	}
	return strings.Join(all, ",")
}
