! Functions of MPI-1 that MPI 3.0 has removed, with mpif.h and with module mpi. Addresses and extents are INTEGERs.
      subroutine listen(comm, code)
      integer comm, code
      integer heard
      common /errors/ heard
      heard = heard + 1
      end subroutine

      subroutine check(so, line)
      implicit none
      logical so
      integer line
      integer rank, size, checks, failures
      common /counts/ rank, size, checks, failures
      checks = checks + 1
      if (.not. so) then
        failures = failures + 1
        write (*, '(a,i0,a,i0,a,i0)') 'rank ', rank, ' of ', size, ', check ', line
      end if
      end subroutine

      subroutine types
      implicit none
      include 'mpif.h'
      integer rank, size, checks, failures
      common /counts/ rank, size, checks, failures
      integer ierr, next, last, low, high, extent, n
      integer at(3), lengths(3), places(3), kinds(3), made, marked
      integer status(MPI_STATUS_SIZE)
      integer number, got(12), given(12), i
      double precision values(3)
      logical flag
      common /record/ values, number, flag
      next = mod(rank + 1, size)
      last = mod(rank + size - 1, size)
! a record of a common block
      call mpi_address(values, at(1), ierr)
      call check(ierr .eq. MPI_SUCCESS, 101)
      call mpi_address(number, at(2), ierr)
      call mpi_address(flag, at(3), ierr)
      lengths = [3, 1, 1]
      kinds = [MPI_DOUBLE_PRECISION, MPI_INTEGER, MPI_LOGICAL]
      places = at - at(1)
      call check(all(places .eq. [0, 24, 28]), 102)
      call mpi_type_struct(3, lengths, places, kinds, made, ierr)
      call check(ierr .eq. MPI_SUCCESS, 103)
      call mpi_type_commit(made, ierr)
      call mpi_type_extent(made, extent, ierr)
      call check(extent .eq. 32, 104)
      call mpi_type_lb(made, low, ierr)
      call mpi_type_ub(made, high, ierr)
      call check(low .eq. 0 .and. high .eq. 32, 105)
      values = [(dble(10 * rank + i), i = 1, 3)]
      number = 100 + rank
      flag = mod(rank, 2) .eq. 1
      call mpi_sendrecv_replace(values, 1, made, next, 3, last, 3, MPI_COMM_WORLD, status, ierr)
      call check(all(values .eq. [(dble(10 * last + i), i = 1, 3)]) .and. number .eq. 100 + last, 106)
      call check(flag .eqv. (mod(last, 2) .eq. 1), 107)
      call mpi_get_elements(status, made, n, ierr)
      call check(n .eq. 5, 108)
      call mpi_type_free(made, ierr)
      call check(made .eq. MPI_DATATYPE_NULL, 109)
! marks of bounds
      call mpi_type_struct(3, [1, 1, 1], [-4, 0, 12], [MPI_LB, MPI_INTEGER, MPI_UB], marked, ierr)
      call mpi_type_lb(marked, low, ierr)
      call mpi_type_ub(marked, high, ierr)
      call mpi_type_extent(marked, extent, ierr)
      call check(low .eq. -4 .and. high .eq. 12 .and. extent .eq. 16, 110)
      call mpi_type_free(marked, ierr)
! strides and displacements in bytes
      given = [(100 * rank + i, i = 1, 12)]
      call mpi_type_hvector(3, 2, 16, MPI_INTEGER, made, ierr)
      call mpi_type_commit(made, ierr)
      call mpi_type_extent(made, extent, ierr)
      call check(extent .eq. 40, 111)
      got = -1
      call mpi_sendrecv(given, 1, made, next, 4, got, 12, MPI_INTEGER, last, 4, MPI_COMM_WORLD, status, ierr)
      call mpi_get_count(status, MPI_INTEGER, n, ierr)
      call check(n .eq. 6 .and. all(got(1:6) .eq. 100 * last + [1, 2, 5, 6, 9, 10]), 112)
      call mpi_type_free(made, ierr)
      call mpi_type_hindexed(3, [1, 2, 1], [40, 4, 20], MPI_INTEGER, made, ierr)
      call mpi_type_commit(made, ierr)
      call mpi_type_lb(made, low, ierr)
      call mpi_type_ub(made, high, ierr)
      call check(low .eq. 4 .and. high .eq. 44, 113)
      got = -1
      call mpi_sendrecv(given, 1, made, next, 5, got, 12, MPI_INTEGER, last, 5, MPI_COMM_WORLD, status, ierr)
      call check(all(got(1:4) .eq. 100 * last + [11, 2, 3, 6]), 114)
      call mpi_type_free(made, ierr)
      call mpi_type_extent(MPI_DOUBLE_COMPLEX, extent, ierr)
      call check(extent .eq. 16, 115)
      end subroutine

      subroutine handlers
      use mpi
      implicit none
      integer rank, size, checks, failures
      common /counts/ rank, size, checks, failures
      integer heard
      common /errors/ heard
      external listen
      integer ierr, handler, got, n(1)
      heard = 0
      n = 1
      call mpi_errhandler_create(listen, handler, ierr)
      call check(ierr .eq. MPI_SUCCESS, 201)
      call mpi_errhandler_set(MPI_COMM_WORLD, handler, ierr)
      call mpi_errhandler_get(MPI_COMM_WORLD, got, ierr)
      call mpi_send(n, 1, MPI_INTEGER, size, 0, MPI_COMM_WORLD, ierr)
      call check(heard .eq. 1, 202)
      call mpi_errhandler_free(got, ierr)
      call mpi_errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
      call mpi_errhandler_get(MPI_COMM_WORLD, got, ierr)
      call check(got .eq. MPI_ERRORS_RETURN, 203)
      call mpi_send(n, 1, MPI_INTEGER, size, 0, MPI_COMM_WORLD, ierr)
      call mpi_error_class(ierr, got, ierr)
      call check(got .eq. MPI_ERR_RANK .and. heard .eq. 1, 204)
      call mpi_errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)
      call mpi_errhandler_free(handler, ierr)
      call check(handler .eq. MPI_ERRHANDLER_NULL, 205)
      end subroutine

      program removed
      implicit none
      include 'mpif.h'
      integer rank, size, checks, failures, ierr
      common /counts/ rank, size, checks, failures
      integer mine(2), all(2)
      checks = 0
      failures = 0
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, size, ierr)
      call types
      call handlers
      mine(1) = checks
      mine(2) = failures
      call mpi_reduce(mine, all, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
      if (rank .eq. 0) then
        write (*, '(a,i0,a,i0,a,i0,a)') 'removed: ', all(1), ' checks on ', size, ' ranks, ', all(2), ' failed'
      end if
      call mpi_finalize(ierr)
      if (all(2) .ne. 0 .and. rank .eq. 0) stop 1
      end program
