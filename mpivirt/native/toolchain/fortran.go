package toolchain

import (
	"fmt"
	"slices"
	"strings"
)

// The bindings of Fortran follow from the declarations in mpi.h: C text that the runtime is
// compiled with, and the texts of mpif.h and of the modules mpi and mpi_f08. Parameters have the
// names there that the standard gives them, by which Fortran programs pass keyword arguments.

// logicals are the parameters that are LOGICAL in Fortran. Both compilers have 0 and 1 for
// their values.
var logicals = []string{"flag", "commute", "reorder", "periods", "remain_dims", "weighted", "high"}

// lengthOf returns the C expression for the length of an array of handles: a count beside it, or
// the number of neighbours or members.
func lengthOf(d declaration, p parameter) string {
	for _, name := range []string{"count", "incount", "max_datatypes"} {
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
var handleClasses = []string{"Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Win"}

func (p parameter) handle() (class string, is bool) {
	class, is = strings.CutPrefix(p.base, "MPI_")
	return class, is && slices.Contains(handleClasses, class)
}

// choice reports whether a parameter is a buffer of any type.
func (p parameter) choice() bool { return p.base == "void" && p.pointers == 1 }

// weights reports whether a parameter is an array of weights, for which a constant may stand.
func (p parameter) weights() bool { return p.base == "int" && strings.HasSuffix(p.name, "weights") }

func (p parameter) text() bool { return p.base == "char" && (p.pointers == 1) != p.array }

// frees reports whether a function ends the use of a handle.
func frees(d declaration) bool {
	return strings.HasSuffix(d.name, "_free") || strings.HasSuffix(d.name, "_free_keyval") || d.name == "Comm_disconnect" || d.name == "Session_finalize"
}

// position reports whether a parameter returns places in an array, which Fortran counts from 1.
func (p parameter) position() bool {
	return p.base == "int" && !p.constant && (p.name == "index" && p.pointers == 1 || p.name == "array_of_indices" && p.array)
}

// byHand are the functions whose bindings stand in fortran.c, functions with other parameters in Fortran, which
// are given, and functions that Fortran does not have.
var byHand = map[string]string{
	"Init": "", "Init_thread": "int required, int *provided", "Pcontrol": "const int level", "Wtime": "", "Wtick": "",
	"Op_create":                 "MPI_User_function *user_fn, int commute, MPI_Op *op",
	"Errhandler_free":           "MPI_Errhandler *errhandler",
	"Comm_create_errhandler":    "MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler",
	"Session_create_errhandler": "MPI_Session_errhandler_function *session_errhandler_fn, MPI_Errhandler *errhandler",
	"File_create_errhandler":    "MPI_File_errhandler_function *file_errhandler_fn, MPI_Errhandler *errhandler",
	"Session_get_nth_pset":      "MPI_Session session, MPI_Info info, int n, int *pset_len, char *pset_name",
	"Buffer_detach":             "void *buffer_addr, int *size",
	"Alloc_mem":                 "MPI_Aint size, MPI_Info info, void *baseptr",
	"Info_create_env":           "MPI_Info *info",
	"Info_get_string":           "MPI_Info info, const char *key, int *buflen, char *value, int *flag",
	"Comm_create_keyval":        "MPI_Comm_copy_attr_function *comm_copy_attr_fn, MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval, MPI_Aint extra_state",
	"Comm_set_attr":             "MPI_Comm comm, int comm_keyval, MPI_Aint attribute_val",
	"Comm_get_attr":             "MPI_Comm comm, int comm_keyval, MPI_Aint *attribute_val, int *flag",
	"Type_create_keyval":        "MPI_Type_copy_attr_function *type_copy_attr_fn, MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval, MPI_Aint extra_state",
	"Type_set_attr":             "MPI_Datatype datatype, int type_keyval, MPI_Aint attribute_val",
	"Type_get_attr":             "MPI_Datatype datatype, int type_keyval, MPI_Aint *attribute_val, int *flag",
	"Win_create_keyval":         "MPI_Win_copy_attr_function *win_copy_attr_fn, MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval, MPI_Aint extra_state",
	"Win_set_attr":              "MPI_Win win, int win_keyval, MPI_Aint attribute_val",
	"Win_get_attr":              "MPI_Win win, int win_keyval, MPI_Aint *attribute_val, int *flag",
	"Register_datarep":          "const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn, MPI_Datarep_conversion_function *write_conversion_fn, MPI_Datarep_extent_function *dtype_file_extent_fn, MPI_Aint extra_state",
	"Keyval_create":             "MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval, int extra_state",
	"Attr_put":                  "MPI_Comm comm, int keyval, int attribute_val",
	"Attr_get":                  "MPI_Comm comm, int keyval, int *attribute_val, int *flag",
	"Grequest_start":            "MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn, MPI_Grequest_cancel_function *cancel_fn, MPI_Aint extra_state, MPI_Request *request",
}

// OnlyC reports whether a function of MPI has no binding in Fortran: it converts handles of Fortran for C, or
// belongs to the tools interface (MPI 4.1, 15.3).
func OnlyC(name string) bool {
	if strings.HasPrefix(name, "T_") {
		return true
	}
	for _, suffix := range []string{"2c", "2f", "_toint", "_fromint", "2f08"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// isLarge reports whether a function has large counts.
func isLarge(name string) bool { return strings.HasSuffix(name, "_c") }

// fortranDeclared returns the functions of the bindings with the parameters that they have
// there, and whether their C text is generated.
func fortranDeclared() (all []declaration, generated []bool, err error) {
	inC, err := declared(slices.Concat([]string{"GIGARANK_MPI", "GIGARANK_SESSIONS"}, ofUnsupported)...)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range inC {
		if OnlyC(d.name) || d.unsupported() && isLarge(d.name) {
			continue
		}
		list, hand := byHand[d.name]
		if hand {
			if d.parameters, err = parametersOf(list); err != nil {
				return nil, nil, fmt.Errorf("the binding of MPI_%s in Fortran: %w", d.name, err)
			}
		}
		all, generated = append(all, d), append(generated, !hand && !d.unsupported())
	}
	for _, name := range onlyFortran {
		all, generated = append(all, declaration{result: "int", name: name, parameters: []parameter{{base: "void", name: "buf", pointers: 1}}}), append(generated, false)
	}
	return all, generated, nil
}

// onlyFortran are the functions that C does not have.
var onlyFortran = []string{"F_sync_reg"}

// withoutError are the functions that return no error in Fortran.
var withoutError = []string{"F_sync_reg", "Pcontrol"}

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
	s.WriteString("#include \"fortran/fortran.h\"\n#include \"mpi/objects.h\"\n#include \"mpi/unsupported.h\"\n#include \"rank/ranks.h\"\n")
	for i, d := range all {
		if generated[i] {
			if err := writeBinding(&s, d); err != nil {
				return "", fmt.Errorf("mpi.h: MPI_%s has no binding in Fortran: %w", d.name, err)
			}
			_, _ = fmt.Fprintf(&s, "GIGARANK_FORTRAN_NAMES(%s)\n", strings.ToLower(d.name))
		}
	}
	unsupported, err := declared(append(ofUnsupported, "GIGARANK_C")...)
	for _, d := range unsupported {
		if list, other := byHand[d.name]; other {
			d.parameters, err = parametersOf(list)
		}
		writeUnsupported(&s, d)
	}
	return s.String(), err
}

// writeUnsupported writes the binding of a function that native ranks do not have, or not in Fortran. It stores its
// error, which is the last parameter but for the lengths of texts.
func writeUnsupported(s *strings.Builder, d declaration) {
	var parameters []string
	comm := "NULL"
	for _, p := range d.parameters {
		parameters = append(parameters, "const void *"+p.name)
		if p.name == "comm" && p.base == "MPI_Comm" && p.pointers == 0 {
			comm = "&(MPI_Comm){gigarank_comm_of(*(const MPI_Fint *)comm)}"
		}
	}
	lower := strings.ToLower(d.name)
	_, _ = fmt.Fprintf(s, "void pmpi_%s_(%s) {\n\tint error = gigarank_unsupported(\"PMPI_%s\", %s);\n\tif (ierror)\n\t\t*ierror = error;\n}\nGIGARANK_FORTRAN_NAMES(%s)\n",
		lower, strings.Join(append(parameters, "MPI_Fint *ierror"), ", "), d.name, comm, lower)
}

// binding is the C text of one function's binding, by parts.
type binding struct {
	parameters, lengths, before, arguments, after []string
}

// leavable are the collectives that a rank may have left when a call of another rank turns out not to match: the place of the call is kept as the
// rank enters it.
var leavable = strings.Fields("Bcast Ibcast Reduce Ireduce Scan Iscan Exscan Iexscan Gather Igather Gatherv Igatherv Scatter Iscatter Scatterv Iscatterv")

// writeBinding writes the binding of a function. The error names a parameter for which it has no
// rule: the function then wants a binding by hand.
func writeBinding(s *strings.Builder, d declaration) error {
	var b binding
	for _, p := range d.parameters {
		if err := b.add(d, p); err != nil {
			return err
		}
	}
	if kinds[d.result] == "" {
		return fmt.Errorf("it returns %s", d.result)
	}
	if d.result != "int" {
		_, _ = fmt.Fprintf(s, "%s pmpi_%s_(%s) { return PMPI_%s(%s); }\n", d.result, strings.ToLower(d.name), strings.Join(b.parameters, ", "), d.name, strings.Join(b.arguments, ", "))
		return nil
	}
	parameters := slices.Concat(b.parameters, []string{"MPI_Fint *ierror"}, b.lengths)
	_, _ = fmt.Fprintf(s, "void pmpi_%s_(%s) {\n", strings.ToLower(d.name), strings.Join(parameters, ", "))
	for _, line := range b.before {
		_, _ = fmt.Fprintf(s, "\t%s\n", line)
	}
	if slices.Contains(leavable, d.name) {
		s.WriteString("\tgigarank_called(__builtin_return_address(0), 1);\n")
	}
	_, _ = fmt.Fprintf(s, "\tint error = PMPI_%s(%s);\n", d.name, strings.Join(b.arguments, ", "))
	for _, line := range b.after {
		_, _ = fmt.Fprintf(s, "\t%s\n", line)
	}
	s.WriteString("\tif (ierror)\n\t\t*ierror = error;\n}\n")
	return nil
}

// line adds a line to a part of a binding.
func line(part *[]string, format string, arguments ...any) {
	*part = append(*part, fmt.Sprintf(format, arguments...))
}

// pass adds a parameter that needs no more than a declaration and an argument.
func (b *binding) pass(declaration, argument string) {
	b.parameters, b.arguments = append(b.parameters, declaration), append(b.arguments, argument)
}

// add adds a parameter to a binding. Handles are INTEGERs, strings are padded with blanks and
// have their lengths at the end, and all is passed by address.
func (b *binding) add(d declaration, p parameter) error {
	n := p.name
	class, handle := p.handle()
	switch {
	case handle && p.array:
		b.addHandles(d, p)
	case handle && p.pointers == 1:
		b.addHandle(d, p)
	case handle:
		b.pass("const MPI_Fint *"+n, fmt.Sprintf("gigarank_%s_of(*%s)", strings.ToLower(class), n))
	case p.base == "MPI_Status":
		b.pass("MPI_Status *"+n, "gigarank_status_of("+n+")")
	case p.choice() || p.weights():
		b.pass("void *"+n, "gigarank_buffer_of("+n+")")
	case p.text() && p.constant:
		b.addText(p)
	case p.text():
		b.addTextMade(d, p)
	case p.position():
		b.addPositions(p)
	case strings.HasSuffix(p.base, "_function"):
		b.pass(p.base+" *"+n, n)
	case kinds[p.base] == "":
		return fmt.Errorf("parameter %s of type %s", n, p.base)
	case p.pointers == 0 && !p.array:
		b.pass(fmt.Sprintf("const %s *%s", p.base, n), "*"+n)
	default:
		b.pass(fmt.Sprintf("%s %s[]", p.base, n), "(void *)"+n)
	}
	return nil
}

// addHandles adds an array of handles, for which C gets a list of its own.
func (b *binding) addHandles(d declaration, p parameter) {
	n, length := p.name, lengthOf(d, p)
	class, _ := p.handle()
	lower := strings.ToLower(class)
	line(&b.before, "struct gigarank_handles %s_;", n)
	line(&b.before, "gigarank_open_handles(%s, &%s_);", length, n)
	if p.constant || class == "Request" {
		line(&b.before, "gigarank_take_%ss(%s, %s, &%s_);", lower, length, n, n)
	}
	b.pass(fmt.Sprintf("MPI_Fint %s[]", n), fmt.Sprintf("(void *)%s_.all", n))
	if !p.constant {
		line(&b.after, "gigarank_store_%ss(%s, %s, &%s_);", lower, length, n, n)
	}
	line(&b.after, "gigarank_give_up(&%s_);", n)
}

// addHandle adds a handle that the function makes or ends.
func (b *binding) addHandle(d declaration, p parameter) {
	n := p.name
	class, _ := p.handle()
	lower := strings.ToLower(class)
	line(&b.before, "%s %s_ = gigarank_%s_of(*%s), %s_before = %s_;", p.base, n, lower, n, n, n)
	b.pass("MPI_Fint *"+n, fmt.Sprintf("&%s_", n))
	switch {
	case !frees(d) || class == "Request": // requests have numbers of their own
	case class == "Datatype":
		line(&b.after, "if (error == MPI_SUCCESS && !gigarank_object(GIGARANK_DATATYPE, %s_before)) /* no other handle has the number */", n)
		line(&b.after, "\tgigarank_release_number(*%s);", n)
	default:
		line(&b.after, "if (error == MPI_SUCCESS)")
		line(&b.after, "\tgigarank_release_number(*%s);", n)
	}
	line(&b.after, "if (%s_ != %s_before)", n, n)
	line(&b.after, "\t*%s = gigarank_%s_number(%s_);", n, lower, n)
}

// addText adds a text that the function reads.
func (b *binding) addText(p parameter) {
	n := p.name
	line(&b.lengths, "size_t %s_length", n)
	line(&b.before, "char %s_[%s_length + 1];", n, n)
	kind := "text"
	if n == "comm_name" || n == "type_name" {
		kind = "name"
	}
	line(&b.before, "gigarank_take_%s(%s_, %s, %s_length);", kind, n, n, n)
	b.pass("const char *"+n, n+"_")
}

// addTextMade adds a text that the function stores, if it has a flag, where that is set.
func (b *binding) addTextMade(d declaration, p parameter) {
	n, found := p.name, ""
	line(&b.lengths, "size_t %s_length", n)
	line(&b.before, "char %s_[MPI_MAX_LIBRARY_VERSION_STRING];", n)
	line(&b.before, "%s_[0] = 0;", n)
	b.pass("char *"+n, n+"_")
	if slices.ContainsFunc(d.parameters, func(q parameter) bool { return q.name == "flag" }) {
		found = " && flag[0]"
	}
	line(&b.after, "if (error == MPI_SUCCESS%s)", found)
	line(&b.after, "\tgigarank_store_text(%s, %s_length, %s_);", n, n, n)
}

// addPositions adds places in an array, which Fortran counts from 1.
func (b *binding) addPositions(p parameter) {
	n := p.name
	if p.array {
		b.pass(fmt.Sprintf("MPI_Fint %s[]", n), n)
		line(&b.after, "for (int i = 0; i < *outcount; i++)")
		line(&b.after, "\t%s[i]++;", n)
		return
	}
	b.pass("MPI_Fint *"+n, n)
	line(&b.after, "*%s += *%s != MPI_UNDEFINED;", n, n)
}

// FortranNames returns the names that Fortran programs have for a function of MPI, without
// MPI_.
func FortranNames(name string) []string {
	name = "mpi_" + strings.ToLower(name)
	return []string{name + "_", "p" + name + "_", name + "_f08_", "p" + name + "_f08_"}
}
