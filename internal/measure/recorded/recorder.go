package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

//go:embed recorder/recorder.c
var source []byte

// recorder is the built program that records messages.
type recorder struct{ folder string }

func newRecorder() (*recorder, error) {
	folder, err := os.MkdirTemp("", "recorded")
	if err != nil {
		return nil, err
	}
	r := &recorder{folder}
	if err := r.build(); err != nil {
		r.remove()
		return nil, err
	}
	return r, nil
}

func (r *recorder) remove() { _ = os.RemoveAll(r.folder) }

func (r *recorder) build() error {
	if err := os.WriteFile(r.path("recorder.c"), source, 0o666); err != nil {
		return err
	}
	args := []string{"-O1", "-Wall", "-Wextra", "-Wno-unused-parameter", "-o", r.path("recorder"), r.path("recorder.c")}
	shown, err := exec.Command("mpicc", "--showme:incdirs").Output()
	if err != nil {
		return fmt.Errorf("mpicc of Open MPI is needed: %w", err)
	}
	for _, include := range strings.Fields(string(shown)) {
		args = append(args, "-I"+filepath.Join(include, "openmpi"))
	}
	if out, err := exec.Command("mpicc", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("the recorder does not compile: %w: install the headers of Open MPI's components (Debian: libopenmpi-dev)\n%s", err, out)
	}
	return nil
}

func (r *recorder) path(name string) string { return filepath.Join(r.folder, name) }

// record runs calls of the same number of ranks with parameters of the library, and returns the messages of each rank in each
// call.
func (r *recorder) record(calls []call, parameters []string) ([][][]message, error) {
	ranks := calls[0].ranks
	args := []string{"-n", strconv.Itoa(ranks)}
	for _, p := range parameters {
		name, value, _ := strings.Cut(p, "=")
		args = append(args, "--mca", name, value)
	}
	args = append(args, r.path("recorder"), r.path("out"))
	for _, k := range calls {
		args = append(args, k.line())
	}
	if out, err := exec.Command("mpirun", args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mpirun %s …: %w\n%s", strings.Join(args[:2], " "), err, out)
	}
	all := make([][][]message, len(calls))
	for i := range all {
		all[i] = make([][]message, ranks)
	}
	for rank := range ranks {
		if err := r.read(rank, calls, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// read reads the record of a rank.
func (r *recorder) read(rank int, calls []call, all [][][]message) error {
	file, err := os.Open(r.path(fmt.Sprintf("out.%d", rank)))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	at := -1
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if !strings.HasPrefix(line, ">") {
			if at++; at >= len(calls) || line != calls[at].line() {
				return fmt.Errorf("%s: line %q is not that of a call", file.Name(), line)
			}
			continue
		}
		var m message
		if _, err := fmt.Sscanf(line, "> %d %d", &m.to, &m.bytes); err != nil {
			return fmt.Errorf("%s: line %q is not that of a message: %w", file.Name(), line, err)
		}
		all[at][rank] = append(all[at][rank], m)
	}
	if at != len(calls)-1 {
		return fmt.Errorf("%s ends after %d of %d calls", file.Name(), at+1, len(calls))
	}
	return nil
}
