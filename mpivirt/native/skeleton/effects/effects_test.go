package effects_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gigarank/mpivirt/native/skeleton/effects"
)

// declaration is a declaration of a function of MPI in a header of the runtime.
var declaration = regexp.MustCompile(`(?m)^GIGARANK_(\w+)\([\w *]+, MPI_(\w+), \(([^()]*)\)\)`)

// function is a function of MPI that a header declares.
type function struct {
	of         string // the macro of its declaration
	parameters []string
}

// declared returns the functions of MPI in a header of the runtime.
func declared(t *testing.T, header string) map[string]function {
	t.Helper()
	text, err := os.ReadFile("../../toolchain/runtime/include/" + header)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]function{}
	for _, m := range declaration.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\n\t", " "), -1) {
		f := function{of: m[1]}
		if m[3] != "void" {
			f.parameters = strings.Split(m[3], ",")
		}
		all[m[2]] = f
	}
	return all
}

// otherRoles are parameters whose role does not follow from their type, by function and name.
var otherRoles = map[string]string{
	// Arrays that MPI only reads, and does not declare so.
	"Group_range_incl ranges": "a", "Group_range_excl ranges": "a", "Type_struct array_of_blocklengths": "a", "Type_struct array_of_displacements": "a", "Type_struct array_of_types": "a",
	"Type_hindexed array_of_blocklengths": "a", "Type_hindexed array_of_displacements": "a", "Info_create_env argv": "n",
	// Addresses that MPI stores, keeps or gives back, and whose memory is no content of messages.
	"Alloc_mem baseptr": "p", "Free_mem base": "v", "Get_address location": "v", "Address location": "v", "Buffer_attach buffer": "v", "Buffer_detach buffer_addr": "o",
	"Comm_get_attr attribute_val": "o", "Attr_get attribute_val": "o", "Type_get_attr attribute_val": "o", "Comm_set_attr attribute_val": "v", "Attr_put attribute_val": "v", "Type_set_attr attribute_val": "v",
	"Comm_create_keyval extra_state": "v", "Keyval_create extra_state": "v", "Type_create_keyval extra_state": "v",
}

// inDifferentOrder are functions with fewer or more parameters in Fortran than in C, besides the error and the lengths of texts.
var inDifferentOrder = []string{"Init", "Init_thread", "Info_create_env"}

// TestRolesAgainstDeclarations: each function that mpi.h declares is in the table, or has a reason why it is not. A parameter that is a value has no memory; const memory is
// not written; memory without const is; a void pointer is the content of messages.
func TestRolesAgainstDeclarations(t *testing.T) {
	functions := declared(t, "mpi.h")
	if len(functions) < 400 {
		t.Fatalf("mpi.h declares %d functions", len(functions))
	}
	for name, f := range functions {
		e, known := effects.Of("MPI_" + name)
		if name == "Pcontrol" { // takes any number of arguments
			continue
		}
		if !known {
			if effects.Refusal("MPI_"+name) == "" {
				t.Errorf("MPI_%s has no effects: add it to ofMPI, or to refused with the reason (mpi.go)", name)
			}
			continue
		}
		if len(f.parameters) != len(e.Roles) {
			t.Errorf("MPI_%s has roles %q, mpi.h has %q", name, e.Roles, f.parameters)
			continue
		}
		for n, p := range f.parameters {
			words := strings.FieldsFunc(p, func(c rune) bool { return strings.ContainsRune(" *[]3", c) })
			want, other := otherRoles[strings.TrimSuffix(name, "_c")+" "+words[len(words)-1]]
			if !other {
				want = rolesOf(strings.TrimSpace(p))
			}
			if !strings.ContainsRune(want, rune(e.Role(n))) {
				t.Errorf("MPI_%s: %q has the role %c, and not one of %s", name, p, e.Role(n), want)
			}
		}
		if (e.Group != "") != strings.ContainsAny(e.Roles, "srx") {
			t.Errorf("MPI_%s is of group %q", name, e.Group)
		}
		for n := range e.Roles {
			if e.Group == effects.Messages && e.Role(n).Payload() && !strings.Contains(f.parameters[n+2], "MPI_Datatype") {
				t.Errorf("MPI_%s: %q is not the datatype of %q", name, f.parameters[n+2], f.parameters[n])
			}
		}
	}
	for _, name := range effects.Names() {
		if short, is := strings.CutPrefix(name, "MPI_"); is && functions[short].of == "" {
			t.Errorf("%s is in the table, and not in mpi.h", name)
		}
	}
}

// TestUnservedFunctionsHaveReasons: each function of MPI that gigarank does not serve is refused with a reason.
func TestUnservedFunctionsHaveReasons(t *testing.T) {
	functions := declared(t, "mpi_unsupported.h")
	if len(functions) < 200 {
		t.Fatalf("mpi_unsupported.h declares %d functions", len(functions))
	}
	for name := range functions {
		for _, name := range []string{"MPI_" + name, "mpi_" + strings.ToLower(name) + "_", "PMPI_" + name} {
			if _, known := effects.Of(name); known || effects.Refusal(name) == "" {
				t.Errorf("%s is in the table: %v; the reason why it is not is %q", name, known, effects.Refusal(name))
			}
		}
	}
	for _, name := range []string{"solve", "main", "MPI", "P", "mpi_"} {
		if reason := effects.Refusal(name); reason != "" {
			t.Errorf("%s is refused: %s", name, reason)
		}
	}
}

// TestRolesInFortran: a function of MPI has the arguments in Fortran that it has in C, an error and the lengths of texts. Requests, handles and content have the roles that they have in C.
func TestRolesInFortran(t *testing.T) {
	for name, f := range declared(t, "mpi.h") {
		fortran, known := effects.Of("mpi_" + strings.ToLower(name) + "_")
		if f.of != "MPI" || !known || name == "Pcontrol" || strings.HasPrefix(name, "W") || strings.HasPrefix(name, "Aint_") {
			if _, served := effects.Of("MPI_" + name); f.of == "MPI" && served && !known && !strings.HasSuffix(name, "2f") && !strings.HasSuffix(name, "2c") {
				t.Errorf("%s is not in the table for Fortran", name)
			}
			continue
		}
		c, _ := effects.Of("MPI_" + name)
		if slices.Contains(inDifferentOrder, name) {
			continue
		}
		texts := 0
		for _, p := range f.parameters {
			if strings.Contains(p, "char *") {
				texts++
			}
		}
		if want := len(f.parameters) + 1 + texts; len(fortran.Roles) != want || fortran.Role(len(f.parameters)) != effects.Written {
			t.Errorf("%s has the roles %q in Fortran, which are not %d", name, fortran.Roles, want)
			continue
		}
		if fortran.Group != c.Group {
			t.Errorf("%s is of group %q in Fortran", name, fortran.Group)
		}
		for n := range f.parameters {
			if in := c.Role(n); in != effects.Value && in != fortran.Role(n) {
				t.Errorf("%s: %q has the role %c in Fortran, and %c in C", name, f.parameters[n], fortran.Role(n), in)
			}
		}
	}
}

// rolesOf returns the roles that a parameter may have.
func rolesOf(p string) string {
	if strings.Contains(p, "_function *") || strings.Contains(p, "_function_c *") {
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
	for _, name := range []string{"bsearch", "atexit", "pthread_create", "longjmp", "setjmp", "fork", "tmpfile", "freopen", "signal", "dlopen", "MPI_Grequest_start", "MPI_Win_create", "MPI_Put",
		"MPI_Comm_create_errhandler", "PMPI_Send", "MPI_File_open", "llvm.va_start", "llvm.eh.sjlj.longjmp", "llvm.returnaddress", "llvm.memcpyx", "__errno_location"} {
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
