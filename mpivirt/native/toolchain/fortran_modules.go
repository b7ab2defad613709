package toolchain

import (
	"fmt"
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
      character*1 MPI_ARGV_NULL(1), MPI_ARGVS_NULL(1,1)
      common /gigarank_mpi_constants/ MPI_BOTTOM, MPI_IN_PLACE
      common /gigarank_mpi_constants/ MPI_UNWEIGHTED
      common /gigarank_mpi_constants/ MPI_WEIGHTS_EMPTY
      common /gigarank_mpi_constants/ MPI_ERRCODES_IGNORE
      common /gigarank_mpi_constants/ MPI_STATUS_IGNORE
      common /gigarank_mpi_constants/ MPI_STATUSES_IGNORE
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
	return s.String(), nil
}

// fortranHeader returns the text of mpif.h, which is in both source forms.
func fortranHeader() (string, error) {
	text, err := fortranNumbers()
	if err != nil {
		return "", err
	}
	functions := ""
	for _, name := range []string{"MPI_WTIME", "MPI_WTICK", "PMPI_WTIME", "PMPI_WTICK"} {
		functions += fmt.Sprintf("      double precision %s\n      external %s\n", name, name)
	}
	return text + shared + functions, nil
}
