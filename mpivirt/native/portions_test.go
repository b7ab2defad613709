//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"fmt"
	"testing"

	"gigarank/mpivirt/native"
)

// tables is a program with a table among its variables that all ranks fill alike. It is changed by ranks, messages, collectives, and an operation of the program,
// each in the middle of calls in which other ranks run.
const tables = prelude + `
enum { N = 20000, FROM = 5000, TO = 9000, SUMS = 13000, PERSISTENT = 17000 };
static int table[N];
static int model[N]; // 80 KB each
static void check(int line) {
	for (int i = 0; i < N; i++)
		if (table[i] != model[i]) {
			printf("rank %d, line %d: table[%d] is %d, not %d\n", rank, line, i, table[i], model[i]);
			exit(3);
		}
}
static void set(int i, int value) { table[i] = model[i] = value; }
static void combine(void *in, void *inout, int *n, MPI_Datatype *type) {
	for (int i = 0; i < *n; i++)
		((int *)inout)[i] += ((int *)in)[i];
	set(4, table[4] + 1); // the rank's own variables lie in place
}
int main(int argc, char **argv) {
	begin(&argc, &argv);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < N; i++) set(i, i * 3 + round);
		MPI_Barrier(MPI_COMM_WORLD);
		check(__LINE__);
		if ((rank + round) % 3 == 0) set(rank * 7 % N, -rank);
		MPI_Barrier(MPI_COMM_WORLD);
		check(__LINE__);
		int left = (rank + size - 1) % size, right = (rank + 1) % size, mine[40];
		for (int i = 0; i < 40; i++) mine[i] = rank * 100 + i + round;
		MPI_Request request, other;
		MPI_Irecv(table + TO, 40, MPI_INT, left, 1, MPI_COMM_WORLD, &request);
		MPI_Recv_init(table + PERSISTENT, 40, MPI_INT, left, 2, MPI_COMM_WORLD, &other);
		MPI_Start(&other);
		MPI_Barrier(MPI_COMM_WORLD); // other ranks run while the receives are open
		memcpy(table + FROM, mine, sizeof mine), memcpy(model + FROM, mine, sizeof mine);
		MPI_Send(table + FROM, 40, MPI_INT, right, 1, MPI_COMM_WORLD);
		MPI_Send(mine, 40, MPI_INT, right, 2, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Wait(&other, MPI_STATUS_IGNORE);
		MPI_Request_free(&other);
		for (int i = 0; i < 40; i++) model[TO + i] = model[PERSISTENT + i] = left * 100 + i + round;
		check(__LINE__);
		MPI_Bcast(table, N / 4, MPI_INT, round % size, MPI_COMM_WORLD);
		int root = round % size;
		for (int i = 0; i < N / 4; i++) model[i] = i * 3 + round;
		if ((root + round) % 3 == 0) model[root * 7 % N] = -root;
		check(__LINE__);
		int before = table[4];
		MPI_Op op;
		MPI_Op_create(combine, 1, &op);
		for (int i = 0; i < 9; i++) table[SUMS + i] = rank + i;
		MPI_Allreduce(MPI_IN_PLACE, table + SUMS, 9, MPI_INT, op, MPI_COMM_WORLD);
		for (int i = 0; i < 9; i++) model[SUMS + i] = size * (size - 1) / 2 + size * i;
		check(__LINE__);
		if (table[4] < before) exit(4);
		MPI_Op_free(&op);
	}
	return MPI_Finalize();
}
`

// A table that ranks have alike among their variables, and that each rank, messages and operations change, is that of each rank at all times.
func TestVariablesInCommon(t *testing.T) {
	program := build(t, "#define ROUNDS 25\n"+tables)
	want := ""
	for _, h := range []hosting{{engines: 1}, {engines: 2}, {engines: 1, stacks: native.Copied}, {engines: 1, bursts: measured}} {
		result, lines, err := run(t, program, "xt5", 7, h)
		if err != nil || len(lines) > 0 {
			t.Fatalf("%+v: %v %q", h, err, lines)
		}
		if want == "" {
			want = result.Fingerprint
		}
		if h.bursts == nil && result.Fingerprint != want {
			t.Errorf("%+v: fingerprint %s, want %s", h, result.Fingerprint, want)
		}
	}
}

// A table that ranks fill alike takes memory once, whether it was zeros before or not.
func TestVariablesInCommonTakeMemoryOnce(t *testing.T) {
	if !pagesThatAreReadTakeNone(t) {
		t.Skip("this kernel has no page of zeros")
	}
	const ranks, bytes = 2000, 120 << 10
	program := build(t, prelude+fmt.Sprintf(`
static int table[%d / sizeof(int)], number;
int main(int argc, char **argv) {
	begin(&argc, &argv);
	int n = sizeof table / sizeof *table;
	number = rank;
	for (int round = 1; round < 4; round++) {
		for (int i = 0; i < n; i++) table[i] = i * round;
		MPI_Barrier(MPI_COMM_WORLD);
		for (int i = 0; i < n; i++) if (table[i] != i * round) return 3;
	}
	if (number != rank) return 4;
	return MPI_Finalize();
}
`, bytes))
	before := residentPeak(t)
	if _, _, err := run(t, program, "xt5", ranks, hosting{engines: 1}); err != nil {
		t.Fatal(err)
	}
	if more := residentPeak(t) - before; more > ranks*bytes/4 {
		t.Errorf("%d ranks with %d bytes, all alike, take %d bytes", ranks, bytes, more)
	}
}
