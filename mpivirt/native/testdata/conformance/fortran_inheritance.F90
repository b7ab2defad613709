! What a communicator gets of the one that it is made of, in Fortran: see inheritance.c.
#include "handles.h"
module callbacks_of_inheritance
  use MODULE
  implicit none
  integer :: heard = 0, copies = 0
contains

  subroutine hear(comm, code)
    HANDLE(MPI_Comm) :: comm
    integer :: code, class, ierr
    call MPI_Error_class(code, class, ierr)
    if (class == MPI_ERR_RANK .and. comm /= MPI_COMM_NULL) heard = heard + 1
  end subroutine

  subroutine copy(comm, key, extra, in, out, flag, ierr)
    HANDLE(MPI_Comm) :: comm
    integer :: key, ierr
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    copies = copies + 1
    out = in
    flag = .true.
    ierr = MPI_SUCCESS
  end subroutine
end module

program fortran_inheritance
  use callbacks_of_inheritance
  use MODULE
  implicit none
  integer, parameter :: wide = MPI_ADDRESS_KIND
  integer :: rank, size, checks = 0, failures = 0, ierr, key
  HANDLE(MPI_Errhandler) :: handler
  HANDLE(MPI_Info) :: mine
  HANDLE(MPI_Comm) :: parent, local

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call MPI_Comm_create_errhandler(hear, handler, ierr)
  call MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, key, 0_wide, ierr)
  call MPI_Info_create(mine, ierr)
  call MPI_Info_set(mine, 'mpi_assert_no_any_source', 'true', ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, parent, ierr)
  call mark(parent)
  call of_one()
  if (size > 1) then
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), 0, local, ierr)
    call mark(local)
    call of_two()
    call MPI_Comm_free(local, ierr)
  end if
#ifdef GIGARANK
  call of_groups()
  call guided()
#endif
  call MPI_Comm_free(parent, ierr)
  call report('fortran_inheritance')
  call MPI_Finalize(ierr)

contains

  subroutine mark(comm)
    HANDLE(MPI_Comm), intent(in) :: comm
    HANDLE(MPI_Info) :: theirs
    call MPI_Info_create(theirs, ierr)
    call MPI_Info_set(theirs, 'mpi_assert_no_any_tag', 'true', ierr)
    call MPI_Comm_set_info(comm, theirs, ierr)
    call MPI_Info_free(theirs, ierr)
    call MPI_Comm_set_errhandler(comm, handler, ierr)
    call MPI_Comm_set_attr(comm, key, 42_wide, ierr)
    call MPI_Comm_set_name(comm, 'parent', ierr)
  end subroutine

  logical function has(comm, hint)
    HANDLE(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: hint
    HANDLE(MPI_Info) :: info
    character(len=8) :: value
    logical :: flag
    value = ''
    call MPI_Comm_get_info(comm, info, ierr)
    call MPI_Info_get(info, hint, 8, value, flag, ierr)
    call MPI_Info_free(info, ierr)
    has = flag .and. value == 'true'
  end function

  ! inherits checks what a communicator has, and frees it.
  subroutine inherits(function, made, duplicate, hints, given)
    character(len=*), intent(in) :: function
    HANDLE(MPI_Comm) :: made
    logical, intent(in) :: duplicate, hints, given
    HANDLE(MPI_Errhandler) :: got
    character(len=MPI_MAX_OBJECT_NAME) :: name
    integer :: before, length, class, data(1)
    integer(wide) :: value
    logical :: flag
    data = 0
    before = heard
    call MPI_Comm_get_errhandler(made, got, ierr)
    if (given) call check(got == MPI_ERRORS_RETURN, function // ': its handler is that of the call')
    if (.not. given) call check(got == handler, function // ': its handler is inherited')
    call MPI_Errhandler_free(got, ierr)
    call MPI_Send(data, 1, MPI_INTEGER, 9999, 0, made, ierr)
    call MPI_Error_class(ierr, class, ierr)
    call check(class == MPI_ERR_RANK .and. heard == before + merge(0, 1, given), function // ': its handler hears')
    call MPI_Comm_get_attr(made, key, value, flag, ierr)
#ifdef GIGARANK /* Open MPI 4.1 calls copy functions for others than duplicates, too */
    call check((flag .eqv. duplicate) .and. copies == merge(1, 0, duplicate), function // ': the attribute')
#else
    call check(flag .or. .not. duplicate, function // ': the attribute')
#endif
    copies = 0
    name = 'none'
    call MPI_Comm_get_name(made, name, length, ierr)
    call check(length == 0 .and. name == '', function // ': it has no name')
    call check(.not. has(made, 'mpi_assert_no_any_tag'), function // ': hints are not inherited')
    call check(has(made, 'mpi_assert_no_any_source') .eqv. hints, function // ': hints that are given')
    call MPI_Comm_free(made, ierr)
  end subroutine

  subroutine of_one()
    HANDLE(MPI_Comm) :: grid
    HANDLE(MPI_Comm), asynchronous :: made
    HANDLE(MPI_Request) :: request
    HANDLE(MPI_Group) :: group
    integer :: degrees(size), none(1)
    logical :: kept
    degrees = 0
    none = 0
    call MPI_Comm_dup(parent, made, ierr)
    call inherits('MPI_Comm_dup', made, .true., .false., .false.)
    call MPI_Comm_dup_with_info(parent, mine, made, ierr)
    call inherits('MPI_Comm_dup_with_info', made, .true., .true., .false.)
    call MPI_Comm_idup(parent, made, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call inherits('MPI_Comm_idup', made, .true., .false., .false.)
    call MPI_Comm_split(parent, 0, 0, made, ierr)
    call inherits('MPI_Comm_split', made, .false., .false., .false.)
    call MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, 0, mine, made, ierr)
    call inherits('MPI_Comm_split_type', made, .false., .true., .false.)
    call MPI_Comm_group(parent, group, ierr)
    call MPI_Comm_create(parent, group, made, ierr)
    call inherits('MPI_Comm_create', made, .false., .false., .false.)
    call MPI_Comm_create_group(parent, group, 7, made, ierr)
    call inherits('MPI_Comm_create_group', made, .false., .false., .false.)
    call MPI_Group_free(group, ierr)
    call MPI_Cart_create(parent, 1, [size], [.false.], .false., grid, ierr)
    call mark(grid)
    call MPI_Cart_sub(grid, [.true.], made, ierr)
    call inherits('MPI_Cart_sub', made, .false., .false., .false.)
    call MPI_Comm_free(grid, ierr)
    call MPI_Cart_create(parent, 1, [size], [.false.], .false., made, ierr)
    call inherits('MPI_Cart_create', made, .false., .false., .false.)
    call MPI_Graph_create(parent, size, degrees, none, .false., made, ierr)
    call inherits('MPI_Graph_create', made, .false., .false., .false.)
    kept = .false. ! Open MPI 4.1 does not keep the hints
#ifdef GIGARANK
    kept = .true.
#endif
    call MPI_Dist_graph_create(parent, 1, [rank], [1], [rank], MPI_UNWEIGHTED, mine, .false., made, ierr)
    call inherits('MPI_Dist_graph_create', made, .false., kept, .false.)
    call MPI_Dist_graph_create_adjacent(parent, 1, [rank], MPI_UNWEIGHTED, 1, [rank], MPI_UNWEIGHTED, mine, .false., made, ierr)
    call inherits('MPI_Dist_graph_create_adjacent', made, .false., .true., .false.)
  end subroutine

  subroutine of_two()
    HANDLE(MPI_Comm) :: inter, made
    call MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - mod(rank, 2), 3, inter, ierr)
    call inherits('MPI_Intercomm_create', inter, .false., .false., .false.)
    call MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - mod(rank, 2), 3, inter, ierr)
    call mark(inter)
    call MPI_Intercomm_merge(inter, mod(rank, 2) == 1, made, ierr)
    call inherits('MPI_Intercomm_merge', made, .false., .false., .false.)
    call MPI_Comm_dup(inter, made, ierr)
    call inherits('MPI_Comm_dup between groups', made, .true., .false., .false.)
    call MPI_Comm_free(inter, ierr)
  end subroutine

#ifdef GIGARANK
  ! What Open MPI 4.1 does not have. The checks do not count.
  subroutine of_groups()
    HANDLE(MPI_Comm), asynchronous :: made
    HANDLE(MPI_Request) :: request
    HANDLE(MPI_Group) :: all_of, here, there
    integer :: counted
    counted = checks
    call MPI_Comm_idup_with_info(parent, mine, made, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call inherits('MPI_Comm_idup_with_info', made, .true., .true., .false.)
    call MPI_Comm_group(parent, all_of, ierr)
    call MPI_Comm_create_from_group(all_of, 'all', mine, MPI_ERRORS_RETURN, made, ierr)
    call inherits('MPI_Comm_create_from_group', made, .false., .true., .true.)
    if (size > 1) then
      call MPI_Group_range_incl(all_of, 1, reshape([mod(rank, 2), size - 1, 2], [3, 1]), here, ierr)
      call MPI_Group_range_excl(all_of, 1, reshape([mod(rank, 2), size - 1, 2], [3, 1]), there, ierr)
      call MPI_Intercomm_create_from_groups(here, 0, there, 0, 'two', MPI_INFO_NULL, handler, made, ierr)
      call inherits('MPI_Intercomm_create_from_groups', made, .false., .false., .false.)
      call MPI_Group_free(here, ierr)
      call MPI_Group_free(there, ierr)
    end if
    call MPI_Group_free(all_of, ierr)
    checks = counted
  end subroutine

  integer function members(type, key, value)
    integer, intent(in) :: type
    character(len=*), intent(in) :: key, value
    HANDLE(MPI_Info) :: info
    HANDLE(MPI_Comm) :: made
    members = 0
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, key, value, ierr)
    call MPI_Comm_split_type(MPI_COMM_WORLD, type, rank, info, made, ierr)
    call MPI_Info_free(info, ierr)
    if (made == MPI_COMM_NULL) return
    call MPI_Comm_size(made, members, ierr)
    call MPI_Comm_free(made, ierr)
  end function

  subroutine guided()
    integer :: counted, shared
    counted = checks
    shared = members(MPI_COMM_TYPE_SHARED, 'a', 'b')
    call check(members(MPI_COMM_TYPE_HW_GUIDED, 'mpi_hw_resource_type', 'mpi_shared_memory') == shared, 'a split guided by hardware')
    call check(members(MPI_COMM_TYPE_RESOURCE_GUIDED, 'mpi_hw_resource_type', 'mpi_shared_memory') == shared, 'a split guided by a resource')
    call check(members(MPI_COMM_TYPE_RESOURCE_GUIDED, 'mpi_pset_name', 'mpi://SELF') == 1, 'a split guided by a process set')
    call check(members(MPI_COMM_TYPE_HW_GUIDED, 'mpi_pset_name', 'mpi://SELF') == 0, 'a process set is no hardware')
    call check(members(MPI_COMM_TYPE_HW_UNGUIDED, 'a', 'b') == merge(0, shared, shared == size), 'a split without a guide')
    checks = counted
  end subroutine
#endif
#include "checks.h"
end program
