//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gigarank/mpivirt"
	"gigarank/mpivirt/native"
)

var (
	endingsSeed  = flag.Int("endings.seed", 0, "the first seed of TestRandomEndings; 0 for one from the clock")
	endingsCount = flag.Int("endings.count", 40, "the number of seeds of TestRandomEndings")
)

// However ranks come to their ends, the end of the run, the ranks that have finished, and the output of ranks
// until then do not depend on the hosting. A failure names the flag that has its seed again.
func TestRandomEndings(t *testing.T) {
	first := *endingsSeed
	if first == 0 {
		first = int(time.Now().Unix() % 1e6)
	}
	program := build(t, "endings.c")
	kinds := map[string]int{}
	for seed := first; seed < first+*endingsCount; seed++ {
		ranks := 3 + seed%4
		want := endingOf(t, program, seed, ranks, hosting{engines: 1})
		kinds[want.kind()]++
		// MPI_Finalize holds ranks back as a barrier does: what ranks do after it keeps no rank from coming there.
		if n := strings.Count(want.text, "\nlast "); n != ranks && !strings.Contains(want.text, "\nfails ") && !strings.Contains(want.text, "\nalone ") {
			t.Errorf("-endings.seed=%d -endings.count=1: %d of %d ranks have come to MPI_Finalize, and none has failed before:\n%s", seed, n, ranks, want.text)
		}
		for _, h := range []hosting{{engines: 2}, {engines: 3}, {engines: 3, strict: true}, {engines: 1, stacks: native.Copied}, {engines: 2, collectives: mpivirt.Message}} {
			if got := endingOf(t, program, seed, ranks, h); got.text != want.text {
				t.Errorf("-endings.seed=%d -endings.count=1, %d ranks, %+v:%s", seed, ranks, h, firstDifference(strings.SplitAfter(got.text, "\n"), strings.SplitAfter(want.text, "\n")))
			}
		}
	}
	t.Logf("seeds %d to %d: %v", first, first+*endingsCount-1, kinds)
}

// theEnd is the end of a run: its error, its result, and the lines that count.
type theEnd struct {
	text string
	err  error
}

func (e theEnd) kind() string {
	var failure *mpivirt.RankError
	var deadlock *mpivirt.DeadlockError
	switch {
	case e.err == nil:
		return "well"
	case errors.As(e.err, &deadlock):
		return "deadlock"
	case errors.As(e.err, &failure) && failure.Late:
		return "late failure"
	}
	return "failure"
}

// endingOf runs the program of a seed.
func endingOf(t *testing.T, program string, seed, ranks int, h hosting) theEnd {
	dir := t.TempDir()
	machine := []string{"xt5", "loggops-default"}[seed/4%2]
	result, lines, err := run(t, program, machine, ranks, h, strconv.Itoa(seed), dir, strconv.Itoa(ranks))
	for rank := range ranks {
		if kept, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(rank))); err == nil {
			lines = append(lines, slices.Collect(strings.Lines(string(kept)))...)
		}
	}
	var failure *mpivirt.RankError
	bounded := errors.As(err, &failure) && !failure.Late
	lines = slices.DeleteFunc(lines, func(line string) bool {
		return bounded && !countsBefore(t, line, failure)
	})
	return theEnd{fmt.Sprintf("%v\n%d have finished, %s\n%s", err, result.Finished, result.Fingerprint, strings.ReplaceAll(strings.Join(lines, ""), "half ", "")), err}
}

// countsBefore reports whether a line was written before a failure in the order of (virtual time, rank). The last line of a
// rank may have no end.
func countsBefore(t *testing.T, line string, failure *mpivirt.RankError) bool {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return false
	}
	rank, err := strconv.Atoi(fields[len(fields)-2])
	at, otherErr := strconv.ParseInt(fields[len(fields)-1], 10, 64)
	if err != nil || otherErr != nil {
		t.Fatalf("a line %q", line)
	}
	return at < int64(failure.Time) || at == int64(failure.Time) && rank <= failure.Rank
}

// firstDifference returns the first line that differs, with the wanted line.
func firstDifference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		line := func(lines []string) string {
			if i < len(lines) {
				return lines[i]
			}
			return "nothing\n"
		}
		if line(got) != line(want) {
			return "\nprints " + line(got) + "wanted " + line(want)
		}
	}
	return ""
}
