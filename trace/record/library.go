package record

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"gigarank/trace"
)

//go:embed runtime
var sources embed.FS

const (
	folder      = "runtime"
	libraryName = "libgigatrace.so"
)

var flags = []string{"-std=gnu11", "-O2", "-fPIC", "-fno-strict-aliasing", "-Wall", "-Werror=implicit-function-declaration", "-I."}

// Library is the compiled recorder for an MPI library.
type Library struct {
	Path string
	MPI  []string // the MPI libraries that it needs, as libmpi.so.40
}

// Open returns the recorder that a compiler of MPI makes. It is compiled if the cache does not have it. version is that of the recorder.
func Open(mpicc, version string) (*Library, error) {
	command, err := exec.LookPath(mpicc)
	if err != nil {
		return nil, fmt.Errorf("recording needs a compiler of MPI: %w; install one, or name it by --mpicc", err)
	}
	header, err := preprocessed(command)
	if err != nil {
		return nil, err
	}
	texts, err := texts(header)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("no cache directory for libgigatrace: %w; set XDG_CACHE_HOME", err)
	}
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\n%s\n%q\n%x\n", command, version, flags, sha256.Sum256([]byte(header)))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		_, _ = fmt.Fprintf(h, "\n%s %d\n%s", name, len(texts[name]), texts[name])
	}
	dir := filepath.Join(cache, "gigarank", fmt.Sprintf("trace-%x", h.Sum(nil)[:8]))
	l := &Library{Path: filepath.Join(dir, libraryName)}
	if _, err := os.Stat(l.Path); err != nil {
		if err := compile(command, version, dir, texts); err != nil {
			return nil, err
		}
	}
	l.MPI, err = mpiOf(l.Path)
	return l, err
}

// preprocessed returns the mpi.h of a compiler.
func preprocessed(command string) (string, error) {
	cmd := exec.Command(command, "-E", "-P", "-x", "c", "-")
	cmd.Stdin = strings.NewReader("#include <mpi.h>\n")
	var faults bytes.Buffer
	cmd.Stderr = &faults
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s does not find mpi.h: %w\n%s", command, err, &faults)
	}
	return string(text), nil
}

// texts returns the sources by name, among them those that are generated.
func texts(header string) (map[string]string, error) {
	all := map[string]string{}
	files, err := sources.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := sources.ReadFile(folder + "/" + f.Name())
		if err != nil {
			return nil, err
		}
		all[f.Name()] = string(text)
	}
	declared, err := prototypes(header)
	if err != nil {
		return nil, err
	}
	var layouts strings.Builder
	if err := trace.WriteLayouts(&layouts); err != nil {
		return nil, err
	}
	all["layouts.h"], all["counted.c"] = layouts.String(), counted(declared)
	return all, nil
}

// compile compiles the library into a directory, which it makes as a whole. Another process may do the same.
func compile(command, version, dir string, texts map[string]string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), ".trace-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	if err := os.Chmod(work, 0o755); err != nil {
		return err
	}
	arguments := slices.Concat(flags, []string{fmt.Sprintf("-DRECORDER=%q", version), "-shared", "-Wl,--no-as-needed,-z,defs", "-Wl,-soname," + libraryName, "-o", libraryName})
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if err := os.WriteFile(filepath.Join(work, name), []byte(texts[name]), 0o666); err != nil {
			return err
		}
		if strings.HasSuffix(name, ".c") {
			arguments = append(arguments, name)
		}
	}
	cmd := exec.Command(command, append(arguments, "-ldl", "-lpthread")...)
	cmd.Dir = work
	if printed, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("libgigatrace: %s: %w\n%s", command, err, printed)
	}
	if err := os.Rename(work, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, made := os.Stat(filepath.Join(dir, libraryName)); made != nil {
			return err
		}
	}
	return nil
}

// mpiOf returns the MPI libraries that a file in ELF needs, none for other files.
func mpiOf(path string) (found []string, err error) {
	f, err := elf.Open(path)
	if err != nil {
		var format *elf.FormatError
		if errors.As(err, &format) {
			return nil, nil
		}
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	needed, err := f.ImportedLibraries()
	if err != nil {
		return nil, err
	}
	for _, name := range needed {
		if base, _, _ := strings.Cut(name, ".so"); base == "libmpi" || base == "libmpich" || base == "libmpi_intel" {
			found = append(found, name)
		}
	}
	return found, nil
}

// CheckProgram returns the error of a program that needs another MPI library than the recorder. Of a script nothing is known.
func (l *Library) CheckProgram(program string) error {
	needs, err := mpiOf(program)
	if err != nil {
		return err
	}
	for _, name := range needs {
		if len(l.MPI) > 0 && !slices.Contains(l.MPI, name) {
			return fmt.Errorf("%s needs %s, and the recorder was compiled for %s: name the compiler of the program's MPI by --mpicc", program, name, strings.Join(l.MPI, ", "))
		}
	}
	return nil
}
