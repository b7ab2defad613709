package toolchain

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/internal/cputime"
)

// scripted is a clock that a test sets.
type scripted struct {
	now, cpu int64
	thread   int
	late     int64 // preempted as it reads the CPU clock
}

func (s *scripted) Monotonic() int64 { return s.now }

func (s *scripted) Thread() (int64, int) {
	s.now, s.late = s.now+s.late, 0
	return s.cpu, s.thread
}

// harness reads instants of both clocks, with the number of the thread, and prints the CPU time
// of the burst that every second instant ends.
const harness = `#include "rank/meter.h"
#include <stdio.h>

static long long now, used, thread, late;
static const char threads[4];
static int64_t monotonic(void) { return now; }
static int64_t cpu(const void **which) {
	now += late;
	late = 0;
	*which = &threads[thread];
	return used;
}

int main(void) {
	struct gigarank_meter m = {.monotonic = monotonic, .cpu = cpu};
	for (int begun = 0; scanf("%lld %lld %lld %lld", &now, &used, &thread, &late) == 4; begun = !begun)
		if (begun)
			printf("%lld\n", (long long)gigarank_meter_stop(&m));
		else
			gigarank_meter_start(&m);
	return 0;
}
`

// The meter in C measures as the meter of package cputime does.
func TestMeterIsThatOfGo(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "meter")
	if err := os.WriteFile(filepath.Join(dir, "harness.c"), []byte(harness), 0o666); err != nil {
		t.Fatal(err)
	}
	arguments := append([]string{"-I", filepath.Join("runtime", "include")}, libraryFlags...)
	arguments = append(arguments, filepath.Join(dir, "harness.c"), filepath.Join("runtime", "rank", "meter.c"), "-o", program)
	if text, err := exec.Command(Compiler(), arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var script, want strings.Builder
	rapid.Check(t, func(t *rapid.T) {
		script.Reset()
		want.Reset()
		s := &scripted{now: 1}
		m := cputime.NewMeter(s)
		pass := func(what string) {
			used := rapid.OneOf(rapid.Int64Range(0, 50_000), rapid.Int64Range(0, 5_000_000)).Draw(t, what)
			slice := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 3_000_000)).Draw(t, "slice of another thread")
			s.now, s.cpu = s.now+used+slice, s.cpu+used
			if rapid.IntRange(0, 9).Draw(t, "moved") == 0 {
				s.thread = rapid.IntRange(0, 3).Draw(t, "thread")
			}
			s.late = rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 3_000_000)).Draw(t, "late")
			_, _ = fmt.Fprintln(&script, s.now, s.cpu, s.thread, s.late)
		}
		for range rapid.IntRange(1, 30).Draw(t, "bursts") {
			pass("simulator")
			m.Start()
			pass("burst")
			_, _ = fmt.Fprintln(&want, m.Stop())
		}
		run := exec.Command(program)
		run.Stdin = strings.NewReader(script.String())
		if got, err := run.Output(); err != nil || string(got) != want.String() {
			t.Fatalf("%v: the meter in C counts\n%s, that in Go\n%s", err, got, &want)
		}
	})
}
