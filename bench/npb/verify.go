package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

var benchmarks = []string{"BT", "CG", "DT", "EP", "FT", "IS", "LU", "MG", "SP"}

// most is the largest number of ranks of a benchmark in a class, 0 for none.
func most(benchmark, class string) int {
	switch class {
	case "S":
		return 256
	case "W":
		if strings.Contains("BT SP LU", benchmark) {
			return 144
		}
		return 64
	case "A":
		return 16
	}
	return 0
}

// counts returns the numbers of ranks that a benchmark is tried on, in ascending order: squares
// for BT and SP, powers of two for others. LU takes numbers that make a grid of which no side is
// more than twice the other: it is tried on all.
func counts(benchmark, class string) []int {
	var list []int
	for n := 1; n <= most(benchmark, class); n++ {
		root := 1
		for root*root < n {
			root++
		}
		switch {
		case benchmark == "LU",
			(benchmark == "BT" || benchmark == "SP") && root*root == n,
			!slices.Contains([]string{"BT", "SP", "DT"}, benchmark) && n&(n-1) == 0:
			list = append(list, n)
		}
	}
	return list
}

// graphs are those of DT, and the nodes that each has in a class.
var graphs = []struct {
	name  string
	nodes map[string]int
}{
	{"BH", map[string]int{"S": 5, "W": 11}},
	{"WH", map[string]int{"S": 5, "W": 11}},
	{"SH", map[string]int{"S": 12, "W": 32}},
}

// verify prints on which numbers of ranks each benchmark verifies.
func verify(s *settings) error {
	var faults []error
	fmt.Println("| class | benchmark | verifies on | refuses itself |\n| --- | --- | --- | --- |")
	for _, class := range []string{"S", "W", "A"} {
		for _, benchmark := range benchmarks {
			if !s.wants(benchmark, class, firstOf(s.ranks)) || most(benchmark, class) == 0 {
				continue
			}
			program, err := s.build(s.native(), benchmark, class)
			if err != nil {
				return err
			}
			if benchmark == "DT" {
				faults = append(faults, s.verifyGraphs(program, class)...)
				continue
			}
			var good, refused []int
			for _, n := range counts(benchmark, class) {
				if !s.wants(benchmark, class, n) {
					continue
				}
				o := run(s.limit, s.simulation(program, n)...)
				switch {
				case o.verified():
					good = append(good, n)
				case o.refused() != "":
					refused = append(refused, n)
				default:
					faults = append(faults, fmt.Errorf("%s.%s on %d ranks: %s", benchmark, class, n, o.fault()))
				}
			}
			fmt.Printf("| %s | %s | %s | %s |\n", class, benchmark, numbers(good), numbers(refused))
			if class == "S" && s.wants(benchmark, class, 16) {
				faults = append(faults, s.hostings(program)...)
			}
		}
	}
	return errors.Join(faults...)
}

func firstOf(list []int) int { return append(list, 0)[0] }

// verifyGraphs runs DT. It reads memory that it has allocated and not written, and counts on
// zeros there, as a process of its own finds them. The C library gives such memory if told.
func (s *settings) verifyGraphs(program, class string) (faults []error) {
	for _, g := range graphs {
		n := g.nodes[class]
		if n == 0 {
			continue
		}
		o := run(s.limit, append([]string{"env", "MALLOC_PERTURB_=255"}, s.simulation(program, n, "--", g.name)...)...)
		if !o.verified() {
			faults = append(faults, fmt.Errorf("DT.%s %s on %d ranks: %s", class, g.name, n, o.fault()))
			continue
		}
		fmt.Printf("| %s | DT %s | %d | |\n", class, g.name, n)
	}
	return faults
}

// hostings runs a program on 16 ranks in several ways. Each must have the same fingerprint.
func (s *settings) hostings(program string) (faults []error) {
	ways := [][]string{{"--engines", "1"}, {"--engines", "2"}, {"--engines", "1", "--stacks", "copied"}, {"--engines", "2", "--stacks", "copied"}}
	if len(s.launcher) > 0 {
		ways = append(ways, []string{"processes"})
	}
	wanted := ""
	for _, way := range ways {
		command := s.simulation(program, 16, way...)
		if way[0] == "processes" {
			command = slices.Concat(s.launcher, []string{"-n", "2"}, s.simulation(program, 16))
		}
		o := run(s.limit, command...)
		switch print := o.said(fingerprint); {
		case !o.verified():
			faults = append(faults, fmt.Errorf("%s on 16 ranks, %v: %s", program, way, o.fault()))
		case wanted == "":
			wanted = print
		case print != wanted:
			faults = append(faults, fmt.Errorf("%s on 16 ranks, %v: fingerprint %s, want %s", program, way, print, wanted))
		}
	}
	return faults
}

// numbers prints a list, runs of neighbours as 3–7.
func numbers(list []int) string {
	var text []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if j-i < 2 {
			j = i
			text = append(text, fmt.Sprint(list[i]))
		} else {
			text = append(text, fmt.Sprintf("%d–%d", list[i], list[j]))
		}
		i = j + 1
	}
	return strings.Join(text, ", ")
}
