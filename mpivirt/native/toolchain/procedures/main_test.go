package main

import (
	"os"
	"regexp"
	"testing"

	"gigarank/mpivirt/internal/world"
)

// The header in the tree is the header of the table.
func TestHeaderIsThatOfTheTable(t *testing.T) {
	text, err := os.ReadFile("../runtime/rank/procedures.h")
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != header() {
		t.Error("mpivirt/native/toolchain/runtime/rank/procedures.h is not that of the table of procedures: run go generate ./mpivirt/internal/world")
	}
}

// Each name in C is the name of a function of mpi.h, but for names of gigarank's own.
func TestNamesInCAreFunctionsOfMPI(t *testing.T) {
	text, err := os.ReadFile("../runtime/include/mpi.h")
	if err != nil {
		t.Fatal(err)
	}
	declarations := string(text)
	for p := range world.Procedure(world.Procedures()) {
		if p != world.NoProcedure && p != world.Compute && !regexp.MustCompile(`\b(MPI_)?`+p.NameInC()+`\b`).MatchString(declarations) {
			t.Errorf("mpi.h declares no MPI_%s, the name of %v in C", p.NameInC(), p)
		}
	}
}
