//go:build cgo && linux && (amd64 || arm64)

package skeleton_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gigarank/mpivirt/native"
	"gigarank/mpivirt/native/toolchain"
)

// TestMessagesWithoutContent: messages and collectives whose content nobody needs take the course and the times of the program, in all forms of buffers.
func TestMessagesWithoutContent(t *testing.T) {
	needLLVM(t)
	for name, text := range map[string]string{
		"between two ranks": `
	MPI_Datatype column, gap; MPI_Request r[3]; MPI_Status s;
	MPI_Type_vector(50, 2, 20, MPI_DOUBLE, &column); MPI_Type_commit(&column);
	MPI_Type_create_resized(MPI_DOUBLE, 0, 24, &gap); MPI_Type_commit(&gap);
	MPI_Irecv(v, 100, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, r);
	MPI_Isend(u + 3, 1, column, right, 1, MPI_COMM_WORLD, r + 1);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	MPI_Sendrecv(u, 1000, MPI_DOUBLE, right, 2, v, 20, column, left, 2, MPI_COMM_WORLD, &s);
	MPI_Get_count(&s, MPI_DOUBLE, &n);
	MPI_Sendrecv_replace(u, n / 3, gap, left, 3, right, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Send_init(u, 30, MPI_DOUBLE, right, 4, MPI_COMM_WORLD, r); MPI_Recv_init(v, 10, gap, left, 5, MPI_COMM_WORLD, r + 1); MPI_Recv_init(v, 30, MPI_DOUBLE, left, 4, MPI_COMM_WORLD, r + 2);
	for (int k = 0; k < 3; k++) {
		MPI_Startall(3, r);
		MPI_Ssend(u, 10, gap, right, 5, MPI_COMM_WORLD);
		MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
	}`,
		"collectives": `
	int counts[8], at[8], other[8];
	for (int i = 0; i < 8; i++) counts[i] = i + 1, at[i] = i * 20, other[i] = rank + 1;
	MPI_Bcast(u, rank < 0 ? 1 : 700, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
	MPI_Reduce(rank == 0 ? MPI_IN_PLACE : u, u, 300, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, u, 300, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	MPI_Allreduce(u, v, 300, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	if (rank == 0) MPI_Gather(u, 7, MPI_DOUBLE, v, 7, MPI_DOUBLE, 0, MPI_COMM_WORLD); else MPI_Gather(u, 7, MPI_DOUBLE, NULL, 0, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	if (rank == 0) MPI_Scatter(u, 7, MPI_DOUBLE, MPI_IN_PLACE, 0, MPI_DOUBLE, 0, MPI_COMM_WORLD); else MPI_Scatter(NULL, 0, MPI_DOUBLE, v, 7, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	MPI_Gatherv(u, rank + 1, MPI_DOUBLE, v, counts, at, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
	MPI_Gatherv(rank == 0 ? MPI_IN_PLACE : u, rank + 1, MPI_DOUBLE, v, counts, at, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	MPI_Scatterv(u, counts, at, MPI_DOUBLE, v, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	MPI_Allgather(u, 3, MPI_DOUBLE, v, 3, MPI_DOUBLE, MPI_COMM_WORLD);
	MPI_Allgatherv(u, rank + 1, MPI_DOUBLE, v, counts, at, MPI_DOUBLE, MPI_COMM_WORLD);
	MPI_Alltoall(u, 3, MPI_DOUBLE, v, 3, MPI_DOUBLE, MPI_COMM_WORLD);
	MPI_Alltoall(MPI_IN_PLACE, 3, MPI_DOUBLE, v, 3, MPI_DOUBLE, MPI_COMM_WORLD);
	if (rank < 0) MPI_Alltoallv(NULL, other, other, MPI_DOUBLE, NULL, counts, at, MPI_DOUBLE, MPI_COMM_WORLD); else MPI_Alltoallv(u, other, at, MPI_DOUBLE, v, counts, at, MPI_DOUBLE, MPI_COMM_WORLD);
	MPI_Scan(u, v, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Exscan(u, v, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Reduce_scatter_block(u, v, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Reduce_scatter(u, v, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);`,
		"nonblocking collectives, and types": `
	MPI_Datatype column; MPI_Request r[4];
	MPI_Type_vector(50, 2, 20, MPI_DOUBLE, &column); MPI_Type_commit(&column);
	MPI_Ibcast(u, 1, column, 0, MPI_COMM_WORLD, r);
	MPI_Iallreduce(MPI_IN_PLACE, v, 30, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, r + 1);
	MPI_Ialltoall(u, 2, MPI_DOUBLE, v + 200, 2, MPI_DOUBLE, MPI_COMM_WORLD, r + 2);
	MPI_Igather(u, 4, MPI_DOUBLE, v + 100, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD, r + 3);
	MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
	MPI_Bcast(u, 1, column, 0, MPI_COMM_WORLD);
	MPI_Allgather(u, 1, column, v, 100, MPI_DOUBLE, MPI_COMM_WORLD);`,
		"a cart": `
	int dims[1] = {0}, periods[1] = {1}; MPI_Comm ring;
	MPI_Dims_create(size, 1, dims); MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
	MPI_Neighbor_allgather(u, 5, MPI_DOUBLE, v, 5, MPI_DOUBLE, ring);
	MPI_Neighbor_alltoall(u, 5, MPI_DOUBLE, v, 5, MPI_DOUBLE, ring);`,
	} {
		program, refusal := build(t, body("static double u[6000], v[6000];", text))
		if refusal != "" {
			t.Errorf("%s: %s", name, refusal)
			continue
		}
		verify(t, program, []int{1, 2, 5})
		if want, got := run(t, program, 5, 1, native.Automatic), run(t, extract(t, program), 5, 2, native.Copied); want != got {
			t.Errorf("%s: with two engines and copied stacks the skeleton ends with %s, the program with %s", name, got, want)
		}
	}
}

// TestMembersThatDisagreeOnContent: a collective in which some members have content and others none is an error that names the two.
func TestMembersThatDisagreeOnContent(t *testing.T) {
	dir := t.TempDir()
	source, program := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
	for name, call := range map[string]string{
		"MPI_Allreduce": "MPI_Allreduce(u, v, 9, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);",
		"MPI_Bcast":     "MPI_Bcast(u, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD);",
		"MPI_Alltoall":  "MPI_Alltoall(u, 2, MPI_DOUBLE, v, 2, MPI_DOUBLE, MPI_COMM_WORLD);",
		"MPI_Scan":      "MPI_Scan(u, v, 9, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);",
		"MPI_Gather":    "MPI_Gather(u, 9, MPI_DOUBLE, v, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD);",
	} {
		text := "#include <mpi.h>\nvoid *gigarank_unread_sent(void *), *gigarank_unread_received(void *);\nstatic double a[90], b[90];\nint main(int n, char **all) {\n" +
			"MPI_Init(&n, &all); int rank; MPI_Comm_rank(MPI_COMM_WORLD, &rank);\ndouble *u = rank == 1 ? gigarank_unread_sent(0) : a, *v = rank == 1 ? gigarank_unread_received(0) : b;\n" + call + "\nreturn MPI_Finalize() + (u == v); }\n"
		if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		var printed bytes.Buffer
		if code, err := toolchain.Wrap(toolchain.C, []string{"-g", source, "-o", program}, nil, &printed, &printed); err != nil || code != 0 {
			t.Fatalf("exit code %d, %v: %s", code, err, &printed)
		}
		for _, engines := range []int{1, 2} {
			if end := run(t, program, 4, engines, native.Automatic); !strings.Contains(end, "one of the two with the content of its buffers and the other with their sizes alone") || !strings.Contains(end, strings.TrimPrefix(name, "MPI_")) || !strings.Contains(end, "p.c:7") {
				t.Errorf("%s on %d engines ends with %s", name, engines, end)
			}
		}
	}
}

// highWater returns the most memory in KiB that the process has had.
func highWater(t *testing.T) (kib int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatal(err)
	}
	return kib
}

// TestContentTakesNoMemory: a skeleton whose ranks send hundreds of megabytes takes no memory for them.
func TestContentTakesNoMemory(t *testing.T) {
	needLLVM(t)
	program, refusal := build(t, body("static double u[1 << 25], v[1 << 25];", `
	MPI_Request r[2];
	MPI_Irecv(v, 1 << 25, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, r);
	MPI_Isend(u, 1 << 25, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, r + 1);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	MPI_Alltoall(u, 1 << 22, MPI_DOUBLE, v, 1 << 22, MPI_DOUBLE, MPI_COMM_WORLD);
	MPI_Bcast(u, 1 << 25, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	MPI_Allreduce(u, v, 1 << 25, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);`))
	if refusal != "" {
		t.Fatal(refusal)
	}
	skeleton := extract(t, program)
	before := highWater(t)
	if end := run(t, skeleton, 4, 1, native.Automatic); strings.Contains(end, " ") {
		t.Fatal(end)
	}
	if more := highWater(t) - before; more > 100<<10 {
		t.Errorf("the skeleton takes %d KiB", more)
	}
}
