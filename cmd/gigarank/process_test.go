package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gigarank/cmd/gigarank/internal/terminal"
)

// beMain makes the test binary behave as the command itself. tellStatus names the file that takes its /proc/self/status at the end.
const (
	beMain     = "GIGARANK_TEST_BE_MAIN"
	tellStatus = "GIGARANK_TEST_TELL_STATUS"
)

func TestMain(m *testing.M) {
	if os.Getenv(beMain) != "" {
		code := commandLine()
		if path := os.Getenv(tellStatus); path != "" {
			status, err := os.ReadFile("/proc/self/status")
			if err := errors.Join(err, os.WriteFile(path, status, 0o600)); err != nil {
				panic(err)
			}
		}
		os.Exit(code)
	}
	if name := os.Getenv(beFailing); name != "" {
		os.Exit(fail(name))
	}
	os.Exit(m.Run())
}

// command returns the command line as a process of its own, which does not outlive the
// test or three minutes, nor the time of all tests. It is told to end, since mpirun ends its processes then.
func command(t *testing.T, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const toEnd = 10 * time.Second
	until := time.Now().Add(3 * time.Minute)
	if all, limited := t.Deadline(); limited && all.Add(-2*toEnd).Before(until) {
		until = all.Add(-2 * toEnd)
	}
	ctx, cancel := context.WithDeadline(t.Context(), until)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(unix.SIGTERM) }, toEnd
	cmd.Env = append(os.Environ(), beMain+"=1")
	return cmd
}

func readDocument(t *testing.T, path string) document {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return d
}

// openTerminal opens a pseudo-terminal of 120 columns. The controller reads the output
// to the terminal.
func openTerminal(t *testing.T) (controller, terminal *os.File) {
	controller, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(controller.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 120}); err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return controller, terminal
}

// readUntil reads until a pattern has come and returns the text up to it. It reads and
// drops the rest.
func readUntil(t *testing.T, r io.Reader, pattern string) string {
	wanted := regexp.MustCompile(pattern)
	var all bytes.Buffer
	chunk := make([]byte, 4096)
	for !wanted.Match(all.Bytes()) {
		n, err := r.Read(chunk)
		all.Write(chunk[:n])
		if err != nil {
			t.Fatalf("%v; no %q in %q", err, pattern, all.String())
		}
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	return all.String()
}

// endIn waits for a process and returns its exit code and its wall time.
func endIn(cmd *exec.Cmd) (code int, took time.Duration) {
	began := time.Now()
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode(), time.Since(began)
}

// within returns a limit of wall time for a process that is to end promptly. A machine that is busy with other work gets longer: twenty times
// the time that the shortest command takes on it now.
func within(t *testing.T, limit time.Duration) time.Duration {
	t.Helper()
	began := time.Now()
	if err := command(t, "--version").Run(); err != nil {
		t.Fatal(err)
	}
	return limit + 20*time.Since(began)
}

// A run on a terminal shows its progress in one line. SIGTERM then ends it within two
// seconds and leaves the finished iterations.
func TestTerminateOnTerminal(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.json")
	controller, shell := openTerminal(t)
	defer func() { _ = controller.Close() }()
	cmd := command(t, "run", "barriertest", "--ranks", "64", "--iterations", "1G", "--engines", "1", "--json", out)
	var stdout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, shell
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = shell.Close()
	shown := readUntil(t, controller, `(?s)iteration [1-9][0-9]*/1000000000.*iteration [1-9][0-9]*/1000000000`)
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	code, took := endIn(cmd)
	if code != terminal.ExitHost || took > within(t, 2*time.Second) {
		t.Errorf("exit code %d after %v, want 3 within 2 s", code, took)
	}
	if bytes.Count([]byte(shown), []byte("\n")) > bytes.Count([]byte(shown), []byte("\x1b[")) {
		t.Errorf("the line is not kept in place: %q", shown)
	}
	d := readDocument(t, out)
	if d.Complete || d.Reason != "interrupted by SIGTERM" || len(d.Iterations) == 0 {
		t.Errorf("complete %t, reason %q, %d iterations; want an incomplete run with some", d.Complete, d.Reason, len(d.Iterations))
	}
	if !bytes.Contains(stdout.Bytes(), []byte("INCOMPLETE")) {
		t.Errorf("the summary does not say that it is incomplete:\n%s", stdout.String())
	}
}

// SIGINT ends a run in a batch log, too, several engines at once, right after its
// beginning.
func TestInterruptInBatch(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.json")
	cmd := command(t, "run", "barriertest", "--ranks", "1000", "--iterations", "1G", "--engines", "2", "--json", out, "-v")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	readUntil(t, stderr, "running")
	if err := cmd.Process.Signal(unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code, took := endIn(cmd); code != terminal.ExitHost || took > within(t, 2*time.Second) {
		t.Errorf("exit code %d after %v, want 3 within 2 s", code, took)
	}
	if d := readDocument(t, out); d.Complete || d.Reason != "interrupted by SIGINT" || d.Engines != 2 {
		t.Errorf("complete %t, reason %q, %d engines", d.Complete, d.Reason, d.Engines)
	}
}

// The process ends with the exit code, and the document is on standard output.
func TestProcess(t *testing.T) {
	cmd := command(t, "run", "barriertest", "--ranks", "100", "--json", "-")
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil || !d.Complete || d.FinishedRanks != 100 || d.PeakRSS <= 0 || d.Wall <= 0 {
		t.Errorf("%v, %+v", err, d)
	}
	cmd = command(t, "run", "nothing")
	if _, err := cmd.Output(); err == nil || cmd.ProcessState.ExitCode() != terminal.ExitUsage {
		t.Errorf("an unknown program ends with %v", err)
	}
	// GOMEMLIMIT overrides the available memory.
	cmd = command(t, "run", "barriertest", "--ranks", "100k")
	cmd.Env = append(cmd.Env, "GOMEMLIMIT=200MiB")
	text, err = cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != terminal.ExitUsage || !bytes.Contains(text, []byte("200 MiB are available (GOMEMLIMIT)")) {
		t.Errorf("379 MiB in 200 MiB: %v, %s", err, text)
	}
}
