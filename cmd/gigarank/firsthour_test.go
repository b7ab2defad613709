//go:build cgo && linux && (amd64 || arm64)

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The commands of docs/guide/first-hour.md print what the page shows.
func TestFirstHour(t *testing.T) { runPage(t, "first-hour.md", "") }

// The commands of docs/guide/where-time-goes.md print what the page shows. Its reader has the command from the first hour.
func TestWhereTimeGoes(t *testing.T) {
	runPage(t, "where-time-goes.md", "go build -o ~/bin/gigarank ./cmd/gigarank\n")
}

// runPage runs the commands of a page of the guide in their order by one shell with a new home, after some others. They print the lines that the page
// shows: all that depends on virtual time, in the order of the page.
func runPage(t *testing.T, page, before string) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "guide", page))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```(sh|text)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1)
	const mark = "== end of commands"
	script := "set -euo pipefail\n" + before
	shown := map[int]string{} // by the number of commands before
	commands := 0
	for _, block := range blocks {
		switch {
		case block[1] == "sh":
			script += block[2] + "echo '" + mark + "'\n"
			commands++
		case commands == 0 || shown[commands] != "":
			t.Fatalf("the page shows output that follows no commands:\n%s", block[2])
		default:
			shown[commands] = block[2]
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "GOFLAGS=-pgo=off", "GOWORK=off", "GOPROXY=off")
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		value, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(cmd.Env, name+"="+strings.TrimSpace(string(value)))
	}
	if cache, err := os.UserCacheDir(); err == nil {
		cmd.Env = append(cmd.Env, "XDG_CACHE_HOME="+cache) // it holds the runtime of native ranks
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, output, stderr.String())
	}
	printed := strings.Split(string(output), mark+"\n")
	if len(printed) != commands+1 || len(shown) < 5 {
		t.Fatalf("%d parts of output, %d shown, of %d blocks of commands:\n%s", len(printed)-1, len(shown), commands, output)
	}
	// The column of wall times depends on the host, and so do lines that the page leaves out.
	wall := regexp.MustCompile(`(?m) +[0-9.e-]+ (s|ms|us|ns)$`)
	for i, want := range shown {
		rest := wall.ReplaceAllString(printed[i-1], "")
		for line := range strings.Lines(wall.ReplaceAllString(want, "")) {
			_, after, found := strings.Cut("\n"+rest, "\n"+line)
			if !found {
				t.Errorf("block %d of the commands of docs/guide/%s does not print the line %q that the page shows behind them; if the change is meant, copy the new line to the page. It prints\n%s", i, page, line, rest)
				break
			}
			rest = after
		}
	}
}
