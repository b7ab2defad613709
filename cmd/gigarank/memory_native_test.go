//go:build !race && cgo && linux && (amd64 || arm64)

package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/result"
)

// A native rank in a barrier takes mostly 240 to 330 bytes where stacks are copied: its record, the
// call, and what its stack has unlike others. A copy of its whole stack would make it 450.
func TestMemoryOfNativeRanks(t *testing.T) {
	program := filepath.Join(t.TempDir(), "barriers")
	if output, err := command(t, "cc", "-O2", filepath.Join("..", "..", "internal", "measure", "npb", "programs", "barriers.c"), "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	peak := func(ranks string) int64 {
		output, err := command(t, "run", program, "--ranks", ranks, "--engines", "1", "--stacks", "copied", "--json", "-", "--progress", "none", "--", "3").Output()
		if err != nil {
			t.Fatal(err)
		}
		var d result.Document
		if err := json.Unmarshal(output, &d); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
		return d.PeakRSS
	}
	few, many := peak("100000"), peak("500000")
	if bytes := float64(many-few) / 400_000; bytes > 400 {
		t.Errorf("a rank takes %.0f bytes", bytes)
	} else {
		t.Logf("a rank takes %.0f bytes", bytes)
	}
}

// What ranks of a program hold themselves is measured, with few of them: 32 MiB each.
func TestPlanOfNativeRanksThatHoldMemory(t *testing.T) {
	dir := t.TempDir()
	source, program := filepath.Join(dir, "holds.c"), filepath.Join(dir, "holds")
	const text = `#include <mpi.h>
#include <stdlib.h>
#include <string.h>
int main(int n, char **all) {
	MPI_Init(&n, &all);
	char *held = memset(malloc(32 << 20), n, 32 << 20);
	MPI_Barrier(MPI_COMM_WORLD);
	n = held[n];
	return MPI_Finalize() + (n != 1);
}
`
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if output, err := command(t, "cc", "-O2", source, "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, ranks := range []string{"3", "1000"} {
		expectLines(t, planned(t, program, "--ranks", ranks, "--memory", "256GiB"), `^memory +3[1-4]\.[0-9] MiB a rank, `)
	}
}

// Where memory ends in the C runtime, which no rank is to blame for, the process says so and what to do.
func TestNoMemoryInTheRuntime(t *testing.T) {
	const text = `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MANY = 40000000 };

void mpi_type_hindexed_(const MPI_Fint *, const MPI_Fint *, const MPI_Fint *, const MPI_Fint *, MPI_Fint *, MPI_Fint *);

/* Leaves so many bytes of addresses. */
static void limit(size_t left) {
	size_t pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (!f || fscanf(f, "%zu", &pages) != 1)
		exit(2);
	fclose(f);
	size_t most = pages * (size_t)getpagesize() + left;
	setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	static const MPI_Fint n = MANY, char_type = 1;
	MPI_Fint *ones = calloc(n, sizeof *ones), made, error;
	limit(n * sizeof(MPI_Aint) - 1);
	mpi_type_hindexed_(&n, ones, ones, &char_type, &made, &error);
	return MPI_Finalize();
}
`
	dir := t.TempDir()
	source, program := filepath.Join(dir, "limited.c"), filepath.Join(dir, "limited")
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if output, err := command(t, "cc", source, "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	output, err := command(t, "run", program, "--ranks", "2", "--engines", "1", "--progress", "none").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != terminal.ExitHost || !strings.Contains(string(output), "gigarank: no memory for what ranks keep and what they exchange: use fewer ranks, or more hosts\n") {
		t.Errorf("%v\n%s", err, output)
	}
}
