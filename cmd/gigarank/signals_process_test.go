package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
)

// withHangup makes children of the test get SIGHUP, also where the tests run under nohup.
func withHangup(t *testing.T) {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, unix.SIGHUP)
	t.Cleanup(func() { signal.Stop(caught) })
}

// endless returns a run that only a signal ends, and the file of its document.
func endless(t *testing.T) (cmd *exec.Cmd, out string) {
	out = filepath.Join(t.TempDir(), "out.json")
	return command(t, "run", "barriertest", "--ranks", "8", "--iterations", "1G", "--engines", "1", "-v", "--json", out), out
}

// startReading starts a command and waits until its standard error has a pattern.
func startReading(t *testing.T, cmd *exec.Cmd, pattern string) {
	t.Helper()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	readUntil(t, stderr, pattern)
}

// Each of the signals by which terminals and schedulers end a job ends a run in order.
func TestSignalsEndARun(t *testing.T) {
	withHangup(t)
	for _, one := range host.EndingSignals {
		cmd, out := endless(t)
		startReading(t, cmd, "running")
		if err := cmd.Process.Signal(one); err != nil {
			t.Fatal(err)
		}
		if code, took := endIn(cmd); code != terminal.ExitHost || took > within(t, 2*time.Second) {
			t.Errorf("%v: exit code %d after %v, want 3 within 2 s", one, code, took)
		}
		want := "interrupted by " + unix.SignalName(one.(unix.Signal))
		if d := readDocument(t, out); d.Complete || d.Reason != want {
			t.Errorf("%v: complete %t, reason %q", one, d.Complete, d.Reason)
		}
	}
}

// Under nohup a run outlives its terminal.
func TestNohup(t *testing.T) {
	cmd, out := endless(t)
	cmd.Args = append([]string{"sh", "-c", `trap '' HUP; exec "$@"`, "sh"}, cmd.Args...)
	var err error
	if cmd.Path, err = exec.LookPath("sh"); err != nil {
		t.Fatal(err)
	}
	startReading(t, cmd, "running")
	for _, one := range []os.Signal{unix.SIGHUP, unix.SIGTERM} {
		if err := cmd.Process.Signal(one); err != nil {
			t.Fatal(err)
		}
	}
	if code, _ := endIn(cmd); code != terminal.ExitHost {
		t.Errorf("exit code %d, want 3", code)
	}
	if d := readDocument(t, out); d.Reason != "interrupted by SIGTERM" {
		t.Errorf("reason %q, want only SIGTERM to count", d.Reason)
	}
}

// A signal ends the wait for an input that nobody writes.
func TestSignalWhileReading(t *testing.T) {
	for _, line := range []string{
		"run barriertest --machine FIFO",
		"run barriertest --noise trace:FIFO",
		"run barriertest --mapping file:FIFO",
		"study barrier --ranks 8 --machine FIFO --out DIR",
		"study scaling barrier --hosts 1 --lambda 8 --machine FIFO --out DIR",
		"plan barriertest --machine FIFO",
		"machine check FIFO",
		"machine show FIFO",
		"validate mpiping --machine FIFO",
		"validate mpiping --machine xt5 --measured FIFO",
	} {
		dir := t.TempDir()
		fifo := filepath.Join(dir, "fifo")
		if err := unix.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		line := strings.NewReplacer("FIFO", fifo, "DIR", filepath.Join(dir, "study")).Replace(line)
		cmd := command(t, strings.Fields(line)...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		writer, err := os.OpenFile(fifo, os.O_WRONLY, 0) // returns when the command reads
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(unix.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		if code, took := endIn(cmd); code != terminal.ExitHost || took > within(t, 2*time.Second) || stderr.String() != "gigarank: interrupted by SIGUSR1\n" {
			t.Errorf("%s: exit code %d after %v; it says %q", line, code, took, stderr.String())
		}
		_ = writer.Close()
	}
}

// A reader of the output that has read enough does not end a run that writes a document.
// Without one, nothing would be left of the run, and it ends.
func TestOutputWithoutAReader(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.json")
	for _, c := range []struct {
		args string
		code int // -1: by a signal
	}{
		{"--iterations 20K --json " + out, terminal.ExitDone},
		{"--iterations 1G", -1},
	} {
		cmd := command(t, append(strings.Fields("run picalc --ranks 2 --engines 1 --progress none"), strings.Fields(c.args)...)...)
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if err := stdout.Close(); err != nil {
			t.Fatal(err)
		}
		if code, _ := endIn(cmd); code != c.code {
			t.Errorf("%s: exit code %d, want %d", c.args, code, c.code)
		}
	}
	if d := readDocument(t, out); !d.Complete || len(d.Iterations) != 20_000 {
		t.Errorf("complete %t, %d iterations", d.Complete, len(d.Iterations))
	}
}

// waitUntilFull waits until the contents of a pipe have not grown for a while: its
// writer waits for a reader.
func waitUntilFull(t *testing.T, pipe *os.File) {
	last, since := 0, time.Now()
	for deadline := time.Now().Add(10 * time.Second); time.Since(since) < 200*time.Millisecond; time.Sleep(time.Millisecond) {
		held, err := unix.IoctlGetInt(int(pipe.Fd()), unix.TIOCINQ)
		if err != nil {
			t.Fatal(err)
		}
		if held != last || held == 0 {
			last, since = held, time.Now()
		}
		if time.Now().After(deadline) {
			t.Fatalf("after 10 s the pipe still fills, it holds %d bytes", held)
		}
	}
}

// A run that is stopped while nobody reads its output leaves its document.
func TestTerminateWithoutAReader(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.json")
	cmd := command(t, "run", "picalc", "--ranks", "2", "--iterations", "1G", "--engines", "1", "--progress", "none", "--json", out)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var read bytes.Buffer
	for read.Len() == 0 { // until it has begun
		if _, err := io.CopyN(&read, stdout, 1); err != nil {
			t.Fatal(err)
		}
	}
	waitUntilFull(t, stdout.(*os.File))
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(out); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no document within 10 s")
		}
	}
	d := readDocument(t, out)
	if d.Complete || d.Reason != "interrupted by SIGTERM" || len(d.Iterations) == 0 {
		t.Errorf("complete %t, reason %q, %d iterations; want an incomplete run with some", d.Complete, d.Reason, len(d.Iterations))
	}
	if _, err := io.Copy(&read, stdout); err != nil {
		t.Fatal(err)
	}
	if code, _ := endIn(cmd); code != terminal.ExitHost || !bytes.Contains(read.Bytes(), []byte("INCOMPLETE")) {
		t.Errorf("exit code %d, want 3 and a summary that says INCOMPLETE", code)
	}
	if lines := bytes.Count(read.Bytes(), []byte("pi is")); lines < len(d.Iterations) {
		t.Errorf("%d lines were printed in %d iterations", lines, len(d.Iterations))
	}
}
