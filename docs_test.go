package gigarank_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
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
	documents := []string{"ARCHITECTURE.md", "CONTRIBUTING.md", "docs/words.md"}
	for _, folder := range []string{"docs/decisions", "docs/guide", "docs/measured"} {
		pages, err := filepath.Glob(folder + "/*.md")
		if err != nil || len(pages) == 0 {
			t.Fatalf("%s has %d pages: %v", folder, len(pages), err)
		}
		documents = append(documents, pages...)
	}
	for _, document := range documents {
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

// The links of all documents lead to files that are there, and to headings that these have.
func TestDocumentedLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]*))?\)`)
	code := regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]*`")
	links := 0
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != "." && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case filepath.Ext(file) != ".md":
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			target := file
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(file), filepath.FromSlash(m[1]))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to a file that is not there: %v", file, err)
			} else if m[2] != "" && !slices.Contains(headings(t, target), m[2]) {
				t.Errorf("%s links to #%s, which %s does not have", file, m[2], target)
			}
		}
		return nil
	})
	if err != nil || links == 0 {
		t.Errorf("%d links: %v", links, err)
	}
}

// ARCHITECTURE.md names each room, and has two pages, which somebody new reads whole.
func TestArchitectureNamesAllRooms(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	if words := len(strings.Fields(string(text))); words > 1500 {
		t.Errorf("it has %d words: depth goes to package docs, reasons to docs/decisions", words)
	}
	for room := range rules {
		name := path.Base(room)
		if room == "" || strings.HasSuffix(name, "test") { // this room, and what tests share
			continue
		}
		if named := regexp.MustCompile("`([a-z/]+/)?" + name + "`"); !named.Match(text) {
			t.Errorf("it does not name room %s", room)
		}
	}
}

// headings returns the anchors that GitHub gives the headings of a document: in lower case, blanks as dashes, without
// other characters than letters, digits, dashes and underscores.
func headings(t *testing.T, file string) (anchors []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^#+ +(.*)$`).FindAllStringSubmatch(string(text), -1) {
		anchors = append(anchors, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return r
			}
			return -1
		}, strings.ToLower(m[1])))
	}
	return anchors
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
