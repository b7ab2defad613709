! Attributes of datatypes, in Fortran.
#include "handles.h"
! The functions of a key stand outside the program: inside, their code would lie on the stack, which may be copied.
module functions_of_types
  use MODULE
  implicit none
  integer, parameter :: AINT = MPI_ADDRESS_KIND
  integer :: copies = 0, deletes = 0, told_key = MPI_KEYVAL_INVALID
  integer(AINT) :: deleted(8) = 0, told_extra = 0
  logical :: refuses = .false.
  HANDLE(MPI_Datatype) :: told_type
contains

  ! Attributes other than 5 are copied as one more.
  subroutine copy(type, key, extra, in, out, flag, ierr)
    HANDLE(MPI_Datatype) :: type
    integer :: key, ierr
    integer(AINT) :: extra, in, out
    logical :: flag
    copies = copies + 1
    told_type = type
    told_key = key
    told_extra = extra
    flag = in /= 5
    out = in + 1
    ierr = merge(MPI_ERR_OTHER, MPI_SUCCESS, refuses)
  end subroutine

  subroutine drop(type, key, value, extra, ierr)
    HANDLE(MPI_Datatype) :: type
    integer :: key, ierr
    integer(AINT) :: value, extra
    ierr = merge(MPI_ERR_OTHER, MPI_SUCCESS, refuses)
    if (refuses) return
    told_type = type
    told_key = key
    told_extra = extra
    deletes = deletes + 1
    deleted(deletes) = value
  end subroutine
end module

program fortran_type_attributes
  use MODULE
  use functions_of_types
  implicit none
  integer :: rank, ranks, checks = 0, failures = 0, ierr, key, same, none, freed
  HANDLE(MPI_Datatype) :: type, twin, third

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call MPI_Type_create_keyval(copy, drop, key, 77_AINT, ierr)
  call check(ierr == MPI_SUCCESS .and. key /= MPI_KEYVAL_INVALID, 'MPI_Type_create_keyval')
  call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, same, 0_AINT, ierr)
  call check(ierr == MPI_SUCCESS .and. same /= key, 'MPI_Type_create_keyval of MPI_TYPE_DUP_FN')
  call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, drop, none, 78_AINT, ierr)
  call check(ierr == MPI_SUCCESS .and. none /= key .and. none /= same, 'MPI_Type_create_keyval of MPI_TYPE_NULL_COPY_FN')

  call MPI_Type_contiguous(2, MPI_INTEGER, type, ierr)
  call has(type, key, -1_AINT, 'a type without attributes')
  call MPI_Type_set_attr(type, key, 4_AINT, ierr)
  call done('MPI_Type_set_attr')
  call MPI_Type_set_attr(type, same, 2_AINT**40 + 9, ierr)
  call done('MPI_Type_set_attr of a large value')
  call MPI_Type_set_attr(type, none, 30_AINT, ierr)
  call has(type, key, 4_AINT, 'an attribute')
  call has(type, same, 2_AINT**40 + 9, 'a large attribute')
  call has(type, none, 30_AINT, 'an attribute that is not copied')
  call has(MPI_INTEGER, key, -1_AINT, 'the type of which a type with attributes is made')

  call MPI_Type_dup(type, twin, ierr)
  call check(ierr == MPI_SUCCESS .and. copies == 1 .and. told_key == key .and. told_extra == 77, 'the copy function')
  call check(told(type), 'the type that the copy function is told')
  call has(twin, key, 5_AINT, 'an attribute that is copied')
  call has(twin, same, 2_AINT**40 + 9, 'an attribute that MPI_TYPE_DUP_FN copies')
  call has(twin, none, -1_AINT, 'an attribute that MPI_TYPE_NULL_COPY_FN does not copy')
  call has(type, key, 4_AINT, 'an attribute whose copy is another')

  call MPI_Type_set_attr(type, none, 31_AINT, ierr)
  call check(ierr == MPI_SUCCESS .and. deletes == 1 .and. deleted(1) == 30 .and. told_key == none .and. told_extra == 78, 'the delete function of a value that is replaced')
  call check(told(type), 'the type whose value is replaced')
  call MPI_Type_delete_attr(type, none, ierr)
  call check(ierr == MPI_SUCCESS .and. deletes == 2 .and. deleted(2) == 31, 'MPI_Type_delete_attr')
  call has(type, none, -1_AINT, 'an attribute that is deleted')
  call MPI_Type_dup(twin, third, ierr)
  call check(ierr == MPI_SUCCESS .and. copies == 2, 'the copy function that says no')
  call has(third, key, -1_AINT, 'an attribute that its function does not copy')
  call MPI_Type_delete_attr(twin, key, ierr)
  call check(ierr == MPI_SUCCESS .and. deletes == 3 .and. deleted(3) == 5 .and. told_key == key .and. told_extra == 77, 'MPI_Type_delete_attr of a copy')
  call check(told(twin), 'the type that the delete function is told')
  call MPI_Type_free(third, ierr)
  call MPI_Type_free(twin, ierr)
  call check(ierr == MPI_SUCCESS .and. deletes == 3, 'MPI_Type_free of a type whose attribute is deleted')

  ! Predefined types may have attributes.
  call MPI_Type_set_attr(MPI_DOUBLE_PRECISION, key, 6_AINT, ierr)
  call done('MPI_Type_set_attr of a predefined type')
  call has(MPI_DOUBLE_PRECISION, key, 6_AINT, 'a predefined type')
  call MPI_Type_delete_attr(MPI_DOUBLE_PRECISION, key, ierr)
  call check(ierr == MPI_SUCCESS .and. deletes == 4 .and. deleted(4) == 6, 'MPI_Type_delete_attr of a predefined type')
  call has(MPI_DOUBLE_PRECISION, key, -1_AINT, 'a predefined type whose attribute is deleted')

  call errors()

  ! A key that is freed lives on in what has it.
  freed = key
  call MPI_Type_free_keyval(freed, ierr)
  call check(ierr == MPI_SUCCESS .and. freed == MPI_KEYVAL_INVALID, 'MPI_Type_free_keyval')
  call has(type, key, 4_AINT, 'an attribute whose key is freed')
  call MPI_Type_free_keyval(same, ierr)
  call check(ierr == MPI_SUCCESS .and. same == MPI_KEYVAL_INVALID, 'MPI_Type_free_keyval of MPI_TYPE_DUP_FN')
  call MPI_Type_free_keyval(none, ierr)
  call done('MPI_Type_free_keyval of a key that nothing has')
  deletes = 0
  call MPI_Type_free(type, ierr)
  call check(ierr == MPI_SUCCESS .and. type == MPI_DATATYPE_NULL .and. deletes == 1 .and. deleted(1) == 4, 'MPI_Type_free of a type that has attributes')
  call report('fortran_type_attributes')
  call MPI_Finalize(ierr)

contains

  ! told returns whether the function that ran last was told a type. Open MPI tells delete functions a
  ! handle that it has not set.
  logical function told(type)
    HANDLE(MPI_Datatype), intent(in) :: type
    told = .true.
#ifdef GIGARANK
    told = told_type == type
#endif
  end function

  ! has checks the attribute of a type, -1 for none.
  subroutine has(type, key, want, what)
    HANDLE(MPI_Datatype), intent(in) :: type
    integer, intent(in) :: key
    integer(AINT), intent(in) :: want
    character(len=*), intent(in) :: what
    integer(AINT) :: value
    logical :: flag
    value = -2
    call MPI_Type_get_attr(type, key, value, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. (flag .eqv. want /= -1), 'the flag of MPI_Type_get_attr: '//what)
    if (flag) call check(value == want, 'the value of MPI_Type_get_attr: '//what)
  end subroutine

  subroutine errors()
    integer(AINT) :: value
    logical :: flag
    integer :: invalid, class, e
    HANDLE(MPI_Datatype) :: null, refused
    null = MPI_DATATYPE_NULL
    invalid = MPI_KEYVAL_INVALID
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    refuses = .true.
    call MPI_Type_dup(type, refused, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_Type_dup with a copy function that fails')
    call MPI_Type_delete_attr(type, key, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_Type_delete_attr with a delete function that fails')
    refuses = .false.
    call has(type, key, 4_AINT, 'an attribute whose delete function fails')
    call MPI_Type_set_attr(type, invalid, 1_AINT, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_Type_set_attr of no key')
    call MPI_Type_get_attr(type, invalid, value, flag, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_Type_get_attr of no key')
    call MPI_Type_free_keyval(invalid, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_Type_free_keyval of no key')
    ! Open MPI gives MPI_DATATYPE_NULL attributes.
#ifdef GIGARANK
    call MPI_Type_set_attr(null, key, 1_AINT, ierr)
    call MPI_Error_class(ierr, class, e)
    call check(e == MPI_SUCCESS .and. class == MPI_ERR_TYPE, 'MPI_Type_set_attr of no type')
#else
    call check(null == MPI_DATATYPE_NULL, 'no type')
#endif
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)
  end subroutine

#include "checks.h"

  ! done checks that the last call has succeeded.
  subroutine done(what)
    character(len=*), intent(in) :: what
    call check(ierr == MPI_SUCCESS, what)
  end subroutine
end program
