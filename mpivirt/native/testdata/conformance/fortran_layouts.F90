! Messages and collectives, in Fortran, of values that do not lie one behind another.
#include "handles.h"
program fortran_layouts
  use MODULE
  implicit none
  integer, parameter :: AINT = MPI_ADDRESS_KIND, N = 6
  integer :: rank, ranks, checks = 0, failures = 0, ierr, left, right
  ! A row of a matrix; a row with the extent of one element, so that rows follow each other; two integers of which the first counts.
  HANDLE(MPI_Datatype) :: row, next_row, cell

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  call MPI_Type_vector(N, 1, N, MPI_INTEGER, row, ierr)
  call MPI_Type_create_resized(row, 0_AINT, 4_AINT, next_row, ierr)
  call MPI_Type_create_resized(MPI_INTEGER, 0_AINT, 8_AINT, cell, ierr)
  call MPI_Type_commit(row, ierr)
  call MPI_Type_commit(next_row, ierr)
  call MPI_Type_commit(cell, ierr)
  call messages()
  call persistent()
  call transposed()
  call cells()
  call signatures()
  call MPI_Type_free(row, ierr)
  call MPI_Type_free(next_row, ierr)
  call MPI_Type_free(cell, ierr)
  call report('fortran_layouts')
  call MPI_Finalize(ierr)

contains

  ! matrix returns the matrix of a rank.
  function matrix(rank) result(m)
    integer, intent(in) :: rank
    integer :: m(N, N), i
    m = reshape([(100 * rank + i, i = 0, N * N - 1)], [N, N])
  end function

  ! has_row returns whether a matrix of -1 has got, as row i, row j of the matrix of a rank.
  logical function has_row(m, i, from, j)
    integer, intent(in) :: m(N, N), i, from, j
    integer :: want(N, N), theirs(N, N)
    want = -1
    theirs = matrix(from)
    want(i, :) = theirs(j, :)
    has_row = all(m == want)
  end function

  subroutine messages()
    integer :: out(N, N), k, count, column(N)
    integer, volatile :: in(N, N)
    HANDLE(MPI_Request) :: requests(2)
    HANDLE(MPI_Message) :: message
    STATUS :: status
    out = matrix(rank)
    do k = 1, 2
      in = -1
      call MPI_Irecv(in(k, 1), 1, row, left, k, MPI_COMM_WORLD, requests(1), ierr)
      if (k == 1) then
        call MPI_Isend(out(2, 1), 1, row, right, k, MPI_COMM_WORLD, requests(2), ierr)
      else
        call MPI_Issend(out(2, 1), 1, row, right, k, MPI_COMM_WORLD, requests(2), ierr)
      end if
      call MPI_Wait(requests(1), status, ierr)
      call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierr)
      call check(ierr == MPI_SUCCESS .and. has_row(in, k, left, 2), 'a row')
      call MPI_Get_count(status, row, count, ierr)
      call check(count == 1, 'the count of a row')
      call MPI_Get_count(status, MPI_INTEGER, count, ierr)
      call check(count == N, 'the count of the elements of a row')
    end do
    ! A row to a column, and back.
    in = -1
    call MPI_Isend(out(3, 1), 1, row, right, 7, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Probe(left, 7, MPI_COMM_WORLD, status, ierr)
    call MPI_Get_elements(status, row, count, ierr)
    call check(ierr == MPI_SUCCESS .and. count == N, 'MPI_Get_elements of a row that is probed')
    call MPI_Recv(column, count, MPI_INTEGER, left, 7, MPI_COMM_WORLD, status, ierr)
    call check(ierr == MPI_SUCCESS .and. all(column == [(100 * left + 2 + N * k, k = 0, N - 1)]), 'a row received as a column')
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
    call MPI_Isend(column, N, MPI_INTEGER, left, 8, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Mprobe(right, 8, MPI_COMM_WORLD, message, status, ierr)
    call MPI_Mrecv(in(4, 1), 1, row, message, status, ierr)
    call check(ierr == MPI_SUCCESS .and. has_row(in, 4, rank, 3), 'a column received as a row')
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
    ! A shorter message leaves the rest alone.
    in = -1
    call MPI_Sendrecv(out, 2, MPI_INTEGER, right, 9, in(5, 1), 1, row, left, 9, MPI_COMM_WORLD, status, ierr)
    call check(ierr == MPI_SUCCESS .and. in(5, 1) == 100 * left .and. in(5, 2) == 100 * left + 1 .and. ubound(pack(in, in == -1), 1) == N * N - 2, 'a part of a row')
    in = out
    call MPI_Sendrecv_replace(in(6, 1), 1, row, right, 10, left, 10, MPI_COMM_WORLD, status, ierr)
    call check(ierr == MPI_SUCCESS .and. all(in(6, :) == out(6, :) + 100 * (left - rank)) .and. all(in(:5, :) == out(:5, :)), 'MPI_Sendrecv_replace of a row')
  end subroutine

  subroutine persistent()
    integer, volatile :: out(N, N), in(N, N)
    integer :: k, got(N, N)
    HANDLE(MPI_Request) :: pair(2)
    HANDLE(MPI_Datatype) :: own
    call MPI_Type_dup(row, own, ierr)
    call MPI_Recv_init(in(4, 1), 1, own, left, 1, MPI_COMM_WORLD, pair(1), ierr)
    call MPI_Send_init(out(5, 1), 1, own, right, 1, MPI_COMM_WORLD, pair(2), ierr)
    call MPI_Type_free(own, ierr) ! the requests keep it
    do k = 0, 2
      out = matrix(rank) + k
      in = -1
      call MPI_Startall(2, pair, ierr)
      call MPI_Waitall(2, pair, MPI_STATUSES_IGNORE, ierr)
      got = in
      where (got >= 0) got = got - k
      call check(ierr == MPI_SUCCESS .and. has_row(got, 4, left, 5), 'a row of a persistent request')
    end do
    call MPI_Request_free(pair(1), ierr)
    call MPI_Request_free(pair(2), ierr)
  end subroutine

  ! Rows that overlap with an extent of one element are the columns of the transposed matrix.
  subroutine transposed()
    integer :: m(N, N), t(N, N), others(N, N, 0:63), r
    HANDLE(MPI_Request) :: request
    m = matrix(rank)
    t = -1
    call MPI_Sendrecv(m, N, next_row, right, 1, t, N * N, MPI_INTEGER, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call check(ierr == MPI_SUCCESS .and. all(t == transpose(matrix(left))), 'a matrix sent by rows')
    t = merge(matrix(0), -1, rank == 0)
    if (rank == 0) then
      call MPI_Bcast(t, N, next_row, 0, MPI_COMM_WORLD, ierr)
      t = transpose(t)
    else
      call MPI_Bcast(t, N * N, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    end if
    call check(ierr == MPI_SUCCESS .and. all(t == transpose(matrix(0))), 'MPI_Bcast by rows')
    others = -1
    call MPI_Allgather(m, N, next_row, others, N * N, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. all([(all(others(:, :, r) == transpose(matrix(r))), r = 0, ranks - 1)]) .and. all(others(:, :, ranks:) == -1), 'MPI_Allgather by rows')
    others = -1
    call MPI_Iallgather(m, N, next_row, others, N * N, MPI_INTEGER, MPI_COMM_WORLD, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call check(ierr == MPI_SUCCESS .and. all([(all(others(:, :, r) == transpose(matrix(r))), r = 0, ranks - 1)]), 'MPI_Iallgather by rows')
  end subroutine

  ! The second integer of a cell is never touched.
  subroutine cells()
    integer :: in(2, 0:63), out(2, 0:63), r, root
    do root = 0, ranks - 1, max(ranks - 1, 1)
      in(1, :) = [(100 * rank + r, r = 0, 63)]
      in(2, :) = -7
      out(1, :) = -1
      out(2, :) = -8
      call MPI_Alltoall(in, 1, cell, out, 1, cell, MPI_COMM_WORLD, ierr)
      call check(ierr == MPI_SUCCESS .and. all(out(1, :ranks - 1) == [(100 * r + rank, r = 0, ranks - 1)]) .and. all(out(1, ranks:) == -1) .and. all(out(2, :) == -8), 'MPI_Alltoall of cells')
      out(1, :) = -1
      call MPI_Gather(in, 1, cell, out, 1, cell, root, MPI_COMM_WORLD, ierr)
      if (rank == root) call check(ierr == MPI_SUCCESS .and. all(out(1, :ranks - 1) == [(100 * r, r = 0, ranks - 1)]), 'MPI_Gather of cells')
      call check(all(out(1, ranks:) == -1) .and. all(out(2, :) == -8), 'MPI_Gather leaves the rest alone')
      out(1, :) = -1
      call MPI_Scatter(in, 1, cell, out, 1, cell, root, MPI_COMM_WORLD, ierr)
      call check(ierr == MPI_SUCCESS .and. out(1, 0) == 100 * root + rank .and. all(out(1, 1:) == -1) .and. all(out(2, :) == -8), 'MPI_Scatter of cells')
      call check(all(in(2, :) == -7), 'the cells that are sent')
    end do
  end subroutine

  ! Members describe the same elements by different types.
  subroutine signatures()
    integer :: m(N, N), all_of(0:64 * N - 1), k
    logical :: odd
    HANDLE(MPI_Datatype) :: triple
    odd = mod(rank, 2) == 1
    call MPI_Type_contiguous(N / 2, MPI_INTEGER, triple, ierr)
    call MPI_Type_commit(triple, ierr)
    m = -1
    if (rank == 0) m(1, :) = [(k, k = 1, N)]
    if (odd) then
      call MPI_Bcast(m, 2, triple, 0, MPI_COMM_WORLD, ierr)
      call check(ierr == MPI_SUCCESS .and. all(m(:, 1) == [(k, k = 1, N)]) .and. all(m(:, 2:) == -1), 'MPI_Bcast to triples')
    else
      call MPI_Bcast(m, 1, row, 0, MPI_COMM_WORLD, ierr)
      call check(ierr == MPI_SUCCESS .and. all(m(1, :) == [(k, k = 1, N)]) .and. all(m(2:, :) == -1), 'MPI_Bcast to a row')
    end if
    m = matrix(rank)
    all_of = -1
    if (odd) then
      call MPI_Gather(m(2, 1), 1, row, all_of, 2, triple, 0, MPI_COMM_WORLD, ierr)
    else
      call MPI_Gather(m(1, 2), N, MPI_INTEGER, all_of, 2, triple, 0, MPI_COMM_WORLD, ierr)
    end if
    if (rank == 0) call check(all(all_of(:ranks * N - 1) == [(100 * (k / N) + merge(1 + N * mod(k, N), N + mod(k, N), mod(k / N, 2) == 1), k = 0, ranks * N - 1)]), 'MPI_Gather of rows and columns')
    call check(ierr == MPI_SUCCESS .and. all(all_of(merge(ranks * N, 0, rank == 0):) == -1), 'MPI_Gather elsewhere')
    call MPI_Type_free(triple, ierr)
  end subroutine

#include "checks.h"
end program
