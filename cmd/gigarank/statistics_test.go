package main

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// The statistics of a program are the same for each kind of rank, on any number of engines, and change no virtual time. The times of the
// ranks add up to the times by cause, and those to the time of all ranks.
func TestStatisticsOfPrograms(t *testing.T) {
	for _, run := range []string{
		"stencil --ranks 12 --iterations 2 --payload 8KiB --machine xt5", "ring_nonblocking --ranks 7 --iterations 3 --payload 1MiB --machine frontier",
		"allreducetest --ranks 30 --iterations 3 --payload 24 --machine xt5", "ring --ranks 9 --machine loggops-default", "barriertest --ranks 50 --machine xsim-star",
	} {
		plain, want := runDocument(t, run), ""
		for _, kind := range []string{"goroutine", "event"} {
			if kind == "event" && strings.HasPrefix(run, "ring_nonblocking") {
				continue // it has one form
			}
			for _, how := range []string{"--engines 1", "--engines 2 --sync null", "--engines 5 --strict"} {
				line := fmt.Sprintf("%s --matrix --lp %s %s", run, kind, how)
				d := runDocument(t, line)
				if d.Fingerprint != plain.Fingerprint {
					t.Errorf("%s: the fingerprint is %s, without statistics %s", line, d.Fingerprint, plain.Fingerprint)
				}
				text, err := json.Marshal(d.Statistics)
				if err != nil {
					t.Fatal(err)
				}
				if want == "" {
					want = string(text)
				} else if string(text) != want {
					t.Errorf("%s:\n%s\nwant\n%s", line, text, want)
				}
				ofRanks, ofCauses, waiting := new(big.Int), new(big.Int), new(big.Int)
				for i := range d.Statistics.Tasks {
					ofRanks.Add(ofRanks, d.Statistics.Tasks[i].Time)
				}
				for cause, sum := range d.Statistics.Causes {
					if ofCauses.Add(ofCauses, sum); cause != "computing" && cause != "processor" {
						waiting.Add(waiting, sum)
					}
				}
				if ofRanks.Cmp(d.Statistics.Time) != 0 || ofCauses.Cmp(d.Statistics.Time) != 0 || waiting.Cmp(d.Statistics.Waiting) != 0 {
					t.Errorf("%s: %v of ranks, %v by cause, %v waiting; want %v and %v", line, ofRanks, ofCauses, waiting, d.Statistics.Time, d.Statistics.Waiting)
				}
				if mean := new(big.Int).Quo(d.Statistics.Time, big.NewInt(d.Ranks)).Int64(); mean != d.Finish.Mean {
					t.Errorf("%s: the time of a rank is %d ps, and ranks finish at %d ps", line, mean, d.Finish.Mean)
				}
			}
		}
		if !strings.Contains(want, `"matrix"`) {
			t.Errorf("%s has no matrix: %s", run, want)
		}
	}
}

// A run of which no rank finishes has no time, and so no efficiencies: its document is valid JSON.
func TestARunWithoutAnEndHasNoEfficiency(t *testing.T) {
	c := &mpivirt.CallStatistics{}
	c.Balance.Computing.Add(vtime.Microsecond)
	c.Balance.Greatest = vtime.Microsecond
	for _, took := range []vtime.Time{0, vtime.Time(0).Add(2 * vtime.Microsecond)} {
		s := statisticsOf(c, 1, took)
		if _, err := json.Marshal(s); err != nil {
			t.Errorf("a run of %v: %v", took, err)
		}
		if (s.Efficiency != nil) != (took > 0) {
			t.Errorf("a run of %v has efficiencies %v", took, s.Efficiency)
		}
	}
}

// Places of calls are those of the program's source, for ranks that know them, at the same fingerprint; other ranks are refused.
func TestPlacesOfCalls(t *testing.T) {
	plain := runDocument(t, "stencil --ranks 8 --iterations 1 --stats")
	d := runDocument(t, "stencil --ranks 8 --iterations 1 --call-sites --engines 3")
	if d.Fingerprint != plain.Fingerprint || len(plain.Statistics.Sites) > 0 || d.Statistics.Course != nil {
		t.Errorf("the fingerprint is %s, want %s; without the flag there are %d places", d.Fingerprint, plain.Fingerprint, len(plain.Statistics.Sites))
	}
	calls := map[string]uint64{}
	for _, s := range d.Statistics.Sites {
		if !strings.Contains(s.Place, "(stencil.go:") {
			t.Errorf("%s is called from %q", s.Function, s.Place)
		}
		calls[s.Function] += s.Count
	}
	for _, row := range plain.Statistics.Calls {
		if calls[row.Function] != row.Count {
			t.Errorf("%d calls of %s have places, of %d", calls[row.Function], row.Function, row.Count)
		}
	}
	console, _, stderr := terminaltest.Console(nil)
	if code := execute(strings.Fields("run stencil --lp event --ranks 8 --call-sites"), console); code != terminal.ExitUsage || !strings.Contains(stderr.String(), "--call-sites: event ranks do not know") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	console, stdout, stderr := terminaltest.Console(nil)
	if code := execute(strings.Fields("run stencil --ranks 8 --iterations 1 --call-sites --progress none"), console); code != terminal.ExitDone || !strings.Contains(stdout.String(), "called from") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}
