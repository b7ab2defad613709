package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/network"
)

// search says what is compared.
type search struct {
	command  string
	machine  string
	kind     *mpivirt.Kind
	memory   float64 // bytes, at most
	seconds  float64 // of CPU for an iteration, at most
	attempts int
	own      float64 // bytes of a process with one rank
}

// point is a run to compare.
type point struct {
	entry     bench.Entry
	operation collectives.Operation
	algorithm collectives.Algorithm
	mode      mpivirt.Interpreter
	engines   int
	payload   int64
	ranks     int64
}

func main() {
	var s search
	kind := flag.String("lp", "event", "`KIND` of rank")
	flag.StringVar(&s.command, "gigarank", "gigarank", "`COMMAND` to run")
	flag.StringVar(&s.machine, "machine", "xt5", "`PRESET`")
	flag.Float64Var(&s.memory, "memory", 1e9, "`BYTES` that a run may be foreseen to take")
	flag.Float64Var(&s.seconds, "time", 4, "`SECONDS` that an iteration may be foreseen to take")
	flag.IntVar(&s.attempts, "attempts", 2, "`N` runs of each, of which the shortest counts")
	only := flag.String("only", "", "`OPERATIONS` to look at (default all)")
	flag.Parse()
	kinds := mpivirt.Kinds()
	at := slices.IndexFunc(kinds, func(k *mpivirt.Kind) bool { return k.Name == *kind })
	if at < 0 {
		fmt.Fprintf(os.Stderr, "forecast: there is no kind of rank %q; \"gigarank list\" names them\n", *kind)
		os.Exit(2)
	}
	s.kind = kinds[at]
	if err := s.compare(*only); err != nil {
		fmt.Fprintln(os.Stderr, "forecast:", err)
		os.Exit(1)
	}
}

// compare prints a line for each point.
func (s *search) compare(only string) error {
	one, err := s.run(point{entry: entryOf(collectives.Barrier), ranks: 1, engines: 1}, 1)
	if err != nil {
		return err
	}
	s.own = one.memory
	fmt.Printf("%-15s %-18s %-7s %7s %7s %8s %10s %10s %6s %11s %11s %6s\n", "operation", "algorithm", "mode", "engines",
		"payload", "ranks", "foreseen B", "taken B", "ratio", "foreseen ns", "taken ns", "ratio")
	for _, op := range collectives.Operations() {
		if entryOf(op).Name == "" || only != "" && !strings.Contains(","+only+",", ","+op.String()+",") {
			continue
		}
		for _, a := range collectives.Algorithms(op) {
			if err := s.compareAlgorithm(op, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// entryOf returns the program that times an operation, the zero value if there is none.
func entryOf(op collectives.Operation) bench.Entry {
	e, _ := bench.Lookup(bench.TimedBy(op))
	return e
}

// compareAlgorithm compares the points of an algorithm.
func (s *search) compareAlgorithm(op collectives.Operation, a collectives.Algorithm) error {
	payloads := []int64{8, 8192}
	if op == collectives.Barrier {
		payloads = []int64{0}
	}
	for _, mode := range []mpivirt.Interpreter{mpivirt.Auto, mpivirt.Message} {
		for _, engines := range []int{1, 2} {
			for _, payload := range payloads {
				for _, ranks := range []int64{1 << 12, 1 << 17} {
					if err := s.comparePoint(point{entryOf(op), op, a, mode, engines, payload, ranks}); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// comparePoint compares one point, unless it is foreseen to need too much.
func (s *search) comparePoint(p point) error {
	cost, err := s.foresee(p)
	if err != nil {
		return err
	}
	memory := cost.BytesPerRank*float64(p.ranks) + cost.BytesPerEngine*float64(p.engines)
	if memory > s.memory || cost.Time > 1e9*s.seconds {
		return nil
	}
	once, thrice := outcome{time: math.Inf(1)}, outcome{time: math.Inf(1)}
	for range s.attempts {
		for iterations, least := range map[int]*outcome{1: &once, 3: &thrice} {
			o, err := s.run(p, iterations)
			if err != nil {
				return err
			}
			*least = outcome{max(least.memory, o.memory), min(least.time, o.time)}
		}
	}
	n, taken, iteration := float64(p.ranks), once.memory-s.own, (thrice.time-once.time)/2
	mode := "auto"
	if p.mode == mpivirt.Message {
		mode = "message"
	}
	fmt.Printf("%-15v %-18v %-7s %7d %7d %8d %10.1f %10.1f %6.2f %11.1f %11.1f %6.2f\n", p.operation, p.algorithm, mode, p.engines,
		p.payload, p.ranks, memory/n, taken/n, memory/taken, cost.Time/n, iteration/n, cost.Time/iteration)
	return nil
}

// foresee returns the forecast of a point with one iteration.
func (s *search) foresee(p point) (mpivirt.Cost, error) {
	machine, err := network.Load(s.machine, os.ReadFile)
	if err != nil {
		return mpivirt.Cost{}, err
	}
	c := bench.Config{Options: bench.Options{Iterations: 1, Payload: p.payload}}
	c.Kind, c.Collectives = s.kind, p.mode
	c.Algorithms = map[collectives.Operation]collectives.Algorithm{p.operation: p.algorithm}
	if c.Target, err = machine.Target(p.ranks); err != nil {
		return mpivirt.Cost{}, err
	}
	return bench.CostOf(p.entry, c, p.engines), nil
}

// outcome is what a run took: bytes, and ns of user CPU.
type outcome struct{ memory, time float64 }

// run runs a point.
func (s *search) run(p point, iterations int) (outcome, error) {
	args := []string{"run", p.entry.Name, "--ranks", strconv.FormatInt(p.ranks, 10), "--engines", strconv.Itoa(p.engines),
		"--machine", s.machine, "--lp", s.kind.Name, "--iterations", strconv.Itoa(iterations), "--json", "-", "--progress", "none",
		"--algorithm", fmt.Sprintf("%v=%v", p.operation, p.algorithm)}
	if p.mode == mpivirt.Message {
		args = append(args, "--collectives", "message")
	}
	if p.payload > 0 {
		args = append(args, "--payload", strconv.FormatInt(p.payload, 10))
	}
	cmd := exec.Command(s.command, args...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return outcome{}, fmt.Errorf("gigarank %s: %w", strings.Join(args, " "), err)
	}
	var d struct {
		Memory float64 `json:"peak_rss_bytes"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return outcome{}, err
	}
	return outcome{d.Memory, float64(cmd.ProcessState.UserTime().Nanoseconds())}, nil
}
