//go:build cgo && linux && (amd64 || arm64)

package skeleton_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gigarank/mpivirt/native/skeleton"
	"gigarank/mpivirt/native/toolchain"
)

// fill computes an array of more than a page.
const fill = `	double *u = malloc(4000 * sizeof *u);
	for (int i = 0; i < 4000; i++) u[i] = i * 0.5;
	for (int i = 1; i < 4000; i++) u[i] += u[i - 1] * 0.25;
`

// TestFailures: a check of large data that would end a failing run is left out with the data, and named. What ends a run that does not fail, and checks that
// need little, are kept.
func TestFailures(t *testing.T) {
	needLLVM(t)
	fails := "__attribute__((noinline)) static void fail(int code) { printf(\"%d\\n\", code); if (code > 7) abort(); exit(code); }\n" +
		"__attribute__((noinline)) static void check(double x) { if (x > 1e9) fail(3); }"
	for name, c := range map[string]struct {
		text string
		left bool
	}{
		"MPI_Abort":                  {"	if (u[3] > 1e9) { printf(\"large\\n\"); MPI_Abort(MPI_COMM_WORLD, 1); }", true},
		"exit out of a loop":         {"	for (int i = 0; i < 4000; i++) { if (u[i] > 1e9) { printf(\"large\\n\"); exit(2); } u[i] = 0; }\n	MPI_Barrier(MPI_COMM_WORLD);", true},
		"a function that never ends": {"	if (u[3] > 1e9) fail(2);\n	MPI_Barrier(MPI_COMM_WORLD);", true},
		"a function that checks":     {"	for (int i = 0; i < 9; i++) check(u[i]);\n	MPI_Barrier(MPI_COMM_WORLD);", true},
		"a call of MPI before":       {"	if (u[3] > 1e9) { MPI_Barrier(MPI_COMM_WORLD); exit(1); }", false},
		"behind MPI_Finalize":        {"	MPI_Finalize();\n	if (u[3] > 1e9) exit(4);\n	return 0;", false},
		"MPI_Finalize before":        {"	if (u[3] > 1e9) { MPI_Finalize(); exit(4); }", false},
		"without data":               {"	if (size == 5) exit(4);", false},
	} {
		program, refusal := build(t, body(fails, fill+c.text), skeleton.KeepDataFlag)
		if refusal != "" {
			t.Errorf("%s: %s", name, refusal)
			continue
		}
		verify(t, program, []int{1, 3})
		report, err := skeleton.Report(program)
		if err != nil {
			t.Fatal(err)
		}
		if left := strings.Contains(report, "failure left out: no rank is assumed to end the run behind the branch at "); left != c.left || name != "without data" && strings.Contains(report, "malloc at") && left == strings.Contains(report, "13: kept") {
			t.Errorf("%s: the report is\n%s", name, report)
		}
		if d, err := skeleton.Describe(program); err != nil || (len(d.Failures) > 0) != c.left {
			t.Errorf("%s: the description has the failures %v, %v", name, d.Failures, err)
		}
	}
	program, _ := build(t, body("", fill+"	if (size == 5) exit(4);"))
	if want, got := run(t, program, 5, 1, 0), run(t, extract(t, program), 5, 1, 0); want != got || !strings.Contains(want, "exit code 4") {
		t.Errorf("the program ends with %q, its skeleton with %q", want, got)
	}
	// A failure that is left out is one: the skeleton goes on, and a comparison finds it.
	program, _ = build(t, body("", fill+"	if (u[3] > 0.1) MPI_Abort(MPI_COMM_WORLD, 1);"))
	if want, got := run(t, program, 2, 1, 0), run(t, extract(t, program), 2, 1, 0); want == got {
		t.Errorf("the program ends with %q, and its skeleton, too", want)
	}
}

// TestAllocationsThatFail: whether there is memory for arrays that a skeleton leaves out decides on nothing: the arrays and the check are left out, and the failure is named.
func TestAllocationsThatFail(t *testing.T) {
	needFlang(t)
	source := fortran("  double precision, allocatable :: u(:), v(:)\n  integer :: made", `
  allocate (u(100000 + n), stat=made)
  if (made == 0) allocate (v(200000 + n), stat=made)
  if (made /= 0) then
    write (*, *) 'no memory'
    call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
  end if
  u = rank
  v = 1
  do i = 1, 5
    u = 0.5d0 * u + v(1:size(u))
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do
  write (*, *) sum(u)`)
	program, refusal := buildFortran(t, source, "")
	if refusal != "" {
		t.Fatal(refusal)
	}
	verify(t, program, []int{1, 3})
	d, err := skeleton.Describe(program)
	if err != nil || len(d.Failures) == 0 {
		t.Errorf("the description has the failures %v, %v", d.Failures, err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "program.f90")
	if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	text, _, err := skeleton.Text(toolchain.Fortran, []string{file}, "", dir)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, "call i32 @_FortranAAllocatableAllocate(") {
		t.Error("the skeleton allocates memory that it leaves out")
	}
}
