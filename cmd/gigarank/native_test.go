//go:build cgo && linux && (amd64 || arm64)

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A program in C is built, checked and run by the command. Its fingerprint is that of the same
// program in Go.
func TestNativeProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "barriertest")
	foreign, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	line := func(wanted int, arguments ...string) string {
		t.Helper()
		c, stdout, stderr := testConsole(nil)
		if code := execute(arguments, c); code != wanted {
			t.Fatalf("%q: exit code %d, want %d\n%s%s", arguments, code, wanted, stdout, stderr)
		}
		return stdout.String() + stderr.String()
	}
	source := filepath.Join(t.TempDir(), "ends.c")
	if err := os.WriteFile(source, []byte("int main(void) { return 3; }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	line(exitDone, "cc", "-O2", "-Wall", "-Werror", filepath.Join("..", "..", "examples", "c", "barriertest.c"), "-o", program)
	if text := line(exitDone, "check", program); !strings.Contains(text, "no faults") {
		t.Errorf("check says %q", text)
	}
	fingerprint := regexp.MustCompile(`fingerprint +\w+`)
	inGo := fingerprint.FindString(line(exitDone, "run", "barriertest", "--ranks", "100", "--iterations", "3"))
	for _, stacks := range []string{"own", "copied", "auto"} {
		text := line(exitDone, "run", program, "--ranks", "100", "--stack", "64KiB", "--stacks", stacks, "--", "3")
		if !strings.Contains(text, "3 barriers of 100 ranks\n") || !strings.Contains(text, "as native LPs") || fingerprint.FindString(text) != inGo {
			t.Errorf("stacks %s: the run says\n%swant %s", stacks, text, inGo)
		}
	}
	for _, c := range []struct {
		says      string
		arguments []string
	}{
		{"--stack: a stack of 1KiB: use at least 16 KiB", []string{"run", program, "--stack", "1KiB"}},
		{`unknown way to have stacks "new"`, []string{"run", program, "--stacks", "new"}},
		{"--lp: program " + program + " has no event form: use native", []string{"run", program, "--lp", "event"}},
		{"--iterations: " + program + " takes arguments of its own", []string{"run", program, "--iterations", "3"}},
		{"--stack: barriertest runs on no C stack", []string{"run", "barriertest", "--stack", "1MiB"}},
		{"was not linked by gigarank cc", []string{"run", foreign}},
		{"no such file", []string{"check", program + "2"}},
		{"barriertest takes flags alone, and programs in files take arguments: leave out more; see gigarank run --help", []string{"run", "barriertest", "more"}},
		{source + " is no program (not in the ELF format): build one with gigarank cc", []string{"run", source}},
	} {
		if text := line(exitUsage, c.arguments...); !strings.Contains(text, c.says) {
			t.Errorf("%q: %q, want %q", c.arguments, text, c.says)
		}
	}
	line(exitDone, "cc", source, "-o", program)
	if text := line(exitProgram, "run", program, "--ranks", "2"); !strings.Contains(text, "the program ended with exit code 3") {
		t.Errorf("a program that fails says %q", text)
	}
	line(1, "cc", source+".none")
}

// Run says, like check, which functions of a program have effects that the ranks of a process share.
func TestRunNotesWhatRanksShare(t *testing.T) {
	dir := t.TempDir()
	source, program := filepath.Join(dir, "nice.c"), filepath.Join(dir, "nice")
	text := "#include <mpi.h>\n#include <unistd.h>\nint main(int n, char **all) { MPI_Init(&n, &all); if (n > 5) nice(1); return MPI_Finalize(); }\n"
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	const noted = "nice uses nice: limits concern the whole simulator\n"
	for _, arguments := range [][]string{{"cc", source, "-o", program}, {"check", program}, {"run", program, "--ranks", "2"}} {
		c, stdout, stderr := testConsole(nil)
		if code := execute(arguments, c); code != exitDone {
			t.Fatalf("%q: exit code %d\n%s%s", arguments, code, stdout, stderr)
		}
		if arguments[0] == "run" && stderr.String() != "gigarank: "+filepath.Join(dir, noted) {
			t.Errorf("run says %q on standard error, want %q", stderr, noted)
		}
		if arguments[0] == "check" && !strings.HasSuffix(stdout.String(), "note: it uses nice: limits concern the whole simulator\n") {
			t.Errorf("check says %q", stdout)
		}
	}
}

// The program in C that README.md builds and runs prints what it shows, but for the cost of the simulation.
func TestReadmeRunsAProgramInC(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Programs in C, C++ and Fortran\n")
	block := strings.Split(section, "```\n")
	if len(block) < 4 {
		t.Fatal("README.md has no commands and output in its section on programs in C")
	}
	source, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Symlink(source, "examples"); err != nil {
		t.Fatal(err)
	}
	printed := ""
	for _, command := range strings.Split(strings.TrimSpace(block[1]), "\n") {
		words := strings.Fields(command)
		if words[0] != "./gigarank" {
			continue
		}
		if words[1] == "run" {
			words = append(words, "--engines", "2")
		}
		c, stdout, stderr := testConsole(nil)
		if code := execute(words[1:], c); code != exitDone {
			t.Fatalf("%s: exit code %d\n%s%s", command, code, stdout, stderr)
		}
		printed += stdout.String()
	}
	lines := regexp.MustCompile(`(?m)^(pi is .*|.* as native LPs .*|0 +pi( +[0-9.]+us){3}|virtual time .*|fingerprint .*)`)
	is, shown := lines.FindAllString(printed, -1), lines.FindAllString(block[3], -1)
	if len(is) != 5 || !slices.Equal(is, shown) {
		t.Errorf("the commands of README.md print\n%q\nit shows\n%q", is, shown)
	}
}

// The CPU times of a program in C are recorded and played back as those of one in Go are.
func TestNativeRecording(t *testing.T) {
	dir := t.TempDir()
	program, file := filepath.Join(dir, "picalc"), filepath.Join(dir, "picalc.cpu")
	fingerprint := regexp.MustCompile(`fingerprint +\w+`)
	line := func(arguments ...string) string {
		t.Helper()
		c, stdout, stderr := testConsole(nil)
		if code := execute(arguments, c); code != exitDone {
			t.Fatalf("%q: exit code %d\n%s%s", arguments, code, stdout, stderr)
		}
		return fingerprint.FindString(stdout.String() + stderr.String())
	}
	line("cc", "-O2", filepath.Join("..", "..", "examples", "c", "picalc.c"), "-o", program)
	recorded := line("run", program, "--ranks", "8", "--cpu-record", file)
	for _, engines := range []string{"1", "2", "4"} {
		if again := line("run", program, "--ranks", "8", "--cpu-replay", file, "--engines", engines); again != recorded {
			t.Errorf("%s engines: %s, recorded %s", engines, again, recorded)
		}
	}
	if ignored := line("run", program, "--ranks", "8"); ignored == recorded {
		t.Error("the measured run is that without CPU times")
	}
}
