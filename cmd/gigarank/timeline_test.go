package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/mpivirt/timeline"
)

// drawnRun is a run whose picture is written: twelve ranks, of which eight are shown.
const drawnRun = "stencil --ranks 12 --iterations 2 --compute 20us --ranks-shown 0-3,6-9 --critical-path"

// drawn writes the picture of drawnRun with an ending, and returns the name of the first file and the document of the run.
func drawn(t *testing.T, ending, more string) (name string, d document) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "picture"+ending)
	return name, runDocument(t, drawnRun+" --timeline "+name+" "+more)
}

// shownTimes returns the sums of the times by cause of the ranks of drawnRun that are shown, in picoseconds.
func shownTimes(d *document) map[string]int64 {
	times := map[string]int64{}
	for _, task := range d.Statistics.Tasks {
		if task.Rank < 4 || task.Rank >= 6 && task.Rank < 10 {
			for cause, sum := range task.Causes {
				times[cause] += sum.Int64()
			}
		}
	}
	return times
}

// readPicoseconds reads a decimal number of units, of which each has so many digits behind the point.
func readPicoseconds(t *testing.T, text string, digits int) int64 {
	t.Helper()
	r, is := new(big.Rat).SetString(text)
	if !is {
		t.Fatalf("%q is no number", text)
	}
	r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)))
	if !r.IsInt() {
		t.Fatalf("%s has parts of a picosecond", text)
	}
	return r.Num().Int64()
}

func equalTimes(t *testing.T, got, want map[string]int64) {
	t.Helper()
	for cause, d := range want {
		if got[cause] != d {
			t.Errorf("the picture has %d ps of %s, the statistics %d", got[cause], cause, d)
		}
	}
}

// Perfetto's file is JSON in which the causes of a call lie within it and take its time, flows begin and end within slices of their
// ranks, the times of causes are those of --stats, and the critical path takes as long as the run.
func TestTimelineForPerfetto(t *testing.T) {
	name, d := drawn(t, ".json", "")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	type event struct {
		Ph, Name, Cat string
		Pid, Tid, ID  int
		TS, Dur       json.Number
	}
	var file struct{ TraceEvents []event }
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	type span struct{ from, to int64 }
	calls, flows, times := map[int][]span{}, map[int][]int64{}, map[string]int64{}
	path, rest := int64(0), map[int]int64{} // rest: time of the latest call that no cause has taken yet
	for _, e := range file.TraceEvents {
		if e.Ph == "M" {
			continue
		}
		at := readPicoseconds(t, e.TS.String(), 6)
		length := int64(0)
		if e.Ph == "X" {
			length = readPicoseconds(t, e.Dur.String(), 6)
		}
		all := calls[e.Tid]
		switch {
		case e.Cat == "path":
			path += length
		case e.Cat == "cause":
			last := all[len(all)-1]
			if at < last.from || at+length > last.to {
				t.Errorf("rank %d: %s from %d for %d ps is not within its call, from %d to %d", e.Tid, e.Name, at, length, last.from, last.to)
			}
			times[e.Name] += length
			rest[e.Tid] -= length
		case e.Ph == "X":
			if rest[e.Tid] != 0 {
				t.Errorf("rank %d: the causes of the call before %d take %d ps less than it", e.Tid, at, rest[e.Tid])
			}
			if len(all) > 0 && at < all[len(all)-1].to {
				t.Errorf("rank %d: slices overlap at %d", e.Tid, at)
			}
			if calls[e.Tid] = append(all, span{at, at + length}); e.Cat == "computing" {
				times["computing"] += length
			} else {
				rest[e.Tid] = length
			}
		case e.Ph == "s" || e.Ph == "f":
			if !slices.ContainsFunc(all, func(s span) bool { return s.from <= at && at <= s.to }) {
				t.Errorf("rank %d: a message begins or ends at %d, outside all slices", e.Tid, at)
			}
			flows[e.ID] = append(flows[e.ID], at)
		}
	}
	equalTimes(t, times, shownTimes(&d))
	for id, ends := range flows {
		if len(ends) != 2 || ends[0] >= ends[1] {
			t.Errorf("message %d is at %v", id, ends)
		}
	}
	// In a torus of 3 x 4 ranks with 2 iterations: messages between ranks that are shown.
	if len(flows) == 0 || path != d.VirtualTime || len(calls) != 8 {
		t.Errorf("%d messages, a critical path of %d ps for a run of %d, %d ranks", len(flows), path, d.VirtualTime, len(calls))
	}
}

// Paje's tools accept the file, and find the time of each cause and all links in it.
func TestTimelineForPaje(t *testing.T) {
	name, d := drawn(t, ".paje", "")
	dump, err := exec.LookPath("pj_dump")
	if err != nil {
		t.Skip("pj_dump is not there: Debian's package pajeng has it, and scripts/test installs it")
	}
	out, err := exec.Command(dump, "--float-precision=12", name).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	times, links := map[string]int64{}, 0
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), ", ")
		switch {
		case f[0] == "State" && f[2] == "Cause":
			times[f[7]] += readPicoseconds(t, f[5], 12)
		case f[0] == "Link":
			links++
		}
	}
	equalTimes(t, times, shownTimes(&d))
	if links == 0 {
		t.Errorf("no links in\n%s", out)
	}
}

// Paraver's records are in the order of time, name tasks that the header has and states that the .pcf file has, and the lengths of states
// are those of --stats but for parts of nanoseconds.
func TestTimelineForParaver(t *testing.T) {
	name, d := drawn(t, ".prv", "")
	base := strings.TrimSuffix(name, ".prv")
	text, err := os.ReadFile(name)
	colours, err2 := os.ReadFile(base + ".pcf")
	rows, err3 := os.ReadFile(base + ".row")
	if err != nil || err2 != nil || err3 != nil {
		t.Fatal(err, err2, err3)
	}
	names := map[string]string{}
	_, states, _ := strings.Cut(string(colours), "STATES\n")
	states, _, _ = strings.Cut(states, "STATES_COLOR")
	for line := range strings.Lines(states) {
		if number, name, is := strings.Cut(strings.TrimSpace(line), "    "); is {
			names[number] = name
		}
	}
	if !strings.Contains(string(rows), "LEVEL THREAD SIZE 8\nrank 0\n") {
		t.Errorf("rows\n%s", rows)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if !regexp.MustCompile(`^#Paraver \(.*\):\d+_ns:1\(8\):1:8\(1:1(,1:1){7}\)$`).MatchString(lines[0]) {
		t.Errorf("header %s", lines[0])
	}
	times, counts, last := map[string]int64{}, map[string]int{}, int64(0)
	for _, line := range lines[1:] {
		var f []int64
		for word := range strings.SplitSeq(line, ":") {
			n, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			f = append(f, n)
		}
		if wants := map[int64]int{1: 8, 2: 8, 3: 15}[f[0]]; len(f) != wants || f[5] < last || f[3] < 1 || f[3] > 8 {
			t.Fatalf("%s after %d: %d fields", line, last, len(f))
		}
		last = f[5]
		if f[0] == 1 {
			times[names[fmt.Sprint(f[7])]] += f[6] - f[5]
			counts[names[fmt.Sprint(f[7])]]++
		}
	}
	for cause, ps := range shownTimes(&d) {
		if off := times[cause] - ps/1000; off > int64(counts[cause]) || off < -int64(counts[cause]) {
			t.Errorf("%s takes %d ns in the picture, %d in the statistics", cause, times[cause], ps/1000)
		}
	}
}

// The page has all that it shows, loads nothing, and has the times of --stats.
func TestTimelineAsPage(t *testing.T) {
	name, d := drawn(t, ".html", "")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if load := regexp.MustCompile(`(?i)(src|href)=|https?:|@import|url\(`).Find(text); load != nil {
		t.Errorf("the page loads something: %s", load)
	}
	_, data, _ := strings.Cut(string(text), `type="application/json">`)
	data, _, _ = strings.Cut(data, "</script>")
	var page struct {
		Ranks    []int
		Causes   map[string]struct{ Name string }
		Slices   [][][]int64
		Messages [][]int64
		Path     [][]any
	}
	if err := json.Unmarshal([]byte(data), &page); err != nil {
		t.Fatal(err)
	}
	times := map[string]int64{}
	for _, rank := range page.Slices {
		for _, s := range rank {
			for i := 4; i < len(s); i += 2 {
				times[page.Causes[fmt.Sprint(s[i])].Name] += s[i+1]
			}
		}
	}
	equalTimes(t, times, shownTimes(&d))
	if len(page.Ranks) != 8 || len(page.Slices) != 8 || len(page.Messages) == 0 || len(page.Path) == 0 {
		t.Errorf("%d ranks, %d rows, %d messages, %d segments of the path", len(page.Ranks), len(page.Slices), len(page.Messages), len(page.Path))
	}
}

// Files are the same on any number of engines, and drawing leaves the fingerprint alone.
func TestTimelineOnEngines(t *testing.T) {
	plain := runDocument(t, "stencil --ranks 12 --iterations 2 --compute 20us")
	for _, f := range timeline.Formats {
		one, d := drawn(t, f.Ending, "--engines 1")
		three, _ := drawn(t, f.Ending, "--engines 3 --sync null --lp event")
		if d.Fingerprint != plain.Fingerprint {
			t.Errorf("%s: the fingerprint is %s, without %s", f.Ending, d.Fingerprint, plain.Fingerprint)
		}
		samePicture(t, filepath.Dir(one), filepath.Dir(three))
	}
}

// samePicture fails the test unless the files of two pictures, each in a folder of its own, are the same.
func samePicture(t *testing.T, one, other string) {
	t.Helper()
	files := func(dir string) map[string]string {
		all := map[string]string{}
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			all[strings.TrimPrefix(path, dir)] = string(text)
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return all
	}
	a, b := files(one), files(other)
	if len(a) == 0 || len(a) != len(b) {
		t.Errorf("%d and %d files", len(a), len(b))
	}
	for name, text := range a {
		if b[name] != text {
			t.Errorf("%s has %d bytes in one picture and %d in the other, or others", name, len(text), len(b[name]))
		}
	}
}

// What a picture cannot show is refused before the run, or at its end, with the remedy.
func TestTimelineRefusals(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ arguments, want string }{
		{"--timeline " + dir + "/p.xyz", "the ending says no format: use .json"},
		{"--timeline " + dir + "/p.svg", "the ending says no format"},
		{"--timeline timeline_test.go.otf2", "timeline_test.go is a file, and the picture has a folder of that name"},
		{"--timeline " + dir + "/p.json --ranks-shown 0-99", "rank 99, and the run has 12"},
		{"--timeline " + dir + "/p.json --ranks-shown 5,2", "does not follow"},
		{"--timeline " + dir + "/p.json --window 2us..1us", "is empty"},
		{"--timeline " + dir + "/p.json --window 2us", "is no window"},
		{"--window 1us..2us", "give --timeline FILE, too"},
		{"--timeline " + dir + "/p.json --trace " + dir + "/t.grt", "draw the replay of its trace"},
		{"--timeline " + dir + "/p.html --iterations 3000 --ranks-shown 0", "a page shows at most 10000: give a shorter --window"},
	} {
		console, _, stderr := terminaltest.Console(nil)
		code := execute(strings.Fields("run stencil --ranks 12 --progress none "+c.arguments), console)
		if code != terminal.ExitUsage || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%s: exit code %d, want %q in\n%s", c.arguments, code, c.want, stderr)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v %v", left, err)
	}
}
