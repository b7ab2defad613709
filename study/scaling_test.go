package study

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"gigarank/internal/result"
)

// testScaling checks axes that must have no fault.
func testScaling(t testing.TB, axes ScalingAxes) *Scaling {
	return NewScaling(axes, os.ReadFile, func(flag string, err error) { t.Fatalf("%s: %v", flag, err) })
}

// scalingRecords are records with wall times and remote events that follow from the point.
func scalingRecords(s *Scaling) []ScalingRecord {
	var records []ScalingRecord
	for _, p := range s.Points {
		d := result.Document{Schema: result.Schema, Complete: true, Fingerprint: fmt.Sprint(p.Machine, p.Ranks),
			RemoteMessages: uint64((p.Hosts - 1) * 10 * int64(p.Iterations)), SyncMessages: 3, TransportMessages: 4, BytesPerRank: 20}
		for i := range p.Iterations {
			wall := 1e-8 * float64(p.Ranks) * float64(i) // the first is another one
			d.Iterations = append(d.Iterations, result.Iteration{Index: i, Wall: wall})
		}
		records = append(records, NewScalingRecord("test", "engines", p, d, nil))
	}
	return records
}

func fullScaling(t testing.TB) *Scaling {
	return testScaling(t, ScalingAxes{Operation: "allreduce", Hosts: "1,2,4,8", Lambda: "128,1024", Machines: "xt5,tianhe-1a", Iterations: "4"})
}

// Each point has λ ranks on each host, in the order of growing ranks, and the command line
// of the run says so.
func TestScalingMultipliesLambdaAndHosts(t *testing.T) {
	s := fullScaling(t)
	if len(s.Points) != 4*2*2 {
		t.Fatalf("%d points, want 16", len(s.Points))
	}
	for i, p := range s.Points {
		if p.Ranks != p.Lambda*p.Hosts || i > 0 && s.Points[i-1].Ranks > p.Ranks {
			t.Errorf("point %d of %d hosts and λ %d has %d ranks", i, p.Hosts, p.Lambda, p.Ranks)
		}
		line := strings.Join(s.Arguments(p), " ")
		for _, want := range []string{"run allreducetest ", fmt.Sprintf("--ranks %d ", p.Hosts*p.Lambda), "--machine " + p.Machine, "--lp event",
			"--iterations 4", "--algorithm allreduce=node-leader", "--payload 8192"} {
			if !strings.Contains(line, want) {
				t.Errorf("%q lacks %q", line, want)
			}
		}
	}
}

// All faults are reported, each with its flag.
func TestScalingReportsFaults(t *testing.T) {
	var flags []string
	NewScaling(ScalingAxes{Operation: "bcast", Hosts: "0", Lambda: "1..", Machines: "xt6", Iterations: "0"}, os.ReadFile,
		func(flag string, _ error) { flags = append(flags, flag) })
	if want := []string{"OPERATION", "--hosts", "--lambda", "--iterations", "--machine"}; !slices.Equal(flags, want) {
		t.Errorf("faults of %v, want %v", flags, want)
	}
	flags = nil
	NewScaling(ScalingAxes{Operation: "barrier", Hosts: "2", Lambda: "2G", Algorithm: "ring", Payload: "8", LP: "fibre"}, os.ReadFile,
		func(flag string, _ error) { flags = append(flags, flag) })
	for _, want := range []string{"--lambda", "--algorithm", "--payload", "--lp"} {
		if !slices.Contains(flags, want) {
			t.Errorf("faults of %v, want one of %s", flags, want)
		}
	}
}

// The wall time is the median of the operations after the first, the remote events those
// of one operation.
func TestScalingTakesTheMedianAfterTheFirst(t *testing.T) {
	point := ScalingPoint{Iterations: 4}
	d := result.Document{RemoteMessages: 40}
	for _, wall := range []float64{100, 3, 1, 2} {
		d.Iterations = append(d.Iterations, result.Iteration{Wall: wall})
	}
	if r := NewScalingRecord("", "", point, d, nil); r.Wall != 2 || r.Remote != 10 {
		t.Errorf("wall time %v and %v remote events, want 2 and 10", r.Wall, r.Remote)
	}
	if r := NewScalingRecord("", "", ScalingPoint{Iterations: 1}, result.Document{Iterations: []result.Iteration{{Wall: 7}}}, nil); r.Wall != 7 {
		t.Errorf("a single operation takes %v, want 7", r.Wall)
	}
	if r := NewScalingRecord("", "", point, result.Document{}, errors.New("no memory")); r.Error != "no memory" || r.Wall != 0 {
		t.Errorf("a failed run has %+v", r)
	}
}

// The table names λ and has the messages between engines, those for synchronisation and
// those of the transport. A failed run has no figures.
func TestScalingTable(t *testing.T) {
	s := fullScaling(t)
	records := scalingRecords(s)
	records[3] = NewScalingRecord("test", "engines", s.Points[3], result.Document{}, errors.New("no memory"))
	var text bytes.Buffer
	if err := WriteScalingCSV(&text, records); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&text).ReadAll()
	if err != nil || len(rows) != len(records)+1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	at := func(row int, name string) string { return rows[row][slices.Index(rows[0], name)] }
	for i, r := range records {
		want := []string{fmt.Sprint(r.Point.Lambda), fmt.Sprint(r.Point.Hosts), fmt.Sprint(r.Result.RemoteMessages), "3", "4", ""}
		if i == 3 {
			want = []string{fmt.Sprint(r.Point.Lambda), fmt.Sprint(r.Point.Hosts), "", "", "", "no memory"}
		}
		var got []string
		for _, name := range []string{"lambda", "hosts", "remote_messages", "sync_messages", "transport_messages", "error"} {
			got = append(got, at(i+1, name))
		}
		if !slices.Equal(got, want) {
			t.Errorf("row %d has %q, want %q", i, got, want)
		}
	}
}

// A bar is as long as its value is above the axis: equal factors are equal lengths, and no
// two bars of one place overlap.
func TestBarsAreLogarithmic(t *testing.T) {
	curve := data{name: "a", at: []xy{{x: 1, y: 1}, {x: 2, y: 1}, {x: 4, y: 1}}}
	first := data{name: "a", at: []xy{{x: 1, y: 0}, {x: 2, y: 10}, {x: 4, y: 100}}}
	second := data{name: "b", style: 1, at: []xy{{x: 2, y: 1000}, {x: 4, y: 10}}}
	c := drawChart("", "", ranksAxis, wallAxis, []data{curve}, eventsAxis, []data{first, second})
	if len(c.Bars) != 2 || len(c.Bars[0].Bars) != 2 {
		t.Fatalf("%d rows of bars, and the value 0 must have none: %+v", len(c.Bars), c.Bars)
	}
	a, b := c.Bars[0].Bars, c.Bars[1].Bars
	decade := a[1].Height - a[0].Height
	if decade <= 0 || math.Abs(b[0].Height-a[1].Height-decade) > 1e-9 || math.Abs(b[1].Height-a[0].Height) > 1e-9 {
		t.Errorf("heights %v and %v: the values are 10, 100 and 1000, 10", a, b)
	}
	if a[0].X+a[0].Width > b[0].X+1e-9 {
		t.Errorf("bars at %v and %v overlap", a[0], b[0])
	}
	for _, all := range c.Bars {
		for _, one := range all.Bars {
			if math.Abs(one.Y+one.Height-plotBottom) > 1e-9 || one.X < plotLeft || one.X+one.Width > c.Right {
				t.Errorf("the bar %+v leaves the plot", one)
			}
		}
	}
	if none := drawChart("", "", ranksAxis, wallAxis, []data{curve}, eventsAxis, []data{{at: []xy{{x: 1}, {x: 2}}}}); none == nil || none.RLabel != "" {
		t.Error("without a value above zero there must be a chart without an axis on the right")
	}
}

// The report has a chart of lines and bars for each machine, and says whether the hosting
// makes a difference.
func TestScalingReport(t *testing.T) {
	s := fullScaling(t)
	records := scalingRecords(s)
	report := func() string {
		var page, text bytes.Buffer
		if err := s.WriteReport(&page, records, testOrigin); err != nil {
			t.Fatal(err)
		}
		s.WriteText(&text, records)
		return page.String() + text.String()
	}
	page := report()
	for _, want := range []string{"allreduce on xt5", "allreduce on tianhe-1a", "λ = 1024, remote events", "bar pale", "do not depend on λ", "Perumalla", "event ranks"} {
		if !strings.Contains(page, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	page = strings.Replace(page, reportScript, "", 1)
	if strings.Contains(page, "NaN") || strings.Contains(page, "ZgotmplZ") || strings.Contains(page, "DIFFER") {
		t.Error("the report has a value that is none, or finds a difference")
	}
	last := len(records) - 1
	twin := slices.IndexFunc(records, func(r ScalingRecord) bool {
		return r.Point.Machine == records[0].Point.Machine && r.Point.Ranks == 1024
	})
	records[twin].Result.Fingerprint = "another"
	records[last] = NewScalingRecord("test", "engines", s.Points[last], result.Document{}, errors.New("no memory"))
	page = report()
	if !strings.Contains(page, "DIFFER between hostings of 1Ki ranks on xt5") || !strings.Contains(page, "no memory") {
		t.Errorf("the report hides a difference or a failure:\n%s", page)
	}
	records = records[:3]
	if !strings.Contains(report(), "13 of 16 runs were not made") {
		t.Error("the report of a part does not say so")
	}
}
