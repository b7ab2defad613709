! Calls of module mpi_f08: handles and statuses with types of their own, optional ierror.
! An operation stands outside the program: inside, its code would lie on the stack, which may be copied.
module operation_of_mpi_f08
  use mpi_f08
  implicit none
contains

  subroutine least(in, inout, n, type)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: in, inout
    integer :: n
    type(MPI_Datatype) :: type
    integer, pointer :: a(:), b(:)
    if (type /= MPI_INTEGER) return
    call c_f_pointer(in, a, [n])
    call c_f_pointer(inout, b, [n])
    b = min(a, b)
  end subroutine
end module

program module_mpi_f08
  use mpi_f08
  use operation_of_mpi_f08
  implicit none
  integer :: rank, size, checks = 0, failures = 0, ierr, i, n, at, next, last, all_of(2), colors(2)
  integer, volatile :: got(3)
  type(MPI_Request) :: requests(4), request
  type(MPI_Status) :: status, statuses(4)
  type(MPI_Comm) :: half, copy
  type(MPI_Datatype) :: type
  type(MPI_Group) :: group
  type(MPI_Op) :: op
  procedure(MPI_User_function), pointer :: operation
  logical :: flag
  real :: grid(3, 3)
  complex(kind(1d0)) :: z, s
  character(len=MPI_MAX_ERROR_STRING) :: text

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(comm=MPI_COMM_WORLD, size=size, ierror=ierr)
  call check(ierr == MPI_SUCCESS)
  next = mod(rank + 1, size)
  last = mod(rank + size - 1, size)

  call MPI_Sendrecv(rank, 1, MPI_INTEGER, next, 9, n, 1, MPI_INTEGER, last, 9, MPI_COMM_WORLD, status)
  call check(n == last .and. status%MPI_SOURCE == last .and. status%MPI_TAG == 9)
  call MPI_Get_count(status, MPI_INTEGER, n)
  call check(n == 1)
  do i = 1, 3
    call MPI_Irecv(got(i), 1, MPI_INTEGER, last, i, MPI_COMM_WORLD, requests(i))
    call check(requests(i) /= MPI_REQUEST_NULL)
  end do
  requests(4) = MPI_REQUEST_NULL
  do i = 1, 3
    call MPI_Send(10 * rank + i, 1, MPI_INTEGER, next, i, MPI_COMM_WORLD)
  end do
  call MPI_Waitall(4, requests, statuses)
  call MPI_F_sync_reg(buf=got)
  call check(all(got == 10 * last + [1, 2, 3]) .and. all(requests == MPI_REQUEST_NULL))
  call check(all(statuses(1:3)%MPI_SOURCE == last) .and. all(statuses(1:3)%MPI_TAG == [1, 2, 3]))
  call MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE)
  call check(.not. flag)

  z = cmplx(rank, 1, kind(1d0))
  call MPI_Allreduce(z, s, 1, MPI_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD)
  call check(s == cmplx(size * (size - 1) / 2, size, kind(1d0)))
  n = rank
  call MPI_Allreduce(MPI_IN_PLACE, n, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
  call check(n == size - 1)
  grid = rank
  call MPI_Type_contiguous(3, MPI_REAL, type)
  call MPI_Type_commit(type)
  call MPI_Bcast(grid(1, 2), 1, type, size - 1, MPI_COMM_WORLD)
  call check(all(grid(:, 2) == size - 1) .and. all(grid(:, 1) == rank))
  call MPI_Type_free(type)
  call check(type == MPI_DATATYPE_NULL)
  call MPI_Iallreduce(rank, n, 1, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(request == MPI_REQUEST_NULL)

  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
  call MPI_Comm_dup(half, copy)
  call MPI_Comm_compare(half, copy, n)
  call check(n == MPI_CONGRUENT .and. half /= copy .and. half /= MPI_COMM_NULL)
  call MPI_Comm_group(copy, group)
  call MPI_Group_rank(group, n)
  call check(n == rank / 2)
  call MPI_Group_free(group)
  colors = rank
  call MPI_Bcast(colors, 2, MPI_INTEGER, 0, half)
  call check(all(colors == mod(rank, 2)))
  call MPI_Comm_free(half)
  call MPI_Comm_free(copy)
  call check(half == MPI_COMM_NULL .and. copy == MPI_COMM_NULL)
  operation => least
  call MPI_Op_create(user_fn=operation, commute=.true., op=op)
  call MPI_Allreduce(rank - 3, at, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
  call check(at == -3)
  call MPI_Op_free(op)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Send(n, -1, MPI_INTEGER, next, 0, MPI_COMM_WORLD, ierr)
  call MPI_Error_class(ierr, n)
  call check(n == MPI_ERR_COUNT)
  call MPI_Error_string(ierr, text, n)
  call check(n > 0 .and. text(n + 1:) == '')
  call check(MPI_Wtime() >= 0 .and. MPI_Wtick() > 0)
  call MPI_Sizeof(1d0, n)
  call check(n == 8)
  call MPI_Sizeof([1_1, 2_1], n, ierr)
  call check(n == 1 .and. ierr == MPI_SUCCESS)
  call MPI_Sizeof(reshape([(1., 0.), (2., 0.)], [1, 2]), n)
  call check(n == 8)

  call MPI_Reduce([checks, failures], all_of, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(a,i0,a,i0,a,i0,a)', 'module_mpi_f08: ', all_of(1), ' checks on ', size, ' ranks, ', all_of(2), ' failed'
  call MPI_Finalize()

contains

  subroutine check(so)
    logical, intent(in) :: so
    checks = checks + 1
    if (so) return
    failures = failures + 1
    print '(a,i0,a,i0,a,i0)', 'rank ', rank, ' of ', size, ', check ', checks
  end subroutine
end program
