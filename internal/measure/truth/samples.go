package main

import (
	"fmt"
	"slices"

	"gigarank/collectives"
	"gigarank/internal/random"
)

// samples compares the exit times of some ranks of large runs with the twin's.
func samples(s *settings) (good int, faults []error) {
	for _, op := range []collectives.Operation{collectives.Barrier, collectives.Allreduce} {
		for _, a := range collectives.Algorithms(op) {
			n, err := sample(s, op, a)
			good += n
			if err != nil {
				faults = append(faults, err)
			}
		}
	}
	return good, faults
}

// sample compares the ranks of one algorithm, if the twin knows it, and returns how
// many agree.
func sample(s *settings, op collectives.Operation, a collectives.Algorithm) (good int, err error) {
	target, err := s.machine.Target(int64(s.large))
	if err != nil {
		return 0, err
	}
	m := &meeting{target: target, op: op, algorithm: a, seed: s.seed, engines: 1, sampled: s.chosen()}
	w := &twin{target: target, entry: m.entry}
	if op == collectives.Allreduce {
		w.bytes = payload
	}
	exit := exitsOf(w, op, a)
	if _, known := exit(0); !known {
		return 0, nil
	}
	_, exits, err := m.run()
	if err != nil {
		return 0, err
	}
	for i, rank := range m.sampled {
		want, _ := exit(rank)
		if exits[i] != want {
			return i, fmt.Errorf("%v: rank %d leaves at %v, by the recursion at %v", m, rank, exits[i], want)
		}
	}
	_, _ = fmt.Fprintf(s.out, "%-14v %-23v %9d ranks: %d as computed anew, rank %d leaves at %v\n",
		op, a, s.large, len(m.sampled), m.sampled[len(m.sampled)-1], exits[len(exits)-1])
	return len(m.sampled), nil
}

// chosen returns the ranks to compute anew: the first, the last, and some between.
func (s *settings) chosen() []int {
	ranks := []int{0, s.large - 1}
	for i := 2; i < s.samples; i++ {
		ranks = append(ranks, random.Intn(s.seed, uint64(i), 1, s.large))
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}
