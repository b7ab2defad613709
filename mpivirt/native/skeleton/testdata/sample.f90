! SAMPLE: in each iteration a wavefront over a two-dimensional grid of ranks, and an exchange with the nearest neighbours. The arguments are the points of a side of the
! block of a rank, how often a rank goes over its block for each message, and the iterations.
program sample
  implicit none
  include 'mpif.h'
  double precision, allocatable :: u(:, :), v(:, :), to(:), from(:)
  integer :: n, work, iterations, me, ranks, dims(2), x, y, west, east, north, south, ierr, k
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  n = argument(1, 48)
  work = argument(2, 4)
  iterations = argument(3, 100)
  dims = 0
  call MPI_Dims_create(ranks, 2, dims, ierr)
  x = mod(me, dims(1))
  y = me / dims(1)
  west = merge(me - 1, MPI_PROC_NULL, x > 0)
  east = merge(me + 1, MPI_PROC_NULL, x < dims(1) - 1)
  north = merge(me - dims(1), MPI_PROC_NULL, y > 0)
  south = merge(me + dims(1), MPI_PROC_NULL, y < dims(2) - 1)
  allocate (u(0:n + 1, 0:n + 1), v(0:n + 1, 0:n + 1), to(n), from(n))
  u = 1
  v = me
  to = 0
  from = 0
  do k = 1, iterations
    call wave
    call neighbours
  end do
  if (me == 0) write (*, '(a, es12.4)') ' sum', sum(u(1:n, 1:n))
  call MPI_Finalize(ierr)

contains

  integer function argument(at, usual)
    integer, intent(in) :: at, usual
    character(len=32) :: text
    argument = usual
    if (command_argument_count() < at) return
    call get_command_argument(at, text)
    read (text, *) argument
  end function

  ! Each rank computes after the ranks in the west and in the north.
  subroutine wave
    integer :: w, i, j, status(MPI_STATUS_SIZE)
    call MPI_Recv(from, n, MPI_DOUBLE_PRECISION, west, 1, MPI_COMM_WORLD, status, ierr)
    u(0, 1:n) = from
    call MPI_Recv(from, n, MPI_DOUBLE_PRECISION, north, 2, MPI_COMM_WORLD, status, ierr)
    u(1:n, 0) = from
    do w = 1, work
      do j = 1, n
        do i = 1, n
          u(i, j) = 0.4d0 * u(i - 1, j) + 0.4d0 * u(i, j - 1) + 0.2d0 * v(i, j)
        end do
      end do
    end do
    to = u(n, 1:n)
    call MPI_Send(to, n, MPI_DOUBLE_PRECISION, east, 1, MPI_COMM_WORLD, ierr)
    call MPI_Send(u(1, n), n, MPI_DOUBLE_PRECISION, south, 2, MPI_COMM_WORLD, ierr)
  end subroutine

  ! All ranks exchange the borders of their blocks, and compute.
  subroutine neighbours
    integer :: w, i, j, status(MPI_STATUS_SIZE)
    to = v(n, 1:n)
    call MPI_Sendrecv(to, n, MPI_DOUBLE_PRECISION, east, 3, from, n, MPI_DOUBLE_PRECISION, west, 3, MPI_COMM_WORLD, status, ierr)
    v(0, 1:n) = from
    to = v(1, 1:n)
    call MPI_Sendrecv(to, n, MPI_DOUBLE_PRECISION, west, 4, from, n, MPI_DOUBLE_PRECISION, east, 4, MPI_COMM_WORLD, status, ierr)
    v(n + 1, 1:n) = from
    call MPI_Sendrecv(v(1, n), n, MPI_DOUBLE_PRECISION, south, 5, v(1, 0), n, MPI_DOUBLE_PRECISION, north, 5, MPI_COMM_WORLD, status, ierr)
    call MPI_Sendrecv(v(1, 1), n, MPI_DOUBLE_PRECISION, north, 6, v(1, n + 1), n, MPI_DOUBLE_PRECISION, south, 6, MPI_COMM_WORLD, status, ierr)
    do w = 1, work
      do j = 1, n
        do i = 1, n
          v(i, j) = 0.25d0 * (v(i - 1, j) + v(i + 1, j) + v(i, j - 1) + v(i, j + 1)) + 1d-3 * u(i, j)
        end do
      end do
    end do
  end subroutine
end program
