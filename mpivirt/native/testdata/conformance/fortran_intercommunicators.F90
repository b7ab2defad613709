! Intercommunicators, in Fortran: ranks with an even number in WORLD are one group, the others the other.
#include "handles.h"
program fortran_intercommunicators
  use MODULE
  implicit none
  integer :: rank, size, checks = 0, failures = 0, ierr, group, member, members, others
  HANDLE(MPI_Comm) :: half, inter

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  group = mod(rank, 2)
  call MPI_Comm_split(MPI_COMM_WORLD, group, rank, half, ierr)
  call MPI_Comm_rank(half, member, ierr)
  call MPI_Comm_size(half, members, ierr)
  others = size - members
  if (size > 1) then
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - group, 5, inter, ierr)
    call check(ierr == MPI_SUCCESS .and. inter /= MPI_COMM_NULL, 'MPI_Intercomm_create')
    call messages()
    call merged()
    call rooted(0)
    call rooted(1)
    call unrooted()
    call parts()
  end if
  call errors()
  if (size > 1) then
    call MPI_Comm_free(inter, ierr)
    call check(ierr == MPI_SUCCESS .and. inter == MPI_COMM_NULL, 'MPI_Comm_free of an intercommunicator')
  end if
  call MPI_Comm_free(half, ierr)
  call report('fortran_intercommunicators')
  call MPI_Finalize(ierr)

contains

  ! theirs returns the ranks in WORLD of the other group's members.
  function theirs() result(ranks)
    integer :: ranks(others), i
    ranks = [(2 * i + 1 - group, i = 0, others - 1)]
  end function

  subroutine messages()
    HANDLE(MPI_Comm) :: copy
    HANDLE(MPI_Group) :: remote, world
    STATUS :: status
    integer :: n, outcome, of(64), i
    logical :: flag
    call MPI_Comm_test_inter(inter, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. flag, 'MPI_Comm_test_inter')
    call MPI_Comm_test_inter(half, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. .not. flag, 'MPI_Comm_test_inter of an intracommunicator')
    call MPI_Comm_remote_size(inter, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == others, 'MPI_Comm_remote_size')
    call MPI_Comm_size(inter, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == members, 'MPI_Comm_size')
    call MPI_Comm_rank(inter, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == member, 'MPI_Comm_rank')
    call MPI_Comm_remote_group(inter, remote, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Comm_remote_group')
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
    of = -1
    call MPI_Group_translate_ranks(remote, others, [(i, i = 0, others - 1)], world, of, ierr)
    call check(ierr == MPI_SUCCESS .and. all(of(1:others) == theirs()), 'the members of MPI_Comm_remote_group')
    call MPI_Group_free(remote, ierr)
    call MPI_Group_free(world, ierr)
    ! Ranks with a partner in the other group exchange what they are.
    if (member < others) then
      n = -1
      call MPI_Sendrecv(rank, 1, MPI_INTEGER, member, 3, n, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3, inter, status, ierr)
      call check(ierr == MPI_SUCCESS .and. n == rank + 1 - 2 * group .and. OF(status, MPI_SOURCE) == member, 'MPI_Sendrecv')
    end if
    call MPI_Comm_dup(inter, copy, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Comm_dup')
    call MPI_Comm_compare(inter, copy, outcome, ierr)
    call check(ierr == MPI_SUCCESS .and. outcome == MPI_CONGRUENT, 'MPI_Comm_compare of a copy')
    call MPI_Comm_compare(inter, half, outcome, ierr)
    call check(ierr == MPI_SUCCESS .and. outcome == MPI_UNEQUAL, 'MPI_Comm_compare of an intracommunicator')
    call MPI_Barrier(copy, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Barrier')
    call MPI_Comm_free(copy, ierr)
  end subroutine

  subroutine merged()
    HANDLE(MPI_Comm) :: all
    integer :: n, m
    logical :: flag
    call MPI_Intercomm_merge(inter, group == 0, all, ierr)
    call check(ierr == MPI_SUCCESS .and. all /= MPI_COMM_NULL, 'MPI_Intercomm_merge')
    call MPI_Comm_rank(all, n, ierr)
    call MPI_Comm_size(all, m, ierr)
    call check(n == merge(others + member, member, group == 0) .and. m == size, 'the rank and the size of MPI_Intercomm_merge')
    call MPI_Comm_test_inter(all, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. .not. flag, 'MPI_Comm_test_inter of MPI_Intercomm_merge')
    n = -1
    call MPI_Allreduce(rank, n, 1, MPI_INTEGER, MPI_SUM, all, ierr)
    call check(ierr == MPI_SUCCESS .and. n == size * (size - 1) / 2, 'MPI_Allreduce of all')
    call MPI_Comm_free(all, ierr)
    ! The other group is first.
    call MPI_Intercomm_merge(inter, group == 1, all, ierr)
    call MPI_Comm_rank(all, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == merge(others + member, member, group == 1), 'MPI_Intercomm_merge the other way round')
    call MPI_Comm_free(all, ierr)
  end subroutine

  ! What a group sends, with its member 0 as the root.
  subroutine rooted(first)
    integer, intent(in) :: first
    integer :: root, x, i, total, own(2), got(2), everyone(64), counts(64), at(64), blocks(128)
    HANDLE(MPI_Request) :: request
    STATUS :: status
    logical :: mine, right
    mine = group == first
    root = 0
    if (mine) root = merge(MPI_ROOT, MPI_PROC_NULL, member == 0)
    x = merge(42, -1, mine)
    call MPI_Bcast(x, 1, MPI_INTEGER, root, inter, ierr)
    call check(ierr == MPI_SUCCESS .and. x == 42, 'MPI_Bcast')
    everyone = -1
    counts = [(mod(i, 2) + 1, i = 0, 63)]
    at = [(2 * i, i = 0, 63)]
    call MPI_Gather(rank, 1, MPI_INTEGER, everyone, 1, MPI_INTEGER, root, inter, ierr)
    right = ierr == MPI_SUCCESS
    if (root == MPI_ROOT) right = right .and. all(everyone(1:others) == theirs())
    call check(right, 'MPI_Gather')
    own = [rank, -rank]
    blocks = -7
    call MPI_Gatherv(own, counts(member + 1), MPI_INTEGER, blocks, counts, at, MPI_INTEGER, root, inter, ierr)
    right = ierr == MPI_SUCCESS
    if (root == MPI_ROOT) right = right .and. all(blocks(1:2 * others:2) == theirs()) &
      .and. all(blocks(2:2 * others:2) == merge(-theirs(), -7, counts(1:others) == 2))
    call check(right, 'MPI_Gatherv')
    blocks = [(i, i = 0, 127)]
    got = -1
    call MPI_Scatter(blocks, 2, MPI_INTEGER, got, 2, MPI_INTEGER, root, inter, ierr)
    call check(ierr == MPI_SUCCESS .and. all(got == merge([-1, -1], [2 * member, 2 * member + 1], mine)), 'MPI_Scatter')
    got = -1
    call MPI_Iscatterv(blocks, counts, at, MPI_INTEGER, got, counts(member + 1), MPI_INTEGER, root, inter, request, ierr)
    call MPI_Wait(request, status, ierr)
    call check(ierr == MPI_SUCCESS .and. all(got == merge([-1, -1], [2 * member, merge(2 * member + 1, -1, counts(member + 1) == 2)], mine)), 'MPI_Iscatterv')
    total = -1
    call MPI_Reduce(rank, total, 1, MPI_INTEGER, MPI_SUM, root, inter, ierr)
    call check(ierr == MPI_SUCCESS .and. total == merge(sum(theirs()), -1, root == MPI_ROOT), 'MPI_Reduce')
  end subroutine

  subroutine unrooted()
    integer :: total, want, i, everyone(64), sent(64), blocks(64), counts(64), at(64), vector(64), part(64)
    HANDLE(MPI_Request) :: request
    STATUS :: status
    want = sum(theirs())
    total = -1
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, inter, ierr)
    call check(ierr == MPI_SUCCESS .and. total == want, 'MPI_Allreduce')
    total = -1
    call MPI_Iallreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, inter, request, ierr)
    call MPI_Wait(request, status, ierr)
    call check(ierr == MPI_SUCCESS .and. total == want, 'MPI_Iallreduce')
    everyone = -1
    call MPI_Allgather(rank, 1, MPI_INTEGER, everyone, 1, MPI_INTEGER, inter, ierr)
    call check(ierr == MPI_SUCCESS .and. all(everyone(1:others) == theirs()) .and. everyone(others + 1) == -1, 'MPI_Allgather')
    everyone = -1
    counts = 1
    at = [(63 - i, i = 0, 63)]
    sent = [(100 * rank + i, i = 0, 63)]
    call MPI_Allgatherv(rank, 1, MPI_INTEGER, everyone, counts, at, MPI_INTEGER, inter, ierr)
    call check(ierr == MPI_SUCCESS .and. all(everyone(64:65 - others:-1) == theirs()) .and. everyone(1) == -1, 'MPI_Allgatherv')
    blocks = -1
    call MPI_Alltoall(sent, 1, MPI_INTEGER, blocks, 1, MPI_INTEGER, inter, ierr)
    call check(ierr == MPI_SUCCESS .and. all(blocks(1:others) == 100 * theirs() + member), 'MPI_Alltoall')
    call MPI_Alltoallv(sent, counts, at, MPI_INTEGER, blocks, counts, at, MPI_INTEGER, inter, ierr)
    call check(ierr == MPI_SUCCESS .and. all(blocks(64:65 - others:-1) == 100 * theirs() + 63 - member), 'MPI_Alltoallv')
    ! Both groups get vectors of as many elements as there are pairs.
    vector = [(rank + i, i = 0, 63)]
    part = -1
    call MPI_Reduce_scatter_block(vector, part, others, MPI_INTEGER, MPI_SUM, inter, ierr)
    call check(ierr == MPI_SUCCESS .and. all(part(1:others) == [(want + others * (member * others + i), i = 0, others - 1)]), 'MPI_Reduce_scatter_block')
    call MPI_Barrier(inter, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Barrier')
  end subroutine

  ! A part has the members of both groups that give a color, by key.
  subroutine parts()
    HANDLE(MPI_Comm) :: part, again
    HANDLE(MPI_Group) :: every, some, empty
    STATUS :: status
    integer :: color, n, m, left, total, want, i, r, s, t, list(2), far(2), first
    logical :: same, flag
    color = mod(member, 3)
    n = 0; m = 0; left = 0; want = 0
    do i = 0, size - 1
      same = mod(i / 2, 3) == color
      if (same .and. mod(i, 2) == group) n = n + 1
      if (same .and. mod(i, 2) == group .and. i > rank) left = left + 1 ! the last comes first
      if (same .and. mod(i, 2) /= group) then
        m = m + 1
        want = want + i
      end if
    end do
    call MPI_Comm_split(inter, color, -rank, part, ierr)
    call check(ierr == MPI_SUCCESS .and. ((part == MPI_COMM_NULL) .eqv. m == 0), 'MPI_Comm_split')
    if (m > 0) then
      call MPI_Comm_rank(part, r, ierr)
      call MPI_Comm_size(part, s, ierr)
      call MPI_Comm_remote_size(part, t, ierr)
      call MPI_Comm_test_inter(part, flag, ierr)
      call check(flag .and. r == left .and. s == n .and. t == m, 'the ranks of a part')
      total = -1
      call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, part, ierr)
      call check(ierr == MPI_SUCCESS .and. total == want, 'MPI_Allreduce in a part')
      call MPI_Comm_split(part, 0, 0, again, ierr)
      call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_MAX, again, ierr)
      call check(ierr == MPI_SUCCESS .and. mod(total, 2) /= group, 'MPI_Allreduce in a part of a part')
      call MPI_Comm_free(again, ierr)
      call MPI_Comm_free(part, ierr)
    end if
    call MPI_Comm_split(inter, merge(MPI_UNDEFINED, 4, group == 0), 0, part, ierr)
    call check(ierr == MPI_SUCCESS .and. part == MPI_COMM_NULL, 'MPI_Comm_split with members in one group only')
    ! The last of each group, and the first of that. Open MPI 4.1 needs the order of the whole: it has
    ! each remote group in that order.
#ifdef GIGARANK
    list = [members - 1, 0]
    far = [others - 1, 0]
#else
    list = [0, members - 1]
    far = [0, others - 1]
#endif
    call MPI_Comm_group(inter, every, ierr)
    call MPI_Group_incl(every, merge(2, 1, members > 1), list, some, ierr)
    call MPI_Group_rank(some, r, ierr)
    call MPI_Comm_create(inter, some, part, ierr)
    call check(ierr == MPI_SUCCESS .and. ((part == MPI_COMM_NULL) .eqv. r == MPI_UNDEFINED), 'MPI_Comm_create')
    if (part /= MPI_COMM_NULL) then
      call MPI_Comm_rank(part, s, ierr)
      call check(ierr == MPI_SUCCESS .and. s == r, 'the rank in MPI_Comm_create')
      first = -1
      call MPI_Comm_remote_size(part, t, ierr)
      if (r < t) call MPI_Sendrecv(rank, 1, MPI_INTEGER, r, 7, first, 1, MPI_INTEGER, r, 7, part, status, ierr)
      want = -1
      if (r < t) want = 2 * far(r + 1) + 1 - group
      call check(ierr == MPI_SUCCESS .and. first == want, 'MPI_Sendrecv in MPI_Comm_create')
      first = rank
      i = 0
      if (group == 0) i = merge(MPI_ROOT, MPI_PROC_NULL, r == 0)
      call MPI_Bcast(first, 1, MPI_INTEGER, i, part, ierr)
      call check(ierr == MPI_SUCCESS .and. first == merge(rank, 2 * far(1), group == 0), 'MPI_Bcast in MPI_Comm_create')
      call MPI_Comm_free(part, ierr)
    end if
    empty = MPI_GROUP_EMPTY
    if (group == 0) empty = some
    call MPI_Comm_create(inter, empty, part, ierr)
    call check(ierr == MPI_SUCCESS .and. part == MPI_COMM_NULL, 'MPI_Comm_create with members in one group only')
    call MPI_Group_free(some, ierr)
    call MPI_Group_free(every, ierr)
  end subroutine

  integer function class_of(code) result(class)
    integer, intent(in) :: code
    integer :: ierr
    call MPI_Error_class(code, class, ierr)
  end function

  subroutine errors()
    HANDLE(MPI_Comm) :: made, null
    HANDLE(MPI_Group) :: remote
    integer :: total
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    null = MPI_COMM_NULL
    call MPI_Intercomm_merge(MPI_COMM_WORLD, .false., made, ierr)
    call check(class_of(ierr) == MPI_ERR_COMM, 'MPI_Intercomm_merge of an intracommunicator')
    call MPI_Intercomm_merge(null, .false., made, ierr)
    call check(class_of(ierr) == MPI_ERR_COMM, 'MPI_Intercomm_merge of MPI_COMM_NULL')
    call MPI_Intercomm_create(null, 0, MPI_COMM_WORLD, 0, 5, made, ierr)
    call check(class_of(ierr) == MPI_ERR_COMM, 'MPI_Intercomm_create of MPI_COMM_NULL')
    call MPI_Comm_remote_group(MPI_COMM_WORLD, remote, ierr)
    call check(class_of(ierr) == MPI_ERR_COMM, 'MPI_Comm_remote_group of an intracommunicator')
    if (size > 1) then
      call MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN, ierr)
      call MPI_Scan(rank, total, 1, MPI_INTEGER, MPI_SUM, inter, ierr)
      call check(class_of(ierr) == MPI_ERR_COMM, 'MPI_Scan')
      ! An MPI may report it on MPI_COMM_WORLD.
      call MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 1 - group, 5, made, ierr)
      call check(class_of(ierr) == MPI_ERR_COMM, 'MPI_Intercomm_create of an intercommunicator')
    end if
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)
  end subroutine

#include "checks.h"
end program
