//go:build cgo && linux && (amd64 || arm64)

package native_test

import "testing"

// A partitioned message whose partitions are all made ready at once takes the times of a message of the same bytes, eager or not.
func TestPartitionedMessagesTakeTheTimesOfMessages(t *testing.T) {
	program := build(t, `#include <mpi.h>
#include <stdlib.h>
#include <string.h>
enum { MOST = 1 << 20, PARTITIONS = 4 };
int main(int argc, char **argv) {
	int rank, size, partitioned = strcmp(argv[1], "partitioned") == 0;
	MPI_Request q[2];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	char *sent = calloc(MOST, 1), *got = calloc(MOST, 1);
	int next = (rank + 1) % size, last = (rank + size - 1) % size;
	for (int bytes = PARTITIONS; bytes <= MOST; bytes *= 8) {
		memset(sent, rank + 1, (size_t)bytes);
		if (partitioned) {
			MPI_Psend_init(sent, PARTITIONS, bytes / PARTITIONS, MPI_CHAR, next, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
			MPI_Precv_init(got, 1, bytes, MPI_CHAR, last, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
			MPI_Start(&q[1]);
			MPI_Start(&q[0]);
			MPI_Pready_range(0, PARTITIONS - 1, q[0]);
		} else {
			MPI_Irecv(got, bytes, MPI_CHAR, last, 7, MPI_COMM_WORLD, &q[1]);
			MPI_Isend(sent, bytes, MPI_CHAR, next, 7, MPI_COMM_WORLD, &q[0]);
		}
		MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
		if (partitioned) {
			MPI_Request_free(&q[0]);
			MPI_Request_free(&q[1]);
		}
		if (got[0] != last + 1 || got[bytes - 1] != last + 1)
			return 3;
	}
	return MPI_Finalize();
}
`)
	for _, machine := range []string{"xt5", "loggops-default", "frontier"} {
		want, _, err := run(t, program, machine, 5, hosting{engines: 1}, "plain")
		if err != nil {
			t.Fatal(err)
		}
		for engines := range 2 {
			got, _, err := run(t, program, machine, 5, hosting{engines: engines + 1}, "partitioned")
			if err != nil || got.Fingerprint != want.Fingerprint {
				t.Errorf("%s, %d engines: %v, %v and fingerprint %s, want %v and %s", machine, engines+1, err, got.VirtualTime, got.Fingerprint, want.VirtualTime, want.Fingerprint)
			}
		}
	}
}
