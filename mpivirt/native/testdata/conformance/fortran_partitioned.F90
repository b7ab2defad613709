! Partitioned messages, in Fortran. Open MPI 4.1 has none: there ordinary messages stand for them.
#include "handles.h"
program fortran_partitioned
  use MODULE
  implicit none
  integer, parameter :: PARTITIONS = 6, VALUES = 4, ROUNDS = 3
  integer :: rank, size, checks = 0, failures = 0, ierr, next, last, round, i
  integer(kind=MPI_COUNT_KIND) :: n
  integer, volatile :: sent(PARTITIONS * VALUES), got(PARTITIONS * VALUES)
  logical :: flag
  HANDLE(MPI_Request) :: q(2)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  next = mod(rank + 1, size)
  last = mod(rank + size - 1, size)
  sent = 0
  q = MPI_REQUEST_NULL
#ifdef GIGARANK
  n = VALUES
  call MPI_Psend_init(sent, PARTITIONS, n, MPI_INTEGER, next, 7, MPI_COMM_WORLD, MPI_INFO_NULL, q(1), ierr)
#endif
  call check(ierr == MPI_SUCCESS, 'MPI_Psend_init')
#ifdef GIGARANK
  n = PARTITIONS * VALUES / 2
  call MPI_Precv_init(got, 2, n, MPI_INTEGER, last, 7, MPI_COMM_WORLD, MPI_INFO_NULL, q(2), ierr)
#endif
  call check(ierr == MPI_SUCCESS, 'MPI_Precv_init')
  do round = 1, ROUNDS
    got = -1
    sent = [(1000 * round + 100 * rank + i, i = 1, PARTITIONS * VALUES)]
#ifdef GIGARANK
    call MPI_Startall(2, q, ierr)
    call MPI_Pready(0, q(1), ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Pready')
    call MPI_Pready_list(2, [5, 1], q(1), ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Pready_list')
    call MPI_Parrived(q(2), 1, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. .not. flag, 'MPI_Parrived of what has not been sent')
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_Pready_range(2, 4, q(1), ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Pready_range')
    flag = .false.
    do while (.not. flag)
      call MPI_Parrived(q(2), 0, flag, ierr)
    end do
#else
    call MPI_Sendrecv(sent, PARTITIONS * VALUES, MPI_INTEGER, next, 7, got, PARTITIONS * VALUES, MPI_INTEGER, last, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    do i = 1, 4
      call check(ierr == MPI_SUCCESS, 'MPI_Sendrecv')
    end do
#endif
    call check(all(got == [(1000 * round + 100 * last + i, i = 1, PARTITIONS * VALUES)]), 'values of partitions')
    call MPI_Waitall(2, q, MPI_STATUSES_IGNORE, ierr)
  end do
#ifdef GIGARANK
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call MPI_Pready(0, q(1), ierr)
#else
  ierr = MPI_ERR_REQUEST
#endif
  call check(ierr == MPI_ERR_REQUEST, 'MPI_Pready of an inactive request')
#ifdef GIGARANK
  call MPI_Request_free(q(1), ierr)
  call MPI_Request_free(q(2), ierr)
#endif
  call check(q(1) == MPI_REQUEST_NULL .and. q(2) == MPI_REQUEST_NULL, 'MPI_Request_free')
  call report('fortran_partitioned')
  call MPI_Finalize(ierr)

contains

#include "checks.h"
end program
