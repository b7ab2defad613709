//go:build cgo && linux && (amd64 || arm64)

package skeleton_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestMembersOfCommon: what a call or a loop with constant bounds writes into a member of COMMON leaves the members beside it alone: here how many steps there are. Where it may write
// them, the steps depend on data.
func TestMembersOfCommon(t *testing.T) {
	needFlang(t)
	const text = `
program p
  implicit none
  include 'mpif.h'
  double precision :: sums, more
  integer :: steps, kind, me
  common /results/ sums(5), more(5), steps
  common /types/ me, kind
  integer :: k, ierr
  double precision :: u(1000)
  common /fields/ u
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call start
  u = me
  do k = 1, steps
    u = 0.5d0 * u + k
    call norm(u, sums)
    call norm(u, more)
  end do
  if (me == 0) write (*, *) sums, more
  call MPI_Finalize(ierr)
end program

subroutine start
  implicit none
  include 'mpif.h'
  double precision :: sums, more
  integer :: steps, kind, me, ierr
  common /results/ sums(5), more(5), steps
  common /types/ me, kind
  kind = MPI_DOUBLE_PRECISION
  %s
  if (me == 0) steps = 4
  call MPI_Bcast(steps, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
end subroutine

subroutine norm(u, total)
  implicit none
  include 'mpif.h'
  double precision :: u(1000), total(*), own(12)
  integer :: kind, me, ierr, m
  common /types/ me, kind
  own = 0
  do m = 1, 1000
    own(1 + mod(m, 5)) = own(1 + mod(m, 5)) + u(m) * u(m)
  end do
  call MPI_Allreduce(own, total, %d, kind, MPI_SUM, MPI_COMM_WORLD, ierr)
  do m = %d, %d
    total(m) = sqrt(total(m))
  end do
end subroutine
`
	for name, c := range map[string]struct {
		start           string
		count, from, to int
		refused         bool
	}{
		"within the members":             {"continue", 5, 1, 5, false},
		"a call that reaches the next":   {"continue", 11, 1, 5, true},
		"a loop that reaches the next":   {"continue", 5, 1, 6, true},
		"a loop in front of the next":    {"continue", 5, 2, 5, false},
		"a datatype of two":              {"if (me > 1) kind = MPI_DOUBLE_COMPLEX", 5, 1, 5, true},
		"a datatype that the user gives": {"read (*, *) kind", 5, 1, 5, true},
	} {
		program, refusal := buildFortran(t, fmt.Sprintf(text, c.start, c.count, c.from, c.to), "")
		switch {
		case c.refused && !strings.Contains(refusal, " depends on data: "):
			t.Errorf("%s: refused as %q", name, refusal)
		case !c.refused && refusal != "":
			t.Errorf("%s: %s", name, refusal)
		case !c.refused:
			verify(t, program, []int{1, 3})
		}
	}
}
