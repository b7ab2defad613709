package native_test

import (
	"fmt"
	"slices"
	"testing"

	"gigarank/mpivirt/native"
)

// A program that polls more often than makes a long loop, and then sends, as HPCC's RandomAccess does. Every rank
// makes 1,024 polls and more in vain, with each of the functions that poll, then passes a message on. The numbers
// follow from the time of a poll, 100 ns, and are the same on any hosting.
func TestPollsBetweenWork(t *testing.T) {
	program := build(t, prelude+`
static int poll_once(int kind, MPI_Request *q) {
	int found = 0, some, which[1];
	MPI_Message message;
	switch (kind) {
	case 0: MPI_Test(q, &found, MPI_STATUS_IGNORE); break;
	case 1: MPI_Testany(1, q, &some, &found, MPI_STATUS_IGNORE); break;
	case 2: MPI_Testall(1, q, &found, MPI_STATUSES_IGNORE); break;
	case 3: MPI_Testsome(1, q, &found, which, MPI_STATUSES_IGNORE); break;
	case 4: MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE); break;
	case 5: MPI_Improbe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE); break;
	}
	return found;
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	for (int kind = 0; kind < 6; kind++) {
		int got = -1, tries = 0, found = 0;
		MPI_Request q;
		MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &q);
		double begun = MPI_Wtime();
		while (tries < 1024 + 500 * kind && !found) {
			found = poll_once(kind, &q);
			tries++;
		}
		printf("%d: %d polls, %d found, in %.1f us\n", kind, tries, found, 1e6 * (MPI_Wtime() - begun));
		MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	return MPI_Finalize();
}
`)
	var want []string
	for rank := range 3 {
		for kind := range 6 {
			polls := 1024 + 500*kind
			want = append(want, fmt.Sprintf("[%d] %d: %d polls, 0 found, in %.1f us\n", rank, kind, polls, float64(polls)/10))
		}
	}
	for _, stacks := range []native.Stacks{native.Own, native.Copied} {
		for engines := 1; engines <= 3; engines++ {
			_, lines, err := run(t, program, "xt5", 3, hosting{engines: engines, stacks: stacks, label: true})
			slices.SortStableFunc(lines, func(a, b string) int { return int(a[1]) - int(b[1]) })
			if err != nil || !slices.Equal(lines, want) {
				t.Errorf("%v stacks, %d engines: %v, printed %q, want %q", stacks, engines, err, lines, want)
			}
		}
	}
}
