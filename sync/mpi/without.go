//go:build !mpi

package mpi

import "errors"

// Available reports whether this build has MPI.
func Available() bool { return false }

// Version returns the name and version of the MPI library, "" without MPI.
func Version() string { return "" }

// Open initialises MPI and returns the job that this process belongs to.
func Open() (Job, error) {
	return nil, errors.New("this build has no MPI: build with -tags mpi (Open MPI) or -tags mpi,mpich (MPICH), with the MPI library's development files installed")
}

// Abort ends all processes of the run with an exit code and does not return. Without
// MPI it does nothing.
func Abort(int) {}
