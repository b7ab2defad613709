//go:build mpi

package toolchain

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// Functions that native ranks do not have are declared as a real MPI, which may lack functions, declares it: a compiler takes
// both declarations of each function together.
func TestPrototypesAgainstRealMPI(t *testing.T) {
	compile := func(text string, flags ...string) (string, error) {
		compiler := exec.Command("mpicc", append(flags, "-x", "c", "-")...)
		compiler.Stdin = strings.NewReader("#include <mpi.h>\n" + text)
		output, err := compiler.CombinedOutput()
		return string(output), err
	}
	header, err := compile("", "-E", "-P")
	if err != nil {
		t.Fatalf("%v\n%s", err, header)
	}
	compared, text := 0, ""
	for line := range declarations() {
		there := regexp.MustCompile(`\bMPI_` + line.name + `\s*\(`).MatchString(header)
		if there && (line.macro == ofUnsupported[0] || line.macro == ofUnsupported[1]) {
			text += fmt.Sprintf("%s MPI_%s(%s);\n%[1]s PMPI_%[2]s(%[3]s);\n", line.result, line.name, line.parameters)
			compared++
		}
	}
	if output, err := compile(text, "-fsyntax-only"); err != nil || compared < 100 {
		t.Errorf("%v, %d functions are compared\n%s", err, compared, output)
	}
}
