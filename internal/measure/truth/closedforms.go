package main

import (
	"fmt"
	"slices"

	"gigarank/collectives"
	"gigarank/network"
	"gigarank/vtime"
)

// hockney is the machine of the closed forms: α = 1 µs, β = 1 ns, γ = 0.5 ns a byte.
const hockney = "name: hockney\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, reduce: {bandwidth: 2GB/s}}\n"

// paired has two ranks on each node, half a microsecond apart.
const paired = `
name: paired
ranks_per_node: 2
network:
  model: twolevel
  intra: {latency: 0.5us, bandwidth: 4GB/s}
  inter: {latency: 1us, bandwidth: 1GB/s}
  reduce: {bandwidth: 2GB/s}
`

// cost returns α, β and γ of the machines.
func cost() collectives.Cost {
	return collectives.Cost{
		Alpha: vtime.Microsecond, PerNode: 2, Intra: vtime.Microsecond / 2,
		Beta:      func(bytes int64) vtime.Duration { return vtime.Duration(bytes) * vtime.Nanosecond },
		Gamma:     func(bytes int64) vtime.Duration { return vtime.Duration(bytes) * vtime.Nanosecond / 2 },
		IntraBeta: func(bytes int64) vtime.Duration { return vtime.Duration(bytes) * vtime.Nanosecond / 4 },
	}
}

// closedForms compares the last exit of ranks that enter together with the closed
// forms. Algorithms that send as many messages as there are pairs of ranks run at fewer
// ranks. -messages also bounds the messages in bulk.
func closedForms(s *settings) (good int, faults []error) {
	for _, op := range collectives.Operations() {
		if !sized(op) {
			continue
		}
		for _, a := range collectives.Algorithms(op) {
			n, greatest, err := closedForm(s, op, a, sizes(s.large))
			good += n
			if err != nil {
				faults = append(faults, err)
			}
			if n > 0 {
				_, _ = fmt.Fprintf(s.out, "%-14v %-23v %3d sizes up to %d\n", op, a, n, greatest)
			}
		}
	}
	return good, faults
}

// closedForm runs an algorithm at the affordable ones of the sizes, which ascend.
func closedForm(s *settings, op collectives.Operation, a collectives.Algorithm, sizes []int) (good, greatest int, err error) {
	for _, ranks := range sizes {
		members, machine := ranks, hockney
		if a == collectives.NodeLeader {
			if members, machine = ranks/2, paired; ranks%2 == 1 {
				continue // not all nodes would have two ranks
			}
		} else if !arrays(op, a) && expected(op, a, ranks) > float64(s.messages)/16 {
			break
		}
		want, ok := collectives.ClosedForm(op, a, members, payload, 1, cost())
		if !ok {
			continue
		}
		got, err := together(op, a, machine, ranks, s.seed)
		if err != nil {
			return good, greatest, err
		}
		if got != want {
			return good, greatest, fmt.Errorf("%v by %v of %d ranks takes %v, by the closed form %v", op, a, ranks, got, want)
		}
		good, greatest = good+1, ranks
	}
	return good, greatest, nil
}

// arrays reports whether an algorithm is a few passes over an array at any size.
func arrays(op collectives.Operation, a collectives.Algorithm) bool {
	switch a {
	case collectives.Dissemination, collectives.RecursiveDoubling:
		return op == collectives.Barrier || op == collectives.Allreduce
	}
	return false
}

// together returns the time of an operation that all ranks enter at once.
func together(op collectives.Operation, a collectives.Algorithm, machine string, ranks int, seed uint64) (vtime.Duration, error) {
	described, err := network.Parse("closed form", []byte(machine), nil)
	if err != nil {
		return 0, err
	}
	target, err := described.Target(int64(ranks))
	if err != nil {
		return 0, err
	}
	m := meeting{target: target, op: op, algorithm: a, seed: seed, engines: 1, together: true}
	result, _, err := m.run()
	if err != nil {
		return 0, err
	}
	return result.VirtualTime.Sub(0), nil
}

// sizes returns 2^k, 2^k−1, 2^k+1 and 3·2^k, up to most.
func sizes(most int) (all []int) {
	for n := 1; n <= most; n *= 2 {
		for _, size := range []int{n - 1, n, n + 1, 3 * n} {
			if 1 <= size && size <= most {
				all = append(all, size)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
