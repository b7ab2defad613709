//go:build cgo && linux && (amd64 || arm64)

package toolchain_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gigarank/mpivirt/native/toolchain"
)

// written returns a directory with files.
func written(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// mpi.h gives no cause for warnings of compilers, in the standards of both languages. Open MPI's does, too, but for C++, whose bindings
// it has had.
func TestHeaderWithoutWarnings(t *testing.T) {
	const uses = `#include <mpi.h>
int use(MPI_Comm comm, int *data);
int use(MPI_Comm comm, int *data) {
	MPI_File file = MPI_FILE_NULL;
	MPI_Win win = MPI_WIN_NULL;
	MPI_Offset here = MPI_DISPLACEMENT_CURRENT;
	int key;
	MPI_T_enum none = MPI_T_ENUM_NULL;
	MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, data);
	MPI_File_open(comm, "data", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
	MPI_Win_fence(MPI_MODE_NOPUT, win);
	MPI_Comm_spawn("other", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, comm, &comm, MPI_ERRCODES_IGNORE);
	MPI_Allreduce(MPI_IN_PLACE, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	return MPI_Recv(data, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE) + (here > 0) + (none == MPI_T_ENUM_NULL);
}
`
	dir := written(t, map[string]string{"uses.c": uses, "uses.cc": uses})
	all := strings.Fields("-c -o /dev/null -Werror -Wall -Wextra -pedantic -Wmissing-declarations -Wredundant-decls -Wundef -Wcast-qual -Wcast-align -Wshadow -Wwrite-strings")
	for _, standard := range []string{"c89", "c99", "c11", "c2x", "gnu17"} {
		flags := append(slices.Clone(all), "uses.c", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Wold-style-definition", "-std="+standard)
		if text, code := wrap(t, dir, flags...); code != 0 {
			t.Errorf("%s: exit code %d\n%s", standard, code, text)
		}
	}
	for _, standard := range []string{"c++98", "c++11", "c++17", "c++20", "gnu++17"} {
		flags := append(slices.Clone(all), "uses.cc", "-Wold-style-cast", "-std="+standard)
		if standard != "c++98" {
			flags = append(flags, "-Wzero-as-null-pointer-constant")
		} else {
			flags = append(flags, "-Wno-long-long")
		}
		if text, code := wrapIn(t, toolchain.CXX, dir, flags...); code != 0 {
			t.Errorf("%s: exit code %d\n%s", standard, code, text)
		}
	}
}

// Flags that would link libraries into a program statically are left out: a program needs shared libraries.
func TestStaticFlags(t *testing.T) {
	dir := written(t, map[string]string{
		"main.c": "#include <mpi.h>\nint main(int n, char **all) { return MPI_Init(&n, &all) + MPI_Finalize(); }\n", "main.cc": "#include <iostream>\nint main() { std::cout << 1; }\n",
		"main.f90": "program main\n  use mpi\n  integer :: ierr\n  call MPI_Init(ierr)\n  print *, ierr\n  call MPI_Finalize(ierr)\nend program\n",
	})
	for _, c := range []struct {
		language toolchain.Language
		flags    string
		needs    string
	}{
		{toolchain.C, "-static", "libc.so.6"},
		{toolchain.C, "-static-libgcc -Wl,-static", "libc.so.6"},
		{toolchain.CXX, "-static-libstdc++ -static-libgcc", "libstdc++.so.6"},
		{toolchain.CXX, "-static", "libstdc++.so.6"},
		{toolchain.Fortran, "-static-libgfortran", "libgfortran.so.5"},
		{toolchain.Fortran, "-static -static-libgfortran -static-libgcc", "libgfortran.so.5"},
		{toolchain.Fortran, "-static-pie", "libgfortran.so.5"},
	} {
		arguments := append(strings.Fields(c.flags), "main"+c.language.Suffix(), "-o", "program")
		if text, code := wrapIn(t, c.language, dir, arguments...); code != 0 || strings.Contains(text, "leaves out") {
			t.Errorf("%v %s: exit code %d\n%s", c.language, c.flags, code, text)
			continue
		}
		program := filepath.Join(dir, "program")
		if err := toolchain.Check(program); err != nil || !slices.Contains(toolchain.Libraries(program), c.needs) {
			t.Errorf("%v %s: %v, it needs %q", c.language, c.flags, err, toolchain.Libraries(program))
		}
		text, _ := wrapIn(t, c.language, dir, append(arguments, "-v")...)
		if flag, _, _ := strings.Cut(c.flags, " "); !strings.Contains(text, "gigarank "+c.language.String()+": leaves out "+flag+": a program for native ranks is a shared object") {
			t.Errorf("%v %s -v does not say what it leaves out:\n%s", c.language, c.flags, text)
		}
	}
}

// Flags with which no program would run right are refused, with the reason and the remedy, when it is compiled.
func TestFlagsThatAreRefused(t *testing.T) {
	dir := written(t, map[string]string{"main.c": "int main(void) { return 0; }\n"})
	for flags, says := range map[string]string{
		"-fsanitize=address":                     "gigarank cc: -fsanitize=address: its runtime must be the first library of a process",
		"-c -fsanitize=undefined,thread":         "gigarank cc: -fsanitize=undefined,thread: its runtime",
		"-fsanitize=leak":                        "leave it out, and look for such errors under a real MPI",
		"-fsanitize=address -fno-sanitize=leak":  "gigarank cc: -fsanitize=address: its runtime",
		"-pg -c":                                 "gigarank cc: -pg: gmon.out is the profile of a process",
		"-fsanitize=address -fno-sanitize=all":   "",
		"-fsanitize=thread -fno-sanitize=thread": "",
		"-fsanitize=undefined":                   "",
		"-fsanitize=undefined,bounds -flto -O2":  "",
		"--coverage":                             "",
		"-fprofile-generate -O2":                 "",
		"-s -flto=auto -fno-fat-lto-objects -O1": "",
	} {
		text, code := wrap(t, dir, append(strings.Fields(flags), "main.c", "-o", "program")...)
		if code != map[bool]int{true: 2, false: 0}[says != ""] || !strings.Contains(text, says) || strings.Count(text, "gigarank cc:") != min(1, len(says)) {
			t.Errorf("%s: exit code %d, want %q in\n%s", flags, code, says, text)
		}
	}
}

// The linker's text about objects that are not position-independent comes with the files to build anew, and how.
func TestRebuildHints(t *testing.T) {
	dir := written(t, map[string]string{
		"part.c": "const char *text = \"x\";\nconst char *part(void) { return text; }\nstatic int table[4];\nint *place(int i) { return &table[i]; }\n",
		"main.c": "int *place(int);\nconst char *part(void);\nint main(void) { return *place(1) + *part(); }\n",
	})
	t.Chdir(dir)
	for _, command := range [][]string{{toolchain.Compiler(), "-fno-pic", "-c", "part.c"}, {"ar", "rcs", "libpart.a", "part.o"}} {
		if text, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	const how = "was compiled without -fPIC, and a program for native ranks is a shared object: clean and build it anew with gigarank cc for its compiler, or with CFLAGS=-fPIC (make), --with-pic (configure and libtool), -DCMAKE_POSITION_INDEPENDENT_CODE=ON (cmake)\n"
	for arguments, says := range map[string]string{
		"main.c part.o":        "gigarank cc: part.o " + how,
		"main.c libpart.a":     "gigarank cc: libpart.a (part.o) " + how,
		"main.c -L. -lpart":    "libpart.a (part.o) " + how,
		"main.c":               "",
		"main.c -lnone":        "",
		"-shared part.o -lm":   "gigarank cc: part.o " + how,
		"-shared -fPIC part.c": "",
	} {
		text, code := wrap(t, dir, append(strings.Fields(arguments), "-o", "made")...)
		if (code == 0) != (arguments == "-shared -fPIC part.c") || strings.Count(text, "gigarank cc:") != min(1, len(says)) || !strings.HasSuffix(text, says) {
			t.Errorf("%s: exit code %d, want %q at the end of\n%s", arguments, code, says, text)
		}
	}
}

// A program that another compiler links with the runtime is told from a program without the runtime.
func TestLinkedByAnotherCompiler(t *testing.T) {
	dir := written(t, map[string]string{"main.c": "#include <mpi.h>\nint main(int n, char **all) { return MPI_Init(&n, &all) + MPI_Finalize(); }\n"})
	library, err := toolchain.OpenLibrary()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "program")
	if text, err := exec.Command(toolchain.Compiler(), filepath.Join(dir, "main.c"), "-I"+filepath.Dir(library.Path), library.Path, "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if err := toolchain.CheckBuild(program); err == nil || !strings.Contains(err.Error(), "was linked with the runtime of native ranks by another compiler") {
		t.Errorf("%v", err)
	}
}
