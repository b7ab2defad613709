! Packing in Fortran: messages of several types, and the external32 representation, which is
! big-endian numbers without padding.
#include "handles.h"
program fortran_packing
  use MODULE
  use, intrinsic :: iso_c_binding, only: c_int16_t
  implicit none
  integer, parameter :: AINT = MPI_ADDRESS_KIND
  integer :: rank, ranks, checks = 0, failures = 0, ierr
  integer(1) :: packed(0:127)

  type, bind(c) :: part
    integer(c_int16_t) :: s
    double precision :: d
    integer :: i(2)
  end type

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call messages()
  call sections()
  call external()
  call numbers()
  call errors()
  call report('fortran_packing')
  call MPI_Finalize(ierr)

contains

  ! A message says how many numbers of each type it has.
  subroutine messages()
    integer :: next, last, position, room, more, n, bytes, i
    double precision :: x(8)
    complex :: z
    logical :: odd
    character(len=5) :: word
    STATUS :: status
    next = mod(rank + 1, ranks)
    last = mod(rank + ranks - 1, ranks)
    x = [(rank + i / 8d0, i = 1, 8)]
    position = 0
    n = 1 + mod(rank, 8)
    call MPI_Pack_size(1, MPI_INTEGER, MPI_COMM_WORLD, room, ierr)
    call check(ierr == MPI_SUCCESS .and. room >= 4, 'MPI_Pack_size of an integer')
    call MPI_Pack_size(n, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, more, ierr)
    call check(ierr == MPI_SUCCESS .and. more >= 8 * n, 'MPI_Pack_size of reals')
    call MPI_Pack(n, 1, MPI_INTEGER, packed, 128, position, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. position > 0 .and. position <= room, 'MPI_Pack of an integer')
    call MPI_Pack(x, n, MPI_DOUBLE_PRECISION, packed, 128, position, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. position <= room + more, 'MPI_Pack of reals')
    call MPI_Pack(cmplx(rank, -1), 1, MPI_COMPLEX, packed, 128, position, MPI_COMM_WORLD, ierr)
    call done('MPI_Pack of a complex')
    call MPI_Pack(mod(rank, 2) == 1, 1, MPI_LOGICAL, packed, 128, position, MPI_COMM_WORLD, ierr)
    call done('MPI_Pack of a logical')
    call MPI_Pack('words', 5, MPI_CHARACTER, packed, 128, position, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. position <= 128, 'MPI_Pack of characters')
    bytes = position
    call MPI_Sendrecv_replace(packed, 128, MPI_PACKED, next, 3, last, 3, MPI_COMM_WORLD, status, ierr)
    call done('a packed message')
    call MPI_Get_count(status, MPI_PACKED, more, ierr)
    call check(ierr == MPI_SUCCESS .and. more == 128 .and. bytes <= more, 'MPI_Get_count of a packed message')
    position = 0
    x = -1
    call MPI_Unpack(packed, 128, position, n, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. n == 1 + mod(last, 8), 'MPI_Unpack of an integer')
    call MPI_Unpack(packed, 128, position, x, n, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. all(x(:n) == [(last + i / 8d0, i = 1, n)]) .and. all(x(n + 1:) == -1), 'MPI_Unpack of reals')
    call MPI_Unpack(packed, 128, position, z, 1, MPI_COMPLEX, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. z == cmplx(last, -1), 'MPI_Unpack of a complex')
    call MPI_Unpack(packed, 128, position, odd, 1, MPI_LOGICAL, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. (odd .eqv. mod(last, 2) == 1), 'MPI_Unpack of a logical')
    call MPI_Unpack(packed, 128, position, word, 5, MPI_CHARACTER, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. word == 'words', 'MPI_Unpack of characters')
  end subroutine

  ! A row of a matrix is packed from where it lies, and unpacked to a column.
  subroutine sections()
    integer :: m(3, 4), n(4), position, i, j
    HANDLE(MPI_Datatype) :: row
    m = reshape([((10 * i + j, i = 1, 3), j = 1, 4)], [3, 4])
    call MPI_Type_vector(4, 1, 3, MPI_INTEGER, row, ierr)
    call MPI_Type_commit(row, ierr)
    position = 4
    call MPI_Pack(m(2, 1), 1, row, packed, 128, position, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. position == 20, 'MPI_Pack of a row')
    position = 4
    call MPI_Unpack(packed, 128, position, n, 4, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. position == 20 .and. all(n == [21, 22, 23, 24]), 'MPI_Unpack of a row')
    n = -n
    position = 0
    call MPI_Pack(n, 4, MPI_INTEGER, packed, 128, position, MPI_COMM_WORLD, ierr)
    position = 0
    call MPI_Unpack(packed, 128, position, m(3, 1), 1, row, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. position == 16 .and. all(m(3, :) == n) .and. all(m(1, :) == [11, 12, 13, 14]), 'MPI_Unpack to a row')
    call MPI_Type_free(row, ierr)
  end subroutine

  subroutine external()
    integer(1), parameter :: want(0:17) = [-1, -2, -65, -8, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, -1, -1, -1, -1]
    type(part) :: in, out
    HANDLE(MPI_Datatype) :: t, types(3)
    integer(AINT) :: bytes, position
    types(1) = MPI_INTEGER2
    types(2) = MPI_DOUBLE_PRECISION
    types(3) = MPI_INTEGER
    call MPI_Type_create_struct(3, [1, 1, 2], [0_AINT, 8_AINT, 16_AINT], types, t, ierr)
    call MPI_Type_commit(t, ierr)
    in%s = -2_c_int16_t
    in%d = -1.5d0
    in%i = [16909060, -1] ! the bytes 1, 2, 3, 4 and -1
    call MPI_Pack_external_size('external32', 1, t, bytes, ierr)
    call check(ierr == MPI_SUCCESS .and. bytes == 18, 'MPI_Pack_external_size')
    packed = 99
    position = 0
    call MPI_Pack_external('external32', in, 1, t, packed, 128_AINT, position, ierr)
    call check(ierr == MPI_SUCCESS .and. position == 18 .and. all(packed(0:17) == want) .and. all(packed(18:) == 99), 'MPI_Pack_external')
    out%s = 0
    out%d = 0
    out%i = 0
    position = 0
    call MPI_Unpack_external('external32', packed, 18_AINT, position, out, 1, t, ierr)
    call check(ierr == MPI_SUCCESS .and. position == 18 .and. out%s == -2 .and. out%d == -1.5d0 .and. all(out%i == in%i), 'MPI_Unpack_external')
    call MPI_Type_free(t, ierr)
  end subroutine

  ! Numbers of several types, one after the other, after what is there.
  subroutine numbers()
    integer(AINT) :: bytes, position
    integer(8) :: long, back
    real :: x(2), y(2)
    complex(kind(1d0)) :: z, w
    character(len=3) :: word
    call MPI_Pack_external_size('external32', 3, MPI_INTEGER8, bytes, ierr)
    call check(ierr == MPI_SUCCESS .and. bytes == 24, 'MPI_Pack_external_size of integers of 8 bytes')
    call MPI_Pack_external_size('external32', 3, MPI_DOUBLE_COMPLEX, bytes, ierr)
    call check(ierr == MPI_SUCCESS .and. bytes == 48, 'MPI_Pack_external_size of complex numbers')
    packed = 99
    position = 1
    long = -2
    call MPI_Pack_external('external32', long, 1, MPI_INTEGER8, packed, 128_AINT, position, ierr)
    call check(ierr == MPI_SUCCESS .and. position == 9 .and. packed(0) == 99 .and. all(packed(1:7) == -1) .and. packed(8) == -2, 'MPI_Pack_external of an integer of 8 bytes')
    x = [1.0, -2.0]
    call MPI_Pack_external('external32', x, 2, MPI_REAL, packed, 128_AINT, position, ierr)
    call check(ierr == MPI_SUCCESS .and. position == 17 .and. all(packed(9:16) == [63, -128, 0, 0, -64, 0, 0, 0]), 'MPI_Pack_external of reals')
    z = (1d0, -2d0)
    call MPI_Pack_external('external32', z, 1, MPI_DOUBLE_COMPLEX, packed, 128_AINT, position, ierr)
    call check(ierr == MPI_SUCCESS .and. position == 33 .and. all(packed(17:18) == [63, -16]) .and. all(packed(25:26) == [-64, 0]), 'MPI_Pack_external of a complex')
    call MPI_Pack_external('external32', 'abc', 3, MPI_CHARACTER, packed, 128_AINT, position, ierr)
    call check(ierr == MPI_SUCCESS .and. position == 36 .and. all(packed(33:35) == [97, 98, 99]), 'MPI_Pack_external of characters')
    position = 1
    back = 0
    call MPI_Unpack_external('external32', packed, 36_AINT, position, back, 1, MPI_INTEGER8, ierr)
    call check(ierr == MPI_SUCCESS .and. position == 9 .and. back == long, 'MPI_Unpack_external of an integer of 8 bytes')
    y = 0
    call MPI_Unpack_external('external32', packed, 36_AINT, position, y, 2, MPI_REAL, ierr)
    call check(ierr == MPI_SUCCESS .and. position == 17 .and. all(y == x), 'MPI_Unpack_external of reals')
    w = 0
    call MPI_Unpack_external('external32', packed, 36_AINT, position, w, 1, MPI_DOUBLE_COMPLEX, ierr)
    call check(ierr == MPI_SUCCESS .and. position == 33 .and. w == z, 'MPI_Unpack_external of a complex')
    call MPI_Unpack_external('external32', packed, 36_AINT, position, word, 3, MPI_CHARACTER, ierr)
    call check(ierr == MPI_SUCCESS .and. position == 36 .and. word == 'abc', 'MPI_Unpack_external of characters')
  end subroutine

  subroutine errors()
    integer :: n(4), position
    integer(AINT) :: at, bytes
    HANDLE(MPI_Datatype) :: null
    HANDLE(MPI_Comm) :: nobody
    null = MPI_DATATYPE_NULL
    nobody = MPI_COMM_NULL
    n = 0
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
    position = 0
    call MPI_Pack(n, 4, MPI_INTEGER, packed, 15, position, MPI_COMM_WORLD, ierr)
    call fails(MPI_ERR_TRUNCATE, 'MPI_Pack without room')
    call MPI_Unpack(packed, 15, position, n, 4, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call fails(MPI_ERR_TRUNCATE, 'MPI_Unpack of too much')
    call check(position == 0, 'the position after an error')
    call MPI_Pack(n, -1, MPI_INTEGER, packed, 15, position, MPI_COMM_WORLD, ierr)
    call fails(MPI_ERR_COUNT, 'MPI_Pack of less than nothing')
    call MPI_Pack(n, 1, null, packed, 15, position, MPI_COMM_WORLD, ierr)
    call fails(MPI_ERR_TYPE, 'MPI_Pack of no type')
    call MPI_Unpack(packed, 128, position, n, -1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call fails(MPI_ERR_COUNT, 'MPI_Unpack of less than nothing')
    call MPI_Unpack(packed, 128, position, n, 1, null, MPI_COMM_WORLD, ierr)
    call fails(MPI_ERR_TYPE, 'MPI_Unpack of no type')
    call MPI_Pack_size(1, MPI_INTEGER, nobody, position, ierr)
    call fails(MPI_ERR_COMM, 'MPI_Pack_size for no communicator')
    call MPI_Pack_size(1, null, MPI_COMM_WORLD, position, ierr)
    call fails(MPI_ERR_TYPE, 'MPI_Pack_size of no type')
    at = 0
    call MPI_Pack_external('external32', n, 2, MPI_INTEGER, packed, 7_AINT, at, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_Pack_external without room')
    call MPI_Pack_external('external32', n, -1, MPI_INTEGER, packed, 128_AINT, at, ierr)
    call fails(MPI_ERR_COUNT, 'MPI_Pack_external of less than nothing')
    at = 0
    call MPI_Unpack_external('external32', packed, 3_AINT, at, n, 1, MPI_INTEGER, ierr)
    call fails(MPI_ERR_TRUNCATE, 'MPI_Unpack_external of too much')
    call MPI_Pack_external_size('external32', 1, null, bytes, ierr)
    call fails(MPI_ERR_TYPE, 'MPI_Pack_external_size of no type')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, ierr)
  end subroutine

#include "checks.h"

  ! done checks that the last call has succeeded.
  subroutine done(what)
    character(len=*), intent(in) :: what
    call check(ierr == MPI_SUCCESS, what)
  end subroutine

  ! fails checks that the last call has failed, with an error of a class.
  subroutine fails(class, what)
    integer, intent(in) :: class
    character(len=*), intent(in) :: what
    integer :: got, e
    call MPI_Error_class(ierr, got, e)
    call check(e == MPI_SUCCESS .and. got == class, what)
  end subroutine
end program
