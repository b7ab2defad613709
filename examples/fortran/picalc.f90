! Approximates pi: each rank sums its share of the midpoints of 1 / (1 + x * x), 4 times that.
program picalc
  use mpi_f08
  implicit none
  integer, parameter :: points = 100000
  integer :: rank, size, i
  double precision :: x, mine, pi

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  mine = 0
  do i = rank + 1, points, size
    x = (i - 0.5d0) / points
    mine = mine + 4 / (1 + x * x)
  end do
  call MPI_Reduce(mine / points, pi, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(a, f12.9)', 'pi is about', pi
  call MPI_Finalize()
end program
