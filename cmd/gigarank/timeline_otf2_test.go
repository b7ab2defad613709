package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
)

// otf2Event is an event as otf2-print prints it.
type otf2Event struct {
	kind     string
	rank     int
	at       int64
	text     string
	measures map[string]int64 // its attributes
}

// printOTF2 returns what Debian's otf2-print says of an archive, and skips the test where the distribution has no such program.
func printOTF2(t *testing.T, arguments ...string) string {
	t.Helper()
	program, err := exec.LookPath("otf2-print")
	if err != nil {
		t.Skip("otf2-print is not there: Debian's package otf2-tools has it, and scripts/test installs it where the distribution has one")
	}
	out, err := exec.Command(program, arguments...).CombinedOutput()
	if err != nil || regexp.MustCompile(`(?i)warning|error|invalid`).Match(out) {
		t.Fatalf("otf2-print %s: %v\n%.3000s", strings.Join(arguments, " "), err, out)
	}
	return string(out)
}

var (
	otf2Line    = regexp.MustCompile(`^([A-Z_]+) +(\d+) +(\d+)  (.*)$`)
	otf2Measure = regexp.MustCompile(`\("([^"]*)" <\d+>; UINT64; (\d+)\)`)
)

// readOTF2 returns the events of an archive, of each rank in the order of time.
func readOTF2(t *testing.T, name string) (events []otf2Event) {
	t.Helper()
	for line := range strings.Lines(printOTF2(t, name)) {
		if m := otf2Line.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			rank, _ := strconv.Atoi(m[2])
			at, _ := strconv.ParseInt(m[3], 10, 64)
			events = append(events, otf2Event{kind: m[1], rank: rank, at: at, text: m[4], measures: map[string]int64{}})
		}
		for _, m := range otf2Measure.FindAllStringSubmatch(line, -1) {
			d, _ := strconv.ParseInt(m[2], 10, 64)
			events[len(events)-1].measures[m[1]] += d
		}
	}
	return events
}

// perfettoSpans returns the slices and the ends of messages of a picture for Perfetto, as text, sorted.
func perfettoSpans(t *testing.T, name string) (spans []string, ends [2][]string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		TraceEvents []struct {
			Ph, Name, Cat string
			Pid, Tid      int
			TS, Dur       json.Number
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, e := range file.TraceEvents {
		switch {
		case e.Ph == "X" && e.Pid == 0 && e.Cat != "cause":
			at := readPicoseconds(t, e.TS.String(), 6)
			spans = append(spans, fmt.Sprintf("rank %d: %s %d to %d", e.Tid, e.Name, at, at+readPicoseconds(t, e.Dur.String(), 6)))
		case e.Ph == "s":
			ends[0] = append(ends[0], fmt.Sprintf("rank %d at %d", e.Tid, readPicoseconds(t, e.TS.String(), 6)))
		case e.Ph == "f":
			ends[1] = append(ends[1], fmt.Sprintf("rank %d at %d", e.Tid, readPicoseconds(t, e.TS.String(), 6)))
		}
	}
	slices.Sort(spans)
	slices.Sort(ends[0])
	slices.Sort(ends[1])
	return spans, ends
}

// heldOTF2 holds the events of an archive to the rules of OTF2: regions nest, requests begin before they end, and once. It returns the
// regions and the ends of messages as perfettoSpans does.
func heldOTF2(t *testing.T, events []otf2Event) (spans []string, ends [2][]string) {
	t.Helper()
	region, request := regexp.MustCompile(`^Region: "([^"]*)"`), regexp.MustCompile(`Request: (\d+)`)
	type open struct {
		name       string
		at         int64
		collective bool
	}
	in, last, requests := map[int]*open{}, map[int]int64{}, map[string]int{}
	for _, e := range events {
		if e.at < last[e.rank] {
			t.Errorf("rank %d: %s at %d after %d", e.rank, e.kind, e.at, last[e.rank])
		}
		last[e.rank] = e.at
		key := ""
		if m := request.FindStringSubmatch(e.text); m != nil {
			key = fmt.Sprintf("%d %s", e.rank, m[1])
		}
		state := -1
		switch e.kind {
		case "ENTER":
			if in[e.rank] != nil {
				t.Errorf("rank %d enters %s in %s", e.rank, e.text, in[e.rank].name)
			}
			in[e.rank] = &open{name: region.FindStringSubmatch(e.text)[1], at: e.at}
		case "LEAVE":
			o := in[e.rank]
			if name := region.FindStringSubmatch(e.text)[1]; o == nil || o.name != name || o.collective {
				t.Fatalf("rank %d leaves %s, and is in %+v", e.rank, name, o)
			}
			spans = append(spans, fmt.Sprintf("rank %d: %s %d to %d", e.rank, o.name, o.at, e.at))
			delete(in, e.rank)
		case "MPI_COLLECTIVE_BEGIN", "MPI_COLLECTIVE_END":
			if in[e.rank] == nil || in[e.rank].collective == (e.kind == "MPI_COLLECTIVE_BEGIN") {
				t.Fatalf("rank %d: %s in %+v", e.rank, e.kind, in[e.rank])
			}
			in[e.rank].collective = !in[e.rank].collective
		case "MPI_SEND", "MPI_ISEND":
			ends[0] = append(ends[0], fmt.Sprintf("rank %d at %d", e.rank, e.at))
			if in[e.rank] == nil && strings.Contains(e.text, `Communicator: "WORLD"`) {
				t.Errorf("rank %d sends outside all regions at %d", e.rank, e.at)
			}
			state = 0
		case "MPI_RECV", "MPI_IRECV":
			ends[1] = append(ends[1], fmt.Sprintf("rank %d at %d", e.rank, e.at))
			state = 1
		case "MPI_IRECV_REQUEST":
			state = 0
		case "MPI_ISEND_COMPLETE":
			state = 1
		}
		if key != "" {
			if requests[key] != state {
				t.Errorf("%s of request %s, whose state is %d", e.kind, key, requests[key])
			}
			requests[key]++
		}
	}
	for key, state := range requests {
		if state != 2 {
			t.Errorf("request %s does not end", key)
		}
	}
	slices.Sort(spans)
	slices.Sort(ends[0])
	slices.Sort(ends[1])
	return spans, ends
}

// otf2-print reads the archive. Its regions are the slices of Perfetto's file of the run, its messages the flows, to the picosecond; the
// attributes are the times of --stats, and the critical path is as long as the run if all ranks are shown.
func TestTimelineForOTF2(t *testing.T) {
	for _, run := range []string{"", "--ranks-shown 0-11", "--ranks-shown 0-11 --machine frontier --payload 1MiB", "--machine loggops-default --ranks-shown 0-11"} {
		name, d := drawn(t, ".otf2", run)
		beside, _ := drawn(t, ".json", run)
		events := readOTF2(t, name)
		spans, ends := heldOTF2(t, events)
		wantSpans, wantEnds := perfettoSpans(t, beside)
		if !slices.Equal(spans, wantSpans) || !slices.Equal(ends[0], wantEnds[0]) || !slices.Equal(ends[1], wantEnds[1]) || len(ends[0]) == 0 {
			t.Errorf("%s: %d regions, %d sends, %d receives; for Perfetto %d, %d, %d, or others", run, len(spans), len(ends[0]), len(ends[1]), len(wantSpans), len(wantEnds[0]), len(wantEnds[1]))
		}
		times := map[string]int64{}
		for _, e := range events {
			for cause, d := range e.measures {
				times[cause] += d
			}
		}
		if run == "" {
			want := shownTimes(&d)
			delete(want, "computing") // a region by itself
			equalTimes(t, times, want)
		} else if times["critical path"] != d.VirtualTime {
			t.Errorf("%s: the critical path takes %d ps of a run of %d", run, times["critical path"], d.VirtualTime)
		}
		anchor := printOTF2(t, "-A", name)
		counted := 0
		for _, m := range regexp.MustCompile(`# Events: (\d+)`).FindAllStringSubmatch(anchor, -1) {
			n, _ := strconv.Atoi(m[1])
			counted += n
		}
		if counted != len(events) {
			t.Errorf("%s: the definitions count %d events, and there are %d", run, counted, len(events))
		}
		for _, want := range []string{"Ticks per Seconds: 1000000000000", "Machine name", `Class: "machine"`, `Class: "node"`, "Type: COMM_LOCATIONS", "COMM  "} {
			if !strings.Contains(anchor, want) {
				t.Errorf("%s: %q is not in\n%s", run, want, anchor)
			}
		}
	}
}

// A rank with more events than a chunk holds has them in several chunks.
func TestTimelineForOTF2InChunks(t *testing.T) {
	dir := t.TempDir()
	executed(t, terminal.ExitDone, strings.Fields("run stencil --ranks 2 --iterations 5000 --progress none --timeline "+dir+"/long.otf2")...)
	info, err := os.Stat(filepath.Join(dir, "long", "0.evt"))
	if err != nil || info.Size() < 1<<20 {
		t.Fatalf("the events of rank 0 are too short for the test: %v", err)
	}
	executed(t, terminal.ExitDone, strings.Fields("run stencil --ranks 2 --iterations 5000 --progress none --timeline "+dir+"/long.json")...)
	spans, ends := heldOTF2(t, readOTF2(t, filepath.Join(dir, "long.otf2")))
	wantSpans, wantEnds := perfettoSpans(t, filepath.Join(dir, "long.json"))
	if !slices.Equal(spans, wantSpans) || !slices.Equal(ends[1], wantEnds[1]) {
		t.Errorf("%d regions and %d receives, for Perfetto %d and %d", len(spans), len(ends[1]), len(wantSpans), len(wantEnds[1]))
	}
}
