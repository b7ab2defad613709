! A mesh like that of tomcatv: an allocatable array, a COMMON block, a reduction that ends the loop.
program mesh
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 100
  real(8), allocatable :: x(:,:)
  real(8) :: edge(n), most, all
  integer :: rank, ranks, step, i, j, ierr
  common /edges/ edge
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call mpi_comm_size(mpi_comm_world, ranks, ierr)
  allocate(x(n, n))
  do j = 1, n
     do i = 1, n
        x(i, j) = i * j + rank
     end do
  end do
  do step = 1, 10
     edge = x(:, 1)
     call mpi_bcast(edge, n, mpi_double_precision, mod(step, ranks), mpi_comm_world, ierr)
     most = 0
     do j = 2, n - 1
        do i = 2, n - 1
           x(i, j) = 0.25d0 * (x(i - 1, j) + x(i + 1, j) + edge(i) + edge(j))
           most = max(most, abs(x(i, j)))
        end do
     end do
     call mpi_allreduce(most, all, 1, mpi_double_precision, mpi_max, mpi_comm_world, ierr)
     if (all < 1d-9) exit
  end do
  if (all /= all) stop 3
  if (rank == 0) print *, all
  call mpi_finalize(ierr)
end program mesh
