//go:build mpi

package toolchain

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// callByKeywords returns a subroutine that calls a function with all its parameters by name.
func callByKeywords(d declaration, number int) string {
	var s strings.Builder
	var names, keywords []string
	for _, p := range d.parameters {
		names = append(names, p.name)
		keywords = append(keywords, p.name+"="+p.name)
	}
	call := fmt.Sprintf("MPI_%s(%s)", d.name, strings.Join(keywords, ", "))
	if d.result != "int" {
		call = "result_ = " + call
	} else if call = "call " + call; !slices.Contains(withoutError, d.name) {
		names = append(names, "ierror")
		call = strings.TrimSuffix(call, ")") + map[bool]string{true: ", ", false: ""}[len(d.parameters) > 0] + "ierror=ierror)"
	}
	_, _ = fmt.Fprintf(&s, "subroutine s%d(%s)\n", number, strings.Join(names, ", "))
	for _, p := range d.parameters {
		switch {
		case p.name == "buffer_addr" || p.name == "baseptr":
			_, _ = fmt.Fprintf(&s, "type(C_PTR) :: %s\n", p.name)
		case p.choice():
			_, _ = fmt.Fprintf(&s, "real :: %s(*)\n", p.name)
		default:
			s.WriteString(strings.Replace(p.declare(true), ", intent(in)", "", 1) + "\n")
		}
	}
	if d.result != "int" {
		_, _ = fmt.Fprintf(&s, "%s :: result_\n", kinds[d.result])
	} else if !slices.Contains(withoutError, d.name) {
		s.WriteString("integer :: ierror\n")
	}
	s.WriteString(call + "\nend subroutine\n")
	return s.String()
}

// Parameters have the names and types in module mpi_f08 that they have in the module of a real MPI, which
// may lack functions. Open MPI's module mpi has names of its own.
func TestKeywordsAgainstRealMPI(t *testing.T) {
	all, _, err := fortranDeclared()
	if err != nil {
		t.Fatal(err)
	}
	text := "module calls\nuse, intrinsic :: iso_c_binding, only: C_PTR\nuse mpi_f08\nimplicit none\ncontains\n"
	begins := make([]int, len(all)) // lines
	for i, d := range all {
		begins[i] = strings.Count(text, "\n") + 1
		text += callByKeywords(d, i)
	}
	file := filepath.Join(t.TempDir(), "calls.f90")
	if err := os.WriteFile(file, []byte(text+"end module\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	compiler := exec.Command("mpifort", "-fsyntax-only", "-ffree-line-length-none", "-fmax-errors=0", "-w", file)
	compiler.Env = append(os.Environ(), "LC_ALL=C")
	output, err := compiler.CombinedOutput()
	lacking := map[int]bool{}
	byFunction := map[int][]fault{}
	noSessions := false // Open MPI 4 has no type MPI_Session
	for _, fault := range faults(output) {
		i := 0
		for i+1 < len(all) && begins[i+1] <= fault.line {
			i++
		}
		byFunction[i] = append(byFunction[i], fault)
		lacking[i] = lacking[i] || strings.Contains(fault.says, "Keyword argument requires explicit interface")
		noSessions = noSessions || strings.HasPrefix(fault.says, "Derived type 'mpi_session'") && strings.HasSuffix(fault.says, "is being used before it is defined")
	}
	for i, d := range all {
		lacking[i] = lacking[i] || noSessions && slices.ContainsFunc(d.parameters, func(p parameter) bool { return p.base == "MPI_Session" })
	}
	for i, faults := range byFunction {
		if lacking[i] || all[i].name == "Aint_add" || all[i].name == "Win_get_info" { // Open MPI 4 calls disp diff, and info_used info
			continue
		}
		for _, fault := range faults {
			t.Errorf("line %d, MPI_%s: %s\n%s", fault.line, all[i].name, fault.says, callByKeywords(all[i], i))
		}
	}
	compared := 0
	for i := range all {
		if !lacking[i] {
			compared++
		}
	}
	if compared < 200 {
		t.Errorf("only %d of %d functions are compared (%v)\n%s", compared, len(all), err, output)
	}
}

type fault struct {
	line int
	says string
}

var place = regexp.MustCompile(`^\S+\.f90:(\d+):\d+:$`)

// faults returns what gfortran says of a file, by lines.
func faults(output []byte) (all []fault) {
	line := 0
	for scanner := bufio.NewScanner(bytes.NewReader(output)); scanner.Scan(); {
		if m := place.FindStringSubmatch(scanner.Text()); m != nil {
			line, _ = strconv.Atoi(m[1])
		}
		if says, is := strings.CutPrefix(scanner.Text(), "Error: "); is {
			all = append(all, fault{line, says})
		}
	}
	return all
}
