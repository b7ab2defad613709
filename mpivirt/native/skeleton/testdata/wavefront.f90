! A wavefront over a two-dimensional grid of ranks, as discrete ordinates codes have it: eight octants, blocks of planes and of angles.
subroutine sweep(fixup)
  implicit none
  include 'mpif.h'
  integer, parameter :: most = 50, angles = 3, planes = 10, moments = 4
  integer :: it, jt, kt, mm, me, north, south, east, west, px, py
  double precision :: flux, source, sigma, leakage, phi, west_face, north_face, top_face, weights, total
  common /sizes/ it, jt, kt, mm
  common /grid/ me, north, south, east, west, px, py
  common /fields/ flux(most, most, most, moments), source(most, most, most, moments), sigma(most, most, most), &
    leakage(most, most, most, 3), phi(most), west_face(most, planes, angles), &
    north_face(most, planes, angles), top_face(most, most, angles), weights(angles), total
  integer :: octant, i2, j2, k2, k0, k1, k, j, i, l, m, from_x, to_x, from_y, to_y, ierr, status(MPI_STATUS_SIZE)
  integer :: first, last, step, fixup
  double precision :: ci, cj, ck
  do octant = 1, 8
    i2 = mod(octant - 1, 2)
    j2 = mod((octant - 1) / 2, 2)
    k2 = (octant - 1) / 4
    from_x = merge(west, east, i2 == 0)
    to_x = merge(east, west, i2 == 0)
    from_y = merge(north, south, j2 == 0)
    to_y = merge(south, north, j2 == 0)
    top_face(1:it, 1:jt, 1:mm) = 0
    do k0 = 1, kt, planes
      k1 = min(k0 + planes - 1, kt)
      if (from_x >= 0) then
        call MPI_Recv(west_face, jt * planes * mm, MPI_DOUBLE_PRECISION, from_x, 10, MPI_COMM_WORLD, status, ierr)
      else
        west_face(1:jt, :, 1:mm) = 0
      end if
      if (from_y >= 0) then
        call MPI_Recv(north_face, it * planes * mm, MPI_DOUBLE_PRECISION, from_y, 20, MPI_COMM_WORLD, status, ierr)
      else
        north_face(1:it, :, 1:mm) = 0
      end if
      first = merge(1, it, i2 == 0)
      last = merge(it, 1, i2 == 0)
      step = merge(1, -1, i2 == 0)
      do m = 1, mm
        do k = k0, k1
          do j = 1, jt
            phi(1:it) = source(1:it, j, k, 1)
            do l = 2, moments
              phi(1:it) = phi(1:it) + 0.1d0 * l * source(1:it, j, k, l)
            end do
            do i = first, last, step
              ci = 0.3d0 * weights(m)
              cj = 0.4d0 * weights(m)
              ck = 0.5d0 * weights(m)
              phi(i) = (phi(i) + ci * west_face(j, k - k0 + 1, m) + cj * north_face(i, k - k0 + 1, m) + ck * top_face(i, j, m)) &
                / (sigma(i, j, k) + ci + cj + ck)
              west_face(j, k - k0 + 1, m) = 2 * phi(i) - west_face(j, k - k0 + 1, m)
              north_face(i, k - k0 + 1, m) = 2 * phi(i) - north_face(i, k - k0 + 1, m)
              top_face(i, j, m) = 2 * phi(i) - top_face(i, j, m)
              if (fixup /= 0 .and. phi(i) < 0) then
                phi(i) = 0
                fixup = fixup + 1
              end if
            end do
            do l = 1, moments
              flux(1:it, j, k, l) = flux(1:it, j, k, l) + weights(m) * phi(1:it) / l
            end do
            leakage(1:it, j, k, 1) = leakage(1:it, j, k, 1) + phi(1:it)
            leakage(1:it, j, k, 2) = leakage(1:it, j, k, 2) + top_face(1:it, j, m)
            leakage(1:it, j, k, 3) = leakage(1:it, j, k, 3) + north_face(1:it, k - k0 + 1, m)
          end do
        end do
      end do
      if (to_x >= 0) call MPI_Send(west_face, jt * planes * mm, MPI_DOUBLE_PRECISION, to_x, 10, MPI_COMM_WORLD, ierr)
      if (to_y >= 0) call MPI_Send(north_face, it * planes * mm, MPI_DOUBLE_PRECISION, to_y, 20, MPI_COMM_WORLD, ierr)
    end do
  end do
end subroutine

program wavefront
  implicit none
  include 'mpif.h'
  integer, parameter :: most = 50, angles = 3, planes = 10, moments = 4
  integer :: it, jt, kt, mm, me, north, south, east, west, px, py
  double precision :: flux, source, sigma, leakage, phi, west_face, north_face, top_face, weights, total
  common /sizes/ it, jt, kt, mm
  common /grid/ me, north, south, east, west, px, py
  common /fields/ flux(most, most, most, moments), source(most, most, most, moments), sigma(most, most, most), &
    leakage(most, most, most, 3), phi(most), west_face(most, planes, angles), &
    north_face(most, planes, angles), top_face(most, most, angles), weights(angles), total
  integer :: n, iteration, iterations, ierr, dims(2), x, y, fixup
  double precision :: own, before
  character(len=32) :: text
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  it = 50
  iterations = 2
  if (command_argument_count() > 0) then
    call get_command_argument(1, text)
    read (text, *) it
  end if
  jt = it
  kt = it
  mm = angles
  dims = 0
  call MPI_Dims_create(n, 2, dims, ierr)
  px = dims(1)
  py = dims(2)
  x = mod(me, px)
  y = me / px
  west = merge(me - 1, -1, x > 0)
  east = merge(me + 1, -1, x < px - 1)
  north = merge(me - px, -1, y > 0)
  south = merge(me + px, -1, y < py - 1)
  flux = 0
  source = 1
  sigma = 1
  leakage = 0
  weights = (/ 0.2d0, 0.3d0, 0.5d0 /)
  fixup = 1
  before = 0
  do iteration = 1, iterations
    call sweep(fixup)
    own = sum(flux(1:it, 1:jt, 1:kt, 1)) + 1d-3 * sum(leakage(1:it, 1:jt, 1:kt, :))
    call MPI_Allreduce(own, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (abs(total - before) < 1d-9) exit
    before = total
  end do
  if (me == 0) write (*, '(a, es12.4, i6)') ' flux', total, fixup
  call MPI_Finalize(ierr)
end program
