package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

var benchmarks = []string{"BT", "CG", "DT", "EP", "FT", "IS", "LU", "MG", "SP"}

// most is the largest number of ranks of a benchmark in a class, 0 for none.
func most(benchmark, class string) int {
	switch class {
	case "S":
		if strings.Contains("CG EP", benchmark) {
			return 1024
		}
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

// way is one in which a program is hosted.
type way struct {
	name      string
	flags     []string
	processes int // of MPI, 0 without the launcher
}

var ways = []way{
	{name: "1 engine", flags: []string{"--engines", "1", "--stacks", "own"}},
	{name: "2 engines", flags: []string{"--engines", "2", "--stacks", "own"}},
	{name: "1 engine, copied stacks", flags: []string{"--engines", "1", "--stacks", "copied"}},
	{name: "2 engines, copied stacks", flags: []string{"--engines", "2", "--stacks", "copied"}},
	{name: "2 processes", flags: []string{"--stacks", "own"}, processes: 2},
	{name: "2 processes, copied stacks", flags: []string{"--stacks", "copied"}, processes: 2},
}

// trial is a run of verify, as a line of the file of results has it.
type trial struct {
	Gigarank  string  `json:"gigarank"` // digest of the binary
	Benchmark string  `json:"benchmark"`
	Graph     string  `json:"graph,omitempty"` // of DT
	Class     string  `json:"class"`
	Ranks     int     `json:"ranks"`
	Way       string  `json:"way"`
	Verified  bool    `json:"verified"`
	Refused   bool    `json:"refused"` // by the benchmark's own message
	Fault     string  `json:"fault,omitempty"`
	Print     string  `json:"fingerprint,omitempty"`
	Wall      float64 `json:"wall_s"`
	Memory    int64   `json:"memory_bytes"`
}

// same reports whether two trials are the same run.
func (t *trial) same(o *trial) bool {
	return t.Gigarank == o.Gigarank && t.Benchmark == o.Benchmark && t.Graph == o.Graph && t.Class == o.Class && t.Ranks == o.Ranks && t.Way == o.Way
}

// trials are those of verify: the ones kept from before, and those that it makes.
type trials struct {
	*settings
	digest string // of the binary of gigarank
	ways   []way
	made   []trial
	left   int // that there was no time for
	faults []error
}

// verify prints on which numbers of ranks each benchmark verifies, in which ways.
func verify(s *settings) error {
	v := trials{settings: s}
	for _, w := range ways {
		if w.processes == 0 || len(s.launcher) > 0 {
			v.ways = append(v.ways, w)
		}
	}
	if err := v.recall(); err != nil {
		return err
	}
	fmt.Println("| class | benchmark | verifies on | refuses itself | ways |\n| --- | --- | --- | --- | --- |")
	for _, class := range []string{"S", "W", "A"} {
		for _, benchmark := range benchmarks {
			if most(benchmark, class) == 0 || !slices.ContainsFunc(ranksOf(benchmark, class), func(n int) bool { return s.wants(benchmark, class, n) }) {
				continue
			}
			program, err := s.build(s.native(), benchmark, class)
			if err != nil {
				return err
			}
			if benchmark == "DT" {
				v.graphs(program, class)
			} else {
				v.counts(program, benchmark, class)
			}
		}
	}
	if v.left > 0 {
		v.faults = append(v.faults, fmt.Errorf("%d runs or more are left: the time of -for is over; say the same once more to go on", v.left))
	}
	return errors.Join(v.faults...)
}

// ranksOf returns the numbers of ranks of a benchmark, also of DT.
func ranksOf(benchmark, class string) []int {
	if benchmark != "DT" {
		return counts(benchmark, class)
	}
	var list []int
	for _, g := range graphs {
		list = append(list, g.nodes[class])
	}
	return list
}

// recall reads the trials that the file of results has, if there is one.
func (v *trials) recall() error {
	path, err := exec.LookPath(v.gigarank)
	if err != nil {
		return err
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	v.digest = fmt.Sprintf("%x", sha256.Sum256(binary))[:16]
	if v.results == "" {
		return nil
	}
	text, err := os.ReadFile(v.results)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var t trial
		if err := json.Unmarshal([]byte(line), &t); err != nil {
			return fmt.Errorf("%s:%d: %w", v.results, i+1, err)
		}
		v.made = append(v.made, t)
	}
	return err
}

// try makes a trial, unless it was made before. It returns nil if there is no time for it.
func (v *trials) try(program, benchmark, graph, class string, ranks int, w way) *trial {
	t := trial{Gigarank: v.digest, Benchmark: benchmark, Graph: graph, Class: class, Ranks: ranks, Way: w.name}
	for i := range v.made {
		if v.made[i].same(&t) {
			return v.judge(&v.made[i])
		}
	}
	if v.span > 0 && time.Since(v.began) > v.span {
		v.left++
		return nil
	}
	command := v.simulation(program, ranks, w.flags...)
	if w.processes > 0 {
		command = v.byMPI(w.processes, command...)
	}
	if graph != "" {
		// DT reads memory that it has allocated and not written, and counts on zeros there, as a
		// process of its own finds them. The C library gives such memory if told.
		command = slices.Concat([]string{"env", "MALLOC_PERTURB_=255"}, command, []string{"--", graph})
	}
	o := v.run(v.limit, command...)
	if v.commands.ended() {
		return nil // what it would say is no result
	}
	t.Verified, t.Refused, t.Print, t.Wall, t.Memory = o.verified(), o.refused() != "", o.said(fingerprint), o.wall, o.memory
	if !t.Verified && !t.Refused {
		t.Fault = o.fault()
	}
	v.made = append(v.made, t)
	if err := v.keep(&t); err != nil {
		v.faults = append(v.faults, err)
	}
	return v.judge(&v.made[len(v.made)-1])
}

// keep appends a trial to the file of results.
func (v *trials) keep(t *trial) error {
	if v.results == "" {
		return nil
	}
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(v.results, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

// judge notes what is wrong with a trial: it neither verifies nor refuses, or has another
// fingerprint than one of the same on as many ranks.
func (v *trials) judge(t *trial) *trial {
	name := fmt.Sprintf("%s.%s %s on %d ranks, %s", t.Benchmark, t.Class, t.Graph, t.Ranks, t.Way)
	if t.Fault != "" {
		v.faults = append(v.faults, fmt.Errorf("%s: %s", name, t.Fault))
		return t
	}
	for i := range v.made {
		o := v.made[i]
		if o.Way = t.Way; o.same(t) && o.Verified && t.Verified && o.Print != t.Print {
			v.faults = append(v.faults, fmt.Errorf("%s: fingerprint %s, but %s, %s", name, t.Print, o.Print, v.made[i].Way))
			break
		}
	}
	return t
}

// counts tries a benchmark on all its numbers of ranks. From one number on which it verifies to
// the next it goes to the next way. What is left of the ways comes on the last. Class S on 16
// ranks is tried in all ways.
func (v *trials) counts(program, benchmark, class string) {
	var good, refused []int
	last, seen := 0, map[string]bool{}
	for _, n := range counts(benchmark, class) {
		if !v.wants(benchmark, class, n) {
			continue
		}
		t := v.try(program, benchmark, "", class, n, v.ways[len(good)%len(v.ways)])
		switch {
		case t == nil:
			return
		case t.Verified:
			good, last, seen[t.Way] = append(good, n), n, true
		case t.Refused:
			refused = append(refused, n)
		}
		if t.Verified && class == "S" && n == 16 {
			here := map[string]bool{t.Way: true}
			v.allWays(program, benchmark, class, n, here)
			maps.Copy(seen, here)
		}
	}
	if last > 0 {
		v.allWays(program, benchmark, class, last, seen)
	}
	fmt.Printf("| %s | %s | %s | %s | %d |\n", class, benchmark, numbers(good), numbers(refused), len(seen))
}

// allWays tries a benchmark in all ways in which it was not seen to verify.
func (v *trials) allWays(program, benchmark, class string, n int, seen map[string]bool) {
	for _, w := range v.ways {
		if !seen[w.name] {
			if t := v.try(program, benchmark, "", class, n, w); t != nil && t.Verified {
				seen[w.name] = true
			}
		}
	}
}

// graphs tries DT with each of its graphs in all ways.
func (v *trials) graphs(program, class string) {
	for _, g := range graphs {
		n := g.nodes[class]
		if n == 0 || !v.wants("DT", class, n) {
			continue
		}
		verified := 0
		for _, w := range v.ways {
			if t := v.try(program, "DT", g.name, class, n, w); t != nil && t.Verified {
				verified++
			}
		}
		fmt.Printf("| %s | DT %s | %d | | %d |\n", class, g.name, n, verified)
	}
}

func firstOf(list []int) int { return append(list, 0)[0] }

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
