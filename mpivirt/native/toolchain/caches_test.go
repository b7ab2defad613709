package toolchain

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gigarank/internal/seed"
)

// displaces reads bytes, a number of ranks, and the ranks that run, and prints how often each line of 64 bytes has been written.
const displaces = `#include "rank/caches.h"
#include <stdio.h>
#include <stdlib.h>

int main(void) {
	static struct gigarank_engine e;
	long long bytes, rank;
	if (scanf("%lld %d", &bytes, &e.count) != 2 || !(e.ranks = calloc((size_t)e.count, sizeof *e.ranks)) ||
	    !(e.beside = calloc((size_t)bytes + GIGARANK_CACHE_LINE, 1)))
		return 1;
	e.beside_bytes = (size_t)bytes;
	while (scanf("%lld", &rank) == 1)
		gigarank_displace(&e, e.ranks + rank);
	for (long long n = 0; n < bytes; n += 64)
		printf("%d\n", e.beside[n]);
	return 0;
}
`

// TestOtherRanksDisplace: while each rank of an engine runs once, in any order, all lines of the memory beside them are written. A rank that goes on displaces nothing, and no line
// is written two times more often than another.
func TestOtherRanksDisplace(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "displaces")
	if err := os.WriteFile(filepath.Join(dir, "displaces.c"), []byte(displaces), 0o666); err != nil {
		t.Fatal(err)
	}
	arguments := append([]string{"-I", filepath.Join("runtime", "include")}, libraryFlags...)
	arguments = append(arguments, filepath.Join(dir, "displaces.c"), filepath.Join("runtime", "rank", "caches.c"), "-o", program)
	if text, err := exec.Command(Compiler(), arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	seed := seed.Next()
	r := rand.New(rand.NewPCG(seed, 1))
	for range 20 {
		ranks, rounds := 2+r.IntN(6), 1+r.IntN(20)
		bytes := ranks * (1 + r.IntN(3000))
		var script strings.Builder
		_, _ = fmt.Fprintln(&script, bytes, ranks)
		last, switches := -1, 0
		for range rounds {
			for _, rank := range r.Perm(ranks) {
				for range 1 + r.IntN(3) {
					_, _ = fmt.Fprintln(&script, rank)
				}
				if rank != last {
					switches++
				}
				last = rank
			}
		}
		command := exec.Command(program)
		command.Stdin = strings.NewReader(script.String())
		printed, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		var sum, lines int
		least, most := rounds+1<<20, 0
		for text := range strings.Lines(string(printed)) {
			var n int
			if _, err := fmt.Sscan(text, &n); err != nil {
				t.Fatal(err)
			}
			lines, sum, least, most = lines+1, sum+n, min(least, n), max(most, n)
		}
		part := (bytes/ranks + 63) / 64 // lines that a rank displaces
		if lines != (bytes+63)/64 || sum != switches*part || most-least > 1 || sum < (switches/ranks)*lines {
			t.Fatalf("seed %d: %d bytes beside %d ranks, %d switches: %d lines, written %d to %d times, %d in all", seed, bytes, ranks, switches, lines, least, most, sum)
		}
	}
}
