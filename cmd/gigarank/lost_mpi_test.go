//go:build mpi

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// processOf returns the host process of a number that has a text among its arguments.
func processOf(t *testing.T, host, argument string) int {
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range environments {
		environment, _ := os.ReadFile(path) // of a process that has ended there is none
		arguments, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		variables := strings.Split(string(environment), "\x00")
		if slices.Contains(variables, "OMPI_COMM_WORLD_RANK="+host) && bytes.Contains(arguments, []byte(argument)) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatalf("no host process %s", host)
	return 0
}

// A host process that is killed is named by the others, with and without a launcher that then
// ends them, whoever of them notices it. The document is left, even if it is host 0.
func TestLostHostIsNamed(t *testing.T) {
	for _, c := range []struct {
		launcher []string
		hosts    int
		victim   string
		want     string
		limit    time.Duration
	}{
		{nil, 4, "2", "host process 2 on ", 6 * time.Second},
		{nil, 3, "0", "host process 0 does not answer", 6 * time.Second},
		// In the tree, 5 is a child of 1, and 0 does not hear it.
		{[]string{"--enable-recovery"}, 6, "5", "engine 5 on ", 9 * time.Second},
	} {
		out := filepath.Join(t.TempDir(), "out.json")
		cmd := underMPI(t, c.hosts, strings.Fields("run barriertest --ranks 64 --lp event --iterations 1G -v --lost-after 3s --json "+out)...)
		cmd.Args = slices.Insert(cmd.Args, 1, c.launcher...)
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		readUntil(t, stderr, "running")
		if err := unix.Kill(processOf(t, c.victim, out), unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if _, took := endIn(cmd); took > within(t, c.limit) {
			t.Errorf("%s of %d: the others end after %v", c.victim, c.hosts, took)
		}
		if d := readDocument(t, out); d.Complete || !strings.Contains(d.Reason, c.want) {
			t.Errorf("%s of %d: complete %t, reason %q, want %q", c.victim, c.hosts, d.Complete, d.Reason, c.want)
		}
	}
}
