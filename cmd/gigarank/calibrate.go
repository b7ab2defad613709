package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"gigarank/bench"
	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/spelling"
	"gigarank/mpivirt/native"
)

// calibration holds the measurements of a run with few ranks.
type calibration struct {
	ranks     int64
	engines   int
	cores     int     // that the engines keep busy
	first     float64 // seconds until the first iteration had ended
	iteration float64 // seconds of each further iteration
	untimed   int     // iterations, if the program times none
	taken     float64 // bytes, with the memory of the process itself
	memory    float64 // native ranks: measured memory of a further rank over the expected memory; else 1
	failure   string  // how the simulated program failed; empty if it did not
	missing   string  // why nothing was measured; empty if it was
}

const (
	// calibrationTime is the time after which no further run begins, but for the second of native ranks, and calibrationLimit
	// that after which a run is ended.
	calibrationTime  = time.Second
	calibrationLimit = 10 * time.Second

	calibrationIterations = 5
	calibrationRanks      = 1 << 12 // to begin with, if their memory is counted; if it is measured, one

	// A calibration takes calibrationBytes of memory, about, or the share calibrationShare of what is
	// available if its least run takes more. One that has taken calibrationMost of it is ended.
	calibrationBytes = 1 << 30
	calibrationShare = 1. / 4
	calibrationMost  = 1. / 3

	// measurable is the least difference in bytes between two runs that stands out from
	// the variation of a process.
	measurable = 8 << 20

	// countedWell is the share by which a measurement may differ from the count before
	// it is trusted more.
	countedWell = 0.15
)

// calibrator runs a program with few ranks, one run after the other.
type calibrator struct {
	console   *terminal.Console
	flags     *runFlags
	request   *request
	available float64 // bytes
	engines   int     // of a run
	fewest    int64   // ranks of the least run
	began     time.Time
}

// calibrate runs a program with more and more ranks, up to those asked for, until a run
// takes long enough to measure. It returns the measurements of the last run. The memory of
// ranks is counted, as it is for run and study. The memory of native ranks is measured, as the bytes that
// the last run took more than the first. A process without ranks is no measure for them: it differs from a first run by more than its ranks.
//
// A run begins only if the memory that run expects of it is a modest share of the available memory.
func calibrate(c *terminal.Console, f *runFlags, r *request) (calibration, error) {
	k := &calibrator{console: c, flags: f, request: r, available: host.Usable * float64(host.Memory(c, 1).Bytes), began: c.Now()}
	ranks, missing := k.begin()
	if missing != "" {
		return calibration{memory: 1, missing: missing}, nil
	}
	first, err := k.least(ranks)
	if err != nil || first.missing != "" {
		first.memory = k.measured(first, first)
		return first, err
	}
	last, took := first, c.Now().Sub(k.began)
	for last.ranks < r.ranks {
		ranks := min(4*last.ranks, r.ranks)
		need := max(k.need(ranks), 4*last.taken)
		// The next run takes four times as much. Memory that is measured takes two runs, also of a slow program or on a busy host.
		limit := calibrationTime
		if r.config.Kind == native.Kind && last == first {
			limit = calibrationLimit
		}
		if need > min(calibrationBytes, k.available) || c.Now().Sub(k.began)+4*took > limit {
			break
		}
		started := c.Now()
		sample, err := k.sample(ranks, calibrationIterations, calibrationLimit)
		if errors.Is(err, errCutShort) {
			break
		} else if err != nil {
			return sample, err
		}
		last, took = sample, c.Now().Sub(started)
	}
	last.memory = k.measured(first, last)
	return last, k.tellApart(&last)
}

// begin sets the engines of the runs and returns the ranks of the first one, or why there is none: their
// memory.
func (k *calibrator) begin() (ranks int64, missing string) {
	r := k.request
	k.engines, k.fewest = r.engines, min(int64(r.engines), r.ranks)
	ranks = min(max(calibrationRanks, k.fewest), r.ranks)
	if r.config.Kind == native.Kind { // four times as many each time are also squares and powers of two
		ranks, k.fewest = 1, 1
	}
	fits := func(bytes float64) bool {
		need := k.need(ranks)
		return need <= bytes && need <= k.available*calibrationShare
	}
	for !fits(calibrationBytes) && ranks > k.fewest {
		ranks = max(ranks/4, k.fewest)
	}
	if !fits(k.available) && k.fewest > 1 {
		k.engines, k.fewest, ranks = 1, 1, 1
	}
	if !fits(k.available) {
		return 0, fmt.Sprintf("a run with %s takes %s of memory, and %s are available here (%s), of which a calibration takes a quarter",
			spelling.Count(ranks, "rank"), terminal.Bytes(int64(min(k.need(ranks), 1<<60))), terminal.Bytes(host.Memory(k.console, 1).Bytes), host.Memory(k.console, 1).Bound)
	}
	return ranks, ""
}

// least runs the program with a number of ranks, or with fewer while that takes too long or too much
// memory. The measurements say so if each run does.
func (k *calibrator) least(ranks int64) (calibration, error) {
	for {
		left := calibrationLimit - k.console.Now().Sub(k.began)
		if ranks > k.fewest {
			left /= 2
		}
		started := k.console.Now()
		sample, err := k.sample(ranks, calibrationIterations, left)
		if !errors.Is(err, errCutShort) {
			k.began = started
			return sample, err
		}
		if ranks <= k.fewest {
			sample.missing = fmt.Sprintf("a run with %s %v", spelling.Count(ranks, "rank"), err)
			return sample, nil
		}
		ranks = max(ranks/64, k.fewest)
	}
}

// measured returns the memory that the last run took more than the first, over the expected difference,
// if it is that of native ranks and can be measured; else 1. A first run that is the last is compared
// with a process without ranks.
func (k *calibrator) measured(first, last calibration) float64 {
	if k.request.config.Kind != native.Kind {
		return 1
	}
	if first.ranks == last.ranks {
		first = calibration{taken: host.ProcessMemory}
	}
	few, engineOfFew := k.expected(first.ranks)
	many, enginesOfMany := k.expected(last.ranks)
	last.taken -= enginesOfMany - engineOfFew // they are counted besides
	return last.over(first, many-few)
}

// over returns the memory that a run took more than another one, over the expected difference. It is 1
// if both are too small to measure, or alike.
func (v calibration) over(first calibration, expected float64) float64 {
	taken := v.taken - first.taken
	if max(taken, expected) < measurable || expected <= 0 || math.Abs(taken/expected-1) < countedWell {
		return 1
	}
	return taken / expected
}

// expected returns the expected memory of the ranks and of the engines of a run, in bytes.
func (k *calibrator) expected(ranks int64) (ofRanks, ofEngines float64) {
	if ranks == 0 {
		return 0, 0
	}
	engines := min(int64(k.engines), ranks)
	cost := bench.CostOf(k.request.entry, k.request.ofRanks(ranks), int(engines))
	return float64(ranks) * cost.BytesPerRank, float64(engines) * cost.BytesPerEngine
}

// need returns the expected memory of a run, in bytes.
func (k *calibrator) need(ranks int64) float64 {
	ofRanks, ofEngines := k.expected(ranks)
	return ofRanks + ofEngines + host.ProcessMemory
}

// ofRanks returns the configuration for another number of ranks.
func (r *request) ofRanks(ranks int64) bench.Config {
	config := r.config
	config.Target, _ = r.config.Target.Machine().Target(ranks)
	return config
}

// tellApart tells the first iteration of a program that times none from the further ones, by a run
// with one iteration: memory is touched first in it.
func (k *calibrator) tellApart(v *calibration) error {
	if v.untimed <= 1 || v.failure != "" {
		return nil
	}
	one, err := k.sample(v.ranks, 1, calibrationLimit)
	if errors.Is(err, errCutShort) {
		return nil
	}
	if err == nil {
		v.tellApart(one)
	}
	return err
}

// tellApart takes the time of the first iteration from a run with one.
func (v *calibration) tellApart(one calibration) {
	wall := v.first + float64(v.untimed-1)*v.iteration
	if further := (wall - one.first) / float64(v.untimed-1); further > 0 {
		v.first, v.iteration = one.first, further
	}
}

// errCutShort is the error of a run that was ended, since it took too long or too much memory.
var errCutShort = errors.New("was ended")

// sample runs the command with a number of ranks and iterations, as a process of its own, for a limited
// time.
func (k *calibrator) sample(ranks int64, iterations int, limit time.Duration) (calibration, error) {
	self, err := os.Executable()
	if err != nil {
		return calibration{}, err
	}
	r, g := k.request, *k.flags
	g.ranks, g.iterations = strconv.FormatInt(ranks, 10), strconv.Itoa(min(iterations, r.options.Iterations))
	if r.config.Kind == native.Kind {
		g.iterations = "" // the program has its own
	}
	if g.engines != "" {
		g.engines = strconv.Itoa(k.engines)
	}
	if k.engines == 1 {
		g.engines = "1"
	}
	cmd := exec.Command(self, append(g.arguments(r.entry.Name), "--json", "-", "--progress", "none")...)
	cmd.SysProcAttr, cmd.WaitDelay = host.EndingWithThis(), time.Second // a program may leave others with its output
	var text, failure bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &failure
	if err := cmd.Start(); err != nil {
		return calibration{}, err
	}
	cut := watchRun(cmd.Process, k.console.Root, limit, int64(k.available*calibrationMost))
	if err = cmd.Wait(); errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	why, peak := cut()
	short := calibration{ranks: ranks, memory: 1, taken: float64(peak)}
	if why != "" {
		return short, fmt.Errorf("%w after it had taken %s", errCutShort, why)
	}
	if err != nil && cmd.ProcessState.ExitCode() < 0 {
		return short, fmt.Errorf("%w: %w", errCutShort, err)
	}
	// A simulated program that fails takes memory and time until then, as the document says.
	failed := err != nil && cmd.ProcessState.ExitCode() == terminal.ExitProgram && text.Len() > 0
	if err != nil && !failed {
		return calibration{}, terminal.UsageError{fmt.Errorf("calibration with %s failed: %w\n%s", spelling.Count(ranks, "rank"), err, &failure)}
	}
	var d document
	if err := json.Unmarshal(text.Bytes(), &d); err != nil {
		return calibration{}, err
	}
	v := newCalibration(&d)
	v.cores, v.memory = min(v.engines, k.console.Cores), 1
	if failed {
		v.failure, _, _ = strings.Cut(strings.TrimPrefix(failure.String(), "gigarank: "), "\n")
	}
	return v, nil
}

// watchRun kills a process once it has run for a time or has more memory resident than most bytes. The
// caller calls cut after the process has ended: it ends the watch and returns what the process had taken
// if it was killed, and the most memory that it had resident, as far as the watch has seen.
func watchRun(p *os.Process, root fs.FS, limit time.Duration, most int64) (cut func() (why string, peak int64)) {
	const look = 10 * time.Millisecond
	ended, watched := make(chan struct{}), make(chan struct{})
	var why string
	var peak int64
	go func() {
		defer close(watched)
		ticker, timeout := time.NewTicker(look), time.After(limit)
		defer ticker.Stop()
		for why == "" {
			select {
			case <-ended:
				return
			case <-timeout:
				why = limit.Round(look).String()
			case <-ticker.C:
			}
			has := host.ResidentMemory(root, strconv.Itoa(p.Pid))
			if peak = max(peak, has); peak > most {
				why = terminal.Bytes(peak)
			}
		}
		_ = p.Kill()
	}()
	return func() (string, int64) {
		close(ended)
		<-watched
		return why, peak
	}
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
