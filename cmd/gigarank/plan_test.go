package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestPlanRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"--ranks 1G --lp event --memory 8GiB --hosts 1": `--hosts: 1 host with 8.00 GiB have not the memory`,
		"--memory 8 --cores x":                          `--cores`,
		"--ranks 0 nonsense":                            `unknown program "nonsense"`,
		"--memory 10MiB":                                `--memory: 10.0 MiB for`,
	} {
		cmd := command(t, append([]string{"plan"}, strings.Fields(args)...)...)
		text, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != exitUsage || !bytes.Contains(text, []byte(want)) {
			t.Errorf("plan %s: %v, %s; want exit code %d and %q", args, err, text, exitUsage, want)
		}
	}
}
