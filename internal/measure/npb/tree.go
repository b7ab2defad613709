package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// compiler is a pair of compilers for C and Fortran.
type compiler struct{ name, c, fortran string }

func (s *settings) native() compiler {
	return compiler{"gigarank", s.gigarank + " cc", s.gigarank + " fc"}
}

var (
	simgrid = compiler{"smpi", "smpicc", "smpiff"}
	openMPI = compiler{"mpi", "mpicc", "mpif90"}
)

// build returns the executable of a benchmark. Each compiler works in a copy of the tree.
func (s *settings) build(with compiler, benchmark, class string) (string, error) {
	bin := filepath.Join(s.work, with.name+"-bin")
	program := filepath.Join(bin, strings.ToLower(benchmark)+"."+class+".x")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	tree := filepath.Join(s.work, with.name)
	if _, err := os.Stat(tree); err != nil {
		if _, err := os.Stat(filepath.Join(s.tree, "sys", "setparams.c")); err != nil {
			return "", fmt.Errorf("%s is no NPB3.4-MPI: %w", s.tree, err)
		}
		if err := os.CopyFS(tree, os.DirFS(s.tree)); err != nil {
			return "", err
		}
		// What it would say is said on the command line.
		if err := os.WriteFile(filepath.Join(tree, "config", "make.def"), nil, 0o666); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(bin, 0o777); err != nil {
		return "", err
	}
	directory := filepath.Join(tree, benchmark)
	for _, arguments := range [][]string{{"clean"}, {
		"CLASS=" + class, "BINDIR=" + bin, "CC=cc", "RAND=randi8", "CONVERTFLAG=",
		"MPIFC=" + with.fortran, "FLINK=" + with.fortran, "FFLAGS=-O3 -fallow-argument-mismatch", "FLINKFLAGS=-O3", "FMPI_LIB=", "FMPI_INC=",
		"MPICC=" + with.c, "CLINK=" + with.c, "CFLAGS=-O3", "CLINKFLAGS=-O3", "CMPI_LIB=", "CMPI_INC=",
	}} {
		if output, _, err := s.commands.run(context.Background(), append([]string{"make", "-C", directory}, arguments...)...); err != nil {
			return "", fmt.Errorf("%s.%s with %s: %w\n%s", benchmark, class, with.name, err, output)
		}
	}
	return program, nil
}
