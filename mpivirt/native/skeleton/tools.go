package skeleton

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"gigarank/mpivirt/native/toolchain"
)

// release is the release of LLVM whose text package ir reads.
const release = "19"

// The programs of LLVM, without the release.
const (
	clang   = "clang"
	flang   = "flang-new"
	link    = "llvm-link"
	opt     = "opt"
	objcopy = "llvm-objcopy"
)

// packages are the Debian packages that have LLVM's programs.
var packages = map[string]string{clang: "clang-19", flang: "flang-19", link: "llvm-19", opt: "llvm-19", objcopy: "llvm-19"}

// frontEnds are the compilers of the languages whose programs may have skeletons.
var frontEnds = map[toolchain.Language]string{toolchain.C: clang, toolchain.Fortran: flang}

// Missing returns the programs of LLVM that are not there for a language, and the packages that have them, nil if all are there.
func Missing(l toolchain.Language) error {
	var programs, from []string
	needed := []string{clang, link, opt, objcopy}
	if l == toolchain.Fortran {
		needed = append([]string{flang}, needed...)
	}
	for _, tool := range needed {
		if _, err := exec.LookPath(tool + "-" + release); err != nil {
			programs = append(programs, tool+"-"+release)
			if p := packages[tool]; len(from) == 0 || from[len(from)-1] != p {
				from = append(from, p)
			}
		}
	}
	if len(programs) == 0 {
		return nil
	}
	verb := "is"
	if len(programs) > 1 {
		verb = "are"
	}
	return fmt.Errorf("skeletons need LLVM %s, and %s %s not in PATH: apt-get install %s", release, strings.Join(programs, ", "), verb, strings.Join(from, " "))
}

// Compiler returns the compiler of programs with skeletons in a language, "" if there is none.
func Compiler(l toolchain.Language) string {
	if frontEnds[l] == "" {
		return ""
	}
	return frontEnds[l] + "-" + release
}

// tool runs a program of LLVM and returns what it prints.
func tool(diagnostics io.Writer, input string, name string, arguments ...string) (string, error) {
	cmd := exec.Command(name+"-"+release, arguments...)
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, diagnostics
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return "", failed{fmt.Errorf("%s-%s failed", name, release), max(exit.ExitCode(), 1)}
		}
		return "", err
	}
	return out.String(), nil
}

// failed is the failure of a program that has said why.
type failed struct {
	error
	code int
}

// fortranLibraries returns the arguments by which a program is linked with flang's run-time library, which lies beside the compiler.
func fortranLibraries() ([]string, error) {
	path, err := exec.LookPath(flang + "-" + release)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return nil, err
	}
	return []string{"-L" + filepath.Join(filepath.Dir(filepath.Dir(path)), "lib"), "-lFortranRuntime", "-lFortranDecimal", "-lm"}, nil
}
