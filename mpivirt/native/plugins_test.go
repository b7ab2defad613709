//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gigarank/mpivirt"
	"gigarank/mpivirt/native/toolchain"
)

// A plugin that a rank opens calls the runtime's MPI, random numbers and clocks, although the simulator's
// process may have Open MPI, and has the C library. Its constructors run. The program is found by the handle
// of a null name, and a plugin without a path where the program looks for libraries.
func TestPlugins(t *testing.T) {
	program, plugin := buildWithPlugin(t, toolchain.Command)
	var want []string
	for rank := range 3 {
		want = append(want, fmt.Sprintf("rank %d: plugin of 3 from 7, rank %d in the program, time 2.0, 1804289383\n", rank, rank))
	}
	_, lines, err := run(t, program, "xt5", 3, hosting{engines: 1}, plugin)
	if err != nil || !slices.Equal(lines, want) {
		t.Errorf("%v, printed\n%s, want\n%s", err, strings.Join(lines, ""), strings.Join(want, ""))
	}
}

// A plugin that other compilers have linked would call another MPI.
func TestPluginsOfOthers(t *testing.T) {
	program, plugin := buildWithPlugin(t, func(l toolchain.Language, library *toolchain.Library, arguments []string) []string {
		return slices.Concat([]string{toolchain.Compiler()}, arguments, []string{"-fPIC", "-I" + filepath.Dir(library.Path), "-Wl,-z,lazy"})
	})
	_, lines, err := run(t, program, "xt5", 3, hosting{engines: 1}, plugin)
	var failure *mpivirt.RankError
	if !errors.As(err, &failure) || !strings.Contains(err.Error(), "plug.so, which calls MPI and was not linked by gigarank: link it with gigarank cc -shared") {
		t.Errorf("ended with %v, printed %q", err, lines)
	}
}

// buildWithPlugin builds a program that opens a plugin, whose path it is given, and which a command links.
func buildWithPlugin(t *testing.T, command func(toolchain.Language, *toolchain.Library, []string) []string) (program, plugin string) {
	t.Helper()
	dir := t.TempDir()
	program = build(t, `#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
	char path[4096];
	MPI_Init(&argc, &argv);
	void *plugin = dlopen(argv[1], RTLD_LAZY), *itself = dlopen(NULL, RTLD_NOW), *found = dlopen("plug.so", RTLD_NOW);
	if (!plugin || !itself || found != plugin) {
		printf("%s\n", dlerror());
		return 2;
	}
	void (*text)(char *, size_t) = (void (*)(char *, size_t))dlsym(plugin, "text");
	int (*ask)(MPI_Comm, int *) = (int (*)(MPI_Comm, int *))dlsym(itself, "MPI_Comm_rank");
	int rank, again;
	ask(MPI_COMM_WORLD, &rank);
	MPI_Comm_rank(MPI_COMM_WORLD, &again);
	text(path, sizeof path);
	if (dlclose(itself) || dlsym(itself, "MPI_Comm_rank") != (void *)ask)
		return 3;
	MPI_Barrier(MPI_COMM_WORLD);
	printf("rank %d: %s\n", again, path);
	return MPI_Finalize();
}
`, "-ldl", "-Wl,-rpath,"+dir)
	file := filepath.Join(dir, "plug.c")
	if err := os.WriteFile(file, []byte(`#include <mpi.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
static int begun = 3;
__attribute__((constructor)) static void begin(void) { begun += 4; }
void text(char *to, size_t room);
void text(char *to, size_t room) {
	int size, rank;
	struct timeval from, until;
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	((int (*)(MPI_Comm, int *))dlsym(RTLD_DEFAULT, "MPI_Comm_rank"))(MPI_COMM_WORLD, &rank);
	gettimeofday(&from, NULL);
	sleep(2);
	gettimeofday(&until, NULL);
	snprintf(to, room, "plugin of %d from %d, rank %d in the program, time %.1f, %d", size, begun, rank,
		(double)(until.tv_sec - from.tv_sec) + 1e-6 * (double)(until.tv_usec - from.tv_usec), rand());
}
`), 0o666); err != nil {
		t.Fatal(err)
	}
	library, err := toolchain.OpenLibrary()
	if err != nil {
		t.Fatal(err)
	}
	plugin = filepath.Join(dir, "plug.so")
	link := command(toolchain.C, library, []string{"-shared", file, "-o", plugin})
	if text, err := exec.Command(link[0], link[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return program, plugin
}
