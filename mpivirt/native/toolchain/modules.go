package toolchain

import "path/filepath"

// modulesName is the archive with the objects of the modules mpi and mpi_f08.
const modulesName = "modules.a"

// moduleFlags compile the modules.
var moduleFlags = []string{"-c", "-O2", "-fPIC", "-ffree-line-length-none"}

// openModules has the modules mpi and mpi_f08 of Fortran in a directory of the cache.
func (l *Library) openModules() (err error) {
	l.modules, err = l.compileOnce(Fortran, "modules", moduleFlags, modulesName, [][]string{
		{filepath.Join(l.include, "mpi.f90"), "-o", "mpi.o"},
		{filepath.Join(l.include, "mpi_f08.f90"), "-o", "mpi_f08.o"},
	})
	return err
}
