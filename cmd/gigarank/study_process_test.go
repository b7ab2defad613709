package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/study"
)

// hostFields are the fields that differ from run to run of a study.
var hostFields = regexp.MustCompile(`"(wall_s|setup_s|events|switches|(?:remote|sync|transport)_messages|peak_rss_bytes|bytes_per_rank)":[0-9.e+-]+|"(checksum)":"[0-9a-f]+"`)

// resultLines returns the results of a study without the fields that depend on the
// host.
func resultLines(t *testing.T, dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, study.ResultsFile))
	if err != nil {
		t.Fatal(err)
	}
	return hostFields.ReplaceAllString(string(text), "$1$2")
}

// studyArguments returns the arguments of a study whose points each take a while.
func studyArguments(dir string, more ...string) []string {
	return append([]string{"study", "barrier", "--ranks", "2^10..2^14", "--algorithms", "node-leader,dissemination,binomial",
		"--iterations", "20", "--out", dir}, more...)
}

// waitForLine reads lines until one has a pattern.
func waitForLine(t *testing.T, r *bufio.Reader, pattern string) {
	wanted := regexp.MustCompile(pattern)
	var before strings.Builder
	for {
		line, err := r.ReadString('\n')
		before.WriteString(line)
		if wanted.MatchString(line) {
			return
		}
		if err != nil {
			t.Fatalf("%v; no line with %q in\n%s", err, pattern, before.String())
		}
	}
}

// sorted puts lines in order.
func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// startUntil starts a study and waits until a number of points are finished.
func startUntil(t *testing.T, cmd *exec.Cmd, points string) {
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	readUntil(t, stderr, " "+points+"/")
}

// A study is killed, its file then ends in a torn line, and it is killed again after it
// was resumed. It leaves the results of an undisturbed study.
func TestKilledStudyIsResumed(t *testing.T) {
	whole, killed := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "killed")
	if output, err := command(t, studyArguments(whole)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for i, points := range []string{"3", "5"} {
		cmd := command(t, studyArguments(killed, "--resume")...)
		startUntil(t, cmd, points)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if i == 0 {
			tear(t, killed)
		}
	}
	if lines := strings.Count(resultLines(t, killed), "\n"); lines < 8 || lines > 14 {
		t.Fatalf("%d points are left after two kills, want from 8 to 14", lines)
	}
	output, err := command(t, studyArguments(killed, "--resume")...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	// Points that were killed come last.
	if got, want := sorted(resultLines(t, killed)), sorted(resultLines(t, whole)); got != want {
		t.Errorf("resumed:\n%s\nwithout a kill:\n%s", got, want)
	}
	for _, name := range []string{study.TableFile, study.ReportFile} {
		if info, err := os.Stat(filepath.Join(killed, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Builds of a tree that has been changed have one version. Another build, here one with
// an extra byte, does not go on with the results of the first.
func TestStudyOfAnotherBuildIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "study")
	args := []string{"study", "barrier", "--ranks", "8", "--algorithms", "linear", "--out", dir, "--resume"}
	cmd := command(t, args...)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	program, err := os.ReadFile(cmd.Path)
	if err != nil {
		t.Fatal(err)
	}
	other := command(t, args...)
	other.Path = filepath.Join(t.TempDir(), "gigarank")
	if err := os.WriteFile(other.Path, append(program, 0), 0o777); err != nil {
		t.Fatal(err)
	}
	output, _ := other.CombinedOutput()
	if other.ProcessState.ExitCode() != terminal.ExitUsage || !bytes.Contains(output, []byte("1 point by gigarank")) {
		t.Errorf("exit code %d, want 2 and the other build to be named in\n%s", other.ProcessState.ExitCode(), output)
	}
}

// tear adds what a power cut may leave of a line.
func tear(t *testing.T, dir string) {
	file, err := os.OpenFile(filepath.Join(dir, study.ResultsFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`{"schema":1,"version":"(devel)","point":{"opera`); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// The signals that schedulers send before a time limit end a study in order. The
// finished points stay, the table is written, and the message says how to go on. The
// first point is short, and no machine comes to the end of the second.
func TestSignalsEndAStudy(t *testing.T) {
	for _, signal := range []unix.Signal{unix.SIGTERM, unix.SIGUSR1, unix.SIGINT} {
		dir := filepath.Join(t.TempDir(), "study")
		cmd := command(t, "study", "barrier", "--ranks", "2,2^22", "--algorithms", "node-leader", "--iterations", "5K", "--out", dir)
		var stdout bytes.Buffer
		cmd.Stdout = &stdout
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		reader := bufio.NewReader(stderr)
		waitForLine(t, reader, ` 1/2 `)
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		waitForLine(t, reader, "interrupted by "+unix.SignalName(signal)+`; 1 of 2 points are finished; the same command with --resume goes on`)
		if code, _ := endIn(cmd); code != terminal.ExitHost {
			t.Errorf("%v: exit code %d, want 3", signal, code)
		}
		lines := strings.Count(resultLines(t, dir), "\n")
		table, err := os.ReadFile(filepath.Join(dir, study.TableFile))
		if lines != 1 || err != nil || bytes.Count(table, []byte("\n")) != 2 {
			t.Errorf("%v: %d points in the results; the table is\n%s%v", signal, lines, table, err)
		}
		if !strings.Contains(stdout.String(), "barrier on xt5") {
			t.Errorf("%v: no table on standard output:\n%s", signal, stdout.String())
		}
	}
}

// unending returns a study whose first point is short. No machine comes to the end of the
// second.
func unending(t *testing.T, dir string) *exec.Cmd {
	return command(t, "study", "barrier", "--ranks", "2,2^22", "--algorithms", "node-leader", "--iterations", "5K", "--out", dir, "--resume")
}

// A study whose results are damaged while a point is simulated ends at once, without the
// advice to resume what is not there.
func TestDamagedStudyEndsAtOnce(t *testing.T) {
	for want, damage := range map[string]func(path string) error{
		"was removed":  os.Remove,
		"was replaced": func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o666)) },
		"has 10 bytes": func(path string) error { return os.Truncate(path, 10) },
	} {
		dir := filepath.Join(t.TempDir(), "study")
		cmd := unending(t, dir)
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		reader := bufio.NewReader(stderr)
		waitForLine(t, reader, ` 1/2 `)
		if err := damage(filepath.Join(dir, study.ResultsFile)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		rest, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		code, _ := endIn(cmd)
		if took := time.Since(began); code != terminal.ExitHost || took > within(t, 5*time.Second) || !bytes.Contains(rest, []byte(want)) || bytes.Contains(rest, []byte("--resume")) {
			t.Errorf("%s: exit code %d after %v; it says\n%s", want, code, took, rest)
		}
		if table, err := os.ReadFile(filepath.Join(dir, study.TableFile)); err != nil || bytes.Count(table, []byte("\n")) != 2 {
			t.Errorf("%s: the table of the finished point is\n%s%v", want, table, err)
		}
	}
}

// A point that kills the process is marked: it comes last the next time, and is left out
// after the second.
func TestKillingPointIsLeftOut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "study")
	for kills, want := range []string{"2 points: 2 to simulate", "killed while they were simulated, so they come last: node-leader from 4Mi ranks on"} {
		marked := regexp.MustCompile(fmt.Sprintf(`"ranks": 4194304(.|\n)*"kills": %d,\s*"under_way": true`, kills))
		cmd := unending(t, dir)
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		readUntil(t, stderr, want)
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			if text, _ := os.ReadFile(filepath.Join(dir, study.KilledFile)); marked.Match(text) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the point is not under way within 30 s")
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
	}
	output, err := unending(t, dir).CombinedOutput()
	if err != nil || !bytes.Contains(output, []byte("left out, since they were killed twice while they were simulated: node-leader from 4Mi ranks on; remove "+filepath.Join(dir, study.KilledFile))) {
		t.Errorf("%v:\n%s", err, output)
	}
	page, err := os.ReadFile(filepath.Join(dir, study.ReportFile))
	if err != nil || !bytes.Contains(page, []byte("Left out, killed twice")) || bytes.Contains(page, []byte("Incomplete")) {
		t.Errorf("%v: the report does not say what is left out", err)
	}
}

// A point whose result cannot be kept, as where the disk is full, was not killed: it is simulated
// again, however often that happens. A limit on the size of files stands for the disk here.
func TestPointThatIsNotKeptWasNotKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "study")
	for range 3 {
		cmd := command(t, studyArguments(dir, "--resume")...)
		limited := exec.CommandContext(t.Context(), "sh", append([]string{"-c", `ulimit -f 2; exec "$@"`, "sh"}, cmd.Args...)...)
		limited.Env = cmd.Env
		output, _ := limited.CombinedOutput()
		if limited.ProcessState.ExitCode() != terminal.ExitHost || !bytes.Contains(output, []byte("the result was not written")) || bytes.Contains(output, []byte("killed")) {
			t.Fatalf("exit code %d, want %d and no word of a kill:\n%s", limited.ProcessState.ExitCode(), terminal.ExitHost, output)
		}
	}
}
