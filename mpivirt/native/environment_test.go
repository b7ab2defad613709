//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gigarank/mpivirt/native/toolchain"
)

// named are the variables by which launchers tell a process its number, with their value for each of 5 ranks on nodes of two
// that take turns: nodes 0, 1, 2 have ranks 0 and 3, 1 and 4, 2.
var named = map[string]func(rank int) int{
	"OMPI_COMM_WORLD_RANK": ownRank, "OMPI_COMM_WORLD_SIZE": allRanks, "OMPI_COMM_WORLD_LOCAL_RANK": localRank, "OMPI_COMM_WORLD_LOCAL_SIZE": localSize,
	"OMPI_COMM_WORLD_NODE_RANK": localRank, "PMIX_RANK": ownRank, "PMI_RANK": ownRank, "PMI_SIZE": allRanks, "MPI_LOCALRANKID": localRank,
	"MPI_LOCALNRANKS": localSize, "MV2_COMM_WORLD_RANK": ownRank, "MV2_COMM_WORLD_SIZE": allRanks, "MV2_COMM_WORLD_LOCAL_RANK": localRank,
	"MV2_COMM_WORLD_LOCAL_SIZE": localSize, "SLURM_PROCID": ownRank, "SLURM_NTASKS": allRanks, "SLURM_NPROCS": allRanks, "SLURM_LOCALID": localRank,
	"SLURM_NODEID": func(rank int) int { return rank % 3 },
}

func ownRank(rank int) int   { return rank }
func allRanks(int) int       { return 5 }
func localRank(rank int) int { return rank / 3 }
func localSize(rank int) int { return []int{2, 2, 1}[rank%3] }

// inTurns is a machine whose nodes take turns.
func inTurns(t *testing.T) (machine string) {
	machine = filepath.Join(t.TempDir(), "machine.yaml")
	text := "name: turns\nnodes: 3\nranks_per_node: 2\nmapping: cyclic\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n"
	if err := os.WriteFile(machine, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return machine
}

// The variables of launchers say where a rank is on the simulated machine, to the rank, its threads, and processes that it starts,
// whatever has launched the simulator.
func TestVariablesOfLaunchers(t *testing.T) {
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range named {
			if !yield(name) {
				return
			}
		}
	})
	for _, name := range names {
		t.Setenv(name, "12345")
	}
	t.Setenv("ORDINARY", "value")
	const inC = prelude + `
#include <spawn.h>
%s
static void say(const char *where, int i, char **names, const char *value) { printf("%%s %%s=%%s\n", where, names[i], value ? value : "none"); }
static void *in_thread(void *name) { return getenv(name); }
static void from(FILE *f) {
	char line[200];
	while (fgets(line, sizeof line, f))
		printf("child %%s", line);
}
int main(int argc, char **argv, char **envp) {
	char **names = argv + 1, command[4000] = "";
	for (int i = 0; names[i]; i++)
		say("own", i, names, getenv(names[i]));
	for (int i = 0; names[i]; i++) {
		pthread_t t;
		void *value;
		pthread_create(&t, NULL, in_thread, names[i]);
		pthread_join(t, &value);
		say("thread", i, names, value);
		sprintf(command + strlen(command), "echo %%s=$%%s;", names[i], names[i]);
	}
	FILE *f = popen(command, "r");
	from(f);
	if (pclose(f) != 0 || system("exit 3") >> 8 != 3 || !system(NULL) || popen("true", "rw") || system("test $ORDINARY = value") != 0)
		return 2;
	int ends[2], status;
	if (pipe(ends))
		return 3;
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], 1);
		execlp("sh", "sh", "-c", command, NULL);
		_exit(9);
	}
	close(ends[1]);
	from(f = fdopen(ends[0], "r"));
	fclose(f);
	waitpid(child, &status, 0);
	begin(&argc, &argv);
	if (setenv("PMI_RANK", "of its own", 1) || unsetenv("PMI_SIZE") || strcmp(getenv("PMI_RANK"), "of its own") || getenv("PMI_SIZE") || system("test \"$PMI_RANK\" = 'of its own' -a -z $PMI_SIZE"))
		return 4;
	MPI_Barrier(MPI_COMM_WORLD);
	if (strcmp(getenv("PMI_RANK"), "of its own") || getenv("PMI_SIZE"))
		return 5;
#ifdef ENVIRON
	int found = 0, shown = 0;
	for (char **e = environ; *e; e++)
		found += strcmp(*e, "PMI_RANK=of its own") == 0, shown += strncmp(*e, "SLURM_PROCID=", 13) == 0 && atoi(*e + 13) == rank;
	if (found != 1 || shown != 1 || environ != __environ)
		return 6;
	char *other[] = {"PMI_RANK=other", NULL};
	environ = other;
	MPI_Barrier(MPI_COMM_WORLD);
	if (environ != other || strcmp(getenv("PMI_RANK"), "other") || getenv("ORDINARY") || setenv("MORE", "1", 1) || environ == other || strcmp(environ[1], "MORE=1"))
		return 7;
#else
	for (char **e = envp; *e; e++)
		if (strncmp(*e, "PMI_RANK=", 9) == 0)
			return 6;
#endif
	MPI_Finalize();
	return 0;
}
`
	machine := inTurns(t)
	var want []string
	for rank := range 5 {
		for _, where := range []string{"own", "thread", "child", "child"} {
			for _, name := range names {
				want = append(want, fmt.Sprintf("[%d] %s %s=%d\n", rank, where, name, named[name](rank)))
			}
		}
	}
	slices.Sort(want)
	for _, variable := range []string{"", "#define ENVIRON\nextern char **environ, **__environ;"} {
		program := build(t, fmt.Sprintf(inC, variable))
		for _, engines := range []int{1, 2, 3} {
			_, lines, err := run(t, program, machine, 5, hosting{engines: engines, label: true}, names...)
			if err != nil || !slices.Equal(lines, want) {
				t.Errorf("%q, %d engines: %v%s", variable, engines, err, firstDifference(lines, want))
			}
		}
	}
}

// Constructors of C++ and Fortran's get_environment_variable find them, too.
func TestVariablesOfLaunchersInOtherLanguages(t *testing.T) {
	t.Setenv("SLURM_LOCALID", "12345")
	machine := inTurns(t)
	var want []string
	for rank := range 5 {
		want = append(want, fmt.Sprintf("[%d] %d of %d\n", rank, localRank(rank), localSize(rank)))
	}
	for name, source := range map[string]string{
		"program.cc": `#include <mpi.h>
#include <cstdlib>
#include <iostream>
#include <string>
struct place { std::string rank = std::getenv("SLURM_LOCALID"), size = std::getenv("MPI_LOCALNRANKS"); } const where;
int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	std::cout << where.rank << " of " << where.size << std::endl;
	MPI_Finalize();
}
`,
		"program.f90": `program place
  use mpi
  character(len=8) :: rank, size
  integer :: code
  call get_environment_variable("SLURM_LOCALID", rank)
  call get_environment_variable("MPI_LOCALNRANKS", size)
  call MPI_Init(code)
  print '(a, " of ", a)', trim(rank), trim(size)
  call MPI_Finalize(code)
end program
`} {
		file, program := filepath.Join(t.TempDir(), name), filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
			t.Fatal(err)
		}
		var printed strings.Builder
		if code, err := toolchain.Wrap(languages[filepath.Ext(name)].wrapper, []string{file, "-o", program}, nil, &printed, &printed); err != nil || code != 0 {
			t.Fatalf("%v, exit code %d:\n%s", err, code, &printed)
		}
		for _, engines := range []int{1, 2} {
			if _, lines, err := run(t, program, machine, 5, hosting{engines: engines, label: true}); err != nil || !slices.Equal(lines, want) {
				t.Errorf("%s, %d engines: %v%s", name, engines, err, firstDifference(lines, want))
			}
		}
	}
}
