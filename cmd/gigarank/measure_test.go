package main

import (
	"fmt"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/internal/loggp"
)

// A new machine file is compared with the one that it replaces: if all jobs were disturbed alike,
// nothing else shows that.
func TestCalibrateComparesWithTheFileBefore(t *testing.T) {
	const long = "; of more than 4 KiB"
	machine := func(latency string) []byte {
		delays := "latency: " + latency + ", bandwidth: 1TB/s"
		if short, slow := strings.CutSuffix(latency, long); slow {
			delays = "latency: " + short + ", bandwidth: 2GB/s"
		}
		return fmt.Appendf(nil, "name: here\nranks_per_node: 2\nnetwork: {model: flat, %s}\n", delays)
	}
	m := loggp.Measurements{Processes: 2, Intra: &loggp.Pair{Partner: 1, Delays: []loggp.Point{{Bytes: 8}, {Bytes: 64}, {Bytes: 64 << 10}, {Bytes: 1 << 20}, {Bytes: 2 << 20}}}}
	f := measureFlags{out: "here.yaml"}
	for _, c := range []struct {
		before, now []byte
		ratio       string
		warned      bool
	}{
		{machine("10us"), machine("11us"), "1.10", false},
		{machine("10us"), machine("18us"), "1.80", true},
		{machine("18us"), machine("9us"), "0.50", true},
		{machine("10us"), machine("10us" + long), "1.00 times those of the file before, longer ones 48.", true},
		{nil, machine("9us"), "", false},
		{[]byte("no machine: at all\n"), machine("9us"), "", false},
	} {
		line := f.against(c.before, c.now, &m)
		if c.ratio == "" && line != "" || !strings.Contains(line, c.ratio) || strings.Contains(line, "disturbed") != c.warned {
			t.Errorf("%s after %s: %q", c.now, c.before, line)
		}
	}
}

// A launcher that starts nothing is named, and what is to be done about it.
func TestLauncherThatStartsNothing(t *testing.T) {
	for launcher, want := range map[string]string{
		"true":  "true 2 ended well, but its processes have left no results: ",
		"false": "the measurement by false 2 failed: exit status 1",
	} {
		c, _, _ := terminaltest.Console(nil)
		j := jobs{launcher: []string{launcher}, hosts: 2, runs: 1, number: 1, disturbed: 1.25}
		if _, err := j.measure(c, false); err == nil || !strings.HasPrefix(err.Error(), want) || strings.HasSuffix(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", launcher, err, want)
		}
	}
}

// Further jobs are started while too few agree, three times as many at most. The least number of jobs that agree is that of most of the jobs asked for.
func TestFurtherJobs(t *testing.T) {
	const slow, quick = 3e-6, 1e-6
	for _, c := range []struct {
		jobs  int64
		takes []float64
		want  int // jobs that are started
		fails bool
	}{
		{jobs: 5, takes: []float64{slow, quick, quick, slow, quick}, want: 5},
		{jobs: 5, takes: []float64{quick, slow, slow, slow, slow, slow, quick, quick, slow}, want: 8},
		{jobs: 2, takes: []float64{quick, slow, slow, slow, slow, slow, slow}, want: 6, fails: true},
		{jobs: 1, takes: []float64{slow, quick}, want: 1},
	} {
		started := 0
		j := jobs{number: c.jobs, disturbed: loggp.Disturbed}
		_, err := j.combine(func(i int64) (loggp.Measurements, error) {
			started++
			return loggp.Measurements{Intra: &loggp.Pair{Delays: []loggp.Point{{Bytes: 8, Seconds: c.takes[i]}}}, Reduce: loggp.Point{Seconds: c.takes[i]}}, nil
		})
		if started != c.want || (err != nil) != c.fails {
			t.Errorf("%+v: %d jobs, %v", c, started, err)
		}
	}
}
