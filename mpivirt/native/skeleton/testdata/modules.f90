! A multigrid-like program: arrays that modules allocate, a derived type with arrays of each level, internal procedures, COMMON, a pointer,
! times that are printed, and a file that may choose them.
module fields
  implicit none
  type level
    integer :: n
    double precision, allocatable :: u(:,:), r(:,:)
  end type
  type(level), allocatable :: levels(:)
  double precision, allocatable :: halo(:)
  double complex, allocatable :: spectrum(:)
  double precision, pointer :: work(:) => null()
  integer :: depth, sweeps, left, right
  logical :: timed
  double precision :: started(8), elapsed(8)
contains
  subroutine open_levels(n)
    integer, intent(in) :: n
    integer :: k, m, stat
    depth = 3
    allocate (levels(depth), stat=stat)
    m = n
    do k = 1, depth
      levels(k)%n = m
      allocate (levels(k)%u(m, 0:m + 1), levels(k)%r(m, 0:m + 1), stat=stat)
      levels(k)%u = 0d0
      levels(k)%r = 1d0 / k
      m = max(m / 2, 2)
    end do
    allocate (halo(2 * n), spectrum(n), work(n * n))
    work = 2d0
    spectrum = (1d0, 2d0)
  end subroutine

  subroutine start(k)
    include 'mpif.h'
    integer, intent(in) :: k
    if (timed) started(k) = MPI_Wtime()
  end subroutine

  subroutine stop_timer(k)
    include 'mpif.h'
    integer, intent(in) :: k
    if (timed) elapsed(k) = elapsed(k) + MPI_Wtime() - started(k)
  end subroutine
end module

subroutine relax(u, r, n)
  implicit none
  integer, intent(in) :: n
  double precision, intent(inout) :: u(n, 0:n + 1)
  double precision, intent(in) :: r(n, 0:n + 1)
  double precision :: table, scale
  integer :: first, last, i, j
  common /bounds/ table(300), scale, first, last
  call columns(1)
  call columns(2)
contains
  subroutine columns(parity) ! red and black
    integer, intent(in) :: parity
    do j = first + mod(parity, 2), min(last, n), 2
      do i = 2, n - 1
        u(i, j) = 0.25d0 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) + scale * r(i, j)) + table(mod(i * j, 300) + 1)
      end do
    end do
  end subroutine
end subroutine

program modules
  use mpi
  use fields
  implicit none
  integer :: rank, ranks, ierr, n, k, it, requests(2)
  double precision :: total, all, table, scale
  integer :: first, last
  character(len=20) :: argument
  common /bounds/ table(300), scale, first, last
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  n = 16
  if (rank == 0) then
    call get_command_argument(1, argument)
    if (len_trim(argument) > 0) read (argument, *) n
    call get_environment_variable('MODULES_TIMED', argument)
    timed = argument == 'yes'
    open (7, file='modules.input', status='old', iostat=ierr)
    if (ierr == 0) close (7)
    timed = timed .or. ierr == 0
  end if
  call MPI_Bcast(n, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(timed, 1, MPI_LOGICAL, 0, MPI_COMM_WORLD, ierr)
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  sweeps = 2
  elapsed = 0d0
  scale = 0.5d0
  table = 1d-3
  first = 1
  call open_levels(n)
  do it = 1, 3
    call start(it)
    do k = 1, depth
      last = levels(k)%n
      call smooth(k, sweeps * k)
    end do
    call stop_timer(it)
    total = sum(levels(1)%u) + sum(work)
    call MPI_Allreduce(total, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    do k = 1, n
      spectrum(k) = spectrum(k) / (all + spectrum(n - k + 1))
    end do
    call MPI_Allreduce(elapsed, started, 8, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
  end do
  if (rank == 0) write (*, *) all, abs(spectrum(1)), started(1)
  deallocate (levels, halo, spectrum, work)
  call MPI_Finalize(ierr)

contains

  subroutine smooth(k, times) ! a level, some times, with its halo
    integer, intent(in) :: k, times
    integer :: m, t
    m = levels(k)%n
    do t = 1, times
      call relax(levels(k)%u, levels(k)%r, m)
      halo(1:m) = levels(k)%u(:, m)
      call MPI_Irecv(halo(m + 1), m, MPI_DOUBLE_PRECISION, left, k, MPI_COMM_WORLD, requests(1), ierr)
      call MPI_Isend(halo, m, MPI_DOUBLE_PRECISION, right, k, MPI_COMM_WORLD, requests(2), ierr)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
      levels(k)%u(:, 0) = halo(m + 1:2 * m)
      work(1:m) = work(1:m) + halo(1:m)
    end do
  end subroutine
end program
