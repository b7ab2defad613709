//go:build mpi && cgo && linux && (amd64 || arm64)

package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gigarank/vtime"
)

// longSends is a program that sends long messages, from the heap, the stack and variables, of sizes that
// no word divides. Each sender changes the content as soon as its call is over.
const longSends = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { longest = (1 << 20) + 3 };
static char variable[longest];

static void check(const char *bytes, int n, int wanted, const char *what) {
	for (int i = 0; i < n; i++)
		if (bytes[i] != (char)wanted) {
			printf("byte %d of %d of %s is %d, not %d\n", i, n, what, bytes[i], (char)wanted);
			exit(1);
		}
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	int rank, size;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	char *heap = malloc(longest), *in = malloc(longest);
	for (int k = 0; k < 8; k++) {
		int n = 30001 + k * 100003;
		memset(heap, rank + k, n);
		MPI_Request request;
		MPI_Irecv(in, n, MPI_BYTE, before, 1, MPI_COMM_WORLD, &request);
		MPI_Send(heap, n, MPI_BYTE, next, 1, MPI_COMM_WORLD);
		memset(heap, -1, n);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		check(in, n, before + k, "the heap");

		char stack[50001];
		memset(stack, rank + 2 * k, sizeof stack);
		MPI_Sendrecv(stack, sizeof stack, MPI_BYTE, before, 2, in, longest, MPI_BYTE, next, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		memset(stack, -1, sizeof stack);
		check(in, sizeof stack, next + 2 * k, "the stack");

		for (int i = 0; size % 2 == 0 && i < 20; i++) { /* pairs cross between two processes */
			int other = (rank + size / 2) % size;
			memset(heap, rank + i, n);
			MPI_Sendrecv(heap, n, MPI_BYTE, other, 4, in, n, MPI_BYTE, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			memset(heap, -1, n);
			check(in, n, other + i, "the heap, both ways");
		}

		memset(variable, rank + 3 * k, n);
		if (rank == 0) { /* the others' messages wait for their receives */
			for (int from = size - 1; from > 0; from--) {
				MPI_Recv(in, longest, MPI_BYTE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				check(in, n, from + 3 * k, "a variable");
			}
		} else {
			MPI_Ssend(variable, n, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
			memset(variable, -1, n);
		}
	}
	if (rank == 0)
		puts("all came");
	MPI_Finalize();
}
`

// longVariables is a program that sends a long variable, which is moved where an operation of the program
// is carried out meanwhile for a reduction of the sender.
const longVariables = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { longest = 8 << 20, count = 1 << 20 };
static struct {
	char content[longest];
	double added;
} variable;
static int factor[count] = {[0 ... count - 1] = 1};

static void add(void *in, void *inout, int *n, MPI_Datatype *type) {
	for (int i = 0; i < *n; i++)
		((int *)inout)[i] += ((int *)in)[i] * factor[i];
	variable.added += *n;
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	int rank, size;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Op sum;
	MPI_Op_create(add, 1, &sum);
	int *mine = calloc(count, sizeof *mine), *all = calloc(count, sizeof *all), other = (rank + size / 2) % size;
	char *in = malloc(longest);
	for (int k = 1; k <= 6; k++) {
		MPI_Request request;
		memset(variable.content, k, longest);
		for (int i = 0; i < count; i++)
			mine[i] = rank + k;
		if (k % 2)
			MPI_Ireduce(mine, all, count, MPI_INT, sum, 0, MPI_COMM_WORLD, &request);
		else
			MPI_Iscan(mine, all, count, MPI_INT, sum, MPI_COMM_WORLD, &request);
		if (rank < size / 2) {
			MPI_Ssend(variable.content, longest, MPI_BYTE, other, 1, MPI_COMM_WORLD);
		} else {
			MPI_Recv(in, longest, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			for (int i = 0; i < longest; i++)
				if (in[i] != k) {
					printf("round %d: byte %d is %d\n", k, i, in[i]);
					exit(1);
				}
		}
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		int terms = k % 2 ? size : rank + 1, wanted = terms * k + terms * (terms - 1) / 2;
		for (int i = 0; i < count && (k % 2 == 0 || rank == 0); i++)
			if (all[i] != wanted) {
				printf("round %d, rank %d: element %d is %d, not %d\n", k, rank, i, all[i], wanted);
				exit(1);
			}
	}
	double added;
	MPI_Allreduce(&variable.added, &added, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	if (added < 10.0 * (size - 1) * count) {
		printf("rank %d: %g elements have been added\n", rank, added);
		exit(1);
	}
	if (rank == 0)
		puts("all came");
	MPI_Finalize();
}
`

// A long message from a variable comes whole, also while operations of the sender's program find its
// variables in place.
func TestLongSendsBesideOperations(t *testing.T) {
	t.Parallel() // its processes wait for each other most of the time
	program, machine := longSender(t, longVariables, "calls")
	for _, stacks := range []string{"own", "copied"} {
		for _, copying := range []string{"", "OMPI_MCA_btl_vader_single_copy_mechanism=none"} {
			cmd := underMPI(t, 2, "run", program, "--ranks", "8", "--machine", machine, "--progress", "none", "--stacks", stacks)
			cmd.Env = append(cmd.Env, copying)
			if text, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(text), "all came\n") {
				t.Errorf("stacks %s, %s: %v\n%s", stacks, copying, err, text)
			}
		}
	}
}

var longSeed = flag.Int("long.seed", 0, "the seed of TestRandomLongMessages; 0 for one from the clock")

// Random long messages come whole, and the virtual results are the same however the ranks are hosted. A failure names the
// flag that has its seed again.
func TestRandomLongMessages(t *testing.T) {
	t.Parallel() // its processes wait for each other most of the time
	text, err := os.ReadFile(filepath.Join("..", "..", "mpivirt", "native", "testdata", "longmessages.c"))
	if err != nil {
		t.Fatal(err)
	}
	program, machine := longSender(t, string(text), "calls")
	seed := *longSeed
	if seed == 0 {
		seed = int(time.Now().Unix() % 1e6)
	}
	t.Logf("-long.seed=%d", seed)
	args := []string{"run", program, "--ranks", "6", "--machine", machine, "--progress", "none", "--", strconv.Itoa(seed), "100"}
	alone, err := command(t, args...).CombinedOutput()
	if err != nil || !strings.Contains(string(alone), "all came\n") || !fingerprint.Match(alone) {
		t.Fatalf("-long.seed=%d: %v\n%s", seed, err, alone)
	}
	for _, hosts := range []int{2, 3} {
		for _, stacks := range []string{"own", "copied"} {
			text, err := underMPI(t, hosts, append([]string{"run", "--stacks", stacks}, args[1:]...)...).CombinedOutput()
			if err != nil || fingerprint.FindString(string(text)) != fingerprint.FindString(string(alone)) {
				t.Errorf("-long.seed=%d, %d hosts, stacks %s: %v\n%swant %s", seed, hosts, stacks, err, text, fingerprint.Find(alone))
			}
		}
	}
}

var fingerprint = regexp.MustCompile(`fingerprint +[0-9a-f]{32}`)

// longSender builds a program and writes a machine on which messages of more than 4 KiB wait for their receivers.
func longSender(t *testing.T, text, progress string) (program, machine string) {
	t.Helper()
	dir := t.TempDir()
	source, program, machine := filepath.Join(dir, "sender.c"), filepath.Join(dir, "sender"), filepath.Join(dir, "machine.yaml")
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := command(t, "cc", "-O2", source, "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	shown, err := command(t, "machine", "show", "vaced-sim").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(machine, regexp.MustCompile(`eager_limit: .*`).ReplaceAll(shown, []byte("eager_limit: 4KiB\n  progress: "+progress)), 0o666); err != nil {
		t.Fatal(err)
	}
	return program, machine
}

// Long messages come whole to ranks of other processes, which get the content of a blocking send from where
// it lies. The virtual results are those of one process. Of progress, hosts, stacks and copying any three values come together.
func TestLongSendsBetweenHosts(t *testing.T) {
	t.Parallel() // its processes wait for each other most of the time
	for i, progress := range []string{"calls", "asynchronous"} {
		program, machine := longSender(t, longSends, progress)
		for hosts, ranks := range map[int]string{3: "5", 2: "4"} {
			args := []string{"run", program, "--ranks", ranks, "--machine", machine, "--progress", "none"}
			alone, err := command(t, args...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, alone)
			}
			for j, stacks := range []string{"own", "copied"} {
				copying := []string{"", "OMPI_MCA_btl_vader_single_copy_mechanism=none"}[(i+hosts+j)%2]
				cmd := underMPI(t, hosts, append(args, "--stacks", stacks)...)
				cmd.Env = append(cmd.Env, copying)
				text, err := cmd.CombinedOutput()
				if err != nil || !strings.Contains(string(text), "all came\n") || fingerprint.FindString(string(text)) != fingerprint.FindString(string(alone)) {
					t.Errorf("%s ranks, progress %s, stacks %s, %s: %v\n%swant %s", ranks, progress, stacks, copying, err, text, fingerprint.Find(alone))
				}
			}
		}
	}
}

var endingsSeed = flag.Int("endings.seed", 0, "the first seed of TestRandomEndingsOnHosts; 0 for one from the clock")

// However ranks come to their ends, several processes end with the same error and print the same lines as one does, but
// for those that lie beyond a failure. A failure names the flag that has its seed again.
func TestRandomEndingsOnHosts(t *testing.T) {
	t.Parallel() // its processes wait for each other most of the time
	const seeds, ranks = 6, "5"
	program := filepath.Join(t.TempDir(), "endings")
	if text, err := command(t, "cc", "-O2", filepath.Join("..", "..", "mpivirt", "native", "testdata", "endings.c"), "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	first := *endingsSeed
	if first == 0 {
		first = int(time.Now().Unix() % 1e6)
	}
	t.Logf("-endings.seed=%d", first)
	for seed := first; seed < first+seeds; seed++ {
		args := []string{"run", program, "--ranks", ranks, "--progress", "none", "--", strconv.Itoa(seed)}
		alone := command(t, append(args, t.TempDir(), ranks)...)
		var printed, told strings.Builder
		alone.Stdout, alone.Stderr = &printed, &told
		err := alone.Run()
		want := endingOf(t, err, printed.String(), told.String())
		hosts := 2 + seed%2
		texts, tales, err := outputApart(t, underMPI(t, hosts, append(args, t.TempDir(), ranks)...))
		if got := endingOf(t, err, texts, tales); got != want {
			t.Errorf("-endings.seed=%d, %d hosts: ended with\n%s\nwant\n%s", seed, hosts, got, want)
		}
	}
}

var (
	lineOfRank = regexp.MustCompile(`(?m)^(?:half )*(\w+ \d+ (\d+) (\d+))$`) // behind a line that another rank has not ended
	failedAt   = regexp.MustCompile(`gigarank: rank (\d+) failed at virtual time ([0-9.]+[a-z]+)`)
	stopped    = regexp.MustCompile(`the run was stopped by engine \d+: `) // where another process than the first has the failure
	reasons    = regexp.MustCompile(`(?m)^(gigarank: |  rank |  and ).*$`)
)

// outputApart runs a command under mpirun and returns what its processes print, and what they tell on standard error, one process
// after the other. Mpirun itself mixes their output in the middle of lines, and drops the rest of it once one has aborted.
func outputApart(t *testing.T, cmd *exec.Cmd) (printed, told string, ended error) {
	t.Helper()
	const launcher = 3 // mpirun -n N
	dir := t.TempDir()
	cmd.Args = slices.Insert(cmd.Args, launcher, "sh", "-c", `exec "$0" "$@" >"`+dir+`/$$.out" 2>"`+dir+`/$$.err"`)
	ended = cmd.Run()
	all := func(suffix string) string {
		files, err := filepath.Glob(filepath.Join(dir, "*."+suffix))
		if err != nil {
			t.Fatal(err)
		}
		var texts strings.Builder
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts.Write(append(text, '\n'))
		}
		return texts.String()
	}
	return all("out"), all("err"), ended
}

// endingOf returns how testdata/endings.c has ended that printed a text: its exit code, the reason, the fingerprint and
// the lines that count.
func endingOf(t *testing.T, err error, text, told string) string {
	t.Helper()
	errors := stopped.ReplaceAllString(told, "")
	rank, bound := 0, vtime.Forever
	if m := failedAt.FindStringSubmatch(errors); m != nil && regexp.MustCompile(`(?m)^(half )*(fails|alone) `).MatchString(text) {
		d, err := vtime.ParseDuration(m[2])
		if err != nil {
			t.Fatal(err)
		}
		rank, _ = strconv.Atoi(m[1])
		bound = vtime.Time(0).Add(d)
	}
	var lines []string
	for _, m := range lineOfRank.FindAllStringSubmatch(text, -1) {
		own, _ := strconv.Atoi(m[2])
		at, _ := strconv.ParseInt(m[3], 10, 64)
		if at := vtime.Time(at); at < bound || at == bound && own <= rank {
			lines = append(lines, m[1])
		}
	}
	slices.Sort(lines)
	return fmt.Sprintf("%v\n%s\n%s\n%s", err, strings.Join(reasons.FindAllString(errors, -1), "\n"), fingerprint.FindString(text), strings.Join(lines, "\n"))
}
