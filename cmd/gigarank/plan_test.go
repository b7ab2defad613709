package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// More ranks than one host has memory for get more hosts, each core of which has a
// host process.
func TestPlanAllotsHosts(t *testing.T) {
	text, err := command(t, "plan", "--ranks", "1G", "--lp", "event", "--memory", "8GiB", "--cores", "4").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`hosts +2, with 4 cores`, `--nodes=2 --ntasks-per-node=4 --cpus-per-task=1`, `select=2:ncpus=4:mpiprocs=4:`,
		`srun gigarank run barriertest --ranks 1G --machine xt5 --lp event --json`, `mpiexec -n 8 `} {
		if !regexp.MustCompile(want).Match(text) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

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
