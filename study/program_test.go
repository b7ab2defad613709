package study

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"gigarank/bench"
	"gigarank/internal/result"
	"gigarank/vtime"
)

// inFile returns a program in a file that takes arguments.
func inFile(cpu string, arguments ...string) *Program {
	return &Program{Name: "./p", Digest: "d", Arguments: arguments, CPU: cpu, Open: func([]string) (bench.Entry, error) {
		e, err := bench.Lookup("stencil")
		e.Defaults = bench.Options{}
		return e, err
	}}
}

func planOf(t *testing.T, axes Axes) *Plan {
	t.Helper()
	return NewPlan(axes, os.ReadFile, func(flag string, err error) { t.Errorf("%s: %v", flag, err) })
}

// Each point has the arguments of its values, and the name of its recording.
func TestPointsOfPrograms(t *testing.T) {
	p := planOf(t, Axes{Program: inFile("replayed cpu-{ranks}-{n}", "-n", "{n}", "{m}x{ranks}", "a b"), Values: []string{"n=1,2", "m=3"}, Ranks: "4,8", Machines: "xt5,frontier"})
	var got []string
	for _, q := range p.Points {
		if q.Operation != "" || q.Program != "./p" || q.ProgramDigest != "d" || q.Choice() != "default" {
			t.Errorf("%+v", q)
		}
		if q.Machine == "xt5" {
			got = append(got, q.Varied+": "+q.Arguments+", "+q.CPU)
		}
		if want := q.Arguments; len(p.Arguments(q)) != 4 || !strings.Contains(want, p.Arguments(q)[2]) {
			t.Errorf("%v for %s", p.Arguments(q), want)
		}
	}
	slices.Sort(got)
	want := []string{
		"n=1, m=3: -n 1 3x4 'a b', replayed cpu-4-1", "n=1, m=3: -n 1 3x8 'a b', replayed cpu-8-1",
		"n=2, m=3: -n 2 3x4 'a b', replayed cpu-4-2", "n=2, m=3: -n 2 3x8 'a b', replayed cpu-8-2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if len(p.Points) != 8 {
		t.Errorf("%d points", len(p.Points))
	}
}

// All faults of the axes of a program are reported at once.
func TestFaultsOfPrograms(t *testing.T) {
	for _, c := range []struct {
		axes Axes
		want []string
	}{
		{Axes{Program: inFile("", "{n}"), Values: []string{"n", "m=1", "ranks=2", "n=1", "n=2"}}, []string{
			`--arg: "n" is not NAME=VALUE`, "--arg: no ARGUMENT of the program has {m}", "--arg: ranks has values already", "--arg: n has values already"}},
		{Axes{Program: inFile("replayed f-{k}", "{n}")}, []string{`--arg: "{n}" has {n}, which has no values`, `--arg: "replayed f-{k}" has {k}`}},
		{Axes{Program: inFile(""), Iterations: "3", Compute: "1ms", Payload: "8", Algorithms: "ring", Scaling: "strange"}, []string{
			"--algorithms: ", "--iterations: ./p takes arguments of its own", "--compute: ", "--payload: ", `--scaling: unknown scaling "strange"`}},
		{Axes{Operation: "barrier", Values: []string{"n=1"}}, []string{"--arg: a study of an operation has no arguments"}},
	} {
		c.axes.Ranks = "8"
		var got []string
		NewPlan(c.axes, os.ReadFile, func(flag string, err error) { got = append(got, flag+": "+err.Error()) })
		if len(got) != len(c.want) {
			t.Errorf("%q, want %q", got, c.want)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(got[i], want) {
				t.Errorf("%q, want %q", got[i], want)
			}
		}
	}
}

// lasting returns the records of points that take some virtual time each.
func lasting(p *Plan, of func(Point) vtime.Duration) []Record {
	var records []Record
	for _, q := range p.Points {
		records = append(records, p.NewRecord("v", q, result.Document{Complete: true, VirtualTime: int64(of(q))}))
	}
	return records
}

// Strong scaling compares the time of the same work, weak scaling that of work that grows with the ranks
// (Amdahl 1967, Gustafson 1988).
func TestScalingOfPrograms(t *testing.T) {
	for _, c := range []struct {
		scaling, row string
	}{{StrongScaling, "5, 62.5 %"}, {WeakScaling, "40, 500 %"}, {"", "5, 62.5 %"}} {
		p := planOf(t, Axes{Program: inFile(""), Ranks: "2,16", Scaling: c.scaling})
		records := lasting(p, func(q Point) vtime.Duration {
			return map[int64]vtime.Duration{2: 10 * vtime.Second, 16: 2 * vtime.Second}[q.Ranks]
		})
		var text, page bytes.Buffer
		p.WriteText(&text, records)
		if err := p.WriteReport(&page, records, Origin{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), "./p on xt5") || !strings.Contains(strings.Join(strings.Fields(text.String()), " "), "16 "+c.row) {
			t.Errorf("%s: %s", c.scaling, text.String())
		}
		for _, want := range []string{"./p: how it scales", "virtual time of the whole run", "Speed-up and efficiency"} {
			if !strings.Contains(page.String(), want) {
				t.Errorf("%s: the page lacks %q", c.scaling, want)
			}
		}
		if strings.Contains(page.String(), "closed form") {
			t.Errorf("%s: a closed form of a program", c.scaling)
		}
	}
}

// The page shows the phases that a program marks: the mean over iterations of the longest time of a rank.
func TestPhasesOfPrograms(t *testing.T) {
	p := planOf(t, Axes{Program: inFile(""), Ranks: "2,16"})
	var records []Record
	for _, q := range p.Points {
		at := int64(q.Ranks) * 1e9
		records = append(records, p.NewRecord("v", q, result.Document{Complete: true, VirtualTime: 1e12, Iterations: []result.Iteration{
			{Index: 0, Operation: "step", Max: 1 * at}, {Index: 1, Operation: "step", Max: 4 * at}, {Index: 0, Operation: "write", Max: 7e9},
		}}))
	}
	var page bytes.Buffer
	if err := p.WriteReport(&page, records, Origin{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<h2>Phases</h2>", "step, 2 ranks: 5 ms", "step, 16 ranks: 40 ms", "write, 16 ranks: 7 ms"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// A program's time is the whole run's, also where its time without computing would be known.
func TestTimeOfProgramsIsTheRuns(t *testing.T) {
	program := &Program{Name: "stencil", Open: func([]string) (bench.Entry, error) { return bench.Lookup("stencil") }}
	p := planOf(t, Axes{Program: program, Ranks: "16", Payload: "8,4Ki", Libraries: "openmpi-4.1"})
	for _, r := range runAll(t, p) {
		if int64(r.Time) != r.Result.VirtualTime || r.Time == 0 || r.ClosedForm != 0 {
			t.Errorf("%+v: %v of %v", r.Point, r.Time, r.Result.VirtualTime)
		}
	}
	if !slices.Equal(p.Choices, []string{"openmpi-4.1", "no library"}) || len(p.Points) != 4 {
		t.Errorf("%v, %d points", p.Choices, len(p.Points))
	}
}
