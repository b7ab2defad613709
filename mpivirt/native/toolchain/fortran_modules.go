package toolchain

import (
	"fmt"
	"slices"
	"strings"
)

// fortranConstants are the constants that Fortran has and C has not.
var fortranConstants = []constant{
	{name: "MPI_ADDRESS_KIND", value: 8}, {name: "MPI_OFFSET_KIND", value: 8}, {name: "MPI_COUNT_KIND", value: 8}, {name: "MPI_INTEGER_KIND", value: 4},
	{name: "MPI_STATUS_SIZE", value: 8}, {name: "MPI_SOURCE", value: 1}, {name: "MPI_TAG", value: 2}, {name: "MPI_ERROR", value: 3},
}

// shared is the common block with the constants that are variables. The runtime knows its
// order, in struct gigarank_fortran_constants.
const shared = `      integer MPI_BOTTOM, MPI_IN_PLACE
      integer MPI_UNWEIGHTED(1), MPI_WEIGHTS_EMPTY(1)
      integer MPI_ERRCODES_IGNORE(1)
      integer MPI_STATUS_IGNORE(8), MPI_STATUSES_IGNORE(8,1)
      integer MPI_BUFFER_AUTOMATIC
      character*1 MPI_ARGV_NULL(1), MPI_ARGVS_NULL(1,1)
      common /gigarank_mpi_constants/ MPI_BOTTOM, MPI_IN_PLACE
      common /gigarank_mpi_constants/ MPI_UNWEIGHTED
      common /gigarank_mpi_constants/ MPI_WEIGHTS_EMPTY
      common /gigarank_mpi_constants/ MPI_ERRCODES_IGNORE
      common /gigarank_mpi_constants/ MPI_STATUS_IGNORE
      common /gigarank_mpi_constants/ MPI_STATUSES_IGNORE
      common /gigarank_mpi_constants/ MPI_BUFFER_AUTOMATIC
      common /gigarank_mpi_constants/ MPI_ARGV_NULL, MPI_ARGVS_NULL
`

// valueOf returns the value of a constant in Fortran, whose strings do not end with a null.
func valueOf(c constant) int64 {
	if strings.HasPrefix(c.name, "MPI_MAX_") {
		return c.value - 1
	}
	return c.value
}

// fortranNumbers returns the declarations of the constants that are INTEGERs in Fortran, for
// both source forms.
func fortranNumbers() (string, error) {
	all, err := constants()
	if err != nil {
		return "", err
	}
	var s strings.Builder
	for _, c := range append(fortranConstants, all...) {
		_, _ = fmt.Fprintf(&s, "      integer %s\n      parameter (%s=%d)\n", c.name, c.name, valueOf(c))
	}
	for _, name := range []string{"MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"} {
		_, _ = fmt.Fprintf(&s, "      logical %s\n      parameter (%s=.false.)\n", name, name)
	}
	s.WriteString("      integer(kind=MPI_OFFSET_KIND) MPI_DISPLACEMENT_CURRENT\n      parameter (MPI_DISPLACEMENT_CURRENT=-1)\n")
	return s.String(), nil
}

// fortranHeader returns the text of mpif.h, which is in both source forms.
func fortranHeader() (string, error) {
	text, err := fortranNumbers()
	if err != nil {
		return "", err
	}
	functions := ""
	for _, name := range attributeFunctions {
		functions += "      external " + name + "\n"
	}
	for _, name := range []string{"MPI_WTIME", "MPI_WTICK", "PMPI_WTIME", "PMPI_WTICK"} {
		functions += fmt.Sprintf("      double precision %s\n      external %s\n", name, name)
	}
	for _, name := range []string{"MPI_AINT_ADD", "MPI_AINT_DIFF", "PMPI_AINT_ADD", "PMPI_AINT_DIFF"} {
		functions += fmt.Sprintf("      integer(kind=MPI_ADDRESS_KIND) %s\n      external %s\n", name, name)
	}
	return text + shared + functions, nil
}

// kinds are the types of Fortran for the types of C that are integers in Fortran.
var kinds = map[string]string{
	"int": "integer", "MPI_Aint": "integer(MPI_ADDRESS_KIND)", "MPI_Count": "integer(MPI_COUNT_KIND)", "MPI_Offset": "integer(MPI_OFFSET_KIND)", "double": "double precision",
}

// declare returns the declaration of a parameter in an interface, in module mpi_f08 with types
// for handles and statuses. Arguments that a procedure may change have no intent: constants
// such as MPI_STATUS_IGNORE may stand for these arguments.
func (p parameter) declare(modern bool) string {
	name, in := p.name, ""
	if p.constant || p.pointers == 0 && !p.array {
		in = ", intent(in)"
	}
	class, handle := p.handle()
	array := p.array || p.weights()
	switch {
	case p.choice():
		return fmt.Sprintf("!GCC$ ATTRIBUTES NO_ARG_CHECK :: %s\n    type(*), dimension(*) :: %s", name, name)
	case p.base == "char" && p.pointers > 0 && p.array: // arguments of programs, which do not come to any
		return "character(len=*)" + in + " :: " + name + map[bool]string{true: "(*)", false: "(count, *)"}[p.pointers == 1]
	case p.text():
		return fmt.Sprintf("character(len=*)%s :: %s", in, name)
	case strings.HasSuffix(p.base, "_function"):
		return "external :: " + name
	case p.base == "MPI_Status" && !modern && p.array:
		return "integer :: " + name + "(MPI_STATUS_SIZE, *)"
	case p.base == "MPI_Status" && !modern:
		return "integer :: " + name + "(MPI_STATUS_SIZE)"
	}
	kind, size := kinds[p.base], ""
	if slices.Contains(logicals, p.name) {
		kind = "logical"
	}
	if handle || p.base == "MPI_Status" {
		kind = "integer"
		if modern {
			kind = "type(MPI_" + class + ")"
		}
		if p.base == "MPI_Status" {
			kind = "type(MPI_Status)"
		}
	}
	switch {
	case p.row != "":
		size = "(" + p.row + ", *)"
	case array:
		size = "(*)"
	}
	return kind + in + " :: " + name + size
}

// procedure writes the interface of a function under a name.
func procedure(s *strings.Builder, d declaration, name string, modern bool) {
	var names, lines []string
	for _, p := range d.parameters {
		names = append(names, p.name)
		lines = append(lines, p.declare(modern))
	}
	what := "subroutine"
	if d.result != "int" {
		what = "function"
		lines = append(lines, kinds[d.result]+" :: "+name)
	} else if !slices.Contains(withoutError, d.name) {
		names = append(names, "ierror")
		lines = append(lines, map[bool]string{true: "integer, optional, intent(out) :: ierror", false: "integer, intent(out) :: ierror"}[modern])
	}
	_, _ = fmt.Fprintf(s, "  %s %s(%s)\n    import\n", what, name, strings.Join(names, ", "))
	for _, line := range lines {
		_, _ = fmt.Fprintf(s, "    %s\n", line)
	}
	_, _ = fmt.Fprintf(s, "  end %s\n", what)
}

// callbacks are the functions of a program that MPI calls, with their parameters in mpi_f08.
var callbacks = []struct{ name, parameters, types string }{
	{"MPI_User_function", "invec, inoutvec, len, datatype", "type(C_PTR), value :: invec, inoutvec; integer :: len; type(MPI_Datatype) :: datatype"},
	{"MPI_Comm_errhandler_function", "comm, error_code", "type(MPI_Comm) :: comm; integer :: error_code"},
	{"MPI_Win_errhandler_function", "win, error_code", "type(MPI_Win) :: win; integer :: error_code"},
	{"MPI_Session_errhandler_function", "session, error_code", "type(MPI_Session) :: session; integer :: error_code"},
	{"MPI_File_errhandler_function", "file, error_code", "type(MPI_File) :: file; integer :: error_code"},
	{"MPI_Comm_copy_attr_function", "oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror", "type(MPI_Comm) :: oldcomm; integer :: comm_keyval, ierror; " + copied},
	{"MPI_Comm_delete_attr_function", "comm, comm_keyval, attribute_val, extra_state, ierror", "type(MPI_Comm) :: comm; integer :: comm_keyval, ierror; " + deleted},
	{"MPI_Type_copy_attr_function", "oldtype, type_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror", "type(MPI_Datatype) :: oldtype; integer :: type_keyval, ierror; " + copied},
	{"MPI_Type_delete_attr_function", "datatype, type_keyval, attribute_val, extra_state, ierror", "type(MPI_Datatype) :: datatype; integer :: type_keyval, ierror; " + deleted},
	{"MPI_Win_copy_attr_function", "oldwin, win_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror", "type(MPI_Win) :: oldwin; integer :: win_keyval, ierror; " + copied},
	{"MPI_Win_delete_attr_function", "win, win_keyval, attribute_val, extra_state, ierror", "type(MPI_Win) :: win; integer :: win_keyval, ierror; " + deleted},
	{"MPI_Datarep_conversion_function", "userbuf, datatype, count, filebuf, position, extra_state, ierror", "type(C_PTR), value :: userbuf, filebuf; type(MPI_Datatype) :: datatype; integer :: count, ierror; integer(MPI_OFFSET_KIND) :: position; integer(MPI_ADDRESS_KIND) :: extra_state"},
	{"MPI_Datarep_extent_function", "datatype, extent, extra_state, ierror", "type(MPI_Datatype) :: datatype; integer(MPI_ADDRESS_KIND) :: extent, extra_state; integer :: ierror"},
	{"MPI_Grequest_query_function", "extra_state, status, ierror", "integer(MPI_ADDRESS_KIND) :: extra_state; type(MPI_Status) :: status; integer :: ierror"},
	{"MPI_Grequest_free_function", "extra_state, ierror", "integer(MPI_ADDRESS_KIND) :: extra_state; integer :: ierror"},
	{"MPI_Grequest_cancel_function", "extra_state, complete, ierror", "integer(MPI_ADDRESS_KIND) :: extra_state; logical :: complete; integer :: ierror"},
}

const (
	copied  = "integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out; logical :: flag"
	deleted = "integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state"
)

// attributeFunctions are the predefined functions that copy and delete attributes, and that which converts nothing.
var attributeFunctions = []string{
	"MPI_NULL_COPY_FN", "MPI_DUP_FN", "MPI_NULL_DELETE_FN", "MPI_COMM_NULL_COPY_FN", "MPI_COMM_DUP_FN", "MPI_COMM_NULL_DELETE_FN",
	"MPI_TYPE_NULL_COPY_FN", "MPI_TYPE_DUP_FN", "MPI_TYPE_NULL_DELETE_FN",
	"MPI_WIN_NULL_COPY_FN", "MPI_WIN_DUP_FN", "MPI_WIN_NULL_DELETE_FN", "MPI_CONVERSION_FN_NULL",
}

// second gives procedures of a module their second names.
func second(names ...string) (text string) {
	for _, name := range names {
		text += fmt.Sprintf("  interface PMPI_%s\n    module procedure MPI_%s\n  end interface\n", name, name)
	}
	return text
}

// sizeOf returns MPI_Sizeof, which takes anything.
func sizeOf(ierror string) string {
	set := "ierror = MPI_SUCCESS"
	if ierror != "" {
		set = "if (present(ierror)) " + set
	}
	return "  subroutine MPI_Sizeof(x, size, ierror)\n    class(*), dimension(..), intent(in) :: x\n    integer, intent(out) :: size\n    integer" + ierror +
		", intent(out) :: ierror\n    size = storage_size(x) / 8\n    " + set + "\n  end subroutine\n"
}

// statuses turns statuses of mpif.h and module mpi into statuses of mpi_f08, and back.
const statuses = `  subroutine MPI_Status_f2f08(f_status, f08_status, ierror)
    integer, intent(in) :: f_status(MPI_STATUS_SIZE)
    type(MPI_Status), intent(out) :: f08_status
    integer, optional, intent(out) :: ierror
    f08_status = transfer(f_status, f08_status)
    if (present(ierror)) ierror = MPI_SUCCESS
  end subroutine
  subroutine MPI_Status_f082f(f08_status, f_status, ierror)
    type(MPI_Status), intent(in) :: f08_status
    integer, intent(out) :: f_status(MPI_STATUS_SIZE)
    integer, optional, intent(out) :: ierror
    f_status = transfer(f08_status, f_status)
    if (present(ierror)) ierror = MPI_SUCCESS
  end subroutine
`

// fortranModule returns the text of module mpi: the constants of mpif.h, with interfaces of the functions.
func fortranModule() (string, error) {
	numbers, err := fortranNumbers()
	if err != nil {
		return "", err
	}
	all, _, err := fortranDeclared()
	var s strings.Builder
	s.WriteString("module mpi\n  implicit none\n  public\n" + numbers + shared)
	for _, name := range attributeFunctions {
		s.WriteString("  external :: " + name + "\n")
	}
	s.WriteString("interface\n")
	for _, d := range all {
		procedure(&s, d, "MPI_"+d.name, false)
		procedure(&s, d, "PMPI_"+d.name, false)
	}
	s.WriteString("end interface\n" + second("Sizeof") + "contains\n" + sizeOf("") + "end module\n")
	return s.String(), err
}

// shared08 is the common block of the constants that are variables as module mpi_f08 has it.
const shared08 = `  integer :: MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC
  integer :: MPI_UNWEIGHTED(1), MPI_WEIGHTS_EMPTY(1), MPI_ERRCODES_IGNORE(1)
  type(MPI_Status) :: MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE(1)
  character :: MPI_ARGV_NULL(1), MPI_ARGVS_NULL(1,1)
  common /gigarank_mpi_constants/ MPI_BOTTOM, MPI_IN_PLACE, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY, MPI_ERRCODES_IGNORE, MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE, MPI_BUFFER_AUTOMATIC, MPI_ARGV_NULL, MPI_ARGVS_NULL
`

// fortranModule08 returns the text of module mpi_f08, where handles have types of their own.
func fortranModule08() (string, error) {
	values, err := constants()
	if err != nil {
		return "", err
	}
	all, _, err := fortranDeclared()
	var s, equal strings.Builder
	s.WriteString("module mpi_f08\n  use, intrinsic :: iso_c_binding, only: C_PTR\n  implicit none\n  public\n  private :: C_PTR\n")
	for _, class := range handleClasses {
		_, _ = fmt.Fprintf(&s, "  type, bind(C) :: MPI_%s\n    integer :: MPI_VAL\n  end type\n", class)
	}
	s.WriteString("  type, bind(C) :: MPI_Status\n    integer :: MPI_SOURCE, MPI_TAG, MPI_ERROR, MPI_internal(5)\n  end type\n")
	for _, c := range append(fortranConstants, values...) {
		if c.class == "" {
			_, _ = fmt.Fprintf(&s, "  integer, parameter :: %s = %d\n", c.name, valueOf(c))
		} else {
			_, _ = fmt.Fprintf(&s, "  type(%s), parameter :: %s = %s(%d)\n", c.class, c.name, c.class, c.value)
		}
	}
	s.WriteString("  integer(MPI_OFFSET_KIND), parameter :: MPI_DISPLACEMENT_CURRENT = -1\n  logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .false., MPI_ASYNC_PROTECTS_NONBLOCKING = .false.\n" + shared08)
	for _, name := range attributeFunctions {
		s.WriteString("  external :: " + name + "\n")
	}
	s.WriteString("  abstract interface\n")
	for _, c := range callbacks {
		_, _ = fmt.Fprintf(&s, "    subroutine %s(%s)\n      import\n      %s\n    end subroutine\n", c.name, c.parameters, strings.ReplaceAll(c.types, "; ", "\n      "))
	}
	s.WriteString("  end interface\n")
	for _, operator := range []string{"==", "/="} {
		_, _ = fmt.Fprintf(&s, "  interface operator(%s)\n", operator)
		for _, class := range handleClasses {
			name := map[string]string{"==": "equal_", "/=": "other_"}[operator] + strings.ToLower(class)
			_, _ = fmt.Fprintf(&s, "    module procedure %s\n", name)
			_, _ = fmt.Fprintf(&equal, "  elemental logical function %s(a, b)\n    type(MPI_%s), intent(in) :: a, b\n    %s = a%%MPI_VAL %s b%%MPI_VAL\n  end function\n", name, class, name, operator)
		}
		s.WriteString("  end interface\n")
	}
	for _, d := range all {
		for _, prefix := range []string{"MPI_", "PMPI_"} {
			_, _ = fmt.Fprintf(&s, "  interface %s%s\n", prefix, d.name)
			procedure(&s, d, prefix+d.name+"_f08", true)
			s.WriteString("  end interface\n")
		}
	}
	s.WriteString(second("Sizeof", "Status_f2f08", "Status_f082f") + "contains\n" + sizeOf(", optional") + statuses + equal.String() + "end module\n")
	return s.String(), err
}
