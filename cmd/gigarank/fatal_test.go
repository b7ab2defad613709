package main

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	stdsync "sync"
	"testing"

	"gigarank/mpivirt"
)

// fatal are programs that make Go's runtime end the process.
var fatal = map[string]mpivirt.Program{
	"stack overflow": inRank(func(*mpivirt.Rank) error {
		debug.SetMaxStack(1 << 20)
		return errorOfDepth(0)
	}),
	"unlock": inRank(func(*mpivirt.Rank) error {
		var lock stdsync.Mutex
		lock.Unlock()
		return nil
	}),
	"outside": inRank(func(*mpivirt.Rank) error {
		go panic("outside of any rank")
		select {}
	}),
}

// errorOfDepth calls itself until the stack ends.
func errorOfDepth(depth int) error {
	if depth < 0 { // never
		return nil
	}
	var frame [64]byte
	frame[depth%64] = byte(depth)
	err := errorOfDepth(depth + 1)
	runtime.KeepAlive(&frame)
	return err
}

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
		t.Run(name, func(t *testing.T) { checkFatal(t, cmd, want) })
	}
}

// checkFatal runs a command and reports faults of its end by a fatal error.
func checkFatal(t *testing.T, cmd *exec.Cmd, wanted ...string) {
	output, _ := cmd.CombinedOutput()
	for _, want := range wanted {
		if code := cmd.ProcessState.ExitCode(); code != exitHost || !bytes.Contains(output, []byte(want)) {
			t.Errorf("exit code %d, want 3 and %q in\n%.2000s", code, want, output)
		}
	}
	if n := bytes.Count(output, []byte("\ngoroutine ")); n != 1 {
		t.Errorf("%d stacks, want 1", n)
	}
	if _, after, found := bytes.Cut(output, []byte(afterFatal)); !found || bytes.Count(after, []byte("\n")) != 1 {
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
