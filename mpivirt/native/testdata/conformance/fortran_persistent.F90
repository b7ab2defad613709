! Persistent collectives, in Fortran.
#include "handles.h"
program fortran_persistent
  use MODULE
  implicit none
  integer, parameter :: OPERATIONS = 32, ROUNDS = 3, MOST_RANKS = 32
  integer :: rank, size, checks = 0, failures = 0, ierr, root, base, round, i
  integer :: counts(0:MOST_RANKS - 1), places(0:MOST_RANKS - 1), bytes(0:MOST_RANKS - 1)
  integer, volatile :: b, in, scanned, before, scattered(2), parts(2)
  integer, volatile, dimension(0:2 * MOST_RANKS - 1) :: sent
  integer, volatile, dimension(0:2 * MOST_RANKS - 1, 4) :: gathered, exchanged
  ! Each collective in place has a column. The last is where nothing arrives.
  integer, volatile, dimension(0:2 * MOST_RANKS - 1, 16) :: p
  double precision, volatile :: mine, reduced, most
  HANDLE(MPI_Comm) :: world
  HANDLE(MPI_Request) :: q(OPERATIONS)
  HANDLE(MPI_Datatype) :: types(0:MOST_RANKS - 1)

  call MPI_Init(ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, world, ierr)
  call MPI_Comm_rank(world, rank, ierr)
  call MPI_Comm_size(world, size, ierr)
  root = size - 1
  counts = 1
  places = [(2 * i, i = 0, MOST_RANKS - 1)]
  bytes = places * (storage_size(i) / 8)
  types = MPI_INTEGER
  call prepare()
  do round = 1, ROUNDS
    base = 1000 * round
    call fill()
    call begin_all()
    call MPI_Waitall(OPERATIONS, q, MPI_STATUSES_IGNORE, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Waitall')
    call results()
    call in_place()
  end do
  call singly()
  call free_all()
  call errors()
  call report('fortran_persistent')
  call MPI_Comm_free(world, ierr)
  call MPI_Finalize(ierr)

contains

  ! prepare makes the requests. Open MPI 4.1 has no persistent collectives: there the blocking ones stand for them.
  subroutine prepare()
    q = MPI_REQUEST_NULL
#ifdef GIGARANK
    call MPI_Barrier_init(world, MPI_INFO_NULL, q(1), ierr)
    call made(1, 'MPI_Barrier_init')
    call MPI_Bcast_init(b, 1, MPI_INTEGER, size - 1, world, MPI_INFO_NULL, q(2), ierr)
    call made(2, 'MPI_Bcast_init')
    call MPI_Reduce_init(mine, reduced, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, world, MPI_INFO_NULL, q(3), ierr)
    call made(3, 'MPI_Reduce_init')
    call MPI_Allreduce_init(mine, most, 1, MPI_DOUBLE_PRECISION, MPI_MAX, world, MPI_INFO_NULL, q(4), ierr)
    call made(4, 'MPI_Allreduce_init')
    call MPI_Scan_init(in, scanned, 1, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, q(5), ierr)
    call made(5, 'MPI_Scan_init')
    call MPI_Exscan_init(in, before, 1, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, q(6), ierr)
    call made(6, 'MPI_Exscan_init')
    call MPI_Gather_init(in, 1, MPI_INTEGER, gathered(0, 1), 1, MPI_INTEGER, 0, world, MPI_INFO_NULL, q(7), ierr)
    call made(7, 'MPI_Gather_init')
    call MPI_Gatherv_init(in, 1, MPI_INTEGER, gathered(0, 2), counts, places, MPI_INTEGER, 0, world, MPI_INFO_NULL, q(8), ierr)
    call made(8, 'MPI_Gatherv_init')
    call MPI_Scatter_init(sent, 1, MPI_INTEGER, scattered(1), 1, MPI_INTEGER, 0, world, MPI_INFO_NULL, q(9), ierr)
    call made(9, 'MPI_Scatter_init')
    call MPI_Scatterv_init(sent, counts, places, MPI_INTEGER, scattered(2), 1, MPI_INTEGER, 0, world, MPI_INFO_NULL, q(10), ierr)
    call made(10, 'MPI_Scatterv_init')
    call MPI_Allgather_init(in, 1, MPI_INTEGER, gathered(0, 3), 1, MPI_INTEGER, world, MPI_INFO_NULL, q(11), ierr)
    call made(11, 'MPI_Allgather_init')
    call MPI_Allgatherv_init(in, 1, MPI_INTEGER, gathered(0, 4), counts, places, MPI_INTEGER, world, MPI_INFO_NULL, q(12), ierr)
    call made(12, 'MPI_Allgatherv_init')
    call MPI_Alltoall_init(sent, 1, MPI_INTEGER, exchanged(0, 1), 1, MPI_INTEGER, world, MPI_INFO_NULL, q(13), ierr)
    call made(13, 'MPI_Alltoall_init')
    call MPI_Alltoallv_init(sent, counts, places, MPI_INTEGER, exchanged(0, 2), counts, places, MPI_INTEGER, world, MPI_INFO_NULL, q(14), ierr)
    call made(14, 'MPI_Alltoallv_init')
    call MPI_Alltoallw_init(sent, counts, bytes, types, exchanged(0, 3), counts, bytes, types, world, MPI_INFO_NULL, q(15), ierr)
    call made(15, 'MPI_Alltoallw_init')
    call MPI_Reduce_scatter_init(sent, parts(1), counts, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, q(16), ierr)
    call made(16, 'MPI_Reduce_scatter_init')
    call MPI_Reduce_scatter_block_init(sent, parts(2), 1, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, q(17), ierr)
    call made(17, 'MPI_Reduce_scatter_block_init')
    if (rank == root) then
      call MPI_Reduce_init(MPI_IN_PLACE, p(0, 1), 2, MPI_INTEGER, MPI_SUM, root, world, MPI_INFO_NULL, q(18), ierr)
    else
      call MPI_Reduce_init(p(0, 1), p(0, 16), 2, MPI_INTEGER, MPI_SUM, root, world, MPI_INFO_NULL, q(18), ierr)
    end if
    call made(18, 'MPI_Reduce_init in place')
    call MPI_Allreduce_init(MPI_IN_PLACE, p(0, 2), 2, MPI_INTEGER, MPI_MAX, world, MPI_INFO_NULL, q(19), ierr)
    call made(19, 'MPI_Allreduce_init in place')
    call MPI_Scan_init(MPI_IN_PLACE, p(0, 3), 2, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, q(20), ierr)
    call made(20, 'MPI_Scan_init in place')
    call MPI_Exscan_init(MPI_IN_PLACE, p(0, 4), 2, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, q(21), ierr)
    call made(21, 'MPI_Exscan_init in place')
    if (rank == root) then
      call MPI_Gather_init(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, p(0, 5), 1, MPI_INTEGER, root, world, MPI_INFO_NULL, q(22), ierr)
    else
      call MPI_Gather_init(p(0, 5), 1, MPI_INTEGER, p(0, 16), 1, MPI_INTEGER, root, world, MPI_INFO_NULL, q(22), ierr)
    end if
    call made(22, 'MPI_Gather_init in place')
    if (rank == root) then
      call MPI_Gatherv_init(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, p(0, 6), counts, places, MPI_INTEGER, root, world, MPI_INFO_NULL, q(23), ierr)
    else
      call MPI_Gatherv_init(p(0, 6), 1, MPI_INTEGER, p(0, 16), counts, places, MPI_INTEGER, root, world, MPI_INFO_NULL, q(23), ierr)
    end if
    call made(23, 'MPI_Gatherv_init in place')
    if (rank == root) then
      call MPI_Scatter_init(p(0, 7), 1, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, world, MPI_INFO_NULL, q(24), ierr)
    else
      call MPI_Scatter_init(p(0, 16), 1, MPI_INTEGER, p(0, 7), 1, MPI_INTEGER, root, world, MPI_INFO_NULL, q(24), ierr)
    end if
    call made(24, 'MPI_Scatter_init in place')
    if (rank == root) then
      call MPI_Scatterv_init(p(0, 8), counts, places, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, world, MPI_INFO_NULL, q(25), ierr)
    else
      call MPI_Scatterv_init(p(0, 16), counts, places, MPI_INTEGER, p(0, 8), 1, MPI_INTEGER, root, world, MPI_INFO_NULL, q(25), ierr)
    end if
    call made(25, 'MPI_Scatterv_init in place')
    call MPI_Allgather_init(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, p(0, 9), 1, MPI_INTEGER, world, MPI_INFO_NULL, q(26), ierr)
    call made(26, 'MPI_Allgather_init in place')
    call MPI_Allgatherv_init(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, p(0, 10), counts, places, MPI_INTEGER, world, MPI_INFO_NULL, q(27), ierr)
    call made(27, 'MPI_Allgatherv_init in place')
    call MPI_Alltoall_init(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, p(0, 11), 1, MPI_INTEGER, world, MPI_INFO_NULL, q(28), ierr)
    call made(28, 'MPI_Alltoall_init in place')
    call MPI_Alltoallv_init(MPI_IN_PLACE, counts, places, MPI_DATATYPE_NULL, p(0, 12), counts, places, MPI_INTEGER, world, MPI_INFO_NULL, q(29), ierr)
    call made(29, 'MPI_Alltoallv_init in place')
    call MPI_Alltoallw_init(MPI_IN_PLACE, counts, bytes, types, p(0, 13), counts, bytes, types, world, MPI_INFO_NULL, q(30), ierr)
    call made(30, 'MPI_Alltoallw_init in place')
    call MPI_Reduce_scatter_init(MPI_IN_PLACE, p(0, 14), counts, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, q(31), ierr)
    call made(31, 'MPI_Reduce_scatter_init in place')
    call MPI_Reduce_scatter_block_init(MPI_IN_PLACE, p(0, 15), 1, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, q(32), ierr)
    call made(32, 'MPI_Reduce_scatter_block_init in place')
#else
    do i = 1, OPERATIONS
      call check(.true., 'made')
    end do
#endif
  end subroutine

  subroutine made(n, what)
    integer, intent(in) :: n
    character(len=*), intent(in) :: what
    call check(ierr == MPI_SUCCESS .and. q(n) /= MPI_REQUEST_NULL, what)
  end subroutine

  ! value is element i of what a rank has when a round begins.
  elemental integer function value(r, i)
    integer, intent(in) :: r, i
    value = base + 10 * r + i
  end function

  subroutine fill()
    integer :: k
    in = base + rank
    mine = base + rank + 0.5d0
    b = merge(base + 5, -1, rank == size - 1)
    sent = [(value(rank, k), k = 0, 2 * MOST_RANKS - 1)]
    do k = 1, 16
      p(:, k) = sent
    end do
    gathered = -1
    exchanged = -1
    scattered = -1
    parts = -1
    scanned = -1
    before = -1
    reduced = -1
    most = -1
  end subroutine

  ! begin_all starts the requests. Ranks start those that are under way together in different orders.
  subroutine begin_all()
#ifdef GIGARANK
    integer :: k
    if (mod(rank, 2) == 1) then
      call MPI_Startall(OPERATIONS, q, ierr)
      do k = 1, OPERATIONS
        call begun(k, 'MPI_Startall')
      end do
    else
      do k = OPERATIONS, 1, -1
        call MPI_Start(q(k), ierr)
        call begun(k, 'MPI_Start')
      end do
    end if
#else
    call MPI_Barrier(world, ierr)
    call begun(1, 'MPI_Barrier_init')
    call MPI_Bcast(b, 1, MPI_INTEGER, size - 1, world, ierr)
    call begun(2, 'MPI_Bcast_init')
    call MPI_Reduce(mine, reduced, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, world, ierr)
    call begun(3, 'MPI_Reduce_init')
    call MPI_Allreduce(mine, most, 1, MPI_DOUBLE_PRECISION, MPI_MAX, world, ierr)
    call begun(4, 'MPI_Allreduce_init')
    call MPI_Scan(in, scanned, 1, MPI_INTEGER, MPI_SUM, world, ierr)
    call begun(5, 'MPI_Scan_init')
    call MPI_Exscan(in, before, 1, MPI_INTEGER, MPI_SUM, world, ierr)
    call begun(6, 'MPI_Exscan_init')
    call MPI_Gather(in, 1, MPI_INTEGER, gathered(0, 1), 1, MPI_INTEGER, 0, world, ierr)
    call begun(7, 'MPI_Gather_init')
    call MPI_Gatherv(in, 1, MPI_INTEGER, gathered(0, 2), counts, places, MPI_INTEGER, 0, world, ierr)
    call begun(8, 'MPI_Gatherv_init')
    call MPI_Scatter(sent, 1, MPI_INTEGER, scattered(1), 1, MPI_INTEGER, 0, world, ierr)
    call begun(9, 'MPI_Scatter_init')
    call MPI_Scatterv(sent, counts, places, MPI_INTEGER, scattered(2), 1, MPI_INTEGER, 0, world, ierr)
    call begun(10, 'MPI_Scatterv_init')
    call MPI_Allgather(in, 1, MPI_INTEGER, gathered(0, 3), 1, MPI_INTEGER, world, ierr)
    call begun(11, 'MPI_Allgather_init')
    call MPI_Allgatherv(in, 1, MPI_INTEGER, gathered(0, 4), counts, places, MPI_INTEGER, world, ierr)
    call begun(12, 'MPI_Allgatherv_init')
    call MPI_Alltoall(sent, 1, MPI_INTEGER, exchanged(0, 1), 1, MPI_INTEGER, world, ierr)
    call begun(13, 'MPI_Alltoall_init')
    call MPI_Alltoallv(sent, counts, places, MPI_INTEGER, exchanged(0, 2), counts, places, MPI_INTEGER, world, ierr)
    call begun(14, 'MPI_Alltoallv_init')
    call MPI_Alltoallw(sent, counts, bytes, types, exchanged(0, 3), counts, bytes, types, world, ierr)
    call begun(15, 'MPI_Alltoallw_init')
    call MPI_Reduce_scatter(sent, parts(1), counts, MPI_INTEGER, MPI_SUM, world, ierr)
    call begun(16, 'MPI_Reduce_scatter_init')
    call MPI_Reduce_scatter_block(sent, parts(2), 1, MPI_INTEGER, MPI_SUM, world, ierr)
    call begun(17, 'MPI_Reduce_scatter_block_init')
    if (rank == root) then
      call MPI_Reduce(MPI_IN_PLACE, p(0, 1), 2, MPI_INTEGER, MPI_SUM, root, world, ierr)
    else
      call MPI_Reduce(p(0, 1), p(0, 16), 2, MPI_INTEGER, MPI_SUM, root, world, ierr)
    end if
    call begun(18, 'MPI_Reduce_init in place')
    call MPI_Allreduce(MPI_IN_PLACE, p(0, 2), 2, MPI_INTEGER, MPI_MAX, world, ierr)
    call begun(19, 'MPI_Allreduce_init in place')
    call MPI_Scan(MPI_IN_PLACE, p(0, 3), 2, MPI_INTEGER, MPI_SUM, world, ierr)
    call begun(20, 'MPI_Scan_init in place')
    call MPI_Exscan(MPI_IN_PLACE, p(0, 4), 2, MPI_INTEGER, MPI_SUM, world, ierr)
    call begun(21, 'MPI_Exscan_init in place')
    if (rank == root) then
      call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, p(0, 5), 1, MPI_INTEGER, root, world, ierr)
    else
      call MPI_Gather(p(0, 5), 1, MPI_INTEGER, p(0, 16), 1, MPI_INTEGER, root, world, ierr)
    end if
    call begun(22, 'MPI_Gather_init in place')
    if (rank == root) then
      call MPI_Gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, p(0, 6), counts, places, MPI_INTEGER, root, world, ierr)
    else
      call MPI_Gatherv(p(0, 6), 1, MPI_INTEGER, p(0, 16), counts, places, MPI_INTEGER, root, world, ierr)
    end if
    call begun(23, 'MPI_Gatherv_init in place')
    if (rank == root) then
      call MPI_Scatter(p(0, 7), 1, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, world, ierr)
    else
      call MPI_Scatter(p(0, 16), 1, MPI_INTEGER, p(0, 7), 1, MPI_INTEGER, root, world, ierr)
    end if
    call begun(24, 'MPI_Scatter_init in place')
    if (rank == root) then
      call MPI_Scatterv(p(0, 8), counts, places, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, world, ierr)
    else
      call MPI_Scatterv(p(0, 16), counts, places, MPI_INTEGER, p(0, 8), 1, MPI_INTEGER, root, world, ierr)
    end if
    call begun(25, 'MPI_Scatterv_init in place')
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, p(0, 9), 1, MPI_INTEGER, world, ierr)
    call begun(26, 'MPI_Allgather_init in place')
    call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, p(0, 10), counts, places, MPI_INTEGER, world, ierr)
    call begun(27, 'MPI_Allgatherv_init in place')
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, p(0, 11), 1, MPI_INTEGER, world, ierr)
    call begun(28, 'MPI_Alltoall_init in place')
    call MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_DATATYPE_NULL, p(0, 12), counts, places, MPI_INTEGER, world, ierr)
    call begun(29, 'MPI_Alltoallv_init in place')
    call MPI_Alltoallw(MPI_IN_PLACE, counts, bytes, types, p(0, 13), counts, bytes, types, world, ierr)
    call begun(30, 'MPI_Alltoallw_init in place')
    call MPI_Reduce_scatter(MPI_IN_PLACE, p(0, 14), counts, MPI_INTEGER, MPI_SUM, world, ierr)
    call begun(31, 'MPI_Reduce_scatter_init in place')
    call MPI_Reduce_scatter_block(MPI_IN_PLACE, p(0, 15), 1, MPI_INTEGER, MPI_SUM, world, ierr)
    call begun(32, 'MPI_Reduce_scatter_block_init in place')
#endif
  end subroutine

  subroutine begun(n, what)
    integer, intent(in) :: n
    character(len=*), intent(in) :: what
#ifdef GIGARANK
    call check(ierr == MPI_SUCCESS .and. q(n) /= MPI_REQUEST_NULL, what)
#else
    call check(ierr == MPI_SUCCESS .and. q(n) == MPI_REQUEST_NULL, what)
#endif
  end subroutine

  subroutine results()
    integer :: r, last
    integer :: ranks(0:size - 1), column
    last = size - 1
    ranks = [(r, r = 0, last)]
    call check(b == base + 5, 'what MPI_Bcast_init brings')
    call check(rank > 0 .or. reduced == sum(base + ranks + 0.5d0), 'what MPI_Reduce_init brings')
    call check(most == base + last + 0.5d0, 'what MPI_Allreduce_init brings')
    call check(scanned == sum(base + ranks(0:rank)), 'what MPI_Scan_init brings')
    call check(rank == 0 .or. before == sum(base + ranks(0:rank - 1)), 'what MPI_Exscan_init brings')
    call check(rank > 0 .or. all(gathered(0:last, 1) == base + ranks), 'what MPI_Gather_init brings')
    call check(rank > 0 .or. all(gathered(0:2 * last:2, 2) == base + ranks .and. gathered(1:2 * last + 1:2, 2) == -1), 'what MPI_Gatherv_init brings')
    call check(scattered(1) == value(0, rank), 'what MPI_Scatter_init brings')
    call check(scattered(2) == value(0, 2 * rank), 'what MPI_Scatterv_init brings')
    call check(all(gathered(0:last, 3) == base + ranks), 'what MPI_Allgather_init brings')
    call check(all(gathered(0:2 * last:2, 4) == base + ranks .and. gathered(1:2 * last + 1:2, 4) == -1), 'what MPI_Allgatherv_init brings')
    call check(all(exchanged(0:last, 1) == value(ranks, rank)), 'what MPI_Alltoall_init brings')
    call check(all(exchanged(0:2 * last:2, 2) == value(ranks, 2 * rank) .and. exchanged(1:2 * last + 1:2, 2) == -1), 'what MPI_Alltoallv_init brings')
    call check(all(exchanged(0:2 * last:2, 3) == value(ranks, 2 * rank) .and. exchanged(1:2 * last + 1:2, 3) == -1), 'what MPI_Alltoallw_init brings')
    column = sum(value(ranks, rank))
    call check(parts(1) == column, 'what MPI_Reduce_scatter_init brings')
    call check(parts(2) == column, 'what MPI_Reduce_scatter_block_init brings')
  end subroutine

  subroutine in_place()
    integer :: r, last
    integer :: ranks(0:size - 1)
    last = size - 1
    ranks = [(r, r = 0, last)]
    call check(rank /= root .or. (p(0, 1) == sum(value(ranks, 0)) .and. p(1, 1) == sum(value(ranks, 1))), 'MPI_Reduce_init in place')
    call check(all(p(0:1, 2) == value(last, [0, 1])), 'MPI_Allreduce_init in place')
    call check(p(0, 3) == sum(value(ranks(0:rank), 0)) .and. p(1, 3) == sum(value(ranks(0:rank), 1)), 'MPI_Scan_init in place')
    call check(rank == 0 .or. (p(0, 4) == sum(value(ranks(0:rank - 1), 0)) .and. p(1, 4) == sum(value(ranks(0:rank - 1), 1))), 'MPI_Exscan_init in place')
    call check(rank /= root .or. all(p(0:last, 5) == value(ranks, merge(root, 0, ranks == root))), 'MPI_Gather_init in place')
    call check(rank /= root .or. all(p(0:2 * last:2, 6) == value(ranks, merge(2 * root, 0, ranks == root))), 'MPI_Gatherv_init in place')
    call check(p(0, 7) == value(root, merge(0, rank, rank == root)) .and. p(rank + 1, 7) == value(rank, rank + 1), 'MPI_Scatter_init in place')
    call check(p(0, 8) == value(root, merge(0, 2 * rank, rank == root)) .and. p(rank + 1, 8) == value(rank, rank + 1), 'MPI_Scatterv_init in place')
    call check(all(p(0:last, 9) == value(ranks, ranks)), 'MPI_Allgather_init in place')
    call check(all(p(0:2 * last:2, 10) == value(ranks, 2 * ranks)), 'MPI_Allgatherv_init in place')
    call check(all(p(0:last, 11) == value(ranks, rank)), 'MPI_Alltoall_init in place')
    call check(all(p(0:2 * last:2, 12) == value(ranks, 2 * rank)), 'MPI_Alltoallv_init in place')
    call check(all(p(0:2 * last:2, 13) == value(ranks, 2 * rank)), 'MPI_Alltoallw_init in place')
    call check(p(0, 14) == sum(value(ranks, rank)), 'MPI_Reduce_scatter_init in place')
    call check(p(0, 15) == sum(value(ranks, rank)), 'MPI_Reduce_scatter_block_init in place')
  end subroutine

  ! singly starts one of the requests and asks for its end by tests.
  subroutine singly()
    logical :: flag
    STATUS :: state
    integer :: k
    base = 7000
    call fill()
#ifdef GIGARANK
    call MPI_Start(q(4), ierr)
#else
    call MPI_Allreduce(mine, most, 1, MPI_DOUBLE_PRECISION, MPI_MAX, world, ierr)
#endif
    call begun(4, 'MPI_Start of one')
    flag = .false.
    do while (.not. flag)
      call MPI_Test(q(4), flag, state, ierr)
    end do
    call check(ierr == MPI_SUCCESS .and. most == base + size - 0.5d0, 'MPI_Test of a persistent collective')
    ! Requests that are not active complete at once.
    call MPI_Testall(OPERATIONS, q, flag, MPI_STATUSES_IGNORE, ierr)
    call check(flag .and. ierr == MPI_SUCCESS, 'MPI_Testall of requests that are not active')
    call MPI_Testany(OPERATIONS, q, k, flag, state, ierr)
    call check(flag .and. k == MPI_UNDEFINED, 'MPI_Testany of requests that are not active')
  end subroutine

  subroutine free_all()
    integer :: k
    do k = 1, OPERATIONS
#ifdef GIGARANK
      call check(q(k) /= MPI_REQUEST_NULL, 'a persistent request goes on')
      call MPI_Request_free(q(k), ierr)
#else
      call check(q(k) == MPI_REQUEST_NULL, 'no request')
#endif
      call check(ierr == MPI_SUCCESS .and. q(k) == MPI_REQUEST_NULL, 'MPI_Request_free')
    end do
  end subroutine

  ! A wrong argument is an error at the start, at the latest.
  subroutine errors()
    call MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN, ierr)
#ifdef GIGARANK
    call MPI_Bcast_init(b, 1, MPI_INTEGER, size, world, MPI_INFO_NULL, q(1), ierr)
    call start_wrong()
#else
    call MPI_Bcast(b, 1, MPI_INTEGER, size, world, ierr)
#endif
    call check(class_of(ierr) == MPI_ERR_ROOT, 'MPI_Bcast_init of a root that is no rank')
#ifdef GIGARANK
    call MPI_Allreduce_init(in, before, 1, MPI_INTEGER, MPI_OP_NULL, world, MPI_INFO_NULL, q(1), ierr)
    call start_wrong()
#else
    call MPI_Allreduce(in, before, 1, MPI_INTEGER, MPI_OP_NULL, world, ierr)
#endif
    call check(class_of(ierr) == MPI_ERR_OP, 'MPI_Allreduce_init of no operation')
#ifdef GIGARANK
    call MPI_Alltoall_init(sent, 1, MPI_DATATYPE_NULL, exchanged, 1, MPI_INTEGER, world, MPI_INFO_NULL, q(1), ierr)
    call start_wrong()
#else
    call MPI_Alltoall(sent, 1, MPI_DATATYPE_NULL, exchanged, 1, MPI_INTEGER, world, ierr)
#endif
    call check(class_of(ierr) == MPI_ERR_TYPE, 'MPI_Alltoall_init of no type')
#ifdef GIGARANK
    call MPI_Scan_init(in, before, -1, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, q(1), ierr)
    call start_wrong()
#else
    call MPI_Scan(in, before, -1, MPI_INTEGER, MPI_SUM, world, ierr)
#endif
    call check(class_of(ierr) == MPI_ERR_COUNT, 'MPI_Scan_init of a count below zero')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
#ifdef GIGARANK
    call MPI_Barrier_init(MPI_COMM_NULL, MPI_INFO_NULL, q(1), ierr)
#else
    call MPI_Barrier(MPI_COMM_NULL, ierr)
#endif
    call check(class_of(ierr) == MPI_ERR_COMM, 'MPI_Barrier_init of no communicator')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)
  end subroutine

#ifdef GIGARANK
  subroutine start_wrong()
    integer :: code, ignored
    code = ierr
    if (code == MPI_SUCCESS) then
      call MPI_Start(q(1), code)
      call MPI_Request_free(q(1), ignored)
    end if
    ierr = code
  end subroutine
#endif

  integer function class_of(code)
    integer, intent(in) :: code
    integer :: ierr
    class_of = -1
    call MPI_Error_class(code, class_of, ierr)
  end function

#include "checks.h"
end program
