package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/network"
)

// search says what is compared.
type search struct {
	command  string
	memory   float64 // bytes, at most
	least    float64 // bytes, at least
	seed     uint64  // of the order of points
	seconds  float64 // of CPU, at most
	attempts int
	only     string        // part of the points' names
	results  string        // file that keeps the comparisons; empty for none
	span     time.Duration // after which no comparison begins; 0 for none
	digest   string        // of the command
	made     map[point]comparison
	own      float64 // bytes of a process with one rank
	out      io.Writer
	tally
}

// tally counts points.
type tally struct{ compared, wrong, left, waiting int }

func main() {
	s := search{out: os.Stdout}
	flag.StringVar(&s.command, "gigarank", "gigarank", "`COMMAND` to run")
	flag.Float64Var(&s.memory, "memory", 1e9, "`BYTES` that a run may be foreseen to take")
	flag.Float64Var(&s.least, "least", 0, "`BYTES` that a run is to be foreseen to take; what a process takes anyway hides a fault in less than some 1e8")
	flag.Uint64Var(&s.seed, "seed", 1, "`N` that the order of points is drawn from")
	flag.Float64Var(&s.seconds, "time", 8, "`SECONDS` of CPU that a run may be foreseen to take")
	flag.IntVar(&s.attempts, "attempts", 1, "`N` runs of each, of which the shortest counts")
	flag.StringVar(&s.only, "only", "", "`TEXT` in the names of the points to look at (default all)")
	flag.StringVar(&s.results, "results", "", "`FILE` that keeps each comparison; those of the same gigarank are not made again")
	flag.DurationVar(&s.span, "for", 0, "`TIME` after which no further comparison begins; 0 for none")
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

// wanted returns the points to compare, in their order.
func (s *search) wanted() (points []point, err error) {
	states := map[string]bool{}
	for _, machine := range everything.machines {
		m, err := network.Load(machine, os.ReadFile)
		if err != nil {
			return nil, err
		}
		target, err := m.Target(1)
		if err != nil {
			return nil, err
		}
		states[machine] = target.ReceiverState()
	}
	for _, p := range everything.points() {
		// With state at the receiver all collectives go by messages.
		if p.Mode == mpivirt.Message && states[p.Machine] || !strings.Contains(p.String(), s.only) {
			continue
		}
		if s.least > 0 {
			_, memory, err := p.foresee()
			if err != nil {
				return nil, err
			}
			if memory < s.least || memory > s.memory {
				continue
			}
		}
		points = append(points, p)
	}
	return evenly(points, s.seed), nil
}

// stratum is what a sample of points has evenly.
type stratum struct {
	program, kind string
	algorithm     collectives.Algorithm
	payload       int64
	engines       int
}

// evenly orders points such that those before any place have each stratum as often as each other,
// as long as there are points of all. Within a stratum they come in an order drawn by the seed.
func evenly(points []point, seed uint64) []point {
	place := func(p point) uint64 {
		h := fnv.New64a()
		_, _ = fmt.Fprint(h, seed, p)
		return h.Sum64()
	}
	points = slices.SortedFunc(slices.Values(points), func(p, q point) int { return cmp.Compare(place(p), place(q)) })
	seen, turn := map[stratum]int{}, map[point]int{}
	for _, p := range points {
		of := stratum{p.Program, p.Kind, p.Algorithm, p.Payload, p.Engines}
		turn[p] = seen[of]
		seen[of]++
	}
	slices.SortStableFunc(points, func(p, q point) int { return cmp.Compare(turn[p], turn[q]) })
	return points
}

// compare prints a line for each point.
func (s *search) compare() error {
	began := time.Now()
	points, err := s.wanted()
	if err != nil {
		return err
	}
	if err := s.recall(); err != nil {
		return err
	}
	one, err := s.run(point{Program: "barriertest", Kind: "event", Machine: "xt5", Ranks: 1, Engines: 1, Iterations: 1})
	if err != nil {
		return err
	}
	s.own = one.Memory
	s.print("%-9s %11s %11s %6s %11s %11s %6s  %s\n", "", "foreseen B", "taken B", "ratio", "foreseen us", "taken us", "ratio", "point; figures for each rank")
	for _, p := range points {
		c, made := s.made[p]
		switch {
		case made:
		case s.span > 0 && time.Since(began) > s.span:
			s.waiting++
			continue
		default:
			if c, err = s.comparison(p); err != nil {
				return err
			}
			if err := s.keep(&c); err != nil {
				return err
			}
		}
		s.report(&c)
	}
	s.print("%d points compared, %d with a wrong memory; %d left out for what they are foreseen to take, or because the simulated program fails\n", s.compared, s.wrong, s.left)
	var faults []error
	if s.wrong > 0 {
		faults = append(faults, errors.New("some forecasts of memory do not hold"))
	}
	if s.waiting > 0 {
		faults = append(faults, fmt.Errorf("%d points are not looked at yet: the time of -for is over; say the same once more to go on", s.waiting))
	}
	return errors.Join(faults...)
}

// comparison compares one point, unless it is foreseen to need too much.
func (s *search) comparison(p point) (comparison, error) {
	cost, memory, err := p.foresee()
	if err != nil {
		return comparison{}, err
	}
	c := comparison{Gigarank: s.digest, Point: p, Foreseen: outcome{memory, cost.Time * float64(p.Iterations)}}
	if c.Left = c.Foreseen.Memory > s.memory || c.Foreseen.Time > 1e9*s.seconds; c.Left {
		return c, nil
	}
	taken := outcome{Time: math.Inf(1)}
	for range s.attempts {
		o, err := s.run(p)
		if errors.Is(err, errSimulated) {
			c.Left = true
			return c, nil
		}
		if err != nil {
			c.Fault = err.Error()
			return c, nil
		}
		taken = outcome{max(taken.Memory, o.Memory-s.own), min(taken.Time, o.Time)}
	}
	c.Taken = taken
	return c, nil
}

// report counts and prints a comparison.
func (s *search) report(c *comparison) {
	if c.Left {
		s.left++
		return
	}
	s.compared++
	if c.Fault != "" {
		s.wrong++
		s.print("FAILED    %v: %s\n", c.Point, c.Fault)
		return
	}
	p, n, word := c.Point, float64(c.Point.Ranks), ""
	if !holds(p, c.Foreseen.Memory, c.Taken.Memory) {
		s.wrong++
		word = "WRONG"
	}
	s.print("%-9s %11.1f %11.1f %6.2f %11.3f %11.3f %6.2f  %s\n", word, c.Foreseen.Memory/n, c.Taken.Memory/n, c.Foreseen.Memory/c.Taken.Memory,
		c.Foreseen.Time/n/1e3, c.Taken.Time/n/1e3, c.Foreseen.Time/c.Taken.Time, p)
}

// print writes to the report. A failure to do so changes no comparison.
func (s *search) print(format string, args ...any) { _, _ = fmt.Fprintf(s.out, format, args...) }

// holds reports whether a forecast of memory is right, except for what a process takes anyway.
func holds(p point, foreseen, took float64) bool {
	// Bytes of an engine, chunks of slabs and buffers, in use or not; and what a process that has
	// some work takes beyond one of one rank: pages of code, and of the runtime's heap.
	const own, atWork = 1500e3, 4e6
	least, most := bounds(p)
	slack := own*float64(p.Engines) + atWork
	return foreseen-slack <= most*took && foreseen+slack >= least*took
}

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
	var failure strings.Builder
	cmd.Stderr = &failure
	text, err := cmd.Output()
	var exit *exec.ExitError
	switch failed := errors.As(err, &exit) && exit.ExitCode() == simulatedFailed; {
	case err == nil || failed && p.Program == "deadlock":
	case failed:
		return outcome{}, errSimulated
	default:
		return outcome{}, fmt.Errorf("gigarank %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(failure.String()))
	}
	var d struct {
		Memory float64 `json:"peak_rss_bytes"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return outcome{}, err
	}
	return outcome{d.Memory, float64(cmd.ProcessState.UserTime().Nanoseconds())}, nil
}

// simulatedFailed is the exit code of a run whose simulated program has failed: it has ended in a
// deadlock, as ring does with messages above the eager limit, or after the end of virtual time.
const simulatedFailed = 1

var errSimulated = errors.New("the simulated program has failed")
