! Each rank has settings of OpenMP of its own, and a region that is open while the rank waits in MPI.
program team
  use mpi
  use omp_lib
  implicit none
  integer :: error, rank, threads, all, total, provided
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call omp_set_num_threads(rank + 1)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  threads = 0
  total = 0
  !$omp parallel
  !$omp atomic
  threads = threads + 1
  !$omp barrier
  !$omp master
  call MPI_Allreduce(threads, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  !$omp end master
  !$omp barrier
  !$omp atomic
  total = total + all
  !$omp end parallel
  print '(i0,a,i0,a,i0)', rank, ' max ', omp_get_max_threads() - rank, ' total ', total / (rank + 1)
  call MPI_Finalize(error)
end program
