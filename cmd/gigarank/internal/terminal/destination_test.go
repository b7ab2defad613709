package terminal

import (
	"os"
	"path/filepath"
	"testing"
)

// A file that cannot be replaced is named, and nothing is left behind.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	if err := CheckWritable(dir); err == nil {
		t.Error("a directory is taken for a file")
	}
	if err := CheckWritable(filepath.Join(dir, "no", "out.json")); err == nil {
		t.Error("a file in a directory that does not exist is taken for writable")
	}
	if err := ReplaceFile(filepath.Join(dir, "no", "out.json"), nil, 0); err == nil {
		t.Error("a file in a directory that does not exist is written")
	}
	target := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(target, "inside"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := ReplaceFile(target, []byte("x"), 0); err == nil {
		t.Error("a directory is replaced by a file")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d files are left in the directory, want 1", len(entries))
	}
}
