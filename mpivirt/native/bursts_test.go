//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gigarank/internal/cputime"
	"gigarank/mpivirt"
	"gigarank/mpivirt/native"
	"gigarank/sync"
	"gigarank/vtime"
)

// metronome is a source of bursts that all take the same time, whatever they took.
type metronome struct{ beat vtime.Duration }

func (m metronome) Start()                                               {}
func (m metronome) Stop(int) (vtime.Duration, error)                     { return m.beat, nil }
func (m metronome) Declared(int, vtime.Duration) (vtime.Duration, error) { return m.beat, nil }
func (m metronome) Kept() bool                                           { return true }

// unequal writes a machine with a rank on each node, of which node 1 takes half the host's time.
func unequal(t *testing.T, model string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "m.yaml")
	if err := os.WriteFile(file, []byte("name: m\ncpu_ratios: [{from: 1, to: 1, ratio: 0.5}]\nnetwork: "+model+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// beats notes the time in microseconds.
const beats = `#include <mpi.h>
#include <gigarank.h>
#include <stdio.h>
#include <time.h>

static double at(void) { return MPI_Wtime() * 1e6; }

int main(int argc, char **argv) {
	int rank, runs = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	double first = at();
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	gigarank_compute(20e-6);
	double computed = at();
	MPI_Barrier(MPI_COMM_WORLD);
	double after = at();
	gigarank_charge(0);
	gigarank_charge(0);
	double unpaid = at();
	gigarank_charge(1);
	double paid = at();
	for (int i = 0; i < 7; i++)
		if (gigarank_sample_begin("s", 3)) {
			runs++;
			gigarank_sample_end();
		}
	double sampled = at();
	printf("%d: %g %g %g, %g %g %g, %g, %d runs\n", rank, first, t.tv_nsec * 1e-3, computed, after, unpaid, paid, sampled, runs);
	return MPI_Finalize();
}
`

// Each burst is charged where it ends, in a call or a clock poll, and on each node as
// its cores take: here 10 us, or 5 us. Into the barrier the ranks come at 70 and 45 us, and
// each leaves when the other's message has come after 100 us. Each of seven samples has a burst
// before it and one in it, which from the fourth on is the mean.
func TestBurstsAreCharged(t *testing.T) {
	program := build(t, beats)
	want := []string{"0: 10 20 60, 155 165 175, 325, 3 runs\n", "1: 5 10 40, 175 180 185, 260, 3 runs\n"}
	for _, model := range []string{"{model: flat, latency: 100us}", "{model: loggops, L: 100us, o: 0, g: 0, G: 0, O: 0, S: 1GiB}"} {
		for _, stacks := range []native.Stacks{native.Own, native.Copied} {
			for engines := 1; engines <= 2; engines++ {
				_, printed, err := run(t, program, unequal(t, model), 2, hosting{engines: engines, stacks: stacks,
					bursts: func(int, int) mpivirt.Bursts { return metronome{10 * vtime.Microsecond} }})
				if err != nil || !slices.Equal(printed, want) {
					t.Errorf("%s, %v, %d engines: %v; prints %q, want %q", model, stacks, engines, err, printed, want)
				}
			}
		}
	}
}

// computing computes, in a ring and round collectives, values that depend on the rank.
const computing = `#include <mpi.h>
#include <gigarank.h>
#include <stdio.h>

int main(int argc, char **argv) {
	int rank, size;
	double x = 1.5, in, sum;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 6; i++) {
		for (int j = 0; j < 10000 * (1 + (rank + i) % 5); j++)
			x = x * 1.0000001 + 1e-9;
		MPI_Sendrecv(&x, 1, MPI_DOUBLE, (rank + 1) % size, 0, &in, 1, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (i % 2 == 0)
			MPI_Barrier(MPI_COMM_WORLD);
		gigarank_compute(1e-6);
		if (MPI_Wtime() < 0)
			printf("no time\n");
		gigarank_charge(i % 2);
	}
	MPI_Allreduce(&in, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return MPI_Finalize() || sum < 0;
}
`

// Bursts that were recorded on one engine give the same virtual times on any hosting, and on
// a machine that has state at the receiver as well.
func TestRecordedBurstsAreHostedAnyhow(t *testing.T) {
	const ranks = 12
	program := build(t, computing)
	var log *cputime.Log
	recorded, _, err := run(t, program, "xt5", ranks, hosting{engines: 1, bursts: func(first, n int) mpivirt.Bursts {
		log = cputime.NewLog(first, n)
		return cputime.NewRecorded(cputime.HostClock(), log)
	}})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := cputime.Write(&file, cputime.Header{Program: "p", Ranks: ranks, Processes: 1}, []*cputime.Log{log}); err != nil {
		t.Fatal(err)
	}
	replayed := func(first, n int) mpivirt.Bursts {
		own := cputime.NewLog(first, n)
		if _, err := cputime.Read(bytes.NewReader(file.Bytes()), []*cputime.Log{own}); err != nil {
			t.Error(err)
		}
		return cputime.NewReplayed(own)
	}
	bare, _, err := run(t, program, "xt5", ranks, hosting{engines: 1})
	if err != nil || bare.VirtualTime >= recorded.VirtualTime {
		t.Errorf("error %v; the run takes %v, without computing %v", err, recorded.VirtualTime, bare.VirtualTime)
	}
	for _, machine := range []string{"xt5", "loggops-default"} {
		want := ""
		if machine == "xt5" {
			want = recorded.Fingerprint
		}
		for _, h := range append(hostings(ranks), hosting{engines: 4}, hosting{engines: 4, protocol: sync.Null, strict: true}) {
			h.bursts = replayed
			again, _, err := run(t, program, machine, ranks, h)
			if err != nil {
				t.Fatalf("%s, %+v: %v", machine, h, err)
			}
			if want == "" {
				want = again.Fingerprint
			}
			if again.Fingerprint != want {
				t.Errorf("%s, %+v: fingerprint %s, want %s", machine, h, again.Fingerprint, want)
			}
		}
	}
}

// spinning computes until the thread has used 20 ms more of its CPU, which it asks of the
// system itself, and asks for the date before and after, and while it computes.
const spinning = `#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static double used(void) {
	struct timespec t;
	syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
	int rank, same, back = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	double began = MPI_Wtime(), last = began, u = used(), end = u + 0.02;
	for (int i = 0; used() < end; i++)
		if (i % 3 == 0) {
			double now = MPI_Wtime();
			back += now < last;
			last = now;
		}
	u = used() - u; /* other ranks use the same thread while this one waits */
	MPI_Sendrecv(&rank, 1, MPI_INT, rank, 0, &same, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	printf("%.9f %.9f %.9f %d\n", MPI_Wtime() - began, last - began, u, back);
	return MPI_Finalize();
}
`

// measured returns a source of bursts that measures them.
func measured(int, int) mpivirt.Bursts { return cputime.NewMeasured(cputime.HostClock()) }

// The virtual time of a burst is the CPU time that the system has counted, times the ratio of
// the node, with other engines beside it. Other work on the machine may take time between a look of the runtime and that of the program:
// of a few runs, one must agree in all ranks. No clock ever goes back.
func TestMeasuredTimeIsCPUTime(t *testing.T) {
	program := build(t, spinning)
	var faults []string
	for range 5 {
		_, printed, err := run(t, program, unequal(t, "{model: flat, latency: 1us}"), 4, hosting{engines: 2, bursts: measured})
		if err != nil || len(printed) != 4 {
			t.Fatalf("%v: %q", err, printed)
		}
		if faults = chargedOtherwise(t, printed); len(faults) == 0 {
			return
		}
	}
	t.Error(strings.Join(faults, "\n"))
}

// chargedOtherwise returns how the times that the ranks of spinning print differ from the CPU times that they have used: one rank takes
// half of its time, the others all of it.
func chargedOtherwise(t *testing.T, printed []string) (faults []string) {
	t.Helper()
	halves := 0
	for _, line := range printed {
		var charged, last, used float64
		var back int
		if _, err := fmt.Sscan(line, &charged, &last, &used, &back); err != nil {
			t.Fatal(err)
		}
		if last > charged || back > 0 {
			t.Errorf("the last look shows %v s of %v s, %d go back", last, charged, back)
		}
		ratio := 1.0
		if charged < 0.75*used {
			ratio = 0.5
			halves++
		}
		if d := charged - ratio*used; d < -0.002 || d > 0.002 || last < 0.9*charged-0.002 {
			faults = append(faults, fmt.Sprintf("%v s are charged for %v s, the last look shows %v s", charged, used, last))
		}
	}
	if halves != 1 {
		faults = append(faults, fmt.Sprintf("%d ranks take half the time, want the one on node 1", halves))
	}
	return faults
}

// A region that is sampled must only compute.
func TestCallsWithinSamplesAreErrors(t *testing.T) {
	for inside, want := range map[string]string{
		"MPI_Barrier(MPI_COMM_WORLD)": "in Barrier: ", "t = MPI_Wtime()": "only compute", "gigarank_charge(0)": "only compute",
		"gigarank_sample_begin(\"t\", 1)": "only compute", "return MPI_Finalize()": "only compute",
		"gigarank_sample_end()": "outside a sample", "gigarank_compute(0.5)": "only compute",
	} {
		program := build(t, `#include <mpi.h>
#include <gigarank.h>
int main(int argc, char **argv) {
	double t = 0;
	MPI_Init(&argc, &argv);
	if (gigarank_sample_begin("s", 1)) {
		`+inside+`;
		gigarank_sample_end();
	}
	return MPI_Finalize() || t < 0;
}
`)
		_, _, err := run(t, program, "xt5", 1, hosting{engines: 1, bursts: measured})
		var failure *mpivirt.RankError
		if !errors.As(err, &failure) || failure.Rank != 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s in a sample: %v, want %q", inside, err, want)
		}
		if _, _, err := run(t, program, "xt5", 1, hosting{engines: 1}); err != nil {
			t.Errorf("%s in a sample, where CPU times do not count: %v", inside, err)
		}
	}
}

// uncharged waits for a time by looking at the clock, while the CPU time of its code does not count, and prints
// how often it has looked.
const uncharged = `#include <mpi.h>
#include <gigarank.h>
#include <stdio.h>

int main(int argc, char **argv) {
	int rank, looks = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	gigarank_charge(0);
	double start = MPI_Wtime(), end = start + (rank + 1) * 0.2e-3 - 50e-9;
	while (MPI_Wtime() < end)
		looks++;
	printf("%d: %d %.9f\n", rank, looks, MPI_Wtime() - start);
	return MPI_Finalize();
}
`

// Where the CPU time of a rank does not count, it comes to the end of a wait by the clock as it does where no CPU
// time counts: each clock poll after 1,000 takes the poll time of the machine, 100 ns. That holds on machines where polls are calls,
// and where bursts are kept: another rank runs between two polls there. The last poll takes the time too.
func TestWaitByTheClockWithoutCharging(t *testing.T) {
	program := build(t, uncharged)
	want := []string{"0: 2998 0.000200100\n", "1: 4998 0.000400100\n"}
	recorded := func(first, n int) mpivirt.Bursts {
		return cputime.NewRecorded(cputime.HostClock(), cputime.NewLog(first, n))
	}
	for _, model := range []string{"{model: flat, latency: 5us}", "{model: flat, latency: 5us, bandwidth: 10GB/s, eager_limit: 64KiB, progress: calls}", "{model: loggops, L: 5us, o: 0, g: 0, G: 0, O: 0, S: 1GiB}"} {
		for name, bursts := range map[string]func(int, int) mpivirt.Bursts{"measured": measured, "recorded": recorded} {
			for _, h := range []hosting{{engines: 1}, {engines: 1, stacks: native.Copied}, {engines: 2}} {
				h.bursts = bursts
				_, printed, err := run(t, program, unequal(t, model), 2, h)
				slices.Sort(printed)
				if err != nil || !slices.Equal(printed, want) {
					t.Errorf("%s, %s, %d engines, %v: %v; prints %q, want %q", model, name, h.engines, h.stacks, err, printed, want)
				}
			}
		}
	}
}

// Calls that the rank answers by itself are part of a region that is sampled.
func TestCallsWithinTheRankInSamples(t *testing.T) {
	program := build(t, `#include <mpi.h>
#include <gigarank.h>
int main(int argc, char **argv) {
	int rank, at = 0, runs = 0;
	char packed[8];
	MPI_Init(&argc, &argv);
	while (gigarank_sample_begin("s", 2)) {
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Pack(&rank, 1, MPI_INT, packed, sizeof packed, &at, MPI_COMM_WORLD);
		gigarank_sample_end();
		runs++;
	}
	return MPI_Finalize() || runs != 2 || at != 8;
}
`)
	if _, _, err := run(t, program, "xt5", 1, hosting{engines: 1, bursts: measured}); err != nil {
		t.Error(err)
	}
}

// replies has rank 0 compute until rank 1 has its message, for some seconds at most, which it has
// sent in the same stretch of its code.
const replies = `#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	int rank, x = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) {
		MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
		for (long i = 0; i < 10000000; i++)
			if (access(argv[1], F_OK) == 0)
				return MPI_Finalize();
		printf("rank 1 has had no message\n");
	} else {
		MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
		MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		fclose(fopen(argv[1], "w"));
	}
	return MPI_Finalize();
}
`

// A message does not wait until its sender has computed: ranks of other engines that need it would
// wait too, one after the other.
func TestMessagesLeaveBeforeABurst(t *testing.T) {
	program := build(t, replies)
	_, printed, err := run(t, program, unequal(t, "{model: flat, latency: 1us}"), 2, hosting{engines: 2,
		bursts: func(int, int) mpivirt.Bursts { return cputime.NewMeasured(cputime.HostClock()) }}, filepath.Join(t.TempDir(), "there"))
	if err != nil || len(printed) > 0 {
		t.Errorf("%v; prints %q", err, printed)
	}
}

// An engine that resumes its ranks again and again is no goroutine that computes for ever: Go's monitor, which looks
// every 100 us for a while once it has taken the place of such a goroutine, sleeps. The process then waits some 800 times a second, and
// 1,600 to 3,000 times otherwise. Other work of the process may add to that, so the least of five runs counts.
func TestMeasuringGivesWay(t *testing.T) {
	program := build(t, `#include <mpi.h>
int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 500; i++) {
		for (volatile int j = 0; j < 500000; j++)
			;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	return MPI_Finalize();
}
`)
	waits := func() int64 {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return int64(u.Nvcsw)
	}
	const most = 1300
	least := math.Inf(1)
	for range 5 {
		before, began := waits(), time.Now()
		if _, _, err := run(t, program, unequal(t, "{model: flat, latency: 100us}"), 2, hosting{engines: 1, bursts: measured}); err != nil {
			t.Fatal(err)
		}
		least = min(least, float64(waits()-before)/time.Since(began).Seconds())
	}
	if least > most {
		t.Errorf("the process waits %.0f times a second, want at most %d", least, most)
	}
}
