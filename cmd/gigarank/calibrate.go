package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"gigarank/bench"
	"gigarank/mpivirt/native"
)

// calibration holds the measurements of a run with few ranks.
type calibration struct {
	ranks     int64
	engines   int
	cores     int     // that the engines keep busy
	first     float64 // seconds until the first iteration had ended
	iteration float64 // seconds of each further one
	untimed   int     // iterations, if the program times none
	taken     float64 // bytes, those of the process itself included
	memory    float64 // native ranks: measured memory of a further one over the expected one; else 1
	failure   string  // how the simulated program failed; empty if it did not
}

const (
	calibrationTime       = time.Second
	calibrationIterations = 5
	calibrationRanks      = 1 << 12 // to begin with
	calibrationBytes      = 1 << 30 // at most, about

	// measurable is the least difference in bytes between two runs that stands out from
	// the variation of a process.
	measurable = 8 << 20

	// countedWell is the share by which a measurement may differ from the count before
	// it is trusted more.
	countedWell = 0.15
)

// calibrate runs a program with more and more ranks, up to those asked for, until a run
// takes long enough to measure. It returns the measurements of the last run. The memory of
// ranks is counted, as it is for run and study, except that of native ones: what a program in C
// holds is measured, in the last run that took measurably more than the one before.
func calibrate(c *console, f *runFlags, r *request) (calibration, error) {
	began := c.now()
	last := calibration{memory: 1}
	available := usable * float64(c.memory(1).bytes)
	for ranks := r.calibrationRanks(available); ; ranks = min(4*ranks, r.ranks) {
		started := c.now()
		sample, err := r.sample(f, ranks, calibrationIterations)
		if err != nil {
			return sample, err
		}
		sample.cores, sample.memory = min(sample.engines, c.cores), last.memory
		if last.ranks > 0 {
			sample.memory = sample.over(last, r.expected(sample)-r.expected(last))
		}
		last = sample
		// The next run takes four times as much.
		took := c.now().Sub(started)
		if ranks == r.ranks || 4*sample.taken > min(calibrationBytes, available) || c.now().Sub(began)+4*took > calibrationTime {
			if r.config.Kind != native.Kind || math.Abs(last.memory-1) < countedWell {
				last.memory = 1
			}
			if last.untimed > 1 && last.failure == "" {
				one, err := r.sample(f, ranks, 1)
				if err != nil {
					return one, err
				}
				last.tellApart(one)
			}
			return last, nil
		}
	}
}

// calibrationRanks returns the ranks that a calibration begins with: few enough for the available
// bytes, since one plans for other machines too.
func (r *request) calibrationRanks(available float64) int64 {
	least := min(int64(r.engines), r.ranks)
	ranks := min(max(calibrationRanks, least), r.ranks)
	for ranks > least && r.expected(calibration{ranks: ranks, engines: r.engines})+processMemory > available {
		ranks = max(ranks/4, least)
	}
	return ranks
}

// over returns the memory that a run took more than the one before, over the expected
// difference. If that is too small to measure, it returns the ratio known before.
func (v calibration) over(before calibration, expected float64) float64 {
	if expected < measurable {
		return before.memory
	}
	return (v.taken - before.taken) / expected
}

// expected returns the expected memory of a calibration's ranks and engines, in bytes.
func (r *request) expected(v calibration) float64 {
	cost := bench.CostOf(r.entry, r.ofRanks(v.ranks), v.engines)
	return float64(v.ranks)*cost.BytesPerRank + float64(v.engines)*cost.BytesPerEngine
}

// ofRanks returns the configuration for another number of ranks.
func (r *request) ofRanks(ranks int64) bench.Config {
	config := r.config
	config.Target, _ = r.config.Target.Machine().Target(ranks)
	return config
}

// tellApart tells the first iteration of a program that times none from the further ones, by a run
// with one iteration: memory is touched first in it.
func (v *calibration) tellApart(one calibration) {
	wall := v.first + float64(v.untimed-1)*v.iteration
	if further := (wall - one.first) / float64(v.untimed-1); further > 0 {
		v.first, v.iteration = one.first, further
	}
}

// sample runs the command with a number of ranks and iterations, as a process of its own.
func (r *request) sample(f *runFlags, ranks int64, iterations int) (calibration, error) {
	self, err := os.Executable()
	if err != nil {
		return calibration{}, err
	}
	g := *f
	g.ranks, g.iterations = strconv.FormatInt(ranks, 10), strconv.Itoa(min(iterations, r.options.Iterations))
	args := append(g.arguments(r.entry.Name), "--json", "-", "--progress", "none")
	cmd := exec.Command(self, args...)
	var failure bytes.Buffer
	cmd.Stderr = &failure
	text, err := cmd.Output()
	// A simulated program that fails takes memory and time until then, as the document says.
	failed := err != nil && cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == exitProgram && len(text) > 0
	if err != nil && !failed {
		return calibration{}, usageError{fmt.Errorf("calibration with %s failed: %w\n%s", plural(int(ranks), "rank"), err, &failure)}
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return calibration{}, err
	}
	v := newCalibration(&d)
	if failed {
		v.failure, _, _ = strings.Cut(strings.TrimPrefix(failure.String(), "gigarank: "), "\n")
	}
	return v, nil
}

// newCalibration takes the least time of the iterations after the first. The others
// were disturbed. All iterations of a program that times none count as equally long.
func newCalibration(d *document) calibration {
	v := calibration{ranks: d.Ranks, engines: d.Engines, first: d.Wall, taken: float64(d.PeakRSS)}
	if len(d.Iterations) == 0 {
		v.iteration = (d.Wall - d.SetUp) / float64(max(d.TimedIterations, 1))
		v.first, v.untimed = d.SetUp+v.iteration, d.TimedIterations
		return v
	}
	walls := map[int]float64{}
	for _, it := range d.Iterations {
		walls[it.Index] += it.Wall
	}
	delete(walls, 0)
	for _, w := range walls {
		v.first -= w
		if v.iteration == 0 || w < v.iteration {
			v.iteration = w
		}
	}
	if n := float64(1 + len(walls)); len(walls) > 0 && v.iteration*n < d.Wall/20 {
		// The ranks run ahead of each other and end all iterations together.
		v.iteration = d.Wall / n
		v.first = v.iteration
	}
	return v
}

// timePerRank returns the time of an iteration for each rank, in ns. Only its growth with
// the ranks counts: the level is the calibration's.
func (r *request) timePerRank(ranks, engines int64) float64 {
	const least = 1 // where nothing is known of the program
	return max(bench.CostOf(r.entry, r.ofRanks(ranks), int(engines)).Time/float64(ranks), least)
}
