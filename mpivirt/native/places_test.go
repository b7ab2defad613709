//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"strings"
	"testing"

	"gigarank/mpivirt/native"
)

// A program whose lines the test below knows: a deadlock in a function, on a communicator with a name, beside a message with
// another tag; or, with an argument, a call that is in error or does not match. With five arguments buffers do not lie on the stack.
const placed = `#include <mpi.h>
static __attribute__((noinline)) void exchange(int rank, MPI_Comm halo) {
	int v = rank;
	if (rank == 0) MPI_Recv(&v, 1, MPI_INT, 1, 5, halo, MPI_STATUS_IGNORE);
	if (rank == 1) MPI_Send(&v, 1, MPI_INT, 0, 4, halo);
	if (rank == 2) {
		MPI_Request request;
		MPI_Irecv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 6, halo, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	__asm__ volatile("");
}
static int common; static __attribute__((noinline)) void share(int *v, MPI_Comm halo) {
	MPI_Bcast(v, 1, MPI_INT, 3, halo);
	__asm__ volatile("");
}
int main(int argc, char **argv) {
	int rank;
	MPI_Comm halo;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_split(MPI_COMM_WORLD, 7, rank, &halo);
	MPI_Comm_set_name(halo, "halo");
	if (argc > 4 && rank == 3)
		share(argc > 5 ? &common : &rank, halo);
	else if (argc > 3 && (argc > 4 || rank == 3))
		MPI_Bcast(argc > 5 ? &common : &rank, 1, MPI_INT, 0, halo);
	else if (argc > 2 && rank == 3)
		MPI_Allreduce(MPI_IN_PLACE, &rank, 1, MPI_INT, MPI_SUM, halo);
	if (argc > 1 && argc < 3 && rank == 2)
		MPI_Send(&rank, 1, MPI_INT, 9, 5, halo);
	if (argc == 1)
		exchange(rank, halo);
	MPI_Barrier(halo);
	MPI_Finalize();
	return 0;
}
`

// Reports of deadlocks and failures name the line that has made the call, the communicator as the program has named it, and the nearest
// message; the same with any stacks and engines. The lines are those of the text above.
func TestFailuresNameTheirLines(t *testing.T) {
	program := build(t, placed)
	for _, c := range []struct {
		arguments []string
		says      []string
	}{
		{nil, []string{
			`rank 0 waits in Recv, called in exchange (program.c:4), for a message from rank 1 of "halo" (Comm_split with color 7, collective 0 on WORLD) with tag 5 since `,
			"; from rank 1 lies tag 4 where 5 is wanted\n",
			`rank 1 waits in Barrier, called in main (program.c:34), for rank 0 of "halo" (Comm_split with color 7, collective 0 on WORLD) and 1 more to call it since `,
			`rank 2 waits in Wait, called in exchange (program.c:9), for a message from any rank of "halo" `,
			"rank 3 waits in Barrier, called in main (program.c:34), ",
		}},
		{[]string{"wrong"}, []string{"rank 2 failed at virtual time ", " in Send, called in main (program.c:31): MPI_ERR_RANK"}},
		{[]string{"two", "arguments"}, []string{"rank 0 failed at virtual time ", " in Barrier, called in main (program.c:34): MPI_ERR_OTHER: Barrier, but rank 3 calls Allreduce as collective 0 on communicator (Comm_split with color 7, collective 0 on WORLD)", ", called in main (program.c:29)"}},
		{[]string{"no", "end", "here"}, []string{"rank 3 failed at virtual time ", " in Bcast, called in main (program.c:27): MPI_ERR_OTHER: Bcast with root 0, but rank 0 calls Barrier as collective 0 on communicator (Comm_split with color 7, collective 0 on WORLD)", ", called in main (program.c:34)"}},
		{[]string{"no", "end", "here", "either"}, []string{"rank 3 failed at virtual time ", " in Bcast, called in share (program.c:14): MPI_ERR_ROOT: Bcast with root 3, but rank 0 calls Bcast with root 0 as collective 0 on communicator (Comm_split with color 7, collective 0 on WORLD), called in main (program.c:27)"}},
		{[]string{"no", "end", "here", "either", "apart"}, []string{"rank 3 failed at virtual time ", " in Bcast, called in share (program.c:14): MPI_ERR_ROOT: Bcast with root 3, but rank 0 calls Bcast with root 0 as collective 0 on communicator (Comm_split with color 7, collective 0 on WORLD), called in main (program.c:27)"}},
	} {
		first := ""
		for _, h := range []hosting{{engines: 1, stacks: native.Own}, {engines: 1, stacks: native.Copied}, {engines: 3, stacks: native.Own}, {engines: 2, stacks: native.Copied, strict: true}} {
			h.places = true
			_, _, err := run(t, program, "xt5", 4, h, c.arguments...)
			if err == nil {
				t.Fatalf("%+v: no error", h)
			}
			for _, says := range c.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%+v: %v\nwant %q", h, err, says)
				}
			}
			if first == "" {
				first = err.Error()
			}
			if err.Error() != first {
				t.Errorf("%+v: %v\nfirst: %s", h, err, first)
			}
		}
	}
}
