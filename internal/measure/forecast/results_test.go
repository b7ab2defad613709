package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The first points are a sample of all: each stratum is among them as often as any other that has
// that many points. A seed gives an order, another seed another one, of the same points.
func TestEvenly(t *testing.T) {
	s := search{seed: 1}
	points, err := s.wanted()
	if err != nil {
		t.Fatal(err)
	}
	all, of := map[stratum]int{}, func(p point) stratum {
		return stratum{p.Program, p.Kind, p.Algorithm, p.Payload, p.Engines}
	}
	for _, p := range points {
		all[of(p)]++
	}
	seen := map[stratum]int{}
	for i, p := range points[:3*len(all)] {
		if i%len(all) == 0 && i > 0 {
			for k, n := range all {
				if want := min(n, i/len(all)); seen[k] < want {
					t.Errorf("%v: %d of the first %d points, want %d", k, seen[k], i, want)
				}
			}
		}
		seen[of(p)]++
	}
	again, _ := s.wanted()
	other := search{seed: 2}
	others, _ := other.wanted()
	if !slices.Equal(points, again) || slices.Equal(points, others) || len(points) != len(others) {
		t.Error("the order is not the seed's")
	}
	least := search{seed: 1, least: 1e8, memory: 1e9, only: "mpiping on gigabit-star"}
	large, err := least.wanted()
	if err != nil || len(large) == 0 {
		t.Fatalf("%d large points, %v", len(large), err)
	}
	for _, p := range large {
		if _, memory, _ := p.foresee(); memory < 1e8 || memory > 1e9 {
			t.Errorf("%v: foreseen to take %.0f B", p, memory)
		}
	}
}

// A comparison goes on where it has ended: what the file of results has is not run again, unless
// gigarank is another one since. Time that is over is said, and a run that fails is one of those
// that are wrong.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	command, calls, results := filepath.Join(dir, "gigarank"), filepath.Join(dir, "calls"), filepath.Join(dir, "results")
	install := func(note string) {
		t.Helper()
		script := "#!/bin/sh\n# " + note + "\necho call >>" + calls + "\ncase \"$*\" in *'picalc --ranks 2048'*) echo \"no memory\" >&2; exit 3; esac\n" +
			"echo '{\"peak_rss_bytes\": 20000000}'\n"
		if err := os.WriteFile(command, []byte(script), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	lines := func(name string) int {
		text, _ := os.ReadFile(name)
		return strings.Count(string(text), "\n")
	}
	var report strings.Builder
	run := func(span time.Duration) error {
		_ = os.Remove(calls)
		report.Reset()
		s := search{out: &report, command: command, memory: 1e9, seconds: 8, attempts: 1, only: "picalc on xt5", results: results, span: span}
		return s.compare()
	}
	install("one")
	if err := run(1); err == nil || !strings.Contains(err.Error(), "points are not looked at yet") || lines(calls) != 1 {
		t.Errorf("without time: %v, %d calls", err, lines(calls))
	}
	_ = run(0)
	all := lines(results)
	if all == 0 || lines(calls) != 1+all {
		t.Fatalf("%d calls for %d results", lines(calls), all)
	}
	if text, _ := os.ReadFile(results); !strings.Contains(string(text), "exit status 3: no memory") {
		t.Error("no run that failed is kept")
	}
	if !strings.Contains(report.String(), "FAILED    picalc on xt5 ") || !strings.Contains(report.String(), "WRONG") {
		t.Errorf("no run that failed, or none that was not foreseen, is in the report:\n%s", &report)
	}
	if _ = run(0); lines(calls) != 1 || lines(results) != all {
		t.Errorf("again: %d calls, %d results of %d", lines(calls), lines(results), all)
	}
	install("another")
	if _ = run(0); lines(calls) != 1+all || lines(results) != 2*all {
		t.Errorf("with another gigarank: %d calls, %d results of %d", lines(calls), lines(results), all)
	}
	if err := os.WriteFile(results, []byte("{\"Gigarank\": \n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := run(0); err == nil || !strings.Contains(err.Error(), "results:1:") {
		t.Errorf("with a damaged line: %v", err)
	}
}
