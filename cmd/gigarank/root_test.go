package main

import (
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/mpivirt"
)

func TestHelpNamesTheExitCodes(t *testing.T) {
	for _, line := range []string{"--help", "run --help"} {
		c, stdout, _ := terminaltest.Console(nil)
		if code := execute(strings.Fields(line), c); code != terminal.ExitDone {
			t.Errorf("%s ends with %d", line, code)
		}
		if !strings.Contains(stdout.String(), terminal.ExitHelp) {
			t.Errorf("%s does not name the exit codes:\n%s", line, stdout)
		}
	}
}

// A panic of gigarank is a failure of the host, not wrong usage, whichever simulation it comes from.
func TestPanicsAreFaults(t *testing.T) {
	fault := &mpivirt.Fault{Cause: "of a simulation"}
	var none []int
	for text, call := range map[string]func() error{
		"gigarank itself failed, which is a bug: runtime error: index out of range": func() error { none[0] = 1; return nil },
		"gigarank itself failed, which is a bug: of a simulation":                   func() error { panic(fault) },
	} {
		if err := unlessItFails(call); terminal.ExitCode(err) != terminal.ExitHost || !strings.HasPrefix(err.Error(), text) {
			t.Errorf("exit code %d, %v", terminal.ExitCode(err), err)
		}
	}
	if err := unlessItFails(func() error { return nil }); err != nil {
		t.Error(err)
	}
}

// A command that is over leaves no memory behind.
func TestCommandsAreFreed(t *testing.T) {
	var freed atomic.Bool
	func() {
		c, _, _ := terminaltest.Console(nil)
		root := newRoot(c)
		runtime.AddCleanup(root, func(struct{}) { freed.Store(true) }, struct{}{})
		root.SetArgs([]string{"version"})
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
	}()
	for deadline := time.Now().Add(time.Minute); !freed.Load(); runtime.GC() {
		if time.Now().After(deadline) {
			t.Fatal("the commands are kept after the end of one")
		}
	}
}

// The help of a command with many flags has them in groups, each flag but --help in one of them.
func TestHelpGroupsFlags(t *testing.T) {
	headings := []string{groupSimulated, groupMachine, groupResults, "Native programs", groupHosting, groupFaults}
	for line, groups := range map[string][]string{
		"run --help":   headings,
		"plan --help":  append(slices.Clone(headings), "Hosts to plan for"),
		"study --help": {"What is studied", groupMachine, groupResults, groupHosting, groupFaults},
	} {
		c, stdout, _ := terminaltest.Console(nil)
		if code := execute(strings.Fields(line), c); code != terminal.ExitDone {
			t.Errorf("%s ends with %d", line, code)
		}
		rest := stdout.String()
		for _, heading := range groups {
			_, after, found := strings.Cut(rest, "\n"+heading+":\n  ")
			if !found {
				t.Errorf("%s has no group %q in its place:\n%s", line, heading, stdout)
				continue
			}
			rest = after
		}
		if _, others, found := strings.Cut(rest, "\nOther flags:\n"); !found || strings.Count(others, " --") != strings.Count(others, " --help") {
			t.Errorf("%s has flags in no group:\n%s", line, others)
		}
	}
}
