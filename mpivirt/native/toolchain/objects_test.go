package toolchain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An object is compiled again if its source has changed, or a header.
func TestObjectsAreKept(t *testing.T) {
	dir, cache := t.TempDir(), filepath.Join(t.TempDir(), "objects")
	names := []string{"one.c", "other.c"}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	compile := func() []string {
		t.Helper()
		objects, err := compileObjects(dir, cache, names)
		if err != nil {
			t.Fatal(err)
		}
		return objects
	}
	write("both.h", "enum { N = 1 };\n")
	write("one.c", "#include \"both.h\"\nint one(void) { return N; }\n")
	write("other.c", "#include \"both.h\"\nint other(void) { return N; }\n")
	first := compile()
	before, err := os.Stat(first[1])
	if err != nil {
		t.Fatal(err)
	}
	write("one.c", "#include \"both.h\"\nint one(void) { return N + 1; }\n")
	second := compile()
	after, err := os.Stat(second[1])
	if err != nil {
		t.Fatal(err)
	}
	if second[0] == first[0] || second[1] != first[1] || !os.SameFile(before, after) {
		t.Errorf("after an edit of one.c the objects %q are %q", first, second)
	}
	write("both.h", "enum { N = 2 };\n")
	if third := compile(); third[0] == second[0] || third[1] == second[1] {
		t.Errorf("after an edit of both.h the objects %q are %q", second, third)
	}
	write("one.c", "int one(void) { return here; }\n")
	write("other.c", "int other(void) { return there; }\n")
	if _, err := compileObjects(dir, cache, names); err == nil || !strings.Contains(err.Error(), "one.c:1") || !strings.Contains(err.Error(), "other.c:1") {
		t.Errorf("two faults: %v", err)
	}
}
