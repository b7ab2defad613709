//go:build cgo && linux && (amd64 || arm64)

package skeleton_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"gigarank/internal/seed"
	"gigarank/mpivirt/native/skeleton"
)

// fortranGenerator writes random programs in Fortran, as generator does in C. The block of COMMON has one array in the main program, and two in a
// subroutine; a pointer leads to one of two arrays.
type fortranGenerator struct {
	*rand.Rand
	text  strings.Builder
	depth int
	loops int
}

func (g *fortranGenerator) put(format string, arguments ...any) {
	_, _ = fmt.Fprintf(&g.text, strings.Repeat("  ", g.depth+1)+format+"\n", arguments...)
}

// variable returns a variable that all ranks have alike, or of the rank's own.
func (g *fortranGenerator) variable(alike bool) string {
	if alike {
		return fmt.Sprintf("u%d", g.IntN(3))
	}
	return fmt.Sprintf("v%d", g.IntN(4))
}

// expression returns a number from 0 to 1023.
func (g *fortranGenerator) expression(alike bool) string {
	operand := func() string {
		switch k := g.IntN(8); {
		case k < 3:
			return g.variable(alike)
		case k == 3:
			return "nprocs"
		case alike || k == 4:
			return strconv.Itoa(g.IntN(40))
		case k == 5:
			return fmt.Sprintf("table(1 + iand(%s, 63))", g.variable(false))
		case k == 6:
			return "rank"
		}
		return g.variable(true)
	}
	return fmt.Sprintf([]string{"iand(%s + %s, 1023)", "iand(%s * %s, 1023)", "iand(ieor(%s, %s), 1023)", "iand(%s - %s, 1023)"}[g.IntN(4)], operand(), operand())
}

func (g *fortranGenerator) statements(n int, alike bool) {
	g.depth++
	for range n {
		if alike && g.IntN(3) == 0 {
			g.communicate()
		} else {
			g.statement(alike)
		}
	}
	g.depth--
}

// statement writes a statement that calls no function of MPI, unless it has others inside.
func (g *fortranGenerator) statement(alike bool) {
	array := []string{"field", "next"}[g.IntN(2)]
	if g.IntN(6) == 0 {
		g.byAlias()
		return
	}
	switch g.IntN(15) {
	case 0, 1:
		own := !alike || g.IntN(2) == 0
		g.put("%s = %s", g.variable(!own), g.expression(!own))
	case 2:
		g.put("table(1 + iand(%s, 63)) = %s", g.expression(false), g.expression(false))
	case 3:
		g.put("field = field * 0.5d0 + iand(%s, 15)", g.variable(false))
	case 4:
		g.put("do i = 2, 255\n    next(i) = 0.25d0 * (field(i - 1) + field(i + 1)) + mod(table(1 + iand(i, 63)), 3)\n  end do")
	case 5:
		g.put("%s = iand(int(%s(1 + iand(%s, 255))), 15)", g.variable(false), array, g.expression(false))
	case 6:
		g.put("if (mod(%s, 3) == 0) then\n    p => other%s\n  else\n    p => table%s\n  end if", g.variable(false), []string{"", "(9:40)"}[g.IntN(2)], []string{"", "(17:64)"}[g.IntN(2)])
	case 7:
		g.put("p(1 + iand(%s, 31)) = iand(p(3) + %s, 1023)", g.variable(false), g.expression(false))
	case 8:
		g.put("call mix(%s, %s, %s)", g.variable(false), g.expression(false), array)
	case 9:
		g.put("%s(1:128) = field(129:256)", array)
	case 10: // both names of the block
		g.put("call halves(%s)", g.variable(false))
	case 11: // a triangle, and a loop that data ends
		g.put("do i = 1, iand(%s, 31)\n    do j = %d, i\n      next(i) = next(i) + field(j) * 0.25d0\n    end do\n    if (field(i) > 40) exit\n  end do", g.variable(false), 1+g.IntN(3))
	case 12, 13:
		if g.depth < 4 {
			g.put("if (mod(%s, 3) %s) then", g.expression(alike), []string{"/= 0", "== 1", "< 2"}[g.IntN(3)])
			g.statements(1+g.IntN(3), alike)
			if g.IntN(2) == 0 {
				g.put("else")
				g.statements(1+g.IntN(2), alike)
			}
			g.put("end if")
		}
	default:
		if g.depth < 3 && g.loops < 9 {
			g.loops++
			n := g.loops
			g.put("do l%d = 0, iand(%s, 3)", n, g.expression(alike))
			g.statements(1+g.IntN(3), alike)
			if g.IntN(4) == 0 {
				g.put("  if (mod(%s, 5) == 0) exit", g.variable(alike))
			}
			g.put("end do")
		}
	}
}

// byAlias writes a statement that comes to memory by more than one name: pointers to sections and in derived types, indices that memory holds, an equivalence.
func (g *fortranGenerator) byAlias() {
	v, w, e := g.variable(false), g.variable(false), g.expression(false)
	cell := []string{"cells(1)", "cells(2)", "cells(1 + mod(" + g.variable(false) + ", 3))"}[g.IntN(3)]
	switch g.IntN(11) {
	case 0:
		g.put("table(1 + iand(table(1 + iand(%s, 63)), 63)) = %s", v, e)
	case 1:
		g.put("do i = 1, 64\n    next(1 + iand(table(i), 255)) = field(1 + iand(ieor(other(i), %s), 255)) * 0.5d0\n  end do", v)
	case 2:
		g.put("if (mod(%s, 2) == 0) then\n    q => field(5:132)\n  else\n    q => next(1:255:2)\n  end if", v)
	case 3:
		g.put("q(1 + iand(%s, 127)) = iand(%s, 15)", v, w)
	case 4:
		g.put("%s = iand(int(q(1 + iand(%s, 127))), 1023)", v, w)
	case 5:
		g.put("%s%%at => table(%d:64)", cell, 1+g.IntN(30))
	case 6:
		g.put("%s%%at(1 + iand(%s, 31)) = %s", cell, v, e)
	case 7:
		g.put("%s = iand(%s%%at(1 + iand(%s, 31)) + cells(1 + mod(%s, 3))%%n, 1023)", v, cell, w, v)
	case 8:
		g.put("%s%%n = %s\n  cells(%d) = %s", cell, e, 1+g.IntN(3), cell)
	case 9: // one memory by two names
		g.put("low(1 + iand(%s, 31)) = %s\n  %s = iand(high(1 + iand(%s, 15)), 1023)", v, e, w, v)
	default:
		g.put("where (next > 20) next = field * 0.5d0\n  %s = iand(int(sum(next(1:9))), 1023)", v)
	}
}

// exchange writes calls of MPI that all ranks make, as those of generator.
func (g *fortranGenerator) exchange(right, left, world string) {
	v, w, e, u := g.variable(false), g.variable(false), g.expression(false), g.variable(true)
	switch g.IntN(8) {
	case 0, 1:
		g.put("aa = 0\n  do k = 1, 3\n    call MPI_Irecv(aa(k), 1, MPI_INTEGER, %s, 10 + k, %s, rr(k), ierr)\n  end do", left, world)
		g.put("do k = 1, 3\n    call gigarank_compute(iand(ieor(%s, k), 7) * 1d-6)\n    call MPI_Send(table(k + iand(%s, 31)), 1, MPI_INTEGER, %s, 11 + mod(2 * k, 3), %s, ierr)\n  end do", v, w, right, world)
		g.put("do k = 1, 3\n    call MPI_Waitany(3, rr, which, status, ierr)\n    %s = iand(%s * 3 + which + %s, 1023)\n  end do", v, v, []string{"aa(which)", "status(MPI_TAG)", "1"}[g.IntN(3)])
	case 2:
		g.put("call MPI_Type_vector(4, 2, 3 + iand(%s, 3), MPI_INTEGER, kinds, ierr)\n  call MPI_Type_commit(kinds, ierr)", u)
		g.put("call MPI_Sendrecv(table, 1, kinds, %s, 7, other, 1, kinds, %s, 7, %s, status, ierr)\n  call MPI_Type_free(kinds, ierr)", right, left, world)
	case 3:
		g.put("mine = 0\n  if (%s) mine = 1", []string{v + " > " + w, "table(1 + iand(" + v + ", 63)) > other(5)", "field(7) > 4"}[g.IntN(3)])
		g.put("call MPI_Allreduce(mine, total, 1, MPI_INTEGER, MPI_%s, %s, ierr)\n  %s = total", []string{"MAX", "SUM"}[g.IntN(2)], world, u)
		g.put("if (total > 0) then\n    call gigarank_compute((iand(%s, 7) + 1) * 1d-6)\n    call MPI_Barrier(%s, ierr)\n  end if", w, world)
	case 4:
		g.put("do k = 1, 4\n    mine = 0\n    if (iand(%s + k, 7) > 2) mine = 1\n    next(1:64) = next(1:64) + k\n    call MPI_Allreduce(mine, total, 1, MPI_INTEGER, MPI_%s, %s, ierr)\n    if (total == 0) exit", v, []string{"MIN", "MAX"}[g.IntN(2)], world)
		g.put("  call gigarank_compute(k * 1d-6)\n    %s = iand(%s * 5 + 1, 1023)\n  end do", v, v)
	case 5:
		g.put("call MPI_Gather(%s, 1, MPI_INTEGER, all_of, 1, MPI_INTEGER, mod(%s, nprocs), %s, ierr)\n  call MPI_Bcast(all_of, nprocs, MPI_INTEGER, mod(%s, nprocs), %s, ierr)\n  %s = iand(all_of(1 + mod(%s, nprocs)), 1023)", v, u, world, u, world, w, v)
	case 6:
		g.put("call MPI_Comm_split(%s, iand(%s, 1), rank, half, ierr)\n  call MPI_Allreduce(%s, total, 1, MPI_INTEGER, MPI_MAX, half, ierr)\n  call MPI_Comm_free(half, ierr)\n  %s = total", world, v, w, w)
	default:
		g.put("call MPI_Isend(table, iand(%s, 15) + 1, MPI_INTEGER, %s, 12, %s, rr(1), ierr)\n  call MPI_Probe(MPI_ANY_SOURCE, 12, %s, status, ierr)\n  call MPI_Get_count(status, MPI_INTEGER, k, ierr)", e, right, world, world)
		g.put("call MPI_Recv(other, k, MPI_INTEGER, status(MPI_SOURCE), 12, %s, MPI_STATUS_IGNORE, ierr)\n  call MPI_Wait(rr(1), MPI_STATUS_IGNORE, ierr)\n  %s = iand(k * 7 + status(MPI_SOURCE), 1023)", world, w)
	}
}

// communicate writes a call of MPI that all ranks make, or a time that the rank computes.
func (g *fortranGenerator) communicate() {
	const right, left, world = "mod(rank + 1, nprocs)", "mod(rank + nprocs - 1, nprocs)", "MPI_COMM_WORLD"
	tag := g.IntN(3)
	if g.IntN(3) == 0 {
		g.exchange(right, left, world)
		return
	}
	switch g.IntN(9) {
	case 0:
		g.put("call MPI_Bcast(%s, 1, MPI_INTEGER, mod(%s, nprocs), %s, ierr)", g.variable(true), g.variable(true), world)
	case 1:
		g.put("call MPI_Allreduce(%s, %s, 1, MPI_INTEGER, MPI_%s, %s, ierr)", g.variable(false), g.variable(true), []string{"MAX", "MIN", "BXOR"}[g.IntN(3)], world)
	case 2:
		g.put("call MPI_Sendrecv(table, iand(%s, 31) + 1, MPI_INTEGER, %s, %d, other, 64, MPI_INTEGER, %s, %d, %s, status, ierr)", g.expression(false), right, tag, left, tag, world)
	case 3:
		g.put("call MPI_Sendrecv(field, iand(%s, 127) + 1, MPI_DOUBLE_PRECISION, %s, %d, next, 256, MPI_DOUBLE_PRECISION, %s, %d, %s, status, ierr)", g.expression(false), left, tag, right, tag, world)
		if g.IntN(2) == 0 {
			g.put("call MPI_Get_count(status, MPI_DOUBLE_PRECISION, v0, ierr)")
		}
	case 4:
		g.put("call MPI_Irecv(other, 64, MPI_INTEGER, %s, 5, %s, r(1), ierr)", left, world)
		g.put("call MPI_Isend(table, iand(%s, 31), MPI_INTEGER, %s, 5, %s, r(2), ierr)", g.expression(false), right, world)
		g.put("call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, ierr)")
	case 5:
		g.put("call MPI_Allreduce(MPI_IN_PLACE, next, iand(%s, 63), MPI_DOUBLE_PRECISION, MPI_MAX, %s, ierr)", g.variable(true), world)
	case 6: // a task: only it and messages read its memory
		g.put("do i = 1, iand(%s, 127) + 3\n    work(i) = work(1 + iand(i * 3, 255)) * 0.5d0 + i\n  end do", g.expression(false))
		g.put("call MPI_Sendrecv_replace(work, 8, MPI_DOUBLE_PRECISION, %s, 6, %s, 6, %s, status, ierr)", right, left, world)
	default:
		g.put("call gigarank_compute((iand(%s, 31) + 1) * 1d-6)", g.expression(false))
	}
}

// show has the rank compute for times that some of its memory gives, so that the fingerprint shows what it holds.
func (g *fortranGenerator) show() {
	for n := range 4 {
		if g.IntN(2) == 0 {
			g.put("call gigarank_compute(iand(v%d, 1023) * 1d-9)", n)
		}
	}
	for _, memory := range []string{"table", "other", "field", "next"} {
		if g.IntN(3) == 0 {
			g.put("do i = 1, 64\n    call gigarank_compute(iand(int(%s(i)), 1023) * i * 1d-9)\n  end do", memory)
		}
	}
}

// program returns a program.
func (g *fortranGenerator) program() string {
	g.text.WriteString(`program main
  implicit none
  include 'mpif.h'
  integer :: rank, nprocs, ierr, i, j, u0, u1, u2, v0, v1, v2, v3, status(MPI_STATUS_SIZE), r(2)
  integer :: l1, l2, l3, l4, l5, l6, l7, l8, l9
  integer :: k, which, mine, total, half, kinds, rr(3), aa(3), all_of(8), low(32), high(32)
  integer, target :: table(64), other(64)
  integer, pointer :: p(:)
  double precision, target :: next(256)
  double precision :: work(256)
  double precision, allocatable, target :: field(:)
  double precision, pointer :: q(:)
  type cell
    integer :: n
    integer, pointer :: at(:)
  end type
  type(cell) :: cells(3)
  common /block/ table, other
  equivalence (low(17), high(1))
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  allocate (field(256))
  u0 = 1; u1 = 2; u2 = 3; v0 = rank; v1 = 5; v2 = 7; v3 = 1; status = 0
  field = 0; next = 0; work = 1; other = 0
  do i = 1, 64
    table(i) = (i - 1) * rank
  end do
  p => table; q => field(5:132); low = 3; high = 4
  do i = 1, 3
    cells(i)%n = i
    cells(i)%at => table(i:64)
  end do
  do i = 1, 200 + nprocs ! a task
    work(1 + iand(i, 255)) = work(1 + iand(i, 255)) + i
  end do
`)
	g.depth = 0
	g.statements(14+g.IntN(8), true)
	g.show()
	g.text.WriteString(`  if (rank == 0) print *, v0, field(3), next(4), work(7)
  deallocate (field)
  call MPI_Finalize(ierr)
contains
  subroutine mix(v, a, f)
    integer, intent(inout) :: v
    integer, intent(in) :: a
    double precision, intent(inout) :: f(256)
    p(1 + iand(a, 31)) = ieor(p(1 + iand(a, 31)), a)
    f(1 + iand(a, 255)) = iand(a, 15)
    v = iand(p(1 + iand(a + 1, 31)) + int(f(1 + iand(a * 3, 255))), 1023)
  end subroutine
end program
subroutine halves(v)
  implicit none
  integer :: v, k, first(32), last(96)
  common /block/ first, last
  do k = 1, 32
    first(k) = iand(first(k) + last(k) + v, 1023)
  end do
  v = iand(last(1 + iand(v, 63)), 1023)
end subroutine
`)
	return g.text.String()
}

// TestRandomProgramsInFortran: the skeleton of a random program takes the same course. $GIGARANK_SKELETONS and $GIGARANK_SEED are those of TestRandomPrograms.
func TestRandomProgramsInFortran(t *testing.T) {
	needFlang(t)
	n, seed := drawn(t, 2), seed.Next()
	if text := os.Getenv("GIGARANK_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
		n = 1
	}
	if testing.Short() {
		n = min(n, 1)
	}
	for k := range n {
		g := &fortranGenerator{Rand: rand.New(rand.NewPCG(seed+uint64(k), 3))}
		text := g.program()
		program, refusal := buildFortran(t, text, "", skeleton.KeepDataFlag)
		if refusal != "" {
			t.Errorf("GIGARANK_SEED=%d: a program is refused: %s\n%s", seed+uint64(k), refusal, text)
			continue
		}
		verify(t, program, []int{1, 2, 5})
		if t.Failed() {
			t.Fatalf("GIGARANK_SEED=%d:\n%s", seed+uint64(k), text)
		}
	}
}
