! All collectives, blocking and not, with MPI_IN_PLACE, displacements and operations of the program, in Fortran.
#include "handles.h"

! Buffers stand in the module: a compiler may not keep values of those in registers while a request is under way.
! Operations stand there, too: inside the program, their code would lie on the stack, which may be copied.
module buffers_of_collectives
  use MODULE
  implicit none
  integer, allocatable :: in(:), out(:), many(:), all(:), got(:), counts(:), places(:), each(:), froms(:)
  HANDLE(MPI_Datatype), allocatable :: given(:), taken(:)
  HANDLE(MPI_Datatype) :: matrix
contains

  ! times multiplies matrices of 2x2 integers, row by row: the product of two does not commute.
  subroutine times(in, inout, n, type)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: in, inout
    integer :: n, i
    HANDLE(MPI_Datatype) :: type
    integer, pointer :: a(:, :), b(:, :)
    call c_f_pointer(in, a, [4, n])
    call c_f_pointer(inout, b, [4, n])
    do i = 1, n
      b(:, i) = product_of(a(:, i), b(:, i))
    end do
    if (type /= matrix) b = -99
  end subroutine

  pure function product_of(a, b) result(c)
    integer, intent(in) :: a(4), b(4)
    integer :: c(4)
    c = [a(1) * b(1) + a(2) * b(3), a(1) * b(2) + a(2) * b(4), a(3) * b(1) + a(4) * b(3), a(3) * b(2) + a(4) * b(4)]
  end function

  ! matrix_of is what a rank multiplies with.
  pure function matrix_of(rank) result(c)
    integer, intent(in) :: rank
    integer :: c(4)
    c = [1, rank + 1, 0, 1]
    if (mod(rank, 2) == 1) c = [1, 0, rank, 1]
  end function

  ! product_below is the product of the matrices of the ranks below one, in their order.
  pure function product_below(rank) result(c)
    integer, intent(in) :: rank
    integer :: c(4), i
    c = [1, 0, 0, 1]
    do i = 0, rank - 1
      c = product_of(c, matrix_of(i))
    end do
  end function

  ! added adds, and says so with one for each pair: it commutes.
  subroutine added(in, inout, n, type)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: in, inout
    integer :: n
    HANDLE(MPI_Datatype) :: type
    integer, pointer :: a(:), b(:)
    call c_f_pointer(in, a, [n])
    call c_f_pointer(inout, b, [n])
    b = a + b + 1
    if (type /= MPI_INTEGER) b = -99
  end subroutine
end module

program fortran_collectives
  use MODULE
  use buffers_of_collectives
  implicit none
  integer :: rank, size, checks = 0, failures = 0, ierr
  HANDLE(MPI_Comm) :: world
  HANDLE(MPI_Request) :: request
  logical :: later
  integer :: round

  call MPI_Init(ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, world, ierr)
  call MPI_Comm_rank(world, rank, ierr)
  call MPI_Comm_size(world, size, ierr)
  do round = 0, 1
    later = round == 1
    call simple(1, 0)
    call simple(37, size - 1)
    call varying(size / 2)
    call typed()
    call own_operations(size - 1)
  end do
  call local_operations()
  call errors()
  call MPI_Comm_free(world, ierr)
  call report('fortran_collectives')
  call MPI_Finalize(ierr)

contains

  ! done ends a collective, which has been started if it is a later one, and checks what it has returned.
  subroutine done(name)
    character(len=*), intent(in) :: name
    logical :: so
    so = ierr == MPI_SUCCESS
    if (later) then
      so = so .and. request /= MPI_REQUEST_NULL
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
      so = so .and. ierr == MPI_SUCCESS .and. request == MPI_REQUEST_NULL
    end if
    if (later) then
      call check(so, 'MPI_I' // name)
    else
      call check(so, 'MPI_' // achar(iachar(name(1:1)) - 32) // name(2:))
    end if
  end subroutine

  subroutine simple(n, root)
    integer, intent(in) :: n, root
    integer :: i, sum_of, below
    sum_of = size * (size - 1) / 2
    below = rank * (rank - 1) / 2
    allocate (in(0:n - 1), out(0:n * size - 1), many(0:n * size - 1), all(0:n * size - 1))
    in = [(rank + i, i = 0, n - 1)]
    many = [(1000 * rank + i, i = 0, n * size - 1)]
    all = [(i / n + mod(i, n), i = 0, n * size - 1)]

    if (later) then
      call MPI_Ibarrier(world, request, ierr)
    else
      call MPI_Barrier(world, ierr)
    end if
    call done('barrier')

    out = -1
    if (rank == root) out(:n - 1) = [(7 * i, i = 0, n - 1)]
    if (later) then
      call MPI_Ibcast(out, n, MPI_INTEGER, root, world, request, ierr)
    else
      call MPI_Bcast(out, n, MPI_INTEGER, root, world, ierr)
    end if
    call done('bcast')
    call check(are(out(:n - 1), [(7 * i, i = 0, n - 1)]), 'what a bcast gives')

    out = -1
    if (later) then
      call MPI_Ireduce(in, out, n, MPI_INTEGER, MPI_SUM, root, world, request, ierr)
    else
      call MPI_Reduce(in, out, n, MPI_INTEGER, MPI_SUM, root, world, ierr)
    end if
    call done('reduce')
    call check(are(out(:n - 1), merge([(sum_of + i * size, i = 0, n - 1)], -1, rank == root)), 'what a reduce gives')
    out(:n - 1) = in
    if (rank == root) then
      if (later) then
        call MPI_Ireduce(MPI_IN_PLACE, out, n, MPI_INTEGER, MPI_SUM, root, world, request, ierr)
      else
        call MPI_Reduce(MPI_IN_PLACE, out, n, MPI_INTEGER, MPI_SUM, root, world, ierr)
      end if
      call done('reduce')
      call check(are(out(:n - 1), [(sum_of + i * size, i = 0, n - 1)]), 'what a reduce in place gives')
    else
      if (later) then
        call MPI_Ireduce(in, out, n, MPI_INTEGER, MPI_SUM, root, world, request, ierr)
      else
        call MPI_Reduce(in, out, n, MPI_INTEGER, MPI_SUM, root, world, ierr)
      end if
      call done('reduce')
      call check(are(out(:n - 1), in), 'what a reduce leaves')
    end if

    if (later) then
      call MPI_Iallreduce(in, out, n, MPI_INTEGER, MPI_MAX, world, request, ierr)
    else
      call MPI_Allreduce(in, out, n, MPI_INTEGER, MPI_MAX, world, ierr)
    end if
    call done('allreduce')
    call check(are(out(:n - 1), [(size - 1 + i, i = 0, n - 1)]), 'what an allreduce gives')
    out(:n - 1) = in
    if (later) then
      call MPI_Iallreduce(MPI_IN_PLACE, out, n, MPI_INTEGER, MPI_SUM, world, request, ierr)
    else
      call MPI_Allreduce(MPI_IN_PLACE, out, n, MPI_INTEGER, MPI_SUM, world, ierr)
    end if
    call done('allreduce')
    call check(are(out(:n - 1), [(sum_of + i * size, i = 0, n - 1)]), 'what an allreduce in place gives')

    if (later) then
      call MPI_Iscan(in, out, n, MPI_INTEGER, MPI_SUM, world, request, ierr)
    else
      call MPI_Scan(in, out, n, MPI_INTEGER, MPI_SUM, world, ierr)
    end if
    call done('scan')
    call check(are(out(:n - 1), [(below + rank + i * (rank + 1), i = 0, n - 1)]), 'what a scan gives')
    out(:n - 1) = in
    if (later) then
      call MPI_Iscan(MPI_IN_PLACE, out, n, MPI_INTEGER, MPI_SUM, world, request, ierr)
    else
      call MPI_Scan(MPI_IN_PLACE, out, n, MPI_INTEGER, MPI_SUM, world, ierr)
    end if
    call done('scan')
    call check(are(out(:n - 1), [(below + rank + i * (rank + 1), i = 0, n - 1)]), 'what a scan in place gives')

    if (later) then
      call MPI_Iexscan(in, out, n, MPI_INTEGER, MPI_SUM, world, request, ierr)
    else
      call MPI_Exscan(in, out, n, MPI_INTEGER, MPI_SUM, world, ierr)
    end if
    call done('exscan')
    call check(rank == 0 .or. are(out(:n - 1), [(below + i * rank, i = 0, n - 1)]), 'what an exscan gives')
    out(:n - 1) = in
    if (later) then
      call MPI_Iexscan(MPI_IN_PLACE, out, n, MPI_INTEGER, MPI_SUM, world, request, ierr)
    else
      call MPI_Exscan(MPI_IN_PLACE, out, n, MPI_INTEGER, MPI_SUM, world, ierr)
    end if
    call done('exscan')
    call check(rank == 0 .or. are(out(:n - 1), [(below + i * rank, i = 0, n - 1)]), 'what an exscan in place gives')

    out = -1
    if (later) then
      call MPI_Igather(in, n, MPI_INTEGER, out, n, MPI_INTEGER, root, world, request, ierr)
    else
      call MPI_Gather(in, n, MPI_INTEGER, out, n, MPI_INTEGER, root, world, ierr)
    end if
    call done('gather')
    call check(are(out, merge(all, -1, rank == root)), 'what a gather gives')
    out = -1
    if (rank == root) then
      out(n * rank:n * rank + n - 1) = in
      if (later) then
        call MPI_Igather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_INTEGER, root, world, request, ierr)
      else
        call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_INTEGER, root, world, ierr)
      end if
      call done('gather')
      call check(are(out, all), 'what a gather in place gives')
    else
      if (later) then
        call MPI_Igather(in, n, MPI_INTEGER, out, 0, MPI_DATATYPE_NULL, root, world, request, ierr)
      else
        call MPI_Gather(in, n, MPI_INTEGER, out, 0, MPI_DATATYPE_NULL, root, world, ierr)
      end if
      call done('gather')
      call check(are(out, 0 * out - 1), 'what a gather leaves')
    end if

    out = -1
    if (later) then
      call MPI_Iallgather(in, n, MPI_INTEGER, out, n, MPI_INTEGER, world, request, ierr)
    else
      call MPI_Allgather(in, n, MPI_INTEGER, out, n, MPI_INTEGER, world, ierr)
    end if
    call done('allgather')
    call check(are(out, all), 'what an allgather gives')
    out = -1
    out(n * rank:n * rank + n - 1) = in
    if (later) then
      call MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_INTEGER, world, request, ierr)
    else
      call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_INTEGER, world, ierr)
    end if
    call done('allgather')
    call check(are(out, all), 'what an allgather in place gives')

    out = -1
    if (later) then
      call MPI_Iscatter(many, n, MPI_INTEGER, out, n, MPI_INTEGER, root, world, request, ierr)
    else
      call MPI_Scatter(many, n, MPI_INTEGER, out, n, MPI_INTEGER, root, world, ierr)
    end if
    call done('scatter')
    call check(are(out(:n - 1), [(1000 * root + n * rank + i, i = 0, n - 1)]), 'what a scatter gives')
    out = -1
    if (rank == root) then
      if (later) then
        call MPI_Iscatter(many, n, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, world, request, ierr)
      else
        call MPI_Scatter(many, n, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, world, ierr)
      end if
      call done('scatter')
      call check(are(many, [(1000 * rank + i, i = 0, n * size - 1)]), 'what a scatter in place leaves')
    else
      if (later) then
        call MPI_Iscatter(many, 0, MPI_DATATYPE_NULL, out, n, MPI_INTEGER, root, world, request, ierr)
      else
        call MPI_Scatter(many, 0, MPI_DATATYPE_NULL, out, n, MPI_INTEGER, root, world, ierr)
      end if
      call done('scatter')
      call check(are(out(:n - 1), [(1000 * root + n * rank + i, i = 0, n - 1)]), 'what a scatter from a place gives')
    end if

    out = -1
    if (later) then
      call MPI_Ialltoall(many, n, MPI_INTEGER, out, n, MPI_INTEGER, world, request, ierr)
    else
      call MPI_Alltoall(many, n, MPI_INTEGER, out, n, MPI_INTEGER, world, ierr)
    end if
    call done('alltoall')
    call check(are(out, [(1000 * (i / n) + n * rank + mod(i, n), i = 0, n * size - 1)]), 'what an alltoall gives')
    out = many
    if (later) then
      call MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_INTEGER, world, request, ierr)
    else
      call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_INTEGER, world, ierr)
    end if
    call done('alltoall')
    call check(are(out, [(1000 * (i / n) + n * rank + mod(i, n), i = 0, n * size - 1)]), 'what an alltoall in place gives')

    out = -1
    if (later) then
      call MPI_Ireduce_scatter_block(many, out, n, MPI_INTEGER, MPI_SUM, world, request, ierr)
    else
      call MPI_Reduce_scatter_block(many, out, n, MPI_INTEGER, MPI_SUM, world, ierr)
    end if
    call done('reduce_scatter_block')
    call check(are(out(:n - 1), [(1000 * sum_of + size * (n * rank + i), i = 0, n - 1)]), 'what a reduce_scatter_block gives')
    out = many
    if (later) then
      call MPI_Ireduce_scatter_block(MPI_IN_PLACE, out, n, MPI_INTEGER, MPI_SUM, world, request, ierr)
    else
      call MPI_Reduce_scatter_block(MPI_IN_PLACE, out, n, MPI_INTEGER, MPI_SUM, world, ierr)
    end if
    call done('reduce_scatter_block')
    call check(are(out(:n - 1), [(1000 * sum_of + size * (n * rank + i), i = 0, n - 1)]), 'what a reduce_scatter_block in place gives')
    deallocate (in, out, many, all)
  end subroutine

  ! Member m has m+1 elements. Blocks lie in reverse order, one element apart.
  subroutine varying(root)
    integer, intent(in) :: root
    integer :: room, total, at, i, m
    total = size * (size + 1) / 2
    room = total + size
    allocate (counts(0:size - 1), places(0:size - 1), each(0:size - 1), froms(0:size - 1))
    allocate (in(0:total), out(0:room - 1), all(0:room - 1), many(0:room - 1), got(0:(rank + 2) * size - 1))
    at = 0
    all = -1
    do m = size - 1, 0, -1
      counts(m) = m + 1
      places(m) = at
      all(at:at + m) = [(100 * m + i, i = 0, m)]
      at = at + counts(m) + 1
    end do
    in(:rank) = [(100 * rank + i, i = 0, rank)]

    out = -1
    if (later) then
      call MPI_Igatherv(in, rank + 1, MPI_INTEGER, out, counts, places, MPI_INTEGER, root, world, request, ierr)
    else
      call MPI_Gatherv(in, rank + 1, MPI_INTEGER, out, counts, places, MPI_INTEGER, root, world, ierr)
    end if
    call done('gatherv')
    call check(are(out, merge(all, -1, rank == root)), 'what a gatherv gives')
    out = -1
    if (rank == root) then
      out(places(rank):places(rank) + rank) = in(:rank)
      if (later) then
        call MPI_Igatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, counts, places, MPI_INTEGER, root, world, request, ierr)
      else
        call MPI_Gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, counts, places, MPI_INTEGER, root, world, ierr)
      end if
      call done('gatherv')
      call check(are(out, all), 'what a gatherv in place gives')
    else
      if (later) then
        call MPI_Igatherv(in, rank + 1, MPI_INTEGER, out, counts, places, MPI_INTEGER, root, world, request, ierr)
      else
        call MPI_Gatherv(in, rank + 1, MPI_INTEGER, out, counts, places, MPI_INTEGER, root, world, ierr)
      end if
      call done('gatherv')
      call check(are(out, 0 * out - 1), 'what a gatherv leaves')
    end if

    out = -1
    if (later) then
      call MPI_Iallgatherv(in, rank + 1, MPI_INTEGER, out, counts, places, MPI_INTEGER, world, request, ierr)
    else
      call MPI_Allgatherv(in, rank + 1, MPI_INTEGER, out, counts, places, MPI_INTEGER, world, ierr)
    end if
    call done('allgatherv')
    call check(are(out, all), 'what an allgatherv gives')
    out = -1
    out(places(rank):places(rank) + rank) = in(:rank)
    if (later) then
      call MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, counts, places, MPI_INTEGER, world, request, ierr)
    else
      call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, counts, places, MPI_INTEGER, world, ierr)
    end if
    call done('allgatherv')
    call check(are(out, all), 'what an allgatherv in place gives')

    in = -1
    if (later) then
      call MPI_Iscatterv(all, counts, places, MPI_INTEGER, in, rank + 1, MPI_INTEGER, root, world, request, ierr)
    else
      call MPI_Scatterv(all, counts, places, MPI_INTEGER, in, rank + 1, MPI_INTEGER, root, world, ierr)
    end if
    call done('scatterv')
    call check(are(in(:rank), [(100 * rank + i, i = 0, rank)]) .and. in(rank + 1) == -1, 'what a scatterv gives')
    if (rank == root) then
      if (later) then
        call MPI_Iscatterv(all, counts, places, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, world, request, ierr)
      else
        call MPI_Scatterv(all, counts, places, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, world, ierr)
      end if
      call done('scatterv')
      call check(are(all, out), 'what a scatterv in place leaves')
    else
      in = -1
      if (later) then
        call MPI_Iscatterv(all, counts, places, MPI_INTEGER, in, rank + 1, MPI_INTEGER, root, world, request, ierr)
      else
        call MPI_Scatterv(all, counts, places, MPI_INTEGER, in, rank + 1, MPI_INTEGER, root, world, ierr)
      end if
      call done('scatterv')
      call check(are(in(:rank), [(100 * rank + i, i = 0, rank)]), 'what a scatterv from a place gives')
    end if

    ! Everybody sends m+1 elements to member m, and gets rank+1 from each.
    many = -1
    do m = 0, size - 1
      each(m) = rank + 1
      froms(m) = m * (rank + 2)
      many(places(m):places(m) + m) = [(10000 * rank + 100 * m + i, i = 0, m)]
    end do
    got = -1
    if (later) then
      call MPI_Ialltoallv(many, counts, places, MPI_INTEGER, got, each, froms, MPI_INTEGER, world, request, ierr)
    else
      call MPI_Alltoallv(many, counts, places, MPI_INTEGER, got, each, froms, MPI_INTEGER, world, ierr)
    end if
    call done('alltoallv')
    call check(are(got, [((merge(10000 * m + 100 * rank + i, -1, i <= rank), i = 0, rank + 1), m = 0, size - 1)]), 'what an alltoallv gives')
    ! In place, a pair exchanges as many elements as both ranks together are.
    deallocate (got)
    allocate (got(0:size * (2 * size - 1) - 1))
    got = -1
    do m = 0, size - 1
      each(m) = rank + m
      froms(m) = m * (2 * size - 1)
      got(froms(m):froms(m) + each(m) - 1) = 100 * rank + m
    end do
    if (later) then
      call MPI_Ialltoallv(MPI_IN_PLACE, counts, places, MPI_INTEGER, got, each, froms, MPI_INTEGER, world, request, ierr)
    else
      call MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_INTEGER, got, each, froms, MPI_INTEGER, world, ierr)
    end if
    call done('alltoallv')
    call check(are(got, [((merge(100 * m + rank, -1, i < rank + m), i = 0, 2 * size - 2), m = 0, size - 1)]), 'what an alltoallv in place gives')

    in(:total - 1) = [(rank + i, i = 0, total - 1)]
    out = -1
    if (later) then
      call MPI_Ireduce_scatter(in, out, counts, MPI_INTEGER, MPI_SUM, world, request, ierr)
    else
      call MPI_Reduce_scatter(in, out, counts, MPI_INTEGER, MPI_SUM, world, ierr)
    end if
    call done('reduce_scatter')
    call check(are(out(:rank), [(size * (size - 1) / 2 + size * (rank * (rank + 1) / 2 + i), i = 0, rank)]), 'what a reduce_scatter gives')
    out(:total - 1) = in(:total - 1)
    if (later) then
      call MPI_Ireduce_scatter(MPI_IN_PLACE, out, counts, MPI_INTEGER, MPI_SUM, world, request, ierr)
    else
      call MPI_Reduce_scatter(MPI_IN_PLACE, out, counts, MPI_INTEGER, MPI_SUM, world, ierr)
    end if
    call done('reduce_scatter')
    call check(are(out(:rank), [(size * (size - 1) / 2 + size * (rank * (rank + 1) / 2 + i), i = 0, rank)]), 'what a reduce_scatter in place gives')
    deallocate (counts, places, each, froms, in, out, all, many, got)
  end subroutine

  ! A type for each member: what goes to member m is every second of 2m+1 elements, what comes from m lies in one piece.
  ! A later one that has types of the program needs GIGARANK: when it ends, Open MPI 4.1 reads lists of types
  ! that its binding has freed (open-mpi/ompi#8763).
  subroutine typed()
    integer :: i, m, row, bytes
    row = 2 * size
    allocate (counts(0:size - 1), places(0:size - 1), each(0:size - 1), froms(0:size - 1), given(0:size - 1), taken(0:size - 1))
    allocate (many(0:row * size - 1), got(0:row * size - 1))
    call MPI_Type_size(MPI_INTEGER, bytes, ierr)
    counts = 1
    each = 1
    do m = 0, size - 1
      call MPI_Type_vector(m + 1, 1, 2, MPI_INTEGER, given(m), ierr)
      call MPI_Type_commit(given(m), ierr)
      call MPI_Type_contiguous(rank + 1, MPI_INTEGER, taken(m), ierr)
      call MPI_Type_commit(taken(m), ierr)
      places(m) = bytes * row * (size - 1 - m)
      froms(m) = bytes * row * m
      many(row * (size - 1 - m):row * (size - m) - 1) = [(10000 * rank + 100 * m + i, i = 0, row - 1)]
    end do
    ! Nothing goes from a rank to itself. Its type lies in the list all the same.
    counts(rank) = 0
    each(rank) = 0
    got = -1
    if (later) then
#ifdef GIGARANK
      call MPI_Ialltoallw(many, counts, places, given, got, each, froms, taken, world, request, ierr)
#else
      call MPI_Alltoallw(many, counts, places, given, got, each, froms, taken, world, ierr)
      call MPI_Ibarrier(world, request, ierr)
#endif
    else
      call MPI_Alltoallw(many, counts, places, given, got, each, froms, taken, world, ierr)
    end if
    call done('alltoallw')
    call check(are(got, [((merge(10000 * m + 100 * rank + 2 * i, -1, i <= rank .and. m /= rank), i = 0, row - 1), m = 0, size - 1)]), &
               'what an alltoallw gives')
    do m = 0, size - 1
      call MPI_Type_free(given(m), ierr)
      call MPI_Type_free(taken(m), ierr)
      call MPI_Type_contiguous(rank + m + 1, MPI_INTEGER, taken(m), ierr)
      call MPI_Type_commit(taken(m), ierr)
      got(row * m:row * (m + 1) - 1) = 100 * rank + m
    end do
    each = 1
    if (later) then
#ifdef GIGARANK
      call MPI_Ialltoallw(MPI_IN_PLACE, counts, places, given, got, each, froms, taken, world, request, ierr)
#else
      call MPI_Alltoallw(MPI_IN_PLACE, counts, places, given, got, each, froms, taken, world, ierr)
      call MPI_Ibarrier(world, request, ierr)
#endif
    else
      call MPI_Alltoallw(MPI_IN_PLACE, counts, places, given, got, each, froms, taken, world, ierr)
    end if
    call done('alltoallw')
    call check(are(got, [((merge(100 * m + rank, 100 * rank + m, i <= rank + m), i = 0, row - 1), m = 0, size - 1)]), &
               'what an alltoallw in place gives')
    do m = 0, size - 1
      call MPI_Type_free(taken(m), ierr)
    end do
    deallocate (counts, places, each, froms, given, taken, many, got)
  end subroutine

  subroutine own_operations(root)
    integer, intent(in) :: root
    HANDLE(MPI_Op) :: product, sum_of
    integer :: i
    call MPI_Type_contiguous(4, MPI_INTEGER, matrix, ierr)
    call MPI_Type_commit(matrix, ierr)
    call MPI_Op_create(times, .false., product, ierr)
    call check(ierr == MPI_SUCCESS .and. product /= MPI_OP_NULL, 'MPI_Op_create')
    call MPI_Op_create(added, .true., sum_of, ierr)
    call check(ierr == MPI_SUCCESS .and. sum_of /= MPI_OP_NULL .and. sum_of /= product, 'MPI_Op_create of another')
    allocate (in(8), out(8), many(4 * size), counts(size))
    in = [matrix_of(rank), matrix_of(rank + 1)]

    out = -1
    if (later) then
      call MPI_Ireduce(in, out, 1, matrix, product, root, world, request, ierr)
    else
      call MPI_Reduce(in, out, 1, matrix, product, root, world, ierr)
    end if
    call done('reduce')
    call check(are(out(:4), merge(product_below(size), -1, rank == root)) .and. out(5) == -1, 'the product of a reduce')
    out = -1
    if (later) then
      call MPI_Iallreduce(in, out, 1, matrix, product, world, request, ierr)
    else
      call MPI_Allreduce(in, out, 1, matrix, product, world, ierr)
    end if
    call done('allreduce')
    call check(are(out(:4), product_below(size)) .and. out(5) == -1, 'the product of an allreduce')
    if (later) then
      call MPI_Iscan(in, out, 1, matrix, product, world, request, ierr)
    else
      call MPI_Scan(in, out, 1, matrix, product, world, ierr)
    end if
    call done('scan')
    call check(are(out(:4), product_below(rank + 1)), 'the product of a scan')
    if (later) then
      call MPI_Iexscan(in, out, 1, matrix, product, world, request, ierr)
    else
      call MPI_Exscan(in, out, 1, matrix, product, world, ierr)
    end if
    call done('exscan')
    call check(rank == 0 .or. are(out(:4), product_below(rank)), 'the product of an exscan')
    many = [(matrix_of(rank), i = 1, size)]
    out = -1
    if (later) then
      call MPI_Ireduce_scatter_block(many, out, 1, matrix, product, world, request, ierr)
    else
      call MPI_Reduce_scatter_block(many, out, 1, matrix, product, world, ierr)
    end if
    call done('reduce_scatter_block')
    call check(are(out(:4), product_below(size)) .and. out(5) == -1, 'the product of a reduce_scatter_block')
    counts = 1
    out = -1
    if (later) then
      call MPI_Ireduce_scatter(many, out, counts, matrix, product, world, request, ierr)
    else
      call MPI_Reduce_scatter(many, out, counts, matrix, product, world, ierr)
    end if
    call done('reduce_scatter')
    call check(are(out(:4), product_below(size)) .and. out(5) == -1, 'the product of a reduce_scatter')

    in = [(rank + i, i = 1, 8)]
    out = -1
    if (later) then
      call MPI_Ireduce(in, out, 8, MPI_INTEGER, sum_of, root, world, request, ierr)
    else
      call MPI_Reduce(in, out, 8, MPI_INTEGER, sum_of, root, world, ierr)
    end if
    call done('reduce')
    call check(are(out, merge([(size * (size - 1) / 2 + size * i + size - 1, i = 1, 8)], -1, rank == root)), 'the sum of a reduce')
    if (later) then
      call MPI_Iallreduce(in, out, 8, MPI_INTEGER, sum_of, world, request, ierr)
    else
      call MPI_Allreduce(in, out, 8, MPI_INTEGER, sum_of, world, ierr)
    end if
    call done('allreduce')
    call check(are(out, [(size * (size - 1) / 2 + size * i + size - 1, i = 1, 8)]), 'the sum of an allreduce')
    if (later) then
      call MPI_Iscan(in, out, 8, MPI_INTEGER, sum_of, world, request, ierr)
    else
      call MPI_Scan(in, out, 8, MPI_INTEGER, sum_of, world, ierr)
    end if
    call done('scan')
    call check(are(out, [(rank * (rank + 1) / 2 + (rank + 1) * i + rank, i = 1, 8)]), 'the sum of a scan')
    deallocate (in, out, many, counts)
    call MPI_Op_free(product, ierr)
    call check(ierr == MPI_SUCCESS .and. product == MPI_OP_NULL, 'MPI_Op_free')
    call MPI_Op_free(sum_of, ierr)
    call check(ierr == MPI_SUCCESS .and. sum_of == MPI_OP_NULL, 'MPI_Op_free of another')
    call MPI_Type_free(matrix, ierr)
  end subroutine

  subroutine local_operations()
    HANDLE(MPI_Op) :: op
    HANDLE(MPI_Op) :: commuting(12)
    integer :: a(4), b(4), i
    integer :: x(2), y(2)
    double precision :: d, e
    complex :: z, w
    logical :: flag, p, q
    call MPI_Type_contiguous(4, MPI_INTEGER, matrix, ierr)
    call MPI_Type_commit(matrix, ierr)
    call MPI_Op_create(times, .false., op, ierr)
    flag = .true.
    call MPI_Op_commutative(op, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. .not. flag, 'MPI_Op_commutative')
    a = matrix_of(1)
    b = matrix_of(2)
    call MPI_Reduce_local(a, b, 1, matrix, op, ierr)
    call check(ierr == MPI_SUCCESS .and. are(b, product_of(matrix_of(1), matrix_of(2))) .and. are(a, matrix_of(1)), 'MPI_Reduce_local with a product')
    call MPI_Op_free(op, ierr)
    call MPI_Type_free(matrix, ierr)
    call MPI_Op_create(added, .true., op, ierr)
    flag = .false.
    call MPI_Op_commutative(op, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. flag, 'MPI_Op_commutative of another')
    a = [1, 2, 3, 4]
    b = [10, 20, 30, 40]
    call MPI_Reduce_local(a, b, 3, MPI_INTEGER, op, ierr)
    call check(ierr == MPI_SUCCESS .and. are(b, [12, 23, 34, 40]), 'MPI_Reduce_local with a sum')
    call MPI_Op_free(op, ierr)
    commuting = [MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC]
    do i = 1, 12
      flag = .false.
      call MPI_Op_commutative(commuting(i), flag, ierr)
      call check(ierr == MPI_SUCCESS .and. flag, 'MPI_Op_commutative of one that is there')
    end do
    ! What these make of 12 and 10.
    do i = 1, 10
      if (any(i == [5, 7, 9])) cycle
      a(1) = 12
      b(1) = 10
      call MPI_Reduce_local(a, b, 1, MPI_INTEGER, commuting(i), ierr)
      x(1) = 0
      select case (i)
      case (1); x(1) = 12
      case (2); x(1) = 10
      case (3); x(1) = 22
      case (4); x(1) = 120
      case (6); x(1) = 8
      case (8); x(1) = 14
      case (10); x(1) = 6
      end select
      call check(ierr == MPI_SUCCESS .and. b(1) == x(1), 'MPI_Reduce_local of integers')
    end do
    do i = 5, 9, 2
      p = .true.
      q = .false.
      call MPI_Reduce_local(p, q, 1, MPI_LOGICAL, commuting(i), ierr)
      call check(ierr == MPI_SUCCESS .and. (q .eqv. i /= 5), 'MPI_Reduce_local of a true one and a false one')
      q = .true.
      call MPI_Reduce_local(p, q, 1, MPI_LOGICAL, commuting(i), ierr)
      call check(ierr == MPI_SUCCESS .and. (q .eqv. i /= 9), 'MPI_Reduce_local of true ones')
    end do
    x = [3, rank]
    y = [3, rank + 1]
    call MPI_Reduce_local(x, y, 1, MPI_2INTEGER, MPI_MAXLOC, ierr)
    call check(ierr == MPI_SUCCESS .and. are(y, [3, rank]), 'MPI_Reduce_local with MPI_MAXLOC')
    x = [2, 77]
    call MPI_Reduce_local(x, y, 1, MPI_2INTEGER, MPI_MINLOC, ierr)
    call check(ierr == MPI_SUCCESS .and. are(y, [2, 77]), 'MPI_Reduce_local with MPI_MINLOC')
    d = 1.5d0
    e = 2.25d0
    call MPI_Reduce_local(d, e, 1, MPI_DOUBLE_PRECISION, MPI_PROD, ierr)
    call check(ierr == MPI_SUCCESS .and. e == 3.375d0, 'MPI_Reduce_local of doubles')
    z = (1, 2)
    w = (3, -1)
    call MPI_Reduce_local(z, w, 1, MPI_COMPLEX, MPI_PROD, ierr)
    call check(ierr == MPI_SUCCESS .and. w == (5, 5), 'MPI_Reduce_local of complex numbers')

    ! All ranks together.
    x = [-mod(rank, 3), rank]
    call MPI_Allreduce(x, y, 1, MPI_2INTEGER, MPI_MINLOC, world, ierr)
    call check(ierr == MPI_SUCCESS .and. are(y, [-min(size - 1, 2), min(size - 1, 2)]), 'MPI_Allreduce with MPI_MINLOC')
    call MPI_Allreduce(x, y, 1, MPI_2INTEGER, MPI_MAXLOC, world, ierr)
    call check(ierr == MPI_SUCCESS .and. are(y, [0, 0]), 'MPI_Allreduce with MPI_MAXLOC')
    p = rank == 0
    call MPI_Allreduce(p, q, 1, MPI_LOGICAL, MPI_LAND, world, ierr)
    call check(ierr == MPI_SUCCESS .and. (q .eqv. size == 1), 'MPI_Allreduce with MPI_LAND')
    call MPI_Allreduce(p, q, 1, MPI_LOGICAL, MPI_LOR, world, ierr)
    call check(ierr == MPI_SUCCESS .and. q, 'MPI_Allreduce with MPI_LOR')
  end subroutine

  ! are says whether a list has these members, in this order.
  pure logical function are(list, members)
    integer, intent(in) :: list(:), members(:)
    integer :: i
    are = ubound(list, 1) == ubound(members, 1)
    do i = 1, min(ubound(list, 1), ubound(members, 1))
      are = are .and. list(i) == members(i)
    end do
  end function

  subroutine errors()
    HANDLE(MPI_Op) :: op
    logical :: flag
    allocate (in(size), out(size), counts(size), places(size), each(size), given(size), taken(size))
    in = 0
    counts = 1
    places = 0
    each = -1
    given = MPI_INTEGER
    taken = MPI_DATATYPE_NULL
    call MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    call MPI_Barrier(MPI_COMM_NULL, ierr)
    call expect(MPI_ERR_COMM, 'MPI_Barrier without a communicator')
    call MPI_Bcast(in, 1, MPI_INTEGER, size, world, ierr)
    call expect(MPI_ERR_ROOT, 'MPI_Bcast from nobody')
    call MPI_Gather(in, 1, MPI_INTEGER, out, 1, MPI_INTEGER, -9, world, ierr)
    call expect(MPI_ERR_ROOT, 'MPI_Gather to nobody')
    call MPI_Gatherv(in, 1, MPI_INTEGER, out, counts, places, MPI_INTEGER, size, world, ierr)
    call expect(MPI_ERR_ROOT, 'MPI_Gatherv to nobody')
    call MPI_Scatter(in, 1, MPI_INTEGER, out, 1, MPI_INTEGER, size, world, ierr)
    call expect(MPI_ERR_ROOT, 'MPI_Scatter from nobody')
    call MPI_Scatterv(in, counts, places, MPI_INTEGER, out, 1, MPI_INTEGER, size, world, ierr)
    call expect(MPI_ERR_ROOT, 'MPI_Scatterv from nobody')
    call MPI_Allgather(in, 1, MPI_INTEGER, out, -1, MPI_INTEGER, world, ierr)
    call expect(MPI_ERR_COUNT, 'MPI_Allgather of fewer than none')
    call MPI_Allgatherv(in, 1, MPI_INTEGER, out, counts, places, MPI_DATATYPE_NULL, world, ierr)
    call expect(MPI_ERR_TYPE, 'MPI_Allgatherv without a type')
    call MPI_Alltoall(in, 1, MPI_INTEGER, out, 1, MPI_DATATYPE_NULL, world, ierr)
    call expect(MPI_ERR_TYPE, 'MPI_Alltoall without a type')
    call MPI_Alltoallv(in, each, places, MPI_INTEGER, out, counts, places, MPI_INTEGER, world, ierr)
    call expect(MPI_ERR_COUNT, 'MPI_Alltoallv of fewer than none')
    call MPI_Alltoallw(in, each, places, given, out, counts, places, given, world, ierr)
    call expect(MPI_ERR_COUNT, 'MPI_Alltoallw of fewer than none')
    call MPI_Alltoallw(in, counts, places, given, out, counts, places, taken, world, ierr)
    call expect(MPI_ERR_TYPE, 'MPI_Alltoallw without a type')
    call MPI_Reduce(in, out, 1, MPI_INTEGER, MPI_OP_NULL, 0, world, ierr)
    call expect(MPI_ERR_OP, 'MPI_Reduce without an operation')
    call MPI_Allreduce(in, out, 1, MPI_INTEGER, MPI_OP_NULL, world, ierr)
    call expect(MPI_ERR_OP, 'MPI_Allreduce without an operation')
    call MPI_Scan(in, out, 1, MPI_INTEGER, MPI_OP_NULL, world, ierr)
    call expect(MPI_ERR_OP, 'MPI_Scan without an operation')
    call MPI_Exscan(in, out, -1, MPI_INTEGER, MPI_SUM, world, ierr)
    call expect(MPI_ERR_COUNT, 'MPI_Exscan of fewer than none')
    call MPI_Reduce_scatter(in, out, each, MPI_INTEGER, MPI_SUM, world, ierr)
    call expect(MPI_ERR_COUNT, 'MPI_Reduce_scatter of fewer than none')
    call MPI_Reduce_scatter_block(in, out, 1, MPI_INTEGER, MPI_OP_NULL, world, ierr)
    call expect(MPI_ERR_OP, 'MPI_Reduce_scatter_block without an operation')
    call MPI_Ibarrier(MPI_COMM_NULL, request, ierr)
    call expect(MPI_ERR_COMM, 'MPI_Ibarrier without a communicator')
    call MPI_Ibcast(in, 1, MPI_INTEGER, size, world, request, ierr)
    call expect(MPI_ERR_ROOT, 'MPI_Ibcast from nobody')
    call MPI_Igather(in, 1, MPI_INTEGER, out, 1, MPI_INTEGER, -9, world, request, ierr)
    call expect(MPI_ERR_ROOT, 'MPI_Igather to nobody')
    call MPI_Igatherv(in, 1, MPI_INTEGER, out, counts, places, MPI_INTEGER, size, world, request, ierr)
    call expect(MPI_ERR_ROOT, 'MPI_Igatherv to nobody')
    call MPI_Iscatter(in, 1, MPI_INTEGER, out, 1, MPI_INTEGER, size, world, request, ierr)
    call expect(MPI_ERR_ROOT, 'MPI_Iscatter from nobody')
    call MPI_Iscatterv(in, counts, places, MPI_INTEGER, out, 1, MPI_INTEGER, size, world, request, ierr)
    call expect(MPI_ERR_ROOT, 'MPI_Iscatterv from nobody')
    call MPI_Iallgather(in, 1, MPI_INTEGER, out, -1, MPI_INTEGER, world, request, ierr)
    call expect(MPI_ERR_COUNT, 'MPI_Iallgather of fewer than none')
    call MPI_Iallgatherv(in, 1, MPI_INTEGER, out, counts, places, MPI_DATATYPE_NULL, world, request, ierr)
    call expect(MPI_ERR_TYPE, 'MPI_Iallgatherv without a type')
    call MPI_Ialltoall(in, 1, MPI_INTEGER, out, 1, MPI_DATATYPE_NULL, world, request, ierr)
    call expect(MPI_ERR_TYPE, 'MPI_Ialltoall without a type')
    call MPI_Ialltoallv(in, each, places, MPI_INTEGER, out, counts, places, MPI_INTEGER, world, request, ierr)
    call expect(MPI_ERR_COUNT, 'MPI_Ialltoallv of fewer than none')
    call MPI_Ialltoallw(in, each, places, given, out, counts, places, given, world, request, ierr)
    call expect(MPI_ERR_COUNT, 'MPI_Ialltoallw of fewer than none')
    call MPI_Ialltoallw(in, counts, places, given, out, counts, places, taken, world, request, ierr)
    call expect(MPI_ERR_TYPE, 'MPI_Ialltoallw without a type')
    call MPI_Ireduce(in, out, 1, MPI_INTEGER, MPI_OP_NULL, 0, world, request, ierr)
    call expect(MPI_ERR_OP, 'MPI_Ireduce without an operation')
    call MPI_Iallreduce(in, out, 1, MPI_INTEGER, MPI_OP_NULL, world, request, ierr)
    call expect(MPI_ERR_OP, 'MPI_Iallreduce without an operation')
    call MPI_Iscan(in, out, 1, MPI_INTEGER, MPI_OP_NULL, world, request, ierr)
    call expect(MPI_ERR_OP, 'MPI_Iscan without an operation')
    call MPI_Iexscan(in, out, -1, MPI_INTEGER, MPI_SUM, world, request, ierr)
    call expect(MPI_ERR_COUNT, 'MPI_Iexscan of fewer than none')
    call MPI_Ireduce_scatter(in, out, each, MPI_INTEGER, MPI_SUM, world, request, ierr)
    call expect(MPI_ERR_COUNT, 'MPI_Ireduce_scatter of fewer than none')
    call MPI_Ireduce_scatter_block(in, out, 1, MPI_INTEGER, MPI_OP_NULL, world, request, ierr)
    call expect(MPI_ERR_OP, 'MPI_Ireduce_scatter_block without an operation')
    call MPI_Reduce_local(in, out, 1, MPI_INTEGER, MPI_OP_NULL, ierr)
    call expect(MPI_ERR_OP, 'MPI_Reduce_local without an operation')
    call MPI_Op_commutative(MPI_OP_NULL, flag, ierr)
    call expect(MPI_ERR_OP, 'MPI_Op_commutative without an operation')
    op = MPI_SUM
    call MPI_Op_free(op, ierr)
    call expect(MPI_ERR_OP, 'MPI_Op_free of one that is there')
    call check(op == MPI_SUM, 'the operation that cannot be freed')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)
    call MPI_Barrier(world, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Barrier after errors')
    deallocate (in, out, counts, places, each, given, taken)
  end subroutine

  ! expect checks the class of the error that a call has returned.
  subroutine expect(class, what)
    integer, intent(in) :: class
    character(len=*), intent(in) :: what
    integer :: told, error
    told = -1
    error = ierr
    call MPI_Error_class(error, told, ierr)
    call check(error /= MPI_SUCCESS .and. told == class, 'the error of ' // what)
  end subroutine

#include "checks.h"
end program
