! check and report of the programs that are built with each module. They are procedures of the program, which
! has rank, checks and failures.

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
  subroutine report(program)
    character(len=*), intent(in) :: program
    integer :: mine(2), all_of(2), ranks, ierr
    mine = [checks, failures]
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call MPI_Reduce(mine, all_of, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(2a, i0, a, i0, a, i0, a)', program, ': ', all_of(1), ' checks on ', ranks, ' ranks, ', all_of(2), ' failed'
  end subroutine
