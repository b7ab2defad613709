package gigarank_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The programs in the documents compile and print the documented output.
func TestDocumentedPrograms(t *testing.T) {
	for _, file := range []string{"README.md", "docs/event-ranks.md"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, rest, found := strings.Cut(string(text), "```go\npackage main\n")
			program, rest, ended := strings.Cut(rest, "```\n")
			_, rest, printed := strings.Cut(rest, "```\n")
			want, _, complete := strings.Cut(rest, "```")
			if !found || !ended || !printed || !complete {
				t.Fatal("no program with its output: want ```go, package main, and the output between ``` after it")
			}
			if got := runInModule(t, "package main\n"+program); got != want {
				t.Errorf("the program prints\n%sthe document says\n%s", got, want)
			}
		})
	}
}

// The files that the documents name are there.
func TestDocumentedFilesExist(t *testing.T) {
	file := regexp.MustCompile("`([a-z0-9/]+/[a-z0-9_]+\\.(?:go|sh|yaml|md))`")
	for _, document := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range file.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(name[1]); err != nil {
				t.Errorf("%s names a file that is not there: %v", document, err)
			}
		}
	}
}

// runInModule runs a program as if it lay in a directory of the module.
func runInModule(t *testing.T, program string) string {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	overlay := filepath.Join(dir, "overlay.json")
	files, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, "documented", "main.go"): source}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{source: []byte(program), overlay: files} {
		if err := os.WriteFile(name, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	output, err := exec.CommandContext(t.Context(), "go", "run", "-overlay", overlay, "./documented").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return string(output)
}
