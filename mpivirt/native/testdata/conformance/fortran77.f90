! Calls of mpif.h: no interfaces, handles and buffers as they come.
      program fortran77
      implicit none
      include 'mpif.h'
      integer rank, size, checks, failures, ierr
      common /counts/ rank, size, checks, failures
      integer mine(2), all(2)
      checks = 0
      failures = 0
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, size, ierr)
      call messages
      call requests
      call collectives
      call communicators
      call environment
      call attributes
      mine(1) = checks
      mine(2) = failures
      call mpi_reduce(mine, all, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
      if (rank .eq. 0) then
        write (*, '(a,i0,a,i0,a,i0,a)') 'fortran77: ', all(1), ' checks on ', size, ' ranks, ', all(2), ' failed'
      end if
      call mpi_finalize(ierr)
      if (all(2) .ne. 0 .and. rank .eq. 0) stop 1
      end program

      subroutine check(so, line)
      implicit none
      logical so
      integer line
      integer rank, size, checks, failures
      common /counts/ rank, size, checks, failures
      checks = checks + 1
      if (.not. so) then
        failures = failures + 1
        write (*, '(a,i0,a,i0,a,i0)') 'rank ', rank, ' of ', size, ', check ', line
      end if
      end subroutine

      subroutine messages
      implicit none
      include 'mpif.h'
      integer rank, size, checks, failures, ierr, next, last, n, i
      common /counts/ rank, size, checks, failures
      integer status(MPI_STATUS_SIZE), number, got
      double precision values(3)
      character(len=8) word
      logical flag
      next = mod(rank + 1, size)
      last = mod(rank + size - 1, size)
      call mpi_sendrecv(rank, 1, MPI_INTEGER, next, 5, got, 1, MPI_INTEGER, last, 5, MPI_COMM_WORLD, status, ierr)
      call check(ierr .eq. MPI_SUCCESS .and. got .eq. last, 101)
      call check(status(MPI_SOURCE) .eq. last .and. status(MPI_TAG) .eq. 5, 102)
      call mpi_get_count(status, MPI_INTEGER, n, ierr)
      call check(n .eq. 1, 103)
      values = [(dble(rank) + i / 8d0, i = 1, 3)]
      call mpi_sendrecv_replace(values, 3, MPI_DOUBLE_PRECISION, next, 6, last, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call check(all(values .eq. [(dble(last) + i / 8d0, i = 1, 3)]), 104)
      word = 'rank'
      if (size .gt. 1) then
        if (rank .eq. 0) then
          word = 'from 0'
          call mpi_ssend(word, 8, MPI_CHARACTER, 1, 7, MPI_COMM_WORLD, ierr)
        else if (rank .eq. 1) then
          call mpi_probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierr)
          call mpi_get_count(status, MPI_CHARACTER, n, ierr)
          call check(n .eq. 8 .and. status(MPI_TAG) .eq. 7, 105)
          call mpi_recv(word, n, MPI_CHARACTER, 0, 7, MPI_COMM_WORLD, status, ierr)
          call check(word .eq. 'from 0', 106)
        end if
      end if
      call mpi_iprobe(last, 99, MPI_COMM_WORLD, flag, status, ierr)
      call check(.not. flag, 107)
      number = 4
      call mpi_recv(number, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, status, ierr)
      call check(number .eq. 4 .and. status(MPI_SOURCE) .eq. MPI_PROC_NULL, 108)
      end subroutine

      subroutine requests
      implicit none
      include 'mpif.h'
      integer rank, size, checks, failures, ierr, next, last, i, at, n
      common /counts/ rank, size, checks, failures
      integer list(20), statuses(MPI_STATUS_SIZE, 20), got(10), places(2), one
      volatile got ! changes while requests are active
      logical flag
      next = mod(rank + 1, size)
      last = mod(rank + size - 1, size)
      do i = 1, 10
        call mpi_irecv(got(i), 1, MPI_INTEGER, last, i, MPI_COMM_WORLD, list(i), ierr)
      end do
      do i = 1, 10
        one = 100 * rank + i
        call mpi_bsend_or_send(one, next, i, list(10 + i))
      end do
      call mpi_waitall(20, list, statuses, ierr)
      call check(all(got .eq. [(100 * last + i, i = 1, 10)]), 201)
      call check(all(list .eq. MPI_REQUEST_NULL), 202)
      call check(all(statuses(MPI_TAG, 1:10) .eq. [(i, i = 1, 10)]), 203)
      list(1) = MPI_REQUEST_NULL
      call mpi_isend(rank, 1, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, list(2), ierr)
      call mpi_recv(got, 1, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call mpi_waitany(2, list, at, MPI_STATUS_IGNORE, ierr)
      call check(at .eq. 2 .and. got(1) .eq. rank, 204)
      call mpi_waitany(2, list, at, MPI_STATUS_IGNORE, ierr)
      call check(at .eq. MPI_UNDEFINED, 205)
      call mpi_irecv(got(2), 1, MPI_INTEGER, rank, 4, MPI_COMM_WORLD, list(2), ierr)
      call mpi_testany(2, list, at, flag, MPI_STATUS_IGNORE, ierr)
      call check(.not. flag .and. at .eq. MPI_UNDEFINED, 206)
      call mpi_send(rank, 1, MPI_INTEGER, rank, 4, MPI_COMM_WORLD, ierr)
      call mpi_waitsome(2, list, n, places, MPI_STATUSES_IGNORE, ierr)
      call check(n .eq. 1 .and. places(1) .eq. 2, 207)
      call mpi_send_init(rank, 1, MPI_INTEGER, next, 8, MPI_COMM_WORLD, list(1), ierr)
      call mpi_recv_init(got, 1, MPI_INTEGER, last, 8, MPI_COMM_WORLD, list(2), ierr)
      do i = 1, 3
        got(1) = -1
        call mpi_startall(2, list, ierr)
        call mpi_waitall(2, list, MPI_STATUSES_IGNORE, ierr)
        call check(got(1) .eq. last, 208)
      end do
      call mpi_request_free(list(1), ierr)
      call mpi_request_free(list(2), ierr)
      call check(list(1) .eq. MPI_REQUEST_NULL .and. list(2) .eq. MPI_REQUEST_NULL, 209)
      call handles
      call general
      end subroutine

! Handles are numbers: what ends one leaves others.
      subroutine handles
      implicit none
      include 'mpif.h'
      integer rank, size, checks, failures, ierr, comm, request, vector, copy, of, bytes
      common /counts/ rank, size, checks, failures
      integer places(1), types(1)
      integer(kind=MPI_ADDRESS_KIND) addresses(1)
      call mpi_comm_dup(MPI_COMM_WORLD, comm, ierr)
      call mpi_type_vector(10, 1, 30, MPI_DOUBLE_PRECISION, vector, ierr)
      call mpi_send_init(rank, 1, MPI_INTEGER, rank, 1, comm, request, ierr)
      call mpi_request_free(request, ierr)
      call mpi_comm_size(comm, of, ierr)
      call check(ierr .eq. MPI_SUCCESS .and. of .eq. size, 210)
      call mpi_type_dup(vector, copy, ierr)
      call mpi_type_get_contents(copy, 0, 0, 1, places, addresses, types, ierr)
      call mpi_type_free(types(1), ierr)
      call mpi_type_free(copy, ierr)
      call mpi_type_size(vector, bytes, ierr)
      call check(ierr .eq. MPI_SUCCESS .and. bytes .eq. 80, 211)
      call mpi_type_free(vector, ierr)
      call mpi_comm_free(comm, ierr)
      call check(vector .eq. MPI_DATATYPE_NULL .and. comm .eq. MPI_COMM_NULL, 212)
      end subroutine

! The functions of a generalised request change the program's own variable.
      subroutine general
      implicit none
      include 'mpif.h'
      integer ierr, request
      logical flag
      integer(kind=MPI_ADDRESS_KIND), volatile :: state
      external ask, let_go, revoke
      state = 10
      call mpi_grequest_start(ask, let_go, revoke, state, request, ierr)
      call mpi_test(request, flag, MPI_STATUS_IGNORE, ierr)
      call check(.not. flag, 213)
      call mpi_grequest_complete(request, ierr)
      call mpi_wait(request, MPI_STATUS_IGNORE, ierr)
      call check(state .eq. 17 .and. request .eq. MPI_REQUEST_NULL, 214)
      end subroutine

      subroutine ask(state, status, ierr)
      implicit none
      include 'mpif.h'
      integer(kind=MPI_ADDRESS_KIND) state
      integer status(MPI_STATUS_SIZE), ierr
      call mpi_status_set_elements(status, MPI_BYTE, 0, ierr)
      call mpi_status_set_cancelled(status, .false., ierr)
      state = state + 2
      ierr = MPI_SUCCESS
      end subroutine

      subroutine let_go(state, ierr)
      implicit none
      include 'mpif.h'
      integer(kind=MPI_ADDRESS_KIND) state
      integer ierr
      state = state + 5
      ierr = MPI_SUCCESS
      end subroutine

      subroutine revoke(state, complete, ierr)
      implicit none
      include 'mpif.h'
      integer(kind=MPI_ADDRESS_KIND) state
      logical complete
      integer ierr
      if (complete) state = state - 1
      ierr = MPI_SUCCESS
      end subroutine

      subroutine mpi_bsend_or_send(one, to, tag, request)
      implicit none
      include 'mpif.h'
      integer one, to, tag, request, ierr
      call mpi_send(one, 1, MPI_INTEGER, to, tag, MPI_COMM_WORLD, ierr)
      request = MPI_REQUEST_NULL
      end subroutine

      subroutine largest(in, inout, n, type)
      implicit none
      include 'mpif.h'
      integer n, type, i
      integer in(n), inout(n)
      if (type .ne. MPI_INTEGER) return
      do i = 1, n
        inout(i) = max(abs(in(i)), abs(inout(i)))
      end do
      end subroutine

      subroutine collectives
      implicit none
      include 'mpif.h'
      integer rank, size, checks, failures, ierr, i, op, request
      common /counts/ rank, size, checks, failures
      integer a(4), b(4), gathered(64), counts(64), places(64)
      real x(2), y(2)
      double precision d(2, 2), e(2, 2)
      logical l, m
      complex c, s
      external largest
      a = [(rank + i, i = 1, 4)]
      call mpi_allreduce(a, b, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
      call check(all(b .eq. [(size * (size - 1) / 2 + i * size, i = 1, 4)]), 301)
      call mpi_allreduce(MPI_IN_PLACE, a, 4, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
      call check(all(a .eq. [(size - 1 + i, i = 1, 4)]), 302)
      x = [real(rank), 2.]
      call mpi_reduce(x, y, 2, MPI_REAL, MPI_PROD, size - 1, MPI_COMM_WORLD, ierr)
      if (rank .eq. size - 1) call check(y(2) .eq. 2.**size, 303)
      d(1, :) = [1d0 / (rank + 1), dble(rank)]
      d(2, :) = [dble(rank), -dble(rank)]
      call mpi_allreduce(d, e, 2, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD, ierr)
      call check(e(1, 1) .eq. 1d0 .and. e(2, 1) .eq. 0d0 .and. e(1, 2) .eq. size - 1 .and. e(2, 2) .eq. 1 - size, 304)
      l = rank .eq. 0
      call mpi_allreduce(l, m, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
      call check(m .eqv. size .eq. 1, 305)
      call mpi_allreduce(l, m, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierr)
      call check(m, 306)
      c = cmplx(1, rank)
      call mpi_allreduce(c, s, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierr)
      call check(s .eq. cmplx(size, size * (size - 1) / 2), 307)
      call mpi_op_create(largest, .true., op, ierr)
      a(1) = -rank
      call mpi_allreduce(a, b, 1, MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
      call check(b(1) .eq. size - 1, 308)
      call mpi_op_free(op, ierr)
      call check(op .eq. MPI_OP_NULL, 309)
      call mpi_gather(rank, 1, MPI_INTEGER, gathered, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
      if (rank .eq. 0) call check(all(gathered(1:size) .eq. [(i, i = 0, size - 1)]), 310)
      counts(1:size) = 1
      places(1:size) = [(2 * i, i = 0, size - 1)]
      gathered = -1
      call mpi_allgatherv(rank, 1, MPI_INTEGER, gathered, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
      call check(all(gathered(1:2*size:2) .eq. [(i, i = 0, size - 1)]) .and. gathered(2) .eq. -1, 311)
      a(1) = 17 + rank
      call mpi_ibcast(a, 1, MPI_INTEGER, size - 1, MPI_COMM_WORLD, request, ierr)
      call mpi_wait(request, MPI_STATUS_IGNORE, ierr)
      call check(a(1) .eq. 16 + size, 312)
      call mpi_exscan(rank, i, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
      if (rank .gt. 0) call check(i .eq. rank * (rank - 1) / 2, 313)
      end subroutine

      subroutine communicators
      implicit none
      include 'mpif.h'
      integer rank, size, checks, failures, ierr, half, other, n, result, i, none
      common /counts/ rank, size, checks, failures
      do i = 1, 20
        call mpi_comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, ierr)
        call mpi_comm_dup(half, other, ierr)
        call mpi_comm_compare(half, other, result, ierr)
        call check(result .eq. MPI_CONGRUENT, 401)
        call mpi_comm_size(other, n, ierr)
        call check(n .eq. (size + 1 - mod(rank, 2)) / 2, 402)
        call mpi_comm_free(half, ierr)
        call mpi_comm_rank(other, n, ierr)
        call check(n .eq. (size - 1 - rank) / 2, 403)
        none = other
        call mpi_comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, none, ierr)
        call check(none .eq. MPI_COMM_NULL .and. half .eq. MPI_COMM_NULL, 404)
        call mpi_barrier(other, ierr)
        call mpi_comm_free(other, ierr)
      end do
      end subroutine

      subroutine environment
      implicit none
      include 'mpif.h'
      integer ierr, n, class
      character(len=MPI_MAX_ERROR_STRING) text
      character(len=MPI_MAX_PROCESSOR_NAME) name
      integer(kind=MPI_ADDRESS_KIND) value, one, two
      double precision x(2)
      logical flag
      text = ''
      call mpi_error_string(MPI_ERR_RANK, text, n, ierr)
      call check(n .gt. 0 .and. text(n:n) .ne. ' ' .and. text(n+1:) .eq. ' ', 501)
      call mpi_error_class(MPI_ERR_RANK, class, ierr)
      call check(class .eq. MPI_ERR_RANK, 502)
      call mpi_get_processor_name(name, n, ierr)
      call check(n .eq. len_trim(name), 503)
      call mpi_comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
      call check(flag .and. value .ge. 32767, 504)
      call mpi_get_address(x(1), one, ierr)
      call mpi_get_address(x(2), two, ierr)
      call check(two - one .eq. 8, 505)
      call check(mpi_aint_add(one, two - one) .eq. two .and. mpi_aint_diff(two, one) .eq. 8, 510)
      call mpi_initialized(flag, ierr)
      call check(flag, 506)
      call check(mpi_wtime() .ge. 0d0 .and. mpi_wtick() .gt. 0d0, 507)
      call mpi_comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
      call mpi_send(n, 1, MPI_INTEGER, 12345, 0, MPI_COMM_WORLD, ierr)
      call mpi_error_class(ierr, class, n)
      call check(class .eq. MPI_ERR_RANK, 508)
      call mpi_comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)
      call mpi_type_size(MPI_DOUBLE_COMPLEX, n, ierr)
      call check(n .eq. 16, 509)
      end subroutine

! The predefined functions of attributes, which are external here.
      subroutine attributes
      implicit none
      include 'mpif.h'
      integer ierr, key, old, comm, again, short
      integer(kind=MPI_ADDRESS_KIND) value
      logical flag
      call mpi_comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, ierr)
      call mpi_keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, old, 0, ierr)
      call mpi_comm_dup(MPI_COMM_WORLD, comm, ierr)
      value = 4711
      call mpi_comm_set_attr(comm, key, value, ierr)
      call mpi_attr_put(comm, old, 12, ierr)
      call mpi_comm_dup(comm, again, ierr)
      value = 0
      call mpi_comm_get_attr(again, key, value, flag, ierr)
      call check(flag .and. value .eq. 4711, 601)
      call mpi_attr_get(again, old, short, flag, ierr)
      call check(.not. flag, 602)
      call mpi_attr_get(comm, old, short, flag, ierr)
      call check(flag .and. short .eq. 12, 603)
      call mpi_comm_free(again, ierr)
      call mpi_comm_free(comm, ierr)
      call mpi_comm_free_keyval(key, ierr)
      call mpi_keyval_free(old, ierr)
      call check(key .eq. MPI_KEYVAL_INVALID .and. old .eq. MPI_KEYVAL_INVALID, 604)
      call mpi_comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
      call check(flag .and. value .ge. 32767 .and. value .le. huge(short), 605)
      call mpi_comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, value, flag, ierr)
      call check(flag .and. value .ge. MPI_ERR_LASTCODE .and. value .le. huge(short), 606)
      call mpi_comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, value, flag, ierr)
      call check((.not. flag) .or. value .ge. 1 .and. value .le. huge(short), 607)
      call mpi_comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, value, flag, ierr)
      call check((.not. flag) .or. value .eq. 0, 608)
      end subroutine
