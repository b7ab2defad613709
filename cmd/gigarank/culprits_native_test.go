//go:build cgo && linux && (amd64 || arm64)

package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
)

var (
	style = regexp.MustCompile(`(?s)<style.*?</style>`)
	tag   = regexp.MustCompile(`<[^>]+>`)
)

// topOf returns the text of a page before its figures.
func topOf(page []byte) string {
	text := html.UnescapeString(tag.ReplaceAllString(style.ReplaceAllString(string(page), ""), " "))
	top, _, _ := strings.Cut(strings.Join(strings.Fields(text), " "), " Figures ")
	return top
}

// The first lines of a page lead to the rank at fault of a program, and so do the statistics in text: an imbalance in a ring, a late sender whose
// delay runs through a chain, and a node whose interface all others use; and all three of these in one program.
func TestPagesLeadToTheCulprit(t *testing.T) {
	for _, c := range []struct {
		program string
		ranks   int
		culprit int
		want    []string // on the page, in this order
	}{
		{"imbalance", 32, 11, []string{"most of it as wait at n-to-n", "It computes for 50 ms, where the mean is", "Load balance is 22.5 %: rank 11 computes longest"}},
		{"latesender", 32, 5, []string{"most of it as late sender", "Late sender takes", "most of it in Recv on WORLD, called from main (latesender.c:15), which waits for sends from main (latesender.c:19)"}},
		{"congestion", 336, 200, []string{"most of it as wait at barrier", "of that time other messages delay rank 200.", "other messages delay the rank that is late: these messages are to be mended, not the rank.", "Interface takes", "called from main (congestion.c:", "rank 200 waits longest", "of the bytes between ranks, ", " go to rank 200, from 335 ranks."}},
		{"planted", 336, 40, []string{"It computes no longer than the mean: it sends late", "Others wait for rank 11:", "It computes for 100 ms, where the mean is", "Late sender takes", "called from main (planted.c:27), which waits for sends from main (planted.c:25)", "ranks 41 to 64", "Interface takes", "called from main (planted.c:37)", " go to rank 200, from 335 ranks."}},
	} {
		dir := t.TempDir()
		program := filepath.Join(dir, c.program)
		console, stdout, stderr := terminaltest.Console(nil)
		if code := execute([]string{"cc", "-g", "-Wall", "-Werror", filepath.Join("..", "..", "study", "testdata", "culprits", c.program+".c"), "-o", program}, console); code != terminal.ExitDone {
			t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
		}
		for _, engines := range []string{"1", "3"} {
			console, stdout, stderr := terminaltest.Console(nil)
			line := []string{"run", program, "--ranks", fmt.Sprint(c.ranks), "--machine", "infiniband-ndr", "--engines", engines, "--report", filepath.Join(dir, "report"), "--stats", "--progress", "none"}
			if code := execute(line, console); code != terminal.ExitDone {
				t.Fatalf("exit code %d\n%s", code, stderr)
			}
			if want := "others wait for  time in all"; !strings.Contains(stdout.String(), want) {
				t.Errorf("%s: the text lacks %q:\n%s", c.program, want, stdout)
			} else if _, rest, _ := strings.Cut(stdout.String(), want); !strings.HasPrefix(rest[strings.Index(rest, "\n")+1:], fmt.Sprintf("rank %d ", c.culprit)) {
				t.Errorf("%s: the text names another rank first: %.300s", c.program, rest)
			}
			page, err := os.ReadFile(filepath.Join(dir, "report", "report.html"))
			if err != nil {
				t.Fatal(err)
			}
			top := topOf(page)
			_, rest, found := strings.Cut(top, "is waiting. ")
			if want := fmt.Sprintf("Others wait for rank %d:", c.culprit); !found || !strings.HasPrefix(rest, want) {
				t.Errorf("%s: the page does not go on by %q: %s", c.program, want, top)
			}
			for _, want := range c.want {
				if _, rest, found = strings.Cut(rest, want); !found {
					t.Errorf("%s: the page lacks %q in its place: %s", c.program, want, top)
				}
			}
		}
	}
}
