package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// Everything arrives in order, however slow the reader is.
func TestOutletKeepsTheOrder(t *testing.T) {
	reader, writer := io.Pipe()
	o := newOutlet(writer)
	var want strings.Builder
	for i := range 1000 {
		text := strings.Repeat(string(rune('a'+i%26)), i)
		want.WriteString(text)
		o.print(text)
	}
	got := make(chan string)
	go func() {
		all, _ := io.ReadAll(reader)
		got <- string(all)
	}()
	o.flush()
	_ = writer.Close()
	if all := <-got; all != want.String() {
		t.Errorf("%d bytes arrived, want %d", len(all), want.Len())
	}
}

// print waits when the reader stands still, and no longer once the outlet is loose.
func TestOutletWaitsForItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		o := newOutlet(writer)
		printed := 0
		go func() {
			for range 5 {
				o.print(strings.Repeat("x", outletLimit))
				printed++
			}
		}()
		synctest.Wait()
		if printed != 2 { // one being written, one waiting
			t.Errorf("%d prints went on, want 2", printed)
		}
		o.loosen()
		synctest.Wait()
		if printed != 5 {
			t.Errorf("%d prints went on after the outlet was loosened, want 5", printed)
		}
		go func() {
			o.flush()
			_ = writer.Close()
		}()
		if all, _ := io.ReadAll(reader); len(all) != 5*outletLimit {
			t.Errorf("%d bytes arrived, want all", len(all))
		}
	})
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
	if code, _ := endIn(cmd); code != exitHost || !bytes.Contains(read.Bytes(), []byte("INCOMPLETE")) {
		t.Errorf("exit code %d, want 3 and a summary that says INCOMPLETE", code)
	}
	if lines := bytes.Count(read.Bytes(), []byte("pi is")); lines < len(d.Iterations) {
		t.Errorf("%d lines were printed in %d iterations", lines, len(d.Iterations))
	}
}
