//go:build !mpi

package mpi

import (
	"errors"
	"time"
)

// Available reports whether this build has MPI.
func Available() bool { return false }

// Version returns the name and version of the MPI library, "" without MPI.
func Version() string { return "" }

// Open initialises MPI and returns the job that this process belongs to.
func Open(time.Duration) (Job, error) {
	return nil, errors.New("this build has no MPI: build with -tags mpi (Open MPI) or -tags mpi,mpich (MPICH), with the MPI library's development files installed")
}

// OpenLink initialises MPI for measurements.
func OpenLink(int, bool) (Link, error) {
	_, err := Open(UsualLimit)
	return nil, err
}

// Abort ends all processes of the run with an exit code and does not return. Without
// MPI it does nothing.
func Abort(int) {}
