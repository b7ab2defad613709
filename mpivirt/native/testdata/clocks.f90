! Prints how long a computation of two and a half seconds takes on several clocks.
program clocks
  use mpi
  use omp_lib, only: omp_get_wtime
  implicit none
  integer :: ierr, rank, before(8), after(8)
  integer(8) :: begin, end, rate
  real(8) :: used, used_after, thread, start
  external :: gigarank_compute
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call system_clock(begin, rate)
  call cpu_time(used)
  call date_and_time(values=before)
  thread = omp_get_wtime()
  start = MPI_Wtime()
  call gigarank_compute(2.5d0)
  call system_clock(end)
  call cpu_time(used_after)
  call date_and_time(values=after)
  if (rank == 0) print '(f5.3,4(1x,f5.3))', MPI_Wtime() - start, real(end - begin, 8) / real(rate, 8), used_after - used, &
    omp_get_wtime() - thread, real(after(7) - before(7), 8) + 1d-3 * real(after(8) - before(8), 8)
  call MPI_Finalize(ierr)
end program
