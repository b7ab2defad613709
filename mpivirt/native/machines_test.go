//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"gigarank/internal/seed"
	"gigarank/internal/tuning"
	"gigarank/mpivirt"
	"gigarank/mpivirt/native"
	"gigarank/network"
	"gigarank/sync"
)

// TestConformanceOnMachines runs each program of the suite on a drawn preset with the collectives of a drawn library. At most 16 ranks take
// part, since some programs have room for no more. Engines and stacks must not matter. $GIGARANK_SEED repeats a run, $GIGARANK_DRAWS has each program draw so often.
func TestConformanceOnMachines(t *testing.T) {
	draws, seed := 1, seed.Next()
	for name, set := range map[string]func(n uint64){
		"GIGARANK_DRAWS": func(n uint64) { draws = int(n) },
		"GIGARANK_SEED":  func(n uint64) { seed = n },
	} {
		if text := os.Getenv(name); text != "" {
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				t.Fatalf("$%s: %v", name, err)
			}
			set(n)
		}
	}
	for k, source := range conformance(t) {
		t.Run(nameOf(source), func(t *testing.T) {
			t.Parallel()
			program := buildConformance(t, source)
			draw := rand.New(rand.NewPCG(seed, uint64(k)))
			for range draws {
				preset := network.Presets()[draw.IntN(len(network.Presets()))].Name
				library := drawnLibraries[draw.IntN(len(drawnLibraries))]
				ranks := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16}[draw.IntN(11)]
				ways := []hosting{
					{engines: 1, library: library},
					{engines: min(1+draw.IntN(3), ranks), library: library, stacks: native.Copied, strict: draw.IntN(2) == 0,
						protocol:    []sync.Protocol{sync.Hybrid, sync.Conditional, sync.Null}[draw.IntN(3)],
						collectives: []mpivirt.Interpreter{mpivirt.Bulk, mpivirt.Message}[draw.IntN(2)]},
				}
				lines := alike(t, program, preset, ranks, ways)
				if want := fmt.Sprintf(" checks on %d ranks, 0 failed\n", ranks); len(lines) != 1 || !strings.HasSuffix(lines[0], want) {
					t.Errorf("%d ranks on %s with library %q print\n%s", ranks, preset, library, strings.Join(lines, ""))
				}
				if t.Failed() {
					t.Fatalf("to repeat: GIGARANK_SEED=%d GIGARANK_DRAWS=%d", seed, draws)
				}
			}
		})
	}
}

// drawnLibraries are the libraries of a test that draws them: that of the machine, none, and each of MPI.
var drawnLibraries = []string{machines, tuning.NoLibrary, "openmpi-4.1", "openmpi-5", "mpich-4", "cray-mpich", "fujitsu"}
