package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"time"

	"gigarank/bench"
	"gigarank/collectives"
	"gigarank/random"
)

// calibration is what a run with few ranks took.
type calibration struct {
	ranks     int64
	engines   int
	cores     int     // that the engines keep busy
	first     float64 // seconds until the first iteration had ended
	iteration float64 // seconds of each further one
	taken     float64 // bytes, with what the process takes anyway
	memory    float64 // of what another rank takes, over what it was expected to take
}

const (
	calibrationTime       = time.Second
	calibrationIterations = 5
	calibrationRanks      = 1 << 12 // to begin with
	calibrationBytes      = 1 << 30 // at most, about

	// measurable is how many bytes a run has to be expected to take more than another
	// one for that to stand out from what a process takes now more and now less.
	measurable = 8 << 20

	// countedWell is the share by which a measurement may differ from what was
	// counted without being believed more.
	countedWell = 0.15
)

// calibrate runs a program with more and more ranks, up to those asked for, until
// that takes long enough to measure. The last run counts; memory is that of the last
// one that took so much more than the one before that it can be measured.
func calibrate(c *console, f *runFlags, r *request) (calibration, error) {
	began := c.now()
	last := calibration{memory: 1}
	for ranks := min(max(calibrationRanks, int64(r.engines)), r.ranks); ; ranks = min(4*ranks, r.ranks) {
		started := c.now()
		sample, err := r.sample(f, ranks)
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
		if ranks == r.ranks || 4*sample.taken > calibrationBytes || c.now().Sub(began)+4*took > calibrationTime {
			if math.Abs(last.memory-1) < countedWell {
				last.memory = 1
			}
			return last, nil
		}
	}
}

// over is what a run took more than the one before, over what was expected; if that is
// too little to be measured, what was known before.
func (v calibration) over(before calibration, expected float64) float64 {
	if expected < measurable {
		return before.memory
	}
	return (v.taken - before.taken) / expected
}

// expected is the memory that a calibration was expected to take, but for the process.
func (r *request) expected(v calibration) float64 {
	config := r.config
	config.Target, _ = r.config.Target.Machine().Target(v.ranks)
	return float64(v.ranks)*bench.BytesPerRank(r.entry, config, v.engines) + float64(v.engines)*bench.BytesPerEngine(r.entry, config)
}

// sample runs the command with a number of ranks, as a process of its own.
func (r *request) sample(f *runFlags, ranks int64) (calibration, error) {
	self, err := os.Executable()
	if err != nil {
		return calibration{}, err
	}
	g := *f
	g.ranks, g.iterations = strconv.FormatInt(ranks, 10), strconv.Itoa(min(calibrationIterations, r.options.Iterations))
	args := append(g.arguments(r.entry.Name), "--json", "-", "--progress", "none")
	cmd := exec.Command(self, args...)
	var failure bytes.Buffer
	cmd.Stderr = &failure
	text, err := cmd.Output()
	if err != nil {
		return calibration{}, usageError{fmt.Errorf("calibration with %s failed: %w\n%s", plural(int(ranks), "rank"), err, &failure)}
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return calibration{}, err
	}
	return newCalibration(&d), nil
}

// newCalibration takes the least of the iterations after the first: the others were
// disturbed.
func newCalibration(d *document) calibration {
	v := calibration{ranks: d.Ranks, engines: d.Engines, first: d.Wall, taken: float64(d.PeakRSS)}
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

// work is how the time of an iteration for each rank grows with the number of ranks:
// with the rounds that a rank takes part in, if it is a collective among ranks.
func (r *request) work(ranks int64) float64 {
	rounds := 0.
	for _, op := range r.entry.Collectives {
		a := r.config.Algorithm(op)
		if a == collectives.NodeLeader {
			continue // most of it is the ranks' joins
		}
		if s, err := collectives.New(op, a, int(ranks), 0); err == nil {
			rounds += meanRounds(s)
		}
	}
	return max(rounds, 1)
}

// meanRounds estimates in how many rounds a member takes part.
func meanRounds(s collectives.Schedule) float64 {
	const members, most = 64, 1 << 10
	sampled := min(s.Members(), members)
	busy := 0
	for i := range sampled {
		member := int(random.Mix(uint64(i)) % uint64(s.Members()))
		n := 0
		for round := s.Next(member, 0); round < s.Rounds(member); round = s.Next(member, round+1) {
			if n++; n == most {
				return float64(s.Rounds(member)) // as many as there are members
			}
		}
		busy += n
	}
	return float64(busy) / float64(sampled)
}
