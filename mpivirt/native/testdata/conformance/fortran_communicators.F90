! Communicators, their attributes, error handlers, names and hints, in Fortran.
#include "handles.h"
! Open MPI 4.1 does not give all that the standard says.
#ifdef GIGARANK
#define GIVEN(condition) condition
#else
#define GIVEN(condition) .true.
#endif
! Functions that MPI calls. They stand outside the program: inside, their code would lie on the stack, which may be copied.
module callbacks_of_communicators
  use MODULE
  implicit none
  integer :: heard = 0, heard_class = -1, others = 0, of_files = 0, copies = 0, deletes = 0
  logical :: refuses = .false.
  integer(MPI_ADDRESS_KIND) :: deleted(8) = -1
  HANDLE(MPI_Comm) :: heard_by
  HANDLE(MPI_File) :: file_told
contains

  subroutine listen(comm, code)
    HANDLE(MPI_Comm) :: comm
    integer :: code, ierr
    heard = heard + 1
    heard_by = comm
    call MPI_Error_class(code, heard_class, ierr)
  end subroutine

  subroutine listen_too(comm, code)
    HANDLE(MPI_Comm) :: comm
    integer :: code
    others = others + 1
  end subroutine

  subroutine listen_to_files(file, code)
    HANDLE(MPI_File) :: file
    integer :: code, ierr
    of_files = of_files + 1
    file_told = file
    call MPI_Error_class(code, heard_class, ierr)
  end subroutine

  subroutine copy(comm, key, extra, in, out, flag, ierr)
    HANDLE(MPI_Comm) :: comm
    integer :: key, ierr
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    copies = copies + 1
    ierr = MPI_ERR_OTHER
    if (extra /= 77) return
    flag = in /= 5
    out = in + 1
    ierr = MPI_SUCCESS
  end subroutine

  subroutine drop(comm, key, value, extra, ierr)
    HANDLE(MPI_Comm) :: comm
    integer :: key, ierr
    integer(MPI_ADDRESS_KIND) :: value, extra
    ierr = MPI_ERR_OTHER
    if (refuses) return
    deletes = deletes + 1
    deleted(deletes) = value
    ierr = MPI_SUCCESS
  end subroutine

#ifndef MPI_F08
  ! Those of MPI-1 have values that are INTEGERs.
  subroutine old_copy(comm, key, extra, in, out, flag, ierr)
    integer :: comm, key, extra, in, out, ierr
    logical :: flag
    copies = copies + 1
    flag = extra == -77
    out = in - 1
    ierr = MPI_SUCCESS
  end subroutine

  subroutine old_drop(comm, key, value, extra, ierr)
    integer :: comm, key, value, extra, ierr
    deletes = deletes + 1
    deleted(deletes) = value
    ierr = MPI_SUCCESS
  end subroutine
#endif
end module

program fortran_communicators
  use callbacks_of_communicators
  use MODULE
  implicit none
  integer, parameter :: wide = MPI_ADDRESS_KIND
  integer :: rank, size, checks = 0, failures = 0, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call splits()
  call made_of_groups()
  call copied()
  call between_groups()
  call names()
  call hints()
  call handlers()
  call files()
  call attributes()
  call functions_that_fail()
  call predefined()
  call old_names()
  call errors()
  call errors_of_requests()
  call keywords()
  call report('fortran_communicators')
  call MPI_Finalize(ierr)

contains

  integer function class_of(code) result(class)
    integer, intent(in) :: code
    integer :: ierr
    call MPI_Error_class(code, class, ierr)
    if (ierr /= MPI_SUCCESS) class = -1
  end function

  ! sum_of returns the sum of the ranks in WORLD of the members of a communicator.
  integer function sum_of(comm) result(sum)
    HANDLE(MPI_Comm) :: comm
    integer :: ierr
    sum = -1
    call MPI_Allreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
    if (ierr /= MPI_SUCCESS) sum = -1
  end function

  integer function compared(one, other) result(outcome)
    HANDLE(MPI_Comm) :: one, other
    integer :: ierr
    call MPI_Comm_compare(one, other, outcome, ierr)
    if (ierr /= MPI_SUCCESS) outcome = -1
  end function

  integer function size_of(comm) result(members)
    HANDLE(MPI_Comm) :: comm
    integer :: ierr
    call MPI_Comm_size(comm, members, ierr)
    if (ierr /= MPI_SUCCESS) members = -1
  end function

  integer function rank_in(comm) result(member)
    HANDLE(MPI_Comm) :: comm
    integer :: ierr
    call MPI_Comm_rank(comm, member, ierr)
    if (ierr /= MPI_SUCCESS) member = -1
  end function

  subroutine splits()
    HANDLE(MPI_Comm) :: half, rest, node, world
    integer :: members, r
    logical :: inter
    world = MPI_COMM_WORLD
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, ierr)
    call check(ierr == MPI_SUCCESS .and. half /= MPI_COMM_NULL, 'MPI_Comm_split')
    members = (size + 1 - mod(rank, 2)) / 2
    call check(size_of(half) == members, 'the size of a half')
    call check(rank_in(half) == members - 1 - rank / 2, 'the rank in a half')
    call check(sum_of(half) == sum([(r, r = mod(rank, 2), size - 1, 2)]), 'MPI_Allreduce in a half')
    inter = .true.
    call MPI_Comm_test_inter(half, inter, ierr)
    call check(ierr == MPI_SUCCESS .and. .not. inter, 'MPI_Comm_test_inter')
    call check(compared(half, half) == MPI_IDENT, 'a half is itself')
    call check(compared(half, world) == merge(MPI_UNEQUAL, MPI_CONGRUENT, size > 1), 'a half is not WORLD')
    call MPI_Comm_split(half, merge(MPI_UNDEFINED, 3, rank_in(half) == 0), 0, rest, ierr)
    call check(ierr == MPI_SUCCESS .and. ((rest == MPI_COMM_NULL) .eqv. rank_in(half) == 0), 'MPI_UNDEFINED')
    if (rest /= MPI_COMM_NULL) then
      if (size_of(rest) /= members - 1) call check(.false., 'the size of the rest')
      call MPI_Barrier(rest, ierr)
      call MPI_Comm_free(rest, ierr)
    end if
    call MPI_Comm_free(half, ierr)
    call check(ierr == MPI_SUCCESS .and. half == MPI_COMM_NULL, 'MPI_Comm_free')

    ! What shares memory is part of WORLD. Under a key of -rank its ranks are the other way round.
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, node, ierr)
    call check(ierr == MPI_SUCCESS .and. node /= MPI_COMM_NULL, 'MPI_Comm_split_type')
    call check(size_of(node) >= 1 .and. size_of(node) <= size, 'the size of a node')
    r = -1
    call MPI_Scan(rank, r, 1, MPI_INTEGER, MPI_MIN, node, ierr)
    call check(r == rank, 'the ranks of a node are the other way round')
    call MPI_Comm_free(node, ierr)
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, node, ierr)
    call check(ierr == MPI_SUCCESS .and. node == MPI_COMM_NULL, 'MPI_Comm_split_type of no type')
  end subroutine

  subroutine made_of_groups()
    HANDLE(MPI_Comm) :: evens
    HANDLE(MPI_Group) :: world, group
    integer :: r, n
    logical :: member
    n = (size + 1) / 2
    member = mod(rank, 2) == 0
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
    call MPI_Group_incl(world, n, [(2 * r, r = n - 1, 0, -1)], group, ierr)
    call MPI_Comm_create(MPI_COMM_WORLD, group, evens, ierr)
    call check(ierr == MPI_SUCCESS .and. ((evens /= MPI_COMM_NULL) .eqv. member), 'MPI_Comm_create')
    if (member) then
      call check(size_of(evens) == n .and. rank_in(evens) == n - 1 - rank / 2 .and. sum_of(evens) == n * (n - 1), 'what MPI_Comm_create makes')
      call MPI_Comm_free(evens, ierr)
      ! Only members make it.
      call MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, evens, ierr)
      call check(ierr == MPI_SUCCESS .and. evens /= MPI_COMM_NULL, 'MPI_Comm_create_group')
      call check(size_of(evens) == n .and. rank_in(evens) == n - 1 - rank / 2 .and. sum_of(evens) == n * (n - 1), 'what MPI_Comm_create_group makes')
      call MPI_Comm_disconnect(evens, ierr)
      call check(ierr == MPI_SUCCESS .and. evens == MPI_COMM_NULL, 'MPI_Comm_disconnect')
    end if
    call MPI_Group_free(world, ierr)
    call MPI_Group_free(group, ierr)
  end subroutine

  ! check_copy checks a copy of WORLD, and frees it.
  subroutine check_copy(code, twin, what)
    integer, intent(in) :: code
    HANDLE(MPI_Comm) :: twin, world
    character(len=*), intent(in) :: what
    integer :: x, y, next, last
    HANDLE(MPI_Request) :: requests(2)
    world = MPI_COMM_WORLD
    call check(code == MPI_SUCCESS .and. twin /= MPI_COMM_NULL .and. twin /= MPI_COMM_WORLD, what)
    call check(compared(world, twin) == MPI_CONGRUENT, what // ': congruent')
    ! Messages on a copy do not meet those on the original.
    next = mod(rank + 1, size)
    last = mod(rank + size - 1, size)
    call MPI_Isend([10 + rank], 1, MPI_INTEGER, next, 0, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend([20 + rank], 1, MPI_INTEGER, next, 0, twin, requests(2), ierr)
    call MPI_Recv(y, 1, MPI_INTEGER, last, 0, twin, MPI_STATUS_IGNORE, ierr)
    call MPI_Recv(x, 1, MPI_INTEGER, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    call check(x == 10 + last .and. y == 20 + last, what // ': messages')
    call MPI_Comm_free(twin, ierr)
    call check(ierr == MPI_SUCCESS .and. twin == MPI_COMM_NULL, what // ': freed')
  end subroutine

  subroutine copied()
    HANDLE(MPI_Comm) :: parent
    HANDLE(MPI_Comm), asynchronous :: twin
    HANDLE(MPI_Info) :: info
    HANDLE(MPI_Request) :: request
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'some_hint', 'true', ierr)
    call MPI_Comm_dup(MPI_COMM_WORLD, twin, ierr)
    call check_copy(ierr, twin, 'MPI_Comm_dup')
    call MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, twin, ierr)
    call check_copy(ierr, twin, 'MPI_Comm_dup_with_info')
    call MPI_Comm_idup(MPI_COMM_WORLD, twin, request, ierr)
    call check(ierr == MPI_SUCCESS .and. request /= MPI_REQUEST_NULL, 'the request of MPI_Comm_idup')
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call check_copy(ierr, twin, 'MPI_Comm_idup')
#ifdef GIGARANK
    call MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, twin, request, ierr)
#else
    call MPI_Comm_idup(MPI_COMM_WORLD, twin, request, ierr)
#endif
    call check(ierr == MPI_SUCCESS .and. request /= MPI_REQUEST_NULL, 'the request of MPI_Comm_idup_with_info')
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call check_copy(ierr, twin, 'MPI_Comm_idup_with_info')
    call MPI_Info_free(info, ierr)
    call MPI_Comm_get_parent(parent, ierr)
    call check(ierr == MPI_SUCCESS .and. parent == MPI_COMM_NULL, 'MPI_Comm_get_parent')
  end subroutine

  ! Ranks with an even number are one group, the others the other.
  subroutine between_groups()
    HANDLE(MPI_Comm) :: half, inter, twin
    HANDLE(MPI_Group) :: remote, world
    integer :: n, group, theirs, of(1), result
    logical :: flag
    if (size == 1) return
    group = mod(rank, 2)
    theirs = (size + group) / 2
    call MPI_Comm_split(MPI_COMM_WORLD, group, rank, half, ierr)
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - group, 8, inter, ierr)
    call check(ierr == MPI_SUCCESS .and. inter /= MPI_COMM_NULL, 'MPI_Intercomm_create')
    flag = .false.
    call MPI_Comm_test_inter(inter, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. flag, 'MPI_Comm_test_inter of an intercommunicator')
    n = -1
    call MPI_Comm_remote_size(inter, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == theirs, 'MPI_Comm_remote_size')
    call check(size_of(inter) == size - theirs .and. rank_in(inter) == rank / 2, 'the local group')
    call MPI_Comm_remote_group(inter, remote, ierr)
    call check(ierr == MPI_SUCCESS .and. remote /= MPI_GROUP_NULL, 'MPI_Comm_remote_group')
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
    call MPI_Group_translate_ranks(remote, 1, [theirs - 1], world, of, ierr)
    call check(of(1) == 2 * (theirs - 1) + 1 - group, 'the last of the remote group')
    call MPI_Group_size(remote, n, ierr)
    call check(n == theirs, 'the size of the remote group')
    call MPI_Group_free(remote, ierr)
    call MPI_Group_free(world, ierr)
    call MPI_Comm_dup(inter, twin, ierr)
    call check(ierr == MPI_SUCCESS .and. compared(inter, twin) == MPI_CONGRUENT, 'a copy of an intercommunicator')
    result = -1
    call MPI_Allreduce(rank, result, 1, MPI_INTEGER, MPI_SUM, twin, ierr)
    call check(ierr == MPI_SUCCESS .and. result == sum([(n, n = 1 - group, size - 1, 2)]), 'MPI_Allreduce between groups')
    call MPI_Comm_disconnect(twin, ierr)
    call check(ierr == MPI_SUCCESS .and. twin == MPI_COMM_NULL, 'MPI_Comm_disconnect of an intercommunicator')
    call MPI_Comm_free(inter, ierr)
    ! A communicator of one group has no other.
    call MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN, ierr)
#ifdef GIGARANK /* Open MPI takes any communicator */
    call MPI_Comm_remote_size(half, n, ierr)
    call check(class_of(ierr) == MPI_ERR_COMM, 'MPI_Comm_remote_size of one group')
#else
    call check(.true., 'MPI_Comm_remote_size of one group')
#endif
    call MPI_Comm_remote_group(half, remote, ierr)
    call check(class_of(ierr) == MPI_ERR_COMM, 'MPI_Comm_remote_group of one group')
    call MPI_Comm_free(half, ierr)
  end subroutine

  subroutine names()
    character(len=MPI_MAX_OBJECT_NAME) :: name
    HANDLE(MPI_Comm) :: twin
    integer :: length
    call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, ierr)
    call check(ierr == MPI_SUCCESS .and. name == 'MPI_COMM_WORLD' .and. length == 14, 'MPI_Comm_get_name of WORLD')
    call MPI_Comm_get_name(MPI_COMM_SELF, name, length, ierr)
    call check(ierr == MPI_SUCCESS .and. name == 'MPI_COMM_SELF' .and. length == 13, 'MPI_Comm_get_name of SELF')
    call MPI_Comm_dup(MPI_COMM_WORLD, twin, ierr)
    ! Blanks at the end are no part of a name, those at the start are.
    call MPI_Comm_set_name(twin, '  of ranks   ', ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Comm_set_name')
    name = repeat('x', MPI_MAX_OBJECT_NAME)
    call MPI_Comm_get_name(twin, name, length, ierr)
    call check(ierr == MPI_SUCCESS .and. adjustl(name) == 'of ranks' .and. length == len_trim(name), 'MPI_Comm_get_name')
    call check(GIVEN(name == '  of ranks' .and. length == 10), 'blanks before a name') ! Open MPI drops them
    call MPI_Comm_set_name(twin, 'b', ierr)
    call MPI_Comm_get_name(twin, name, length, ierr)
    call check(name == 'b' .and. length == 1, 'another name')
    call MPI_Comm_set_name(twin, '', ierr)
    call MPI_Comm_get_name(twin, name, length, ierr)
    call check(ierr == MPI_SUCCESS .and. name == '' .and. length == 0, 'no name')
    call MPI_Comm_free(twin, ierr)
  end subroutine

  subroutine hints()
    HANDLE(MPI_Comm) :: twin
    HANDLE(MPI_Info) :: info, got
    integer :: n
    call MPI_Comm_dup(MPI_COMM_WORLD, twin, ierr)
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'some_hint', 'true', ierr)
    call MPI_Comm_set_info(twin, info, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Comm_set_info')
    call MPI_Info_free(info, ierr)
    call check(info == MPI_INFO_NULL, 'MPI_Info_free')
    call MPI_Comm_get_info(twin, got, ierr)
    call check(ierr == MPI_SUCCESS .and. got /= MPI_INFO_NULL, 'MPI_Comm_get_info')
    n = -1
    call MPI_Info_get_nkeys(got, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n >= 0, 'MPI_Info_get_nkeys')
    call MPI_Info_free(got, ierr)
    call MPI_Comm_free(twin, ierr)
  end subroutine

  subroutine handlers()
    HANDLE(MPI_Errhandler) :: mine, got, other
    HANDLE(MPI_Comm) :: twin, half, self
    integer :: data(1)
    data = 0
    heard = 0
    call MPI_Comm_create_errhandler(listen, mine, ierr)
    call check(ierr == MPI_SUCCESS .and. mine /= MPI_ERRHANDLER_NULL, 'MPI_Comm_create_errhandler')
    call MPI_Comm_create_errhandler(listen_too, other, ierr)
    call check(ierr == MPI_SUCCESS .and. other /= mine, 'another error handler')
    call MPI_Comm_dup(MPI_COMM_WORLD, twin, ierr)
    call MPI_Comm_get_errhandler(twin, got, ierr)
    call check(ierr == MPI_SUCCESS .and. got == MPI_ERRORS_ARE_FATAL, 'MPI_Comm_get_errhandler')
    call MPI_Comm_set_errhandler(twin, mine, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Comm_set_errhandler')
    call MPI_Comm_get_errhandler(twin, got, ierr)
    call check(ierr == MPI_SUCCESS .and. got == mine, 'MPI_Comm_get_errhandler of a made one')
    call MPI_Errhandler_free(got, ierr)
    call check(ierr == MPI_SUCCESS .and. got == MPI_ERRHANDLER_NULL, 'MPI_Errhandler_free of what was got')
    call MPI_Errhandler_free(mine, ierr) ! the communicator keeps it
    call check(ierr == MPI_SUCCESS .and. mine == MPI_ERRHANDLER_NULL, 'MPI_Errhandler_free')
    call MPI_Send(data, 1, MPI_INTEGER, size, 0, twin, ierr)
    call check(class_of(ierr) == MPI_ERR_RANK, 'a wrong rank')
    call check(heard == 1 .and. heard_class == MPI_ERR_RANK .and. heard_by == twin, 'the handler hears of a wrong rank')
    call MPI_Send(data, -1, MPI_INTEGER, 0, 0, twin, ierr)
    call check(class_of(ierr) == MPI_ERR_COUNT, 'a wrong count')
    call check(heard == 2 .and. heard_class == MPI_ERR_COUNT, 'the handler hears of a wrong count')
    call MPI_Bcast(data, 1, MPI_INTEGER, -5, twin, ierr)
    call check(class_of(ierr) == MPI_ERR_ROOT .and. heard == 3 .and. heard_class == MPI_ERR_ROOT .and. heard_by == twin, 'a wrong root')
    ! What is made of it has the same handler, and may get another.
    call MPI_Comm_split(twin, mod(rank, 2), 0, half, ierr)
    call MPI_Recv(data, 1, MPI_INTEGER, 0, -7, half, MPI_STATUS_IGNORE, ierr)
    call check(class_of(ierr) == MPI_ERR_TAG .and. heard == 4 .and. heard_by == half, 'a wrong tag')
    call MPI_Comm_set_errhandler(half, other, ierr)
    call MPI_Errhandler_free(other, ierr)
    call MPI_Recv(data, 1, MPI_INTEGER, 0, -7, half, MPI_STATUS_IGNORE, ierr)
    call check(class_of(ierr) == MPI_ERR_TAG .and. heard == 4 .and. others == 1, 'another handler')
    call MPI_Comm_call_errhandler(twin, MPI_ERR_OTHER, ierr)
    call check(ierr == MPI_SUCCESS .and. heard == 5 .and. heard_class == MPI_ERR_OTHER .and. heard_by == twin, 'MPI_Comm_call_errhandler')
    call MPI_Comm_call_errhandler(half, MPI_ERR_OTHER, ierr)
    call check(ierr == MPI_SUCCESS .and. heard == 5 .and. others == 2, 'MPI_Comm_call_errhandler of another')
    call MPI_Comm_set_errhandler(twin, MPI_ERRORS_RETURN, ierr)
    call MPI_Send(data, 1, MPI_INTEGER, size, 0, twin, ierr)
    call check(class_of(ierr) == MPI_ERR_RANK .and. heard == 5, 'MPI_ERRORS_RETURN')
    call MPI_Comm_call_errhandler(twin, MPI_ERR_OTHER, ierr)
    call check(ierr == MPI_SUCCESS .and. heard == 5, 'MPI_Comm_call_errhandler of MPI_ERRORS_RETURN')
    call MPI_Comm_dup(MPI_COMM_SELF, self, ierr)
    call MPI_Comm_get_errhandler(self, got, ierr)
    call check(got == MPI_ERRORS_ARE_FATAL, 'the handler of a copy of SELF')
    call MPI_Comm_free(self, ierr)
    call MPI_Comm_free(half, ierr)
    call MPI_Comm_free(twin, ierr)
  end subroutine

  ! A file that cannot be opened is an error of MPI_FILE_NULL.
  subroutine files()
    HANDLE(MPI_Errhandler) :: mine, got
    HANDLE(MPI_File) :: f
    call MPI_File_get_errhandler(MPI_FILE_NULL, got, ierr)
    call check(ierr == MPI_SUCCESS .and. got == MPI_ERRORS_RETURN, 'MPI_File_get_errhandler')
    call MPI_File_create_errhandler(listen_to_files, mine, ierr)
    call check(ierr == MPI_SUCCESS .and. mine /= MPI_ERRHANDLER_NULL, 'MPI_File_create_errhandler')
    call MPI_File_set_errhandler(MPI_FILE_NULL, mine, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_File_set_errhandler')
    f = MPI_FILE_NULL
    call MPI_File_open(MPI_COMM_SELF, '/no directory/file', MPI_MODE_RDONLY, MPI_INFO_NULL, f, ierr)
    call check(ierr /= MPI_SUCCESS .and. of_files == 1 .and. file_told == MPI_FILE_NULL .and. heard_class /= MPI_SUCCESS, 'MPI_File_open')
#ifdef GIGARANK
    call MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_ARG, ierr)
#endif
    call check(GIVEN(ierr == MPI_SUCCESS .and. of_files == 2 .and. heard_class == MPI_ERR_ARG), 'MPI_File_call_errhandler')
    of_files = 2
    call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN, ierr)
    call MPI_Errhandler_free(mine, ierr)
    call MPI_File_open(MPI_COMM_SELF, '/no directory/file', MPI_MODE_RDONLY, MPI_INFO_NULL, f, ierr)
    call check(ierr /= MPI_SUCCESS .and. of_files == 2, 'MPI_File_open that returns its error')
  end subroutine

  ! value returns the attribute of a communicator, -1 for none.
  integer(wide) function value(comm, key)
    HANDLE(MPI_Comm) :: comm
    integer, intent(in) :: key
    integer :: ierr
    logical :: flag
    call MPI_Comm_get_attr(comm, key, value, flag, ierr)
    if (.not. flag .or. ierr /= MPI_SUCCESS) value = -1
  end function

  subroutine attributes()
    integer(wide), parameter :: large = 2_wide ** 40
    HANDLE(MPI_Comm) :: comm, twin, world
    integer :: a, b, c, freed
    world = MPI_COMM_WORLD
    copies = 0
    deletes = 0
    call MPI_Comm_create_keyval(copy, drop, a, 77_wide, ierr)
    call check(ierr == MPI_SUCCESS .and. a /= MPI_KEYVAL_INVALID, 'MPI_Comm_create_keyval')
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, drop, b, 0_wide, ierr)
    call check(ierr == MPI_SUCCESS .and. b /= a, 'MPI_COMM_DUP_FN')
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, c, 0_wide, ierr)
    call check(ierr == MPI_SUCCESS .and. c /= a .and. c /= b, 'MPI_COMM_NULL_COPY_FN')
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call check(value(comm, a) == -1, 'no attribute')
    call MPI_Comm_set_attr(comm, a, 10_wide, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Comm_set_attr')
    call MPI_Comm_set_attr(comm, b, large, ierr)
    call MPI_Comm_set_attr(comm, c, 30_wide, ierr)
    call check(value(comm, a) == 10 .and. value(comm, b) == large .and. value(comm, c) == 30 .and. value(world, a) == -1, 'MPI_Comm_get_attr')
    call MPI_Comm_set_attr(comm, a, 11_wide, ierr) ! in place of the old one, which is deleted
    call check(ierr == MPI_SUCCESS .and. deletes == 1 .and. deleted(1) == 10 .and. value(comm, a) == 11, 'a new value')
    call MPI_Comm_dup(comm, twin, ierr)
    call check(ierr == MPI_SUCCESS .and. copies == 1 .and. value(twin, a) == 12 .and. value(twin, b) == large .and. value(twin, c) == -1, 'attributes of a copy')
    call MPI_Comm_delete_attr(twin, a, ierr)
    call check(ierr == MPI_SUCCESS .and. deletes == 2 .and. deleted(2) == 12 .and. value(twin, a) == -1, 'MPI_Comm_delete_attr')
    call MPI_Comm_free(twin, ierr)
    call check(ierr == MPI_SUCCESS .and. deletes == 3 .and. deleted(3) == large, 'attributes of what is freed')
    call MPI_Comm_set_attr(comm, a, 5_wide, ierr)
    call MPI_Comm_dup(comm, twin, ierr) ! 5 is not copied
    call check(copies == 2 .and. value(twin, a) == -1 .and. value(twin, b) == large .and. deleted(4) == 11, 'a value that is not copied')
    call MPI_Comm_free(twin, ierr)
    call check(deletes == 5 .and. deleted(5) == large, 'a value that is copied')
    call MPI_Comm_set_attr(comm, a, 15_wide, ierr)
    ! A key that is freed lives on in what has it.
    freed = a
    call MPI_Comm_free_keyval(freed, ierr)
    call check(ierr == MPI_SUCCESS .and. freed == MPI_KEYVAL_INVALID .and. value(comm, a) == 15, 'MPI_Comm_free_keyval')
    call MPI_Comm_dup(comm, twin, ierr)
    call check(copies == 3 .and. value(twin, a) == 16, 'a freed key is copied')
    call MPI_Comm_delete_attr(twin, a, ierr)
    call check(ierr == MPI_SUCCESS .and. deletes == 7 .and. deleted(7) == 16, 'a freed key is deleted')
    call MPI_Comm_free(twin, ierr)
    call check(deletes == 8 .and. deleted(8) == large, 'the other key')
    deletes = 0
    call MPI_Comm_free(comm, ierr)
    call check(ierr == MPI_SUCCESS .and. deletes == 2 .and. deleted(1) + deleted(2) == large + 15, 'both attributes are deleted')
    call MPI_Comm_free_keyval(b, ierr)
    call MPI_Comm_free_keyval(c, ierr)
    call check(b == MPI_KEYVAL_INVALID .and. c == MPI_KEYVAL_INVALID, 'keys that are freed')
  end subroutine

  subroutine functions_that_fail()
    HANDLE(MPI_Comm) :: comm, twin
    integer :: key
    deletes = 0
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
    call MPI_Comm_create_keyval(copy, drop, key, 1_wide, ierr)
    call MPI_Comm_set_attr(comm, key, 1_wide, ierr)
    call MPI_Comm_dup(comm, twin, ierr)
    call check(ierr /= MPI_SUCCESS, 'a function that does not copy')
    refuses = .true.
    call MPI_Comm_delete_attr(comm, key, ierr)
    call check(ierr /= MPI_SUCCESS .and. value(comm, key) == 1, 'a function that does not delete')
    call MPI_Comm_free(comm, ierr)
    call check(ierr /= MPI_SUCCESS .and. comm /= MPI_COMM_NULL, 'a communicator that is not freed')
    refuses = .false.
    call MPI_Comm_set_attr(comm, MPI_KEYVAL_INVALID, 0_wide, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_Comm_set_attr of MPI_KEYVAL_INVALID')
    call MPI_Comm_delete_attr(comm, key, ierr)
    call check(ierr == MPI_SUCCESS .and. deletes == 1, 'a function that deletes again')
    call MPI_Comm_free_keyval(key, ierr)
    call MPI_Comm_free(comm, ierr)
  end subroutine

  subroutine predefined()
    HANDLE(MPI_Comm) :: world
    integer(wide) :: v
    logical :: flag
    world = MPI_COMM_WORLD
    call check(value(world, MPI_TAG_UB) >= 32767, 'MPI_TAG_UB')
    v = value(world, MPI_WTIME_IS_GLOBAL)
    call check(v == 0 .or. v == 1, 'MPI_WTIME_IS_GLOBAL')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, v, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. flag, 'MPI_IO')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, v, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. flag .and. (v == MPI_PROC_NULL .or. (v >= 0 .and. v < size)), 'MPI_HOST')
    call check(value(world, MPI_UNIVERSE_SIZE) > 0, 'MPI_UNIVERSE_SIZE')
    v = value(world, MPI_APPNUM)
    call check(v == 0 .or. v == -1, 'MPI_APPNUM')
    call check(value(world, MPI_LASTUSEDCODE) >= MPI_ERR_LASTCODE, 'MPI_LASTUSEDCODE')
  end subroutine

  ! The names of MPI-1, which mpi_f08 does not have.
  subroutine old_names()
#ifndef MPI_F08
    integer :: key, same, comm, twin, v
    logical :: flag
    copies = 0
    deletes = 0
    call MPI_Keyval_create(old_copy, old_drop, key, -77, ierr)
    call check(ierr == MPI_SUCCESS .and. key /= MPI_KEYVAL_INVALID, 'MPI_Keyval_create')
    call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, same, 0, ierr)
    call check(ierr == MPI_SUCCESS .and. same /= key, 'MPI_DUP_FN')
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr)
    call MPI_Attr_get(comm, key, v, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. .not. flag, 'MPI_Attr_get of none')
    call MPI_Attr_put(comm, key, -3, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Attr_put')
    call MPI_Attr_put(comm, same, 9, ierr)
    call MPI_Attr_get(comm, key, v, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. flag .and. v == -3, 'MPI_Attr_get')
    call check(value(comm, key) == -3, 'MPI_Comm_get_attr of what MPI_Attr_put has put')
    call MPI_Comm_dup(comm, twin, ierr)
    call MPI_Attr_get(twin, key, v, flag, ierr)
    call check(flag .and. v == -4 .and. copies == 1, 'an old attribute of a copy')
    call MPI_Attr_get(twin, same, v, flag, ierr)
    call check(flag .and. v == 9, 'MPI_DUP_FN copies')
    call MPI_Attr_delete(comm, key, ierr)
    call check(ierr == MPI_SUCCESS .and. deletes == 1 .and. deleted(1) == -3, 'MPI_Attr_delete')
    call MPI_Attr_get(comm, key, v, flag, ierr)
    call check(.not. flag, 'MPI_Attr_get of what is deleted')
    call MPI_Comm_free(comm, ierr)
    call MPI_Comm_free(twin, ierr)
    call check(deletes == 2 .and. deleted(2) == -4, 'an old attribute of what is freed')
    call MPI_Keyval_free(key, ierr)
    call check(ierr == MPI_SUCCESS .and. key == MPI_KEYVAL_INVALID, 'MPI_Keyval_free')
    call MPI_Keyval_free(same, ierr)
    call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, v, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. flag .and. v >= 32767, 'MPI_Attr_get of MPI_TAG_UB')
#endif
  end subroutine

  subroutine errors()
    HANDLE(MPI_Comm) :: made
    HANDLE(MPI_Group) :: group
    HANDLE(MPI_Errhandler) :: handler
    integer :: key
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
    call MPI_Comm_dup(MPI_COMM_NULL, made, ierr)
    call check(class_of(ierr) == MPI_ERR_COMM, 'MPI_Comm_dup of MPI_COMM_NULL')
    call MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, made, ierr)
    call check(class_of(ierr) == MPI_ERR_GROUP, 'MPI_Comm_create of MPI_GROUP_NULL')
    made = MPI_COMM_NULL
    call MPI_Comm_free(made, ierr)
    call check(class_of(ierr) == MPI_ERR_COMM, 'MPI_Comm_free of MPI_COMM_NULL')
    call MPI_Comm_disconnect(made, ierr)
    call check(class_of(ierr) == MPI_ERR_COMM, 'MPI_Comm_disconnect of MPI_COMM_NULL')
    call MPI_Comm_split_type(MPI_COMM_WORLD, -77, 0, MPI_INFO_NULL, made, ierr)
    call check(class_of(ierr) == MPI_ERR_ARG, 'MPI_Comm_split_type of a wrong type')
    call MPI_Comm_set_name(MPI_COMM_NULL, 'a', ierr)
    call check(class_of(ierr) == MPI_ERR_COMM, 'MPI_Comm_set_name of MPI_COMM_NULL')
    call MPI_Comm_get_errhandler(MPI_COMM_NULL, handler, ierr)
    call check(class_of(ierr) == MPI_ERR_COMM, 'MPI_Comm_get_errhandler of MPI_COMM_NULL')
    handler = MPI_ERRHANDLER_NULL
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_Comm_set_errhandler of MPI_ERRHANDLER_NULL')
    key = MPI_KEYVAL_INVALID
    call MPI_Comm_free_keyval(key, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_Comm_free_keyval of MPI_KEYVAL_INVALID')
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_Comm_delete_attr of MPI_TAG_UB')
    call MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, 5_wide, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_Comm_set_attr of MPI_TAG_UB')
    call MPI_Comm_call_errhandler(MPI_COMM_NULL, MPI_ERR_TAG, ierr)
    call check(class_of(ierr) == MPI_ERR_COMM, 'MPI_Comm_call_errhandler of MPI_COMM_NULL')
    made = MPI_COMM_WORLD
    call MPI_Comm_free(made, ierr)
    call check(class_of(ierr) == MPI_ERR_COMM .and. made == MPI_COMM_WORLD, 'MPI_Comm_free of WORLD')
    call MPI_Comm_split(MPI_COMM_WORLD, -5, 0, made, ierr)
    call check(class_of(ierr) == MPI_ERR_ARG, 'MPI_Comm_split of a wrong color')
    call MPI_Comm_remote_group(MPI_COMM_WORLD, group, ierr)
    call check(class_of(ierr) == MPI_ERR_COMM, 'MPI_Comm_remote_group of WORLD')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, ierr)
  end subroutine

  ! Arguments have the names of the standard. mpi_f08 does not need the last one.
#ifdef MPI_F08
#define CODE
#else
#define CODE , ierror=ierr
#endif
#if defined GIGARANK || defined MPI_F08
#define NAMED(name) name=
#else /* module mpi of Open MPI has other names for these */
#define NAMED(name)
#endif
  subroutine keywords()
    HANDLE(MPI_Comm) :: half, inter
    HANDLE(MPI_Comm), asynchronous :: twin
    HANDLE(MPI_Group) :: one
    HANDLE(MPI_Info) :: hints
    HANDLE(MPI_Errhandler) :: handler
    HANDLE(MPI_Request) :: later
    character(len=MPI_MAX_OBJECT_NAME) :: name
    integer :: key, n
    integer(wide) :: v
    logical :: is
    heard = 0
    copies = 0
    deletes = 0
    call MPI_Comm_dup_with_info(comm=MPI_COMM_WORLD, info=MPI_INFO_NULL, newcomm=twin CODE)
    call MPI_Comm_create_keyval(comm_copy_attr_fn=copy, comm_delete_attr_fn=drop, comm_keyval=key, extra_state=77_wide CODE)
    call MPI_Comm_set_attr(comm=twin, comm_keyval=key, attribute_val=-8_wide CODE)
    call MPI_Comm_get_attr(comm=twin, comm_keyval=key, attribute_val=v, flag=is CODE)
    call check(is .and. v == -8, 'attributes by keyword')
    call MPI_Comm_delete_attr(comm=twin, comm_keyval=key CODE)
    call check(deletes == 1 .and. deleted(1) == -8, 'MPI_Comm_delete_attr by keyword')
    call MPI_Comm_free_keyval(comm_keyval=key CODE)
    call check(key == MPI_KEYVAL_INVALID, 'MPI_Comm_free_keyval by keyword')
    call MPI_Comm_create_errhandler(NAMED(comm_errhandler_fn)listen, NAMED(errhandler)handler CODE)
    call MPI_Comm_set_errhandler(comm=twin, errhandler=handler CODE)
    call MPI_Errhandler_free(errhandler=handler CODE)
    call MPI_Comm_get_errhandler(NAMED(comm)twin, NAMED(errhandler)handler CODE)
    call MPI_Comm_call_errhandler(comm=twin, errorcode=MPI_ERR_TAG CODE)
    call check(heard == 1 .and. heard_class == MPI_ERR_TAG .and. handler /= MPI_ERRORS_ARE_FATAL, 'error handlers by keyword')
    call MPI_Errhandler_free(errhandler=handler CODE)
    call check(handler == MPI_ERRHANDLER_NULL, 'MPI_Errhandler_free by keyword')
    call MPI_Comm_set_name(comm=twin, comm_name='twin' CODE)
    call MPI_Comm_get_name(comm=twin, comm_name=name, resultlen=n CODE)
    call check(name == 'twin' .and. n == 4, 'names by keyword')
    call MPI_Info_create(info=hints CODE)
    call MPI_Comm_set_info(comm=twin, info=hints CODE)
    call MPI_Info_free(info=hints CODE)
    call MPI_Comm_get_info(comm=twin, info_used=hints CODE)
    call check(hints /= MPI_INFO_NULL, 'hints by keyword')
    call MPI_Info_free(info=hints CODE)
    call MPI_Comm_test_inter(comm=twin, flag=is CODE)
    call check(.not. is, 'MPI_Comm_test_inter by keyword')
    call MPI_Comm_disconnect(comm=twin CODE)
    call check(twin == MPI_COMM_NULL, 'MPI_Comm_disconnect by keyword')
    call MPI_Comm_idup(comm=MPI_COMM_WORLD, newcomm=twin, request=later CODE)
    call MPI_Wait(request=later, status=MPI_STATUS_IGNORE CODE)
    call check(size_of(twin) == size, 'MPI_Comm_idup by keyword')
    call MPI_Comm_free(comm=twin CODE)
#ifdef GIGARANK
    call MPI_Comm_idup_with_info(comm=MPI_COMM_WORLD, info=MPI_INFO_NULL, newcomm=twin, request=later CODE)
    call MPI_Wait(request=later, status=MPI_STATUS_IGNORE CODE)
    call check(size_of(twin) == size, 'MPI_Comm_idup_with_info by keyword')
    call MPI_Comm_free(comm=twin CODE)
#else
    call check(.true., 'MPI_Comm_idup_with_info by keyword')
#endif
    call MPI_Comm_split_type(comm=MPI_COMM_WORLD, split_type=MPI_COMM_TYPE_SHARED, key=0, info=MPI_INFO_NULL, newcomm=half CODE)
    call check(half /= MPI_COMM_NULL, 'MPI_Comm_split_type by keyword')
    call MPI_Comm_free(comm=half CODE)
    call MPI_Comm_group(comm=MPI_COMM_SELF, group=one CODE)
    call MPI_Comm_create(comm=MPI_COMM_SELF, group=one, newcomm=half CODE)
    call check(size_of(half) == 1, 'MPI_Comm_create by keyword')
    call MPI_Comm_free(comm=half CODE)
    call MPI_Comm_create_group(comm=MPI_COMM_WORLD, group=one, tag=rank, newcomm=half CODE)
    call check(size_of(half) == 1, 'MPI_Comm_create_group by keyword')
    call MPI_Comm_free(comm=half CODE)
    call MPI_Group_free(group=one CODE)
    call MPI_Comm_get_parent(parent=half CODE)
    call check(half == MPI_COMM_NULL, 'MPI_Comm_get_parent by keyword')
    if (size == 1) return
    call MPI_Comm_split(comm=MPI_COMM_WORLD, color=mod(rank, 2), key=rank, newcomm=half CODE)
    call MPI_Intercomm_create(NAMED(local_comm)half, NAMED(local_leader)0, NAMED(peer_comm)MPI_COMM_WORLD, NAMED(remote_leader)1 - mod(rank, 2), NAMED(tag)9, NAMED(newintercomm)inter CODE)
    call MPI_Comm_remote_size(comm=inter, size=n CODE)
    call check(n == (size + mod(rank, 2)) / 2, 'MPI_Comm_remote_size by keyword')
    call MPI_Comm_remote_group(comm=inter, group=one CODE)
    call MPI_Group_size(group=one, size=n CODE)
    call check(n == (size + mod(rank, 2)) / 2, 'MPI_Comm_remote_group by keyword')
    call MPI_Group_free(group=one CODE)
    call MPI_Comm_free(comm=half CODE)
    call MPI_Comm_free(comm=inter CODE)
  end subroutine

  ! Open MPI's bindings of MPI_Wait, MPI_Waitall and MPI_Waitsome leave requests and statuses alone on an error.
  logical function all_null(requests)
    HANDLE(MPI_Request) :: requests(3)
    all_null = requests(1) == MPI_REQUEST_NULL .and. requests(2) == MPI_REQUEST_NULL .and. requests(3) == MPI_REQUEST_NULL
  end function

  ! A receive among several requests gets a message that is too long.
  subroutine errors_of_requests()
    HANDLE(MPI_Comm) :: twin
    HANDLE(MPI_Errhandler) :: mine
    HANDLE(MPI_Request) :: receives(3), sends(3)
    STATUSES(statuses, 3)
    integer, asynchronous :: in(3), out(2, 3)
    integer :: way, i, at(3), done, all_done, failed
    heard = 0
    call MPI_Comm_dup(MPI_COMM_WORLD, twin, ierr)
    call MPI_Comm_create_errhandler(listen, mine, ierr)
    call MPI_Comm_set_errhandler(twin, mine, ierr)
    do way = 0, 2
      in = -1
      out = 0
      do i = 1, 3
        out(1, i) = 10 * i + way
        call MPI_Isend(out(:, i), merge(2, 1, i == 2), MPI_INTEGER, rank, i, twin, sends(i), ierr)
      end do
      do i = 1, 3
        call MPI_Irecv(in(i), 1, MPI_INTEGER, rank, i, twin, receives(i), ierr)
      end do
      call MPI_Waitall(3, sends, MPI_STATUSES_IGNORE, ierr)
      select case (way)
      case (0)
        call MPI_Waitall(3, receives, statuses, ierr)
        call check(class_of(ierr) == MPI_ERR_IN_STATUS, 'MPI_ERR_IN_STATUS')
        call check(GIVEN(OF_ONE(statuses, 1, MPI_ERROR) == MPI_SUCCESS .and. class_of(OF_ONE(statuses, 2, MPI_ERROR)) == MPI_ERR_TRUNCATE .and. OF_ONE(statuses, 3, MPI_ERROR) == MPI_SUCCESS), 'MPI_ERROR')
        call check(GIVEN(all_null(receives)), 'MPI_Waitall ends all')
        call check(heard == 1 .and. (heard_class == MPI_ERR_IN_STATUS .or. heard_class == MPI_ERR_TRUNCATE) .and. heard_by == twin, 'the handler hears of MPI_Waitall')
      case (1)
        call MPI_Wait(receives(1), MPI_STATUS_IGNORE, ierr)
        call check(ierr == MPI_SUCCESS, 'MPI_Wait')
        call MPI_Wait(receives(2), MPI_STATUS_IGNORE, ierr)
        call check(class_of(ierr) == MPI_ERR_TRUNCATE .and. heard == 2 .and. heard_class == MPI_ERR_TRUNCATE, 'MPI_Wait of what is too long')
        call MPI_Wait(receives(3), MPI_STATUS_IGNORE, ierr)
        call check(GIVEN(all_null(receives)), 'MPI_Wait ends all')
      case (2)
#ifdef GIGARANK
        all_done = 0
        failed = 0
        do while (all_done < 3)
          call MPI_Waitsome(3, receives, done, at, statuses, ierr)
          if (ierr /= MPI_SUCCESS) then
            do i = 1, done
              if (at(i) == 2 .and. class_of(OF_ONE(statuses, i, MPI_ERROR)) == MPI_ERR_TRUNCATE) failed = failed + 1
            end do
          end if
          all_done = all_done + done
        end do
        call check(failed == 1, 'MPI_Waitsome')
        call check(all_null(receives), 'MPI_Waitsome ends all')
#else
        do i = 1, 3
          call MPI_Wait(receives(i), MPI_STATUS_IGNORE, ierr)
        end do
        call check(.true., 'MPI_Waitsome')
        call check(.true., 'MPI_Waitsome ends all')
#endif
      end select
      call check(in(1) == 10 + way .and. in(3) == 30 + way, 'what the others receive')
    end do
    call MPI_Errhandler_free(mine, ierr)
    call MPI_Comm_free(twin, ierr)
  end subroutine

#include "checks.h"
end program
