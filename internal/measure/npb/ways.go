package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// prediction is the run time of a program on a machine, in seconds, predicted in each of three ways: the program runs on native ranks whose CPU time is measured;
// a real run is recorded and replayed; a run on native ranks of another machine is recorded and replayed.
type prediction struct{ native, realTrace, simulatedTrace []float64 }

// otherMachine is the machine on which the simulated run is recorded.
const otherMachine = "xt5"

// threeWays prints the predictions of each way, with the spread of the rounds.
func threeWays(s *settings) error {
	if len(s.launcher) == 0 {
		return errors.New("the table ways runs programs under MPI: install Open MPI")
	}
	library, err := s.recorder()
	if err != nil {
		return err
	}
	machines := []string{"gigabit-star", "frontier"}
	if s.machine != "" {
		machines = []string{s.machine}
	}
	fmt.Println("| program | ranks | machine | native, measured: median, least to most | recorded real run, replayed | recorded simulated run, replayed | real / native | simulated / native |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
	var faults []error
	for _, class := range s.classes {
		for _, benchmark := range benchmarks {
			for _, n := range []int{2, 4} {
				if !s.wants(benchmark, class, n) || !runsInMPI(benchmark, n) {
					continue
				}
				for _, machine := range machines {
					p, err := s.inThreeWays(library, machine, benchmark, class, n)
					if err != nil {
						faults = append(faults, fmt.Errorf("%s.%s on %d ranks: %w", benchmark, class, n, err))
						continue
					}
					fmt.Printf("| %s.%s | %d | %s |%s%s%s %.3f | %.3f |\n", benchmark, class, n, filepath.Base(machine), spread(p.native), spread(p.realTrace), spread(p.simulatedTrace),
						median(p.realTrace)/median(p.native), median(p.simulatedTrace)/median(p.native))
				}
			}
		}
	}
	return errors.Join(faults...)
}

// spread returns the cell of a table for times.
func spread(list []float64) string {
	return fmt.Sprintf(" %.4f s, %.4f s to %.4f s |", median(list), slices.Min(list), slices.Max(list))
}

// inThreeWays predicts a program on a machine, the ways in turn.
func (s *settings) inThreeWays(library, machine, benchmark, class string, n int) (*prediction, error) {
	native, err := s.build(s.native(), benchmark, class)
	if err != nil {
		return nil, err
	}
	program, err := s.build(openMPI, benchmark, class)
	if err != nil {
		return nil, err
	}
	p, in := &prediction{}, func(name string) string { return filepath.Join(s.work, name) }
	for range s.runs {
		for _, name := range []string{"recorded", "real.grt", "simulated.grt"} {
			if err := os.RemoveAll(in(name)); err != nil {
				return nil, err
			}
		}
		for _, words := range [][]string{
			s.byMPI(n, "env", "LD_PRELOAD="+library, "GIGATRACE=dir="+in("recorded"), program),
			{s.gigarank, "trace", "merge", in("recorded"), "-o", in("real.grt")},
			s.simulation(native, n, "--machine", otherMachine, "--cpu", "measured", "--trace", in("simulated.grt")),
		} {
			if o := s.run(s.limit, words...); o.err != nil {
				return nil, fmt.Errorf("%v: %s", words, o.fault())
			}
		}
		for _, way := range []struct {
			to    *[]float64
			words []string
		}{
			{&p.native, s.simulation(native, n, "--machine", machine, "--cpu", "measured")},
			{&p.realTrace, []string{s.gigarank, "replay", in("real.grt"), "--machine", machine, "--progress", "none"}},
			{&p.simulatedTrace, []string{s.gigarank, "replay", in("simulated.grt"), "--machine", machine, "--progress", "none"}},
		} {
			took, err := s.predicted(way.words)
			if err != nil {
				return nil, err
			}
			*way.to = append(*way.to, took)
		}
	}
	return p, nil
}

// predicted returns the virtual time of a simulation in seconds.
func (s *settings) predicted(words []string) (float64, error) {
	name := filepath.Join(s.work, "way.json")
	if err := os.RemoveAll(name); err != nil {
		return 0, err
	}
	if o := s.run(s.limit, append(words, "--json", name)...); o.err != nil {
		return 0, fmt.Errorf("%v: %s", words, o.fault())
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	return virtualTime(text)
}

// virtualTime returns the virtual time of a result in seconds.
func virtualTime(text []byte) (float64, error) {
	var result struct {
		Time json.Number `json:"virtual_time_ps"`
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return 0, err
	}
	ps, err := strconv.ParseInt(string(result.Time), 10, 64)
	if err != nil || ps <= 0 {
		return 0, fmt.Errorf("a result of the virtual time %q", result.Time)
	}
	return float64(ps) * 1e-12, nil
}
