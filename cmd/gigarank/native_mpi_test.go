//go:build mpi && cgo && linux && (amd64 || arm64)

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// longSends is a program that sends long messages, from the heap, the stack and variables, of sizes that
// no word divides. Each sender changes the content as soon as its call is over.
const longSends = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { longest = (1 << 20) + 3 };
static char variable[longest];

static void check(const char *bytes, int n, int wanted, const char *what) {
	for (int i = 0; i < n; i++)
		if (bytes[i] != (char)wanted) {
			printf("byte %d of %d of %s is %d, not %d\n", i, n, what, bytes[i], (char)wanted);
			exit(1);
		}
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	int rank, size;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	char *heap = malloc(longest), *in = malloc(longest);
	for (int k = 0; k < 8; k++) {
		int n = 30001 + k * 100003;
		memset(heap, rank + k, n);
		MPI_Request request;
		MPI_Irecv(in, n, MPI_BYTE, before, 1, MPI_COMM_WORLD, &request);
		MPI_Send(heap, n, MPI_BYTE, next, 1, MPI_COMM_WORLD);
		memset(heap, -1, n);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		check(in, n, before + k, "the heap");

		char stack[50001];
		memset(stack, rank + 2 * k, sizeof stack);
		MPI_Sendrecv(stack, sizeof stack, MPI_BYTE, before, 2, in, longest, MPI_BYTE, next, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		memset(stack, -1, sizeof stack);
		check(in, sizeof stack, next + 2 * k, "the stack");

		for (int i = 0; size % 2 == 0 && i < 20; i++) { /* pairs cross between two processes */
			int other = (rank + size / 2) % size;
			memset(heap, rank + i, n);
			MPI_Sendrecv(heap, n, MPI_BYTE, other, 4, in, n, MPI_BYTE, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			memset(heap, -1, n);
			check(in, n, other + i, "the heap, both ways");
		}

		memset(variable, rank + 3 * k, n);
		if (rank == 0) { /* the others' messages wait for their receives */
			for (int from = size - 1; from > 0; from--) {
				MPI_Recv(in, longest, MPI_BYTE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				check(in, n, from + 3 * k, "a variable");
			}
		} else {
			MPI_Ssend(variable, n, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
			memset(variable, -1, n);
		}
	}
	if (rank == 0)
		puts("all came");
	MPI_Finalize();
}
`

// Long messages come whole to ranks of other processes, which get the content of a blocking send from where
// it lies. The virtual results are those of one process.
func TestLongSendsBetweenHosts(t *testing.T) {
	dir := t.TempDir()
	source, program := filepath.Join(dir, "longsends.c"), filepath.Join(dir, "longsends")
	if err := os.WriteFile(source, []byte(longSends), 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := command(t, "cc", "-O2", source, "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	shown, err := command(t, "machine", "show", "tianhe-1a").Output()
	if err != nil {
		t.Fatal(err)
	}
	fingerprint, eager := regexp.MustCompile(`fingerprint +\w+`), regexp.MustCompile(`eager_limit: .*`)
	for _, progress := range []string{"calls", "asynchronous"} {
		machine := filepath.Join(dir, progress+".yaml")
		if err := os.WriteFile(machine, eager.ReplaceAll(shown, []byte("eager_limit: 4KiB\n  progress: "+progress)), 0o666); err != nil {
			t.Fatal(err)
		}
		for hosts, ranks := range map[int]string{3: "5", 2: "4"} {
			args := []string{"run", program, "--ranks", ranks, "--machine", machine, "--progress", "none"}
			alone, err := command(t, args...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, alone)
			}
			for _, stacks := range []string{"own", "copied"} {
				for _, copying := range []string{"", "OMPI_MCA_btl_vader_single_copy_mechanism=none"} {
					cmd := underMPI(t, hosts, append(args, "--stacks", stacks)...)
					cmd.Env = append(cmd.Env, copying)
					text, err := cmd.CombinedOutput()
					if err != nil || !strings.Contains(string(text), "all came\n") || fingerprint.FindString(string(text)) != fingerprint.FindString(string(alone)) {
						t.Errorf("%s ranks, progress %s, stacks %s, %s: %v\n%swant %s", ranks, progress, stacks, copying, err, text, fingerprint.Find(alone))
					}
				}
			}
		}
	}
}
