//go:build cgo && linux && (amd64 || arm64)

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
)

// allSends is a program for any number of ranks, which send to the right in every way that MPI has, and call collectives.
const allSends = `
#include <mpi.h>

int main(int argc, char **argv) {
	int rank, size, numbers[64] = {0}, got[64];
	MPI_Request r[2];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	MPI_Comm w = MPI_COMM_WORLD;

	/* 0, 1, 2 and 3 bytes */
	for (int n = 0; n < 4; n++) {
		MPI_Irecv(got, n, MPI_BYTE, left, 0, w, &r[0]);
		MPI_Send(numbers, n, MPI_BYTE, right, 0, w);
		MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	}
	/* 4 ints of every other place: 16 bytes, three times */
	MPI_Datatype spread;
	MPI_Type_vector(4, 1, 2, MPI_INT, &spread);
	MPI_Type_commit(&spread);
	MPI_Irecv(got, 4, MPI_INT, left, 0, w, &r[0]);
	MPI_Issend(numbers, 1, spread, right, 0, w, &r[1]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	MPI_Sendrecv(numbers, 1, spread, right, 0, got, 4, MPI_INT, left, 0, w, MPI_STATUS_IGNORE);
	MPI_Sendrecv_replace(got, 4, MPI_INT, right, 0, left, 0, w, MPI_STATUS_IGNORE);
	/* 32 bytes, started twice; the receives count nothing */
	MPI_Recv_init(got, 8, MPI_INT, left, 0, w, &r[0]);
	MPI_Send_init(numbers, 8, MPI_INT, right, 0, w, &r[1]);
	for (int i = 0; i < 2; i++) {
		MPI_Startall(2, r);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
	MPI_Send(numbers, 64, MPI_INT, MPI_PROC_NULL, 0, w);
	/* MPI returns the error of a rank that does not exist, and sends nothing */
	MPI_Comm_set_errhandler(w, MPI_ERRORS_RETURN);
	if (MPI_Send(numbers, 64, MPI_INT, size, 0, w) == MPI_SUCCESS)
		return 1;

	MPI_Bcast(numbers, 16, MPI_INT, size - 1, w);                                  /* 64 bytes of the root */
	MPI_Allreduce(MPI_IN_PLACE, numbers, 2, MPI_INT, MPI_SUM, w);                  /* 8 bytes */
	MPI_Iallreduce(numbers, got, 2, MPI_INT, MPI_SUM, w, &r[0]);                   /* 8 bytes */
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	MPI_Allreduce_init(numbers, got, 2, MPI_INT, MPI_SUM, w, MPI_INFO_NULL, &r[0]); /* 8 bytes for each start */
	for (int i = 0; i < 2; i++) {
		MPI_Start(&r[0]);
		MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&r[0]);
	MPI_Barrier(w);
	MPI_Comm other;
	MPI_Comm_dup(w, &other);
	MPI_Comm_free(&other);
	/* a ring of neighbours: 4 bytes to each of two, and the same 4 bytes to both */
	MPI_Cart_create(w, 1, &size, (int[]){1}, 0, &other);
	MPI_Neighbor_alltoall(numbers, 1, MPI_INT, got, 1, MPI_INT, other);
	MPI_Neighbor_allgather(numbers, 1, MPI_INT, got, 1, MPI_INT, other);
	MPI_Comm_free(&other);
	return MPI_Finalize();
}
`

// allSendsSizes returns the sizes of allSends on a number of ranks.
func allSendsSizes(ranks int) (sent, handed string) {
	sent = fmt.Sprintf("0-0:%d=0 1-1:%d=%d 2-3:%d=%d 16-31:%d=%d 32-63:%d=%d", ranks, ranks, ranks, 2*ranks, 5*ranks, 3*ranks, 48*ranks, 2*ranks, 64*ranks)
	// 0 bytes: a bcast of all but the root, a barrier. 4 and 8 bytes: neighbours, and four allreduces.
	handed = fmt.Sprintf("0-0:%d=0 4-7:%d=%d 8-15:%d=%d 64-127:1=64", 2*ranks-1, ranks, 4*ranks, 5*ranks, 40*ranks)
	return sent, handed
}

// buildAllSends returns the program allSends.
func buildAllSends(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	source, program := filepath.Join(dir, "sends.c"), filepath.Join(dir, "sends")
	if err := os.WriteFile(source, []byte(allSends), 0o666); err != nil {
		t.Fatal(err)
	}
	c, stdout, stderr := terminaltest.Console(nil)
	if code := execute([]string{"cc", "-Wall", "-Werror", source, "-o", program}, c); code != terminal.ExitDone {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	return program
}

// A native rank's messages and collectives count by the bytes that their types have, whatever the procedure.
func TestSizesOfNativeProgram(t *testing.T) {
	program := buildAllSends(t)
	plain := runDocument(t, program+" --ranks 7")
	sent, handed := allSendsSizes(7)
	for _, how := range []string{"--engines 1", "--engines 2 --sync null", "--engines 5 --strict", "--machine loggops-default"} {
		d := runDocument(t, program+" --ranks 7 --stats "+how)
		if sizesIn(d.Sent) != sent || sizesIn(d.Handed) != handed {
			t.Errorf("%s:\nsent %q, handed to collectives %q; want\n%q and %q", how, sizesIn(d.Sent), sizesIn(d.Handed), sent, handed)
		}
		if d.Machine == plain.Machine && d.Fingerprint != plain.Fingerprint {
			t.Errorf("%s: the fingerprint is %s, without --stats %s", how, d.Fingerprint, plain.Fingerprint)
		}
	}
}
