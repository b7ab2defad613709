package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"gigarank/cmd/gigarank/internal/terminal/terminaltest"
)

// masks hide the output that depends on the host's speed or memory, on the work of an
// engine for a simulation, and on the existing programs and machines.
var masks = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`(?m)^(wall time +|memory +|events +|between engines +).*`), "${1}…"},
	{regexp.MustCompile(`(?m)[0-9][0-9.e+-]* (us|s|min|h)$`), "…"},
	{regexp.MustCompile(`"((?:wall|setup)_s|events|switches|(?:remote|sync|transport)_messages|peak_rss_bytes|bytes_per_rank)": [0-9.e+-]+`), `"$1": …`},
	{regexp.MustCompile(`"version": ".*"`), `"version": "…"`},
	{regexp.MustCompile(`\([0-9.]+ [a-z]+ of wall time\)`), "(… of wall time)"},
	{regexp.MustCompile(`(unknown program .* there are: |OPERATION: unknown operation .* there are: |the presets are |the libraries are |no library .* there are: |mapping: .* write block, ).*`), "${1}…"},
}

func mask(text string) string {
	for _, m := range masks {
		text = m.pattern.ReplaceAllString(text, m.by)
	}
	return text
}

// TestGolden runs the scripts in testdata. Their commands are
//
//	file NAME      write the input to a file
//	cat NAME       show a file
//	gigarank       run each line of the input as a command line
func TestGolden(t *testing.T) {
	scripts, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("if the change of output is meant: go test ./cmd/gigarank -run Golden -rewrite")
		}
	})
	datadriven.Walk(t, scripts, func(t *testing.T, path string) {
		t.Chdir(t.TempDir())
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "file":
				if err := os.WriteFile(d.CmdArgs[0].Key, []byte(d.Input+"\n"), 0o666); err != nil {
					d.Fatalf(t, "%v", err)
				}
				return ""
			case "cat":
				text, err := os.ReadFile(d.CmdArgs[0].Key)
				if err != nil {
					return err.Error() + "\n"
				}
				return mask(string(text))
			case "gigarank":
				var all strings.Builder
				for line := range strings.Lines(d.Input) {
					all.WriteString(runLine(line))
				}
				return all.String()
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

// runLine runs a command line and returns its output and its exit.
func runLine(line string) string {
	c, stdout, stderr := terminaltest.Console(nil)
	code := execute(strings.Fields(line), c)
	var all strings.Builder
	all.WriteString(mask(stdout.String()))
	for text := range strings.Lines(mask(stderr.String())) {
		all.WriteString("! " + text)
	}
	if code != 0 {
		fmt.Fprintf(&all, "exit %d\n", code)
	}
	return all.String()
}
