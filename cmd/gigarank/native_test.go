//go:build cgo && linux && (amd64 || arm64)

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
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
		c, stdout, stderr := terminaltest.Console(nil)
		if code := execute(arguments, c); code != wanted {
			t.Fatalf("%q: exit code %d, want %d\n%s%s", arguments, code, wanted, stdout, stderr)
		}
		return stdout.String() + stderr.String()
	}
	source := filepath.Join(t.TempDir(), "ends.c")
	if err := os.WriteFile(source, []byte("int main(void) { return 3; }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	line(terminal.ExitDone, "cc", "-O2", "-Wall", "-Werror", filepath.Join("..", "..", "examples", "c", "barriertest.c"), "-o", program)
	if text := line(terminal.ExitDone, "check", program); !strings.Contains(text, "no faults") {
		t.Errorf("check says %q", text)
	}
	fingerprint := regexp.MustCompile(`fingerprint +\w+`)
	inGo := fingerprint.FindString(line(terminal.ExitDone, "run", "barriertest", "--ranks", "100", "--iterations", "3"))
	for _, stacks := range []string{"own", "copied", "auto"} {
		text := line(terminal.ExitDone, "run", program, "--ranks", "100", "--stack", "64KiB", "--stacks", stacks, "--", "3")
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
		{source + " is source code in C: build it with gigarank cc -o PROGRAM ends.c", []string{"run", source}},
		{"is an interpreter; a rank is a program in C, C++ or Fortran that", []string{"run", "sh", "script.sh"}},
		{"is an interpreter; a rank is a program in C, C++ or Fortran that", []string{"run", "python3", "script.py"}},
		{"unknown shorthand flag: 'c' in -c; sh is no program of gigarank list, and /", []string{"run", "sh", "-c", "exit"}},
		{"is a launcher; gigarank run starts the ranks itself", []string{"run", "mpirun", "./ring"}},
		{"arguments of " + program + " that begin with a dash come after --", []string{"run", program, "--times", "3"}},
		{"ls was not linked by gigarank cc", []string{"run", "ls", "x"}},
		{"unknown program \"barriertet\": did you mean barriertest?", []string{"run", "barriertet", "x"}},
	} {
		if text := line(terminal.ExitUsage, c.arguments...); !strings.Contains(text, c.says) {
			t.Errorf("%q: %q, want %q", c.arguments, text, c.says)
		}
	}
	line(terminal.ExitDone, "cc", source, "-o", program)
	if text := line(terminal.ExitProgram, "run", program, "--ranks", "2"); !strings.Contains(text, "the program ended with exit code 3") {
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
		c, stdout, stderr := terminaltest.Console(nil)
		if code := execute(arguments, c); code != terminal.ExitDone {
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
		c, stdout, stderr := terminaltest.Console(nil)
		if code := execute(words[1:], c); code != terminal.ExitDone {
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
		c, stdout, stderr := terminaltest.Console(nil)
		if code := execute(arguments, c); code != terminal.ExitDone {
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

// A recording of a program in C is one of a file's bytes and its arguments, wherever the file lies.
func TestNativeRecordingOfAnotherProgram(t *testing.T) {
	dir := t.TempDir()
	program, file := filepath.Join(dir, "picalc"), filepath.Join(dir, "picalc.cpu")
	fingerprint := regexp.MustCompile(`fingerprint +\w+`)
	line := func(wanted int, arguments ...string) string {
		t.Helper()
		c, stdout, stderr := terminaltest.Console(nil)
		if code := execute(arguments, c); code != wanted {
			t.Fatalf("%q: exit code %d, want %d\n%s%s", arguments, code, wanted, stdout, stderr)
		}
		return stdout.String() + stderr.String()
	}
	build := func(optimized, name string) {
		t.Helper()
		line(terminal.ExitDone, "cc", optimized, filepath.Join("..", "..", "examples", "c", "picalc.c"), "-o", name)
	}
	build("-O2", program)
	elsewhere, renamed, rebuilt := filepath.Join(t.TempDir(), "picalc"), filepath.Join(dir, "pi"), filepath.Join(t.TempDir(), "picalc")
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{elsewhere, renamed} {
		if err := os.WriteFile(name, text, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	build("-O0", rebuilt)
	replay := func(wanted int, program string, arguments ...string) string {
		t.Helper()
		return line(wanted, append([]string{"run", "--ranks", "4", "--cpu-replay", file, "--", program}, arguments...)...)
	}
	recorded := line(terminal.ExitDone, "run", "--ranks", "4", "--cpu-record", file, "--", program, "10", "a b")
	for _, name := range []string{program, elsewhere} {
		if again := replay(terminal.ExitDone, name, "10", "a b"); fingerprint.FindString(again) != fingerprint.FindString(recorded) {
			t.Errorf("%s gives\n%s\nrecorded is\n%s", name, again, recorded)
		}
	}
	for _, c := range []struct {
		program   string
		arguments []string
		says      string
	}{
		{program, []string{"1000", "a b"}, "is a recording of picalc 10 'a b' on 4 ranks: give the arguments 10 'a b' in place of 1000 'a b', or record it again"},
		{program, []string{"10", "a", "b"}, "in place of 10 a b"},
		{program, nil, "give the arguments 10 'a b' in place of none"},
		{renamed, []string{"10", "a b"}, "give that program, or record it again"},
		{rebuilt, []string{"10", "a b"}, "give the file picalc as it was then, whose SHA-256 is another"},
		{rebuilt, []string{"10"}, "in place of 10 and the file picalc as it was then"},
	} {
		if text := replay(terminal.ExitUsage, c.program, c.arguments...); !strings.Contains(text, c.says) {
			t.Errorf("%s %q is refused by %q, want %q", c.program, c.arguments, text, c.says)
		}
	}
	line(terminal.ExitDone, "run", "--ranks", "4", "--cpu-record", file, "--", program)
	if text := replay(terminal.ExitUsage, program, "10"); !strings.Contains(text, "is a recording of picalc on 4 ranks: give no arguments in place of 10") {
		t.Errorf("arguments where none were recorded are refused by %q", text)
	}
	if text := line(terminal.ExitUsage, "run", "picalc", "--ranks", "4", "--cpu-replay", file); !strings.Contains(text, "give that file, or record it again") {
		t.Errorf("the program in Go of the same name is refused by %q", text)
	}
	line(terminal.ExitDone, "run", "picalc", "--ranks", "4", "--cpu-record", file)
	if text := replay(terminal.ExitUsage, program); !strings.Contains(text, "give picalc of gigarank list, or record it again") {
		t.Errorf("the program in C of the same name is refused by %q", text)
	}
}

// A program that is linked with functions that native ranks do not have is run, with a warning that names them, is
// refused by --strict-functions, and fails when it calls one.
func TestRunWarnsOfMissingFunctions(t *testing.T) {
	dir := t.TempDir()
	source, program := filepath.Join(dir, "files.c"), filepath.Join(dir, "files")
	text := `#include <mpi.h>
int main(int n, char **all) {
	MPI_File f;
	MPI_Init(&n, &all);
	if (n > 1)
		MPI_File_open(MPI_COMM_WORLD, all[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
	if (n > 2)
		MPI_File_close(&f);
	return MPI_Finalize();
}
`
	many := strings.Replace(text, "\tif (n > 2)\n", "\tif (n > 3)\n\t\treturn MPI_Win_sync(0) + MPI_Win_wait(0) + MPI_Win_complete(0) + MPI_Win_flush_all(0) + MPI_Win_unlock_all(0) + MPI_Win_unlock(0, 0) +\n"+
		"\t\t\tMPI_Win_flush(0, 0) + MPI_File_sync(f) + MPI_Win_lock_all(0, 0) + MPI_Win_fence(0, 0) + MPI_Win_free(0) + MPI_Win_start(0, 0, 0);\n\tif (n > 2)\n", 1)
	const warning = "gigarank: warning: %s uses MPI functions that native ranks do not have: %s; a call of one is an error of class MPI_ERR_UNSUPPORTED_OPERATION; --strict-functions refuses the program\n"
	for _, c := range []struct {
		text      string
		arguments []string
		code      int
		says      string
	}{
		{text, []string{"run", program, "--ranks", "2"}, terminal.ExitDone, fmt.Sprintf(warning, program, "MPI_File_close, MPI_File_open")},
		{text, []string{"run", program, "--ranks", "2", "--allow-unserved"}, terminal.ExitDone, "leave it out: such programs are run"},
		{text, []string{"run", program, "--ranks", "2", "--strict-functions"}, terminal.ExitUsage, "PROGRAM: " + program + " uses MPI functions that native ranks do not have: MPI_File_close, MPI_File_open; "},
		{text, []string{"check", program}, terminal.ExitUsage, program + " uses MPI functions that native ranks do not have: MPI_File_close, MPI_File_open; "},
		{text, []string{"run", program, "--ranks", "2", "data"}, terminal.ExitProgram, "rank 0 failed at virtual time 0s: MPI_ERR_UNSUPPORTED_OPERATION: native ranks do not have MPI_File_open: "},
		{many, []string{"run", program, "--ranks", "2"}, terminal.ExitDone, fmt.Sprintf(warning, program, "MPI_File_close, MPI_File_open, MPI_File_sync, MPI_Win_complete, MPI_Win_fence, MPI_Win_flush, MPI_Win_flush_all, MPI_Win_free, MPI_Win_lock_all, MPI_Win_start, MPI_Win_sync, MPI_Win_unlock and 2 more, which gigarank check "+program+" lists")},
		{"", []string{"run", "barriertest", "--strict-functions"}, terminal.ExitUsage, "--strict-functions: barriertest is no native program: leave the flag out"},
	} {
		if c.text != "" {
			if err := os.WriteFile(source, []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			b, stdout, stderr := terminaltest.Console(nil)
			if code := execute([]string{"cc", "-Wall", "-Werror", "-Wstrict-prototypes", source, "-o", program}, b); code != terminal.ExitDone {
				t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
			}
		}
		b, stdout, stderr := terminaltest.Console(nil)
		if code := execute(c.arguments, b); code != c.code || !strings.Contains(stdout.String()+stderr.String(), c.says) {
			t.Errorf("%q: exit code %d, want %d and %q\n%s%s", c.arguments, code, c.code, c.says, stdout, stderr)
		}
	}
}

// libstdc++ starts threads by the runtime of native ranks, also beside another library of the system in C++, libubsan here.
func TestThreadsBesideALibraryInCxx(t *testing.T) {
	dir := t.TempDir()
	source, program := filepath.Join(dir, "threads.cc"), filepath.Join(dir, "threads")
	if err := os.WriteFile(source, []byte(`#include <mpi.h>
#include <chrono>
#include <thread>
int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	std::thread([] { for (;;) std::this_thread::sleep_for(std::chrono::seconds(1)); }).detach();
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Finalize();
}
`), 0o666); err != nil {
		t.Fatal(err)
	}
	c, stdout, stderr := terminaltest.Console(nil)
	if code := execute([]string{"cxx", "-fsanitize=undefined", source, "-o", program}, c); code != terminal.ExitDone {
		t.Fatalf("%s%s", stdout, stderr)
	}
	// A process of its own: the libraries are bound once in a process.
	text, err := command(t, "run", program, "--ranks", "65", "--engines", "1").CombinedOutput()
	if err == nil || !regexp.MustCompile(`in Barrier, called in main .*: a thread that the rank has started lives`).Match(text) {
		t.Errorf("the run ends with %v\n%s", err, text)
	}
}
