//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	gort "runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"gigarank/mpivirt"
	"gigarank/mpivirt/native"
	"gigarank/vtime"
)

// State that the C library keeps for a process is each rank's own: thread-local variables, random
// numbers, options, environment, locale, working directory, handlers of signals, and functions that are
// called at the end. Compilers of some systems have calls checked.
func TestProcess(t *testing.T) {
	for _, checked := range []string{"0", "2"} {
		t.Run("_FORTIFY_SOURCE="+checked, func(t *testing.T) {
			testProcess(t, build(t, "process.c", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE="+checked))
		})
	}
}

func testProcess(t *testing.T, program string) {
	for _, ranks := range []int{1, 4} {
		lines := everywhere(t, program, ranks)
		var want []string
		for rank := range ranks {
			want = append(want, fmt.Sprintf("rank %d: end 1\n", rank), fmt.Sprintf("rank %d: the destructor, 3\n", rank))
		}
		if len(lines) == 0 || !strings.HasSuffix(lines[0], fmt.Sprintf(" checks on %d ranks, 0 failed\n", ranks)) || !slices.Equal(lines[1:], want) {
			t.Errorf("%d ranks print\n%s", ranks, strings.Join(lines, ""))
		}
	}
}

// The keys of pthread_key_create belong to a rank: there are as many as in a process, and a thread has values of its
// own for them, which are destroyed at its end.
func TestKeysOfThreads(t *testing.T) {
	program := build(t, prelude+`
static pthread_key_t keys[200], gone;
static tss_t c11;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int destroyed, number[2] = {10, 20};
static void destroy(void *what) {
	pthread_mutex_lock(&lock);
	destroyed += *(int *)what;
	pthread_mutex_unlock(&lock);
}
static void *in_thread(void *what) {
	pthread_key_t own;
	for (int i = 0; i < 200; i++)
		if (pthread_getspecific(keys[i]) || pthread_setspecific(keys[i], what) || pthread_getspecific(keys[i]) != what)
			return NULL;
	if (pthread_setspecific(gone, what) != EINVAL || tss_get(c11) || tss_set(c11, what) != thrd_success || tss_get(c11) != what)
		return NULL;
	if (pthread_key_create(&own, NULL) || pthread_setspecific(own, what) || pthread_getspecific(own) != what || pthread_key_delete(own))
		return NULL;
	return what;
}
int main(int argc, char **argv) {
	begin(&argc, &argv);
	for (int i = 0; i < 5000; i++)
		if (pthread_key_create(&gone, destroy) || pthread_key_delete(gone))
			return 2;
	for (int i = 0; i < 200; i++)
		if (pthread_key_create(&keys[i], i < 2 ? destroy : NULL) || pthread_getspecific(keys[i]) || pthread_setspecific(keys[i], &keys[i] + rank))
			return 3;
	if (pthread_setspecific(gone, keys) != EINVAL || tss_create(&c11, NULL) != thrd_success || tss_set(c11, &keys[rank]) != thrd_success)
		return 4;
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, in_thread, &number[i]);
	for (int i = 0; i < 2; i++) {
		void *result;
		pthread_join(threads[i], &result);
		if (result != &number[i])
			return 5;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 200; i++)
		if (pthread_getspecific(keys[i]) != &keys[i] + rank)
			return 6;
	if (tss_get(c11) != &keys[rank])
		return 7;
	if (destroyed != 2 * (10 + 20))
		return 8;
	return MPI_Finalize();
}
`)
	alike(t, program, "xt5", 3, []hosting{{engines: 1}, {engines: 2}, {engines: 1, stacks: native.Copied}})
}

// CPU clocks leave out the time that a rank has slept.
func TestSleepTakesNoProcessor(t *testing.T) {
	program := build(t, prelude+`#include <poll.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <time.h>
static double of(clockid_t c) { struct timespec t; clock_gettime(c, &t); return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }
int main(int argc, char **argv) {
	begin(&argc, &argv);
	sleep(2);
	usleep(500000);
	poll(NULL, 0, 500);
	nanosleep(&(struct timespec){1, 0}, NULL);
	gigarank_compute(1);
	struct tms b;
	struct rusage u;
	clock_t ticks = times(&b);
	getrusage(RUSAGE_SELF, &u);
	printf("%.2f %.2f %.2f %.2f %.2f; %.2f %.2f %.2f\n", (double)clock() / CLOCKS_PER_SEC, (double)b.tms_utime / (double)sysconf(_SC_CLK_TCK), (double)u.ru_utime.tv_sec + 1e-6 * (double)u.ru_utime.tv_usec,
		of(CLOCK_PROCESS_CPUTIME_ID), of(CLOCK_THREAD_CPUTIME_ID), MPI_Wtime(), of(CLOCK_MONOTONIC), (double)ticks / (double)sysconf(_SC_CLK_TCK));
	return MPI_Finalize();
}
`)
	want := "1.00 1.00 1.00 1.00 1.00; 5.00 5.00 5.00\n"
	if lines := everywhere(t, program, 2); !slices.Equal(lines, []string{want, want}) {
		t.Errorf("printed %q, want %q twice", lines, want)
	}
}

// The C library names the program in its own messages, not the simulator.
func TestProgramName(t *testing.T) {
	program := build(t, `#include <errno.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	printf("%s %s\n", program_invocation_name, program_invocation_short_name);
	return MPI_Finalize();
}
`, "-D_GNU_SOURCE")
	line := fmt.Sprintf("%s %s\n", program, filepath.Base(program))
	if lines := everywhere(t, program, 2); !slices.Equal(lines, []string{line, line}) {
		t.Errorf("printed %q, want %q twice", lines, line)
	}
}

// Objects of C++ are made and end in each rank, and so do exceptions.
func TestObjects(t *testing.T) {
	lines := everywhere(t, build(t, "objects.cc"), 3)
	want := []string{"objects: 0 faults on  3 ranks\n"}
	for rank := range 3 {
		for left, what := range []string{"a static object with a name of some length", "an object of a function", fmt.Sprintf("a thread-local object of %d", rank)} {
			want = append(want, fmt.Sprintf("rank %d: %s ends, %d left\n", rank, what, left))
		}
	}
	if slices.Sort(want); !slices.Equal(lines, want) {
		t.Errorf("printed\n%s", strings.Join(lines, ""))
	}
}

// A library in C++ that a plain compiler has linked registers objects of its rank alone, and its
// constructors run in each rank.
func TestForeignLibraries(t *testing.T) {
	dir := t.TempDir()
	compiler := cmp.Or(os.Getenv("GIGARANK_CXX"), "g++")
	if text, err := exec.Command(compiler, "-shared", "-fPIC", "testdata/registry.cc", "-Wl,-soname,libregistry.so.1", "-o", filepath.Join(dir, "libregistry.so.1")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	program := build(t, "registers_objects.cc", "-L"+dir, "-l:libregistry.so.1", "-Wl,-rpath,"+dir)
	if lines := everywhere(t, program, 5); !slices.Equal(lines, []string{"0 wrong\n"}) {
		t.Errorf("printed\n%s", strings.Join(lines, ""))
	}
}

// roomVariable has a process of this test print what a program says on one engine and on two.
const roomVariable = "GIGARANK_ROOM_PROGRAM"

// Where a library has no room for the path of copies, the first image may have the libraries themselves, unless
// the ranks would share objects that a constructor has made.
func TestLibrariesWithoutRoom(t *testing.T) {
	if program := os.Getenv(roomVariable); program != "" {
		for engines := range 2 {
			if _, err := native.Open(program, nil, native.Options{}); err != nil {
				fmt.Println(err)
				continue
			}
			_, _, err := run(t, program, "xt5", 4, hosting{engines: engines + 1})
			fmt.Println(err)
		}
		return
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"deep.cc": "int deep() { return 0; }\n", "part.cc": "int deep();\nint part() { return deep(); }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	registry, err := filepath.Abs(filepath.Join("testdata", "registry.cc"))
	if err != nil {
		t.Fatal(err)
	}
	for _, arguments := range [][]string{
		{registry, "-Wl,-soname,libregistry.so.1", "-o", "libregistry.so.1"},
		{"deep.cc", "-o", "libdeep.so"},
		{"part.cc", "-o", "libpart.so", "-L.", "-ldeep"},
	} {
		c := exec.Command(cmp.Or(os.Getenv("GIGARANK_CXX"), "g++"), append([]string{"-shared", "-fPIC"}, arguments...)...)
		c.Dir = dir
		if text, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	const room = "libpart.so has no room for the path of its libraries' copies: link it by gigarank cc, cxx or fc"
	part := []string{"-L" + dir, "-Wl,--no-as-needed", "-lpart", "-Wl,-rpath-link," + dir}
	alone := build(t, prelude+"int main(int argc, char **argv) { begin(&argc, &argv); return MPI_Finalize(); }\n", part...)
	beside := build(t, "registers_objects.cc", append(part, "-l:libregistry.so.1")...)
	for program, ends := range map[string][2]string{alone: {"<nil>", room + "; or use --engines 1"}, beside: {room, room}} {
		again := exec.Command(os.Args[0], "-test.run=^TestLibrariesWithoutRoom$", "-test.count=1")
		again.Env = append(os.Environ(), roomVariable+"="+program, "LD_LIBRARY_PATH="+dir)
		text, err := again.Output()
		lines := strings.Split(string(text), "\n")
		if err != nil || len(lines) < 2 || !strings.HasSuffix(lines[0], ends[0]) || !strings.HasSuffix(lines[1], ends[1]) {
			t.Errorf("%v: %s\nwant %q", err, text, ends)
		}
	}
}

// The standard streams of C++ have a format and a state for each rank.
func TestStreams(t *testing.T) {
	lines := everywhere(t, build(t, "streams.cc"), 4)
	var want []string
	for rank := range 4 {
		pi := fmt.Sprintf("%.*f", rank+1, 3.14159265358979)
		if rank%2 == 1 {
			pi = "+" + pi
		}
		want = append(want, fmt.Sprintf("rank %d: %s%s 0\n", rank, strings.Repeat("*", 12-len(pi)), pi))
	}
	if !slices.Equal(lines, want) {
		t.Errorf("printed\n%swant\n%s", strings.Join(lines, ""), strings.Join(want, ""))
	}
}

// So do streams that a library of the program's own uses, whether or not the program itself uses them.
func TestStreamsOfLibraries(t *testing.T) {
	library := `#include <iomanip>
#include <iostream>
extern "C" void show(int rank, int step) {
	if (step == 0)
		std::cout << std::hex << std::setprecision(rank + 1);
	else
		std::cout << rank << ": " << 255 << ' ' << 3.14159265 << std::endl;
}
`
	text := `#include <mpi.h>
#ifdef __cplusplus
#include <iostream>
extern "C"
#endif
void show(int rank, int step);
int main(int argc, char **argv) {
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	show(rank, 0);
#ifdef __cplusplus
	if (rank % 2)
		std::cout << std::dec;
#endif
	MPI_Barrier(MPI_COMM_WORLD);
	show(rank, 1);
	return MPI_Finalize();
}
`
	for name, want := range map[string][]string{"program.c": {"0: ff 3\n", "1: ff 3.1\n", "2: ff 3.14\n"}, "program.cc": {"0: ff 3\n", "1: 255 3.1\n", "2: ff 3.14\n"}} {
		if lines := everywhere(t, buildWithLibrary(t, name, text, "part.cc", library), 3); !slices.Equal(lines, want) {
			t.Errorf("%s printed %q, want %q", name, lines, want)
		}
	}
}

// largeVariables is a program of 64 MiB of variables, or as LENGTH says, of which a rank writes some
// pages.
const largeVariables = prelude + `
#ifndef LENGTH
#define LENGTH (1 << 23)
#endif
enum { HALF = LENGTH / 2, STEP = HALF / 512 };
static double field[LENGTH], edges[2][1000];
static int table[100000] = {1, 2, 3};
static __thread int local;
int main(int argc, char **argv) {
	begin(&argc, &argv);
	int faults = field[HALF] != 0 || table[2] != 3 || table[99999] != 0, right = (rank + 1) % size, left = (rank + size - 1) % size;
	for (int i = 0; i < 3; i++) {
		field[STEP * rank] += rank + i, table[99999] += rank, local += rank;
		MPI_Request q;
		MPI_Irecv(&field[HALF + 1000], 1000, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &q);
		for (int k = 0; k < 1000; k++)
			edges[0][k] = 1000 * rank + k + i;
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Send(edges[0], 1000, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
		for (int k = 0; k < 1000; k++)
			faults += field[HALF + 1000 + k] != 1000 * left + k + i;
		MPI_Allreduce(&field[STEP * rank], &edges[1][i], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	faults += table[99999] != 3 * rank || local != 3 * rank || edges[1][0] != size * (size - 1) / 2 || table[1] != 2;
	for (int other = 0; other < 64 && size <= 64; other++)
		faults += field[STEP * other] != (other == rank ? 3 * rank + 3 : 0);
	if (faults)
		printf("rank %d has %d faults\n", rank, faults);
	return MPI_Finalize();
}
`

// Variables that are large are mapped, and take memory only where a rank has written them. Messages
// go there while other ranks run.
func TestLargeVariables(t *testing.T) {
	program := build(t, largeVariables)
	if lines := everywhere(t, program, 5); len(lines) != 0 {
		t.Error(strings.Join(lines, ""))
	}
	// Where CPU times count, few ranks have an image of the program each.
	var ways []hosting
	for _, h := range hostings(5) {
		h.bursts = func(int, int) mpivirt.Bursts { return metronome{vtime.Microsecond} }
		ways = append(ways, h)
	}
	if lines := alike(t, program, "xt5", 5, ways); len(lines) != 0 {
		t.Error(strings.Join(lines, ""))
	}
	if testing.Short() { // the rest counts memory
		return
	}
	// 300 ranks have 20 GB of variables, of which they write 10 MB.
	before := residentPeak(t)
	if _, lines, err := run(t, program, "xt5", 300, hosting{engines: 2}); err != nil || len(lines) != 0 {
		t.Errorf("%v\n%s", err, strings.Join(lines, ""))
	}
	if grown := residentPeak(t) - before; grown > 300<<20 {
		t.Errorf("300 ranks have taken %d bytes", grown)
	}
}

// Where the process has few mappings left, the variables of further ranks are copied, with
// one engine and with two. A page that no rank has written takes no memory.
func TestFewMappings(t *testing.T) {
	program := build(t, largeVariables, "-DLENGTH=(1<<17)")
	most := mostMappings(t)
	lefts := []int{500, most/8 + 300}
	if testing.Short() { // enough for the race detector
		lefts = lefts[:1]
	}
	for _, left := range lefts {
		free := leaveMappings(t, most, left)
		before := residentPeak(t)
		for _, engines := range []int{1, 2} {
			if _, lines, err := run(t, program, "xt5", 300, hosting{engines: engines}); err != nil || len(lines) != 0 {
				t.Errorf("%d mappings left, %d engines: %v\n%s", left, engines, err, strings.Join(lines, ""))
			}
		}
		most := int64(100 << 20)
		if !pagesThatAreReadTakeNone(t) { // copying reads them
			most += 300 * 3 << 19 // a rank has 1.4 MiB of variables
		}
		if grown := residentPeak(t) - before; grown > most {
			t.Errorf("with %d mappings left, 300 ranks have taken %d bytes, want %d at most", left, grown, most)
		}
		free()
	}
}

// Each of many stacks has its guard, the last as the first.
func TestGuardsOfManyStacks(t *testing.T) {
	const ranks = 17_000
	program := build(t, prelude+`
static int deep(int n) { volatile char room[1000]; room[0] = (char)n; return n ? deep(n - 1) + room[0] : 0; }
int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Barrier(MPI_COMM_WORLD);
	return rank == 16999 ? deep(1000000) : MPI_Finalize();
}
`, "-O0")
	_, _, err := run(t, program, "xt5", ranks, hosting{engines: 1, stacks: native.Own})
	var failure *mpivirt.RankError
	if !errors.As(err, &failure) || failure.Rank != ranks-1 || !strings.Contains(err.Error(), "the rank has overrun its stack") {
		t.Errorf("%v, want that rank %d has overrun its stack", err, ranks-1)
	}
}

const oldSystemVariable = "GIGARANK_TEST_OLD_SYSTEM"

// Before Linux 6.13 each guard of a stack is a mapping. Ranks for whose guards a process has too few
// have copied stacks, unless they are to have their own. The test runs in a process of its own, to
// which the system refuses the new advice.
func TestGuardsAreMappings(t *testing.T) {
	if program := os.Getenv(oldSystemVariable); program != "" {
		refuseGuardAdvice(t)
		most := mostMappings(t)
		defer leaveMappings(t, most, most/8+1000)()
		for _, c := range []struct {
			ranks  int
			stacks native.Stacks
			says   string
		}{
			{400, native.Own, "the rank has overrun its stack"},
			{600, native.Own, "no pages that guard 600 stacks: use --stacks copied"},
			{600, native.Automatic, "the rank has overrun its stack"},
			{600, native.Copied, "the rank has overrun its stack"},
		} {
			if _, _, err := run(t, program, "xt5", c.ranks, hosting{engines: 1, stacks: c.stacks}); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%d ranks, stacks %v: %v, want %q", c.ranks, c.stacks, err, c.says)
			}
		}
		return
	}
	program := build(t, prelude+`
static int deep(int n) { volatile char room[1000]; room[0] = (char)n; return n ? deep(n - 1) + room[0] : 0; }
int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Barrier(MPI_COMM_WORLD);
	return rank == 399 ? deep(1000000) : MPI_Finalize();
}
`, "-O0")
	again := exec.Command(os.Args[0], "-test.run=^TestGuardsAreMappings$", "-test.count=1")
	again.Env = append(os.Environ(), oldSystemVariable+"="+program)
	if text, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

// refuseGuardAdvice has the system refuse MADV_GUARD_INSTALL to the process, as before Linux 6.13.
func refuseGuardAdvice(t *testing.T) {
	t.Helper()
	const guardInstall, number, third = 102, 0, 32 // of the advice; where struct seccomp_data has the call and its third argument
	load, equal, answer := uint16(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS), uint16(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K), uint16(unix.BPF_RET|unix.BPF_K)
	filter := []unix.SockFilter{
		{Code: load, K: number},
		{Code: equal, K: unix.SYS_MADVISE, Jf: 3},
		{Code: load, K: third},
		{Code: equal, K: guardInstall, Jf: 1},
		{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EINVAL)},
		{Code: answer, K: unix.SECCOMP_RET_ALLOW},
	}
	gort.LockOSThread()
	defer gort.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))); e != 0 {
		t.Fatal(e)
	}
}

// mostMappings returns how many mappings a process may have.
func mostMappings(t *testing.T) (most int) {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/vm/max_map_count")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(text), &most); err != nil {
		t.Fatal(err)
	}
	return most
}

// leaveMappings has the process take all mappings but some.
func leaveMappings(t *testing.T, most, left int) (free func()) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	page, n := os.Getpagesize(), most-left-strings.Count(string(maps), "\n")
	area, err := unix.Mmap(-1, 0, n*page, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < n; i += 2 { // each other page differs from its neighbours
		if err := unix.Mprotect(area[i*page:(i+1)*page], unix.PROT_READ); err != nil {
			t.Fatal(err)
		}
	}
	return func() { _ = unix.Munmap(area) }
}

// A rank in a process of its own has its variables where they are. Where CPU times count, few ranks
// of an engine do not move theirs either: each is in a place of its own.
func TestVariablesStay(t *testing.T) {
	program := build(t, prelude+`
static double field[1 << 20];
int main(int argc, char **argv) {
	begin(&argc, &argv);
	field[rank] = rank;
	MPI_Barrier(MPI_COMM_WORLD);
	printf("%p\n", (void *)field);
	return MPI_Finalize();
}
`)
	for _, c := range []struct {
		ranks  int
		bursts func(first, n int) mpivirt.Bursts
		places int
	}{{3, measured, 3}, {3, nil, 1}, {40, measured, 1}} {
		_, lines, err := run(t, program, "xt5", c.ranks, hosting{engines: 1, bursts: c.bursts})
		if places := len(slices.Compact(slices.Clone(lines))); err != nil || len(lines) != c.ranks || places != c.places {
			t.Errorf("%d ranks have their variables in %d places, want %d: %v, %v", c.ranks, places, c.places, lines, err)
		}
	}
}

// Variables that are copied at switches take memory for the parts that ranks have written, and hold what each has written, at both ends.
func TestCopiedVariablesTakeWhatIsWritten(t *testing.T) {
	if !pagesThatAreReadTakeNone(t) {
		t.Skip("this kernel has no page of zeros")
	}
	const ranks, bytes = 2000, 120 << 10
	program := build(t, prelude+fmt.Sprintf(`
static int field[%d / sizeof(int)];
int main(int argc, char **argv) {
	begin(&argc, &argv);
	int last = sizeof field / sizeof *field - 1;
	field[3] = rank + 1;
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 7)
		for (int i = 4; i <= last; i++) field[i] = 5;
	MPI_Barrier(MPI_COMM_WORLD);
	if (field[3] != rank + 1 || field[last] != (rank == 7 ? 5 : 0) || field[last / 2] != (rank == 7 ? 5 : 0)) return 3;
	return MPI_Finalize();
}
`, bytes))
	before := residentPeak(t)
	if _, _, err := run(t, program, "xt5", ranks, hosting{engines: 1}); err != nil {
		t.Fatal(err)
	}
	if more := residentPeak(t) - before; more > ranks*bytes/2 {
		t.Errorf("%d ranks with %d bytes, of which they write few, take %d bytes", ranks, bytes, more)
	}
}

// residentPeak returns the most memory that the process has had, in bytes.
func residentPeak(t *testing.T) int64 {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return u.Maxrss << 10
}

// pagesThatAreReadTakeNone reports whether pages that are read and not written take no memory, as on Linux, which
// has one page of zeros for all such pages. Kernels of some virtual machines have no page of zeros.
func pagesThatAreReadTakeNone(t *testing.T) bool {
	t.Helper()
	area, err := unix.Mmap(-1, 0, 16<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(area) }()
	if err := unix.Madvise(area, unix.MADV_NOHUGEPAGE); err != nil {
		t.Fatal(err)
	}
	before := residentNow(t)
	if bytes.ContainsFunc(area, func(r rune) bool { return r != 0 }) {
		t.Fatal("fresh memory is not zero")
	}
	return residentNow(t)-before < 8<<20
}

// residentNow returns the resident memory of this process, in bytes.
func residentNow(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var all, resident int64
	if _, err := fmt.Sscan(string(status), &all, &resident); err != nil {
		t.Fatal(err)
	}
	return resident * int64(os.Getpagesize())
}

const inputVariable = "GIGARANK_TEST_INPUT"

// Rank 0 reads the standard input, and other ranks find its end. The test runs in a process of
// its own, which has an input.
func TestInput(t *testing.T) {
	if program := os.Getenv(inputVariable); program != "" {
		for _, engines := range []int{1, 2} {
			if _, err := os.Stdin.Seek(0, 0); err != nil {
				t.Fatal(err)
			}
			if _, lines, err := run(t, program, "xt5", 3, hosting{engines: engines}, "input"); err != nil || !strings.HasSuffix(lines[0], " 0 failed\n") {
				t.Errorf("%v\n%s", err, strings.Join(lines, ""))
			}
		}
		return
	}
	input, err := os.Create(t.TempDir() + "/input")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = input.Close() }()
	if _, err := input.WriteString("the first line\n42 and more\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := input.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	again := exec.Command(os.Args[0], "-test.run=^TestInput$", "-test.count=1")
	again.Env, again.Stdin = append(os.Environ(), inputVariable+"="+build(t, "process.c")), input
	if text, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

const crashVariable = "GIGARANK_TEST_CRASH"

// A signal that stops the simulator between the calls of a rank, or a thread that a rank has started, ends the
// process. The error names the rank. The test runs in a process of its own, which does not go on for ever.
func TestCrashesThatEndTheProcess(t *testing.T) {
	if program := os.Getenv(crashVariable); program != "" {
		_, _, err := run(t, program, "xt5", 3, hosting{engines: 1})
		t.Fatalf("the simulation has come to its end: %v", err)
	}
	for _, c := range []struct {
		why, does string
		says      []string
	}{
		{"in a switch", "mprotect(own, sizeof own, PROT_NONE);",
			[]string{"gigarank: the simulator was stopped by SIGSEGV at address 0x", "switched to or from rank 1 at virtual time 0.001 s"}},
		{"in a thread", "pthread_t t; pthread_create(&t, NULL, crash, NULL); pthread_join(t, NULL);",
			[]string{"gigarank: rank 1 failed at virtual time 0.001 s: a thread that the rank has started was stopped by SIGSEGV in "}},
		{"in a thread of OpenMP", "\n#pragma omp parallel num_threads(3)\n\t\tif (omp_get_thread_num() == 2) crash(NULL);",
			[]string{"gigarank: rank 1 failed at virtual time 0.001 s: a thread that the rank has started was stopped by SIGSEGV in "}},
	} {
		t.Run(c.why, func(t *testing.T) {
			program := build(t, prelude+`
#include <omp.h>
#include <sys/mman.h>
static _Alignas(65536) char own[65536];
void *crash(void *p) { *(volatile int *)p = 1; own[0] = 1; return p; }
int main(int argc, char **argv) {
	begin(&argc, &argv);
	if (rank == 1) {
		`+c.does+`
	}
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Finalize();
}
`, "-fopenmp")
			limit, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			again := exec.CommandContext(limit, os.Args[0], "-test.run=^TestCrashesThatEndTheProcess$", "-test.count=1")
			again.Env = append(os.Environ(), crashVariable+"="+program)
			text, err := again.CombinedOutput()
			code := again.ProcessState.ExitCode()
			for _, says := range c.says {
				if code != 3 || !strings.Contains(string(text), says) {
					t.Errorf("%v, exit code %d, want 3 and %q, not\n%s", err, code, says, text)
				}
			}
		})
	}
}

// Ranks find the true features of the processor: the constructor that compilers link into programs for that runs
// once for all ranks.
func TestRanksKnowTheProcessor(t *testing.T) {
	if gort.GOARCH != "amd64" {
		t.Skip("__builtin_cpu_supports is for x86")
	}
	program := build(t, `#include <mpi.h>
#include <stdio.h>
static int early;
__attribute__((constructor(102))) static void look(void) { early = !!__builtin_cpu_supports("avx2"); } /* the compiler's has priority 101 */
int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	printf("%d %d %d\n", early, !!__builtin_cpu_supports("avx2"), !!__builtin_cpu_supports("sse4.2"));
	MPI_Finalize();
	return 0;
}
`)
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]int{}
	for _, name := range strings.Fields(string(text)) {
		has[name] = 1
	}
	line := fmt.Sprintln(has["avx2"], has["avx2"], has["sse4_2"])
	for _, h := range []hosting{{engines: 1}, {engines: 3}, {engines: 2, stacks: native.Copied}} {
		if _, lines, err := run(t, program, "xt5", 4, h); err != nil || !slices.Equal(lines, slices.Repeat([]string{line}, 4)) {
			t.Errorf("%+v: %v, printed %q, want %q of each", h, err, lines, line)
		}
	}
}

// Functions that end a rank run in the order of a process: those of atexit and destructors of objects first, the latest first, then
// the destructors of the program's parts; a function that such a function adds comes next.
func TestOrderOfTheEnd(t *testing.T) {
	program := build(t, `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static char said[256];
static void say(const char *what) { snprintf(said + strlen(said), sizeof said - strlen(said), "%s ", what); }
static void late(void) { say("late"); }
static void of_main(void) { say("main"); }
static void of_constructor(void) { say("constructor"); }
__attribute__((constructor)) static void begin(void) { atexit(of_constructor); }
__attribute__((destructor)) static void end(void) { say("end"); atexit(late); }
__attribute__((destructor(200))) static void last(void) { printf("%slast\n", said); }
int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	atexit(of_main);
	MPI_Finalize();
	return 0;
}
`, "-include", "string.h")
	for _, h := range []hosting{{engines: 1}, {engines: 2, stacks: native.Copied}} {
		if _, lines, err := run(t, program, "xt5", 2, h); err != nil || !slices.Equal(lines, slices.Repeat([]string{"main constructor end late last\n"}, 2)) {
			t.Errorf("%+v: %v, printed %q", h, err, lines)
		}
	}
}

// The standard output and error of a rank are pipes, wherever the simulator's output goes, until the rank opens other files.
func TestStandardOutputIsAPipe(t *testing.T) {
	program := build(t, `#include <mpi.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
static int kind(int file) { struct stat s; return fstat(file, &s) ? -errno : s.st_mode & S_IFMT; }
int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	printf("%d %d %d\n", kind(1) == S_IFIFO && kind(2) == S_IFIFO, isatty(1), isatty(2));
	if (!freopen(argv[1], "w", stdout)) return 1;
	int regular = kind(1) == S_IFREG;
	fclose(stdout);
	MPI_Finalize();
	return regular && kind(1) == -EBADF ? 0 : 2;
}
`)
	for _, h := range []hosting{{engines: 1}, {engines: 1, stacks: native.Copied}} {
		if _, lines, err := run(t, program, "xt5", 1, h, filepath.Join(t.TempDir(), "out")); err != nil || !slices.Equal(lines, []string{"1 0 0\n"}) {
			t.Errorf("%+v: %v, printed %q", h, err, lines)
		}
	}
}
