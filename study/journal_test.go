package study

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/internal/result"
)

func testPlan(t testing.TB, axes Axes) *Plan {
	p := NewPlan(axes, os.ReadFile, func(flag string, err error) { t.Errorf("%s: %v", flag, err) })
	if t.Failed() {
		t.FailNow()
	}
	return p
}

func barrierPlan(t testing.TB) *Plan {
	return testPlan(t, Axes{Operation: "barrier", Ranks: "2^4..2^8", Algorithms: "node-leader,dissemination"})
}

// fakeRecord returns a possible record of a point.
func fakeRecord(p *Plan, point Point) Record {
	return p.NewRecord("v1", point, result.Document{
		Schema: 1, Complete: true, Ranks: point.Ranks, VirtualTime: point.Ranks * 1000, Wall: 0.5,
		Iterations: []result.Iteration{{Operation: "barrier", Min: 1, Mean: 2, Max: 3}},
	})
}

func openJournal(t testing.TB, dir string, resume bool) *Journal {
	j, err := OpenJournal(dir, resume)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func closeJournal(t testing.TB, j *Journal) {
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// The file may be cut anywhere, as by a power failure, and hold anything after the cut.
// The whole lines are taken over. Appending then gives the file that would exist
// without the cut.
func TestTornResultsAreRepaired(t *testing.T) {
	p := barrierPlan(t)
	whole := t.TempDir()
	j := openJournal(t, whole, false)
	for _, point := range p.Points {
		if err := j.Append(fakeRecord(p, point)); err != nil {
			t.Fatal(err)
		}
	}
	closeJournal(t, j)
	want, err := os.ReadFile(filepath.Join(whole, ResultsFile))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		cut := rapid.IntRange(0, len(want)).Draw(rt, "cut")
		rest := rapid.SampledFrom([]string{"", "\x00\x00\x00", "{\"schema\":1", "\x00}\n", "\x00\n\x00\n"}).Draw(rt, "rest")
		dir := t.TempDir()
		path := filepath.Join(dir, ResultsFile)
		if err := os.WriteFile(path, append(bytes.Clone(want[:cut]), rest...), 0o666); err != nil {
			rt.Fatal(err)
		}
		j := openJournal(t, dir, true)
		done, err := j.Finished(p, "v1", false)
		if err != nil {
			rt.Fatal(err)
		}
		if lines := bytes.Count(want[:cut], []byte("\n")); len(done) < lines || len(done) > lines+1 {
			rt.Fatalf("%d points are taken over from %d lines", len(done), lines)
		}
		for _, point := range p.Points {
			if !done[point] {
				if err := j.Append(fakeRecord(p, point)); err != nil {
					rt.Fatal(err)
				}
			}
		}
		closeJournal(t, j)
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			rt.Fatalf("%v: the file is\n%s\nwant\n%s", err, got, want)
		}
	})
}

// A whole line in which a character was changed is no record. It is named.
func TestChangedLinesAreRefused(t *testing.T) {
	p := barrierPlan(t)
	whole := t.TempDir()
	j := openJournal(t, whole, false)
	for _, point := range p.Points[:3] {
		if err := j.Append(fakeRecord(p, point)); err != nil {
			t.Fatal(err)
		}
	}
	closeJournal(t, j)
	text, err := os.ReadFile(filepath.Join(whole, ResultsFile))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		changed := bytes.Clone(text)
		at := rapid.IntRange(0, len(text)-1).Draw(rt, "at")
		by := rapid.ByteRange(' ', '~').Draw(rt, "by")
		if changed[at] == '\n' || changed[at] == by {
			return
		}
		changed[at] = by
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ResultsFile), changed, 0o666); err != nil {
			rt.Fatal(err)
		}
		number := 1 + bytes.Count(text[:at], []byte("\n"))
		j, err := OpenJournal(dir, true)
		if err == nil && (number < 3 || j.Dropped() == 0) { // the last line may pass for a torn one
			rt.Errorf("line %d is taken with %q for %q", number, by, text[at])
		}
		if err == nil {
			closeJournal(t, j)
		} else if want := fmt.Sprintf("%s:%d: ", ResultsFile, number); !strings.Contains(err.Error(), want) {
			rt.Errorf("%v, want %s", err, want)
		}
	})
}

// Results of versions without checksums are taken.
func TestLinesWithoutChecksums(t *testing.T) {
	p := barrierPlan(t)
	line, err := json.Marshal(fakeRecord(p, p.Points[0]))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ResultsFile), append(line, '\n'), 0o666); err != nil {
		t.Fatal(err)
	}
	j := openJournal(t, dir, true)
	defer closeJournal(t, j)
	if done, err := j.Finished(p, "v1", false); err != nil || !done[p.Points[0]] {
		t.Errorf("finished: %v, %v", done, err)
	}
}

// Whatever happens to the file of results under a study is found before the next result is
// written to it.
func TestDamageToResultsIsFound(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"was removed":           os.Remove,
		"was replaced":          func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o666)) },
		"has 3 bytes":           func(path string) error { return os.Truncate(path, 3) },
		"has 100000 by":         func(path string) error { return os.Truncate(path, 100_000) },
		"was removed while the": func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
	} {
		p := barrierPlan(t)
		dir := filepath.Join(t.TempDir(), "study")
		j := openJournal(t, dir, false)
		if err := errors.Join(j.Append(fakeRecord(p, p.Points[0])), j.Check()); err != nil {
			t.Fatal(err)
		}
		if err := damage(filepath.Join(dir, ResultsFile)); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{j.Check(), j.Append(fakeRecord(p, p.Points[1]))} {
			var damaged *DamagedError
			if !errors.As(err, &damaged) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
		}
		closeJournal(t, j)
	}
}

// A process that ends without a word leaves the mark of the point under way. After the second
// time the point is to be left out. A point that is finished, or whose study ended in order,
// has no mark.
func TestKillsAreCounted(t *testing.T) {
	p := barrierPlan(t)
	dir := t.TempDir()
	killer := p.Points[2]
	for kills, leaveOut := range []bool{false, false, true} {
		j := openJournal(t, dir, kills > 0)
		for _, point := range p.Points {
			want, wantLeft := 0, false
			if point == killer {
				want, wantLeft = kills, leaveOut
			}
			if got, left := j.Kills(point); got != want || left != wantLeft {
				t.Errorf("%d kills, left out %t, want %d, %t", got, left, want, wantLeft)
			}
		}
		if err := errors.Join(j.Begin(p.Points[1]), j.End(true), j.Begin(p.Points[3]), j.End(false), j.Begin(killer)); err != nil {
			t.Fatal(err)
		}
		closeJournal(t, j)
	}
	j := openJournal(t, dir, true)
	defer closeJournal(t, j)
	if err := errors.Join(j.Begin(killer), j.End(true)); err != nil {
		t.Fatal(err)
	}
	if kills, _ := j.Kills(killer); kills != 0 {
		t.Errorf("%d kills of a point that is finished", kills)
	}
	if _, err := os.Stat(filepath.Join(dir, KilledFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left: %v", KilledFile, err)
	}
}

// A line in the middle of the file that is no record is no torn end. It is named, and
// the file stays as it is.
func TestDamageInTheMiddleIsRefused(t *testing.T) {
	p := barrierPlan(t)
	dir := t.TempDir()
	j := openJournal(t, dir, false)
	for _, point := range p.Points[:3] {
		if err := j.Append(fakeRecord(p, point)); err != nil {
			t.Fatal(err)
		}
	}
	closeJournal(t, j)
	path := filepath.Join(dir, ResultsFile)
	text, _ := os.ReadFile(path)
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines[1] = []byte("{broken}\n")
	damaged := bytes.Join(lines, nil)
	if err := os.WriteFile(path, damaged, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenJournal(dir, true); err == nil || !strings.Contains(err.Error(), ResultsFile+":2: ") {
		t.Errorf("%v, want the second line to be named", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(after, damaged) {
		t.Error("the file has been changed")
	}
}

// A file that is not a study's is named, with its fault, and stays as it is.
func TestForeignFilesAreRefused(t *testing.T) {
	p := barrierPlan(t)
	line, err := json.Marshal(fakeRecord(p, p.Points[0]))
	if err != nil {
		t.Fatal(err)
	}
	ours := string(line) + "\n"
	next := strings.Replace(ours, `"schema":1`, `"schema":2`, 1)
	for _, c := range []struct{ text, want string }{
		{"{\"name\":\"x\"}\n", ":1: no record of a study"},
		{"{\"name\":\"x\"}", ":1: no record of a study"},
		{"{\"schema\":1}\n{\"schema\":1}\n", ":1: no record of a study"},
		{"null\n", ":1: no record of a study"},
		{"{\n  \"name\": \"x\"\n}\n", ":1: no record of a study"},
		{"dear diary\n", ":1: no record of a study"},
		{"dear diary", ":1: no record of a study"},
		{"\ndear diary", ":1: no record of a study"},
		{"time,ranks\n1,2\n", ":1: no record of a study"},
		{ours + "{\"name\":\"x\"}\n", ":2: no record of a study"},
		{ours + "{\"schema\":1,\n\"name\":\"x\"}\n", ":2: no record of a study"},
		{ours + "dear diary\nmore\n", ":2: no record of a study"},
		{ours + "\n" + ours, ":2: no record of a study"},
		{ours + "\x00\n" + ours, ":2: no record of a study"},
		{ours + next, ":2: a record of schema 2"},
		{strings.Replace(next, `"time_ps":`, `"time_ps":"late","x":`, 1), ":1: a record of schema 2"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, ResultsFile)
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		j, err := OpenJournal(dir, true)
		if err == nil {
			closeJournal(t, j)
		}
		if err == nil || !strings.Contains(err.Error(), ResultsFile+c.want) || !strings.Contains(err.Error(), "name another directory") {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
		if after, _ := os.ReadFile(path); string(after) != c.text {
			t.Errorf("%q has become %q", c.text, after)
		}
	}
}

func TestResultsAreNotOverwritten(t *testing.T) {
	p := barrierPlan(t)
	dir := t.TempDir()
	j := openJournal(t, dir, false)
	if _, err := OpenJournal(dir, true); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second writer: %v", err)
	}
	if err := j.Append(fakeRecord(p, p.Points[0])); err != nil {
		t.Fatal(err)
	}
	closeJournal(t, j)
	if _, err := OpenJournal(dir, false); err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("a directory with results: %v", err)
	}
}

// Lines of other points stay and do not count, failed points are done again, and
// the last line of a point counts.
func TestWhatIsTakenOver(t *testing.T) {
	p := barrierPlan(t)
	other := testPlan(t, Axes{Operation: "barrier", Ranks: "3", Seed: "9"})
	dir := t.TempDir()
	j := openJournal(t, dir, false)
	defer closeJournal(t, j)
	failed := fakeRecord(p, p.Points[1])
	failed.Error = "deadlock"
	again := fakeRecord(p, p.Points[0])
	again.Time++
	for _, r := range []Record{fakeRecord(p, p.Points[0]), fakeRecord(other, other.Points[0]), failed, again} {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	records, others := j.Outcome(p)
	if len(records) != 2 || records[0].Time != again.Time || records[1].Error == "" || others != 1 {
		t.Errorf("%d others and %+v", others, records)
	}
	done, err := j.Finished(p, "v1", false)
	if err != nil || len(done) != 1 || !done[p.Points[0]] {
		t.Errorf("finished: %v, %v", done, err)
	}
	if _, err := j.Finished(p, "v2", false); err == nil || !strings.Contains(err.Error(), "1 point by gigarank v1, and this is v2") {
		t.Errorf("results of another version: %v", err)
	}
	if done, err := j.Finished(p, "v2", true); err != nil || len(done) != 1 {
		t.Errorf("mixed versions: %v, %v", done, err)
	}
}

// A study that ends without any result leaves no file of results, nor a directory that it has made for
// them. What else is there stays, also a file that has come in place of its own.
func TestNoResultsLeaveNothing(t *testing.T) {
	open := func(dir string) *Journal {
		t.Helper()
		j, err := OpenJournal(dir, false)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	names := func(dir string) (names []string) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	above := t.TempDir()
	made := filepath.Join(above, "made")
	if err := open(made).Close(); err != nil || len(names(above)) != 0 {
		t.Errorf("a directory that was made: %v, %v left", err, names(above))
	}
	there := t.TempDir()
	if err := open(there).Close(); err != nil || len(names(there)) != 0 {
		t.Errorf("a directory that was there: %v, %v left", err, names(there))
	}
	if _, err := os.Stat(there); err != nil {
		t.Error(err)
	}
	j := open(made)
	if err := os.WriteFile(filepath.Join(made, "note"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil || !slices.Equal(names(made), []string{"note"}) {
		t.Errorf("with another file: %v, %v left", err, names(made))
	}
	j = open(there)
	path := filepath.Join(there, ResultsFile)
	if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte("others'\n"), 0o666)); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil || len(names(there)) != 1 {
		t.Errorf("with another's file of results: %v, %v left", err, names(there))
	}
}
