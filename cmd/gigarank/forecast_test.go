//go:build !race && !invariants

// The race detector and the checks of invariants multiply the memory and the time of a
// run.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// foreseen runs plan with the arguments and returns its figures: bytes and seconds.
func foreseen(t *testing.T, args []string) (memory, wall float64) {
	t.Helper()
	cmd := command(t, append([]string{"plan"}, args...)...)
	var failure bytes.Buffer
	cmd.Stderr = &failure
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("plan %q: %v\n%s", args, err, &failure)
	}
	figure := func(pattern string) (float64, string) {
		m := regexp.MustCompile(pattern).FindStringSubmatch(string(text))
		if m == nil {
			t.Fatalf("no %q in\n%s", pattern, text)
		}
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		return v, m[2]
	}
	size, unit := figure(`memory .* rank, ([0-9.]+) ([KMG])iB in all`)
	seconds, scale := figure(`all [0-9]+ iterations +([0-9.e-]+) (s|min)`)
	return size * map[string]float64{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[unit], seconds * map[string]float64{"s": 1, "min": 60}[scale]
}

// measured runs the command with the arguments.
func measured(t *testing.T, args []string) (memory, wall float64) {
	t.Helper()
	text, err := command(t, append([]string{"run"}, append(args, "--json", "-", "--progress", "none")...)...).Output()
	if err != nil {
		t.Fatalf("run %q: %v", args, err)
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return float64(d.PeakRSS), d.Wall
}

// A forecast is within 10 % of the memory of the real run and within 30 % of its time.
// The least of some attempts counts, since the machine may be busy.
func TestPlanAgainstRuns(t *testing.T) {
	const attempts = 10
	for _, line := range []string{
		"barriertest --ranks 4M --lp event --iterations 8",
		"barriertest --ranks 100k --iterations 6",
		"allreducetest --ranks 4M --lp event --payload 8 --iterations 6",
	} {
		args := strings.Fields(line)
		foreseenWall, measuredWall := math.Inf(1), math.Inf(1)
		var report []string
		for range attempts {
			memory, wall := foreseen(t, args)
			gotMemory, gotWall := measured(t, args)
			foreseenWall, measuredWall = min(foreseenWall, wall), min(measuredWall, gotWall)
			m, w := memory/gotMemory, foreseenWall/measuredWall
			if 0.9 <= m && m <= 1.1 && 0.7 <= w && w <= 1.3 {
				report = nil
				break
			}
			report = append(report, fmt.Sprintf("memory %.2f of what it was, time %.2f", m, w))
		}
		if report != nil {
			t.Errorf("%s: foreseen\n  %s", line, strings.Join(report, "\n  "))
		}
	}
}

// More ranks than one host has memory for get more hosts, each core of which has a
// host process.
func TestPlanAllotsHosts(t *testing.T) {
	text, err := command(t, "plan", "--ranks", "1G", "--lp", "event", "--memory", "8GiB", "--cores", "4").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`hosts +2, with 4 cores`, `--nodes=2 --ntasks-per-node=4 --cpus-per-task=1`, `select=2:ncpus=4:mpiprocs=4:`,
		`exec srun gigarank run barriertest --ranks 1G --machine xt5 --lp event --json`, `mpiexec -n 8 `} {
		if !regexp.MustCompile(want).Match(text) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// There may be more engines than the ranks that the calibration begins with.
func TestPlanWithManyEngines(t *testing.T) {
	text := planned(t, "--ranks", "6000", "--lp", "event", "--engines", "5000", "--iterations", "1")
	expectLines(t, text, `^calibration .* on 5000 engines:`)
}
