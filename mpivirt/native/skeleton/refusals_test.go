//go:build cgo && linux && (amd64 || arm64)

package skeleton_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gigarank/mpivirt/native"
	"gigarank/mpivirt/native/skeleton"
	"gigarank/mpivirt/native/toolchain"
)

// body returns a program with a body of main. Its first line is line 12.
func body(before, text string) string {
	return "#include <gigarank.h>\n#include <math.h>\n#include <mpi.h>\n#include <setjmp.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <pthread.h>\n" + before + `
int main(int argc, char **argv) {
	int rank, size, n = 0; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size); int right = (rank + 1) % size, left = (rank + size - 1) % size;
` + text + `
	MPI_Finalize();
	return n > 1000;
}
`
}

// TestRefusals: what the slice does not know is refused, with its line and a remedy.
func TestRefusals(t *testing.T) {
	needLLVM(t)
	for _, c := range []struct{ before, text, want string }{
		{"extern double solve(double);", "	gigarank_compute(solve(rank));", "program.c:12: nothing is known of the function solve, which is not part of the program: build its source with --skeleton, too"},
		{"int (*volatile f)(int) = abs;", "	MPI_Send(&n, f(rank), MPI_INT, rank, 0, MPI_COMM_WORLD);", "program.c:12: a call by a pointer may go anywhere"},
		{"", "	while (MPI_Wtime() < 1) MPI_Barrier(MPI_COMM_WORLD);", "program.c:12: the course of the program depends on the time that MPI_Wtime returns here: it is needed at "},
		{"", "	if (printf(\"x\") == 1) MPI_Barrier(MPI_COMM_WORLD);", "program.c:12: the course of the program depends on what p"},
		{"", "	__asm__ volatile(\"nop\");", "program.c:12: inline assembly: skeletons do not take it"},
		{"", "	__sync_fetch_and_add(&n, 1);", "program.c:12: the opcode atomicrmw (threads): skeletons do not take it"},
		{"static jmp_buf b;", "	if (setjmp(b)) n = 1;", "program.c:12: nothing is known of the function _setjmp"},
		{"static void *g(void *p) { return p; }", "	pthread_t p; pthread_create(&p, 0, g, 0);", "program.c:12: nothing is known of the function pthread_create"},
		{"void (*volatile sum)(void *, void *, int *, MPI_Datatype *);", "	MPI_Op o; MPI_Op_create(sum, 1, &o);", "program.c:12: the function of the operation is no function of the program"},
		{"static int after; __attribute__((constructor)) static void first(void) { after = 1; }", "	n = after;", "the program has functions that run before main"},
		{"extern int count;", "	n = count;", "the variable count is not in the program"},
		{"", "	MPI_Aint d[1] = {(MPI_Aint)&n}; int l[1] = {1}; MPI_Datatype f[1] = {MPI_INT}, s; MPI_Type_create_struct(1, l, d, f, &s); MPI_Type_commit(&s);\n" +
			"	MPI_Bcast(MPI_BOTTOM, 1, s, 0, MPI_COMM_WORLD);", "program.c:12: the datatype may have addresses for displacements"},
		{"", "	FILE *f = fopen(\"in\", \"r\"), *g = fopen(\"out\", \"w\"); if (f && fscanf(f, \"%d\", &n) == 1) MPI_Barrier(MPI_COMM_WORLD);\n	if (g) fprintf(g, \"%d\\n\", n);",
			"program.c:12: a file may be written here that is read at "},
		{"static int less(const void *a, const void *b) { return *(int *)a - *(int *)b; }", "	int list[4] = {rank, 3, 1, 2};\n	qsort(list, 4, sizeof *list, less); gigarank_compute(list[1] * 1e-6);",
			"program.c:13: the course of the program depends on what qsort sorts here"},
		{"static int less(const void *a, const void *b) { MPI_Barrier(MPI_COMM_WORLD); return *(int *)a - *(int *)b; }", "	int list[4] = {rank, 3, 1, 2};\n	qsort(list, 4, sizeof *list, less);",
			"program.c:13: the course of the program depends on what qsort sorts here"},
		{"#include <time.h>", "	time_t t = 0;\n	struct tm *now = localtime(&t); if (now->tm_year > 1000) MPI_Barrier(MPI_COMM_WORLD);", "program.c:13: the course of the program depends on the time that localtime returns here"},
		{"", "	n = *(volatile int *)(0x1000 + (size_t)rank);", "program.c:12: the pointer may lead anywhere"},
	} {
		program, refusal := build(t, body(c.before, c.text))
		if program != "" || !strings.Contains(refusal, c.want) {
			t.Errorf("%s\nis refused as %q, want %q", c.text, refusal, c.want)
		}
	}
}

// TestDataThatDecide: a course that depends on data is refused, with the lines from the data to the call and what would help. What would help does, and
// with --keep-data the skeleton computes the data.
func TestDataThatDecide(t *testing.T) {
	needLLVM(t)
	const keys = "static int key[5000], bucket[2000], sent[64], at[64], got[64], from[64], in[5000]; static double seed = 314159265;\n" +
		"static double next(void) { seed = fmod(seed * 1220703125.0, 70368744177664.0); return seed / 70368744177664.0; }"
	const sum = "	double err = 0, all; for (int i = 0; i < 3000; i++) { u[i] = u[i] * 0.5 + i; err += u[i]; }\n"
	for name, c := range map[string]struct {
		before, text string
		want         []string
		directive    string
	}{
		"a loop that ends once a sum is small": {"static double u[3000];", `	double all;
	for (int k = 0; k < 4; k++) {
		double err = 0;
		for (int i = 0; i < 3000; i++) { u[i] = u[i] * 0.5 + i; err += u[i]; }
		MPI_Allreduce(&err, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		if (all < 1e-6) break;
	}`, []string{"MPI_Allreduce depends on data: the variable u, which is written at ", "program.c:15", `"branch program.c:17 never"`, `"payload program.c:16 unused"`}, "branch program.c:17 never"},
		"a call behind a branch": {"static double u[3000];", sum + `	MPI_Allreduce(&err, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	if (all < 1e-6) MPI_Barrier(MPI_COMM_WORLD);`, []string{"program.c:14: MPI_Barrier depends on data: the variable u, which is written at ", `"branch program.c:14 never"`}, "branch program.c:14 never"},
		"a count": {keys, `	for (int i = 0; i < 5000; i++) key[i] = (int)(next() * 2000);
	for (int i = 0; i < 5000; i++) bucket[key[i]]++;
	MPI_Sendrecv(key, bucket[3], MPI_INT, right, 0, in, 5000, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);`,
			[]string{"program.c:15: MPI_Sendrecv depends on data: the variable key, which is written at ", "program.c:13; it is needed at ", ", for ", "program.c:14", ": no directive leaves that out; --keep-data builds"}, ""},
		"counts of a collective": {keys, `	for (int i = 0; i < 5000; i++) key[i] = (int)(next() * 2000);
	for (int i = 0; i < 5000; i++) sent[key[i] % size]++;
	MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
	for (int i = 1; i < size; i++) { at[i] = at[i - 1] + sent[i - 1]; from[i] = from[i - 1] + got[i - 1]; }
	static int out[5000 * 64]; MPI_Alltoallv(key, sent, at, MPI_INT, out, got, from, MPI_INT, MPI_COMM_WORLD);`,
			[]string{"program.c:17: MPI_Alltoallv depends on data: the variable key, which is written at ", "program.c:14"}, ""},
		"a count of data that are sent, too": {"static double u[3000]; static int many[64];", "	for (int i = 1; i < 3000; i++) u[i] = u[i - 1] * 0.5 + i;\n	for (int i = 0; i < 3000; i++) many[(int)u[i] % 64]++;\n	MPI_Bcast(u, many[3], MPI_DOUBLE, 0, MPI_COMM_WORLD);",
			[]string{"program.c:14: MPI_Bcast depends on data: the variable u", "program.c:13", ": no directive leaves that out; --keep-data builds"}, ""},
		"a peer": {"static double u[3000];", sum + `	int to = (int)fabs(err) % size; MPI_Bcast(u, 10, MPI_DOUBLE, to, MPI_COMM_WORLD);`, []string{"program.c:13: MPI_Bcast depends on data: the variable u"}, ""},
		"a tag": {"", `	double *u = malloc((1000 + size) * sizeof *u); for (int i = 0; i < 1000 + size; i++) u[i] = i * 0.25;
	int m; MPI_Sendrecv(&n, 1, MPI_INT, right, (int)u[900], &m, 1, MPI_INT, left, (int)u[900], MPI_COMM_WORLD, MPI_STATUS_IGNORE); n = 0; free(u);`,
			[]string{"program.c:13: MPI_Sendrecv depends on data: the memory of malloc at ", "program.c:12"}, ""},
		"the exit code": {"static double u[3000];", sum + "	n = err < 0 ? 2000 : 0;", []string{"the end of the program depends on data: the variable u"}, ""},
	} {
		source := body(c.before, c.text)
		_, refusal := build(t, source)
		for _, want := range c.want {
			if !strings.Contains(refusal, want) {
				t.Errorf("%s\nis refused as %q, want %q", name, refusal, want)
			}
		}
		if program, refusal := build(t, source, skeleton.KeepDataFlag); refusal != "" {
			t.Errorf("%s: with --keep-data: %s", name, refusal)
		} else {
			verify(t, program, []int{1, 3})
		}
		if c.directive == "" {
			continue
		}
		file := filepath.Join(t.TempDir(), "d")
		if err := os.WriteFile(file, []byte(c.directive+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if program, refusal := build(t, source, skeleton.DirectivesFlag, file); refusal != "" {
			t.Errorf("%s: with %s: %s", name, c.directive, refusal)
		} else {
			verify(t, program, []int{1, 3})
		}
	}
}

// TestContentThatIsNeeded: payload that decides the course is kept.
func TestContentThatIsNeeded(t *testing.T) {
	needLLVM(t)
	for name, text := range map[string]string{
		"loop bounds in a message": `
	int bounds[2] = {rank + 2, 7}, got[2];
	MPI_Sendrecv(bounds, 2, MPI_INT, right, 0, got, 2, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < got[0]; i++) gigarank_compute(1e-6);`,
		"input by broadcast": `
	double input[3] = {0, 0, 0};
	if (rank == 0) input[1] = argc + 4.5;
	MPI_Bcast(input, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	gigarank_compute(input[1] * 1e-6);`,
		"the next peer in a message": `
	int peer = rank == 0 ? 0 : -1;
	MPI_Status s;
	for (int k = 0; k < size; k++) {
		int next = (k * 2 + 1) % size, from = k == 0 ? 0 : peer;
		if (rank == 0) for (int r = 1; r < size; r++) MPI_Send(&next, 1, MPI_INT, r, 3, MPI_COMM_WORLD);
		else MPI_Recv(&peer, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &s);
		if (rank == 0) peer = next;
		if (peer != 0) { if (rank == 0) MPI_Send(&from, 0, MPI_INT, peer, 4, MPI_COMM_WORLD); if (rank == peer) MPI_Recv(&from, 0, MPI_INT, 0, 4, MPI_COMM_WORLD, &s); }
	}`,
		"a flag by MPI_MAX": `
	double x = rank + 1; int more = 1, any;
	do { x *= 0.5; more = x > 0.01; MPI_Allreduce(&more, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD); } while (any);`,
		"a count that a status tells": `
	double a[40], b[40]; MPI_Status s; memset(a, 0, sizeof a);
	MPI_Sendrecv(a, rank * 3 + 1, MPI_DOUBLE, right, 0, b, 40, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &s);
	MPI_Get_count(&s, MPI_DOUBLE, &n); gigarank_compute((n + s.MPI_SOURCE) * 1e-6);`,
		"requests and an index of MPI_Waitany": `
	int in[3], out = rank; MPI_Request r[4]; int which;
	for (int k = 0; k < 3; k++) MPI_Irecv(in + k, 1, MPI_INT, left, k, MPI_COMM_WORLD, r + k);
	for (int k = 0; k < 3; k++) { gigarank_compute((3 - k) * 1e-5); MPI_Send(&out, 1, MPI_INT, right, k, MPI_COMM_WORLD); }
	for (int k = 0; k < 3; k++) { MPI_Waitany(3, r, &which, MPI_STATUS_IGNORE); gigarank_compute((which + 1) * 1e-6); }`,
		"memory that a pointer in a structure leads to": `
	struct { double *u; int *list; int n; } a = {malloc(800), malloc(400), 3};
	for (int i = 0; i < 100; i++) { a.u[i] = i; a.list[i] = i * rank % 7; }
	int *p = a.list + 5; a.n = p[rank & 3];
	MPI_Send(a.u, a.n, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD); gigarank_compute(a.n * 1e-6); free(a.u); free(a.list);`,
		"a pointer that is copied as bytes": `
	int x = 3 + rank, *p = &x, *q; memcpy(&q, &p, sizeof p); *q += 4; gigarank_compute(x * 1e-6);
	unsigned char bytes[8]; int y = 1, *r = &y, *s; for (int i = 0; i < 8; i++) bytes[i] = ((unsigned char *)&r)[i]; memcpy(&s, bytes, 8); *s += rank; gigarank_compute(y * 1e-6);`,
		"MPI_IN_PLACE on one rank": `
	double a[8] = {0}, b[8]; MPI_Reduce(rank == 0 ? MPI_IN_PLACE : a, rank == 0 ? a : b, 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	int c[2] = {rank, 1}; MPI_Allreduce(MPI_IN_PLACE, c, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD); gigarank_compute(c[0] * 1e-6);`,
		"derived types and a grid": `
	int dims[2] = {0, 0}, periods[2] = {0, 1}, up, down; MPI_Comm grid; MPI_Datatype column;
	static double u[32][32]; MPI_Dims_create(size, 2, dims); MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
	MPI_Cart_shift(grid, 0, 1, &up, &down); MPI_Type_vector(32, 1, 32, MPI_DOUBLE, &column); MPI_Type_commit(&column);
	for (int k = 0; k < 3; k++) { for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) u[i][j] += sqrt(i * j + u[j][i]);
		MPI_Sendrecv(&u[0][1], 1, column, up, 0, &u[0][31], 1, column, down, 0, grid, MPI_STATUS_IGNORE); }
	MPI_Type_free(&column); MPI_Comm_free(&grid);`,
		"places in a grid, by a square root": `
	int side = (int)(sqrt(size + 0.0001)), *at = malloc((size + 1) * sizeof *at); for (int i = 0; i < size; i++) at[i] = (rank % side + i * side) % size;
	double *u = calloc(6000, sizeof *u); for (int i = 1; i < 6000; i++) u[i] = u[i - 1] * 0.5 + i; MPI_Bcast(u, 6000, MPI_DOUBLE, at[0] * 0, MPI_COMM_WORLD);
	gigarank_compute((at[size / 2] + 1) * 1e-6); free(at); free(u);`,
		"an exit code": `
	int v = rank, all; MPI_Allreduce(&v, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); if (all == 123456) exit(4); n = all;`,
		"the program's own random numbers": `
	srand(rank + 1); double *u = malloc(8000); for (int i = 0; i < 1000; i++) u[i] = rand(); gigarank_compute((rand() % 100) * 1e-6); free(u);`,
		"a loop that a clock does not end": `
	double began = MPI_Wtime(), u[50]; for (int k = 0; k < 5; k++) { gigarank_phase(k ? "next" : NULL); MPI_Pcontrol(1); for (int i = 0; i < 50; i++) u[i] = i * k; MPI_Bcast(u, 50, MPI_DOUBLE, 0, MPI_COMM_WORLD); gigarank_record(k, "step", MPI_Wtime() - began); }
	printf("%g\n", MPI_Wtime() - began);`,
	} {
		t.Run(name, func(t *testing.T) {
			program, refusal := build(t, body("", text))
			if refusal != "" {
				t.Fatal(refusal)
			}
			verify(t, program, []int{1, 2, 5})
		})
	}
}

// TestFunctionsOfTheProgram: the slice goes through functions that are not inlined.
func TestFunctionsOfTheProgram(t *testing.T) {
	needLLVM(t)
	const keep = "__attribute__((noinline)) static "
	for name, c := range map[string]struct{ before, text string }{
		"recursion": {keep + "int fib(int n, double *u) { u[n & 7] += n; return n < 2 ? n : fib(n - 1, u) + fib(n - 2, u); }",
			"	double u[8] = {0}; gigarank_compute(fib(rank + 6, u) * 1e-6); n = (int)u[0] * 0;"},
		"a structure by value": {"struct s { int a[20]; double x; }; " + keep + "struct s make(int n) { struct s s = {{n, 2 * n}, n}; return s; } " + keep + "int take(struct s s) { s.a[3] = 5; return s.a[1] + s.a[3]; }",
			"	struct s s = make(rank); gigarank_compute((take(s) + s.a[3]) * 1e-6);"},
		"a call of MPI in a function that may end the program": {keep + "void step(double *u, int n, int k) { if (n > 90) { fprintf(stderr, \"end\\n\"); exit(3); } for (int i = 0; i < n; i++) u[i] += k; MPI_Bcast(u, n, MPI_DOUBLE, 0, MPI_COMM_WORLD); }",
			"	double *u = calloc(100, sizeof *u); for (int k = 0; k < 4; k++) step(u, 10 * k + size, k); free(u);"},
		"memory that grows": {"",
			"	int *list = NULL, many = 0; for (int i = 0; i < 50; i++) { if (i % 8 == 0) list = realloc(list, (many + 8) * sizeof *list); list[many++] = i * rank; } gigarank_compute(list[many - 2] * 1e-6); free(list);"},
		"a union": {"union u { double d; unsigned long long n; int i[2]; };",
			"	union u u; u.d = rank + 0.5; u.n ^= 7; gigarank_compute((u.i[0] & 255) * 1e-6);"},
		"variables that stay, a switch and goto": {keep + "int next(void) { static int state = 1; static double sum; sum += state; return state = (state * 5 + 3) & 63; }",
			"	again: switch (next() % 4) { case 0: gigarank_compute(1e-6); break; case 1: MPI_Barrier(MPI_COMM_WORLD); goto again; case 2: gigarank_compute(2e-6); if (next() < 50) goto again; break; default: goto again; }"},
		"arrays of variable length in a loop": {"",
			"	for (int k = 0; k < 300; k++) { int many = rank + k % 7 + 2, list[many]; double u[many * 900]; for (int i = 0; i < many; i++) list[i] = i * k, u[i] = i * 0.5; for (int i = 1; i < many * 900; i++) u[i] = u[i - 1] * 0.25 + i; if (k % 50 == 0) { MPI_Bcast(u, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD); gigarank_compute((list[many / 2] + 1) * 1e-6); } }"},
		"a list of nodes": {"struct node { struct node *next; int n; double u[10]; };",
			"	struct node *head = NULL; for (int i = 0; i <= rank; i++) { struct node *k = malloc(sizeof *k); k->next = head; k->n = i + 1; k->u[3] = i; head = k; } while (head) { gigarank_compute(head->n * 1e-6); struct node *k = head; head = head->next; free(k); }"},
		"text": {"",
			"	char text[64]; snprintf(text, sizeof text, \"%d %s %d\", rank + 3, \"x\", 9); char *end; long k = strtol(text, &end, 10); gigarank_compute((k + (end[1] == 'x') + strlen(text)) * 1e-6);"},
		"an operation with a side effect on a counter": {"static int calls; static void sum(void *a, void *b, int *n, MPI_Datatype *t) { calls++; for (int i = 0; i < *n; i++) ((double *)b)[i] += ((double *)a)[i]; }",
			"	MPI_Op o; double u[40] = {rank}, v[40]; MPI_Op_create(sum, 1, &o); MPI_Allreduce(u, v, 40, MPI_DOUBLE, o, MPI_COMM_WORLD); MPI_Reduce(u, v, 3, MPI_DOUBLE, o, 0, MPI_COMM_WORLD); if (calls > 0) MPI_Send(u, calls % 7, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD); gigarank_compute((calls & 7) * 1e-6); MPI_Op_free(&o);"},
		"an operation whose result decides": {"static void most(void *a, void *b, int *n, MPI_Datatype *t) { for (int i = 0; i < *n; i++) if (((int *)b)[i] < ((int *)a)[i]) ((int *)b)[i] = ((int *)a)[i] + 1; }",
			"	MPI_Op o; int mine = rank * 3 % 5, all; MPI_Op_create(most, 0, &o); MPI_Allreduce(&mine, &all, 1, MPI_INT, o, MPI_COMM_WORLD); gigarank_compute((all + 1) * 1e-6); MPI_Op_free(&o);"},
		"options": {"#include <getopt.h>", `	char *words[] = {"p", "x", "-n", "5", "y"}; int c; while ((c = getopt(5, words, "n:")) != -1) if (c == 'n') n = atoi(optarg);
	gigarank_compute((n + 100 * optind + words[3][0]) * 1e-6); n = 0;`},
		"long options": {"#include <getopt.h>", `	int flag = 3, at; char *words[] = {"p", "--more", "--size=4", NULL}; struct option all[] = {{"more", 0, &flag, 7}, {"size", 1, NULL, 's'}, {0}}; int c;
	while ((c = getopt_long(3, words, "", all, &at)) != -1) if (c == 's') n = atoi(optarg) + at; gigarank_compute((n + 100 * flag) * 1e-6); n = 0;`},
		"numbers in a text": {"", `	char text[64]; int k = 0; double x = 0; snprintf(text, sizeof text, "%d:%g", rank + 3, 1.5); if (sscanf(text, "%d:%lf", &k, &x) == 2) gigarank_compute((k + x) * 1e-6);`},
		"kinds of characters": {"#include <ctype.h>", `	const char *word = argc > 7 ? argv[7] : "a B7"; const char *space = memchr(word, ' ', 4); for (const char *p = word; *p; p++) n += isspace((unsigned char)*p) ? 1 : toupper(*p) + tolower(*p);
	gigarank_compute((n + (space ? space - word : 9) + strcspn(word, "7")) * 1e-6); n = 0;`},
		"sorted data": {"static double w[5000]; static int less(const void *a, const void *b) { double x = *(double *)a, y = *(double *)b; return (x > y) - (x < y); }",
			"	for (int i = 0; i < 5000; i++) w[i] = sin(i + rank); qsort(w, 5000, sizeof *w, less); MPI_Bcast(w, 5000, MPI_DOUBLE, 0, MPI_COMM_WORLD);"},
		"an operation on data alone": {"static void sum(void *a, void *b, int *n, MPI_Datatype *t) { for (int i = 0; i < *n; i++) ((double *)b)[i] += ((double *)a)[i]; }",
			"	MPI_Op o; static double u[4000], v[4000]; for (int i = 0; i < 4000; i++) u[i] = i * rank; MPI_Op_create(sum, 1, &o); MPI_Reduce(u, v, 4000, MPI_DOUBLE, o, 0, MPI_COMM_WORLD); if (rank == 0) printf(\"%g\\n\", v[9]); MPI_Op_free(&o);"},
		"a table of functions": {keep + "void a(double *u, int n) { for (int i = 0; i < n; i++) u[i] += 1; MPI_Bcast(u, n, MPI_DOUBLE, 0, MPI_COMM_WORLD); } " + keep + "void b(double *u, int n) { for (int i = 0; i < n; i++) u[i] *= 2; MPI_Barrier(MPI_COMM_WORLD); } " +
			"static void (*const stages[])(double *, int) = {a, b, a}; static int twice(int n) { return 2 * n; } static int more(int n) { return n + 5; }",
			"	double u[64] = {0}; int (*f)(int) = argc > 3 ? twice : more; for (int k = 0; k < 6; k++) stages[k % 3](u, f(k + 1)); gigarank_compute(f(rank + 1) * 1e-6);"},
		"functions in structures": {"struct shape { double (*area)(double); int n; }; static double square(double x) { return x * x; } static double circle(double x) { return 3 * x * x; }",
			"	struct shape all[4]; for (int i = 0; i < 4; i++) { all[i].area = (i + rank) % 2 ? square : circle; all[i].n = i; } double s = 0; for (int i = 0; i < 4; i++) s += all[i].area(all[i].n); gigarank_compute(s * 1e-6);"},
		"pointers to pointers": {keep + "void swap(double **a, double **b, int *n) { double *t = *a; *a = *b; *b = t; ++*n; }",
			"	double x[4] = {1, 2, 3, 4}, y[4] = {rank, 6, 7, 8}, *a = x, *b = y; for (int k = 0; k < 3; k++) swap(&a, &b, &n); gigarank_compute((n + (int)a[0]) * 1e-6); n = 0;"},
	} {
		t.Run(name, func(t *testing.T) {
			program, refusal := build(t, body(c.before, c.text))
			if refusal != "" {
				t.Fatal(refusal)
			}
			verify(t, program, []int{1, 4})
		})
	}
}

// TestFilesAreRead: a skeleton reads what decides, by each way of the C library.
func TestFilesAreRead(t *testing.T) {
	needLLVM(t)
	file := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(file, []byte("7 2.5\n12\nlast 3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`	FILE *f = fopen("%s", "r"), *none = fopen("%s", "r"); double x = 0; char line[80], *p; int k = 0, c;
	if (!f) { printf("no file\n"); MPI_Abort(MPI_COMM_WORLD, 1); }
	if (none) MPI_Barrier(MPI_COMM_WORLD);
	if (fscanf(f, "%%d %%lf", &n, &x) != 2 || (c = fgetc(f)) != '\n') MPI_Barrier(MPI_COMM_WORLD);
	gigarank_compute((n + x) * 1e-6);
	while ((p = fgets(line, sizeof line, f)) != NULL) k += atoi(p) + (int)strlen(line);
	gigarank_compute(k * 1e-6); rewind(f); fseek(f, 4, SEEK_SET);
	if (fread(line, 1, 3, f) == 3) gigarank_compute(line[0] * 1e-6);
	printf("%%g %%ld %%d\n", x, ftell(f), feof(f)); fclose(f); n = 0;`, file, file+"2")
	program, refusal := build(t, body("", text))
	if refusal != "" {
		t.Fatal(refusal)
	}
	verify(t, program, []int{1, 3})
}

// TestFailuresAreTheSame: a skeleton fails as its program does.
func TestFailuresAreTheSame(t *testing.T) {
	needLLVM(t)
	for _, text := range []string{
		"	MPI_Recv(&n, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
		"	MPI_Send(&n, 1, MPI_INT, size + 3, 0, MPI_COMM_WORLD);",
		"	if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 7); MPI_Barrier(MPI_COMM_WORLD);",
		"	n = 2000 * (rank == 1);",
		"	static double u[900];\n	for (int i = 0; i < 900; i++) u[i] += i;\n	MPI_Allreduce(u + 7, u + 7, 500, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);",
		"	MPI_Bcast(NULL, 5, MPI_DOUBLE, 0, MPI_COMM_WORLD);",
		"	static double u[900]; MPI_Gather(u, 9, MPI_DOUBLE, NULL, 9, MPI_DOUBLE, 1, MPI_COMM_WORLD);",
	} {
		program, refusal := build(t, body("", text))
		if refusal != "" {
			t.Fatal(refusal)
		}
		path := extract(t, program)
		want, got := run(t, program, 3, 1, native.Automatic), strings.ReplaceAll(run(t, path, 3, 1, native.Automatic), path, "program")
		if !strings.Contains(want, " ") || want != got {
			t.Errorf("%s\nthe program ends with %s\nits skeleton with %s", text, want, got)
		}
	}
}

// TestHostingDoesNotMatter: a skeleton has one fingerprint on all engines and stacks.
func TestHostingDoesNotMatter(t *testing.T) {
	needLLVM(t)
	program, refusal := build(t, "ir/testdata/stencil.c")
	if refusal != "" {
		t.Fatal(refusal)
	}
	path := extract(t, program)
	want := run(t, program, 9, 1, native.Own)
	for _, engines := range []int{1, 2, 3} {
		for _, stacks := range []native.Stacks{native.Own, native.Copied} {
			if got := run(t, path, 9, engines, stacks); got != want {
				t.Errorf("%d engines, stacks %s: %s, the program has %s", engines, stacks, got, want)
			}
		}
	}
}

// TestPostedCallsDoNotMatter: a skeleton with weights has the times that it has without calls that go with the next call of their rank. Its messages have no content, and are posted up to
// the eager limit.
func TestPostedCallsDoNotMatter(t *testing.T) {
	needLLVM(t)
	exchange := body("static double u[9000], v[9000];", `	for (int k = 0; k < 6; k++) {
		MPI_Request r[4];
		for (int i = 1; i < 9000; i++) u[i] = u[i - 1] * 0.5 + v[i] + k;
		MPI_Irecv(v, 9000, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, r); MPI_Irecv(v + 10, 5, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, r + 1);
		MPI_Isend(u, 30 << k, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, r + 2); MPI_Send(u + 3, rank % 5, MPI_DOUBLE, left, 2, MPI_COMM_WORLD);
		for (int i = 1; i < 900 * (rank % 3); i++) u[i] += 1;
		MPI_Isend(&k, 1, MPI_INT, right, 3, MPI_COMM_WORLD, r + 3); MPI_Recv(&n, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Waitall(4, r, MPI_STATUSES_IGNORE); gigarank_compute((n + 1) * 1e-7);
		if (k % 2) MPI_Barrier(MPI_COMM_WORLD);
	}
	n = 0;`)
	for _, source := range []string{"ir/testdata/stencil.c", exchange} {
		program, refusal := build(t, source)
		if refusal != "" {
			t.Fatal(refusal)
		}
		path := extract(t, program)
		d, err := skeleton.Describe(program)
		if err != nil {
			t.Fatal(err)
		}
		tasks := &native.Tasks{Weights: make([]native.Weight, len(d.Tasks)), Rest: 71_000_000}
		for n := range tasks.Weights {
			tasks.Weights[n] = native.Weight{Entry: int64(3_000_000 * (n + 1)), Iteration: 1_234_567}
		}
		want := ""
		for _, unposted := range []bool{true, false} {
			for _, stacks := range []native.Stacks{native.Own, native.Copied} {
				got := simulate(t, path, 7, 1, native.Options{Stack: 256 << 10, Stacks: stacks, Tasks: tasks, Unposted: unposted})
				if want == "" {
					want = got
				}
				if got != want || strings.Contains(got, " ") {
					t.Errorf("unposted %t, stacks %s: the skeleton ends with %s, want %s", unposted, stacks, got, want)
				}
			}
		}
		tasks.Rest = 0
		if got := simulate(t, path, 7, 1, native.Options{Stack: 256 << 10, Tasks: tasks}); got == want {
			t.Error("the time between two calls takes no time")
		}
	}
}

// TestLinks: objects with bitcode are linked as machine code is, also from archives; other objects are named.
func TestLinks(t *testing.T) {
	needLLVM(t)
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("main.c", body("int part(int);", "	gigarank_compute(part(rank) * 1e-6);"))
	write("part.c", "int part(int n) { int s = 1; for (int i = 0; i < n; i++) s += i; return s; }\n")
	write("text.o", "text\n")
	cc := func(arguments ...string) (int, string) {
		var printed bytes.Buffer
		code, err := skeleton.Wrap(toolchain.C, append([]string{skeleton.Flag}, arguments...), nil, &printed, &printed)
		if err != nil {
			t.Fatal(err)
		}
		return code, printed.String()
	}
	for _, source := range []string{"main", "part"} {
		if code, printed := cc("-O2", "-c", source+".c", "-o", source+".o"); code != 0 {
			t.Fatal(printed)
		}
	}
	if text, err := exec.Command("llvm-ar-19", "rcs", "libpart.a", "part.o").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if text, err := exec.Command("gcc", "-c", "part.c", "-o", "machine.o").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if text, err := exec.Command("ar", "rcs", "libmachine.a", "machine.o").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, parts := range [][]string{{"main.o", "part.o"}, {"main.c", "part.o"}, {"main.o", "part.c"}, {"main.c", "part.c"}, {"main.o", "libpart.a"}} {
		if code, printed := cc(append(parts, "-O2", "-o", "program")...); code != 0 {
			t.Errorf("%v: %s", parts, printed)
			continue
		}
		verify(t, "./program", []int{3})
	}
	// LLVM's tools write their own release into the file; a file of another release differs in these characters alone.
	other, err := os.ReadFile("part.o")
	if err != nil {
		t.Fatal(err)
	}
	for c := byte(0); ; c++ { // of the release's second digit, until another release is read
		if c == 255 {
			t.Fatal("no byte of the file has the release")
		}
		other[19] ^= c
		write("other.o", string(other))
		if code, printed := cc("main.o", "other.o", "-o", "gone"); code == 2 && strings.Contains(printed, "other.o was made by LLVM") {
			break
		}
		_ = os.Remove("gone")
		other[19] ^= c
	}
	for _, c := range []struct{ part, want string }{
		{"machine.o", "machine.o has machine code: build it with --skeleton, too"},
		{"libmachine.a", "libmachine.a has machine code"},
		{"text.o", "text.o is no object that gigarank cc --skeleton has built"},
		{"none.o", "none.o: no such file"},
	} {
		code, printed := cc("main.o", c.part, "-o", "gone")
		if code != 2 || !strings.Contains(printed, c.want) {
			t.Errorf("%s: exit code %d, %s", c.part, code, printed)
		}
	}
	if code, printed := cc("-shared", "part.o", "-o", "gone"); code != 2 || !strings.Contains(printed, "--skeleton with -shared") {
		t.Errorf("exit code %d, %s", code, printed)
	}
	if _, err := os.Stat("gone"); err == nil {
		t.Error("a build that is refused leaves a program")
	}
}

// TestWithoutLLVM: where LLVM is not there, the message names what is missing.
func TestWithoutLLVM(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var printed bytes.Buffer
	code, err := skeleton.Wrap(toolchain.C, []string{skeleton.Flag, "a.c"}, nil, &printed, &printed)
	const want = "gigarank cc: skeletons need LLVM 19, and clang-19, llvm-link-19, opt-19, llvm-objcopy-19 are not in PATH: apt-get install clang-19 llvm-19\n"
	if err != nil || code != 2 || printed.String() != want {
		t.Errorf("exit code %d, %v: %s", code, err, &printed)
	}
	printed.Reset()
	if code, err := skeleton.Wrap(toolchain.Fortran, []string{skeleton.Flag, "a.f90"}, nil, &printed, &printed); err != nil || code != 2 || !strings.Contains(printed.String(), "flang-new-19, clang-19") || !strings.Contains(printed.String(), "apt-get install flang-19 clang-19 llvm-19") {
		t.Errorf("exit code %d, %v: %s", code, err, &printed)
	}
	for _, l := range []toolchain.Language{toolchain.CXX} {
		printed.Reset()
		if code, err := skeleton.Wrap(l, []string{skeleton.Flag, "a.f90"}, nil, &printed, &printed); err != nil || code != 2 || !strings.Contains(printed.String(), fmt.Sprintf("skeletons of programs in %s are not built", l.Name())) {
			t.Errorf("exit code %d, %v: %s", code, err, &printed)
		}
	}
}

// TestExtractRefuses: a program without a skeleton is named.
func TestExtractRefuses(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	for path, want := range map[string]string{none: "no such file", os.Args[0]: "has no skeleton: build it by gigarank cc --skeleton"} {
		if _, err := skeleton.Extract(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := skeleton.Report(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
