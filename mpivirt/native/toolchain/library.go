package toolchain

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

//go:embed runtime
var sources embed.FS

// generators are the files that generate the bindings of Fortran. The bindings depend on
// these files and on the sources. To generate them takes longer than a short simulation.
//
//go:embed declarations.go fortran.go fortran_modules.go
var generators embed.FS

// libraryName is the name by which programs need the runtime.
const libraryName = "libgigarank_mpi.so"

// libraryFlags compile the runtime, whose headers are found by folder and name, and headers of programs by
// name. Ranks are switched between any two functions of the runtime, so that it must not keep the address of a
// thread's variables across calls: the variable that matters has a fixed offset (see rank/running.h).
var libraryFlags = []string{"-std=gnu11", "-O2", "-g", "-fPIC", "-fno-strict-aliasing", "-ffp-contract=off", "-Wall", "-Werror=implicit-function-declaration", "-Iruntime", "-I."}

// vectorFlags are further flags of the sources in vectorised, whose loops go through the elements of vectors: at -O2 GCC leaves loops
// as they are that vectors which overlap would have to take.
var (
	vectorFlags = []string{"-O3"}
	vectorised  = []string{"runtime/mpi/operations.c"}
)

// flagsOfSource returns the flags that compile a source of the runtime.
func flagsOfSource(source string) []string {
	if slices.Contains(vectorised, source) {
		return slices.Concat(libraryFlags, vectorFlags)
	}
	return libraryFlags
}

// headersOf is the folder of the headers that programs include. They lie beside the library, the sources in folders.
const headersOf = "runtime/include"

// linked are the sources that are linked into programs.
var linked = []string{"runtime/rank/entry.c", "runtime/rank/start.c", "runtime/libc/getopt.c", "runtime/libc/environ.c"}

// Library is the compiled runtime.
type Library struct {
	Path    string // of the shared library
	include string // directory of mpi.h
	entry   string // object that is linked into each program
	start   string // object that is linked into each program and each shared library
	parts   string // archive of objects that are linked into programs that use them
	modules string // directory of the modules of Fortran, if they are open
	streams string // directory of the standard streams of C++, if they are open
}

// Compiler returns the command of the C compiler: $GIGARANK_CC, else gcc.
func Compiler() string { return C.command() }

// OpenLibrary returns the runtime. It is compiled if the cache does not have it.
func OpenLibrary() (*Library, error) {
	digest, err := libraryDigest()
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("no cache directory for the runtime of native ranks: %w; set XDG_CACHE_HOME", err)
	}
	dir := filepath.Join(cache, "gigarank", "native-"+digest)
	l := &Library{Path: filepath.Join(dir, libraryName), include: dir, entry: filepath.Join(dir, "entry.o"), start: filepath.Join(dir, "start.o"), parts: filepath.Join(dir, "parts.a")}
	return l, l.compileFirst(dir)
}

// compiling lets one goroutine of the process compile a runtime while others wait for it. An error is kept for them.
var compiling struct {
	lock   sync.Mutex
	failed map[string]error // by directory
}

// compileFirst compiles the runtime into a directory if the cache does not have it.
func (l *Library) compileFirst(dir string) error {
	if _, err := os.Stat(l.Path); err == nil {
		return nil
	}
	compiling.lock.Lock()
	defer compiling.lock.Unlock()
	if err := compiling.failed[dir]; err != nil {
		return err
	}
	if _, err := os.Stat(l.Path); err == nil {
		return nil
	}
	err := compileLibrary(dir)
	if err != nil {
		if compiling.failed == nil {
			compiling.failed = map[string]error{}
		}
		compiling.failed[dir] = err
	}
	return err
}

// libraryDigest returns a digest of all that the compiled runtime depends on.
func libraryDigest() (string, error) {
	h := sha256.New()
	path, err := exec.LookPath(Compiler())
	if err != nil {
		return "", fmt.Errorf("native ranks need a C compiler: %w; install gcc, or name another in GIGARANK_CC", err)
	}
	compiler, err := os.Stat(path) // each run does this: to ask for the version takes longer than a short simulation
	if err != nil {
		return "", fmt.Errorf("native ranks need a C compiler: %w; install gcc, or name another in GIGARANK_CC", err)
	}
	_, _ = fmt.Fprintf(h, "%s\n%s %d %v\n%q\n", runtime.GOARCH, path, compiler.Size(), compiler.ModTime().UnixNano(), slices.Concat(libraryFlags, vectorFlags, vectorised))
	piece := make([]byte, 32<<10) // each run does this: a copy of all texts would take longer than to read them
	for _, files := range []embed.FS{sources, generators} {
		err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			_, _ = fmt.Fprintf(h, "\n%s\n", name)
			file, err := files.Open(name)
			if err == nil {
				_, err = io.CopyBuffer(h, file, piece)
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}

// compileLibrary compiles the runtime into a directory, which it makes as a whole. Another
// process may do the same.
func compileLibrary(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), ".native-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	if err := os.Chmod(work, 0o755); err != nil {
		return err
	}
	compiled, err := writeSources(work)
	if err != nil {
		return err
	}
	texts, err := fortranTexts()
	if err != nil {
		return err
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	objects, err := compileObjects(work, filepath.Join(filepath.Dir(dir), "objects"), append(compiled, bindingsName))
	if err != nil {
		return fmt.Errorf("the runtime of native ranks: %w", err)
	}
	steps := [][]string{
		slices.Concat(libraryFlags, []string{"-c"}, linked),
		slices.Concat(libraryFlags, []string{"-shared", "-Wl,-z,now,-z,defs", "-Wl,-soname," + libraryName, "-o", libraryName}, objects, []string{"-ldl"}),
	}
	for _, arguments := range steps {
		if err := runCompiler(work, Compiler(), arguments); err != nil {
			return fmt.Errorf("the runtime of native ranks: %w", err)
		}
	}
	if err := runCompiler(work, archiver(Compiler()), []string{"rcs", "parts.a", "getopt.o", "environ.o"}); err != nil {
		return fmt.Errorf("the runtime of native ranks: %w", err)
	}
	if err := os.Rename(work, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, made := os.Stat(filepath.Join(dir, libraryName)); made != nil {
			return err
		}
	}
	return nil
}

// compileObjects returns the objects of the runtime's sources in a directory, which the cache keeps by the text of the source and of all
// headers: after an edit of a source, the others are not compiled again. Sources are compiled side by side. The error has the faults
// of all sources.
func compileObjects(dir, cache string, names []string) (objects []string, err error) {
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return nil, err
	}
	shared, err := headersDigest(dir)
	if err != nil {
		return nil, err
	}
	objects = make([]string, len(names))
	faults := make([]error, len(names))
	var all sync.WaitGroup
	free := make(chan struct{}, runtime.NumCPU())
	for i, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		digest := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%q\n%s", shared, name, flagsOfSource(name), text))
		objects[i] = filepath.Join(cache, fmt.Sprintf("%s-%x.o", strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), digest[:8]))
		if _, err := os.Stat(objects[i]); err == nil {
			continue
		}
		all.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			made := filepath.Join(dir, filepath.Base(objects[i]))
			if faults[i] = runCompiler(dir, Compiler(), slices.Concat(flagsOfSource(name), []string{"-c", name, "-o", made})); faults[i] == nil {
				faults[i] = os.Rename(made, objects[i])
			}
		})
	}
	all.Wait()
	return objects, errors.Join(faults...)
}

// headersDigest returns a digest of all that each object of the runtime depends on: the compiler, its flags and the headers.
func headersDigest(dir string) (string, error) {
	h := sha256.New()
	version, err := exec.Command(Compiler(), "--version").Output()
	if err != nil {
		return "", err
	}
	_, _ = fmt.Fprintf(h, "%s\n%s\n%s\n%q\n", runtime.GOARCH, Compiler(), version, libraryFlags)
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".h" {
			return err
		}
		text, err := os.ReadFile(name)
		_, _ = fmt.Fprintf(h, "\n%s %d\n%s", strings.TrimPrefix(name, dir), len(text), text)
		return err
	})
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

// writeSources writes the runtime's headers and sources into a directory. It returns the names of the sources that
// the library is compiled from.
func writeSources(dir string) (compiled []string, err error) {
	err = fs.WalkDir(sources, "runtime", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == headersOf {
			return nil
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(dir, name), 0o777)
		}
		text, err := sources.ReadFile(name)
		if err != nil {
			return err
		}
		if suffix := path.Ext(name); !slices.Contains(linked, name) && (suffix == ".c" || suffix == ".S") {
			compiled = append(compiled, name)
		}
		if path.Dir(name) == headersOf {
			return os.WriteFile(filepath.Join(dir, path.Base(name)), text, 0o666)
		}
		return os.WriteFile(filepath.Join(dir, name), text, 0o666)
	})
	return compiled, err
}

// runCompiler runs a compiler or the like in a directory. The error holds what it prints.
func runCompiler(dir, command string, arguments []string) error {
	cmd := exec.Command(command, arguments...)
	cmd.Dir = dir
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", command, strings.Join(arguments, " "), err, &printed)
	}
	return nil
}
