! Messages between pairs of ranks, in Fortran.
#include "handles.h"
program fortran_messages
  use MODULE
  implicit none
  integer :: rank, size, checks = 0, failures = 0, ierr, next, last, n
  STATUS :: status
  HANDLE(MPI_Comm) :: world

  call MPI_Init(ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, world, ierr)
  call MPI_Comm_rank(world, rank, ierr)
  call MPI_Comm_size(world, size, ierr)
  next = mod(rank + 1, size)
  last = mod(rank + size - 1, size)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, next, 9, n, 1, MPI_INTEGER, last, 9, world, status, ierr)
  call check(ierr == MPI_SUCCESS .and. n == last, 'MPI_Sendrecv')
  call check(OF(status, MPI_SOURCE) == last .and. OF(status, MPI_TAG) == 9, 'the status of MPI_Sendrecv')
  call report()
  call MPI_Comm_free(world, ierr)
  call MPI_Finalize(ierr)

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    checks = checks + 1
    if (.not. holds) then
      failures = failures + 1
      print '(a, i0, 2a)', 'rank ', rank, ': ', what
    end if
  end subroutine

  ! report prints how many checks all ranks have made, and how many have failed.
  subroutine report()
    integer :: mine(2), all_of(2), ierr
    mine = [checks, failures]
    call MPI_Reduce(mine, all_of, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(a, i0, a, i0, a, i0, a)', 'fortran_messages: ', all_of(1), ' checks on ', size, ' ranks, ', all_of(2), ' failed'
  end subroutine
end program
