package toolchain

import (
	"fmt"
	"slices"
	"strings"
)

// The bindings of Fortran follow from the declarations in mpi.h: C text that the runtime is
// compiled with, and the texts of mpif.h and of the modules mpi and mpi_f08.

// inFortran are the names of parameters that the standard calls otherwise in Fortran.
var inFortran = map[string]string{
	"buffer": "buf", "type": "datatype", "sent": "sendbuf", "received": "recvbuf", "operation": "op", "displacements": "displs",
	"senddisplacements": "sdispls", "recvdisplacements": "rdispls", "requests": "array_of_requests", "statuses": "array_of_statuses",
	"indices": "array_of_indices", "class_": "errorclass", "handler": "errhandler", "function": "user_fn", "commutes": "commute",
	"one": "comm1", "other": "comm2", "code": "errorcode", "low": "lb", "text": "string", "length": "resultlen", "old": "oldtype",
}

// inFortran returns the name of a parameter in Fortran.
func (p parameter) inFortran() string {
	if class, _ := p.handle(); p.name == "made" {
		return map[string]string{"Comm": "newcomm", "Datatype": "newtype", "Group": "newgroup", "Info": "newinfo"}[class]
	}
	if name, is := inFortran[p.name]; is {
		return name
	}
	return p.name
}

// logicals are the parameters that are LOGICAL in Fortran. Both compilers have 0 and 1 for
// their values.
var logicals = []string{"flag", "commutes", "reorder", "periods", "remain", "weighted", "high"}

// lengthOf returns the C expression for the length of an array of handles: a count beside it, or
// the number of neighbours or members.
func lengthOf(d declaration, p parameter) string {
	for _, name := range []string{"count", "incount", "n", "types"} {
		if slices.ContainsFunc(d.parameters, func(q parameter) bool { return q.base == "int" && q.pointers == 0 && !q.array && q.name == name }) {
			return "*" + name
		}
	}
	if strings.Contains(d.name, "eighbor_") {
		return fmt.Sprintf("gigarank_neighbors(gigarank_comm_of(*comm), %q[0] == 's')", p.name)
	}
	return "gigarank_members(gigarank_comm_of(*comm))"
}

// handleClasses are the types of C that are handles.
var handleClasses = []string{"Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Win"}

func (p parameter) handle() (class string, is bool) {
	class, is = strings.CutPrefix(p.base, "MPI_")
	return class, is && slices.Contains(handleClasses, class)
}

// choice reports whether a parameter is a buffer of any type.
func (p parameter) choice() bool { return p.base == "void" && p.pointers == 1 }

func (p parameter) text() bool { return p.base == "char" && (p.pointers == 1) != p.array }

// frees reports whether a function ends the use of a handle.
func frees(d declaration) bool {
	return strings.HasSuffix(d.name, "_free") || strings.HasSuffix(d.name, "_free_keyval") || d.name == "Comm_disconnect"
}

// position reports whether a parameter returns places in an array, which Fortran counts from 1.
func (p parameter) position() bool {
	return p.base == "int" && !p.constant && (p.name == "index" && p.pointers == 1 || p.name == "indices" && p.array)
}

// byHand are the functions whose bindings stand in fortran.c, with the parameters that they
// have in Fortran, and those that Fortran does not have.
var byHand = map[string]string{
	"Init": "", "Init_thread": "int required, int *provided", "Pcontrol": "const int level", "Wtime": "", "Wtick": "",
	"Op_create": "MPI_User_function *function, int commutes, MPI_Op *operation", "Errhandler_free": "MPI_Errhandler *handler", "Comm_create_errhandler": "MPI_Comm_errhandler_function *function, MPI_Errhandler *handler",
	"Buffer_detach": "void *buffer, int *size", "Comm_get_attr": "MPI_Comm comm, int comm_keyval, MPI_Aint *attribute_val, int *flag",
	"Alloc_mem":       "MPI_Aint size, MPI_Info info, void *baseptr",
	"Info_create_env": "MPI_Info *info", "Info_get_string": "MPI_Info info, const char *key, int *buflen, char *value, int *flag",
	"Comm_create_keyval": "MPI_Comm_copy_attr_function *copy_fn, MPI_Comm_delete_attr_function *delete_fn, int *keyval, MPI_Aint extra_state",
	"Type_create_keyval": "MPI_Type_copy_attr_function *copy_fn, MPI_Type_delete_attr_function *delete_fn, int *keyval, MPI_Aint extra_state",
	"Keyval_create":      "MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval, int extra_state",
	"Comm_set_attr":      "MPI_Comm comm, int keyval, MPI_Aint attribute_val", "Type_set_attr": "MPI_Datatype datatype, int keyval, MPI_Aint attribute_val",
	"Attr_put": "MPI_Comm comm, int keyval, int attribute_val", "Attr_get": "MPI_Comm comm, int keyval, int *attribute_val, int *flag",
	"Type_get_attr": "MPI_Datatype datatype, int keyval, MPI_Aint *attribute_val, int *flag",
}

// OnlyC reports whether a function of MPI has no binding in Fortran, since it converts for C
// what Fortran has.
func OnlyC(name string) bool {
	for _, suffix := range []string{"2c", "2f", "_toint", "_fromint", "2f08"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// fortranDeclared returns the functions of the bindings with the parameters that they have
// there, and whether their C text is generated.
func fortranDeclared() (all []declaration, generated []bool, err error) {
	inC, err := declared()
	if err != nil {
		return nil, nil, err
	}
	for _, d := range inC {
		if OnlyC(d.name) {
			continue
		}
		list, hand := byHand[d.name]
		if hand {
			d.parameters = nil
			for p := range strings.SplitSeq(list, ",") {
				if p = strings.TrimSpace(p); p != "" {
					d.parameters = append(d.parameters, parameterOf(p))
				}
			}
		}
		all, generated = append(all, d), append(generated, !hand)
	}
	return all, generated, nil
}

// bindingsName is the file of the bindings.
const bindingsName = "fortran_bindings.c"

// fortranTexts returns the generated files.
func fortranTexts() (map[string]string, error) {
	bindings, err := fortranSource()
	if err != nil {
		return nil, err
	}
	header, err := fortranHeader()
	if err != nil {
		return nil, err
	}
	texts := map[string]string{bindingsName: bindings, "mpif.h": header}
	if texts["mpi.f90"], err = fortranModule(); err != nil {
		return nil, err
	}
	texts["mpi_f08.f90"], err = fortranModule08()
	return texts, err
}

// fortranSource returns the C text of the bindings.
func fortranSource() (string, error) {
	all, generated, err := fortranDeclared()
	if err != nil {
		return "", err
	}
	var s strings.Builder
	s.WriteString("#include \"fortran.h\"\n")
	for i, d := range all {
		if generated[i] {
			writeBinding(&s, d)
			_, _ = fmt.Fprintf(&s, "GIGARANK_FORTRAN_NAMES(%s)\n", strings.ToLower(d.name))
		}
	}
	unserved, err := Unserved()
	for _, name := range unserved {
		_, _ = fmt.Fprintf(&s, "GIGARANK_FORTRAN_UNSERVED(%s, %s)\n", strings.ToLower(name), name)
	}
	return s.String(), err
}

// binding is the C text of one function's binding, by parts.
type binding struct {
	parameters, lengths, before, arguments, after []string
}

// writeBinding writes the binding of a function.
func writeBinding(s *strings.Builder, d declaration) {
	var b binding
	for _, p := range d.parameters {
		b.add(d, p)
	}
	if d.result != "int" {
		_, _ = fmt.Fprintf(s, "%s pmpi_%s_(%s) { return PMPI_%s(%s); }\n", d.result, strings.ToLower(d.name), strings.Join(b.parameters, ", "), d.name, strings.Join(b.arguments, ", "))
		return
	}
	parameters := slices.Concat(b.parameters, []string{"MPI_Fint *ierror"}, b.lengths)
	_, _ = fmt.Fprintf(s, "void pmpi_%s_(%s) {\n", strings.ToLower(d.name), strings.Join(parameters, ", "))
	for _, line := range b.before {
		_, _ = fmt.Fprintf(s, "\t%s\n", line)
	}
	_, _ = fmt.Fprintf(s, "\tint error = PMPI_%s(%s);\n", d.name, strings.Join(b.arguments, ", "))
	for _, line := range b.after {
		_, _ = fmt.Fprintf(s, "\t%s\n", line)
	}
	s.WriteString("\tif (ierror)\n\t\t*ierror = error;\n}\n")
}

// add adds a parameter to a binding. Handles are INTEGERs, strings are padded with blanks and
// have their lengths at the end, and all is passed by address.
func (b *binding) add(d declaration, p parameter) {
	n := p.name
	line := func(list *[]string, format string, arguments ...any) {
		*list = append(*list, fmt.Sprintf(format, arguments...))
	}
	class, handle := p.handle()
	lower := strings.ToLower(class)
	switch {
	case handle && p.array:
		length := lengthOf(d, p)
		line(&b.parameters, "MPI_Fint %s[]", n)
		line(&b.before, "struct gigarank_handles %s_;", n)
		line(&b.before, "gigarank_open_handles(%s, &%s_);", length, n)
		if p.constant || class == "Request" {
			line(&b.before, "gigarank_take_%ss(%s, %s, &%s_);", lower, length, n, n)
		}
		line(&b.arguments, "(void *)%s_.all", n)
		if !p.constant {
			line(&b.after, "gigarank_store_%ss(%s, %s, &%s_);", lower, length, n, n)
		}
		line(&b.after, "gigarank_give_up(&%s_);", n)
	case handle && p.pointers == 1:
		line(&b.parameters, "MPI_Fint *%s", n)
		line(&b.before, "%s %s_ = gigarank_%s_of(*%s), %s_before = %s_;", p.base, n, lower, n, n, n)
		line(&b.arguments, "&%s_", n)
		if frees(d) {
			line(&b.after, "if (error == MPI_SUCCESS)")
			line(&b.after, "\tgigarank_release_number(*%s);", n)
		}
		line(&b.after, "if (%s_ != %s_before)", n, n)
		line(&b.after, "\t*%s = gigarank_%s_number(%s_);", n, lower, n)
	case handle:
		line(&b.parameters, "const MPI_Fint *%s", n)
		line(&b.arguments, "gigarank_%s_of(*%s)", lower, n)
	case p.base == "MPI_Status":
		line(&b.parameters, "MPI_Status *%s", n)
		line(&b.arguments, "gigarank_status_of(%s)", n)
	case p.choice() || p.base == "int" && strings.HasSuffix(p.name, "weights"):
		line(&b.parameters, "void *%s", n)
		line(&b.arguments, "gigarank_buffer_of(%s)", n)
	case p.text() && p.constant:
		line(&b.parameters, "const char *%s", n)
		line(&b.lengths, "size_t %s_length", n)
		line(&b.before, "char %s_[%s_length + 1];", n, n)
		line(&b.before, "gigarank_take_text(%s_, %s, %s_length);", n, n, n)
		line(&b.arguments, "%s_", n)
	case p.text():
		line(&b.parameters, "char *%s", n)
		line(&b.lengths, "size_t %s_length", n)
		line(&b.before, "char %s_[MPI_MAX_LIBRARY_VERSION_STRING];", n)
		line(&b.before, "%s_[0] = 0;", n)
		line(&b.arguments, "%s_", n)
		found := ""
		if slices.ContainsFunc(d.parameters, func(q parameter) bool { return q.name == "flag" }) {
			found = " && flag[0]"
		}
		line(&b.after, "if (error == MPI_SUCCESS%s)", found)
		line(&b.after, "\tgigarank_store_text(%s, %s_length, %s_);", n, n, n)
	case p.position() && p.array:
		line(&b.parameters, "MPI_Fint %s[]", n)
		line(&b.arguments, "%s", n)
		line(&b.after, "for (int i = 0; i < *outcount; i++)")
		line(&b.after, "\t%s[i]++;", n)
	case p.position():
		line(&b.parameters, "MPI_Fint *%s", n)
		line(&b.arguments, "%s", n)
		line(&b.after, "*%s += *%s != MPI_UNDEFINED;", n, n)
	case p.pointers == 0 && !p.array:
		line(&b.parameters, "const %s *%s", p.base, n)
		line(&b.arguments, "*%s", n)
	case strings.HasSuffix(p.base, "_function"):
		line(&b.parameters, "%s *%s", p.base, n)
		line(&b.arguments, "%s", n)
	default:
		line(&b.parameters, "%s %s[]", p.base, n)
		line(&b.arguments, "(void *)%s", n)
	}
}

// FortranNames returns the names that Fortran programs have for a function of MPI, without
// MPI_.
func FortranNames(name string) []string {
	name = "mpi_" + strings.ToLower(name)
	return []string{name + "_", "p" + name + "_", name + "_f08_", "p" + name + "_f08_"}
}
