package main

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"gigarank/cmd/gigarank/internal/terminal"
)

// documentOf runs a command line of run and returns its document.
func documentOf(t *testing.T, args ...string) document {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.json")
	args = append([]string{"run"}, append(args, "--json", file, "--progress", "none")...)
	if text, err := command(t, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", args, err, text)
	}
	return readDocument(t, file)
}

// A recording gives the virtual times of the run that made it, on any number of engines,
// and those of another machine.
func TestRecordingsOfRuns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.cpu")
	run := []string{"picalc", "--ranks", "6"}
	ignored := documentOf(t, run...)
	recorded := documentOf(t, append(run, "--cpu-record", file)...)
	if ignored.CPU != "ignored" || recorded.CPU != "measured" || recorded.VirtualTime <= ignored.VirtualTime {
		t.Errorf("%s: %d ps; %s: %d ps, want more", ignored.CPU, ignored.VirtualTime, recorded.CPU, recorded.VirtualTime)
	}
	for _, engines := range []string{"1", "2", "3"} {
		again := documentOf(t, append(run, "--cpu-replay", file, "--engines", engines)...)
		if again.Fingerprint != recorded.Fingerprint || again.CPU != "replayed" {
			t.Errorf("%s engines: fingerprint %s, %s; recorded %s", engines, again.Fingerprint, again.CPU, recorded.Fingerprint)
		}
	}
	for _, other := range [][]string{{"--seed", "7"}, {"--iterations", "1"}} {
		if again := documentOf(t, append(append(run, "--cpu-replay", file), other...)...); again.Fingerprint != recorded.Fingerprint {
			t.Errorf("with %q the fingerprint is %s, recorded %s", other, again.Fingerprint, recorded.Fingerprint)
		}
	}
	if later := documentOf(t, append(run, "--cpu-replay", file, "--compute", "1s")...); later.VirtualTime < recorded.VirtualTime+1e12 {
		t.Errorf("with declared computing of 1 s the run takes %d ps, recorded %d", later.VirtualTime, recorded.VirtualTime)
	}
	machine := filepath.Join(t.TempDir(), "slow.yaml")
	if err := os.WriteFile(machine, []byte("name: slow\ncpu_ratio: 1000\nnetwork: {model: flat, latency: 1us}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	slow := documentOf(t, append(run, "--cpu-replay", file, "--machine", machine)...)
	if least := 100 * (recorded.VirtualTime - ignored.VirtualTime); slow.VirtualTime < least {
		t.Errorf("on cores that take 1000 times as long the run takes %d ps, want at least %d", slow.VirtualTime, least)
	}
}

func TestWrongRecordingsAreRefused(t *testing.T) {
	dir := t.TempDir()
	file, cut, other := filepath.Join(dir, "m.cpu"), filepath.Join(dir, "cut.cpu"), filepath.Join(dir, "other.cpu")
	documentOf(t, "matmul", "--ranks", "6", "--cpu-record", file)
	documentOf(t, "picalc", "--ranks", "6", "--cpu-record", other)
	fifo := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cut, text[:len(text)-1], 0o666); err != nil {
		t.Fatal(err)
	}
	// The first file of a recording by two processes.
	twice, both := filepath.Join(dir, "twice.cpu"), bytes.Replace(text, []byte(`"processes":1`), []byte(`"processes":2`), 1)
	both = binary.LittleEndian.AppendUint32(both[:len(both)-4], crc32.ChecksumIEEE(both[:len(both)-4]))
	for name, text := range map[string][]byte{twice: text, twice + ".0": both, file + ".0": text} {
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	documentOf(t, "matmul", "--ranks", "6", "--cpu-replay", file) // beside another of one process
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--ranks", "6", "--cpu-replay", twice}, "twice.cpu.0, of a recording by 2 processes: remove its files, or give another name"},
		{[]string{"--ranks", "6", "--cpu-record", twice}, "twice.cpu.0, of a recording by 2 processes: remove its files, or give another name"},
		{[]string{"--ranks", "6", "--cpu-replay", filepath.Join(file, "under")}, "m.cpu/under: not a directory"},
		{[]string{"--ranks", "6", "--cpu-replay", cut}, "is damaged, or its end is missing"},
		{[]string{"--ranks", "6", "--cpu-replay", other}, "is a recording of picalc --iterations 1 --payload 0 on 6 ranks: give that program, or record it again"},
		{[]string{"--ranks", "7", "--cpu-replay", file}, "on 6 ranks: give --ranks 6 in place of 7, or record it again"},
		{[]string{"--ranks", "6", "--cpu-replay", file, "--iterations", "2"}, "give --iterations 1 --payload 512 in place of --iterations 2 --payload 512, or record it again"},
		{[]string{"--ranks", "6", "--cpu-replay", file, "--payload", "8"}, "in place of --iterations 1 --payload 8"},
		{[]string{"--ranks", "7", "--cpu-replay", file, "--iterations", "2"}, "give --ranks 6 in place of 7 and --iterations 1"},
		{[]string{"--ranks", "6", "--cpu-replay", filepath.Join(dir, "none")}, "neither "},
		{[]string{"--ranks", "6", "--cpu-replay", dir}, "is no regular file"},
		{[]string{"--ranks", "6", "--cpu-replay", fifo}, "is no regular file"},
		{[]string{"--ranks", "6", "--cpu-replay", file, "--cpu-record", cut}, "nothing to measure"},
		{[]string{"--ranks", "6", "--cpu-replay", file, "--cpu", "measured"}, "leave one of the two out"},
		{[]string{"--ranks", "6", "--cpu", "ignored", "--cpu-record", cut}, "leave --cpu out"},
		{[]string{"--ranks", "6", "--cpu", "guessed"}, "there are: measured, ignored"},
		{[]string{"--ranks", "6", "--cpu-record", dir}, "is a directory"},
	} {
		cmd := command(t, append([]string{"run", "matmul"}, c.args...)...)
		text, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != terminal.ExitUsage || !strings.Contains(string(text), c.want) {
			t.Errorf("%v ends with %d and says %q, want %q", c.args, code, text, c.want)
		}
	}
}

// Where the system forbids what keeps bursts free of interruptions, a run with measured CPU times says
// so if there is no processor beside those of the engines.
func TestInterruptedCPUTimesAreTold(t *testing.T) {
	forbidden := &cpuTimes{mode: cpuMeasured, refused: syscall.EPERM}
	for _, c := range []struct {
		times               *cpuTimes
		engines, processors int
		told                bool
	}{
		{nil, 1, 1, false},
		{&cpuTimes{mode: cpuMeasured}, 1, 1, false},
		{forbidden, 1, 2, false},
		{forbidden, 1, 1, true},
		{forbidden, 4, 2, true},
	} {
		told := c.times.warning(c.engines, c.processors)
		if (told != "") != c.told || c.told && !strings.Contains(told, syscall.EPERM.Error()) {
			t.Errorf("%d engines on %d processors: told %q", c.engines, c.processors, told)
		}
	}
}
