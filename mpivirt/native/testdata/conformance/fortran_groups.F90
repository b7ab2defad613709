! Groups, in Fortran.
#include "handles.h"
program fortran_groups
  use MODULE
  implicit none
  integer :: rank, size, checks = 0, failures = 0, ierr
  HANDLE(MPI_Comm) :: comm

  call MPI_Init(ierr)
  comm = MPI_COMM_WORLD
  call MPI_Comm_rank(comm, rank, ierr)
  call MPI_Comm_size(comm, size, ierr)
  call sets()
  call ranges()
  call translations()
  call errors()
  call report('fortran_groups')
  call MPI_Finalize(ierr)

contains

  integer function size_of(group) result(n)
    HANDLE(MPI_Group) :: group
    integer :: ierr
    call MPI_Group_size(group, n, ierr)
    if (ierr /= MPI_SUCCESS) n = -1
  end function

  integer function compared(one, other) result(outcome)
    HANDLE(MPI_Group) :: one, other
    integer :: ierr
    call MPI_Group_compare(one, other, outcome, ierr)
    if (ierr /= MPI_SUCCESS) outcome = -1
  end function

  ! is reports whether a group has these ranks of WORLD.
  logical function is(group, want)
    HANDLE(MPI_Group) :: group, world
    integer, intent(in) :: want(:)
    integer :: members(64), ranks(64), i, n, ierr
    n = ubound(want, 1)
    is = size_of(group) == n
    if (.not. is .or. n == 0) return
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
    members(1:n) = [(i, i = 0, n - 1)]
    ranks = -1
    call MPI_Group_translate_ranks(group, n, members, world, ranks, ierr)
    is = ierr == MPI_SUCCESS .and. all(ranks(1:n) == want)
    call MPI_Group_free(world, ierr)
  end function

  subroutine sets()
    HANDLE(MPI_Group) :: world, self, evens, odds, both, none, made, null
    integer :: even(64), odd(64), n, m, r, member
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
    call check(ierr == MPI_SUCCESS .and. size_of(world) == size, 'MPI_Comm_group')
    call MPI_Comm_group(MPI_COMM_SELF, self, ierr)
    call check(ierr == MPI_SUCCESS .and. size_of(self) == 1 .and. is(self, [rank]), 'MPI_Comm_group of MPI_COMM_SELF')
    call MPI_Group_rank(world, member, ierr)
    call check(ierr == MPI_SUCCESS .and. member == rank, 'MPI_Group_rank')
    call MPI_Group_rank(self, member, ierr)
    call check(ierr == MPI_SUCCESS .and. member == 0, 'MPI_Group_rank of one member')
    call check(compared(world, world) == MPI_IDENT, 'MPI_Group_compare of a group with itself')
    call check(compared(world, self) == merge(MPI_IDENT, MPI_UNEQUAL, size == 1), 'MPI_Group_compare with fewer members')
    n = 0
    m = 0
    do r = 0, size - 1
      if (mod(r, 2) == 0) then
        n = n + 1
        even(n) = r
      else
        m = m + 1
        odd(m) = r
      end if
    end do
    call MPI_Group_incl(world, n, even, evens, ierr)
    call check(ierr == MPI_SUCCESS .and. is(evens, even(1:n)), 'MPI_Group_incl')
    call MPI_Group_rank(evens, member, ierr)
    call check(ierr == MPI_SUCCESS .and. member == merge(rank / 2, MPI_UNDEFINED, mod(rank, 2) == 0), 'MPI_Group_rank of a part')
    call MPI_Group_excl(world, n, even, odds, ierr)
    call check(ierr == MPI_SUCCESS .and. is(odds, odd(1:m)), 'MPI_Group_excl')
    call check((odds == MPI_GROUP_EMPTY) .eqv. m == 0, 'MPI_Group_excl of all')
    ! The union has the first group's members first.
    call MPI_Group_union(odds, evens, both, ierr)
    call check(ierr == MPI_SUCCESS .and. is(both, [odd(1:m), even(1:n)]), 'MPI_Group_union')
    call check(compared(both, world) == merge(MPI_SIMILAR, MPI_IDENT, size > 1), 'MPI_Group_compare in another order')
    call MPI_Group_intersection(odds, evens, none, ierr)
    call check(ierr == MPI_SUCCESS .and. none == MPI_GROUP_EMPTY .and. size_of(none) == 0, 'MPI_Group_intersection of disjoint groups')
    call MPI_Group_intersection(both, evens, made, ierr)
    call check(ierr == MPI_SUCCESS .and. is(made, even(1:n)), 'MPI_Group_intersection')
    call MPI_Group_free(made, ierr)
    call check(ierr == MPI_SUCCESS .and. made == MPI_GROUP_NULL, 'MPI_Group_free')
    call MPI_Group_difference(both, odds, made, ierr)
    call check(ierr == MPI_SUCCESS .and. is(made, even(1:n)) .and. compared(made, evens) == MPI_IDENT, 'MPI_Group_difference')
    call MPI_Group_free(made, ierr)
    call MPI_Group_difference(evens, world, made, ierr)
    null = MPI_GROUP_EMPTY
    call check(ierr == MPI_SUCCESS .and. size_of(made) == 0 .and. compared(made, null) == MPI_IDENT, 'MPI_Group_difference of a part and all')
    call MPI_Group_incl(world, 0, even, made, ierr)
    call check(ierr == MPI_SUCCESS .and. made == MPI_GROUP_EMPTY, 'MPI_Group_incl of none')
    call MPI_Group_free(world, ierr)
    call check(ierr == MPI_SUCCESS .and. world == MPI_GROUP_NULL, 'MPI_Group_free of the group of MPI_COMM_WORLD')
    call MPI_Group_free(self, ierr)
    call MPI_Group_free(evens, ierr)
    call MPI_Group_free(both, ierr)
    if (m > 0) call MPI_Group_free(odds, ierr)
  end subroutine

  ! Ranges, forwards and backwards. The first index of ranges is that of a range's three numbers.
  subroutine ranges()
    HANDLE(MPI_Group) :: world, backwards, made
    integer :: back(3, 1), steps(3, 2), i
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
    back(:, 1) = [size - 1, 0, -1]
    steps(:, 1) = [0, size - 1, 2]
    steps(:, 2) = [1, size - 1, 2]
    call MPI_Group_range_incl(world, 1, back, backwards, ierr)
    call check(ierr == MPI_SUCCESS .and. is(backwards, [(size - 1 - i, i = 0, size - 1)]), 'MPI_Group_range_incl backwards')
    call MPI_Group_range_excl(backwards, 1, steps, made, ierr)
    call check(ierr == MPI_SUCCESS .and. is(made, [(size - 1 - i, i = 1, size - 1, 2)]), 'MPI_Group_range_excl')
    call check((made == MPI_GROUP_EMPTY) .eqv. size == 1, 'MPI_Group_range_excl of all')
    if (size > 1) then
      call MPI_Group_free(made, ierr)
      call MPI_Group_range_incl(world, 2, steps, made, ierr)
      call check(ierr == MPI_SUCCESS .and. compared(made, world) == merge(MPI_SIMILAR, MPI_IDENT, size > 2), 'MPI_Group_range_incl of two ranges')
      call check(is(made, [(i, i = 0, size - 1, 2), (i, i = 1, size - 1, 2)]), 'the members of two ranges')
      call MPI_Group_free(made, ierr)
      call MPI_Group_range_excl(world, 2, steps, made, ierr)
      call check(ierr == MPI_SUCCESS .and. made == MPI_GROUP_EMPTY, 'MPI_Group_range_excl of two ranges')
    end if
    call MPI_Group_free(backwards, ierr)
    call MPI_Group_free(world, ierr)
  end subroutine

  ! Ranks of one group in another.
  subroutine translations()
    HANDLE(MPI_Group) :: world, self
    integer :: from(3), to(4)
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
    call MPI_Comm_group(MPI_COMM_SELF, self, ierr)
    from = [0, MPI_PROC_NULL, size - 1]
    to = -7
    call MPI_Group_translate_ranks(world, 3, from, self, to, ierr)
    call check(ierr == MPI_SUCCESS .and. to(1) == merge(0, MPI_UNDEFINED, rank == 0), 'MPI_Group_translate_ranks of rank 0')
    call check(to(2) == MPI_PROC_NULL, 'MPI_Group_translate_ranks of MPI_PROC_NULL')
    call check(to(3) == merge(0, MPI_UNDEFINED, rank == size - 1) .and. to(4) == -7, 'MPI_Group_translate_ranks of the last rank')
    call MPI_Group_translate_ranks(self, 1, from, world, to, ierr)
    call check(ierr == MPI_SUCCESS .and. to(1) == rank, 'MPI_Group_translate_ranks to MPI_COMM_WORLD')
    call MPI_Group_free(world, ierr)
    call MPI_Group_free(self, ierr)
  end subroutine

  integer function class_of(code) result(class)
    integer, intent(in) :: code
    integer :: ierr
    call MPI_Error_class(code, class, ierr)
  end function

  subroutine errors()
    HANDLE(MPI_Group) :: world, made, null
    integer :: ranks(2), range(3, 1), n
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
    null = MPI_GROUP_NULL
    ranks = [size, 0]
    range(:, 1) = [0, size - 1, 0]
    call MPI_Group_incl(world, 1, ranks, made, ierr)
    call check(class_of(ierr) == MPI_ERR_RANK, 'MPI_Group_incl of a rank too high')
    call MPI_Group_excl(world, 1, ranks, made, ierr)
    call check(class_of(ierr) == MPI_ERR_RANK, 'MPI_Group_excl of a rank too high')
    call MPI_Group_range_incl(world, 1, range, made, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_Group_range_incl with a stride of 0')
    call MPI_Group_range_excl(world, 1, range, made, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_Group_range_excl with a stride of 0')
    call MPI_Group_size(null, n, ierr)
    call check(class_of(ierr) == MPI_ERR_GROUP, 'MPI_Group_size of MPI_GROUP_NULL')
    call MPI_Group_rank(null, n, ierr)
    call check(class_of(ierr) == MPI_ERR_GROUP, 'MPI_Group_rank of MPI_GROUP_NULL')
    call MPI_Group_compare(world, null, n, ierr)
    call check(class_of(ierr) == MPI_ERR_GROUP, 'MPI_Group_compare with MPI_GROUP_NULL')
    call MPI_Group_union(world, null, made, ierr)
    call check(class_of(ierr) == MPI_ERR_GROUP, 'MPI_Group_union with MPI_GROUP_NULL')
    call MPI_Group_intersection(world, null, made, ierr)
    call check(class_of(ierr) == MPI_ERR_GROUP, 'MPI_Group_intersection with MPI_GROUP_NULL')
    call MPI_Group_difference(world, null, made, ierr)
    call check(class_of(ierr) == MPI_ERR_GROUP, 'MPI_Group_difference with MPI_GROUP_NULL')
    call MPI_Group_translate_ranks(world, 1, ranks(2:2), null, ranks(1:1), ierr)
    call check(class_of(ierr) == MPI_ERR_GROUP, 'MPI_Group_translate_ranks to MPI_GROUP_NULL')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)
    call MPI_Group_free(world, ierr)
  end subroutine

#include "checks.h"
end program
