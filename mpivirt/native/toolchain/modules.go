package toolchain

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// modulesName is the archive with what the modules mpi and mpi_f08 define.
const modulesName = "modules.a"

// moduleFlags compile the modules.
var moduleFlags = []string{"-c", "-O2", "-fPIC", "-ffree-line-length-none"}

// openModules has the modules mpi and mpi_f08 in a directory of the cache. Their form depends
// on the Fortran compiler, so that they are compiled at its first use.
func (l *Library) openModules() error {
	command := Fortran.command()
	version, err := exec.Command(command, "--version").Output()
	if err != nil {
		return fmt.Errorf("%s does not answer: %w; install gfortran, or name another Fortran compiler in %s", command, err, compilers[Fortran].variable)
	}
	digest := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%q\n", command, version, moduleFlags))
	l.modules = filepath.Join(l.include, fmt.Sprintf("modules-%x", digest[:8]))
	if _, err := os.Stat(l.modules); err == nil {
		return nil
	}
	work, err := os.MkdirTemp(l.include, ".modules-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	if err := os.Chmod(work, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"mpi.f90", "mpi_f08.f90"} {
		if err := runCompiler(work, command, append(moduleFlags, filepath.Join(l.include, name))); err != nil {
			return fmt.Errorf("the modules of MPI: %w", err)
		}
	}
	if err := runCompiler(work, "ar", []string{"rcs", modulesName, "mpi.o", "mpi_f08.o"}); err != nil {
		return fmt.Errorf("the modules of MPI: %w", err)
	}
	if err := os.Rename(work, l.modules); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, made := os.Stat(l.modules); made != nil {
			return err
		}
	}
	return nil
}
