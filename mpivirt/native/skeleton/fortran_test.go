//go:build cgo && linux && (amd64 || arm64)

package skeleton_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gigarank/mpivirt/native/skeleton"
	"gigarank/mpivirt/native/toolchain"
)

// needFlang skips a test where LLVM's compiler of Fortran is not there.
func needFlang(t *testing.T) {
	t.Helper()
	if err := skeleton.Missing(toolchain.Fortran); err != nil {
		t.Skip(err)
	}
}

// buildFortran builds a program with its skeleton from a file or a text, with directives if there are any. It returns the path, or why it is refused.
func buildFortran(t *testing.T, source, directives string, flags ...string) (program, refusal string) {
	t.Helper()
	dir := t.TempDir()
	file := source
	if strings.Contains(source, "\n") {
		file = filepath.Join(dir, "program.f90")
		if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	program = filepath.Join(dir, "program")
	arguments := append([]string{skeleton.Flag, "-O2", file, "-o", program, "-ffree-line-length-none", "-J" + dir}, flags...)
	if directives != "" {
		arguments = append(arguments, skeleton.DirectivesFlag, directives)
	}
	var printed bytes.Buffer
	code, err := skeleton.Wrap(toolchain.Fortran, arguments, nil, &printed, &printed)
	if err != nil {
		t.Fatal(err)
	}
	if code == 0 {
		return program, ""
	}
	if _, err := os.Stat(program); err == nil || code != 2 {
		t.Fatalf("exit code %d:\n%s", code, &printed)
	}
	return "", printed.String()
}

// TestFortran: programs with descriptors, COMMON, and input of flang's run-time library have skeletons without arrays, in which all tasks are counted.
func TestFortran(t *testing.T) {
	needFlang(t)
	for name, argument := range map[string]string{"tomcatv": "64", "wavefront": "12", "modules": "20", "sample": "20"} {
		directives := "testdata/" + name + ".directives"
		if _, err := os.Stat(directives); err != nil {
			directives = ""
		}
		program, refusal := buildFortran(t, "testdata/"+name+".f90", directives)
		if refusal != "" {
			t.Errorf("%s: %s", name, refusal)
			continue
		}
		if verify(t, program, []int{1, 2, 6}, argument) == 0 {
			t.Errorf("%s: the tasks have no iterations", name)
		}
		report, err := skeleton.Report(program)
		if err != nil {
			t.Fatal(err)
		}
		unwanted := []string{": kept", "not counted"}
		if name == "modules" { // its sizes are broadcast, and lie in memory that it allocates
			unwanted = []string{"malloc at modules.f90:30, inlined in modules.f90:100, inlined in modules.f90:134: kept", "content of MPI_Allreduce: kept", "messages between two ranks with"}
		}
		for _, bad := range unwanted {
			if strings.Contains(report, bad) {
				t.Errorf("%s: the report has %q:\n%s", name, bad, report)
			}
		}
		if directives == "" {
			continue
		}
		// Without its directive the program is refused, with the line of the branch. A skeleton that computes the data takes the same course.
		text, err := os.ReadFile(directives)
		if err != nil {
			t.Fatal(err)
		}
		if _, refusal = buildFortran(t, "testdata/"+name+".f90", ""); !strings.Contains(refusal, " depends on data: ") || !strings.Contains(refusal, fmt.Sprintf("%q", strings.Split(string(text), " #")[0])) {
			t.Errorf("%s without a directive is refused as %q", name, refusal)
		}
		program, refusal = buildFortran(t, "testdata/"+name+".f90", "", skeleton.KeepDataFlag)
		if refusal != "" {
			t.Errorf("%s with --keep-data: %s", name, refusal)
			continue
		}
		verify(t, program, []int{2}, argument)
	}
}

// TestFortranExamples: an example in Fortran is refused with a line, or its skeleton takes the same course.
func TestFortranExamples(t *testing.T) {
	needFlang(t)
	examples, _ := filepath.Glob("../../../examples/fortran/*.f90")
	if len(examples) == 0 {
		t.Fatal("there are no examples")
	}
	for _, example := range examples {
		program, refusal := buildFortran(t, example, "")
		if refusal == "" {
			verify(t, program, []int{2, 5})
		} else if !strings.Contains(refusal, filepath.Base(example)+":") {
			t.Errorf("%s is refused without a line: %s", example, refusal)
		}
	}
}

// fortran returns a program with a body.
func fortran(declarations, text string) string {
	return "program p\n  use mpi\n  implicit none\n  integer :: rank, n, ierr, i, status(MPI_STATUS_SIZE)\n" + declarations + `
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
` + text + "\n  call MPI_Finalize(ierr)\nend program\n"
}

// TestFortranKeepsWhatDecides: content of messages, texts in memory and constants of MPI that decide the course are kept.
func TestFortranKeepsWhatDecides(t *testing.T) {
	needFlang(t)
	for name, c := range map[string]struct{ declarations, text string }{
		"loop bounds by broadcast": {"  integer :: bounds(2)\n  double precision :: u(100)", `
  if (rank == 0) bounds = (/ 3, 7 /)
  call MPI_Bcast(bounds, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  do i = 1, bounds(2)
    u = u + i
    call MPI_Bcast(u, bounds(1), MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  end do`},
		"MPI_IN_PLACE": {"  integer :: k\n  double precision :: u(100)", `
  k = rank
  call MPI_Allreduce(MPI_IN_PLACE, k, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (k /= n * (n - 1) / 2) stop 3
  u = k
  call MPI_Allreduce(MPI_IN_PLACE, u, k + 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)`},
		"a text that is written and read": {"  character(len=20) :: text\n  integer :: k", `
  write (text, '(i5)') rank + 3
  read (text, *) k
  call MPI_Bcast(k, mod(k - rank, 4), MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
  do i = 1, k
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do`},
		"allocatables and an array section": {"  double precision, allocatable :: u(:,:)\n  integer, allocatable :: list(:)", `
  allocate (u(50, 60), list(n))
  u = rank
  list = (/ (i * 2, i = 1, n) /)
  call MPI_Bcast(u(:, 3:5), size(u, 1) * 3, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(u, list(rank + 1) * 0 + list(1), MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  if (u(1, 1) < 0) print *, u
  deallocate (u, list)`},
		"a text by broadcast, and variables of a block": {"  character(len=12) :: word\n  integer :: k", `
  word = ' '
  if (rank == 0) word = ' 7 steps'
  call MPI_Bcast(word, 12, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
  read (word(1:3), *) k
  do i = 1, k
    block
      integer :: list(i + rank)
      double precision :: u(900 * i)
      list = i
      u = 0.5d0 * i
      call MPI_Bcast(u, list(i), MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    end block
  end do`},
		"requests": {"  integer :: r(2)\n  double precision :: a(500), b(500)", `
  a = rank
  call MPI_Irecv(b, 500, MPI_DOUBLE_PRECISION, mod(rank + n - 1, n), 3, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Isend(a, 400, MPI_DOUBLE_PRECISION, mod(rank + 1, n), 3, MPI_COMM_WORLD, r(2), ierr)
  call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, ierr)
  a = a + b
  if (rank == 0) write (*, *) sum(a)`},
	} {
		program, refusal := buildFortran(t, fortran(c.declarations, c.text), "")
		if refusal != "" {
			t.Errorf("%s: %s", name, refusal)
			continue
		}
		verify(t, program, []int{1, 3})
	}
}

// TestFortranFiles: a file that decides on the course is read; one that may be written and read again is refused.
func TestFortranFiles(t *testing.T) {
	needFlang(t)
	file := filepath.Join(t.TempDir(), "bounds")
	if err := os.WriteFile(file, []byte("7\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`
  k = 2
  open (10, file='%s', status='old', iostat=i)
  if (i == 0) then
    read (10, *) k
    close (10)
  end if
  open (11, file='%s', status='old', iostat=i)
  if (i == 0) k = 9
  call MPI_Bcast(u, k, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  write (*, *) k`, file, file+"2")
	program, refusal := buildFortran(t, fortran("  integer :: k, u(100)", text), "")
	if refusal != "" {
		t.Fatal(refusal)
	}
	verify(t, program, []int{1, 3})
	if _, refusal = buildFortran(t, fortran("  integer :: k, u(100)", text+"\n  write (12, *) k"), ""); !strings.Contains(refusal, "a file may be written here that is read at ") || !strings.Contains(refusal, "/program.f90:16, ") {
		t.Errorf("a file that may be written and read is refused as %q", refusal)
	}
}

// TestModule08: a program with the module that flang does not take is refused with its line.
func TestModule08(t *testing.T) {
	needFlang(t)
	if _, refusal := buildFortran(t, "../../../examples/fortran/picalc.f90", ""); !strings.Contains(refusal, "picalc.f90:") || !strings.Contains(refusal, "the program uses module mpi_f08, which skeletons do not take: use mpi, or include mpif.h") {
		t.Errorf("it is refused as %q", refusal)
	}
}

// TestPartsOfConditions: a directive that names a part of a condition has the branch go where it says, whatever the other parts are.
func TestPartsOfConditions(t *testing.T) {
	needLLVM(t)
	for statements, want := range map[string]string{
		"		if (all < 1e-9 &&\n u[0] < 1 && u[1] < 1) break;":      "branch program.c:16 never\n",
		"		if (u[0] + u[1] < 1e-9 ||\n k > 2) break;":             "branch program.c:16 never\n",
		"		if (k > 1 && all > 1e30) MPI_Barrier(MPI_COMM_WORLD);": "branch program.c:16 never\n",
		"		if (k > 2 || all > 0) MPI_Barrier(MPI_COMM_WORLD);":    "branch program.c:16 always\n",
	} {
		file := filepath.Join(t.TempDir(), "d")
		if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		program, refusal := build(t, body("", `	double u[300] = {0}, all = 1;
	for (int k = 0; k < 4; k++) {
		for (int i = 0; i < 300; i++) u[i] = u[i] * 0.5 + k + 1;
		MPI_Allreduce(u, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
`+statements+"\n	}"), skeleton.DirectivesFlag, file)
		if refusal != "" {
			t.Errorf("%s: %s", statements, refusal)
			continue
		}
		verify(t, program, []int{1, 3})
		if report, err := skeleton.Report(program); err != nil || !strings.Contains(report, "content of MPI_Allreduce: left out\n") {
			t.Errorf("%s: %v: the report is\n%s", statements, err, report)
		}
	}
}

// TestObjects: a compiler's object of a source has the name that it has without a skeleton.
func TestObjects(t *testing.T) {
	needLLVM(t)
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"one.c", "two.c"} {
		if err := os.WriteFile(name, []byte("int "+name[:3]+"(void) { return 1; }\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var printed bytes.Buffer
	code, err := skeleton.Wrap(toolchain.C, []string{skeleton.Flag, "-c", "-O2", "one.c", "two.c"}, nil, &printed, &printed)
	if err != nil || code != 0 {
		t.Fatalf("%v: exit code %d: %s", err, code, &printed)
	}
	for _, name := range []string{"one.o", "two.o"} {
		if text, err := os.ReadFile(name); err != nil || !bytes.HasPrefix(text, []byte("BC")) {
			t.Errorf("%s has no bitcode: %v", name, err)
		}
	}
}

// TestDirectives: directives are read with all faults, and those that name nothing are refused.
func TestDirectives(t *testing.T) {
	needLLVM(t)
	dir := t.TempDir()
	source := body("", `	double u[300] = {0}, all = 1; int flags[2] = {0, 0};
	for (int k = 0; k < 4; k++) {
		for (int i = 0; i < 300; i++) u[i] = u[i] * 0.5 + k + 1;
		MPI_Allreduce(u, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		if (all < 1e-9) break;
	}
	if (all > 1e30 || rank > 90) MPI_Barrier(MPI_COMM_WORLD);`)
	with := func(directives string) (string, string) {
		t.Helper()
		file := filepath.Join(dir, "d")
		if err := os.WriteFile(file, []byte(directives), 0o666); err != nil {
			t.Fatal(err)
		}
		return build(t, source, skeleton.DirectivesFlag+"="+file)
	}
	program, refusal := with("branch program.c:16 never # converged\n\nbranch program.c:18 never\n")
	if refusal != "" {
		t.Fatal(refusal)
	}
	verify(t, program, []int{1, 3})
	if report, err := skeleton.Report(program); err != nil || !strings.Contains(report, "content of MPI_Allreduce: left out\n") || !strings.Contains(report, "directive branch program.c:16 never\n") {
		t.Errorf("%v: the report is\n%s", err, report)
	}
	program, refusal = with("payload program.c:15 unused\n")
	if refusal != "" {
		t.Fatal(refusal)
	}
	if report, err := skeleton.Report(program); err != nil || !strings.Contains(report, "content of MPI_Allreduce: left out\n") {
		t.Errorf("%v: the report is\n%s", err, report)
	}
	// The input turns off the part of a condition that data decide: the other part still ends the loop.
	file := filepath.Join(dir, "payload")
	if err := os.WriteFile(file, []byte("payload program.c:17 unused\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	program, refusal = build(t, body("static double u[3000];", `	double err, largest, limit = argc > 9 ? 1e-6 : -5;
	int its = 0;
	do {
		its++; err = 0;
		for (int i = 0; i < 3000; i++) { double old = u[i]; u[i] = old * 0.5 + i; err = fmax(err, fabs(u[i] - old)); }
		MPI_Allreduce(&err, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); err = largest;
	} while ((err > limit && limit >= 0) || (its < (int)(-limit + 0.99) && limit < 0));`), skeleton.DirectivesFlag+"="+file)
	if refusal != "" {
		t.Fatal(refusal)
	}
	verify(t, program, []int{1, 3})
	if report, err := skeleton.Report(program); err != nil || !strings.Contains(report, "content of MPI_Allreduce: left out\n") || !strings.Contains(report, "variable u, 24000 bytes: left out\n") {
		t.Errorf("%v: the report is\n%s", err, report)
	}
	// An assumption that is not true is found.
	program, refusal = with("branch program.c:16 always\nbranch program.c:18 never\n")
	if refusal != "" {
		t.Fatal(refusal)
	}
	if whole, bare := run(t, program, 2, 1, 0), run(t, extract(t, program), 2, 1, 0); whole == bare {
		t.Error("a loop that is left at once takes the course of one that is not")
	}
	for text, want := range map[string]string{
		"branch program.c:3 never\n":                              "d:1: the directive branch program.c:3 never names a line without a branch on a condition",
		"payload program.c:13 unused\n":                           "names a line without a call that receives messages",
		"branch other.c:16 never\n":                               "names a line without a branch",
		"value program.c:3 7\n":                                   `d:1: "value" is no directive`,
		"branch program.c:16\n":                                   "d:1: 2 words: write branch FILE:LINE never|always",
		"branch program.c never\n":                                `"program.c" is no FILE:LINE`,
		"branch program.c:16 often\n":                             `"often" is no value of branch: use never or always`,
		"branch program.c:16 never\nbranch program.c:16 always\n": "d:2: program.c:16 has a directive branch already, at d:1",
		"branch program.c:16 never\nbranch program.c:18 never\nbranch program.c:14 always\n":  "d:3: the directive branch program.c:14 always is never used: the skeleton without it does not come to that line: leave it out",
		"branch program.c:16 never\nbranch program.c:18 never\npayload program.c:15 unused\n": "d:3: the directive payload program.c:15 unused is never used",
		"branch program.c:0 never\nvalue x 3\n":                                               "d:2: \"value\" is no directive",
	} {
		_, refusal := with(text)
		if got := strings.ReplaceAll(refusal, dir+string(filepath.Separator), ""); !strings.Contains(got, want) {
			t.Errorf("%q is refused as %q, want %q", text, got, want)
		}
	}
	if _, refusal := build(t, source, skeleton.DirectivesFlag); !strings.Contains(refusal, "--directives without a FILE") {
		t.Errorf("a flag without a file is refused as %q", refusal)
	}
}
