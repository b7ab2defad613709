package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// traces prints what recording costs the programs on this machine, and what replays of the recordings predict on the machine that machine calibrate has
// measured here. Each round runs a program without, with and without the recorder. The spread of the runs stands beside.
func traces(s *settings) error {
	if len(s.launcher) == 0 {
		return fmt.Errorf("the table traces runs programs under MPI: install Open MPI")
	}
	library, err := s.recorder()
	if err != nil {
		return err
	}
	fmt.Println("| program | ranks | run: median, least to most | recorded / plain | its CPU time | plain / plain | run time predicted / measured | error of a task's time in MPI | of functions | CPU of replay / run | operations | bytes an operation: none, zstd |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	var all []recordings
	var faults []error
	machines := map[int]string{} // by number of processes that calibrate
	for _, class := range s.classes {
		for _, benchmark := range benchmarks {
			for _, n := range []int{2, 4} {
				if !s.wants(benchmark, class, n) || !runsInMPI(benchmark, n) {
					continue
				}
				// Jobs of more processes than cores take one to three times the quickest, and are no measure for messages.
				apart := min(n, runtime.NumCPU())
				if machines[apart] == "" {
					var err error
					if machines[apart], err = s.calibrated(apart); err != nil {
						return err
					}
				}
				r, err := s.recorded(library, machines[apart], benchmark, class, n)
				if err != nil {
					faults = append(faults, err)
					continue
				}
				fmt.Println(r.line())
				all = append(all, *r)
			}
		}
	}
	if len(all) > 0 {
		tellMeans(all)
		tellWaiting(all)
		tellSizes(all)
	}
	return errors.Join(faults...)
}

// tellMeans prints the means of the table of traces.
func tellMeans(all []recordings) {
	fmt.Printf("\nMean of %d: recorded / plain %.3f, of their CPU times %.3f, plain / plain %.3f, error of run time %.1f %%, of a task's time in MPI %.1f %%, of functions %.1f %%\n", len(all),
		meanOf(all, func(r *recordings) float64 { return r.overhead() }), meanOf(all, func(r *recordings) float64 { return median(r.cpu) / median(r.plainCPU) }), meanOf(all, func(r *recordings) float64 { return r.noise() }),
		100*meanOf(all, func(r *recordings) float64 { return mean(absolutes(r.runErrors)) }), 100*meanOf(all, func(r *recordings) float64 { return mean(r.taskErrors) }),
		100*meanOf(all, func(r *recordings) float64 { return mean(r.functionErrors) }))
}

// waitings are the replays that take the time in MPI apart, in the order of the columns of the table: as predicted; with wall time for bursts, so that ranks wait
// for a partner that the scheduler has stopped; on a network without time, where ranks wait for bursts alone; without bursts, where messages alone take time.
var waitings = [...]struct {
	name  string
	flags []string
}{
	{"predicted", nil},
	{"by wall bursts", []string{"--cpu", "wall", "--cpu-ratio", "1"}},
	{"waiting for bursts alone", []string{"--cpu", "wall", "--cpu-ratio", "1", "--ideal"}},
	{"messages alone", []string{"--cpu", "none"}},
}

// tellWaiting prints how the time of all tasks in MPI comes about.
func tellWaiting(all []recordings) {
	fmt.Print("\nSeconds of all tasks in MPI:\n\n| program | ranks | measured: median, least to most |")
	for _, w := range waitings {
		fmt.Printf(" %s |", w.name)
	}
	fmt.Print(" burst time in which a task does not run |\n| --- | --- | --- |" + strings.Repeat(" --- |", len(waitings)+1) + "\n")
	for i := range all {
		r := &all[i]
		fmt.Printf("| %s | %d |%s", r.program, r.ranks, spread(r.inMPI))
		for w := range r.predicted {
			fmt.Printf(" %.4f s |", median(r.predicted[w]))
		}
		fmt.Printf(" %.4f s |\n", median(r.stopped))
	}
}

// tellSizes prints the bytes of a trace in several forms. A text of Dimemas has neither durations of calls nor the wall time of bursts: it is compared with a
// trace without them.
func tellSizes(all []recordings) {
	fmt.Print("\nBytes:\n\n| program | ranks | operations | none | zstd | fields of fixed length | none / fixed | text of Dimemas | none, as much as the text | zstd, as much | text / none | text / zstd |\n" +
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for i := range all {
		r, z := &all[i], &all[i].sizes
		fmt.Printf("| %s | %d | %d | %d | %d | %d | %.2f | %d | %d | %d | %.1f | %.1f |\n", r.program, r.ranks, r.operations, r.plainBytes, r.zstdBytes, z.fixed, float64(r.plainBytes)/float64(z.fixed),
			z.text, z.plain, z.packed, float64(z.text)/float64(z.plain), float64(z.text)/float64(z.packed))
	}
}

// runsInMPI reports whether a benchmark runs on 2 or 4 processes: BT and SP want a square, DT a graph of its own.
func runsInMPI(benchmark string, n int) bool {
	return benchmark != "DT" && (n != 2 || benchmark != "BT" && benchmark != "SP")
}

// recorder returns the path of libgigatrace.
func (s *settings) recorder() (string, error) {
	o := s.run(s.limit, s.gigarank, "trace", "library")
	lines := strings.Fields(o.output)
	if o.err != nil || len(lines) == 0 {
		return "", fmt.Errorf("trace library: %s", o.fault())
	}
	return lines[len(lines)-1], nil
}

// calibrated returns the machine file of this machine for a number of processes. Messages of a MiB or more come from memory that caches do not hold, as
// those of FT and IS do.
func (s *settings) calibrated(n int) (string, error) {
	if s.machine != "" {
		return filepath.Abs(s.machine)
	}
	name := filepath.Join(s.work, fmt.Sprintf("calibrated%d.yaml", n))
	if o := s.run(10*s.limit, s.gigarank, "machine", "calibrate", "--cold", "--hosts", strconv.Itoa(n), "-o", name); o.err != nil {
		return "", fmt.Errorf("machine calibrate: %s", o.fault())
	}
	return name, nil
}

// share returns the ratio of bursts of processes that share processors: their CPU time is that of a processor of their own.
func share(processes, processors int) string {
	return strconv.FormatFloat(max(1, float64(processes)/float64(processors)), 'g', -1, 64)
}

// recordings is what the rounds of a program on some ranks have come to.
type recordings struct {
	program                               string
	ranks                                 int
	plain, again, recorded                []float64 // seconds of the runs, as the program prints them
	cpu, replay, plainCPU                 []float64 // seconds of CPU time of the recorded run, of its replay, of the plain runs
	runErrors, taskErrors, functionErrors []float64
	operations                            int64
	plainBytes, zstdBytes                 int64

	inMPI, stopped []float64                // seconds of all tasks: in MPI, as measured; of the wall time of bursts that is no CPU time
	predicted      [len(waitings)][]float64 // seconds of all tasks in MPI
	sizes          sizes
}

// recorded runs the rounds of a program.
func (s *settings) recorded(library, machine, benchmark, class string, n int) (*recordings, error) {
	program, err := s.build(openMPI, benchmark, class)
	if err != nil {
		return nil, err
	}
	r := &recordings{program: benchmark + "." + class, ranks: n}
	for range s.runs {
		dir := filepath.Join(s.work, "recorded")
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
		for _, run := range []struct {
			to    *[]float64
			words []string
		}{{&r.plain, []string{program}}, {&r.recorded, []string{"env", "LD_PRELOAD=" + library, "GIGATRACE=dir=" + dir, program}}, {&r.again, []string{program}}} {
			o := s.run(s.limit, s.byMPI(n, run.words...)...)
			if !o.verified() {
				return nil, fmt.Errorf("%s on %d ranks: %s", r.program, n, o.fault())
			}
			*run.to = append(*run.to, o.seconds())
			switch run.to {
			case &r.recorded:
				r.cpu = append(r.cpu, o.cpu)
			default:
				r.plainCPU = append(r.plainCPU, o.cpu)
			}
		}
		if err := s.predict(r, dir, machine); err != nil {
			return nil, fmt.Errorf("%s on %d ranks: %w", r.program, n, err)
		}
	}
	return r, nil
}

var operationsOf = regexp.MustCompile(`tasks?, (\d+) operations?`)

// compared is what gigarank compare tells.
type compared struct {
	Run       struct{ Error float64 } `json:"run_s"`
	Task      float64                 `json:"mean_task_error"`
	Functions []struct {
		A, B float64
	} `json:"functions"`
}

// sums returns the seconds in MPI of both sides, and the sum of the differences of functions.
func (c *compared) sums() (measured, predicted, wrong float64) {
	for _, f := range c.Functions {
		measured, predicted, wrong = measured+f.A, predicted+f.B, wrong+math.Abs(f.A-f.B)
	}
	return measured, predicted, wrong
}

// predict replays a recording, and compares the replay with it.
func (s *settings) predict(r *recordings, dir, machine string) error {
	in := func(name string) string { return filepath.Join(s.work, name) }
	for _, name := range []string{"none.grt", "zstd.grt", "predicted.json"} { // of the round before
		if err := os.RemoveAll(in(name)); err != nil {
			return err
		}
	}
	for _, words := range [][]string{
		{"trace", "merge", dir, "-o", in("none.grt"), "--compress", "none"},
		{"trace", "merge", dir, "-o", in("zstd.grt")},
		{"trace", "profile", in("zstd.grt"), "--json"},
	} {
		o := s.run(s.limit, append([]string{s.gigarank}, words...)...)
		if o.err != nil {
			return fmt.Errorf("%v: %s", words, o.fault())
		}
		switch words[1] {
		case "merge":
			var err error
			if r.operations, err = strconv.ParseInt(o.said(operationsOf), 10, 64); err != nil {
				return fmt.Errorf("%v tells no number of operations: %s", words, o.output)
			}
		default:
			if err := os.WriteFile(in("measured.json"), []byte(o.output), 0o666); err != nil {
				return err
			}
		}
	}
	for name, to := range map[string]*int64{"none.grt": &r.plainBytes, "zstd.grt": &r.zstdBytes} {
		info, err := os.Stat(in(name))
		if err != nil {
			return err
		}
		*to = info.Size()
	}
	var err error
	if r.sizes, err = sizesOf(in("none.grt")); err != nil {
		return err
	}
	r.stopped = append(r.stopped, r.sizes.stopped)
	o := s.run(s.limit, append(s.replay(r.ranks, machine), "--engines", "1")...) // several engines synchronise, and statistics are no part of the replay
	if o.err != nil {
		return fmt.Errorf("replay: %s", o.fault())
	}
	r.replay = append(r.replay, o.cpu)
	for i, w := range waitings {
		c, err := s.replayed(r.ranks, machine, w.flags)
		if err != nil {
			return err
		}
		measured, predicted, wrong := c.sums()
		if r.predicted[i] = append(r.predicted[i], predicted); i > 0 {
			continue
		}
		r.runErrors, r.taskErrors = append(r.runErrors, c.Run.Error), append(r.taskErrors, c.Task)
		if r.inMPI = append(r.inMPI, measured); measured > 0 {
			r.functionErrors = append(r.functionErrors, wrong/measured)
		}
	}
	return nil
}

// replay returns the command that replays the recording of a round.
func (s *settings) replay(ranks int, machine string) []string {
	return []string{s.gigarank, "replay", filepath.Join(s.work, "zstd.grt"), "--machine", machine, "--cpu", s.bursts, "--cpu-ratio", share(ranks, runtime.NumCPU()), "--progress", "none"}
}

// replayed replays the recording of a round with some flags, and compares the replay with the recording.
func (s *settings) replayed(ranks int, machine string, flags []string) (c compared, err error) {
	in := func(name string) string { return filepath.Join(s.work, name) }
	if err := os.RemoveAll(in("predicted.json")); err != nil {
		return c, err
	}
	o := s.run(s.limit, slices.Concat(s.replay(ranks, machine), []string{"--stats", "--json", in("predicted.json")}, flags)...)
	if o.err != nil {
		return c, fmt.Errorf("replay: %s", o.fault())
	}
	o = s.run(s.limit, s.gigarank, "compare", in("measured.json"), in("predicted.json"), "--json", "-")
	if o.err != nil || json.Unmarshal([]byte(o.output), &c) != nil {
		return c, fmt.Errorf("compare: %s", o.fault())
	}
	return c, nil
}

// line returns the line of the table.
func (r *recordings) line() string {
	return fmt.Sprintf("| %s | %d | %.2f s, %.2f s to %.2f s | %.3f | %.3f | %.3f | %.2f, %.2f to %.2f | %.0f %% | %.0f %% | 1/%.0f | %d | %.2f, %.2f |", r.program, r.ranks,
		median(r.plain), slices.Min(r.plain), slices.Max(r.plain), r.overhead(), median(r.cpu)/median(r.plainCPU), r.noise(), 1+median(r.runErrors), 1+slices.Min(r.runErrors), 1+slices.Max(r.runErrors),
		100*median(r.taskErrors), 100*median(r.functionErrors), median(r.cpu)/median(r.replay), r.operations,
		float64(r.plainBytes)/float64(r.operations), float64(r.zstdBytes)/float64(r.operations))
}

// overhead is the ratio of the medians of recorded and of plain runs, noise that of the plain runs behind and before them.
func (r *recordings) overhead() float64 { return median(r.recorded) / median(r.plain) }
func (r *recordings) noise() float64    { return median(r.again) / median(r.plain) }

// median returns the median of a list, 0 of an empty one.
func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return (sorted[len(sorted)/2] + sorted[(len(sorted)-1)/2]) / 2
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(max(1, len(list)))
}

func absolutes(list []float64) (all []float64) {
	for _, v := range list {
		all = append(all, math.Abs(v))
	}
	return all
}

func meanOf(all []recordings, of func(r *recordings) float64) float64 {
	var list []float64
	for i := range all {
		list = append(list, of(&all[i]))
	}
	return mean(list)
}
