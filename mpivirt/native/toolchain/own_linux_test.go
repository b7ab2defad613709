package toolchain

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Where an object's own path and LD_LIBRARY_PATH have a library each, the loader takes the library of RPATH
// before the library of LD_LIBRARY_PATH, and the library of RUNPATH after it.
func TestLibraryOfTheLoader(t *testing.T) {
	dir := t.TempDir()
	own, other := filepath.Join(dir, "own"), filepath.Join(dir, "other")
	source := filepath.Join(dir, "f.c")
	compile := func(arguments ...string) {
		t.Helper()
		if text, err := exec.Command("gcc", append([]string{"-shared", "-fPIC", source}, arguments...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	if err := os.WriteFile(source, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{own, other} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
		compile("-o", filepath.Join(d, "libown.so"))
	}
	t.Setenv("LD_LIBRARY_PATH", other)
	for flag, want := range map[string]string{"--disable-new-dtags": own, "--enable-new-dtags": other} {
		program := filepath.Join(dir, "program")
		compile("-o", program, "-Wl,--no-as-needed", "-L"+own, "-lown", "-Wl,-rpath,$ORIGIN/own", "-Wl,"+flag)
		object, err := elf.Open(program)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := OwnLibrary(program, object, "libown.so"); err != nil || got != filepath.Join(want, "libown.so") {
			t.Errorf("%s: %s, %v; want that in %s", flag, got, err, want)
		}
		if err := object.Close(); err != nil {
			t.Error(err)
		}
	}
}
