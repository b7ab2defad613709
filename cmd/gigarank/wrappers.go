package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/spelling"
	"gigarank/mpivirt/native/toolchain"
)

const wrappersHelp = `Wrappers makes links to this gigarank in DIR, by the names that compilers have with other
implementations of MPI: %s. With DIR in front
in PATH, makefiles and scripts that call these names build programs for gigarank run:

  eval "$(gigarank wrappers DIR)"
  make CC=mpicc
  ./configure CC=mpicc MPICC=mpicc
  CC=mpicc CXX=mpicxx FC=mpifort cmake …

It prints the line that sets PATH, makes DIR if it is not there, and leaves files alone that are
not links to a gigarank. The links name the place of this binary: if it is moved, make them again.

`

func newLinks(c *terminal.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "wrappers DIR",
		Short:   "Make links to gigarank under the names mpicc, mpicxx and so on",
		Long:    fmt.Sprintf(wrappersHelp, strings.Join(toolchain.UsualNames(), ", ")) + terminal.ExitHelp,
		Example: "  gigarank wrappers ~/gigarank-mpi",
		Args:    arguments(1, "one DIR"),
		RunE:    func(_ *cobra.Command, args []string) error { return makeLinks(c, args[0]) },
	}
}

// makeLinks carries out the command. If a file is in the way, it makes no link.
func makeLinks(c *terminal.Console, dir string) error {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return err
	}
	var faults terminal.UsageError
	if strings.ContainsRune(dir, filepath.ListSeparator) {
		faults.Add("DIR", fmt.Errorf("%s cannot be in PATH, whose directories %q separates: name another", dir, filepath.ListSeparator))
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		faults.Add("DIR", fmt.Errorf("%s is no directory: name another", dir))
	} else {
		for _, name := range toolchain.UsualNames() {
			faults.Add("DIR", inTheWay(filepath.Join(dir, name), self))
		}
	}
	if len(faults) > 0 {
		return faults.OrNil()
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, name := range toolchain.UsualNames() {
		if err := makeLink(filepath.Join(dir, name), self); err != nil {
			return err
		}
	}
	_, _ = fmt.Fprintf(c.Stderr, "gigarank: %s in %s are links to %s: make them again if it is moved\n", strings.Join(toolchain.UsualNames(), ", "), dir, self)
	_, err = fmt.Fprintf(c.Stdout, "export PATH=%s:$PATH\n", spelling.Quoted([]string{dir}))
	return err
}

// inTheWay returns why a link to a gigarank cannot be made, nil if there is nothing or a link that may be replaced:
// one to this binary, or to what has its name, as a gigarank that was moved or another version.
func inTheWay(path, self string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	const remedy = "move it away, or name another directory"
	if info.Mode()&fs.ModeSymlink == 0 {
		return fmt.Errorf("%s is there and no link: %s", path, remedy)
	}
	target, err := os.Readlink(path)
	if err != nil {
		return err
	}
	ours := []string{"gigarank", filepath.Base(self)}
	if resolved, err := filepath.EvalSymlinks(path); err == nil && resolved == self || slices.Contains(ours, filepath.Base(target)) {
		return nil
	}
	return fmt.Errorf("%s is a link to %s: %s", path, target, remedy)
}

// makeLink makes a link, or another one in the place of a link to a gigarank. Where the file system
// does not tell mpicc and mpiCC apart, one link is both: the name by which it is called decides.
func makeLink(path, self string) error {
	if err := inTheWay(path, self); err != nil {
		return err
	}
	if target, err := os.Readlink(path); err == nil {
		if target == self {
			return nil
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return os.Symlink(self, path)
}
