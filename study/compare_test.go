package study

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// timedRecords returns possible records of a study, with times multiplied by a factor.
func timedRecords(t *testing.T, axes Axes, factor int64) []Record {
	p := testPlan(t, axes)
	var all []Record
	for _, point := range p.Points {
		r := fakeRecord(p, point)
		r.Result.VirtualTime *= factor
		all = append(all, p.NewRecord("v1", point, r.Result))
	}
	return all
}

// Equal points are compared. Without any, points that differ in their machines are.
func TestCompare(t *testing.T) {
	some := Axes{Operation: "barrier", Ranks: "8,16", Algorithms: "linear,binomial"}
	more, elsewhere, other := some, some, some
	more.Ranks = "16,32"
	elsewhere.Machines = "tianhe-1a"
	other.Operation, other.Algorithms = "bcast", "ring"
	a := timedRecords(t, some, 1)
	for _, c := range []struct {
		why                           string
		b                             []Record
		pairs, onlyA, onlyB, differed int
		across                        bool
		says                          string
	}{
		{"itself", a, 4, 0, 0, 0, false, "4 points in common, 0 only in A, 0 only in B. All virtual times are equal."},
		{"the same, twice as slow", timedRecords(t, some, 2), 4, 0, 0, 4, false, "4 differ in their virtual time: that of B is from 2 times that of A"},
		{"others, too", timedRecords(t, more, 1), 2, 2, 2, 0, false, "2 points in common, 2 only in A, 2 only in B."},
		{"another machine", timedRecords(t, elsewhere, 3), 4, 0, 0, 4, true, "The machines differ."},
		{"another operation", timedRecords(t, other, 1), 0, 4, 2, 0, false, "no point in common"},
	} {
		got := Compare(a, c.b)
		if len(got.Pairs) != c.pairs || got.OnlyA != c.onlyA || got.OnlyB != c.onlyB || len(got.Differing()) != c.differed || got.AcrossMachines != c.across {
			t.Errorf("%s: %d pairs, %d and %d alone, %d differ, across machines %t", c.why, len(got.Pairs), got.OnlyA, got.OnlyB, len(got.Differing()), got.AcrossMachines)
		}
		var text strings.Builder
		got.WriteText(&text, "a", "b")
		if !strings.Contains(text.String(), c.says) {
			t.Errorf("%s: no %q in\n%s", c.why, c.says, text.String())
		}
	}
}

// A study runs in the order of growing cost. Its comparison lists each algorithm's points together,
// with fewer ranks and smaller payloads first.
func TestComparisonIsInOrder(t *testing.T) {
	a := timedRecords(t, Axes{Operation: "allreduce", Ranks: "8,64", Payload: "8,1Ki", Algorithms: "ring,binomial"}, 1)
	slices.SortStableFunc(a, func(a, b Record) int { return int(a.Point.Ranks - b.Point.Ranks) })
	var got []string
	for _, p := range Compare(a, a).Pairs {
		got = append(got, fmt.Sprint(p.A.Point.Algorithm, " ", p.A.Point.Payload, " ", p.A.Point.Ranks))
	}
	want := []string{"binomial 8 8", "binomial 8 64", "binomial 1024 8", "binomial 1024 64", "ring 8 8", "ring 8 64", "ring 1024 8", "ring 1024 64"}
	if !slices.Equal(got, want) {
		t.Errorf("pairs are %q, want %q", got, want)
	}
}

// Results are read while their study goes on. A line that is being written is left out, and
// the file stays as it is.
func TestReadResults(t *testing.T) {
	dir := t.TempDir()
	j := openJournal(t, dir, false)
	defer closeJournal(t, j)
	p := barrierPlan(t)
	failed := fakeRecord(p, p.Points[1])
	failed.Error = "deadlock"
	for _, r := range []Record{fakeRecord(p, p.Points[0]), fakeRecord(p, p.Points[0]), failed} {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, ResultsFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := string(text) + `{"schema":1,"ver`
	if err := os.WriteFile(path, []byte(torn), 0o666); err != nil {
		t.Fatal(err)
	}
	records, err := ReadResults(dir)
	if err != nil || len(records) != 1 || records[0].Point != p.Points[0] {
		t.Errorf("%d records, %v, want that of the first point", len(records), err)
	}
	if after, _ := os.ReadFile(path); string(after) != torn {
		t.Error("the file was changed")
	}
	if _, err := ReadResults(t.TempDir()); err == nil || !strings.Contains(err.Error(), "name the directory of a study") {
		t.Errorf("a directory without results: %v", err)
	}
}
