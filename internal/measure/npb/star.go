package main

import (
	"fmt"
	"slices"
)

// star prints what the simulation of a star of 50 us and 1 Gbit/s takes, with CPU times that
// count: class A beside real runs on this machine, and class B on many ranks.
func star(s *settings) error {
	fmt.Println("| program | ranks | real: wall, CPU | simulated: wall, CPU, memory | CPU simulated / real | the program's time, virtual |\n| --- | --- | --- | --- | --- | --- |")
	for _, class := range []string{"A", "B"} {
		for _, benchmark := range benchmarks {
			for n := 1; n <= mostOnStar(benchmark, class); n *= 2 {
				if class == "B" && n < 64 || !s.wants(benchmark, class, n) {
					continue
				}
				if err := s.onStar(benchmark, class, n); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func mostOnStar(benchmark, class string) int {
	switch {
	case slices.Contains([]string{"BT", "SP", "DT"}, benchmark):
		return 0
	case class == "A":
		return 128
	case benchmark == "CG":
		return 4096
	case benchmark == "EP":
		return 16384
	}
	return 0
}

// onStar prints a line.
func (s *settings) onStar(benchmark, class string, n int) error {
	program, err := s.build(s.native(), benchmark, class)
	if err != nil {
		return err
	}
	one := s.several(s.simulation(program, n, "--machine", "gigabit-star", "--cpu", "measured")...)
	if !one.verified() {
		return fmt.Errorf("%s.%s on %d ranks: %s", benchmark, class, n, one.fault())
	}
	reality, ratio := "", ""
	if class == "A" && len(s.launcher) > 0 {
		program, err := s.build(openMPI, benchmark, class)
		if err != nil {
			return err
		}
		other := s.several(s.byMPI(n, program)...)
		reality = other.fault()
		if other.verified() {
			reality = fmt.Sprintf("%.2f s, %.2f s", other.wall, other.cpu)
			ratio = fmt.Sprintf("%.2f", one.cpu/other.cpu)
		}
	}
	fmt.Printf("| %s.%s | %d | %s | %.2f s, %.2f s, %d MiB | %s | %.2f s |\n",
		benchmark, class, n, reality, one.wall, one.cpu, one.memory>>20, ratio, one.seconds())
	return nil
}

// several returns the run whose wall time is the median.
func (s *settings) several(command ...string) outcome {
	var outcomes []outcome
	for range s.runs {
		o := s.run(s.limit, command...)
		outcomes = append(outcomes, o)
		if o.err != nil || o.wall > 30 {
			break
		}
	}
	return middle(outcomes)
}
