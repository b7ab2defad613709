package slice_test

import (
	"os"
	"strings"
	"testing"

	"gigarank/mpivirt/native/skeleton/ir"
	"gigarank/mpivirt/native/skeleton/slice"
)

func parse(t *testing.T, name, text string) *ir.Module {
	t.Helper()
	m, err := ir.Parse(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func stored(t *testing.T, name string) *ir.Module {
	t.Helper()
	text, err := os.ReadFile("../ir/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, name, string(text))
}

// calls returns the number of calls of functions whose names begin with a text.
func calls(m *ir.Module, begin string) (n int) {
	for _, f := range m.Functions() {
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				if strings.HasPrefix(i.Calls(), begin) {
					n++
				}
			}
		}
	}
	return n
}

// TestStencil: the skeleton of a stencil has all calls of MPI, and neither arrays nor floating-point numbers.
func TestStencil(t *testing.T) {
	m := stored(t, "stencil.ll")
	want, before := calls(m, "MPI_"), slice.Instructions(m)
	s, err := slice.Of(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Emit(); err != nil {
		t.Fatal(err)
	}
	text := m.String()
	if got := calls(m, "MPI_"); got != want || want != 7 {
		t.Errorf("%d of %d calls of MPI are left", got, want)
	}
	for _, gone := range []string{"calloc", "free", "printf"} {
		if calls(m, gone) > 0 {
			t.Errorf("a call of %s is left", gone)
		}
	}
	for _, gone := range []string{" fadd ", " fmul ", "load double", "store double"} {
		if strings.Contains(text, gone) {
			t.Errorf("an instruction %q is left", gone)
		}
	}
	if calls(m, "strtol")+calls(m, "atoi") != 0 {
		t.Error("the number of rows does not decide the course, and is read")
	}
	if calls(m, "gigarank_unread_sent") != 3 || calls(m, "gigarank_unread_received") != 3 {
		t.Error("two messages and a reduction have other buffers than unread memory")
	}
	if _, err := ir.Parse("again", text); err != nil {
		t.Error(err)
	}
	report := s.Report(before, nil)
	for _, line := range []string{"content of MPI_Reduce: left out", "content of messages between two ranks: left out", "calloc at stencil.c:44: left out"} {
		if !strings.Contains(report, line+"\n") {
			t.Errorf("the report has no line %q:\n%s", line, report)
		}
	}
}

// TestModuleOfFortran: the skeleton of a program that flang has compiled has its calls of MPI, whose arguments are passed by reference.
func TestModuleOfFortran(t *testing.T) {
	m := stored(t, "mesh.ll")
	want := calls(m, "mpi_")
	s, err := slice.Of(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Emit(); err != nil {
		t.Fatal(err)
	}
	if got := calls(m, "mpi_"); got != want || want < 3 {
		t.Errorf("%d of %d calls of MPI are left", got, want)
	}
	if _, err := ir.Parse("again", m.String()); err != nil {
		t.Error(err)
	}
}

// TestRefusedModules: programs in C++ are refused with lines of their sources.
func TestRefusedModules(t *testing.T) {
	for name, want := range map[string]string{
		"objects.ll": "an exception may be caught here",
	} {
		if _, err := slice.Of(stored(t, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestClaimsAreLeftOut: where the skeleton gives constants for arguments and results that nobody needs, no attribute claims that
// they have other values.
func TestClaimsAreLeftOut(t *testing.T) {
	m := parse(t, "m.ll", `declare i32 @MPI_Barrier(ptr)
declare double @sqrt(double)
define internal fastcc noundef nonnull ptr @f(ptr noundef nonnull align 8 dereferenceable(8) %p, i32 noundef signext %n) {
  %1 = call i32 @MPI_Barrier(ptr %p)
  ret ptr %p
}
define internal fastcc noundef range(i32 7, 10) i32 @g(i32 noundef signext %n, double noundef %d, ptr noundef nonnull %q) {
  %1 = call i32 @MPI_Barrier(ptr null)
  %2 = fptosi double %d to i32
  store i32 %2, ptr %q, align 4
  ret i32 %2
}
define i32 @main() {
  %x = alloca i32, align 4
  %d = call double @sqrt(double 2.000000e+00)
  %1 = call fastcc noundef nonnull ptr @f(ptr noundef nonnull align 8 dereferenceable(8) inttoptr (i64 257 to ptr), i32 noundef signext 3)
  %2 = call fastcc noundef range(i32 7, 10) i32 @g(i32 noundef signext 3, double noundef %d, ptr noundef nonnull %x)
  ret i32 0
}
`)
	s, err := slice.Of(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Emit(); err != nil {
		t.Fatal(err)
	}
	const want = `declare i32 @MPI_Barrier(ptr)
declare double @sqrt(double)
define internal fastcc ptr @f(ptr noundef nonnull align 8 dereferenceable(8) %p, i32 signext %n) {
  %1 = call i32 @MPI_Barrier(ptr %p)
  ret ptr null
}
define internal fastcc i32 @g(i32 signext %n, double %d, ptr %q) {
  %1 = call i32 @MPI_Barrier(ptr null)
  ret i32 0
}
define i32 @main() {
  %1 = call fastcc ptr @f(ptr noundef nonnull align 8 dereferenceable(8) inttoptr (i64 257 to ptr), i32 signext 0)
  %2 = call fastcc i32 @g(i32 signext 0, double 0.000000e+00, ptr null)
  ret i32 0
}
declare ptr @gigarank_unread_sent(ptr)
declare ptr @gigarank_unread_received(ptr)
declare ptr @gigarank_unread_null(ptr)
`
	if got := m.String(); got != want {
		t.Errorf("the skeleton is\n%s\nwant\n%s", got, want)
	}
}
