package main

import (
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
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
