! Derived datatypes, in Fortran: how they are made, what is told of them, and packing.
#include "handles.h"
program fortran_datatypes
  use MODULE
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int
  implicit none
  integer, parameter :: AINT = MPI_ADDRESS_KIND, DEFAULT = MPI_DISTRIBUTE_DFLT_DARG
  integer :: rank, ranks, checks = 0, failures = 0, ierr, i
  integer :: numbers(0:63) = [(1000 + i, i = 0, 63)]

  type, bind(c) :: part
    character(kind=c_char) :: c
    real(c_double) :: d(2)
    integer(c_int) :: i
  end type

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call constructors()
  call structs()
  call alignments()
  call distributed(MPI_DISTRIBUTE_BLOCK, DEFAULT, 4)
  call distributed(MPI_DISTRIBUTE_CYCLIC, DEFAULT, 1)
  call distributed(MPI_DISTRIBUTE_CYCLIC, 2, 2)
  call distributed(MPI_DISTRIBUTE_CYCLIC, 3, 3)
  call names()
  call kinds()
  call elements()
  call errors()
  call report('fortran_datatypes')
  call MPI_Finalize(ierr)

contains

  ! lengths checks the size, the extent and the true extent of a type, in bytes.
  subroutine lengths(what, type, bytes, low, extent, true_low, true_extent)
    character(len=*), intent(in) :: what
    HANDLE(MPI_Datatype), intent(in) :: type
    integer, intent(in) :: bytes, low, extent, true_low, true_extent
    integer :: n
    integer(AINT) :: a, b
    integer(MPI_COUNT_KIND) :: c, d
    call MPI_Type_size(type, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == bytes, 'MPI_Type_size of '//what)
    call MPI_Type_size_x(type, c, ierr)
    call check(ierr == MPI_SUCCESS .and. c == bytes, 'MPI_Type_size_x of '//what)
    call MPI_Type_get_extent(type, a, b, ierr)
    call check(ierr == MPI_SUCCESS .and. a == low .and. b == extent, 'MPI_Type_get_extent of '//what)
    call MPI_Type_get_extent_x(type, c, d, ierr)
    call check(ierr == MPI_SUCCESS .and. c == low .and. d == extent, 'MPI_Type_get_extent_x of '//what)
    call MPI_Type_get_true_extent(type, a, b, ierr)
    call check(ierr == MPI_SUCCESS .and. a == true_low .and. b == true_extent, 'MPI_Type_get_true_extent of '//what)
    call MPI_Type_get_true_extent_x(type, c, d, ierr)
    call check(ierr == MPI_SUCCESS .and. c == true_low .and. d == true_extent, 'MPI_Type_get_true_extent_x of '//what)
  end subroutine

  ! packs commits a type, packs a value of it that starts at numbers(base), and unpacks it.
  subroutine packs(what, type, base, want)
    character(len=*), intent(in) :: what
    HANDLE(MPI_Datatype), intent(inout) :: type
    integer, intent(in) :: base, want(:)
    integer :: packed(64), back(0:63), untouched(0:63), position, room, n
    n = ubound(want, 1)
    call MPI_Type_commit(type, ierr)
    call done('MPI_Type_commit of '//what)
    call MPI_Pack_size(1, type, MPI_COMM_WORLD, room, ierr)
    call check(ierr == MPI_SUCCESS .and. room >= 4 * n, 'MPI_Pack_size of '//what)
    packed = -1
    position = 0
    call MPI_Pack(numbers(base), 1, type, packed, 256, position, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. position == 4 * n .and. all(packed(:n) == want) .and. all(packed(n + 1:) == -1), 'MPI_Pack of '//what)
    back = -1
    position = 0
    call MPI_Unpack(packed, 256, position, back(base), 1, type, MPI_COMM_WORLD, ierr)
    untouched = -1
    untouched(want - 1000) = want
    call check(ierr == MPI_SUCCESS .and. position == 4 * n .and. all(back == untouched), 'MPI_Unpack of '//what)
  end subroutine

  ! made_of checks what tells how a type was made.
  subroutine made_of(what, type, combiner, integers, addresses, types)
    character(len=*), intent(in) :: what
    HANDLE(MPI_Datatype), intent(in) :: type
    integer, intent(in) :: combiner, integers(:), types
    integer(AINT), intent(in) :: addresses(:)
    integer :: ni, na, nd, c, got(64), i
    integer(AINT) :: address(16)
    HANDLE(MPI_Datatype) :: parts(16)
    call MPI_Type_get_envelope(type, ni, na, nd, c, ierr)
    call check(ierr == MPI_SUCCESS .and. ni == ubound(integers, 1) .and. na == ubound(addresses, 1) .and. nd == types .and. c == combiner, 'MPI_Type_get_envelope of '//what)
    call MPI_Type_get_contents(type, ni, na, nd, got, address, parts, ierr)
    call check(ierr == MPI_SUCCESS .and. all(got(:ni) == integers) .and. all(address(:na) == addresses), 'MPI_Type_get_contents of '//what)
    do i = 1, nd
      call MPI_Type_get_envelope(parts(i), ni, na, nd, c, ierr)
      if (c == MPI_COMBINER_NAMED) then
        call check(parts(i) == MPI_INTEGER .or. parts(i) == MPI_CHARACTER .or. parts(i) == MPI_DOUBLE_PRECISION, 'a type that was used for '//what)
      else
        call MPI_Type_free(parts(i), ierr)
        call check(ierr == MPI_SUCCESS .and. parts(i) == MPI_DATATYPE_NULL, 'MPI_Type_free of a type that was used for '//what)
      end if
    end do
  end subroutine

  subroutine constructors()
    HANDLE(MPI_Datatype) :: t, u
    integer, parameter :: none(0) = [integer ::]
    integer(AINT), parameter :: nowhere(0) = [integer(AINT) ::]

    call MPI_Type_contiguous(3, MPI_INTEGER, t, ierr)
    call done('MPI_Type_contiguous')
    call lengths('three integers', t, 12, 0, 12, 0, 12)
    call packs('three integers', t, 16, [1016, 1017, 1018])
    call made_of('three integers', t, MPI_COMBINER_CONTIGUOUS, [3], nowhere, 1)

    call MPI_Type_dup(t, u, ierr)
    call done('MPI_Type_dup')
    call lengths('a duplicate', u, 12, 0, 12, 0, 12)
    call made_of('a duplicate', u, MPI_COMBINER_DUP, none, nowhere, 1)
    call MPI_Type_free(u, ierr)
    call check(ierr == MPI_SUCCESS .and. u == MPI_DATATYPE_NULL, 'MPI_Type_free')

    call MPI_Type_vector(2, 2, 3, t, u, ierr)
    call done('MPI_Type_vector')
    call lengths('a vector of triples', u, 48, 0, 60, 0, 60)
    call MPI_Type_free(t, ierr) ! u keeps it
    call packs('a vector of triples', u, 16, [1016, 1017, 1018, 1019, 1020, 1021, 1025, 1026, 1027, 1028, 1029, 1030])
    call made_of('a vector of triples', u, MPI_COMBINER_VECTOR, [2, 2, 3], nowhere, 1)
    call MPI_Type_free(u, ierr)

    call MPI_Type_vector(3, 1, -2, MPI_INTEGER, t, ierr)
    call done('MPI_Type_vector with a negative stride')
    call lengths('a vector with a negative stride', t, 12, -16, 20, -16, 20)
    call packs('a vector with a negative stride', t, 16, [1016, 1014, 1012])
    call MPI_Type_free(t, ierr)

    call MPI_Type_create_hvector(3, 1, 8_AINT, MPI_INTEGER, t, ierr)
    call done('MPI_Type_create_hvector')
    call lengths('an hvector', t, 12, 0, 20, 0, 20)
    call packs('an hvector', t, 16, [1016, 1018, 1020])
    call made_of('an hvector', t, MPI_COMBINER_HVECTOR, [3, 1], [8_AINT], 1)
    call MPI_Type_free(t, ierr)

    call MPI_Type_indexed(3, [2, 0, 1], [4, 9, 1], MPI_INTEGER, t, ierr)
    call done('MPI_Type_indexed')
    call lengths('an indexed type', t, 12, 4, 20, 4, 20)
    call packs('an indexed type', t, 0, [1004, 1005, 1001])
    call made_of('an indexed type', t, MPI_COMBINER_INDEXED, [3, 2, 0, 1, 4, 9, 1], nowhere, 1)
    call MPI_Type_free(t, ierr)

    call MPI_Type_create_hindexed(2, [1, 2], [0_AINT, 16_AINT], MPI_INTEGER, t, ierr)
    call done('MPI_Type_create_hindexed')
    call lengths('an hindexed type', t, 12, 0, 24, 0, 24)
    call packs('an hindexed type', t, 16, [1016, 1020, 1021])
    call made_of('an hindexed type', t, MPI_COMBINER_HINDEXED, [2, 1, 2], [0_AINT, 16_AINT], 1)
    call MPI_Type_free(t, ierr)

    call MPI_Type_create_indexed_block(3, 2, [0, 3, 8], MPI_INTEGER, t, ierr)
    call done('MPI_Type_create_indexed_block')
    call lengths('an indexed block', t, 24, 0, 40, 0, 40)
    call packs('an indexed block', t, 16, [1016, 1017, 1019, 1020, 1024, 1025])
    call made_of('an indexed block', t, MPI_COMBINER_INDEXED_BLOCK, [3, 2, 0, 3, 8], nowhere, 1)
    call MPI_Type_free(t, ierr)

    call MPI_Type_create_hindexed_block(2, 1, [0_AINT, 12_AINT], MPI_INTEGER, t, ierr)
    call done('MPI_Type_create_hindexed_block')
    call lengths('an hindexed block', t, 8, 0, 16, 0, 16)
    call packs('an hindexed block', t, 16, [1016, 1019])
    call made_of('an hindexed block', t, MPI_COMBINER_HINDEXED_BLOCK, [2, 1], [0_AINT, 12_AINT], 1)
    call MPI_Type_free(t, ierr)

    call MPI_Type_create_resized(MPI_INTEGER, -4_AINT, 16_AINT, t, ierr)
    call done('MPI_Type_create_resized')
    call lengths('a resized type', t, 4, -4, 16, 0, 4)
    call made_of('a resized type', t, MPI_COMBINER_RESIZED, none, [-4_AINT, 16_AINT], 1)
    call MPI_Type_contiguous(3, t, u, ierr)
    call lengths('three of a resized type', u, 12, -4, 48, 0, 36)
    call packs('three of a resized type', u, 16, [1016, 1020, 1024])
    call MPI_Type_free(u, ierr)
    call MPI_Type_free(t, ierr)

    ! Rows 1 and 2, columns 2 and 3, of 4 by 5, from 0.
    call MPI_Type_create_subarray(2, [4, 5], [2, 2], [1, 2], MPI_ORDER_FORTRAN, MPI_INTEGER, t, ierr)
    call done('MPI_Type_create_subarray')
    call lengths('a subarray', t, 16, 0, 80, 36, 24)
    call packs('a subarray', t, 0, [1009, 1010, 1013, 1014])
    call made_of('a subarray', t, MPI_COMBINER_SUBARRAY, [2, 4, 5, 2, 2, 1, 2, MPI_ORDER_FORTRAN], nowhere, 1)
    call MPI_Type_free(t, ierr)
    call MPI_Type_create_subarray(2, [5, 4], [2, 2], [2, 1], MPI_ORDER_C, MPI_INTEGER, t, ierr)
    call done('MPI_Type_create_subarray in the order of C')
    call lengths('a subarray in the order of C', t, 16, 0, 80, 36, 24)
    call packs('a subarray in the order of C', t, 0, [1009, 1010, 1013, 1014])
    call MPI_Type_free(t, ierr)
  end subroutine

  ! A value of a derived type, which may be padded, is sent by its displacements and by its addresses.
  subroutine structs()
    type(part), volatile :: parts(3), back(3)
    integer(1) :: packed(64)
    integer :: i, position
    integer(AINT) :: at(3), base, next
    HANDLE(MPI_Datatype) :: t, u, types(3)
    STATUS :: status
    types(1) = MPI_CHARACTER
    types(2) = MPI_DOUBLE_PRECISION
    types(3) = MPI_INTEGER
    call MPI_Get_address(parts(1), base, ierr)
    call done('MPI_Get_address of a value')
    call MPI_Get_address(parts(2), next, ierr)
    call check(ierr == MPI_SUCCESS .and. next - base == 32, 'MPI_Get_address of the next value')
    call MPI_Get_address(parts(1)%c, at(1), ierr)
    call MPI_Get_address(parts(1)%d, at(2), ierr)
    call MPI_Get_address(parts(1)%i, at(3), ierr)
    do i = 1, 3
      at(i) = MPI_Aint_diff(at(i), base)
    end do
    call check(all(at == [0, 8, 24]), 'MPI_Aint_diff')
    call MPI_Type_create_struct(3, [1, 2, 1], at, types, t, ierr)
    call done('MPI_Type_create_struct')
    call lengths('a struct', t, 21, 0, 32, 0, 28)
    call made_of('a struct', t, MPI_COMBINER_STRUCT, [3, 1, 2, 1], at, 3)
    call MPI_Type_commit(t, ierr)
    do i = 1, 3
      parts(i)%c = achar(96 + i)
      parts(i)%d = [i + 0.5d0, i + 0.25d0]
      parts(i)%i = 10 * i
      back(i)%c = ' '
      back(i)%d = 0
      back(i)%i = 0
    end do
    position = 0
    call MPI_Pack(parts, 3, t, packed, 64, position, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. position == 63 .and. packed(22) == iachar('b'), 'MPI_Pack of structs')
    position = 0
    call MPI_Unpack(packed, 63, position, back, 3, t, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. position == 63, 'MPI_Unpack of structs')
    do i = 1, 3
      call check(back(i)%c == achar(96 + i) .and. back(i)%d(1) == i + 0.5d0 .and. back(i)%d(2) == i + 0.25d0 .and. back(i)%i == 10 * i, 'the structs of MPI_Unpack')
    end do
    do i = 1, 3
      at(i) = MPI_Aint_add(base, at(i))
    end do
    call MPI_Get_address(parts(1)%i, next, ierr)
    call check(at(1) == base .and. at(3) == next, 'MPI_Aint_add')
    call MPI_Type_create_struct(3, [1, 2, 1], at, types, u, ierr)
    call MPI_Type_commit(u, ierr)
    call MPI_Sendrecv(MPI_BOTTOM, 1, u, rank, 1, back(3), 1, t, rank, 1, MPI_COMM_WORLD, status, ierr)
    call check(ierr == MPI_SUCCESS .and. back(3)%c == 'a' .and. back(3)%d(2) == 1.25d0 .and. back(3)%i == 10, 'a struct sent by its addresses')
    parts(1)%i = 77
    call MPI_Sendrecv(parts(2), 1, t, rank, 2, MPI_BOTTOM, 1, u, rank, 2, MPI_COMM_WORLD, status, ierr)
    call check(ierr == MPI_SUCCESS .and. parts(1)%c == 'b' .and. parts(1)%d(1) == 2.5d0 .and. parts(1)%i == 20, 'a struct received by its addresses')
    call MPI_Type_free(t, ierr)
    call MPI_Type_free(u, ierr)
  end subroutine

  subroutine alignments()
    call extent_of('MPI_INTEGER1', MPI_INTEGER1, 1, 2)
    call extent_of('MPI_INTEGER2', MPI_INTEGER2, 2, 4)
    call extent_of('MPI_INTEGER', MPI_INTEGER, 4, 8)
    call extent_of('MPI_INTEGER8', MPI_INTEGER8, 8, 16)
    call extent_of('MPI_REAL', MPI_REAL, 4, 8)
    call extent_of('MPI_DOUBLE_PRECISION', MPI_DOUBLE_PRECISION, 8, 16)
    call extent_of('MPI_COMPLEX', MPI_COMPLEX, 4, 12)
    call extent_of('MPI_DOUBLE_COMPLEX', MPI_DOUBLE_COMPLEX, 8, 24)
    call extent_of('MPI_LOGICAL', MPI_LOGICAL, 4, 8)
  end subroutine

  ! extent_of checks that a struct of a character and a value that lies at its alignment has the
  ! extent that the compiler gives it.
  subroutine extent_of(what, type, alignment, extent)
    character(len=*), intent(in) :: what
    HANDLE(MPI_Datatype), intent(in) :: type
    integer, intent(in) :: alignment, extent
    HANDLE(MPI_Datatype) :: t, types(2)
    integer(AINT) :: low, got
    types(1) = MPI_CHARACTER
    types(2) = type
    call MPI_Type_create_struct(2, [1, 1], [0_AINT, int(alignment, AINT)], types, t, ierr)
    call MPI_Type_get_extent(t, low, got, ierr)
    call check(ierr == MPI_SUCCESS .and. low == 0 .and. got == extent, 'the extent of a struct with a value of '//what)
    call MPI_Type_free(t, ierr)
  end subroutine

  ! The parts of a distributed array are each element once, in the order of the array. Blocks of
  ! columns go to processes in turn.
  subroutine distributed(distribution, argument, block)
    integer, intent(in) :: distribution, argument, block
    integer, parameter :: ROWS = 7, COLUMNS = 10, orders(2) = [MPI_ORDER_FORTRAN, MPI_ORDER_C]
    integer :: array(0:ROWS * COLUMNS - 1), owner(0:ROWS * COLUMNS - 1), cells(ROWS * COLUMNS)
    integer :: o, order, process, position, bytes, n, i, row, column
    logical :: holds
    integer(AINT) :: low, extent
    HANDLE(MPI_Datatype) :: t
    array = [(i, i = 0, ROWS * COLUMNS - 1)]
    do o = 1, 2
      order = orders(o)
      owner = -1
      do process = 0, 5
        call MPI_Type_create_darray(6, process, 2, [ROWS, COLUMNS], [MPI_DISTRIBUTE_BLOCK, distribution], [DEFAULT, argument], [2, 3], order, MPI_INTEGER, t, ierr)
        call done('MPI_Type_create_darray')
        call MPI_Type_get_extent(t, low, extent, ierr)
        call check(low == 0 .and. extent == 4 * ROWS * COLUMNS, 'the extent of a distributed array')
        call made_of('a distributed array', t, MPI_COMBINER_DARRAY, [6, process, 2, ROWS, COLUMNS, MPI_DISTRIBUTE_BLOCK, distribution, DEFAULT, argument, 2, 3, order], [integer(AINT) ::], 1)
        call MPI_Type_commit(t, ierr)
        call MPI_Type_size(t, bytes, ierr)
        position = 0
        call MPI_Pack(array, 1, t, cells, 4 * ROWS * COLUMNS, position, MPI_COMM_WORLD, ierr)
        call check(ierr == MPI_SUCCESS .and. position == bytes, 'MPI_Pack of a distributed array')
        n = bytes / 4
        holds = .true.
        do i = 1, n
          if (order == MPI_ORDER_C) then
            row = cells(i) / COLUMNS
            column = mod(cells(i), COLUMNS)
          else
            row = mod(cells(i), ROWS)
            column = cells(i) / ROWS
          end if
          holds = holds .and. owner(cells(i)) == -1 .and. row / 4 == process / 3 .and. mod(column / block, 3) == mod(process, 3)
          owner(cells(i)) = process
        end do
        call check(holds .and. all(cells(2:n) > cells(:n - 1)), 'the part of a distributed array')
        call MPI_Type_free(t, ierr)
      end do
      call check(all(owner >= 0), 'the parts of a distributed array')
    end do
  end subroutine

  subroutine names()
    HANDLE(MPI_Datatype) :: t
    character(len=MPI_MAX_OBJECT_NAME) :: name
    integer :: length
    name = 'x'
    call MPI_Type_get_name(MPI_INTEGER, name, length, ierr)
    call check(ierr == MPI_SUCCESS .and. name == 'MPI_INTEGER' .and. length == 11, 'MPI_Type_get_name of MPI_INTEGER')
    call MPI_Type_contiguous(2, MPI_INTEGER, t, ierr)
    call MPI_Type_get_name(t, name, length, ierr)
    call check(ierr == MPI_SUCCESS .and. name == '' .and. length == 0, 'MPI_Type_get_name of a type without a name')
    call MPI_Type_set_name(t, 'a pair  ', ierr)
    call done('MPI_Type_set_name')
    call MPI_Type_get_name(t, name, length, ierr)
    call check(ierr == MPI_SUCCESS .and. name == 'a pair' .and. length == 6, 'MPI_Type_get_name')
    call MPI_Type_free(t, ierr)
  end subroutine

  ! Types that are asked for by size, precision or range.
  subroutine kinds()
    HANDLE(MPI_Datatype) :: t, u
    integer :: n, got(2)
    integer(AINT) :: address(1)
    HANDLE(MPI_Datatype) :: parts(1)
    integer :: ni, na, nd, combiner
    call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, t, ierr)
    call done('MPI_Type_match_size of a real')
    call MPI_Type_size(t, n, ierr)
    call check(n == 8, 'the size of a real of 8 bytes')
    call MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 2, t, ierr)
    call done('MPI_Type_match_size of an integer')
    call MPI_Type_size(t, n, ierr)
    call check(n == 2, 'the size of an integer of 2 bytes')
    call MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, t, ierr)
    call done('MPI_Type_match_size of a complex')
    call MPI_Type_size(t, n, ierr)
    call check(n == 16, 'the size of a complex of 16 bytes')
#ifdef GIGARANK
    call MPI_Type_get_value_index(MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, t, ierr)
#else
    t = MPI_2DOUBLE_PRECISION
#endif
    call check(ierr == MPI_SUCCESS .and. t == MPI_2DOUBLE_PRECISION, 'MPI_Type_get_value_index of a named pair')
#ifdef GIGARANK
    call MPI_Type_get_value_index(MPI_REAL, MPI_INTEGER, t, ierr)
#else
    t = MPI_DATATYPE_NULL
#endif
    call check(ierr == MPI_SUCCESS .and. t == MPI_DATATYPE_NULL, 'MPI_Type_get_value_index of a pair without a name')
    call MPI_Type_create_f90_real(10, 100, t, ierr)
    call done('MPI_Type_create_f90_real')
    call MPI_Type_size(t, n, ierr)
    call check(n == storage_size(real(0, selected_real_kind(10, 100))) / 8, 'the size of a real with 10 digits')
    call MPI_Type_create_f90_real(10, 100, u, ierr)
    call check(ierr == MPI_SUCCESS .and. t == u, 'the same type for the same digits')
    call MPI_Type_get_envelope(t, ni, na, nd, combiner, ierr)
    call check(ierr == MPI_SUCCESS .and. combiner == MPI_COMBINER_F90_REAL .and. ni == 2 .and. na == 0 .and. nd == 0, 'the envelope of a real with 10 digits')
    call MPI_Type_get_contents(t, 2, 0, 0, got, address, parts, ierr)
    call check(ierr == MPI_SUCCESS .and. all(got == [10, 100]), 'the contents of a real with 10 digits')
    call MPI_Type_create_f90_real(6, 30, t, ierr)
    call MPI_Type_size(t, n, ierr)
    call check(n == storage_size(real(0, selected_real_kind(6, 30))) / 8, 'the size of a real with 6 digits')
    call MPI_Type_create_f90_complex(6, 30, t, ierr)
    call done('MPI_Type_create_f90_complex')
    call MPI_Type_size(t, n, ierr)
    call check(n == 8, 'the size of a complex with 6 digits')
    call MPI_Type_get_envelope(t, ni, na, nd, combiner, ierr)
    call check(combiner == MPI_COMBINER_F90_COMPLEX .and. ni == 2 .and. nd == 0, 'the envelope of a complex with 6 digits')
    call MPI_Type_create_f90_integer(8, t, ierr)
    call done('MPI_Type_create_f90_integer')
    call MPI_Type_size(t, n, ierr)
    call check(n == storage_size(int(0, selected_int_kind(8))) / 8, 'the size of an integer with 8 digits')
    call MPI_Type_get_envelope(t, ni, na, nd, combiner, ierr)
    call check(combiner == MPI_COMBINER_F90_INTEGER .and. ni == 1 .and. nd == 0, 'the envelope of an integer with 8 digits')
    call MPI_Type_create_f90_integer(12, t, ierr)
    call MPI_Type_size(t, n, ierr)
    call check(n == storage_size(int(0, selected_int_kind(12))) / 8, 'the size of an integer with 12 digits')
  end subroutine

  ! Elements of a message that ends within a value.
  subroutine elements()
    HANDLE(MPI_Datatype) :: t
    STATUS :: status
    integer(MPI_COUNT_KIND) :: large
    integer :: in(0:7), pairs(4), got(4), n
    call MPI_Type_vector(3, 1, 2, MPI_INTEGER, t, ierr)
    call MPI_Type_commit(t, ierr)
    in = -1
    call MPI_Sendrecv(numbers, 2, MPI_INTEGER, rank, 0, in, 1, t, rank, 0, MPI_COMM_WORLD, status, ierr)
    call check(ierr == MPI_SUCCESS .and. all(in == [1000, -1, 1001, -1, -1, -1, -1, -1]), 'a message that ends within a value')
    call MPI_Get_count(status, t, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == MPI_UNDEFINED, 'MPI_Get_count of a part of a value')
    call MPI_Get_elements(status, t, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == 2, 'MPI_Get_elements')
    call MPI_Get_elements_x(status, t, large, ierr)
    call check(ierr == MPI_SUCCESS .and. large == 2, 'MPI_Get_elements_x')
    call MPI_Get_count(status, MPI_INTEGER, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == 2, 'MPI_Get_count of integers')
    call MPI_Status_set_elements(status, t, 5, ierr)
    call MPI_Get_elements(status, t, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == 5, 'MPI_Get_elements of what MPI_Status_set_elements sets')
    call MPI_Status_set_elements_x(status, t, 6_MPI_COUNT_KIND, ierr)
    call MPI_Get_count(status, t, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == 2, 'MPI_Get_count of what MPI_Status_set_elements_x sets')
    call MPI_Get_elements_x(status, t, large, ierr)
    call check(ierr == MPI_SUCCESS .and. large == 6, 'MPI_Get_elements_x of what MPI_Status_set_elements_x sets')
    call MPI_Type_free(t, ierr)
    pairs = [1, 2, 3, 4]
    got = -1
    call MPI_Sendrecv(pairs, 2, MPI_2INTEGER, rank, 0, got, 2, MPI_2INTEGER, rank, 0, MPI_COMM_WORLD, status, ierr)
    call check(ierr == MPI_SUCCESS .and. all(got == pairs), 'a message of pairs')
    call MPI_Get_count(status, MPI_2INTEGER, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == 2, 'MPI_Get_count of pairs')
  end subroutine

  subroutine errors()
    HANDLE(MPI_Datatype) :: t, null
    integer :: position, ni, na, nd, c, got(1)
    integer(AINT) :: address(1), at(2)
    HANDLE(MPI_Datatype) :: parts(1), types(1)
    integer(MPI_COUNT_KIND) :: large(2)
    null = MPI_DATATYPE_NULL
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    call MPI_Type_contiguous(-1, MPI_INTEGER, t, ierr)
    call fails(MPI_ERR_COUNT, 'MPI_Type_contiguous of less than nothing')
    call MPI_Type_vector(-1, 1, 1, MPI_INTEGER, t, ierr)
    call fails(MPI_ERR_COUNT, 'MPI_Type_vector of less than nothing')
    call MPI_Type_contiguous(1, null, t, ierr)
    call fails(MPI_ERR_TYPE, 'MPI_Type_contiguous of no type')
    call MPI_Type_create_resized(null, 0_AINT, 4_AINT, t, ierr)
    call fails(MPI_ERR_TYPE, 'MPI_Type_create_resized of no type')
    types(1) = null
    call MPI_Type_create_hvector(-2, 1, 1_AINT, MPI_INTEGER, t, ierr)
    call fails(MPI_ERR_COUNT, 'MPI_Type_create_hvector of less than nothing')
    call MPI_Type_indexed(-1, [1], [1], MPI_INTEGER, t, ierr)
    call fails(MPI_ERR_COUNT, 'MPI_Type_indexed of less than nothing')
    call MPI_Type_create_hindexed(-1, [1], [1_AINT], MPI_INTEGER, t, ierr)
    call fails(MPI_ERR_COUNT, 'MPI_Type_create_hindexed of less than nothing')
    call MPI_Type_create_indexed_block(-1, 1, [1], MPI_INTEGER, t, ierr)
    call fails(MPI_ERR_COUNT, 'MPI_Type_create_indexed_block of less than nothing')
    call MPI_Type_create_hindexed_block(-1, 1, [1_AINT], MPI_INTEGER, t, ierr)
    call fails(MPI_ERR_COUNT, 'MPI_Type_create_hindexed_block of less than nothing')
    call MPI_Type_create_struct(1, [1], [0_AINT], types, t, ierr)
    call fails(MPI_ERR_TYPE, 'MPI_Type_create_struct of no type')
    call MPI_Type_create_darray(4, 7, 1, [10], [MPI_DISTRIBUTE_BLOCK], [DEFAULT], [4], MPI_ORDER_FORTRAN, MPI_INTEGER, t, ierr)
    call fails(MPI_ERR_ARG, 'MPI_Type_create_darray of a process that is not there')
    call MPI_Type_create_darray(4, 0, 1, [10], [MPI_DISTRIBUTE_BLOCK], [2], [4], MPI_ORDER_FORTRAN, MPI_INTEGER, t, ierr)
    call fails(MPI_ERR_ARG, 'MPI_Type_create_darray with blocks that are too small')
    call MPI_Type_create_subarray(1, [4], [2], [1], -7, MPI_INTEGER, t, ierr)
    call fails(MPI_ERR_ARG, 'MPI_Type_create_subarray in no order')
    call MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, t, ierr)
    call fails(MPI_ERR_ARG, 'MPI_Type_match_size of 3 bytes')
    call MPI_Type_match_size(-5, 4, t, ierr)
    call fails(MPI_ERR_ARG, 'MPI_Type_match_size of no class')
    call MPI_Type_create_f90_integer(100, t, ierr)
    call fails(MPI_ERR_ARG, 'MPI_Type_create_f90_integer of too many digits')
    call MPI_Type_create_f90_real(1000, 1000, t, ierr)
    call fails(MPI_ERR_ARG, 'MPI_Type_create_f90_real of too many digits')
    call MPI_Type_create_f90_complex(1000, 1000, t, ierr)
    call fails(MPI_ERR_ARG, 'MPI_Type_create_f90_complex of too many digits')
    call MPI_Type_size(null, ni, ierr)
    call fails(MPI_ERR_TYPE, 'MPI_Type_size of no type')
    call MPI_Type_size_x(null, large(1), ierr)
    call fails(MPI_ERR_TYPE, 'MPI_Type_size_x of no type')
    call MPI_Type_get_extent(null, at(1), at(2), ierr)
    call fails(MPI_ERR_TYPE, 'MPI_Type_get_extent of no type')
    call MPI_Type_get_extent_x(null, large(1), large(2), ierr)
    call fails(MPI_ERR_TYPE, 'MPI_Type_get_extent_x of no type')
    call MPI_Type_get_true_extent(null, at(1), at(2), ierr)
    call fails(MPI_ERR_TYPE, 'MPI_Type_get_true_extent of no type')
    call MPI_Type_get_true_extent_x(null, large(1), large(2), ierr)
    call fails(MPI_ERR_TYPE, 'MPI_Type_get_true_extent_x of no type')
    call MPI_Type_set_name(null, 'no', ierr)
    call fails(MPI_ERR_TYPE, 'MPI_Type_set_name of no type')
    call MPI_Type_dup(null, t, ierr)
    call fails(MPI_ERR_TYPE, 'MPI_Type_dup of no type')
    call MPI_Type_commit(null, ierr)
    call fails(MPI_ERR_TYPE, 'MPI_Type_commit of no type')
    call MPI_Type_free(null, ierr)
    call fails(MPI_ERR_TYPE, 'MPI_Type_free of no type')
    t = MPI_INTEGER
    call MPI_Type_free(t, ierr)
    call fails(MPI_ERR_TYPE, 'MPI_Type_free of a predefined type')
    call MPI_Type_get_envelope(null, ni, na, nd, c, ierr)
    call fails(MPI_ERR_TYPE, 'MPI_Type_get_envelope of no type')
    call MPI_Type_get_contents(MPI_INTEGER, 0, 0, 0, got, address, parts, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_Type_get_contents of a predefined type')
    call MPI_Type_create_subarray(1, [4], [3], [2], MPI_ORDER_FORTRAN, MPI_INTEGER, t, ierr)
    call fails(MPI_ERR_ARG, 'MPI_Type_create_subarray beyond the array')
    position = 0
    call MPI_Pack(numbers, 4, MPI_INTEGER, parts, 15, position, MPI_COMM_WORLD, ierr)
    call fails(MPI_ERR_TRUNCATE, 'MPI_Pack without room')
    call MPI_Type_vector(2, 1, 2, MPI_INTEGER, t, ierr)
    call MPI_Send(numbers, 1, t, MPI_PROC_NULL, 0, MPI_COMM_WORLD, ierr)
    call fails(MPI_ERR_TYPE, 'MPI_Send of a type that is not committed')
    call MPI_Type_free(t, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)
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
