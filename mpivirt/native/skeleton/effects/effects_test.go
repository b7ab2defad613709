package effects_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gigarank/mpivirt/native/skeleton/effects"
)

// declaration is a declaration of a function of MPI in mpi.h.
var declaration = regexp.MustCompile(`(?m)^GIGARANK_MPI\([\w *]+, MPI_(\w+), \(([^()]*)\)\)`)

// TestRolesAgainstDeclarations: a parameter that is a value has no memory; const memory is not written; memory without const
// is; a void pointer is the content of messages.
func TestRolesAgainstDeclarations(t *testing.T) {
	text, err := os.ReadFile("../../toolchain/runtime/include/mpi.h")
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string][]string{}
	for _, m := range declaration.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\n\t", " "), -1) {
		declared[m[1]] = nil
		if m[2] != "void" {
			declared[m[1]] = strings.Split(m[2], ",")
		}
	}
	checked := 0
	for _, name := range effects.Names() {
		function, is := strings.CutPrefix(name, "MPI_")
		if !is {
			continue
		}
		parameters, known := declared[function]
		e, _ := effects.Of(name)
		if !known || len(parameters) != len(e.Roles) {
			t.Errorf("%s has roles %q, mpi.h has %q", name, e.Roles, parameters)
			continue
		}
		checked++
		for n, p := range parameters {
			if want := rolesOf(strings.TrimSpace(p)); !strings.ContainsRune(want, rune(e.Role(n))) {
				t.Errorf("%s: %q has the role %c, and not one of %s", name, p, e.Role(n), want)
			}
		}
		if (e.Group != "") != strings.ContainsAny(e.Roles, "srx") {
			t.Errorf("%s is of group %q", name, e.Group)
		}
		for n := range e.Roles {
			if e.Group == effects.Messages && e.Role(n).Payload() && !strings.Contains(parameters[n+2], "MPI_Datatype") {
				t.Errorf("%s: %q is not the datatype of %q", name, parameters[n+2], parameters[n])
			}
		}
	}
	if checked < 100 {
		t.Errorf("%d functions have been compared", checked)
	}
}

// rolesOf returns the roles that a parameter may have.
func rolesOf(p string) string {
	if strings.Contains(p, "_function *") {
		return "v" // a function of the program
	}
	memory := strings.Contains(p, "*") || strings.Contains(p, "[")
	switch {
	case strings.HasPrefix(p, "const void *"):
		return "s"
	case strings.HasPrefix(p, "void *"):
		return "rx"
	case !memory:
		return "v"
	case strings.HasPrefix(p, "const "):
		return "a"
	}
	return "ob"
}

// TestRequestsAreReadWhereTheyEnd: a call that ends operations reads its requests.
func TestRequestsAreReadWhereTheyEnd(t *testing.T) {
	for _, name := range []string{"Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome", "Start", "Startall", "Request_free", "Cancel"} {
		e, known := effects.Of("MPI_" + name)
		if !known || !strings.Contains(e.Roles, "b") || strings.Index(e.Roles, "b") > 1 {
			t.Errorf("%s has the roles %q", name, e.Roles)
		}
	}
	for _, name := range []string{"Comm_free", "Group_free", "Type_free", "Type_commit"} {
		if e, _ := effects.Of("MPI_" + name); e.Roles != "b" {
			t.Errorf("%s has the roles %q", name, e.Roles)
		}
	}
}

// TestClosed: functions with effects beyond their arguments are not in the table.
func TestClosed(t *testing.T) {
	for _, name := range []string{"bsearch", "atexit", "pthread_create", "longjmp", "setjmp", "fork", "tmpfile", "freopen", "signal", "dlopen", "MPI_Get_address", "MPI_Win_create", "MPI_Put",
		"MPI_Buffer_attach", "MPI_Comm_set_attr", "MPI_Alloc_mem", "llvm.va_start", "llvm.eh.sjlj.longjmp", "llvm.returnaddress", "llvm.stacksave", "llvm.memcpyx", "__errno_location"} {
		if _, known := effects.Of(name); known {
			t.Errorf("%s is in the table", name)
		}
	}
	for _, name := range []string{"llvm.memcpy.p0.p0.i64", "llvm.fmuladd.f64", "llvm.smax.i32", "llvm.lifetime.start.p0", "llvm.memset.p0.i64"} {
		if _, known := effects.Of(name); !known {
			t.Errorf("%s is not in the table", name)
		}
	}
	if names := effects.Names(); slices.Contains(names, "") {
		t.Error("the table has a function without a name")
	}
}
