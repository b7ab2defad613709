//go:build cgo && linux && (amd64 || arm64)

package skeleton_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"gigarank/internal/seed"
)

// generator writes random programs in C. All ranks have the variables u alike, and each its own v. Calls of MPI stand only where all
// ranks come along. Each rank computes for times that its own variables give, so that a fingerprint shows their values.
type generator struct {
	*rand.Rand
	text  strings.Builder
	depth int
	loops int
	// uncounted is the number of kinds of statements, the last, whose loops a skeleton counts in part, or whose stores few ranks come to.
	uncounted int
	shown     bool // all memory is shown at the end
}

func (g *generator) put(format string, arguments ...any) {
	_, _ = fmt.Fprintf(&g.text, strings.Repeat("\t", g.depth)+format+"\n", arguments...)
}

// variable returns a variable that all ranks have alike, or of the rank's own.
func (g *generator) variable(alike bool) string {
	if alike {
		return fmt.Sprintf("u%d", g.IntN(3))
	}
	return fmt.Sprintf("v%d", g.IntN(4))
}

// expression returns a number from 0 to 1023.
func (g *generator) expression(alike bool) string {
	operand := func() string {
		switch k := g.IntN(8); {
		case k < 3:
			return g.variable(alike)
		case k == 3:
			return "size"
		case alike || k == 4:
			return strconv.Itoa(g.IntN(40))
		case k == 5:
			return fmt.Sprintf("table[%s & 63]", g.variable(false))
		case k == 6:
			return "rank"
		}
		return g.variable(true)
	}
	operators := []string{"+", "*", "^", "-", "|"}
	return fmt.Sprintf("((%s %s %s) & 1023)", operand(), operators[g.IntN(len(operators))], operand())
}

func (g *generator) statements(n int, alike bool) {
	g.depth++
	for range n {
		if alike && g.IntN(3) == 0 {
			g.communicate()
		} else {
			g.statement(alike)
		}
	}
	g.depth--
}

// statement writes a statement that calls no function of MPI, unless it has others inside.
func (g *generator) statement(alike bool) {
	switch g.IntN(16) {
	case 0, 1:
		g.byPointer()
		return
	case 2, 3:
		g.byAlias()
		return
	}
	switch g.IntN(15 + g.uncounted) {
	case 0, 1:
		own := !alike || g.IntN(2) == 0
		g.put("%s = %s;", g.variable(!own), g.expression(!own))
	case 2:
		g.put("table[%s & 63] = %s;", g.expression(false), g.expression(false))
	case 3:
		g.put("for (int i = 0; i < 256; i++) field[i] = field[i] * 0.5 + (%s & 15);", g.variable(false))
	case 4:
		g.put("for (int i = 1; i < 255; i++) next[i] = 0.25 * (field[i - 1] + field[i + 1]) + table[i & 63] %% 3;")
	case 5:
		g.put("%s = (int)(%s[%s & 255]) & 15;", g.variable(false), []string{"field", "next"}[g.IntN(2)], g.expression(false))
	case 6:
		g.put("p = %s %% 3 ? table%s : other%s;", g.variable(false), []string{"", " + 16"}[g.IntN(2)], []string{"", " + 9"}[g.IntN(2)])
	case 7:
		g.put("p[%s & 31] += %s;", g.variable(false), g.expression(false))
	case 8:
		g.put("%s = mix(%s, p, %s) & 1023;", g.variable(false), g.expression(false), []string{"field", "next"}[g.IntN(2)])
	case 9:
		g.put("memcpy(%s, 128 * sizeof(double));", []string{"next, field", "field + 128, next"}[g.IntN(2)])
	case 10:
		g.put("{ double *t = b.now; b.now = b.then; b.then = t; b.n = %s; b.now[b.n & 127] = %s & 15; }", g.expression(false), g.variable(false))
	case 11:
		g.put("%s = ((int)b.now[%s & 127] + b.n) & 1023;", g.variable(false), g.variable(false))
	case 15: // a triangle whose size decides nothing
		g.put("for (int i = 0; i < (%s & 31); i++) for (int j = %d; j <= i; j += %d) next[i] += field[j] * 0.25;", g.variable(false), g.IntN(3), 1+g.IntN(3))
	case 16: // data decides how often
		g.put("for (int i = 0; i < (%s & 31) && field[i] < 9; i++) { for (int j = 0; j < (%s & 7); j++) next[j] += i; if (next[%d] > 40) continue; next[i] *= 0.5; }", g.variable(false), g.variable(false), g.IntN(8))
	case 17: // branches inside, and a loop that counts down
		g.put("if (field[%d] > 3) { int k = %s & 63; while (k > 1) { k = %s; field[k & 127] += 1; } } else switch ((int)next[%d] & 3) { case 0: next[1] = 2; break; case 2: for (int i = 0; i < (%s & 63); i++) next[i] = i; }",
			g.IntN(200), g.variable(false), []string{"k / 2", "k - 3", "k - 1"}[g.IntN(3)], g.IntN(200), g.variable(false))
	case 18: // a failure that never is; what it is seen by may be large or small
		g.put("if (%s) { printf(\"failed %%d\\n\", v1); %s; }", []string{"next[5] > 1e300", "v0 > 1 << 20", "table[9] == -77777", "work[3] < -1e300"}[g.IntN(4)],
			[]string{"exit(3)", "MPI_Abort(MPI_COMM_WORLD, 1)", "fail(v2)"}[g.IntN(3)])
	case 12, 13:
		if g.depth < 4 {
			g.put("if (%s %% 3 %s) {", g.expression(alike), []string{"", "== 1", "< 2"}[g.IntN(3)])
			g.statements(1+g.IntN(3), alike)
			if g.IntN(2) == 0 {
				g.put("} else {")
				g.statements(1+g.IntN(2), alike)
			}
			g.put("}")
		}
	default:
		if g.depth < 3 {
			g.loops++
			g.put("for (int l%d = 0; l%d < (%s & 3) + 1; l%d++) {", g.loops, g.loops, g.expression(alike), g.loops)
			g.statements(1+g.IntN(3), alike)
			if g.IntN(4) == 0 {
				g.put("\tif (%s %% 5 == 0) break;", g.variable(alike))
			}
			g.put("}")
		}
	}
}

// byPointer writes a statement with functions in structures, or with a function of the C library that is called with memory.
func (g *generator) byPointer() {
	one, other := fmt.Sprintf("ops[%d]", g.IntN(3)), fmt.Sprintf("ops[%d]", g.IntN(3))
	memory := []string{"field", "next"}[g.IntN(2)]
	switch g.IntN(11) {
	case 0, 1:
		functions := []string{"add", "scale", "spend"}
		g.put("%s.f = %s %% 2 ? %s : %s;", one, g.variable(false), functions[g.IntN(3)], functions[g.IntN(3)])
	case 2:
		g.put("%s = %s;", one, other)
	case 3:
		g.put("memcpy(&%s, &%s, sizeof(struct op));", one, other)
	case 4, 5:
		g.put("%s = %s.f(%s, %s) & 1023;", g.variable(false), one, memory, g.variable(false))
	case 6:
		g.put("{ function h = pick(%s, &%s); %s = h(%s, %s) & 1023; }", g.variable(false), one, g.variable(false), memory, g.variable(false))
	case 7:
		g.put("if (%s.f == %s.f) { %s = %s; }", one, other, g.variable(false), g.expression(false))
	case 8:
		g.put("%s.data = %s; %s.n += 1; %s = ((int)%s.data[%s & 127] + %s.n) & 1023;", one, memory, one, g.variable(false), other, g.variable(false), one)
	case 9:
		g.put("for (int i = 0; i < 200; i++) sorted[i] = work[i] + table[i & 63]; qsort(sorted, 200, sizeof *sorted, less);")
	default:
		g.put("{ int k = 0; snprintf(line, sizeof line, \"%%d x%%d\", %s, %s); if (sscanf(line + (%s & 1), \"%%d\", &k) == 1) %s = k & 1023; }", g.expression(false), g.variable(false), g.variable(false), g.variable(false))
	}
}

// communicate writes a call of MPI that all ranks make, or a time that the rank computes.
func (g *generator) communicate() {
	right, left := "(rank + 1) % size", "(rank + size - 1) % size"
	tag := g.IntN(3)
	if g.IntN(3) == 0 {
		g.exchange(right, left)
		return
	}
	switch g.IntN(10) {
	case 0:
		g.put("MPI_Bcast(&%s, 1, MPI_INT, %s %% size, MPI_COMM_WORLD);", g.variable(true), g.variable(true))
	case 1:
		g.put("MPI_Allreduce(&%s, &%s, 1, MPI_INT, MPI_%s, MPI_COMM_WORLD);", g.variable(false), g.variable(true), []string{"MAX", "MIN", "BXOR"}[g.IntN(3)])
	case 2:
		g.put("MPI_Sendrecv(table, (%s & 31) + 1, MPI_INT, %s, %d, other, 64, MPI_INT, %s, %d, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", g.expression(false), right, tag, left, tag)
	case 3:
		g.put("MPI_Sendrecv(field, (%s & 127) + 1, MPI_DOUBLE, %s, %d, next, 256, MPI_DOUBLE, %s, %d, MPI_COMM_WORLD, &status);", g.expression(false), left, tag, right, tag)
	case 4:
		g.put("MPI_Get_count(&status, MPI_DOUBLE, &%s); %s &= 1023;", "v0", "v0")
	case 5:
		g.put("{ MPI_Request r[2]; MPI_Irecv(other, 64, MPI_INT, %s, 5, MPI_COMM_WORLD, r); MPI_Isend(p, %s & 31, MPI_INT, %s, 5, MPI_COMM_WORLD, r + 1); MPI_Waitall(2, r, MPI_STATUSES_IGNORE); }",
			left, g.expression(false), right)
	case 6:
		g.put("MPI_Allreduce(MPI_IN_PLACE, next, %s & 63, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);", g.variable(true))
	case 7: // a task: only it and messages read its memory
		g.put("for (int i = 0; i < (%s & 127) + 3; i++) work[i] = work[(i * 3) & 255] * 0.5 + i;", g.expression(false))
		g.put("MPI_Sendrecv_replace(work, 8, MPI_DOUBLE, %s, 6, %s, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", right, left)
	default:
		g.put("gigarank_compute(((%s & 31) + 1) * 1e-6);", g.expression(false))
	}
}

// show has the rank compute for times that some of its memory gives, so that the fingerprint shows what it holds.
func (g *generator) show() {
	for n := range 4 {
		if g.IntN(2) == 0 || g.shown {
			g.put("\tgigarank_compute((v%d & 1023) * 1e-9);", n)
		}
	}
	for _, memory := range []string{"table", "other", "field", "next"} {
		if g.IntN(3) == 0 || g.shown {
			g.put("\tfor (int i = 0; i < 64; i++) gigarank_compute(((int)%s[i] & 1023) * (i + 1) * 1e-9);", memory)
		}
	}
}

// program returns a program.
func (g *generator) program() string {
	g.text.WriteString(`#include <gigarank.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int table[64], other[64];
static double *field, next[256], work[256];
struct both { double *now; int n; double *then; };
__attribute__((noinline)) static int mix(int a, int *q, double *f) {
	q[a & 31] ^= a;
	f[a & 255] = a & 15;
	return q[(a + 1) & 31] + (int)f[(a * 3) & 255];
}
static int *places[2] = {table, other + 16};
struct cell { int n; int *at; double x[2]; } cells[3];
__attribute__((noinline)) static void turn(int **a, int **b, int n) { int *t = *a; *a = *b; *b = t; (*a)[n & 31] += 1; }
typedef int (*function)(double *, int);
struct op { function f; int n; double *data; };
static int add(double *f, int n) { for (int i = 0; i < 64; i++) f[i] += n & 7; return n + 1; }
__attribute__((noinline)) static int scale(double *f, int n) { for (int i = 0; i < 64; i++) f[i] *= 0.5; return ((int)f[n & 63] & 255) + n; }
__attribute__((noinline)) static int spend(double *f, int n) { f[n & 127] = n & 15; gigarank_compute(((n & 3) + 1) * 1e-7); return n * 3; }
__attribute__((noinline)) static function pick(int a, struct op *o) { return a & 1 ? o->f : o->n & 1 ? add : scale; }
static int less(const void *a, const void *b) { double x = *(double *)a, y = *(double *)b; return (x > y) - (x < y); }
static double sorted[200];
static char line[40];
__attribute__((noinline)) static void fail(int code) {
	while (code > 3) code -= 2;
	exit(code + 1);
}
int main(int argc, char **argv) {
	int rank, size, u0 = 1, u1 = 2, u2 = 3, v1 = 5, v2 = 7, v3 = argc, *p = table;
	MPI_Status status;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	memset(&status, 0, sizeof status);
	int v0 = rank;
	field = calloc(256, sizeof *field);
	struct both b = {malloc(128 * sizeof(double)), 3, calloc(128, sizeof(double))};
	struct op ops[3] = {{add, 1, field}, {scale, 2, next}, {spend, rank, field}};
	for (int i = 0; i < 128; i++) b.now[i] = i & 7;
	for (int i = 0; i < 64; i++) table[i] = i * rank;
	for (int i = 0; i < 3; i++) cells[i].n = i, cells[i].at = i ? table + 5 * i : other;
	for (int i = 0; i < 200 + size; i++) work[i & 255] += i; // a task
`)
	g.statements(14+g.IntN(8), true)
	g.show()
	g.text.WriteString("\tif (rank == 0) printf(\"%d %g %g %g %g\\n\", v0, field[3], next[4], work[7], sorted[5]);\n\tfree(field);\n\tMPI_Finalize();\n\treturn 0;\n}\n")
	return g.text.String()
}

// drawn returns the number of random programs of a test, or $GIGARANK_SKELETONS, which scripts/search sets.
func drawn(t *testing.T, usual int) int {
	t.Helper()
	text := os.Getenv("GIGARANK_SKELETONS")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("$GIGARANK_SKELETONS: %v", err)
	}
	return n
}

// enough is a number of random programs of which some have a task with iterations.
const enough = 8

// TestRandomPrograms: the skeleton of a random program takes the same course. $GIGARANK_SEED repeats a run.
func TestRandomPrograms(t *testing.T) {
	needLLVM(t)
	n, seed := drawn(t, 4), seed.Next()
	if text := os.Getenv("GIGARANK_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
		n = 1
	}
	if testing.Short() {
		n = min(n, 3)
	}
	counted := int64(0)
	for k := range n {
		g := &generator{Rand: rand.New(rand.NewPCG(seed+uint64(k), 1)), uncounted: 4}
		text := g.program()
		program, refusal := build(t, text)
		if refusal != "" {
			t.Errorf("GIGARANK_SEED=%d: a program is refused: %s\n%s", seed+uint64(k), refusal, text)
			continue
		}
		counted += verify(t, program, []int{1, 2, 5})
		if t.Failed() {
			t.Fatalf("GIGARANK_SEED=%d:\n%s", seed+uint64(k), text)
		}
	}
	if n >= enough && counted == 0 {
		t.Errorf("GIGARANK_SEED=%d: %d programs have no task with iterations", seed, n)
	}
}
