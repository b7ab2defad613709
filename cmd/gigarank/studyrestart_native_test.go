//go:build !race && cgo && linux && (amd64 || arm64)

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/result"
)

// The memory of a point of a study does not count what ranks of the points before have left: each rank of this program holds 40 MiB until its end. All
// points are there once, also those that fail, in the order and with the numbers of a study whose points leave nothing.
func TestPointsCountTheirOwnMemory(t *testing.T) {
	dir := t.TempDir()
	source, program, out := filepath.Join(dir, "keeps.c"), filepath.Join(dir, "keeps"), filepath.Join(dir, "study")
	const text = `#include <mpi.h>
#include <stdlib.h>
#include <string.h>
char *kept;
int main(int argc, char **argv) {
	int size;
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	kept = malloc(40 << 20);
	memset(kept, 1, 40 << 20);
	MPI_Barrier(MPI_COMM_WORLD);
	if (size == 2)
		return 7;
	return MPI_Finalize();
}
`
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if output, err := command(t, "cc", "-O1", source, "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	cmd := command(t, "study", program, "--ranks", "1,2,3,4", "--machine", "xt5,frontier", "--engines", "1", "--out", out, "--progress", "plain")
	output, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != terminal.ExitProgram {
		t.Fatalf("exit code %d: %v\n%s", code, err, output)
	}
	for _, line := range []string{"8 points: 8 to simulate, 0 finished before", "1/8 ", "4/8 ", "8/8 ", "2 points of 8 failed"} {
		if strings.Count(string(output), "gigarank: "+line)+strings.Count(string(output), line) == 0 {
			t.Errorf("the output lacks %q:\n%s", line, output)
		}
	}
	if n := strings.Count(string(output), "to simulate"); n != 1 {
		t.Errorf("the study begins %d times:\n%s", n, output)
	}
	var points []result.Document
	for _, record := range recordsOf(t, out) {
		points = append(points, record.Result)
	}
	if len(points) != 8 {
		t.Fatalf("%d points:\n%s", len(points), output)
	}
	for _, d := range points {
		const rank, beside = 40 << 20, 110 << 20 // the process itself, and what the points before may leave
		if own := d.Ranks * rank; d.PeakRSS < own || d.PeakRSS > own+beside {
			t.Errorf("%d ranks on %s: %d MiB", d.Ranks, d.Machine, d.PeakRSS>>20)
		}
	}
	if at := slices.IndexFunc(points, func(d result.Document) bool { return d.Ranks == 2 && !d.Complete }); at < 0 {
		t.Error("no point has failed")
	}
}

// What a study tells when it begins anew is what it reads.
func TestProgressOfStudies(t *testing.T) {
	for _, p := range []progressSoFar{{}, {done: 3, total: 8}, {done: 3, total: 8, failed: []int{5}}, {done: 4, total: 9, failed: []int{0, 12}}} {
		if got := readProgress(p.String()); got.done != p.done || got.total != p.total || !slices.Equal(got.failed, p.failed) {
			t.Errorf("%+v is read as %+v", p, got)
		}
	}
	if p := readProgress(""); p.total != 0 {
		t.Errorf("no progress: %+v", p)
	}
}
