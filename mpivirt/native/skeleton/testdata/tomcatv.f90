! Mesh generation in blocks of columns: residuals, a solver along columns, the largest residual of all ranks.
program tomcatv
  implicit none
  include 'mpif.h'
  integer, parameter :: iterations = 5
  integer :: n, rank, nprocs, ierr, rows, k, i, j, up, down
  integer :: status(MPI_STATUS_SIZE)
  double precision, allocatable :: x(:,:), y(:,:), rx(:,:), ry(:,:), d(:,:)
  double precision :: err, allerr, xx, yx, xy, yy, a, b, c
  character(len=32) :: text
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  n = 512
  if (command_argument_count() > 0) then
    call get_command_argument(1, text)
    read (text, *) n
  end if
  rows = n / nprocs
  allocate (x(n, 0:rows + 1), y(n, 0:rows + 1), rx(n, rows), ry(n, rows), d(n, rows))
  do j = 0, rows + 1
    do i = 1, n
      x(i, j) = dble(i) / n + 0.001d0 * j * i
      y(i, j) = dble(rank * rows + j) / n
    end do
  end do
  up = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  down = merge(rank + 1, MPI_PROC_NULL, rank < nprocs - 1)
  do k = 1, iterations
    call MPI_Sendrecv(x(1, 1), n, MPI_DOUBLE_PRECISION, up, 1, &
      x(1, rows + 1), n, MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, status, ierr)
    call MPI_Sendrecv(x(1, rows), n, MPI_DOUBLE_PRECISION, down, 2, &
      x(1, 0), n, MPI_DOUBLE_PRECISION, up, 2, MPI_COMM_WORLD, status, ierr)
    call MPI_Sendrecv(y(1, 1), n, MPI_DOUBLE_PRECISION, up, 1, &
      y(1, rows + 1), n, MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, status, ierr)
    call MPI_Sendrecv(y(1, rows), n, MPI_DOUBLE_PRECISION, down, 2, &
      y(1, 0), n, MPI_DOUBLE_PRECISION, up, 2, MPI_COMM_WORLD, status, ierr)
    err = 0
    do j = 1, rows
      do i = 2, n - 1
        xx = x(i + 1, j) - x(i - 1, j)
        yx = y(i + 1, j) - y(i - 1, j)
        xy = x(i, j + 1) - x(i, j - 1)
        yy = y(i, j + 1) - y(i, j - 1)
        a = 0.25d0 * (xy * xy + yy * yy)
        b = 0.25d0 * (xx * xx + yx * yx)
        c = 0.125d0 * (xx * xy + yx * yy)
        rx(i, j) = a * (x(i + 1, j) - 2 * x(i, j) + x(i - 1, j)) + &
          b * (x(i, j + 1) - 2 * x(i, j) + x(i, j - 1)) - c * (x(i + 1, j + 1) - x(i - 1, j - 1))
        ry(i, j) = a * (y(i + 1, j) - 2 * y(i, j) + y(i - 1, j)) + &
          b * (y(i, j + 1) - 2 * y(i, j) + y(i, j - 1)) - c * (y(i + 1, j + 1) - y(i - 1, j - 1))
        err = max(err, abs(rx(i, j)), abs(ry(i, j)))
      end do
    end do
    do j = 1, rows
      d(1, j) = 1
      do i = 2, n - 1
        d(i, j) = 1 / (4 - d(i - 1, j))
        rx(i, j) = (rx(i, j) + rx(i - 1, j)) * d(i, j)
        ry(i, j) = (ry(i, j) + ry(i - 1, j)) * d(i, j)
      end do
    end do
    call MPI_Allreduce(err, allerr, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    do j = 1, rows
      do i = 2, n - 1
        x(i, j) = x(i, j) + rx(i, j)
        y(i, j) = y(i, j) + ry(i, j)
      end do
    end do
    if (allerr < 1d-30) exit
  end do
  if (rank == 0) write (*, *) 'error', allerr
  call MPI_Finalize(ierr)
end program
