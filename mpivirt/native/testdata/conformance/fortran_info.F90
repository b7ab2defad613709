! Info objects, in Fortran.
#include "handles.h"
program fortran_info
  use MODULE
  implicit none
  integer :: rank = -1, size = 0, checks = 0, failures = 0, ierr
#ifdef GIGARANK
  HANDLE(MPI_Info) :: early
  ! An info object may be made before MPI_Init, since MPI 4.0.
  call MPI_Info_create(early, ierr)
  call check(ierr == MPI_SUCCESS, 'MPI_Info_create before MPI_Init')
  call MPI_Info_set(early, 'hint', 'early', ierr)
  call check(ierr == MPI_SUCCESS, 'MPI_Info_set before MPI_Init')
#endif
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
#ifdef GIGARANK
  call check(is(early, 'hint', 'early'), 'what was set before MPI_Init')
  call MPI_Info_free(early, ierr)
#else
  call lacks(3)
#endif
  call objects()
  call blanks()
  call strings()
  call errors()
  call environment()
  call names()
  call report('fortran_info')
  call MPI_Finalize(ierr)

contains

  ! class_of returns the class of an error code.
  integer function class_of(code) result(class)
    integer, intent(in) :: code
    integer :: ierr
    class = -1
    call MPI_Error_class(code, class, ierr)
    if (ierr /= MPI_SUCCESS) class = -1
  end function

  ! keys returns how many keys an info object has.
  integer function keys(info) result(n)
    HANDLE(MPI_Info) :: info
    integer :: ierr
    n = -1
    call MPI_Info_get_nkeys(info, n, ierr)
    if (ierr /= MPI_SUCCESS) n = -1
  end function

  ! is reports whether a key has this value, of this length.
  logical function is(info, key, want)
    HANDLE(MPI_Info) :: info
    character(len=*), intent(in) :: key, want
    character(len=64) :: value
    integer :: length, ierr
    value = 'nothing'
    is = .false.
    call MPI_Info_get(info, key, 64, value, is, ierr)
    is = ierr == MPI_SUCCESS .and. is
    if (.not. is) return
    is = .false.
    length = -1
    call MPI_Info_get_valuelen(info, key, length, is, ierr)
    is = ierr == MPI_SUCCESS .and. is .and. length == len(want) .and. value == want
  end function

  subroutine objects()
    HANDLE(MPI_Info) :: info, twin
    character(len=MPI_MAX_INFO_KEY) :: key
    character(len=64) :: value
    integer :: length, ierr
    logical :: flag
    call MPI_Info_create(info, ierr)
    call check(ierr == MPI_SUCCESS .and. info /= MPI_INFO_NULL, 'MPI_Info_create')
    call check(keys(info) == 0, 'MPI_Info_get_nkeys of a new object')
    call MPI_Info_set(info, 'file', 'data', ierr)
    call check(ierr == MPI_SUCCESS .and. is(info, 'file', 'data'), 'MPI_Info_set')
    call MPI_Info_set(info, 'host', 'one', ierr)
    call check(ierr == MPI_SUCCESS .and. is(info, 'host', 'one'), 'MPI_Info_set of another key')
    call MPI_Info_set(info, 'host', 'another', ierr)
    call check(ierr == MPI_SUCCESS .and. is(info, 'host', 'another'), 'MPI_Info_set of a key that is there')
    call check(keys(info) == 2, 'MPI_Info_get_nkeys')
    key = 'nothing'
    call MPI_Info_get_nthkey(info, 0, key, ierr)
    call check(ierr == MPI_SUCCESS .and. key == 'file', 'MPI_Info_get_nthkey')
    call MPI_Info_get_nthkey(info, 1, key, ierr)
    call check(ierr == MPI_SUCCESS .and. key == 'host', 'MPI_Info_get_nthkey of the last key')
    value = 'nothing'
    call MPI_Info_get(info, 'host', 3, value(1:3), flag, ierr)
    call check(ierr == MPI_SUCCESS .and. flag .and. value == 'anohing', 'MPI_Info_get with little room')
    value = 'nothing'
    flag = .true.
    call MPI_Info_get(info, 'port', 64, value, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. .not. flag .and. value == 'nothing', 'MPI_Info_get of no key')
    flag = .true.
    call MPI_Info_get_valuelen(info, 'port', length, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. .not. flag, 'MPI_Info_get_valuelen of no key')
    twin = MPI_INFO_NULL
    call MPI_Info_dup(info, twin, ierr)
    call check(ierr == MPI_SUCCESS .and. twin /= MPI_INFO_NULL .and. twin /= info .and. keys(twin) == 2, 'MPI_Info_dup')
    call MPI_Info_delete(info, 'file', ierr)
    flag = .true.
    call MPI_Info_get(info, 'file', 64, value, flag, ierr)
    call check(keys(info) == 1 .and. .not. flag, 'MPI_Info_delete')
    call check(is(twin, 'file', 'data') .and. is(twin, 'host', 'another'), 'a copy after MPI_Info_delete')
    call MPI_Info_free(info, ierr)
    call check(ierr == MPI_SUCCESS .and. info == MPI_INFO_NULL, 'MPI_Info_free')
    call check(is(twin, 'host', 'another'), 'a copy after MPI_Info_free')
    call MPI_Info_free(twin, ierr)
    call check(ierr == MPI_SUCCESS .and. twin == MPI_INFO_NULL, 'MPI_Info_free of a copy')
  end subroutine

  ! blanks around keys and values do not belong to them.
  subroutine blanks()
    HANDLE(MPI_Info) :: info
    character(len=MPI_MAX_INFO_KEY) :: key
    character(len=20) :: name
    integer :: ierr
    call MPI_Info_create(info, ierr)
    name = 'path'
    call MPI_Info_set(info, name, 'one two   ', ierr)
    call check(ierr == MPI_SUCCESS .and. is(info, 'path', 'one two'), 'MPI_Info_set with blanks at the end')
    call MPI_Info_set(info, '  path', '  three', ierr)
    call check(ierr == MPI_SUCCESS .and. keys(info) == 1 .and. is(info, ' path ', 'three'), 'MPI_Info_set with blanks before')
    key = 'nothing'
    call MPI_Info_get_nthkey(info, 0, key, ierr)
    call check(ierr == MPI_SUCCESS .and. key == 'path', 'MPI_Info_get_nthkey of a key with blanks')
    call MPI_Info_delete(info, name, ierr)
    call check(ierr == MPI_SUCCESS .and. keys(info) == 0, 'MPI_Info_delete with blanks at the end')
    call MPI_Info_free(info, ierr)
  end subroutine

  subroutine strings()
#ifdef GIGARANK
    HANDLE(MPI_Info) :: info
    character(len=64) :: value
    integer :: length, ierr
    logical :: flag
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'host', 'another', ierr)
    value = 'nothing'
    length = 0
    flag = .false.
    call MPI_Info_get_string(info, 'host', length, value, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. flag .and. length == 7 .and. value == 'nothing', 'MPI_Info_get_string of the length')
    length = 3
    flag = .false.
    call MPI_Info_get_string(info, 'host', length, value, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. flag .and. length == 7 .and. value == 'ano', 'MPI_Info_get_string with little room')
    length = 64
    flag = .false.
    call MPI_Info_get_string(info, ' host ', length, value, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. flag .and. length == 7 .and. value == 'another', 'MPI_Info_get_string')
    length = 64
    call MPI_Info_get_string(info, 'port', length, value, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. .not. flag .and. length == 64 .and. value == 'another', 'MPI_Info_get_string of no key')
    call MPI_Info_free(info, ierr)
    length = 64
    call MPI_Info_get_string(MPI_INFO_NULL, 'host', length, value, flag, ierr)
    call check(class_of(ierr) == MPI_ERR_INFO, 'MPI_Info_get_string of the null object')
    call MPI_Info_create_env(info, ierr)
    call check(ierr == MPI_SUCCESS .and. info /= MPI_INFO_NULL, 'MPI_Info_create_env')
    write (value, '(i0)') size
    call check(is(info, 'maxprocs', trim(value)), 'the key maxprocs of MPI_Info_create_env')
    call MPI_Info_set(info, 'maxprocs', 'ours', ierr)
    call check(ierr == MPI_SUCCESS .and. is(info, 'maxprocs', 'ours') .and. is(MPI_INFO_ENV, 'maxprocs', trim(value)), 'MPI_Info_set of what MPI_Info_create_env has made')
    call MPI_Info_free(info, ierr)
    call check(ierr == MPI_SUCCESS .and. info == MPI_INFO_NULL, 'MPI_Info_free of what MPI_Info_create_env has made')
#else
    call lacks(9)
#endif
  end subroutine

  subroutine errors()
    HANDLE(MPI_Info) :: info, none
    character(len=MPI_MAX_INFO_KEY) :: key
    character(len=64) :: value
    integer :: n, ierr
    logical :: flag
    none = MPI_INFO_NULL
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'host', 'one', ierr)
    call MPI_Info_delete(info, 'port', ierr)
    call check(class_of(ierr) == MPI_ERR_INFO_NOKEY, 'MPI_Info_delete of no key')
    call MPI_Info_set(info, ' ', 'value', ierr)
    call check(class_of(ierr) == MPI_ERR_INFO_KEY, 'MPI_Info_set of a blank key')
    call MPI_Info_set(info, repeat('k', MPI_MAX_INFO_KEY + 1), 'value', ierr)
    call check(class_of(ierr) == MPI_ERR_INFO_KEY, 'MPI_Info_set of a key that is too long')
    call MPI_Info_set(info, 'long', repeat('v', MPI_MAX_INFO_VAL + 1), ierr)
    call check(class_of(ierr) == MPI_ERR_INFO_VALUE, 'MPI_Info_set of a value that is too long')
    call MPI_Info_delete(info, repeat('k', MPI_MAX_INFO_KEY + 1), ierr)
    call check(class_of(ierr) == MPI_ERR_INFO_KEY, 'MPI_Info_delete of a key that is too long')
    call MPI_Info_get(info, ' ', 64, value, flag, ierr)
    call check(class_of(ierr) == MPI_ERR_INFO_KEY, 'MPI_Info_get of a blank key')
    call MPI_Info_get_valuelen(info, ' ', n, flag, ierr)
    call check(class_of(ierr) == MPI_ERR_INFO_KEY, 'MPI_Info_get_valuelen of a blank key')
    call MPI_Info_get(info, 'host', -1, value, flag, ierr)
    call check(class_of(ierr) == MPI_ERR_ARG, 'MPI_Info_get with a negative length')
    call MPI_Info_get_nthkey(info, -1, key, ierr)
    call check(class_of(ierr) == MPI_ERR_ARG, 'MPI_Info_get_nthkey of a negative number')
    call MPI_Info_get_nthkey(info, 7, key, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_Info_get_nthkey of no key')
    call check(keys(info) == 1 .and. is(info, 'host', 'one'), 'an object after errors')
    call MPI_Info_set(none, 'host', 'one', ierr)
    call check(class_of(ierr) == MPI_ERR_INFO, 'MPI_Info_set of the null object')
    call MPI_Info_get(none, 'host', 64, value, flag, ierr)
    call check(class_of(ierr) == MPI_ERR_INFO, 'MPI_Info_get of the null object')
    call MPI_Info_get_valuelen(none, 'host', n, flag, ierr)
    call check(class_of(ierr) == MPI_ERR_INFO, 'MPI_Info_get_valuelen of the null object')
    call MPI_Info_get_nkeys(none, n, ierr)
    call check(class_of(ierr) == MPI_ERR_INFO, 'MPI_Info_get_nkeys of the null object')
    call MPI_Info_get_nthkey(none, 0, key, ierr)
    call check(class_of(ierr) == MPI_ERR_INFO, 'MPI_Info_get_nthkey of the null object')
    call MPI_Info_delete(none, 'host', ierr)
    call check(class_of(ierr) == MPI_ERR_INFO, 'MPI_Info_delete of the null object')
    call MPI_Info_dup(none, info, ierr)
    call check(class_of(ierr) == MPI_ERR_INFO, 'MPI_Info_dup of the null object')
    call MPI_Info_free(none, ierr)
    call check(class_of(ierr) == MPI_ERR_INFO, 'MPI_Info_free of the null object')
    if (info /= MPI_INFO_NULL) call MPI_Info_free(info, ierr)
  end subroutine

  ! environment reads what the start has left for the program, and gives hints to a communicator.
  subroutine environment()
    HANDLE(MPI_Info) :: info
    character(len=64) :: value
    integer :: ierr
    logical :: flag
    write (value, '(i0)') size
    call check(is(MPI_INFO_ENV, 'maxprocs', trim(value)), 'the key maxprocs of MPI_INFO_ENV')
    value = ' '
    call MPI_Info_get(MPI_INFO_ENV, 'command', 64, value, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. flag .and. value /= ' ', 'the key command of MPI_INFO_ENV')
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'some_hint', 'true', ierr)
    call MPI_Comm_set_info(MPI_COMM_WORLD, info, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Comm_set_info')
    call MPI_Info_free(info, ierr)
    call MPI_Comm_get_info(MPI_COMM_WORLD, info, ierr)
    call check(ierr == MPI_SUCCESS .and. info /= MPI_INFO_NULL .and. keys(info) >= 0, 'MPI_Comm_get_info')
    call MPI_Info_free(info, ierr)
  end subroutine

  ! names calls the functions by the names of their arguments, without ierror where it may be left out.
#ifdef MPI_F08
#define IERROR
#else
#define IERROR , ierror=ierr
#endif
  subroutine names()
    HANDLE(MPI_Info) :: info, twin
    character(len=MPI_MAX_INFO_KEY) :: key
    character(len=64) :: value
    integer :: n, ierr
    logical :: flag
    call MPI_Info_create(info=info IERROR)
    call MPI_Info_set(info=info, key='host', value='another' IERROR)
    call MPI_Info_get(info=info, key='host', valuelen=64, value=value, flag=flag IERROR)
    call check(flag .and. value == 'another', 'value of MPI_Info_get')
    call MPI_Info_get_valuelen(info=info, key='host', valuelen=n, flag=flag IERROR)
    call check(flag .and. n == 7, 'valuelen of MPI_Info_get_valuelen')
    call MPI_Info_get_nkeys(info=info, nkeys=n IERROR)
    call check(n == 1, 'nkeys of MPI_Info_get_nkeys')
    call MPI_Info_get_nthkey(info=info, n=0, key=key IERROR)
    call check(key == 'host', 'key of MPI_Info_get_nthkey')
    call MPI_Info_dup(info=info, newinfo=twin IERROR)
    call MPI_Info_delete(info=info, key='host' IERROR)
    call check(keys(info) == 0 .and. keys(twin) == 1, 'newinfo of MPI_Info_dup')
    call MPI_Info_free(info=info IERROR)
    call MPI_Info_free(info=twin IERROR)
    call check(info == MPI_INFO_NULL .and. twin == MPI_INFO_NULL, 'info of MPI_Info_free')
  end subroutine

#include "checks.h"

  ! lacks counts the checks of what Open MPI 4.1 does not have.
  subroutine lacks(n)
    integer, intent(in) :: n
    checks = checks + n
  end subroutine
end program
