//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Sessions do what MPI 4.1, 11.3 and 7.4, say, as in its example 11.7: without MPI_Init, twice in a row and beside each
// other, and after the world model has ended. Open MPI 4.1 has no sessions.
func TestSessions(t *testing.T) {
	program := build(t, `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int heard, right;
#define OK(so) (right += (so) ? 1 : (printf("line %d\n", __LINE__), 0))
static void listen(MPI_Session *session, int *code, ...) { heard += *session != MPI_SESSION_NULL && *code == MPI_ERR_ARG; }
static void work(void) {
	MPI_Session session, other;
	MPI_Group group, half;
	MPI_Comm comm, part, between;
	MPI_Info info;
	MPI_Errhandler handler, got;
	int n, length = 0, flag, rank, size, sum = 0;
	char name[64], text[64];
	heard = 0;
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS && session != MPI_SESSION_NULL);
	OK(MPI_Session_c2f(session) == MPI_Session_toint(session) && MPI_Session_f2c(MPI_Session_c2f(session)) == session && MPI_Session_fromint(MPI_Session_toint(session)) == session);
	OK(MPI_Session_c2f(MPI_SESSION_NULL) == 0x120);
	OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n) == MPI_SUCCESS && n == 2);
	MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL);
	OK(length == 12);
	MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
	OK(strcmp(name, "mpi://WORLD") == 0);
	length = 6, MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 1, &length, name);
	OK(strcmp(name, "mpi:/") == 0 && length == 11);
	OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 2, &length, name) == MPI_ERR_ARG);
	MPI_Session_get_info(session, &info);
	MPI_Info_get(info, "thread_level", 63, text, &flag);
	OK(flag && strncmp(text, "MPI_THREAD_", 11) == 0);
	MPI_Info_free(&info);
	MPI_Session_get_pset_info(session, "mpi://world", &info);
	MPI_Info_get(info, "mpi_size", 63, text, &flag);
	MPI_Info_free(&info);
	OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS);
	MPI_Group_size(group, &size), MPI_Group_rank(group, &rank);
	OK(flag && size == 5 && atoi(text) == size);
	OK(MPI_Comm_create_from_group(group, "gigarank.test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
	OK(sum == size * (size - 1) / 2);
	OK(MPI_Send(&rank, 1, MPI_INT, size, 0, comm) == MPI_ERR_RANK); /* the handler is that of the call */
	/* a second session beside it, with a handler of the program's own */
	MPI_Session_create_errhandler(listen, &handler);
	MPI_Session_init(MPI_INFO_NULL, handler, &other);
	MPI_Session_get_errhandler(other, &got);
	OK(got == handler);
	OK(MPI_Group_from_session_pset(other, "app://none", &half) == MPI_ERR_ARG && heard == 1 && half == MPI_GROUP_NULL);
	MPI_Session_call_errhandler(other, MPI_ERR_ARG);
	OK(heard == 2);
	MPI_Session_set_errhandler(other, MPI_ERRORS_RETURN);
	OK(MPI_Group_from_session_pset(other, "app://none", &half) == MPI_ERR_ARG && heard == 2);
	MPI_Errhandler_free(&got), MPI_Errhandler_free(&handler);
	MPI_Group_from_session_pset(other, "mpi://SELF", &half);
	MPI_Group_size(half, &n), MPI_Group_free(&half);
	OK(n == 1);
	/* two halves, and what is between them */
	int range[1][3] = {{rank % 2, size - 1, 2}}, across[1][3] = {{1 - rank % 2, size - 1, 2}};
	MPI_Group opposite;
	MPI_Group_range_incl(group, 1, range, &half), MPI_Group_range_incl(group, 1, across, &opposite);
	MPI_Comm_create_from_group(half, "half", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &part);
	sum = 0, MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, part);
	OK(sum == (rank % 2 ? 4 : 6));
	MPI_Intercomm_create_from_groups(half, 0, opposite, 0, "between", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &between);
	sum = 0, MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, between);
	OK(sum == (rank % 2 ? 6 : 4));
	MPI_Comm_free(&between), MPI_Comm_free(&part);
	MPI_Group_free(&half), MPI_Group_free(&opposite);
	OK(MPI_Session_finalize(&other) == MPI_SUCCESS && other == MPI_SESSION_NULL);
	MPI_Barrier(comm);
	MPI_Comm_free(&comm), MPI_Group_free(&group);
	OK(MPI_Session_finalize(&session) == MPI_SUCCESS);
}
int main(int argc, char **argv) {
	int flag, rank;
	work();
	MPI_Initialized(&flag);
	OK(!flag);
	work();
	MPI_Init(&argc, &argv);
	work();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Finalize();
	work();
	if (rank == 0)
		printf("%d\n", right);
	return argc > 1 ? MPI_Barrier(MPI_COMM_WORLD) : 0;
}
`)
	for _, h := range []hosting{{engines: 1}, {engines: 2}, {engines: 3, strict: true}} {
		_, lines, err := run(t, program, "xt5", 5, h)
		if err != nil || !slices.Equal(lines, []string{"93\n"}) {
			t.Errorf("%+v: %v, printed %q", h, err, lines)
		}
	}
	if _, _, err := run(t, program, "xt5", 5, hosting{engines: 1}, "after"); err == nil || !strings.Contains(err.Error(), "called after MPI_Finalize") {
		t.Errorf("a call after the last session has ended: %v", err)
	}
}

// Fortran has sessions by its three ways, with handles that are INTEGERs or have types of their own, and names that are padded
// with blanks.
func TestSessionsInFortran(t *testing.T) {
	modern := `module work_08
  use mpi_f08
  implicit none
  integer :: heard = 0
contains
  subroutine listen(session, error_code)
    type(MPI_Session) :: session
    integer :: error_code
    if (session /= MPI_SESSION_NULL .and. error_code == MPI_ERR_ARG) heard = heard + 1
  end subroutine
  subroutine work(right)
    integer, intent(inout) :: right
    type(MPI_Session) :: session
    type(MPI_Group) :: group, none
    type(MPI_Comm) :: comm, between
    type(MPI_Info) :: info
    type(MPI_Errhandler) :: handler, got
    integer :: n, length, rank, size, total, ierror
    character(20) :: name
    character(4) :: short
    logical :: flag
    call MPI_Session_create_errhandler(listen, handler)
    call MPI_Session_init(MPI_INFO_NULL, handler, session, ierror)
    if (ierror == MPI_SUCCESS .and. session /= MPI_SESSION_NULL) right = right + 1
    call MPI_Session_get_num_psets(session, MPI_INFO_NULL, n)
    length = 0
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, name)
    if (n == 2 .and. length == 11) right = right + 1
    length = len(name)
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, name)
    if (name == 'mpi://WORLD' .and. length == 11) right = right + 1
    length = len(short)
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 1, length, short)
    if (short == 'mpi:' .and. length == 10) right = right + 1
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 2, length, name, ierror)
    if (ierror == MPI_ERR_ARG .and. heard == 1) right = right + 1
    call MPI_Session_get_pset_info(session, name, info)
    call MPI_Info_get(info, 'mpi_size', len(short), short, flag)
    call MPI_Info_free(info)
    call MPI_Session_get_info(session, info)
    call MPI_Info_free(info)
    call MPI_Session_get_errhandler(session, got)
    if (flag .and. short == '3' .and. got == handler) right = right + 1
    call MPI_Errhandler_free(got)
    call MPI_Group_from_session_pset(session, 'app://none', none, ierror)
    call MPI_Session_call_errhandler(session, MPI_ERR_ARG)
    call MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN)
    call MPI_Errhandler_free(handler)
    if (ierror == MPI_ERR_ARG .and. heard == 3) right = right + 1
    call MPI_Group_from_session_pset(session, name, group)
    call MPI_Comm_create_from_group(group, 'gigarank.test  ', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm)
    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, size)
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, comm)
    if (size == 3 .and. total == 3) right = right + 1
    call MPI_Group_free(group)
    call MPI_Comm_group(comm, group)
    block
      type(MPI_Group) :: mine, others
      call MPI_Group_incl(group, 1, [0], mine)
      call MPI_Group_excl(group, 1, [0], others)
      if (rank == 0) call MPI_Intercomm_create_from_groups(mine, 0, others, 0, 'two', MPI_INFO_NULL, MPI_ERRORS_RETURN, between)
      if (rank /= 0) call MPI_Intercomm_create_from_groups(others, 0, mine, 0, 'two', MPI_INFO_NULL, MPI_ERRORS_RETURN, between)
      call MPI_Group_free(mine)
      call MPI_Group_free(others)
    end block
    call MPI_Comm_remote_size(between, n)
    if (n == merge(2, 1, rank == 0)) right = right + 1
    call MPI_Comm_free(between)
    call MPI_Group_free(group)
    call MPI_Comm_free(comm)
    call MPI_Session_finalize(session, ierror)
    if (ierror == MPI_SUCCESS .and. session == MPI_SESSION_NULL) right = right + 1
  end subroutine
end module
`
	older := `subroutine older_HOW(right)
  USE
  implicit none
  INCLUDE
  integer :: right, session, group, comm, n, length, total, ierror
  character(12) :: name
  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierror)
  call MPI_Session_get_num_psets(session, MPI_INFO_NULL, n, ierror)
  length = len(name)
  call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, name, ierror)
  call MPI_Group_from_session_pset(session, name, group, ierror)
  call MPI_Comm_create_from_group(group, 'older', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm, ierror)
  call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, comm, ierror)
  if (n == 2 .and. name == 'mpi://WORLD' .and. total == 3) right = right + 1
  call MPI_Comm_free(comm, ierror)
  call MPI_Group_free(group, ierror)
  call MPI_Session_finalize(session, ierror)
  if (ierror == MPI_SUCCESS .and. session == MPI_SESSION_NULL) right = right + 1
end subroutine
`
	way := func(how, use, include string) string {
		return strings.NewReplacer("HOW", how, "USE", use, "INCLUDE", include).Replace(older)
	}
	text := modern + way("module", "use mpi", "") + `program sessions
  use work_08
  implicit none
  integer :: right = 0, rank
  call work(right)
  call older_module(right)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Finalize()
  call older_header(right)
  if (rank == 0) print '(i0)', right
end program
`
	dir := t.TempDir()
	source, header := filepath.Join(dir, "sessions.f90"), filepath.Join(dir, "header.f90")
	for path, text := range map[string]string{source: text, header: way("header", "", "include 'mpif.h'")} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	program := buildFortran(t, source, header)
	for _, h := range []hosting{{engines: 1}, {engines: 2}} {
		_, lines, err := run(t, program, "xt5", 3, h)
		if err != nil || !slices.Equal(lines, []string{"14\n"}) {
			t.Errorf("%+v: %v, printed %q", h, err, lines)
		}
	}
}
