package study

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gigarank/collectives"
	"gigarank/collectives/library"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// A study of libraries simulates each point with the algorithm that the library's table has for it, and adds no library.
func TestLibrariesChooseAlgorithms(t *testing.T) {
	p := testPlan(t, Axes{Operation: "allreduce", Ranks: "4,64", Payload: "8,64Ki", Libraries: "openmpi-4.1,mpich-4", Machines: "xt5"})
	if want := []string{"openmpi-4.1", "mpich-4", "no library"}; !slices.Equal(p.Choices, want) || len(p.Points) != 3*4 {
		t.Fatalf("%d points of %v, want %v", len(p.Points), p.Choices, want)
	}
	for _, r := range runAll(t, p) {
		q := r.Point
		if r.Chosen == "" || q.Algorithm != "" {
			t.Errorf("%+v: chosen %q", q, r.Chosen)
		}
		if q.Library != "none" {
			table, err := library.Named(q.Library)
			if err != nil {
				t.Fatal(err)
			}
			want := table.Choose(collectives.Question{Operation: collectives.Allreduce, Ranks: int(q.Ranks), PerNode: min(12, int(q.Ranks)), Bytes: q.Payload, Commutative: true, ElementBytes: 8})
			if r.Chosen != want.String() {
				t.Errorf("%s of %d bytes on %d ranks: %s, the table has %v", q.Library, q.Payload, q.Ranks, r.Chosen, want)
			}
		}
		// The simulation is that of the algorithm that is named.
		named := testPlan(t, Axes{Operation: "allreduce", Ranks: fmt.Sprint(q.Ranks), Payload: fmt.Sprint(q.Payload), Algorithms: r.Chosen, Machines: "xt5"})
		if other := run(t, named, named.Points[0]); other.Time != r.Time || other.Result.Fingerprint != r.Result.Fingerprint || other.ClosedForm != r.ClosedForm {
			t.Errorf("%s: %v, and by %s %v", q.Choice(), r.Time, r.Chosen, other.Time)
		}
	}
}

// A table that has changed makes other points: their results are not taken for those of the table before.
func TestTablesHaveDigests(t *testing.T) {
	t.Chdir(t.TempDir())
	axes := Axes{Operation: "allreduce", Ranks: "16", Libraries: "mine.yaml", Machines: "xt5"}
	var points []Point
	for _, algorithm := range []string{"ring", "linear"} {
		writeFile(t, "mine.yaml", "name: mine\nbase: mpich-4\nallreduce: {rows: [{commutative: false, algorithm: linear}, {algorithm: "+algorithm+"}]}\n")
		p := testPlan(t, axes)
		var c mpivirt.Config
		p.Choose(p.Points[slices.IndexFunc(p.Points, func(q Point) bool { return q.Library == "mine" })], &c)
		if a := c.Library.Choose(collectives.Question{Operation: collectives.Allreduce, Ranks: 16, Commutative: true}); a.String() != algorithm {
			t.Errorf("%v, want %s", a, algorithm)
		}
		points = append(points, p.Points...)
	}
	seen := map[Point]int{}
	for _, q := range points {
		seen[q]++
	}
	if len(seen) != 3 {
		t.Errorf("%d points, want one for each table and one without: %v", len(seen), seen)
	}
}

// Algorithms are named with arguments; without names a study leaves out those that are seldom worth a look.
func TestAlgorithmsOfStudies(t *testing.T) {
	for _, c := range []struct {
		algorithms string
		has, lacks []string
	}{
		{"", []string{"node-leader", "dissemination"}, []string{"double-ring", "smp", "han"}},
		{"all", []string{"node-leader", "dissemination", "double-ring", "smp", "han"}, nil},
		{"dissemination:fanout=4,han", []string{"dissemination:fanout=4", "han"}, []string{"dissemination"}},
	} {
		p := testPlan(t, Axes{Operation: "barrier", Ranks: "8", Algorithms: c.algorithms})
		for _, name := range c.has {
			if !slices.Contains(p.Choices, name) {
				t.Errorf("--algorithms %q: no %s in %v", c.algorithms, name, p.Choices)
			}
		}
		for _, name := range c.lacks {
			if slices.Contains(p.Choices, name) {
				t.Errorf("--algorithms %q: %s in %v", c.algorithms, name, p.Choices)
			}
		}
	}
	for _, op := range collectives.Operations() {
		if all := collectives.Algorithms(op); !slices.ContainsFunc(all, func(a collectives.Algorithm) bool { return !slices.Contains(seldom, a) }) {
			t.Errorf("a study of %v shows no algorithm", op)
		}
	}
}

// Names that cannot be told apart, and tables that are wrong, are faults.
func TestFaultsOfLibraries(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "ring.yaml", "name: ring\nbase: mpich-4\n")
	writeFile(t, "wrong.yaml", "name: wrong\nbase: mpich-4\nallreduce: {rows: [{algorithm: rong}]}\n")
	for _, c := range []struct{ algorithms, libraries, want string }{
		{"ring", "ring.yaml", "--library: two libraries, or a library and an algorithm, are named ring"},
		{"", "mpich-5", `--library: library "mpich-5" is neither`},
		{"", "wrong.yaml", "--library: wrong.yaml:3"},
		{"ring:64KiB", "", `--algorithms: collectives: allreduce by ring is not cut into segments`},
	} {
		var got []string
		NewPlan(Axes{Operation: "allreduce", Ranks: "8", Algorithms: c.algorithms, Libraries: c.libraries}, os.ReadFile, func(flag string, err error) { got = append(got, flag+": "+err.Error()) })
		if len(got) != 1 || !strings.HasPrefix(got[0], c.want) {
			t.Errorf("%s, %s: %q, want %q", c.algorithms, c.libraries, got, c.want)
		}
	}
}

// takes gives the libraries times that cross: mpich-4 is faster from 1 KiB on, and on 64 ranks.
func takes(q Point) vtime.Duration {
	switch {
	case q.Library == "none":
		return 1
	case q.Library == "mpich-4" && (q.Payload >= 1024 || q.Ranks == 64), q.Library == "openmpi-4.1" && q.Payload < 1024 && q.Ranks < 64:
		return 10
	}
	return 20
}

// One library beside none has no rival: the report has no map of the fastest.
func TestOneLibraryHasNoMapOfTheFastest(t *testing.T) {
	p := testPlan(t, Axes{Operation: "allreduce", Ranks: "4,16,64", Payload: "8,1Ki", Libraries: "mpich-4"})
	var page bytes.Buffer
	if err := p.WriteReport(&page, recordsOf(p, takes), Origin{}); err != nil {
		t.Fatal(err)
	}
	if text := page.String(); strings.Contains(text, "Fastest library by ranks and payload") || !strings.Contains(text, "mpich-4") {
		t.Error("the report compares a library with none")
	}
}

// Crossovers are the changes of the faster library along both axes, and no library has no part in them.
func TestCrossovers(t *testing.T) {
	p := testPlan(t, Axes{Operation: "allreduce", Ranks: "4,16,64", Payload: "8,1Ki", Libraries: "openmpi-4.1,mpich-4"})
	records := recordsOf(p, takes)
	s := p.Summarize(records, "v1")
	var got []string
	for _, c := range s.Crossovers {
		got = append(got, fmt.Sprintf("%s %d/%d: %v up to %d, %v from %d", c.Along, c.Ranks, c.Payload, c.Fastest, c.Last, c.Then, c.First))
	}
	want := []string{
		"ranks 0/8: [openmpi-4.1] up to 16, [mpich-4] from 64",
		"payload_bytes 4/0: [openmpi-4.1] up to 8, [mpich-4] from 1024",
		"payload_bytes 16/0: [openmpi-4.1] up to 8, [mpich-4] from 1024",
	}
	if !slices.Equal(got, want) {
		t.Errorf("crossovers\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var text, page, document bytes.Buffer
	p.WriteText(&text, records)
	if err := p.WriteReport(&page, records, Origin{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"xt5, 8 B", "openmpi-4.1  16 ranks  mpich-4  64 ranks", "where the fastest library changes"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	for _, want := range []string{`<section id="crossovers">`, "<td>16 ranks</td><td>mpich-4</td><td>64 ranks</td>", "Fastest library by ranks and payload"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q in the report", want)
		}
	}
	var again Summary
	if err := s.Write(&document); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(document.Bytes(), &again); err != nil || !again.Complete || len(again.Times) != len(p.Points) || len(again.Crossovers) != len(want) {
		t.Errorf("the document has %d times, %d crossovers, complete %t: %v", len(again.Times), len(again.Crossovers), again.Complete, err)
	}
	// A part of the records makes no complete summary, and no crossover that nobody has seen.
	if part := p.Summarize(records[:1], "v1"); part.Complete || len(part.Crossovers) != 0 {
		t.Errorf("one record makes %+v", part)
	}
}
