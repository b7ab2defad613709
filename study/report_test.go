package study

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"html/template"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	stdsync "sync"
	"testing"

	"pgregory.net/rapid"

	"gigarank/vtime"
)

// fullPlan has more than one value on each axis.
func fullPlan(t testing.TB) *Plan {
	return testPlan(t, Axes{
		Operation: "allreduce", Ranks: "2^4..2^8:x4", Algorithms: "node-leader,recursive-doubling,ring,rabenseifner,binomial", Payload: "8,1Ki,8Ki", Mapping: "block,cyclic",
		Noise: []string{"periodic:10ms,250us"}, Seed: "1,2", Iterations: "2",
	})
}

var testOrigin = Origin{Command: "gigarank study allreduce --noise 'periodic:10ms,250us' --out <dir>", Version: "v1.2.3", Host: "2 cores", Written: "2026-01-02 03:04 UTC"}

var (
	fullOnce    stdsync.Once
	fullRecords []Record
)

// runFull simulates the full plan, once for all tests.
func runFull(t testing.TB) []Record {
	fullOnce.Do(func() { fullRecords = runAll(t, fullPlan(t)) })
	if fullRecords == nil {
		t.Fatal("the full plan was not simulated")
	}
	return fullRecords
}

func reportOf(t testing.TB, p *Plan, records []Record) []byte {
	var page bytes.Buffer
	if err := p.WriteReport(&page, records, testOrigin); err != nil {
		t.Fatal(err)
	}
	return page.Bytes()
}

// The report is one well-formed page that loads nothing and has all its parts.
func TestReportIsWhole(t *testing.T) {
	page := reportOf(t, fullPlan(t), runFull(t))
	for _, want := range []string{
		"Time against ranks", "Time against payload", "Fastest algorithm by ranks and payload", "Cost under noise",
		"Machines and mappings", "Distribution of exit times", "Cost of the simulation", "All points", "closed form", "ranks_per_node: 12", "mapping: cyclic",
		"gigarank study allreduce --noise &#39;periodic:10ms,250us&#39; --out &lt;dir&gt;", "v1.2.3", "2 cores",
	} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the report lacks %q", want)
		}
	}
	page = bytes.Replace(page, []byte(reportScript), nil, 1) // it names the namespace of SVG
	for _, foreign := range []string{"<script src", "http://", "https://", "@import", "url("} {
		if bytes.Contains(page, []byte(foreign)) {
			t.Errorf("the report has %q", foreign)
		}
	}
	if bytes.Contains(page, []byte("NaN")) || bytes.Contains(page, []byte("Inf")) || bytes.Contains(page, []byte("ZgotmplZ")) {
		t.Error("the report has a value that is none")
	}
	for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAll(page, -1) {
		for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in %s", err, svg)
			}
		}
	}
}

// A study that was ended also has a report, whatever part of it exists.
func TestReportOfAPart(t *testing.T) {
	p := fullPlan(t)
	records := runFull(t)
	for n := 0; n <= len(records); n += 29 {
		var page, text bytes.Buffer
		if err := p.WriteReport(&page, records[:n], testOrigin); err != nil {
			t.Fatalf("%d of %d points: %v", n, len(records), err)
		}
		p.WriteText(&text, records[:n])
		missing := strconv.Itoa(len(records)-n) + " of " + strconv.Itoa(len(records)) + " points are not simulated yet"
		if n < len(records) && !bytes.Contains(page.Bytes(), []byte(missing)) {
			t.Errorf("the report of %d points does not say that %s", n, missing)
		}
	}
}

// Points that do not fit the memory are named, and do not make a study incomplete. One
// of them may have a result from a larger machine.
func TestReportNamesPointsLeftOut(t *testing.T) {
	p := barrierPlan(t)
	n := len(p.Points)
	p.TooLarge = p.Points[n-3:]
	var records []Record
	for _, point := range p.Points[:n-2] {
		records = append(records, fakeRecord(p, point))
	}
	page := string(reportOf(t, p, records))
	if strings.Contains(page, "Incomplete") || !strings.Contains(page, "Left out, too large for the memory: "+Ranges(p.Points[n-2:])+".") {
		t.Errorf("a finished study is reported as\n%s", page)
	}
	page = string(reportOf(t, p, records[1:]))
	if !strings.Contains(page, "1 of 10 points are not simulated yet") {
		t.Errorf("a study that lacks a point is reported as\n%s", page)
	}
	p.TooLarge = nil
	if page = string(reportOf(t, p, records)); strings.Contains(page, "want of memory") {
		t.Error("points are left out as too large for the memory, and none is")
	}
}

// A point that failed is named and has no place in plots and columns of results.
func TestReportNamesFailures(t *testing.T) {
	p := barrierPlan(t)
	var records []Record
	for _, point := range p.Points {
		records = append(records, fakeRecord(p, point))
	}
	records[2].Error, records[2].Time = "rank 3 failed: <bang>\nstack", 0
	var page, table bytes.Buffer
	if err := errors.Join(p.WriteReport(&page, records, testOrigin), WriteCSV(&table, records)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page.Bytes(), []byte("rank 3 failed: &lt;bang&gt;</li>")) {
		t.Error("the report does not name the failure")
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(rows) != len(records)+1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	time, failure := slices.Index(rows[0], "time_ps"), slices.Index(rows[0], "error")
	if rows[3][time] != "" || rows[3][failure] != records[2].Error || rows[2][time] != strconv.FormatInt(int64(records[1].Time), 10) {
		t.Errorf("rows %q and %q", rows[2], rows[3])
	}
}

// Labels are few, in order, inside the axis, and different.
func TestTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SampledFrom([]axis{ranksAxis, payloadAxis, timeAxis, wallAxis, memoryAxis}).Draw(t, "axis")
		low := math.Exp2(rapid.Float64Range(0, 40).Draw(t, "low"))
		s := span{low, low * math.Exp2(rapid.Float64Range(0.1, 40).Draw(t, "factor"))}
		if a.base == 10 {
			s = s.rounded()
		}
		all := ticks(s, a, plotLeft, plotRight, 7)
		if len(all) < 2 && s.high/s.low >= 10 || len(all) > 7 {
			t.Fatalf("%d labels from %g to %g", len(all), s.low, s.high)
		}
		seen := map[string]bool{}
		for _, tick := range all {
			if tick.At < plotLeft-0.1 || tick.At > plotRight+0.1 || seen[tick.Label] {
				t.Fatalf("labels %v from %g to %g", all, s.low, s.high)
			}
			seen[tick.Label] = true
		}
	})
}

// A number is printed with three digits and reads back within half of the last digit.
func TestThreeDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := math.Exp(rapid.Float64Range(0, 34).Draw(t, "log"))
		number, unit, _ := strings.Cut(formatTime(v), " ")
		read, err := strconv.ParseFloat(number, 64)
		i := slices.IndexFunc(timeScales, func(s scale) bool { return s.unit == unit })
		if err != nil || i < 0 || math.Abs(read*timeScales[i].size/v-1) > 0.0051 || read >= 1000 && unit != "s" {
			t.Fatalf("%g is %s %s", v, number, unit)
		}
	})
	for _, c := range []struct{ got, want string }{
		{formatTime(0), "0 ps"}, {formatTime(86_000_000), "86 us"}, {formatTime(999_999), "1 us"}, {formatTime(1.25e12), "1.25 s"},
		{formatRanks(1000), "1000"}, {formatRanks(1024), "1Ki"}, {formatRanks(1 << 30), "1Gi"}, {formatRanks(221184000), "221M"}, {formatRanks(12288), "12Ki"},
		{formatBytes(65536), "64 KiB"}, {formatWall(0.0125), "12.5 ms"}, {formatWall(5400), "1.5 h"}, {thousands(1048576), "1\u202f048\u202f576"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

var customProperty = regexp.MustCompile(`--([a-z0-9]+): (#[0-9a-f]{6});`)

// In light and dark, text has a contrast of 4.5 to 1 and curves of 3 to 1, as WCAG 2
// requires.
func TestContrast(t *testing.T) {
	schemes := strings.Split(reportStyle, ":root {")[1:]
	checked := 0
	for _, scheme := range schemes {
		scheme, _, _ = strings.Cut(scheme, "}")
		color := map[string]float64{}
		for _, m := range customProperty.FindAllStringSubmatch(scheme, -1) {
			color[m[1]] = luminance(t, m[2])
		}
		if len(color) == 0 {
			continue
		}
		checked++
		for _, c := range []struct {
			text, on string
			least    float64
		}{{"ink", "paper", 7}, {"ink", "panel", 7}, {"soft", "paper", 4.5}, {"soft", "panel", 4.5}, {"ink", "warn", 4.5}} {
			if got := contrast(color[c.text], color[c.on]); got < c.least {
				t.Errorf("scheme %d: %s on %s has a contrast of %.2f, want %g", checked, c.text, c.on, got, c.least)
			}
		}
		for i := range colors {
			name := "c" + strconv.Itoa(i)
			if got := min(contrast(color[name], color["panel"]), contrast(color[name], color["paper"])); got < 3 {
				t.Errorf("scheme %d: curve %s has a contrast of %.2f, want 3", checked, name, got)
			}
			if got := contrast(color[name], color["on"]); got < 3 {
				t.Errorf("scheme %d: letters on %s have a contrast of %.2f, want 3", checked, name, got)
			}
		}
	}
	if checked != 3 {
		t.Errorf("%d schemes were found, want light, dark and print", checked)
	}
}

// luminance returns WCAG 2's relative luminance of an sRGB colour.
func luminance(t *testing.T, color string) float64 {
	n, err := strconv.ParseUint(color[1:], 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	linear := func(v uint64) float64 {
		c := float64(v&255) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(n>>16) + 0.7152*linear(n>>8) + 0.0722*linear(n)
}

func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }

// A curve of many points has a bounded number of marks, and a mark at its end.
func TestManyMarksAreThinned(t *testing.T) {
	for n := range 200 {
		marks := make([]mark, n)
		for i := range marks {
			marks[i].X = float64(i)
		}
		kept := thinned(marks)
		if n <= mostMarks && len(kept) != n || len(kept) > mostMarks || n > 0 && (len(kept) < min(n, mostMarks/2) || kept[len(kept)-1].X != float64(n-1)) {
			t.Errorf("%d of %d marks are kept: %v", len(kept), n, kept)
		}
	}
}

// The closed form is drawn through the points at which it holds, and interrupted where
// it does not.
func TestClosedFormIsInterrupted(t *testing.T) {
	var d data
	for i, formula := range []float64{1, 0, 1, 1, 0} {
		d.at = append(d.at, xy{x: float64(i + 1), y: 1, formula: formula})
	}
	c, _ := d.draw(span{1, 5}, span{0.5, 2}, plotRight)
	if got := regexp.MustCompile(`[0-9. ]+`).ReplaceAllString(c.Formula, ""); got != "MLMLL" {
		t.Errorf("the closed form is drawn by %s, want a dot and a line of two points", c.Formula)
	}
	if got := regexp.MustCompile(`[0-9. ]+`).ReplaceAllString(c.Path, ""); got != "MLLLL" {
		t.Errorf("the times are drawn by %s, want one line", c.Path)
	}
}

// Curves that coincide take turns along their common line, from its beginning to its end, and
// the marks of the one do not cover those of the other. Elsewhere lines are solid.
func TestCoincidingCurvesAreVisible(t *testing.T) {
	of := func(name string, style int, y ...float64) data {
		d := data{name: name, style: style}
		for i, v := range y {
			d.at = append(d.at, xy{x: float64(int(1) << i), y: v})
		}
		return d
	}
	c := newChart("", "", ranksAxis, timeAxis, []data{of("a", 0, 1, 2, 4, 5), of("b", 1, 1, 2, 4, 50), of("c", 2, 9, 8, 4, 20)})
	if !c.Shared {
		t.Error("nothing says that curves coincide")
	}
	for i, want := range [][]part{
		{{Dashes: "7 7"}, {Dashes: "7 7"}, {}},
		{{Dashes: "7 7", Offset: -7}, {Dashes: "7 7", Offset: -7}, {}},
		{{}},
	} {
		got := slices.Clone(c.Curves[i].Parts)
		for k := range got {
			got[k].Path = ""
		}
		if !slices.Equal(got, want) {
			t.Errorf("curve %d is drawn in %v, want %v", i, got, want)
		}
	}
	for k, want := range [][]float64{{1 + largestShared, 1}, {1 + largestShared, 1}, {1 + largestShared, 1 + largestShared/2, 1}} {
		for i, scale := range want {
			if got := c.Curves[i].Marks[k].Scale; math.Abs(got-scale) > 1e-9 {
				t.Errorf("mark %d of curve %d has %g times the size, want %g", k, i, got, scale)
			}
		}
	}
	if apart := newChart("", "", ranksAxis, timeAxis, []data{of("a", 0, 1, 2), of("b", 1, 3, 4)}); apart.Shared || apart.Curves[0].Marks[0].Scale != 0 {
		t.Error("curves that are apart count as coinciding")
	}
}

// Charts of the same quantities beside each other have the same axes.
func TestNeighboursHaveTheSameAxes(t *testing.T) {
	charts := aligned([]*chart{
		newChart("a", "", ranksAxis, timeAxis, []data{{at: []xy{{x: 1, y: 1e6}, {x: 16, y: 2e6}}}}),
		newChart("b", "", ranksAxis, timeAxis, []data{{at: []xy{{x: 8, y: 1e9}, {x: 1024, y: 2e9}}}}),
		newChart("c", "", ranksAxis, memoryAxis, []data{{at: []xy{{x: 1, y: 10}, {x: 16, y: 20}}}}),
	})
	if !slices.Equal(charts[0].XTicks, charts[1].XTicks) || !slices.Equal(charts[0].YTicks, charts[1].YTicks) {
		t.Errorf("times have the axes %v, %v and %v, %v", charts[0].XTicks, charts[0].YTicks, charts[1].XTicks, charts[1].YTicks)
	}
	if slices.Equal(charts[0].YTicks, charts[2].YTicks) {
		t.Error("memory has the axis of times")
	}
	if a, b := charts[0].Curves[0].Marks[0], charts[1].Curves[0].Marks[0]; a.X >= b.X || a.Y <= b.Y {
		t.Errorf("the smaller values are at %v, the larger at %v", a, b)
	}
}

// So have their bars, which are read at the axis on the right.
func TestNeighboursHaveTheSameAxesOfBars(t *testing.T) {
	with := func(length float64) *chart {
		line := []data{{at: []xy{{x: 1, y: 1e6}, {x: 16, y: 2e6}}}}
		return drawChart("", "", ranksAxis, wallAxis, line, eventsAxis, []data{{at: []xy{{x: 16, y: length}}}})
	}
	charts := aligned([]*chart{with(10), with(50)})
	if len(charts[0].RTicks) == 0 || !slices.Equal(charts[0].RTicks, charts[1].RTicks) {
		t.Errorf("bars have the axes %v and %v", charts[0].RTicks, charts[1].RTicks)
	}
	if a, b := charts[0].Bars[0].Bars[0], charts[1].Bars[0].Bars[0]; a.Height >= b.Height {
		t.Errorf("10 has a bar of %v, 50 one of %v", a.Height, b.Height)
	}
}

// Efficiency is the time with the fewest ranks over the time, and speed-up that times the
// growth of the ranks.
func TestSpeedUp(t *testing.T) {
	p := testPlan(t, Axes{Operation: "barrier", Ranks: "4,64", Algorithms: "linear"})
	var records []Record
	for i, time := range []int64{3e6, 12e6} {
		r := fakeRecord(p, p.Points[i])
		r.Time = vtime.Duration(time)
		records = append(records, r)
	}
	charts := p.speedUpCharts(p.samples(records))
	if len(charts) != 2 {
		t.Fatalf("%d charts, want 2", len(charts))
	}
	for i, want := range []string{"linear, 64 ranks over 4: speed-up 4", "linear, 64 ranks over 4: efficiency 25 %"} {
		if got := charts[i].Curves[0].Marks[1].Title; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for v, want := range map[float64]string{0.5: "0.5", 1: "1", 20: "20", 1e4: "10K"} {
		if got := speedUpAxis.text(v); got != want {
			t.Errorf("the axis has %q, want %q", got, want)
		}
	}
}

// No page holds control characters of names.
func TestPagesArePrintable(t *testing.T) {
	var page bytes.Buffer
	if err := writePage(&page, template.Must(template.New("").Parse("<p>{{.}}\n\t</p>")), "a\x1b[31mb<"); err != nil {
		t.Fatal(err)
	}
	if want := "<p>a\\x1b[31mb&lt;\n\t</p>"; page.String() != want {
		t.Errorf("%q, want %q", &page, want)
	}
}
