//go:build mpi && !mpich && !mpiflags

package mpi

// #cgo pkg-config: ompi-c
import "C"
