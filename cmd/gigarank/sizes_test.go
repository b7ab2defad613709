package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
	"gigarank/internal/result"
)

// sizeCases are runs whose messages and calls are counted by hand. Sizes are those of [sizesIn].
var sizeCases = []struct {
	run, kinds   string
	sent, handed string
}{
	// In each of 10 iterations each rank sends 8 bytes to the right.
	{"ring --ranks 16", "goroutine event", "8-15:160=1280", ""},
	{"ring --ranks 5 --iterations 3 --payload 100", "goroutine event", "64-127:15=1500", ""},
	{"ring_nonblocking --ranks 5 --iterations 3 --payload 128", "goroutine", "128-255:15=1920", ""},
	// A grid of 3 x 2 x 2: a face to both neighbours in three dimensions, and an allreduce of 8 bytes.
	{"stencil --ranks 12 --iterations 2 --payload 8KiB", "goroutine event", "8192-16383:144=1179648", "8-15:24=192"},
	// A grid of 3 x 2 x 1: no neighbour in the third dimension.
	{"stencil --ranks 6 --iterations 2 --payload 1000", "goroutine event", "512-1023:48=48000", "8-15:12=96"},
	{"allreducetest --ranks 7 --iterations 4 --payload 24", "goroutine event", "", "16-31:28=672"},
	{"barriertest --ranks 9 --iterations 3", "goroutine event", "", "0-0:27=0"},
	// The root scatters 8 bytes to each of 6 ranks, three times, and the others hand over nothing.
	{"scattertest --ranks 6 --iterations 3 --payload 8", "goroutine event", "", "0-0:15=0 32-63:3=144"},
	{"alltoalltest --ranks 6 --iterations 3 --payload 8", "goroutine event", "", "32-63:18=864"},
}

// sizesIn prints the classes of sizes in a document: the sizes, their number and sum.
func sizesIn(classes []result.SizeClass) string {
	var all []string
	for _, c := range classes {
		all = append(all, fmt.Sprintf("%d-%d:%d=%d", c.Low, c.High, c.Count, c.Bytes))
	}
	return strings.Join(all, " ")
}

// runDocument returns the document of a run, which is complete.
func runDocument(t *testing.T, line string) (d document) {
	t.Helper()
	c, stdout, stderr := terminaltest.Console(nil)
	if code := execute(strings.Fields("run "+line+" --progress none --json -"), c); code != terminal.ExitDone {
		t.Fatalf("%s: exit code %d\n%s", line, code, stderr)
	}
	if err := json.Unmarshal(stdout.Bytes(), &d); err != nil {
		t.Fatalf("%s: %v in\n%s", line, err, stdout)
	}
	return d
}

// The numbers of messages and calls, and their bytes, are those worked out by hand, for each kind of rank, on any number
// of engines. Counting them changes no virtual time.
func TestSizesOfPrograms(t *testing.T) {
	for _, c := range sizeCases {
		plain := runDocument(t, c.run)
		if plain.Sent != nil || plain.Handed != nil {
			t.Errorf("%s has sizes, and they were not asked for", c.run)
		}
		for kind := range strings.FieldsSeq(c.kinds) {
			for _, how := range []string{"--engines 1", "--engines 2 --sync null", "--engines 5 --strict"} {
				line := fmt.Sprintf("%s --stats --lp %s %s", c.run, kind, how)
				d := runDocument(t, line)
				if sent, handed := sizesIn(d.Sent), sizesIn(d.Handed); sent != c.sent || handed != c.handed {
					t.Errorf("%s:\nsent %q, handed to collectives %q; want\n%q and %q", line, sent, handed, c.sent, c.handed)
				}
				if d.Fingerprint != plain.Fingerprint {
					t.Errorf("%s: the fingerprint is %s, without --stats %s", line, d.Fingerprint, plain.Fingerprint)
				}
			}
		}
	}
}
