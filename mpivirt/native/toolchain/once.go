package toolchain

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// compileOnce returns a directory of the cache with the archive of the objects that a compiler makes in some
// steps, and the other files that it writes. It depends on the compiler, and is made at its first use.
func (l *Library) compileOnce(language Language, what string, flags []string, archive string, steps [][]string) (dir string, err error) {
	command := language.command()
	version, err := exec.Command(command, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s does not answer: %w; install %s, or name another compiler of %s in %s", command, err, compilers[language].usual, language.Name(), compilers[language].variable)
	}
	digest := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%q\n", command, version, flags))
	dir = filepath.Join(l.include, fmt.Sprintf("%s-%x", what, digest[:8]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	work, err := os.MkdirTemp(l.include, "."+what+"-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(work) }()
	if err := os.Chmod(work, 0o755); err != nil {
		return "", err
	}
	var objects []string
	for _, step := range steps {
		if err := runCompiler(work, command, slices.Concat(flags, step)); err != nil {
			return "", fmt.Errorf("the %s of %s: %w", what, language.Name(), err)
		}
		objects = append(objects, step[len(step)-1])
	}
	if err := runCompiler(work, archiver(command), slices.Concat([]string{"rcs", archive}, objects)); err != nil {
		return "", fmt.Errorf("the %s of %s: %w", what, language.Name(), err)
	}
	if err := os.Rename(work, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, made := os.Stat(dir); made != nil {
			return "", err
		}
	}
	return dir, nil
}

// archiver returns the command of the archiver that belongs to a compiler.
func archiver(command string) string {
	name, err := exec.Command(command, "-print-prog-name=ar").Output()
	if err != nil || len(name) == 0 {
		return "ar"
	}
	return strings.TrimSpace(string(name))
}
