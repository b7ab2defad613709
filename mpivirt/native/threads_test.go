//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"gigarank/mpivirt"
	"gigarank/mpivirt/native"
	"gigarank/sync"
)

// besideThreads are ways to simulate ranks that wait beside threads of their own: each has a stack.
var besideThreads = []hosting{
	{engines: 1}, {engines: 2}, {engines: 3, strict: true}, {engines: 2, protocol: sync.Null}, {engines: 2, collectives: mpivirt.Message},
	{engines: 1, stacks: native.Own},
}

// wantLines returns a line of each rank, in the order in which run returns them.
func wantLines(ranks int, format string) (lines []string) {
	for r := range ranks {
		lines = append(lines, fmt.Sprintf(format, r))
	}
	slices.Sort(lines)
	return lines
}

// Settings, teams, private variables of threads, critical sections and regions that are open while the rank waits are a rank's own.
func TestOpenMP(t *testing.T) {
	program := build(t, "openmp.c", "-fopenmp")
	for _, ranks := range []int{1, 4, 7} {
		ways := slices.DeleteFunc(slices.Clone(besideThreads), func(h hosting) bool { return h.engines > ranks })
		if lines := alike(t, program, "xt5", ranks, ways); !slices.Equal(lines, wantLines(ranks, "%d faults 0\n")) {
			t.Errorf("%d ranks print\n%s", ranks, strings.Join(lines, ""))
		}
	}
	ways := append(hostings(80)[:3], hosting{engines: 1, stacks: native.Copied})
	if lines := alike(t, program, "xt5", 80, ways, "closed"); !slices.Equal(lines, wantLines(80, "%d faults 0\n")) {
		t.Errorf("ranks whose regions are closed print\n%s", strings.Join(lines, ""))
	}
}

// The same in Fortran, for the settings and an open region.
func TestOpenMPInFortran(t *testing.T) {
	program := buildFortran(t, "testdata/openmp.f90", "-fopenmp")
	if lines := alike(t, program, "xt5", 4, besideThreads); !slices.Equal(lines, wantLines(4, "%d max 1 total 10\n")) {
		t.Errorf("they print\n%s", strings.Join(lines, ""))
	}
}

// Threads find the variables and the stack of their rank as it waits, and after its end.
func TestThreads(t *testing.T) {
	program := build(t, "threads.cc")
	for _, arguments := range [][]string{nil, {"detached"}} {
		if lines := alike(t, program, "xt5", 5, besideThreads, arguments...); !slices.Equal(lines, wantLines(5, "%d wrong 0\n")) {
			t.Errorf("%q: they print\n%s", arguments, strings.Join(lines, ""))
		}
	}
}

// A rank whose threads would write to the variables of other ranks, or to a stack that moves, ends the run. The error names the rank, its call and the remedy.
func TestThreadsThatCannotBe(t *testing.T) {
	inC := `#include <mpi.h>
#include <aio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <threads.h>
#include <unistd.h>
int variable, rank, always;
int sleeps(void *p) { for (;;) sleep(1); return p != 0; }
void *posix(void *p) { sleeps(p); return p; }
int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 2) {
		%s
		MPI_Bcast(&variable, 1, MPI_INT, 0, MPI_COMM_WORLD);
	} else
		MPI_Bcast(&variable, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return MPI_Finalize();
}
`
	const lives, open = "a thread that the rank has started lives, and would use", "a parallel region of OpenMP is open, whose threads would use"
	for _, c := range []struct {
		why, does string
		ranks     int
		hosting   hosting
		says      []string
	}{
		{"many ranks", "pthread_t t; pthread_create(&t, NULL, posix, NULL);", 65, hosting{engines: 1},
			[]string{"rank 2 failed at virtual time ", " in Bcast: " + lives, "use more engines or hosts, so that each engine has at most 64 ranks, or end the thread"}},
		{"a thread of C11", "thrd_t t; thrd_create(&t, sleeps, NULL);", 65, hosting{engines: 1}, []string{"rank 2 ", " in Bcast: " + lives}},
		{"copied stacks", "pthread_t t; pthread_create(&t, NULL, posix, NULL);", 4, hosting{engines: 1, stacks: native.Copied},
			[]string{"rank 2 ", " in Bcast: " + lives, "use --stacks own"}},
		{"an end beside a thread", "pthread_t t; pthread_create(&t, NULL, posix, NULL); exit(0);", 65, hosting{engines: 1}, []string{"rank 2 ", lives}},
		{"input that comes later", "static struct aiocb b; b.aio_buf = &variable, b.aio_nbytes = 4, b.aio_fildes = 0; aio_read(&b);", 65, hosting{engines: 1},
			[]string{"rank 2 ", " in Bcast: " + lives}},
		{"an open region", "\n#pragma omp parallel num_threads(2)\n#pragma omp master\n", 65, hosting{engines: 1},
			[]string{"rank 2 ", " in Bcast: " + open, "use more engines or hosts, so that each engine has at most 64 ranks, or end the region"}},
		{"an open region on a copied stack", "\n#pragma omp parallel num_threads(2)\n#pragma omp master\n", 4, hosting{engines: 1, stacks: native.Copied},
			[]string{"rank 2 ", " in Bcast: " + open, "use --stacks own"}},
		{"an ordered region", "\n#pragma omp parallel for ordered num_threads(2) schedule(static, 1)\nfor (int i = 0; i < 2; i++) {\n#pragma omp ordered\nalways += i;\nif (i == 0)\nMPI_Barrier(MPI_COMM_SELF); }\n",
			4, hosting{engines: 1}, []string{"rank 2 ", " in Barrier: " + open, "use an engine for each rank"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			program := build(t, "#include <omp.h>\n"+fmt.Sprintf(inC, c.does), "-fopenmp")
			_, _, err := run(t, program, "xt5", c.ranks, c.hosting)
			for _, says := range c.says {
				if err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("%v, want %q", err, says)
				}
			}
		})
	}
}

const waitVariable = "GIGARANK_TEST_WAIT"

// Threads of OpenMP that wait sleep unless the user wants it otherwise: threads that spin take the processor from other ranks.
// libgomp reads the setting once in a process, so that each run has a process of its own.
func TestThreadsWaitPassively(t *testing.T) {
	if program := os.Getenv(waitVariable); program != "" {
		if _, _, err := run(t, program, "xt5", 4, hosting{engines: 1}); err != nil {
			t.Fatal(err)
		}
		return
	}
	program := build(t, `#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
	double sum = 0, all;
	MPI_Init(&argc, &argv);
	if (getenv("GIGARANK_TEST_POLICY") ? !getenv("OMP_WAIT_POLICY") : getenv("OMP_WAIT_POLICY") != NULL)
		return 1;
	for (int k = 0; k < 5; k++) {
		for (int i = 0; i < 50; i++)
#pragma omp parallel for reduction(+ : sum) num_threads(4)
			for (int j = 0; j < 100; j++)
				sum += j;
		MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	return MPI_Finalize();
}
`, "-fopenmp")
	took := func(environment ...string) time.Duration {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestThreadsWaitPassively$", "-test.count=1")
		again.Env = append(append(os.Environ(), waitVariable+"="+program), environment...)
		if text, err := again.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return again.ProcessState.UserTime()
	}
	passive, active := took(), took("OMP_WAIT_POLICY=active", "GIGARANK_TEST_POLICY=1", "GOMP_SPINCOUNT=100000000")
	if passive > active/2 {
		t.Errorf("%v of CPU time, %v with threads that spin", passive, active)
	}
}

// A parallel region takes as long as the thread that computes longest in it, also where a region lies in another, and where
// the rank waits in the region while another rank computes in its thread of the system.
func TestTimeOfRegions(t *testing.T) {
	program := build(t, `#include <mpi.h>
#include <gigarank.h>
#include <omp.h>
#include <stdio.h>
#include <time.h>

enum { UNIT = 10 }; /* milliseconds */

/* The thread, which is no rank, computes for some units of its CPU time. */
static void work(int units) {
	struct timespec from, at;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	while ((at.tv_sec - from.tv_sec) * 1000 + (at.tv_nsec - from.tv_nsec) / 1000000 < units * UNIT);
}

static double start;
static void took(const char *what, double units) {
	double passed = (MPI_Wtime() - start) * 1000 / UNIT;
	if (passed < units - 0.2 || passed > units + 1.5)
		printf("%s took %.2f units in place of %g\n", what, passed, units);
	start = MPI_Wtime();
}

int main(int argc, char **argv) {
	int rank, provided;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(3)
	;
	start = MPI_Wtime();
#pragma omp parallel num_threads(3)
	if (omp_get_thread_num())
		work(omp_get_thread_num());
	took("a region", 2);
#pragma omp parallel for num_threads(2) schedule(static, 1)
	for (int i = 0; i < 4; i++)
		if (omp_get_thread_num())
			work(1);
	took("a loop", 2);
	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
	if (omp_get_thread_num()) {
#pragma omp parallel num_threads(2)
		if (omp_get_thread_num())
			work(3);
	}
	took("a region in a region", 3);
	MPI_Barrier(MPI_COMM_WORLD); /* the ranks have not computed equally long */
	start = MPI_Wtime();
#pragma omp parallel num_threads(2)
	{
#pragma omp master
		if (rank == 0)
			MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (omp_get_thread_num())
			work(1);
	}
	if (rank == 1) {
		took("the region of the sender", 1);
		double until = MPI_Wtime() + 3e-3 * UNIT;
		while (MPI_Wtime() < until)
			;
		MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
	} else {
		took("a region with a message", 5); /* which comes after 4 */
	}
	return MPI_Finalize();
}
`, "-fopenmp")
	for _, engines := range []int{1, 2} {
		if _, lines, err := run(t, program, "xt5", 2, hosting{engines: engines, bursts: measured}); err != nil || len(lines) > 0 {
			t.Errorf("%d engines: %v\n%s", engines, err, strings.Join(lines, ""))
		}
	}
}
