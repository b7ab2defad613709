! Messages between pairs of ranks, in Fortran: modes, ready sends, probes, MPI_PROC_NULL, errors.
#include "handles.h"
program fortran_messages
  use MODULE
  use, intrinsic :: iso_c_binding, only: c_ptr
  implicit none
  integer, parameter :: LARGE = 20000
  integer :: rank, size, checks = 0, failures = 0, ierr, next, last
  integer, volatile :: in(8), out(8)
  double precision, volatile :: values(LARGE)
  character, volatile :: room(10 * (8 * LARGE + MPI_BSEND_OVERHEAD))
  STATUS :: status
  STATUSES(statuses, 4)
  HANDLE(MPI_Comm) :: world
  HANDLE(MPI_Request) :: request, requests(4)
  HANDLE(MPI_Message) :: message

  call MPI_Init(ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, world, ierr)
  call MPI_Comm_rank(world, rank, ierr)
  call MPI_Comm_size(world, size, ierr)
  next = mod(rank + 1, size)
  last = mod(rank + size - 1, size)
  call neighbours()
  call modes()
  call order()
  call ready()
  call MPI_Barrier(world, ierr)
  call probes()
  call pairs()
  call nobody()
  call errors()
  call report('fortran_messages')
  call MPI_Comm_free(world, ierr)
  call MPI_Finalize(ierr)

contains

  subroutine neighbours()
    integer :: n
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, next, 9, n, 1, MPI_INTEGER, last, 9, world, status, ierr)
    call check(ierr == MPI_SUCCESS .and. n == last, 'MPI_Sendrecv')
    call check(OF(status, MPI_SOURCE) == last .and. OF(status, MPI_TAG) == 9, 'the status of MPI_Sendrecv')
    out(1:3) = [rank, rank * rank, -rank]
    call MPI_Sendrecv_replace(out, 3, MPI_INTEGER, last, 6, next, 6, world, status, ierr)
    call check(ierr == MPI_SUCCESS .and. all(out(1:3) == [next, next * next, -next]), 'MPI_Sendrecv_replace')
    call check(OF(status, MPI_SOURCE) == next .and. OF(status, MPI_TAG) == 6, 'the status of MPI_Sendrecv_replace')
    call MPI_Get_count(status, MPI_INTEGER, n, ierr)
    call check(ierr == MPI_SUCCESS .and. n == 3, 'the count of MPI_Sendrecv_replace')
  end subroutine

  ! Each mode, short and long, with a call that returns when it is done and with a request.
  subroutine modes()
    integer :: mode, n, i, detached
#ifdef MPI_F08
    type(c_ptr) :: back
#else
    integer(MPI_ADDRESS_KIND) :: back
#endif
    integer(MPI_ADDRESS_KIND) :: address
    call MPI_Buffer_attach(room, ubound(room, 1), ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Buffer_attach')
    do mode = 1, 4
      do i = 1, 4
        n = merge(1, LARGE, mod(i, 2) == 0)
        values = -1
        call MPI_Irecv(values, LARGE, MPI_DOUBLE_PRECISION, last, 10 * mode + i, world, requests(1), ierr)
        call MPI_Barrier(world, ierr)
        call send(mode, i > 2 .or. mode == 2, n, 10 * mode + i)
        call MPI_Wait(requests(1), status, ierr)
        call check(ierr == MPI_SUCCESS .and. OF(status, MPI_SOURCE) == last .and. OF(status, MPI_TAG) == 10 * mode + i, 'the status of a message')
        call MPI_Get_count(status, MPI_DOUBLE_PRECISION, detached, ierr)
        call check(detached == n, 'the length of a message')
        call check(values(1) == last + mode .and. values(n) == last + mode + n - 1, 'what a mode sends')
      end do
    end do
    call MPI_Buffer_detach(back, detached, ierr)
    call check(ierr == MPI_SUCCESS .and. detached == ubound(room, 1), 'MPI_Buffer_detach')
#ifdef MPI_F08
    call MPI_Get_address(room, address, ierr)
    call check(transfer(back, address) == address, 'the buffer of MPI_Buffer_detach')
#endif
  end subroutine

  ! send sends n values to the next rank: in standard, synchronous, buffered or ready mode.
  subroutine send(mode, later, n, tag)
    integer, intent(in) :: mode, n, tag
    logical, intent(in) :: later
    integer :: i
    double precision, save, volatile :: sent(LARGE)
    logical :: began
    sent(1:n) = [(rank + mode + i, i = 0, n - 1)]
    if (later) then
      select case (mode)
      case (1)
        call MPI_Isend(sent, n, MPI_DOUBLE_PRECISION, next, tag, world, request, ierr)
      case (2)
        call MPI_Issend(sent, n, MPI_DOUBLE_PRECISION, next, tag, world, request, ierr)
      case (3)
        call MPI_Ibsend(sent, n, MPI_DOUBLE_PRECISION, next, tag, world, request, ierr)
      case (4)
        call MPI_Irsend(sent, n, MPI_DOUBLE_PRECISION, next, tag, world, request, ierr)
      end select
      began = ierr == MPI_SUCCESS .and. request /= MPI_REQUEST_NULL
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
      call check(began .and. ierr == MPI_SUCCESS .and. request == MPI_REQUEST_NULL, 'a send with a request')
      return
    end if
    select case (mode)
    case (1)
      call MPI_Send(sent, n, MPI_DOUBLE_PRECISION, next, tag, world, ierr)
    case (3)
      call MPI_Bsend(sent, n, MPI_DOUBLE_PRECISION, next, tag, world, ierr)
    case (4)
      call MPI_Rsend(sent, n, MPI_DOUBLE_PRECISION, next, tag, world, ierr)
    end select
    call check(ierr == MPI_SUCCESS, 'a send')
  end subroutine

  ! Messages of one sender keep their order, whatever tags they are received by.
  subroutine order()
    integer :: i, got
    integer, volatile, save :: sent(20)
    HANDLE(MPI_Request) :: sends(20)
    sent = [(100 * rank + i, i = 1, 20)]
    do i = 1, 20
      call MPI_Isend(sent(i), 1, MPI_INTEGER, next, mod(i, 2), world, sends(i), ierr)
    end do
    do i = 1, 20, 2
      call MPI_Recv(got, 1, MPI_INTEGER, last, 1, world, MPI_STATUS_IGNORE, ierr)
      call check(ierr == MPI_SUCCESS .and. got == 100 * last + i, 'the order of messages with a tag')
    end do
    do i = 2, 20, 2
      call MPI_Recv(got, 1, MPI_INTEGER, last, MPI_ANY_TAG, world, status, ierr)
      call check(ierr == MPI_SUCCESS .and. got == 100 * last + i .and. OF(status, MPI_TAG) == 0, 'the order of messages with any tag')
    end do
    call MPI_Waitall(20, sends, MPI_STATUSES_IGNORE, ierr)
    call check(ierr == MPI_SUCCESS .and. all(sends == MPI_REQUEST_NULL), 'MPI_Waitall of sends in order')
    call MPI_Barrier(world, ierr)
  end subroutine

  ! Synchronous and ready sends find their receives posted, or wait for them. Receives take what comes.
  subroutine ready()
    integer :: i, got, seen
    in(1:2) = -1
    out(1:2) = [rank, 2 * rank]
    do i = 1, 2
      call MPI_Irecv(in(i), 1, MPI_INTEGER, last, i, world, requests(i), ierr)
    end do
    call MPI_Barrier(world, ierr)
    call MPI_Rsend(out(1), 1, MPI_INTEGER, next, 1, world, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Rsend')
    call MPI_Irsend(out(2), 1, MPI_INTEGER, next, 2, world, requests(3), ierr)
    call check(ierr == MPI_SUCCESS .and. requests(3) /= MPI_REQUEST_NULL, 'MPI_Irsend')
    call MPI_Waitall(3, requests, statuses, ierr)
    call check(in(1) == last .and. in(2) == 2 * last, 'what ready sends send')
    call check(OF_ONE(statuses, 1, MPI_TAG) == 1 .and. OF_ONE(statuses, 2, MPI_TAG) == 2, 'the statuses of MPI_Waitall')
    if (rank > 0) then
      call MPI_Ssend(rank, 1, MPI_INTEGER, 0, rank, world, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_Ssend')
      return
    end if
    seen = 0
    do i = 1, size - 1
      call MPI_Recv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, world, status, ierr)
      call check(ierr == MPI_SUCCESS .and. OF(status, MPI_SOURCE) == got .and. OF(status, MPI_TAG) == got, 'MPI_Recv from anyone')
      seen = seen + got
    end do
    call check(seen == size * (size - 1) / 2, 'who has sent')
  end subroutine

  subroutine probes()
    integer :: n
    logical :: flag
    character(len=64), volatile :: text
    call MPI_Isend('a message of some length', 5 + rank, MPI_CHARACTER, next, 3, world, requests(1), ierr)
    call MPI_Isend('another', 2, MPI_CHARACTER, next, 4, world, requests(2), ierr)
    call MPI_Isend('and one', 3, MPI_CHARACTER, next, 5, world, requests(3), ierr)
    call MPI_Isend('the last', 4, MPI_CHARACTER, next, 6, world, requests(4), ierr)
    call MPI_Probe(MPI_ANY_SOURCE, 3, world, status, ierr)
    call check(ierr == MPI_SUCCESS .and. OF(status, MPI_SOURCE) == last .and. OF(status, MPI_TAG) == 3, 'MPI_Probe')
    call MPI_Get_count(status, MPI_CHARACTER, n, ierr)
    call check(n == 5 + last, 'what MPI_Probe finds')
    text = ''
    call MPI_Recv(text, n, MPI_CHARACTER, last, 3, world, status, ierr)
    call check(ierr == MPI_SUCCESS .and. text(1:5) == 'a mes' .and. text(n+1:) == '', 'MPI_Recv after MPI_Probe')
    flag = .false.
    do while (.not. flag)
      call MPI_Iprobe(last, MPI_ANY_TAG, world, flag, status, ierr)
    end do
    call check(ierr == MPI_SUCCESS .and. OF(status, MPI_TAG) == 4, 'MPI_Iprobe')
    call MPI_Mprobe(last, 4, world, message, status, ierr)
    call check(ierr == MPI_SUCCESS .and. message /= MPI_MESSAGE_NULL .and. OF(status, MPI_TAG) == 4 .and. OF(status, MPI_SOURCE) == last, 'MPI_Mprobe')
    call MPI_Iprobe(last, 4, world, flag, MPI_STATUS_IGNORE, ierr)
    call check(.not. flag, 'a matched message is not found again')
    text = ''
    call MPI_Mrecv(text, 64, MPI_CHARACTER, message, status, ierr)
    call MPI_Get_count(status, MPI_CHARACTER, n, ierr)
    call check(ierr == MPI_SUCCESS .and. message == MPI_MESSAGE_NULL .and. text == 'an' .and. n == 2, 'MPI_Mrecv')
    call check(OF(status, MPI_TAG) == 4 .and. OF(status, MPI_SOURCE) == last, 'the status of MPI_Mrecv')
    call MPI_Improbe(last, 9, world, flag, message, status, ierr)
    call check(ierr == MPI_SUCCESS .and. .not. flag, 'MPI_Improbe without a message')
    flag = .false.
    do while (.not. flag)
      call MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, flag, message, status, ierr)
    end do
    call check(ierr == MPI_SUCCESS .and. message /= MPI_MESSAGE_NULL .and. OF(status, MPI_TAG) == 5, 'MPI_Improbe')
    text = ''
    call MPI_Imrecv(text, 3, MPI_CHARACTER, message, request, ierr)
    call check(ierr == MPI_SUCCESS .and. message == MPI_MESSAGE_NULL .and. request /= MPI_REQUEST_NULL, 'MPI_Imrecv')
    call MPI_Wait(request, status, ierr)
    call check(text == 'and' .and. OF(status, MPI_TAG) == 5 .and. OF(status, MPI_SOURCE) == last, 'the status of MPI_Imrecv')
    text = ''
    call MPI_Recv(text, 4, MPI_CHARACTER, last, MPI_ANY_TAG, world, status, ierr)
    call check(text == 'the ' .and. OF(status, MPI_TAG) == 6, 'the last message')
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierr)
    call check(ierr == MPI_SUCCESS .and. all(requests == MPI_REQUEST_NULL), 'MPI_Waitall')
  end subroutine

  ! A library older than MPI 4 has no MPI_Isendrecv: requests of their own stand for it.
  subroutine pairs()
    integer :: n
    integer, volatile :: copy(3)
    out(1:3) = [rank, rank * rank, -rank]
    in = -1
#ifdef GIGARANK
    call MPI_Isendrecv(out, 3, MPI_INTEGER, next, 7, in, 8, MPI_INTEGER, last, 7, world, request, ierr)
#else
    call MPI_Irecv(in, 8, MPI_INTEGER, last, 7, world, request, ierr)
    call MPI_Send(out, 3, MPI_INTEGER, next, 7, world, ierr)
#endif
    call check(ierr == MPI_SUCCESS .and. request /= MPI_REQUEST_NULL, 'MPI_Isendrecv')
    call MPI_Wait(request, status, ierr)
    call MPI_Get_count(status, MPI_INTEGER, n, ierr)
    call check(all(in(1:4) == [last, last * last, -last, -1]) .and. n == 3, 'what MPI_Isendrecv receives')
    call check(OF(status, MPI_SOURCE) == last .and. OF(status, MPI_TAG) == 7, 'the status of MPI_Isendrecv')
#ifdef GIGARANK
    call MPI_Isendrecv_replace(out, 3, MPI_INTEGER, next, 8, last, 8, world, request, ierr)
#else
    copy = out(1:3)
    call MPI_Irecv(out, 3, MPI_INTEGER, last, 8, world, request, ierr)
    call MPI_Send(copy, 3, MPI_INTEGER, next, 8, world, ierr)
#endif
    call check(ierr == MPI_SUCCESS .and. request /= MPI_REQUEST_NULL, 'MPI_Isendrecv_replace')
    call MPI_Wait(request, status, ierr)
    call check(all(out(1:3) == [last, last * last, -last]), 'what MPI_Isendrecv_replace receives')
    call check(OF(status, MPI_SOURCE) == last .and. OF(status, MPI_TAG) == 8, 'the status of MPI_Isendrecv_replace')
  end subroutine

  subroutine nobody()
    integer :: n
    logical :: flag
    in(1) = 77
    call MPI_Send(in, 1, MPI_INTEGER, MPI_PROC_NULL, 0, world, ierr)
    call MPI_Recv(in, 1, MPI_INTEGER, MPI_PROC_NULL, 0, world, status, ierr)
    call MPI_Get_count(status, MPI_INTEGER, n, ierr)
    call check(in(1) == 77 .and. OF(status, MPI_SOURCE) == MPI_PROC_NULL .and. OF(status, MPI_TAG) == MPI_ANY_TAG .and. n == 0, 'MPI_Recv from nobody')
    call MPI_Probe(MPI_PROC_NULL, 0, world, status, ierr)
    call check(ierr == MPI_SUCCESS .and. OF(status, MPI_SOURCE) == MPI_PROC_NULL, 'MPI_Probe for nobody')
    call MPI_Mprobe(MPI_PROC_NULL, 0, world, message, status, ierr)
    call check(ierr == MPI_SUCCESS .and. message == MPI_MESSAGE_NO_PROC, 'MPI_Mprobe for nobody')
    call MPI_Mrecv(in, 1, MPI_INTEGER, message, status, ierr)
    call check(ierr == MPI_SUCCESS .and. OF(status, MPI_SOURCE) == MPI_PROC_NULL .and. message == MPI_MESSAGE_NULL, 'MPI_Mrecv from nobody')
    call MPI_Improbe(MPI_PROC_NULL, 0, world, flag, message, status, ierr)
    call check(ierr == MPI_SUCCESS .and. flag .and. message == MPI_MESSAGE_NO_PROC, 'MPI_Improbe for nobody')
    call MPI_Imrecv(in, 1, MPI_INTEGER, message, request, ierr)
    call check(ierr == MPI_SUCCESS .and. message == MPI_MESSAGE_NULL, 'MPI_Imrecv from nobody')
    call MPI_Wait(request, status, ierr)
    call check(ierr == MPI_SUCCESS .and. OF(status, MPI_SOURCE) == MPI_PROC_NULL .and. in(1) == 77, 'MPI_Wait for nobody')
  end subroutine

  subroutine errors()
    call MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN, ierr)
    call MPI_Send(out, -1, MPI_INTEGER, next, 0, world, ierr)
    call check_class(ierr, MPI_ERR_COUNT, 'MPI_Send of a negative count')
    call MPI_Ssend(out, 1, MPI_INTEGER, size, 0, world, ierr)
    call check_class(ierr, MPI_ERR_RANK, 'MPI_Ssend to a rank that is not')
    call MPI_Bsend(out, 1, MPI_INTEGER, next, -5, world, ierr)
    call check_class(ierr, MPI_ERR_TAG, 'MPI_Bsend with a negative tag')
    call MPI_Rsend(out, 1, MPI_DATATYPE_NULL, next, 0, world, ierr)
    call check_class(ierr, MPI_ERR_TYPE, 'MPI_Rsend of no type')
    call MPI_Recv(in, 1, MPI_INTEGER, size, 0, world, status, ierr)
    call check_class(ierr, MPI_ERR_RANK, 'MPI_Recv from a rank that is not')
    call MPI_Probe(last, -5, world, status, ierr)
    call check_class(ierr, MPI_ERR_TAG, 'MPI_Probe for a negative tag')
    call MPI_Isend(out, -1, MPI_INTEGER, next, 0, world, request, ierr)
    call check_class(ierr, MPI_ERR_COUNT, 'MPI_Isend of a negative count')
    call MPI_Sendrecv_replace(out, 1, MPI_INTEGER, size, 0, last, 0, world, status, ierr)
    call check_class(ierr, MPI_ERR_RANK, 'MPI_Sendrecv_replace to a rank that is not')
    ! A message that is longer than its receive leaves alone what lies behind it.
    out(1:2) = [rank, -rank]
    in = -1
    call MPI_Isend(out, 2, MPI_INTEGER, next, 0, world, request, ierr)
    call MPI_Recv(in, 1, MPI_INTEGER, last, 0, world, status, ierr)
    call check_class(ierr, MPI_ERR_TRUNCATE, 'MPI_Recv of a message that is too long')
    call check(in(2) == -1, 'what lies behind a receive')
    call MPI_Wait(request, status, ierr)
    call MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL, ierr)
  end subroutine

  subroutine check_class(code, class, what)
    integer, intent(in) :: code, class
    character(len=*), intent(in) :: what
    integer :: found, ierr
    call MPI_Error_class(code, found, ierr)
    call check(found == class, what)
  end subroutine

#include "checks.h"
end program
