package main

import (
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"gigarank/internal/spelling"
)

// paperRanks is the number of ranks of the largest simulations with µπ (Perumalla and
// Park, "Simulating Billion-Task Parallel Programs", SPECTS 2014): 154.80 s for a
// barrier and 408.93 s for an allreduce of 1024 doubles, on 216,000 cores with λ = 1024
// ranks each. paperFewRanks are those with λ = 128: 4.63 s and 13.92 s. There a rank is
// a thread with a stack; the event ranks measured here are step functions.
const (
	paperRanks    = 221184000
	paperFewRanks = 27648000
)

// The sources of the paper's figures.
const (
	fewOnMupi = "µπ on 216,000 cores, threads, λ = 128"
	onMupi    = "µπ on 216,000 cores, threads, λ = 1024"
)

// largePart is one part of what large measures.
type largePart struct {
	name    string
	measure func() ([]row, error)
}

// largeParts returns all parts, in the order in which they are measured.
func (m *meter) largeParts() []largePart {
	return []largePart{
		{"paper-few", m.paperFew}, {"paper-barrier", m.paperBarrier}, {"paper-allreduce", m.paperAllreduce},
		{"goroutines", m.goroutines}, {"billion", m.billion}, {"paper-hosts", m.paperHosts},
	}
}

// chosen returns the function that measures the part of a name, or all parts for none.
func (m *meter) chosen(name string) (func() ([]row, error), error) {
	var names []string
	for _, part := range m.largeParts() {
		if part.name == name {
			return part.measure, nil
		}
		names = append(names, part.name)
	}
	if name != "" {
		return nil, fmt.Errorf("there is no part %q: %s", name, spelling.Choices(name, names))
	}
	return m.large, nil
}

// large measures the figures of 10^8 ranks and more.
func (m *meter) large() ([]row, error) {
	var rows []row
	for _, part := range m.largeParts() {
		more, err := part.measure()
		rows = append(rows, more...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// first returns the wall time until the first iteration is over, set-up included.
func (s *sample) first() float64 {
	wall := s.Wall
	for _, it := range s.Iterations[min(1, len(s.Iterations)):] {
		wall -= it.Wall
	}
	return wall
}

func (m *meter) paperBarrier() ([]row, error) {
	line := fmt.Sprintf("barriertest --ranks %d --lp event --machine xt5 --iterations 5", paperRanks)
	memory, wall, err := m.forecast(line)
	if err != nil {
		return nil, err
	}
	samples, err := m.take(1, "run "+line)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("event ranks, barriertest, %d ranks, ", paperRanks)
	each := median(samples, (*sample).iteration)
	peak := median(samples, func(s *sample) float64 { return s.BytesPerRank * float64(s.Ranks) })
	return []row{
		{name + "a barrier", each, "s", 10, "floor", 1, true},
		{name + "a barrier", each, "s", 154.8, onMupi, 0, true},
		{name + "until the first barrier is over", median(samples, (*sample).first), "s", 10, "floor", 1, true},
		{name + "peak memory of a rank", peak / paperRanks, "B", 24, "floor", 1, true},
		{name + "memory", peak, "B", memory, "plan", 1.1, true},
		{name + "memory forecast by plan", memory, "B", peak, "the run", 1.1, true},
		{name + "wall time", median(samples, func(s *sample) float64 { return s.Wall }), "s", wall, "plan", 1.3, true},
		{name + "wall time forecast by plan", wall, "s", median(samples, func(s *sample) float64 { return s.Wall }), "the run", 1.3, true},
	}, nil
}

// paperFew measures the paper's points of 128 ranks for each core.
func (m *meter) paperFew() ([]row, error) {
	var rows []row
	for _, c := range []struct {
		program, operation string
		iterations         int
		paper              float64
	}{{"barriertest", "a barrier", 5, 4.63}, {"allreducetest", "1024 doubles, a reduction", 3, 13.92}} {
		samples, err := m.take(1, fmt.Sprintf("run %s --ranks %d --lp event --machine xt5 --iterations %d", c.program, paperFewRanks, c.iterations))
		if err != nil {
			return rows, err
		}
		rows = append(rows, row{fmt.Sprintf("event ranks, %s, %d ranks, %s", c.program, paperFewRanks, c.operation),
			median(samples, (*sample).iteration), "s", c.paper, fewOnMupi, 0, true})
	}
	return rows, nil
}

// goroutines measures the largest runs whose ranks have stacks, as the paper's have, in
// 21 GiB of memory. Each rank of the allreduce also holds its vector and the sum.
func (m *meter) goroutines() ([]row, error) {
	var rows []row
	for _, c := range []struct {
		program   string
		ranks     int
		operation string
		bytes     float64 // of a rank, at most
	}{{"barriertest", 6_000_000, "a barrier", 3300}, {"allreducetest", 900_000, "1024 doubles, a reduction", 3300 + 20<<10}} {
		samples, err := m.take(1, fmt.Sprintf("run %s --ranks %d --lp goroutine --machine xt5 --iterations 3", c.program, c.ranks))
		if err != nil {
			return rows, err
		}
		name := fmt.Sprintf("goroutine ranks, %s, %d ranks, ", c.program, c.ranks)
		rows = append(rows,
			row{name + c.operation, median(samples, (*sample).iteration), "s", 60, "floor", 1, true},
			row{name + "memory of a rank", median(samples, func(s *sample) float64 { return s.BytesPerRank }), "B", c.bytes, "floor", 1, true},
		)
	}
	return rows, nil
}

// forecast returns the memory in bytes and the wall time in seconds that plan prints
// for a run.
func (m *meter) forecast(line string) (memory, wall float64, err error) {
	text, err := exec.Command(m.binary, append([]string{"plan"}, strings.Fields(line)...)...).Output()
	if err != nil {
		return 0, 0, fmt.Errorf("gigarank plan %s: %w", line, err)
	}
	units := map[string]float64{"MiB": 1 << 20, "GiB": 1 << 30, "s": 1, "min": 60, "h": 3600}
	figure := func(pattern string) float64 {
		match := regexp.MustCompile(pattern).FindStringSubmatch(string(text))
		if match == nil {
			err = errors.Join(err, fmt.Errorf("gigarank plan %s: no %q in\n%s", line, pattern, text))
			return 0
		}
		v, bad := strconv.ParseFloat(match[1], 64)
		err = errors.Join(err, bad)
		return v * units[match[2]]
	}
	memory = figure(`a rank, ([0-9.]+) ([MG]iB) in all`)
	wall = figure(`all [0-9]+ iterations +([0-9.e+-]+) (s|min|h)\n`)
	return memory, wall, err
}

func (m *meter) paperAllreduce() ([]row, error) {
	samples, err := m.take(1, fmt.Sprintf("run allreducetest --ranks %d --lp event --machine xt5 --iterations 2", paperRanks))
	if err != nil {
		return nil, err
	}
	each := median(samples, (*sample).iteration)
	name := fmt.Sprintf("event ranks, allreducetest, %d ranks, 1024 doubles, a reduction", paperRanks)
	return []row{
		{name, each, "s", 300, "floor", 1, true},
		{name, each, "s", 408.93, onMupi, 0, true},
	}, nil
}

// billion measures barriers among 2^30 ranks.
func (m *meter) billion() ([]row, error) {
	var rows []row
	for _, c := range []struct{ algorithm, ranks string }{
		{"node-leader", "2^30"}, {"recursive-doubling", "2^30"}, {"dissemination", "2^30 --engines 1"},
	} {
		samples, err := m.take(1, fmt.Sprintf("run barriertest --ranks %s --lp event --machine xt5 --iterations 2 --barrier %s", c.ranks, c.algorithm))
		if err != nil {
			return rows, err
		}
		name := fmt.Sprintf("event ranks, %s barrier, %s ranks, ", c.algorithm, c.ranks)
		each := median(samples, (*sample).iteration)
		rows = append(rows,
			row{name + "a barrier", each, "s", 120, "floor", 1, true},
			row{name + "the first one, with the set-up", median(samples, (*sample).first), "s", each, "a further one", 0, true},
			row{name + "peak memory", median(samples, func(s *sample) float64 { return s.BytesPerRank * float64(s.Ranks) / (1 << 30) }), "GiB", 20, "floor", 1, true},
		)
	}
	return rows, nil
}

// paperHosts compares two host processes with two engines in one, in turns, so that
// other load of the machine affects both.
func (m *meter) paperHosts() ([]row, error) {
	if m.launcher == "" {
		return nil, nil
	}
	line := fmt.Sprintf("run barriertest --ranks %d --lp event --machine xt5 --iterations 5", paperRanks)
	var one, two []sample
	for range 3 {
		a, err := m.take(1, line+" --engines 2")
		if err != nil {
			return nil, err
		}
		b, err := m.take(2, line)
		if err != nil {
			return nil, err
		}
		if x, y := a[0].Fingerprint, b[0].Fingerprint; x != y {
			return nil, fmt.Errorf("gigarank %s: fingerprint %s in one process, %s in two", line, x, y)
		}
		one, two = append(one, a...), append(two, b...)
	}
	return []row{{
		fmt.Sprintf("event ranks, barriertest, %d ranks, 2 processes over MPI, a barrier", paperRanks),
		median(two, (*sample).iteration), "s", median(one, (*sample).iteration), "2 engines of 1 process", 1.1, true,
	}}, nil
}
