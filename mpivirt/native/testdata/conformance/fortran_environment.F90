! Start and end, version, names, memory, error classes and codes, the fields of a status, in Fortran.
#include "handles.h"
program fortran_environment
  use MODULE
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer, c_associated, c_null_ptr
  implicit none
  integer :: rank = -1, size = 0, checks = 0, failures = 0, ierr, provided
  logical :: flag

  flag = .true.
  call MPI_Initialized(flag, ierr)
  call check(ierr == MPI_SUCCESS .and. .not. flag, 'MPI_Initialized before MPI_Init')
  flag = .true.
  call MPI_Finalized(flag, ierr)
  call check(ierr == MPI_SUCCESS .and. .not. flag, 'MPI_Finalized before MPI_Init')
  call versions()
  provided = -1
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierr)
  if (provided < MPI_THREAD_FUNNELED .or. provided > MPI_THREAD_MULTIPLE) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  call check(ierr == MPI_SUCCESS, 'MPI_Init_thread')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
  call environment()
  call versions()
  call memory()
  call classes()
  call elements()
  call fields()
  call names()
  call report('fortran_environment')
  call MPI_Finalize(ierr)
  call MPI_Finalized(flag, ierr)
  if (ierr /= MPI_SUCCESS .or. .not. flag) error stop 'MPI_Finalized after MPI_Finalize'
  call MPI_Initialized(flag, ierr)
  if (ierr /= MPI_SUCCESS .or. .not. flag) error stop 'MPI_Initialized after MPI_Finalize'

contains

  ! class_of returns the class of an error code.
  integer function class_of(code) result(class)
    integer, intent(in) :: code
    integer :: ierr
    class = -1
    call MPI_Error_class(code, class, ierr)
    if (ierr /= MPI_SUCCESS) class = -1
  end function

  ! is_text reports whether an error code has this text.
  logical function is_text(code, want)
    integer, intent(in) :: code
    character(len=*), intent(in) :: want
    character(len=MPI_MAX_ERROR_STRING) :: text
    integer :: length, ierr
    text = 'nothing'
    length = -1
    call MPI_Error_string(code, text, length, ierr)
    is_text = ierr == MPI_SUCCESS .and. text == want .and. length == len(want)
  end function

  ! versions may be asked for before MPI_Init.
  subroutine versions()
    integer :: version, subversion, length, ierr
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: library
    version = -1
    subversion = -1
    call MPI_Get_version(version, subversion, ierr)
    call check(ierr == MPI_SUCCESS .and. version == MPI_VERSION .and. subversion == MPI_SUBVERSION, 'MPI_Get_version')
    library = ' '
    length = -1
    call MPI_Get_library_version(library, length, ierr)
    call check(ierr == MPI_SUCCESS .and. length >= len_trim(library) .and. library /= ' ', 'MPI_Get_library_version')
  end subroutine

  subroutine environment()
    integer :: level, length, ierr
    logical :: flag
    character(len=MPI_MAX_PROCESSOR_NAME) :: name
    flag = .false.
    call MPI_Initialized(flag, ierr)
    call check(ierr == MPI_SUCCESS .and. flag, 'MPI_Initialized')
    flag = .true.
    call MPI_Finalized(flag, ierr)
    call check(ierr == MPI_SUCCESS .and. .not. flag, 'MPI_Finalized')
    level = -1
    call MPI_Query_thread(level, ierr)
    call check(ierr == MPI_SUCCESS .and. level == provided, 'MPI_Query_thread')
    flag = .false.
    call MPI_Is_thread_main(flag, ierr)
    call check(ierr == MPI_SUCCESS .and. flag, 'MPI_Is_thread_main')
    name = ' '
    length = -1
    call MPI_Get_processor_name(name, length, ierr)
    call check(ierr == MPI_SUCCESS .and. length > 0 .and. length == len_trim(name), 'MPI_Get_processor_name')
    call MPI_Pcontrol(0)
    call MPI_Pcontrol(1)
  end subroutine

  subroutine memory()
    integer, parameter :: n = 1000
    type(c_ptr) :: base
    integer, pointer :: words(:)
    integer :: i, ierr
    HANDLE(MPI_Info) :: hints
    base = c_null_ptr
    call MPI_Alloc_mem(int(4 * n, MPI_ADDRESS_KIND), MPI_INFO_NULL, base, ierr)
    call check(ierr == MPI_SUCCESS .and. c_associated(base), 'MPI_Alloc_mem')
    call c_f_pointer(base, words, [n])
    words = [(rank + i, i = 1, n)]
    call MPI_Allreduce(MPI_IN_PLACE, words, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. all(words == [(size * (size - 1) / 2 + size * i, i = 1, n)]), 'data in the memory of MPI_Alloc_mem')
    call MPI_Free_mem(words, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Free_mem')
    call MPI_Info_create(hints, ierr)
    call MPI_Info_set(hints, 'alignment', '64', ierr)
    base = c_null_ptr
    call MPI_Alloc_mem(8_MPI_ADDRESS_KIND, hints, base, ierr)
    call check(ierr == MPI_SUCCESS .and. c_associated(base), 'MPI_Alloc_mem with hints')
    call c_f_pointer(base, words, [2])
    words = [1, 2]
    call MPI_Free_mem(words(1), ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Free_mem of the first element')
    call MPI_Info_free(hints, ierr)
    call MPI_Alloc_mem(-1_MPI_ADDRESS_KIND, MPI_INFO_NULL, base, ierr)
    call check(class_of(ierr) == MPI_ERR_ARG, 'MPI_Alloc_mem of a negative size')
#ifndef MPI_F08
    address: block
      integer(MPI_ADDRESS_KIND) :: place
      place = 0
      call MPI_Alloc_mem(4000_MPI_ADDRESS_KIND, MPI_INFO_NULL, place, ierr)
      call check(ierr == MPI_SUCCESS .and. place /= 0, 'MPI_Alloc_mem with an address')
      call c_f_pointer(transfer(place, base), words, [n])
      words = rank
      call MPI_Free_mem(words, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_Free_mem of an address')
    end block address
#endif
  end subroutine

  subroutine classes()
    integer :: class, code, other, ierr
    integer(MPI_ADDRESS_KIND) :: before, after
    logical :: flag
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, before, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. flag .and. before >= MPI_ERR_LASTCODE, 'MPI_LASTUSEDCODE')
    class = -1
    call MPI_Add_error_class(class, ierr)
    call check(ierr == MPI_SUCCESS .and. class > MPI_ERR_LASTCODE, 'MPI_Add_error_class')
    code = -1
    call MPI_Add_error_code(class, code, ierr)
    call check(ierr == MPI_SUCCESS .and. code /= class .and. class_of(code) == class, 'MPI_Add_error_code')
    call MPI_Add_error_code(MPI_ERR_TAG, other, ierr)
    call check(ierr == MPI_SUCCESS .and. other /= code .and. class_of(other) == MPI_ERR_TAG, 'MPI_Add_error_code of a class of MPI')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, after, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. flag .and. after > before .and. after >= other, 'MPI_LASTUSEDCODE after MPI_Add_error_code')
    call MPI_Add_error_string(class, 'a class of our own', ierr)
    call check(ierr == MPI_SUCCESS .and. is_text(class, 'a class of our own'), 'MPI_Add_error_string of a class')
    call MPI_Add_error_string(code, 'a code', ierr)
    call check(ierr == MPI_SUCCESS .and. is_text(code, 'a code'), 'MPI_Add_error_string of a code')
    call MPI_Add_error_string(code, 'a code of our own   ', ierr)
    call check(ierr == MPI_SUCCESS .and. is_text(code, 'a code of our own'), 'MPI_Add_error_string once more, without the blanks at the end')
    call MPI_Add_error_string(code, repeat('x', MPI_MAX_ERROR_STRING + 1), ierr)
    call check(class_of(ierr) == MPI_ERR_ARG .and. is_text(code, 'a code of our own'), 'MPI_Add_error_string of a text that is too long')
    call MPI_Add_error_string(code, repeat('x', MPI_MAX_ERROR_STRING), ierr)
    call check(ierr == MPI_SUCCESS .and. is_text(code, repeat('x', MPI_MAX_ERROR_STRING)), 'MPI_Add_error_string of a text as long as may be')
    call MPI_Add_error_string(MPI_ERR_TAG, 'ours', ierr)
    call check(class_of(ierr) == MPI_ERR_ARG, 'MPI_Add_error_string of a class of MPI')
    call MPI_Add_error_code(-1, other, ierr)
    call check(class_of(ierr) == MPI_ERR_ARG, 'MPI_Add_error_code of no class')
#ifdef GIGARANK
    call check(class_of(class) == class, 'MPI_Error_class of a class')
    call MPI_Remove_error_class(class, ierr)
    call check(class_of(ierr) == MPI_ERR_ARG, 'MPI_Remove_error_class of a class with a code')
    call MPI_Remove_error_string(code, ierr)
    call check(ierr == MPI_SUCCESS .and. is_text(code, ''), 'MPI_Remove_error_string')
    call MPI_Remove_error_code(code, ierr)
    call check(ierr == MPI_SUCCESS .and. class_of(code) == -1, 'MPI_Remove_error_code')
    call MPI_Remove_error_class(class, ierr)
    call check(ierr == MPI_SUCCESS .and. class_of(class) == -1, 'MPI_Remove_error_class')
    call MPI_Remove_error_code(MPI_ERR_TAG, ierr)
    call check(class_of(ierr) == MPI_ERR_ARG, 'MPI_Remove_error_code of a class of MPI')
    call MPI_Remove_error_string(MPI_ERR_TAG, ierr)
    call check(class_of(ierr) == MPI_ERR_ARG, 'MPI_Remove_error_string of a class of MPI')
#else
    call lacks(7)
#endif
  end subroutine

  ! elements sets how many elements a status tells of, and whether it is of a cancelled request.
  subroutine elements()
    integer :: in(8), out(8), n, i, ierr
    integer(MPI_COUNT_KIND) :: large
    logical :: flag
    STATUS :: status
    HANDLE(MPI_Datatype) :: t
    call MPI_Type_vector(3, 1, 2, MPI_INTEGER, t, ierr)
    call MPI_Type_commit(t, ierr)
    out = [(i, i = 1, 8)]
    in = -1
    call MPI_Sendrecv(out, 2, MPI_INTEGER, rank, 7, in, 1, t, rank, 7, MPI_COMM_WORLD, status, ierr)
    call check(ierr == MPI_SUCCESS .and. all(in == [1, -1, 2, -1, -1, -1, -1, -1]), 'MPI_Sendrecv')
    call MPI_Test_cancelled(status, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. .not. flag, 'MPI_Test_cancelled')
    call MPI_Status_set_elements(status, t, 5, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Status_set_elements')
    n = -1
    call MPI_Get_elements(status, t, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == 5, 'MPI_Get_elements after MPI_Status_set_elements')
    call MPI_Get_count(status, t, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == MPI_UNDEFINED, 'MPI_Get_count after MPI_Status_set_elements')
    call MPI_Status_set_elements_x(status, t, 6_MPI_COUNT_KIND, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Status_set_elements_x')
    large = -1
    call MPI_Get_elements_x(status, t, large, ierr)
    call check(ierr == MPI_SUCCESS .and. large == 6, 'MPI_Get_elements_x after MPI_Status_set_elements_x')
    call MPI_Get_count(status, t, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == 2, 'MPI_Get_count after MPI_Status_set_elements_x')
    ! More than an integer holds.
    call MPI_Status_set_elements_x(status, MPI_INTEGER, 3000000000_MPI_COUNT_KIND, ierr)
    call MPI_Get_elements_x(status, MPI_INTEGER, large, ierr)
    call check(ierr == MPI_SUCCESS .and. large == 3000000000_MPI_COUNT_KIND, 'MPI_Status_set_elements_x of many elements')
    call MPI_Get_count(status, MPI_INTEGER, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == MPI_UNDEFINED, 'MPI_Get_count of many elements')
    call check(OF(status, MPI_SOURCE) == rank .and. OF(status, MPI_TAG) == 7, 'the source and the tag that MPI_Status_set_elements leaves')
    call MPI_Status_set_cancelled(status, .true., ierr)
    flag = .false.
    call MPI_Test_cancelled(status, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. flag, 'MPI_Status_set_cancelled')
    call MPI_Status_set_cancelled(status, .false., ierr)
    call MPI_Test_cancelled(status, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. .not. flag, 'MPI_Status_set_cancelled with .false.')
    call MPI_Status_set_elements(status, MPI_DATATYPE_NULL, 1, ierr)
    call check(class_of(ierr) == MPI_ERR_TYPE, 'MPI_Status_set_elements of the null datatype')
    call MPI_Status_set_elements(status, t, -1, ierr)
    call check(class_of(ierr) == MPI_ERR_COUNT, 'MPI_Status_set_elements of a negative count')
    call MPI_Status_set_elements_x(status, MPI_DATATYPE_NULL, 1_MPI_COUNT_KIND, ierr)
    call check(class_of(ierr) == MPI_ERR_TYPE, 'MPI_Status_set_elements_x of the null datatype')
    call MPI_Type_free(t, ierr)
  end subroutine

  subroutine fields()
#ifdef GIGARANK
    integer :: value, ierr
    STATUS :: status
    call MPI_Status_set_source(status, 7, ierr)
    call check(ierr == MPI_SUCCESS .and. OF(status, MPI_SOURCE) == 7, 'MPI_Status_set_source')
    call MPI_Status_set_tag(status, 8, ierr)
    call check(ierr == MPI_SUCCESS .and. OF(status, MPI_TAG) == 8, 'MPI_Status_set_tag')
    call MPI_Status_set_error(status, MPI_ERR_TAG, ierr)
    call check(ierr == MPI_SUCCESS .and. OF(status, MPI_ERROR) == MPI_ERR_TAG, 'MPI_Status_set_error')
    value = -1
    call MPI_Status_get_source(status, value, ierr)
    call check(ierr == MPI_SUCCESS .and. value == 7, 'MPI_Status_get_source')
    call MPI_Status_get_tag(status, value, ierr)
    call check(ierr == MPI_SUCCESS .and. value == 8, 'MPI_Status_get_tag')
    call MPI_Status_get_error(status, value, ierr)
    call check(ierr == MPI_SUCCESS .and. value == MPI_ERR_TAG, 'MPI_Status_get_error')
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, mod(rank + 1, size), 3, value, 1, MPI_INTEGER, mod(rank + size - 1, size), 3, MPI_COMM_WORLD, status, ierr)
    call MPI_Status_get_source(status, value, ierr)
    call check(ierr == MPI_SUCCESS .and. value == mod(rank + size - 1, size), 'MPI_Status_get_source of a message')
    call MPI_Status_get_tag(status, value, ierr)
    call check(ierr == MPI_SUCCESS .and. value == 3, 'MPI_Status_get_tag of a message')
#else
    call lacks(8)
#endif
  end subroutine

  ! names calls the functions by the names of their arguments, without ierror where it may be left out.
#ifdef MPI_F08
#define IERROR
#else
#define IERROR , ierror=ierr
#endif
  subroutine names()
    integer :: a, b, ierr
    logical :: flag
    character(len=MPI_MAX_PROCESSOR_NAME) :: name
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: library
    character(len=MPI_MAX_ERROR_STRING) :: text
    type(c_ptr) :: base
    integer, pointer :: words(:)
    STATUS :: status
    flag = .false.
    call MPI_Initialized(flag=flag IERROR)
    call check(flag, 'flag of MPI_Initialized')
    call MPI_Finalized(flag=flag IERROR)
    call check(.not. flag, 'flag of MPI_Finalized')
    call MPI_Query_thread(provided=a IERROR)
    call check(a == provided, 'provided of MPI_Query_thread')
    call MPI_Is_thread_main(flag=flag IERROR)
    call check(flag, 'flag of MPI_Is_thread_main')
    call MPI_Get_version(version=a, subversion=b IERROR)
    call check(a == MPI_VERSION .and. b == MPI_SUBVERSION, 'version and subversion of MPI_Get_version')
    call MPI_Get_processor_name(name=name, resultlen=a IERROR)
    call check(a == len_trim(name), 'name and resultlen of MPI_Get_processor_name')
    call MPI_Get_library_version(version=library, resultlen=a IERROR)
    call check(a >= len_trim(library), 'version and resultlen of MPI_Get_library_version')
    call MPI_Alloc_mem(size=8_MPI_ADDRESS_KIND, info=MPI_INFO_NULL, baseptr=base IERROR)
    call c_f_pointer(base, words, [2])
    words = [rank, size]
    call check(all(words == [rank, size]), 'baseptr of MPI_Alloc_mem')
    call MPI_Free_mem(base=words IERROR)
    call MPI_Add_error_class(errorclass=a IERROR)
    call MPI_Add_error_code(errorclass=a, errorcode=b IERROR)
    call check(class_of(b) == a, 'errorclass and errorcode of MPI_Add_error_code')
    call MPI_Add_error_string(errorcode=b, string='ours' IERROR)
    call MPI_Error_string(errorcode=b, string=text, resultlen=a IERROR)
    call check(text == 'ours' .and. a == 4, 'string of MPI_Add_error_string')
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, rank, 1, a, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, status, ierr)
    call MPI_Status_set_elements(status=status, datatype=MPI_INTEGER, count=3 IERROR)
    call MPI_Get_count(status=status, datatype=MPI_INTEGER, count=a IERROR)
    call check(a == 3, 'count of MPI_Status_set_elements')
    call MPI_Status_set_elements_x(status=status, datatype=MPI_INTEGER, count=4_MPI_COUNT_KIND IERROR)
    call MPI_Get_count(status=status, datatype=MPI_INTEGER, count=a IERROR)
    call check(a == 4, 'count of MPI_Status_set_elements_x')
    call MPI_Status_set_cancelled(status=status, flag=.true. IERROR)
    call MPI_Test_cancelled(status=status, flag=flag IERROR)
    call check(flag, 'flag of MPI_Status_set_cancelled')
  end subroutine

#include "checks.h"

  ! lacks counts the checks of functions that Open MPI 4.1 does not have.
  subroutine lacks(n)
    integer, intent(in) :: n
    checks = checks + n
  end subroutine
end program
