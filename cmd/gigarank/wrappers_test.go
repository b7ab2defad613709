package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/mpivirt/native/toolchain"
)

// The links have all names, to the binary itself, and can be made again. Other files are left alone.
func TestWrappers(t *testing.T) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "made here", "bin")
	make := func(wanted int, dir string) (stdout, stderr string) {
		t.Helper()
		c, out, errors := terminaltest.Console(nil)
		if code := execute([]string{"wrappers", dir}, c); code != wanted {
			t.Fatalf("exit code %d, want %d\n%s%s", code, wanted, out, errors)
		}
		return out.String(), errors.String()
	}
	for range 2 {
		stdout, stderr := make(terminal.ExitDone, dir)
		if stdout != "export PATH='"+dir+"':$PATH\n" || !strings.Contains(stderr, "are links to "+self+": make them again if it is moved") {
			t.Errorf("it prints %q and %q", stdout, stderr)
		}
	}
	for _, name := range []string{"mpicc", "mpicxx", "mpic++", "mpiCC", "mpif77", "mpif90", "mpifort"} {
		if target, err := os.Readlink(filepath.Join(dir, name)); err != nil || target != self {
			t.Errorf("%s is a link to %q, %v", name, target, err)
		}
	}
	replace := func(name, target string) {
		t.Helper()
		path := filepath.Join(dir, name)
		err := os.Remove(path)
		if err == nil && target == "" {
			err = os.WriteFile(path, []byte("#!/bin/sh\n"), 0o777)
		} else if err == nil {
			err = os.Symlink(target, path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	replace("mpif77", filepath.Join(dir, "moved", "gigarank")) // which is not there any more
	make(terminal.ExitDone, dir)
	if target, err := os.Readlink(filepath.Join(dir, "mpif77")); err != nil || target != self {
		t.Errorf("the link to a binary that was moved is one to %q, %v", target, err)
	}
	replace("mpicc", "")
	replace("mpifort", "/usr/bin/gfortran")
	replace("mpif90", filepath.Join(dir, "moved", "gigarank"))
	_, stderr := make(terminal.ExitUsage, dir)
	for _, says := range []string{filepath.Join(dir, "mpicc") + " is there and no link", filepath.Join(dir, "mpifort") + " is a link to /usr/bin/gfortran"} {
		if !strings.Contains(stderr, says) {
			t.Errorf("it says %q, want %q", stderr, says)
		}
	}
	if target, err := os.Readlink(filepath.Join(dir, "mpif90")); err != nil || target == self {
		t.Errorf("with files in the way a link is made: to %q, %v", target, err)
	}
	if _, stderr := make(terminal.ExitUsage, filepath.Join(dir, "mpicc")); !strings.Contains(stderr, "is no directory") {
		t.Errorf("it says %q", stderr)
	}
	if _, stderr := make(terminal.ExitUsage, filepath.Join(dir, "a:b")); runtime.GOOS != "windows" && !strings.Contains(stderr, "cannot be in PATH") {
		t.Errorf("it says %q", stderr)
	}
	for _, name := range toolchain.UsualNames() {
		if _, is := toolchain.LanguageOf(filepath.Join(dir, name)); !is {
			t.Errorf("a link by the name %s is no wrapper", name)
		}
	}
}
