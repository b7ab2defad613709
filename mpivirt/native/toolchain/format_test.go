package toolchain_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gigarank/mpivirt/native/toolchain"
)

// The error for a file that is no program of gigarank describes it, by the magic numbers of its format (elf(5), the
// formats PE, Mach-O, zip, ar), with the remedy.
func TestOtherFormats(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	compile := func(arguments ...string) {
		cmd := exec.Command(toolchain.Compiler(), arguments...)
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", arguments, err, text)
		}
	}
	write("main.c", "int main(void) { return 0; }\n")
	compile("main.c", "-o", "plain")
	compile("main.c", "-static", "-o", "fixed")
	compile("main.c", "-shared", "-fPIC", "-o", "library.so")
	compile("main.c", "-c")
	plain, err := os.ReadFile(filepath.Join(dir, "plain"))
	if err != nil {
		t.Fatal(err)
	}
	const class, kind, core = 4, 16, 4 // places in the header, and ET_CORE
	crashed := []byte(string(plain))
	crashed[kind] = core
	write("core.17", string(crashed))
	write("cut", string(plain[:class*10]))
	for name, text := range map[string]string{
		"x.exe": "MZ\x90", "mac": "\xcf\xfa\xed\xfe\x07", "x.jar": "PK\x03\x04", "x.a": "!<arch>\n", "x.f90": "end\n", "x.cpp": "int x;\n",
		"x.py": "print(1)\n", "run": "#!/usr/bin/env julia\nprint(1)\n", "none": "", "notes": "words\n", "python3.11": "#!/bin/bash\n",
	} {
		write(name, text)
	}
	for name, want := range map[string]string{
		"plain":      "was not linked by gigarank cc, cxx or fc",
		"fixed":      "is linked statically",
		"library.so": "is a shared library, and no program",
		"main.o":     "is an object file: link it",
		"main.c":     "is source code in C: build it with gigarank cc -o PROGRAM main.c",
		"core.17":    "is a core file",
		"cut":        "is no whole program",
		"x.exe":      "is a program for Windows",
		"mac":        "is a program for macOS",
		"x.jar":      "is an archive of Java or zip",
		"x.a":        "is a library, and no program",
		"x.f90":      "is source code in Fortran: build it with gigarank fc",
		"x.cpp":      "is source code in C++: build it with gigarank cxx",
		"x.py":       "is a script; a rank is a program in C, C++ or Fortran",
		"run":        "is a script for /usr/bin/env julia; a rank is",
		"none":       "is empty",
		"notes":      "is no program (not in the ELF format)",
		"python3.11": "is an interpreter; a rank is",
		".":          "is a directory: name the program in it",
	} {
		if err := toolchain.CheckBuild(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), ": ") {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// A program that gigarank has built runs whatever its name is.
func TestNamedAsAnInterpreter(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.c"), []byte("int main(void) { return 0; }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if text, code := wrap(t, dir, "main.c", "-o", "R"); code != 0 {
		t.Fatalf("exit code %d: %s", code, text)
	}
	if err := toolchain.Check(filepath.Join(dir, "R")); err != nil {
		t.Error(err)
	}
}
