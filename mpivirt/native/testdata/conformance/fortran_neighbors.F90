! Neighbourhood collectives on grids and graphs, in Fortran.
#include "handles.h"
program fortran_neighbors
  use MODULE
  implicit none
  ! Each collective is done in each of its forms. Where there are no persistent ones, the blocking one is done again.
  integer, parameter :: BLOCKING = 1, NONBLOCKING = 2, PERSISTENT = 3
  type structure
    sequence
    integer :: matrix(3, 3), gap
    double precision :: x(2)
  end type
  integer :: rank, size, checks = 0, failures = 0, ierr, left, right, sources(2), destinations(2), form, i
  integer :: counts(2) = [1, 2], twos(2) = [2, 2], dims(1)
  integer :: at(2) = [0, 4], inat(2) = [6, 1], places(2) = [5, 2]
  integer(MPI_ADDRESS_KIND) :: from(2), to(2), base
  integer, volatile :: mine, got(2), out(2), in(2), sent(0:5), received(0:7)
  type(structure), volatile, target :: source, target
  logical :: periods(1) = .false.
  HANDLE(MPI_Comm) :: world, grid, ring
  HANDLE(MPI_Request) :: request
  HANDLE(MPI_Datatype) :: row, types(64)

  call MPI_Init(ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, world, ierr)
  call MPI_Comm_rank(world, rank, ierr)
  call MPI_Comm_size(world, size, ierr)
  request = MPI_REQUEST_NULL
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank + 1 < size)
  dims(1) = size
  call MPI_Cart_create(world, 1, dims, periods, .false., grid, ierr)
  call check(ierr == MPI_SUCCESS, 'MPI_Cart_create')
  sources = [mod(rank + 2 * size - 1, size), mod(rank + 2 * size - 2, size)]
  destinations = [mod(rank + 1, size), mod(rank + 2, size)]
  call MPI_Dist_graph_create_adjacent(world, 2, sources, MPI_UNWEIGHTED, 2, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., ring, ierr)
  call check(ierr == MPI_SUCCESS, 'MPI_Dist_graph_create_adjacent')
  do form = BLOCKING, PERSISTENT
    call even()
    call uneven()
    call of_types(.false.)
    call of_types(.true.)
  end do
  call errors()
  call report('fortran_neighbors')
  call MPI_Comm_free(grid, ierr)
  call MPI_Comm_free(ring, ierr)
  call MPI_Comm_free(world, ierr)
  call MPI_Finalize(ierr)

contains

  ! A line: what comes from nowhere leaves the buffer as it is.
  subroutine even()
    mine = 100 + rank
    got = -1
    select case (form)
    case (BLOCKING)
      call MPI_Neighbor_allgather(mine, 1, MPI_INTEGER, got, 1, MPI_INTEGER, grid, ierr)
    case (NONBLOCKING)
      call MPI_Ineighbor_allgather(mine, 1, MPI_INTEGER, got, 1, MPI_INTEGER, grid, request, ierr)
    case (PERSISTENT)
#ifdef GIGARANK
      call MPI_Neighbor_allgather_init(mine, 1, MPI_INTEGER, got, 1, MPI_INTEGER, grid, MPI_INFO_NULL, request, ierr)
#else
      call MPI_Neighbor_allgather(mine, 1, MPI_INTEGER, got, 1, MPI_INTEGER, grid, ierr)
#endif
    end select
    call complete('neighbor_allgather')
    call check(got(1) == merge(99 + rank, -1, left >= 0) .and. got(2) == merge(101 + rank, -1, right >= 0), 'what neighbor_allgather brings')

    out = [10 * rank, 10 * rank + 1]
    in = -1
    select case (form)
    case (BLOCKING)
      call MPI_Neighbor_alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, grid, ierr)
    case (NONBLOCKING)
      call MPI_Ineighbor_alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, grid, request, ierr)
    case (PERSISTENT)
#ifdef GIGARANK
      call MPI_Neighbor_alltoall_init(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, grid, MPI_INFO_NULL, request, ierr)
#else
      call MPI_Neighbor_alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, grid, ierr)
#endif
    end select
    call complete('neighbor_alltoall')
    call check(in(1) == merge(10 * left + 1, -1, left >= 0) .and. in(2) == merge(10 * right, -1, right >= 0), 'what neighbor_alltoall brings')
  end subroutine

  ! A ring of edges in one direction: from the last two ranks, to the next two. To the next rank goes one
  ! element, to the second next go two.
  subroutine uneven()
    sent = [(100 * rank + i, i = 0, 5)]
    received = -1
    select case (form)
    case (BLOCKING)
      call MPI_Neighbor_alltoallv(sent, counts, at, MPI_INTEGER, received, counts, inat, MPI_INTEGER, ring, ierr)
    case (NONBLOCKING)
      call MPI_Ineighbor_alltoallv(sent, counts, at, MPI_INTEGER, received, counts, inat, MPI_INTEGER, ring, request, ierr)
    case (PERSISTENT)
#ifdef GIGARANK
      call MPI_Neighbor_alltoallv_init(sent, counts, at, MPI_INTEGER, received, counts, inat, MPI_INTEGER, ring, MPI_INFO_NULL, request, ierr)
#else
      call MPI_Neighbor_alltoallv(sent, counts, at, MPI_INTEGER, received, counts, inat, MPI_INTEGER, ring, ierr)
#endif
    end select
    call complete('neighbor_alltoallv')
    call check(received(6) == 100 * sources(1) .and. received(1) == 100 * sources(2) + 4 .and. received(2) == 100 * sources(2) + 5, 'what neighbor_alltoallv brings')
    call check(all(received([0, 3, 4, 5, 7]) == -1), 'what neighbor_alltoallv leaves')

    received = -1
    select case (form)
    case (BLOCKING)
      call MPI_Neighbor_allgatherv(sent, 2, MPI_INTEGER, received, twos, places, MPI_INTEGER, ring, ierr)
    case (NONBLOCKING)
      call MPI_Ineighbor_allgatherv(sent, 2, MPI_INTEGER, received, twos, places, MPI_INTEGER, ring, request, ierr)
    case (PERSISTENT)
#ifdef GIGARANK
      call MPI_Neighbor_allgatherv_init(sent, 2, MPI_INTEGER, received, twos, places, MPI_INTEGER, ring, MPI_INFO_NULL, request, ierr)
#else
      call MPI_Neighbor_allgatherv(sent, 2, MPI_INTEGER, received, twos, places, MPI_INTEGER, ring, ierr)
#endif
    end select
    call complete('neighbor_allgatherv')
    call check(all(received(5:6) == 100 * sources(1) + [0, 1]) .and. all(received(2:3) == 100 * sources(2) + [0, 1]), 'what neighbor_allgatherv brings')
    call check(all(received([0, 1, 4, 7]) == -1), 'what neighbor_allgatherv leaves')
  end subroutine

  ! A row of a matrix goes to the next rank, doubles go to the second next. Their places are addresses,
  ! or bytes from the start of the buffer.
  subroutine of_types(absolute)
    logical, intent(in) :: absolute
    integer :: ignored
    call MPI_Type_vector(3, 1, 3, MPI_INTEGER, row, ierr)
    call MPI_Type_commit(row, ierr)
    types = MPI_DATATYPE_NULL
    types(1) = row
    types(2) = MPI_DOUBLE_PRECISION
    source%matrix = reshape([(10 * rank + i, i = 0, 8)], [3, 3])
    source%x = [rank + 0.5d0, rank + 0.25d0]
    target%matrix = -1
    target%x = -1
    call MPI_Get_address(source%matrix(2, 1), from(1), ierr)
    call MPI_Get_address(source%x, from(2), ierr)
    call MPI_Get_address(target%matrix(3, 1), to(1), ierr)
    call MPI_Get_address(target%x, to(2), ierr)
    if (absolute) then
#ifndef GIGARANK
      if (.not. broken()) call MPI_Neighbor_alltoallw(MPI_BOTTOM, counts, from, types, MPI_BOTTOM, counts, to, types, ring, ierr)
#else
      select case (form)
      case (BLOCKING)
        call MPI_Neighbor_alltoallw(MPI_BOTTOM, counts, from, types, MPI_BOTTOM, counts, to, types, ring, ierr)
      case (NONBLOCKING)
        call MPI_Ineighbor_alltoallw(MPI_BOTTOM, counts, from, types, MPI_BOTTOM, counts, to, types, ring, request, ierr)
      case (PERSISTENT)
        call MPI_Neighbor_alltoallw_init(MPI_BOTTOM, counts, from, types, MPI_BOTTOM, counts, to, types, ring, MPI_INFO_NULL, request, ierr)
      end select
#endif
    else
      call MPI_Get_address(source, base, ierr)
      from = from - base
      call MPI_Get_address(target, base, ierr)
      to = to - base
#ifndef GIGARANK
      if (.not. broken()) call MPI_Neighbor_alltoallw(source, counts, from, types, target, counts, to, types, ring, ierr)
#else
      select case (form)
      case (BLOCKING)
        call MPI_Neighbor_alltoallw(source, counts, from, types, target, counts, to, types, ring, ierr)
      case (NONBLOCKING)
        call MPI_Ineighbor_alltoallw(source, counts, from, types, target, counts, to, types, ring, request, ierr)
      case (PERSISTENT)
        call MPI_Neighbor_alltoallw_init(source, counts, from, types, target, counts, to, types, ring, MPI_INFO_NULL, request, ierr)
      end select
#endif
    end if
    ! What is under way holds its types.
    call MPI_Type_free(row, ignored)
    call complete('neighbor_alltoallw')
    call check(all(target%matrix(3, :) == 10 * sources(1) + [1, 4, 7]) .and. all(target%x == sources(2) + [0.5d0, 0.25d0]), 'what neighbor_alltoallw brings')
    call check(all(target%matrix(1:2, :) == -1), 'what neighbor_alltoallw leaves')
  end subroutine

#ifndef GIGARANK
  ! The bindings of Open MPI 4.1 convert as many types as the communicator has ranks, not neighbours: one rank does not get the
  ! second type. Its nonblocking form frees the converted types too early, and crashes.
  logical function broken()
    broken = size == 1
    if (.not. broken) return
    target%matrix(3, :) = source%matrix(2, :)
    target%x = source%x
  end function
#endif

  ! complete checks that a collective has begun as its form has it, and completes it. A persistent one runs three
  ! times, each with the same values.
  subroutine complete(what)
    character(len=*), intent(in) :: what
    logical :: flag
    integer :: round
    STATUS :: status
    flag = form == BLOCKING .or. request /= MPI_REQUEST_NULL
#ifndef GIGARANK
    flag = flag .or. form == PERSISTENT .or. what == 'neighbor_alltoallw'
#endif
    call check(ierr == MPI_SUCCESS .and. flag, what)
    select case (form)
    case (NONBLOCKING)
      ! One is waited for by tests.
      flag = what /= 'neighbor_alltoall' .or. request == MPI_REQUEST_NULL
      do while (.not. flag)
        call MPI_Test(request, flag, status, ierr)
      end do
      call MPI_Wait(request, status, ierr)
    case (PERSISTENT)
#ifdef GIGARANK
      do round = 1, 3
        call MPI_Start(request, ierr)
        if (ierr == MPI_SUCCESS) call MPI_Wait(request, status, ierr)
        flag = ierr == MPI_SUCCESS .and. request /= MPI_REQUEST_NULL
        if (.not. flag) exit
      end do
      call MPI_Request_free(request, ierr)
      if (.not. flag) ierr = MPI_ERR_OTHER
#endif
    end select
    call check(ierr == MPI_SUCCESS .and. request == MPI_REQUEST_NULL, what // ' at its end')
  end subroutine

  ! A communicator without a topology has no neighbours. Open MPI hands this error to MPI_COMM_WORLD.
  subroutine errors()
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    call MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN, ierr)
    call MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN, ierr)
    call MPI_Neighbor_allgather(mine, 1, MPI_INTEGER, got, 1, MPI_INTEGER, world, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_Neighbor_allgather of no neighbours')
    call MPI_Neighbor_alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, world, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_Neighbor_alltoall of no neighbours')
    call MPI_Ineighbor_allgather(mine, 1, MPI_INTEGER, got, 1, MPI_INTEGER, world, request, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_Ineighbor_allgather of no neighbours')
    call MPI_Neighbor_allgather(mine, -1, MPI_INTEGER, got, 1, MPI_INTEGER, grid, ierr)
    call check(class_of(ierr) == MPI_ERR_COUNT, 'MPI_Neighbor_allgather of a count below zero')
    call MPI_Neighbor_alltoall(out, 1, MPI_INTEGER, in, 1, MPI_DATATYPE_NULL, grid, ierr)
    call check(class_of(ierr) == MPI_ERR_TYPE, 'MPI_Neighbor_alltoall of no type')
    call MPI_Ineighbor_alltoall(out, 1, MPI_DATATYPE_NULL, in, 1, MPI_INTEGER, grid, request, ierr)
    call check(class_of(ierr) == MPI_ERR_TYPE, 'MPI_Ineighbor_alltoall of no type')
#ifdef GIGARANK
    call MPI_Neighbor_alltoall_init(out, 1, MPI_DATATYPE_NULL, in, 1, MPI_INTEGER, grid, MPI_INFO_NULL, request, ierr)
    if (ierr == MPI_SUCCESS) call MPI_Start(request, ierr)
#else
    call MPI_Neighbor_alltoall(out, 1, MPI_DATATYPE_NULL, in, 1, MPI_INTEGER, grid, ierr)
#endif
    call check(class_of(ierr) == MPI_ERR_TYPE, 'MPI_Neighbor_alltoall_init of no type')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)
  end subroutine

  integer function class_of(code)
    integer, intent(in) :: code
    integer :: ierr
    class_of = -1
    call MPI_Error_class(code, class_of, ierr)
  end function

#include "checks.h"
end program
