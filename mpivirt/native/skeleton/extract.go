package skeleton

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gigarank/mpivirt/native/skeleton/slice"
)

// Extract returns the path of a program's skeleton, a program by itself. It lies in the user's cache directory, by its content.
func Extract(program string) (path string, err error) { return extract(program, section) }

// ExtractTimed returns the path of a program's timed form, likewise. It computes all that the program does, and tells when tasks begin and end.
func ExtractTimed(program string) (path string, err error) { return extract(program, timedSection) }

// extract returns the path of a program that is a section of another one.
func extract(program, name string) (path string, err error) {
	text, err := read(program, name)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache directory for the skeleton of %s: %w; set XDG_CACHE_HOME", program, err)
	}
	skeletons := filepath.Join(cache, "gigarank", "skeletons")
	dir := filepath.Join(skeletons, fmt.Sprintf("%x", sha256.Sum256(text))[:16])
	path = filepath.Join(dir, filepath.Base(program))
	now := time.Now()
	if _, err := os.Stat(path); err == nil {
		_ = os.Chtimes(dir, now, now) // as the latest use; a cache that cannot be written only ages
		return path, nil
	}
	Sweep(skeletons, now)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	part, err := os.CreateTemp(dir, ".part-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(part.Name()) }()
	if _, err = part.Write(text); err == nil {
		err = part.Chmod(0o755)
	}
	if closed := part.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return "", err
	}
	return path, os.Rename(part.Name(), path)
}

// The limits of the cache: what has not been used for a time is removed, and the oldest beyond a size, unless it has been used a moment ago.
const (
	mostAge   = 30 * 24 * time.Hour
	mostBytes = 1 << 30
	inUse     = time.Hour
)

// Sweep removes programs from the cache that are old or too many. What it cannot remove stays.
func Sweep(cache string, now time.Time) {
	type entry struct {
		path  string
		used  time.Time
		bytes int64
	}
	var all []entry
	listed, _ := os.ReadDir(cache) // a cache that is not there has nothing to remove
	for _, one := range listed {
		info, err := one.Info()
		if err != nil || !one.IsDir() {
			continue
		}
		e := entry{path: filepath.Join(cache, one.Name()), used: info.ModTime()}
		files, _ := os.ReadDir(e.path)
		for _, file := range files {
			if info, err := file.Info(); err == nil {
				e.bytes += info.Size()
			}
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b entry) int { return b.used.Compare(a.used) })
	bytes := int64(0)
	for _, e := range all {
		bytes += e.bytes
		if age := now.Sub(e.used); age > mostAge || bytes > mostBytes && age > inUse {
			_ = os.RemoveAll(e.path)
		}
	}
}

// Report returns lines that say what a program's skeleton has of the program.
func Report(program string) (string, error) {
	text, err := read(program, reportSection)
	return string(text), err
}

// Description describes the tasks of a program.
type Description struct {
	Program string        `json:"program"` // a digest of the code that all three forms come from
	Machine string        `json:"machine"` // for which instructions of a processor the code was built
	Tasks   []*slice.Task `json:"tasks"`   // by number
	// Directives are those with which the program was built, as lines.
	Directives []string `json:"directives,omitempty"`
	// Failures are the lines of branches behind which ranks would end a failing run: the skeleton has none of this.
	Failures []string `json:"failures,omitempty"`
}

// Describe returns the description of a program's tasks.
func Describe(program string) (*Description, error) {
	text, err := read(program, tasksSection)
	if err != nil {
		return nil, err
	}
	d := &Description{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("%s: its tasks: %w", program, err)
	}
	return d, nil
}

// read returns the content of a section of a program.
func read(program, name string) ([]byte, error) {
	file, err := elf.Open(program)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	defer func() { _ = file.Close() }()
	s := file.Section(name)
	if s == nil {
		return nil, fmt.Errorf("%s has no skeleton: build it by gigarank cc %s", program, Flag)
	}
	text, err := s.Data()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	return text, nil
}
