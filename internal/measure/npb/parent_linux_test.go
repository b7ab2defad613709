package main

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A shell that is killed can end nothing. What it has started ends all the same, and what that
// runs.
func TestEndsWithItsParent(t *testing.T) {
	const variable = "NPB_TEST_DIRECTORY"
	if dir := os.Getenv(variable); dir != "" {
		ended := make(chan os.Signal, 1)
		signal.Notify(ended, syscall.SIGTERM)
		if err := endWithParent(); err != nil {
			t.Fatal(err)
		}
		go new(settings).run(time.Minute, "sh", "-c", "trap 'echo > "+dir+"/child; exit' TERM; echo > "+dir+"/there; while :; do sleep 0.05; done")
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatal("nothing has ended this process")
		}
		return // without a word to what runs
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	shell := exec.Command("sh", "-c", `"$0" -test.run '^TestEndsWithItsParent$' & wait`, self)
	shell.Env = append(os.Environ(), variable+"="+dir)
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	await := func(file string) {
		t.Helper()
		for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
				return
			}
			if time.Since(start) > 30*time.Second {
				t.Fatalf("no file %s after 30 s", file)
			}
		}
	}
	await("there")
	if err := shell.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = shell.Wait()
	await("child")
}
