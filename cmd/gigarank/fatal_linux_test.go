package main

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
)

// A fatal error of the runtime ends the process with 3: 2 would say that nothing was run.
// The report has the failing goroutine's stack only, however many ranks there are.
func TestFatalErrorsExitWith3(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"stack overflow": "stack exceeds 1048576-byte limit",
		"unlock":         "fatal error: sync: unlock of unlocked mutex",
		"outside":        "panic: outside of any rank",
	} {
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env = append(os.Environ(), beFailing+"="+name)
		t.Run(name, func(t *testing.T) { checkFatal(t, cmd, 1, want) })
	}
}

// checkFatal runs a command and reports faults of its end by a fatal error, whose report has so many stacks.
func checkFatal(t *testing.T, cmd *exec.Cmd, stacks int, wanted ...string) {
	output, _ := cmd.CombinedOutput()
	for _, want := range wanted {
		if code := cmd.ProcessState.ExitCode(); code != terminal.ExitHost || !bytes.Contains(output, []byte(want)) {
			t.Errorf("exit code %d, want 3 and %q in\n%.2000s", code, want, output)
		}
	}
	if n := bytes.Count(output, []byte("\ngoroutine ")); n != stacks {
		t.Errorf("%d stacks, want %d", n, stacks)
	}
	if _, after, found := bytes.Cut(output, []byte("gigarank: the process has failed, as the lines above say.")); !found || bytes.Count(after, []byte("\n")) != 1 {
		t.Errorf("the report ends with %q", output[max(0, len(output)-100):])
	}
}

// A user who asks for the runtime's own report gets it.
func TestTracebackOfTheUser(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), beFailing+"=outside", "GOTRACEBACK=all")
	output, _ := cmd.CombinedOutput()
	if n := bytes.Count(output, []byte("\ngoroutine ")); n < 2 {
		t.Errorf("%d stacks, want all:\n%s", n, output)
	}
}
