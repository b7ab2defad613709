! Operations, error handlers and generalised requests of a program are told the handles and values
! that it has.
module callbacks_of_program
  use mpi
  implicit none
  integer :: pair = MPI_DATATYPE_NULL, copy = MPI_COMM_NULL, calls = 0, told_comm = MPI_COMM_NULL, told_class = -1, ended = 0
contains

  ! Pairs of a number and how often it occurs: the larger number. It does not know how pairs lie.
  subroutine larger(in, inout, n, type)
    integer :: in(*), inout(*), n, type, i, at, size, ierr
    integer(MPI_ADDRESS_KIND) :: low, extent
    call MPI_Type_size(type, size, ierr)
    call MPI_Type_get_extent(type, low, extent, ierr)
    if (size /= 8 .or. low /= 0) then
      inout(1) = -99
      return
    end if
    do i = 1, n
      at = (i - 1) * int(extent) / 4 + 1
      if (in(at) > inout(at)) then
        inout(at:at + 1) = in(at:at + 1)
      else if (in(at) == inout(at)) then
        inout(at + 1) = inout(at + 1) + in(at + 1)
      end if
    end do
  end subroutine

  ! Runs in a rank, whose variables it may use.
  subroutine local(in, inout, n, type)
    integer :: in(*), inout(*), n, type
    inout(1) = merge(in(1) + 1000 * n, -99, type == pair)
  end subroutine

  subroutine heard(comm, code)
    integer :: comm, code, ierr
    calls = calls + 1
    told_comm = comm
    call MPI_Error_class(code, told_class, ierr)
  end subroutine

  subroutine asked(extra, status, ierr)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), ierr
    status(MPI_SOURCE) = int(extra)
    status(MPI_TAG) = int(extra) + 1
    call MPI_Status_set_elements(status, MPI_INTEGER, 3, ierr)
    call MPI_Status_set_cancelled(status, .false., ierr)
  end subroutine

  subroutine over(extra, ierr)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: ierr
    ended = ended + int(extra)
    ierr = MPI_SUCCESS
  end subroutine

  subroutine cancelled(extra, complete, ierr)
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierr
    if (complete) ended = ended - int(extra)
    ierr = MPI_SUCCESS
  end subroutine
end module

program callbacks
  use callbacks_of_program
  implicit none
  integer :: rank, size, ierr, op, fun, handler, again, checks = 0, failures = 0, all_of(2), n, request, other, wide
  integer :: status(MPI_STATUS_SIZE)
  logical :: flag
  integer, volatile :: a(8), b(8)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call MPI_Comm_dup(MPI_COMM_SELF, other, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)

  call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierr)
  call MPI_Type_commit(pair, ierr)
  call MPI_Type_create_resized(pair, 0_MPI_ADDRESS_KIND, 16_MPI_ADDRESS_KIND, wide, ierr)
  call MPI_Type_commit(wide, ierr)
  call MPI_Op_create(larger, .true., op, ierr)
  a = [mod(rank, 2), 1, -rank, 1, 5, 1, 7, 7]
  b = -1
  call MPI_Allreduce(a, b, 3, pair, op, MPI_COMM_WORLD, ierr)
  call check(b(1) == min(size - 1, 1) .and. b(2) == merge(size / 2, 1, size > 1))
  call check(b(3) == 0 .and. b(4) == 1 .and. b(5) == 5 .and. b(6) == size .and. b(7) == -1)
  b = -1
  call MPI_Allreduce(a, b, 2, wide, op, copy, ierr)
  call check(b(1) == min(size - 1, 1) .and. b(5) == 5 .and. b(6) == size .and. b(3) == -1 .and. b(7) == -1)
  b = -1
  call MPI_Iallreduce(a, b, 3, pair, op, copy, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call check(b(3) == 0 .and. b(4) == 1 .and. b(6) == size)
  b = -1
  call MPI_Scan(a(3), b, 1, pair, op, copy, ierr)
  call check(b(1) == 0 .and. b(2) == 1)
  call MPI_Op_create(local, .false., fun, ierr)
  a(1) = rank
  b(1) = 0
  call MPI_Reduce_local(a, b, 1, pair, fun, ierr)
  call check(b(1) == rank + 1000)
  call MPI_Op_free(op, ierr)
  call MPI_Op_free(fun, ierr)
  call check(op == MPI_OP_NULL .and. fun == MPI_OP_NULL)

  call MPI_Comm_create_errhandler(heard, handler, ierr)
  call MPI_Comm_set_errhandler(copy, handler, ierr)
  call MPI_Comm_get_errhandler(copy, again, ierr)
  call MPI_Send(n, 1, MPI_INTEGER, size, 0, copy, ierr)
  call check(calls == 1 .and. told_comm == copy .and. told_class == MPI_ERR_RANK)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler, ierr)
  call MPI_Bcast(n, -1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call check(calls == 2 .and. told_comm == MPI_COMM_WORLD .and. told_class == MPI_ERR_COUNT)
  call MPI_Comm_set_errhandler(other, handler, ierr)
  call MPI_Errhandler_free(handler, ierr)
  call MPI_Errhandler_free(again, ierr)
  call MPI_Comm_call_errhandler(other, MPI_ERR_TAG, ierr)
  call check(calls == 3 .and. told_comm == other .and. told_class == MPI_ERR_TAG)
  call check(handler == MPI_ERRHANDLER_NULL .and. again == MPI_ERRHANDLER_NULL)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)

  call MPI_Grequest_start(asked, over, cancelled, 17_MPI_ADDRESS_KIND, request, ierr)
  call MPI_Test(request, flag, status, ierr)
  call check(.not. flag .and. request /= MPI_REQUEST_NULL .and. ended == 0)
  call MPI_Grequest_complete(request, ierr)
  call MPI_Wait(request, status, ierr)
  call check(status(MPI_SOURCE) == 17 .and. status(MPI_TAG) == 18 .and. ended == 17 .and. request == MPI_REQUEST_NULL)
  call MPI_Get_count(status, MPI_INTEGER, n, ierr)
  call check(n == 3)

  call MPI_Comm_free(copy, ierr)
  call MPI_Comm_free(other, ierr)
  call MPI_Type_free(pair, ierr)
  call MPI_Type_free(wide, ierr)

  call MPI_Reduce([checks, failures], all_of, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a,i0,a,i0,a,i0,a)', 'callbacks: ', all_of(1), ' checks on ', size, ' ranks, ', all_of(2), ' failed'
  call MPI_Finalize(ierr)

contains

  subroutine check(so)
    logical, intent(in) :: so
    checks = checks + 1
    if (so) return
    failures = failures + 1
    print '(a,i0,a,i0,a,i0)', 'rank ', rank, ' of ', size, ', check ', checks
  end subroutine
end program
