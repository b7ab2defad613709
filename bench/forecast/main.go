package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"gigarank/bench"
	"gigarank/mpivirt"
)

// search says what is compared.
type search struct {
	command  string
	memory   float64 // bytes, at most
	seconds  float64 // of CPU, at most
	attempts int
	only     string  // part of the points' names
	own      float64 // bytes of a process with one rank
	compared int
	left     int // points left out
	wrong    int
}

func main() {
	var s search
	flag.StringVar(&s.command, "gigarank", "gigarank", "`COMMAND` to run")
	flag.Float64Var(&s.memory, "memory", 1e9, "`BYTES` that a run may be foreseen to take")
	flag.Float64Var(&s.seconds, "time", 8, "`SECONDS` of CPU that a run may be foreseen to take")
	flag.IntVar(&s.attempts, "attempts", 1, "`N` runs of each, of which the shortest counts")
	flag.StringVar(&s.only, "only", "", "`TEXT` in the names of the points to look at (default all)")
	flag.Parse()
	if err := s.compare(); err != nil {
		fmt.Fprintln(os.Stderr, "forecast:", err)
		os.Exit(1)
	}
}

// everything are the axes of a whole comparison.
var everything = axes{
	machines:   []string{"xt5", "gigabit-star", "loggops-default"},
	payloads:   []int64{8, 8 << 10, 256 << 10},
	iterations: []int{1, 10},
	engines:    []int{1, 2},
	modes:      []mpivirt.Interpreter{mpivirt.Auto, mpivirt.Message},
	ranks: func(_ bench.Entry, p point) []int64 {
		switch {
		case p.manyMessages():
			return []int64{1 << 7, 1 << 9}
		case p.Kind == "event" && p.Machine != "loggops-default":
			return []int64{1 << 13, 1 << 17}
		}
		return []int64{1 << 11, 1 << 15}
	},
}

// compare prints a line for each point.
func (s *search) compare() error {
	one, err := s.run(point{Program: "barriertest", Kind: "event", Machine: "xt5", Ranks: 1, Engines: 1, Iterations: 1})
	if err != nil {
		return err
	}
	s.own = one.memory
	fmt.Printf("%-9s %11s %11s %6s %11s %11s %6s  %s\n", "", "foreseen B", "taken B", "ratio", "foreseen us", "taken us", "ratio", "point; figures for each rank")
	for _, p := range everything.points() {
		if !strings.Contains(p.String(), s.only) {
			continue
		}
		if err := s.comparePoint(p); err != nil {
			return err
		}
	}
	fmt.Printf("%d points compared, %d with a wrong memory; %d left out for what they are foreseen to take\n", s.compared, s.wrong, s.left)
	if s.wrong > 0 {
		return errors.New("some forecasts of memory do not hold")
	}
	return nil
}

// comparePoint compares one point, unless it is foreseen to need too much.
func (s *search) comparePoint(p point) error {
	cost, memory, err := p.foresee()
	if err != nil {
		return err
	}
	memory += leftToCollector(p) * float64(p.Ranks)
	foreseen := cost.Time * float64(p.Iterations)
	if memory > s.memory || foreseen > 1e9*s.seconds {
		s.left++
		return nil
	}
	least := outcome{memory: 0, time: math.Inf(1)}
	for range s.attempts {
		o, err := s.run(p)
		if err != nil {
			return err
		}
		least = outcome{max(least.memory, o.memory), min(least.time, o.time)}
	}
	s.compared++
	n, took, word := float64(p.Ranks), least.memory-s.own, ""
	if !s.holds(p, memory, took) {
		s.wrong++
		word = "WRONG"
	}
	fmt.Printf("%-9s %11.1f %11.1f %6.2f %11.3f %11.3f %6.2f  %s\n", word, memory/n, took/n, memory/took,
		foreseen/n/1e3, least.time/n/1e3, foreseen/least.time, p)
	return nil
}

// holds reports whether a forecast of memory is right, except for what a process takes anyway.
// On several engines it depends on which of them is ahead.
func (s *search) holds(p point, foreseen, took float64) bool {
	// Bytes of an engine, chunks of slabs and buffers, in use or not; and what a process that has
	// some work takes beyond one of one rank: pages of code, and of the runtime's heap.
	const own, atWork = 1500e3, 4e6
	least, most, slack := 1-tolerance, 1.+tolerance, own*float64(p.Engines)+atWork
	if p.Engines > 1 {
		least, most = 0.6, 2.5
	}
	return foreseen-slack <= most*took && foreseen+slack >= least*took
}

// outcome is what a run took: bytes, and ns of user CPU.
type outcome struct{ memory, time float64 }

// run runs a point.
func (s *search) run(p point) (outcome, error) {
	args := []string{"run", p.Program, "--ranks", strconv.FormatInt(p.Ranks, 10), "--engines", strconv.Itoa(p.Engines),
		"--machine", p.Machine, "--lp", p.Kind, "--iterations", strconv.Itoa(p.Iterations), "--json", "-", "--progress", "none"}
	if p.Timed {
		args = append(args, "--algorithm", fmt.Sprintf("%v=%v", p.Operation, p.Algorithm))
	}
	if p.Mode == mpivirt.Message {
		args = append(args, "--collectives", "message")
	}
	if p.Payload > 0 {
		args = append(args, "--payload", strconv.FormatInt(p.Payload, 10))
	}
	cmd := exec.Command(s.command, args...)
	text, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == deadlocked && p.Program == "deadlock") {
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

// deadlocked is the exit code of a run that has ended in a deadlock.
const deadlocked = 1
