! Calls with the interfaces of module mpi.
! An operation stands outside the program: inside, its code would lie on the stack, which may be copied.
module operation_of_mpi
  use mpi
  implicit none
contains

  subroutine product_of(in, inout, n, type)
    integer :: n, type
    double precision :: in(n), inout(n)
    if (type == MPI_DOUBLE_PRECISION) inout = in * inout
  end subroutine
end module

program module_mpi
  use mpi
  use operation_of_mpi
  implicit none
  integer :: rank, size, checks = 0, failures = 0, ierr, i, n, at, request, requests(2), made, type, op
  integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2), mine(2), all_of(2)
  integer, allocatable :: table(:, :)
  double precision :: x(4), y
  character(len=12) :: word
  integer(MPI_ADDRESS_KIND) :: low, extent
  logical :: flag

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)

  ! Buffers of all types and ranks, scalars and sections: what does not lie together is copied.
  allocate (table(4, 3))
  table = reshape([(100 * rank + i, i = 1, 12)], [4, 3])
  call MPI_Sendrecv(table(2, :), 3, MPI_INTEGER, mod(rank + 1, size), 1, table(3, :), 3, MPI_INTEGER, &
    mod(rank + size - 1, size), 1, MPI_COMM_WORLD, status, ierr)
  call check(all(table(3, :) == 100 * mod(rank + size - 1, size) + [2, 6, 10]) .and. status(MPI_TAG) == 1)
  call check(all(table(4, :) == 100 * rank + [4, 8, 12]))
  word = 'rank 0 says'
  if (rank > 0) word = ''
  call MPI_Bcast(word, len(word), MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
  call check(word == 'rank 0 says')
  y = rank
  call MPI_Allreduce(MPI_IN_PLACE, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  call check(y == size * (size - 1) / 2)
  call MPI_Scan([rank, 1], mine, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call check(mine(1) == rank * (rank + 1) / 2 .and. mine(2) == rank + 1)

  call MPI_Isend(rank, 1, MPI_INTEGER, mod(rank + 1, size), 2, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Recv(n, 1, MPI_INTEGER, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  requests(2) = MPI_REQUEST_NULL
  call MPI_Waitall(2, requests, statuses, ierr)
  call check(n == mod(rank + size - 1, size) .and. all(requests == MPI_REQUEST_NULL))
  call MPI_Ibarrier(MPI_COMM_WORLD, request, ierr)
  requests(1) = request
  call MPI_Waitany(1, requests, at, status, ierr)
  call check(at == 1)

  ! Types, groups and topologies, which have places in a table of handles.
  call MPI_Type_vector(2, 1, 2, MPI_DOUBLE_PRECISION, type, ierr)
  call MPI_Type_commit(type, ierr)
  x = [1, 2, 3, 4] + 10 * rank
  call MPI_Bcast(x, 1, type, size - 1, MPI_COMM_WORLD, ierr)
  call check(all(x == [1 + 10 * (size - 1), 2 + 10 * rank, 3 + 10 * (size - 1), 4 + 10 * rank]))
  call MPI_Type_get_extent(type, low, extent, ierr)
  call check(low == 0 .and. extent == 24)
  call MPI_Type_free(type, ierr)
  call check(type == MPI_DATATYPE_NULL)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.true.], .false., made, ierr)
  call MPI_Cart_shift(made, 0, 1, n, at, ierr)
  call check(n == mod(rank + size - 1, size) .and. at == mod(rank + 1, size))
  call MPI_Comm_test_inter(made, flag, ierr)
  call check(.not. flag)
  call MPI_Comm_free(made, ierr)
  call MPI_Comm_group(MPI_COMM_WORLD, made, ierr)
  call MPI_Group_size(made, n, ierr)
  call check(n == size)
  call MPI_Group_free(made, ierr)
  call MPI_Op_create(product_of, .true., op, ierr)
  y = 2
  call MPI_Allreduce(y, x(1), 1, MPI_DOUBLE_PRECISION, op, MPI_COMM_WORLD, ierr)
  call check(x(1) == 2d0**size)
  call PMPI_Barrier(MPI_COMM_WORLD, ierr)
  call check(PMPI_Wtime() >= 0)
  call MPI_Sizeof(x, n, ierr)
  call check(n == 8 .and. ierr == MPI_SUCCESS)
  call MPI_Sizeof(rank, n, ierr)
  call check(n == 4)

  call MPI_Reduce([checks, failures], all_of, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a,i0,a,i0,a,i0,a)', 'module_mpi: ', all_of(1), ' checks on ', size, ' ranks, ', all_of(2), ' failed'
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
