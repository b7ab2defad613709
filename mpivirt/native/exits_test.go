//go:build cgo && linux && (amd64 || arm64)

package native_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gigarank/mpivirt"
	"gigarank/mpivirt/native"
	"gigarank/mpivirt/native/toolchain"
)

// prelude begins programs in which rank 1 does something else than other ranks.
const prelude = `#include <mpi.h>
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>
#include "gigarank.h"
static int rank, size;
static void begin(int *argc, char ***argv) {
	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	gigarank_compute(1e-3);
}
`

// ofDivision is the reason after an integer division by zero: on arm64 the division gives zero.
var ofDivision = map[string]string{"amd64": "stopped by SIGFPE in main (program.c:", "arm64": ""}

// A rank ends with its code, and other ranks go on as far as they can.
func TestEndings(t *testing.T) {
	for _, c := range []struct{ why, does, says string }{
		{"exit without a fault", "MPI_Finalize(); exit(0);", ""},
		{"a scatter to a root with room for more", "int all[4] = {5}, mine[4]; MPI_Scatter(all, 1, MPI_INT, mine, 4, MPI_INT, 0, MPI_COMM_SELF); if (mine[0] != 5) exit(8);", ""},
		{"exit with a code", "exit(7);", "the program ended with exit code 7"},
		{"the code of main", "MPI_Finalize(); return 5;", "the program ended with exit code 5"},
		{"the end at once", "_exit(9);", "the program ended with exit code 9"},
		{"a return without MPI_Finalize", "return 0;", "the program ended without MPI_Finalize"},
		{"MPI_Abort", "MPI_Abort(MPI_COMM_WORLD, 3);", "the program called Abort with code 3 in main (program.c:"},
		{"abort", "abort();", "the rank has called abort (SIGABRT) in main (program.c:"},
		{"abort in a function", "__attribute__((noipa)) void stop(int n) { if (n) abort(); puts(\"x\"); } stop(rank);", "the rank has called abort (SIGABRT) in stop"},
		{"an assertion", "assert(rank == 0);", "the rank has called abort (SIGABRT) in main (program.c:"},
		{"a null pointer", "*(volatile int *)(long)(rank - 1) = 1;", "stopped by SIGSEGV at address 0x0 in main (program.c:"},
		{"a division", "volatile int none = rank - 1; none = 7 / none;", ofDivision[runtime.GOARCH]},
		{"a wrong buffer", "MPI_Send((void *)64, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);", "in Send: MPI_ERR_BUFFER: the buffer of 4 bytes at 0x40 is no memory that can be read"},
		{"a buffer that ends early", "MPI_Send(&rank, 1 << 30, MPI_INT, 0, 0, MPI_COMM_WORLD);", "in Send: MPI_ERR_BUFFER: the buffer of 4294967296 bytes at 0x"},
		{"a receive into a constant", "static const int constant[4] = {1}; MPI_Recv((void *)constant, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", "in Recv: MPI_ERR_BUFFER: the buffer of 4 bytes at 0x"},
		{"a result that goes into a constant", "static const int constant[4] = {1}; MPI_Allreduce(&rank, (void *)constant, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);", "bytes at 0x"},
		{"a wrong buffer of a type with gaps", "MPI_Datatype t; MPI_Type_vector(2, 1, 2, MPI_INT, &t); MPI_Type_commit(&t); MPI_Send((void *)64, 1, t, 0, 0, MPI_COMM_WORLD);",
			"stopped by SIGSEGV at address 0x40 in MPI_Send called in main (program.c:"},
		{"a wrong buffer in a function that jumps to MPI", "__attribute__((noinline)) int give(void *p, MPI_Datatype t) { return MPI_Send(p, 1, t, 0, 0, MPI_COMM_WORLD); } MPI_Datatype t; MPI_Type_vector(2, 1, 2, MPI_INT, &t); MPI_Type_commit(&t); give((void *)64, t);",
			"stopped by SIGSEGV at address 0x40 in MPI_Send called in main (program.c:"},
		{"a wrong argument of a call that is not MPI's", "char *volatile none = (char *)(long)(72 * rank); size += (int)strlen(none);", "stopped by SIGSEGV at address 0x48 in main (program.c:"},
		{"a crash after a call", "MPI_Request q; MPI_Isend(&rank, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, &q); *(volatile int *)(long)(rank - 1) = 1;", "ms: the rank's code was stopped by SIGSEGV at address 0x0 in main (program.c:"},
		{"a signal that it raises after calls of MPI", "MPI_Comm_size(MPI_COMM_SELF, &size); raise(SIGSEGV);", "stopped by SIGSEGV at address 0x0 in main (program.c:"},
		{"a signal that it raises beside the address of a function", "void none(void) {} atexit(none); raise(SIGBUS);", "stopped by SIGBUS at address 0x0 in main (program.c:"},
		{"a call from a thread", "void *call(void *p) { MPI_Barrier(MPI_COMM_WORLD); return p; } pthread_t t; pthread_create(&t, NULL, call, NULL); pthread_join(t, NULL);",
			"MPI_Barrier was called from a thread that the rank has started"},
		{"a query from a thread of C11", "int call(void *p) { int n; return MPI_Comm_rank(MPI_COMM_WORLD, &n); } thrd_t t; thrd_create(&t, call, NULL); thrd_join(t, NULL);",
			"MPI_Comm_rank was called from a thread that the rank has started"},
		{"a thread that ends the process", "void *call(void *p) { exit(0); } pthread_t t; pthread_create(&t, NULL, call, NULL); pthread_join(t, NULL);", "exit was called from a thread that the rank has started"},
		{"an attribute that cannot be deleted", "int no(MPI_Comm c, int k, void *v, void *x) { return MPI_ERR_ARG; } int k; MPI_Comm c; MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, no, &k, NULL); MPI_Comm_dup(MPI_COMM_SELF, &c); MPI_Comm_set_attr(c, k, NULL); MPI_Comm_free(&c);",
			"MPI_ERR_ARG: MPI_Comm_free: the function that deletes attributes of key "},
		{"an attribute of a type that cannot be deleted", "int no(MPI_Datatype t, int k, void *v, void *x) { return 77; } int k; MPI_Datatype t; MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, no, &k, NULL); MPI_Type_contiguous(2, MPI_INT, &t); MPI_Type_set_attr(t, k, NULL); MPI_Type_free(&t);",
			"MPI_Type_free: the function that deletes attributes of key "},
		{"an attribute of MPI_COMM_SELF that cannot be deleted", "int no(MPI_Comm c, int k, void *v, void *x) { return MPI_ERR_ARG; } int k; MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, no, &k, NULL); MPI_Comm_set_attr(MPI_COMM_SELF, k, NULL); MPI_Finalize();",
			"MPI_ERR_ARG: MPI_Finalize: the function that deletes attributes of key "},
		{"a message that is not received", "MPI_Request q; MPI_Isend(&rank, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);",
			"MPI_ERR_OTHER: the rank has ended (MPI_Finalize) and not received the message of 4 bytes that rank 1 has sent to it with tag 7"},
		{"another program in its place", "execl(\"/bin/true\", \"true\", NULL);", "the program has called execl, which would take the simulator's place"},
		{"another program by its arguments", "char *list[] = {\"true\", NULL}; execvp(\"true\", list);", "the program has called execvp, which would take the simulator's place"},
		{"another program in a child", "int status, child = fork(); if (child == 0) execlp(\"false\", \"false\", NULL); waitpid(child, &status, 0); if (WEXITSTATUS(status) == 1) { MPI_Finalize(); exit(0); }", ""},
		{"the end of a child", "int status, child = fork(); if (child == 0) exit(4); waitpid(child, &status, 0); if (WEXITSTATUS(status) == 4) { MPI_Finalize(); exit(0); }", ""},
		{"another standard output for the process", "dup2(2, 1);", "the program has called dup2, which would change the standard streams of the simulator"},
		{"a frame that is larger than the stack", "volatile char *room = __builtin_alloca(20 << 20); room[0] = 1;", "the rank has overrun its stack of "},
		{"MPI after its end", "MPI_Finalize(); MPI_Barrier(MPI_COMM_WORLD);", "in Barrier: MPI_ERR_OTHER: called after MPI_Finalize"},
		{"a wrong rank", "MPI_Send(&rank, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);", "in Send: MPI_ERR_RANK: destination 99 in a communicator of 3 ranks"},
		{"a freed communicator", "MPI_Comm c, d; MPI_Comm_dup(MPI_COMM_SELF, &c); d = c; MPI_Comm_free(&c); MPI_Barrier(d);", "in Barrier: MPI_ERR_COMM: the handle is no communicator of this rank, or it has been freed"},
		{"a freed type", "MPI_Datatype t, u; MPI_Type_contiguous(2, MPI_INT, &t); MPI_Type_commit(&t); u = t; MPI_Type_free(&t); MPI_Send(&rank, 1, u, 0, 0, MPI_COMM_WORLD);",
			"in Send: MPI_ERR_TYPE: the handle is no type, or it has been freed"},
		{"a freed key", "int k, l; MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &k, NULL); l = k; MPI_Comm_free_keyval(&k); MPI_Comm_set_attr(MPI_COMM_SELF, l, NULL);",
			"MPI_ERR_KEYVAL: MPI_Comm_set_attr: "},
		{"an info object that is none", "MPI_Info i; MPI_Info_create(&i); MPI_Info j = i; MPI_Info_free(&i); MPI_Info_set(j, \"a\", \"b\");",
			"MPI_ERR_INFO: MPI_Info_set: the handle is no info object, or it has been freed"},
		{"a fatal handler beside others", "MPI_Comm c; MPI_Comm_dup(MPI_COMM_SELF, &c); MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN); MPI_Send(&rank, 1, MPI_INT, 9, 0, c); MPI_Send(&rank, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);",
			"in Send: MPI_ERR_COUNT: a count of -1"},
		{"a call of a fatal handler", "MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_TAG);", "MPI_ERR_TAG: called by MPI_Comm_call_errhandler"},
		{"a wrong root", "MPI_Bcast(&rank, 1, MPI_INT, 3, MPI_COMM_WORLD);", "in Bcast: MPI_ERR_ROOT: root 3 in a communicator of 3 ranks"},
		{"a wrong count in a collective", "int sum; MPI_Allreduce(&rank, &sum, -2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);", "in Allreduce: MPI_ERR_COUNT: a count of -2"},
		{"a wrong count of a type", "MPI_Datatype t; MPI_Type_vector(-1, 1, 1, MPI_INT, &t);", "MPI_ERR_COUNT: MPI_Type_vector: a count or block length of -1"},
		{"no type", "MPI_Send(&rank, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD);", "in Send: MPI_ERR_TYPE: the type is MPI_DATATYPE_NULL"},
		{"a type that is not committed", "MPI_Datatype t; MPI_Type_contiguous(1, MPI_INT, &t); MPI_Send(&rank, 1, t, 0, 0, MPI_COMM_WORLD);", "in Send: MPI_ERR_TYPE: the type has not been committed"},
		{"no type of another", "MPI_Datatype t; MPI_Type_contiguous(2, MPI_DATATYPE_NULL, &t);", "MPI_ERR_TYPE: MPI_Type_contiguous: the type is MPI_DATATYPE_NULL"},
		{"a constructor after the end", "MPI_Datatype t; MPI_Finalize(); MPI_Type_vector(2, 1, 2, MPI_INT, &t);", "MPI_ERR_OTHER: MPI_Type_vector: called after MPI_Finalize"},
		{"a type that is too large", "MPI_Datatype t, u; MPI_Type_contiguous(1 << 30, MPI_DOUBLE, &t); MPI_Type_contiguous(1 << 30, t, &u);", "MPI_ERR_COUNT: MPI_Type_contiguous: the type reaches further"},
		{"too little to unpack", "int at = 0, x; MPI_Unpack(&rank, 3, &at, &x, 1, MPI_INT, MPI_COMM_WORLD);", "MPI_ERR_TRUNCATE: MPI_Unpack: 4 bytes at byte 0 of a buffer of 3"},
		{"a wrong order", "MPI_Datatype t; MPI_Type_create_subarray(1, &size, &rank, &(int){0}, 7, MPI_INT, &t);", "MPI_ERR_ARG: MPI_Type_create_subarray: an order of 7"},
		{"a wrong number of elements", "MPI_Status s; MPI_Status_set_elements(&s, MPI_INT, -1);", "MPI_ERR_COUNT: MPI_Status_set_elements: -1 elements"},
		{"a wrong tag", "MPI_Send(&rank, 1, MPI_INT, 0, -7, MPI_COMM_WORLD);", "in Send: MPI_ERR_TAG: tag -7"},
		{"a wrong source", "MPI_Recv(&size, 1, MPI_INT, -5, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", "in Recv: MPI_ERR_RANK: source -5"},
		{"an operation that is not for the type", "double x = 1, y; MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD);", "in Allreduce: MPI_ERR_OP: "},
		{"a freed request", "MPI_Request q, p; MPI_Irecv(&size, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &q); p = q; MPI_Request_free(&q); MPI_Wait(&p, MPI_STATUS_IGNORE);",
			"in Wait: MPI_ERR_REQUEST: request 0 is no request of this rank"},
		{"a freed group", "MPI_Group g, h; int n; MPI_Comm_group(MPI_COMM_WORLD, &g); h = g; MPI_Group_free(&g); MPI_Group_size(h, &n);", "MPI_ERR_GROUP: MPI_Group_size: the handle is no group of this rank"},
		{"no array of ranks", "MPI_Group g; int n = 0; MPI_Comm_group(MPI_COMM_WORLD, &g); MPI_Group_translate_ranks(g, 1, &n, g, NULL);",
			"MPI_ERR_GROUP: MPI_Group_translate_ranks: ranks2 is NULL"},
		{"no communicator", "MPI_Barrier(MPI_COMM_NULL);", "in Barrier: MPI_ERR_COMM: the communicator is MPI_COMM_NULL"},
		{"a second MPI_Init", "MPI_Init(NULL, NULL);", "MPI_ERR_OTHER: MPI_Init: called a second time"},
		{"MPI_Init after the end", "MPI_Finalize(); MPI_Init(NULL, NULL);", "MPI_ERR_OTHER: MPI_Init: called after MPI_Finalize"},
		{"a second MPI_Init_thread", "MPI_Init_thread(NULL, NULL, 0, &size);", "MPI_ERR_OTHER: MPI_Init_thread: called a second time"},
		{"a second start", "MPI_Request q; MPI_Recv_init(&size, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &q); MPI_Start(&q); MPI_Start(&q);", "MPI_ERR_REQUEST: MPI_Start: the persistent request is active"},
		{"a wrong root of a nonblocking collective", "MPI_Request q; MPI_Ibcast(&rank, 1, MPI_INT, 3, MPI_COMM_WORLD, &q);", "in Ibcast: MPI_ERR_ROOT: root 3"},
		{"a wrong count of a nonblocking collective", "MPI_Request q; MPI_Ireduce_scatter_block(&rank, &size, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q);", "in Ireduce_scatter_block: MPI_ERR_COUNT: a count of -1"},
		{"a nonblocking collective whose error is heard", "MPI_Comm c; MPI_Request q; int code; MPI_Comm_dup(MPI_COMM_SELF, &c); MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN); code = MPI_Ibcast(&rank, -1, MPI_INT, 0, c, &q); MPI_Bcast(&rank, -code, MPI_INT, 0, MPI_COMM_WORLD);",
			"in Bcast: MPI_ERR_COUNT: a count of -2"},
		{"a wrong count of a persistent collective", "MPI_Request q; MPI_Bcast_init(&rank, -1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &q);", "in Bcast_init: MPI_ERR_COUNT: a count of -1"},
		{"a wrong count of a persistent message", "MPI_Request q; MPI_Ssend_init(&rank, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, &q);", "in Ssend_init: MPI_ERR_COUNT: a count of -1"},
		{"a wrong source of a persistent receive", "MPI_Request q; MPI_Recv_init(&rank, 1, MPI_INT, -7, 0, MPI_COMM_WORLD, &q);", "in Recv_init: MPI_ERR_RANK: source -7"},
		{"a wrong tag of a partitioned send", "MPI_Request q; MPI_Psend_init(&rank, 1, 1, MPI_INT, 0, -2, MPI_COMM_WORLD, MPI_INFO_NULL, &q);",
			"in Psend_init: MPI_ERR_TAG: tag -2"},
		{"any source of a partitioned receive", "MPI_Request q; MPI_Precv_init(&size, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &q);",
			"in Precv_init: MPI_ERR_RANK: source MPI_ANY_SOURCE: a partitioned receive names its source"},
		{"a partition of an inactive request", "int out[2] = {0, 1}; MPI_Request q; MPI_Psend_init(out, 2, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &q); MPI_Pready(1, q);",
			"MPI_ERR_REQUEST: MPI_Pready: partition 1 of a request that is not active: start it before"},
		{"a partition that is ready already", "int out[2] = {0, 1}; MPI_Request q; MPI_Psend_init(out, 2, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &q); MPI_Start(&q); MPI_Pready(1, q); MPI_Pready_list(2, (int[]){0, 1}, q);",
			"MPI_ERR_ARG: MPI_Pready_list: partition 1 is ready already"},
		{"a partition that is none", "int out[2] = {0, 1}; MPI_Request q; MPI_Psend_init(out, 2, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &q); MPI_Start(&q); MPI_Pready_range(0, 2, q);",
			"MPI_ERR_ARG: MPI_Pready_range: partition 2 of a request with 2 partitions, which count from 0"},
		{"a partition of a receive", "MPI_Request q; MPI_Precv_init(&size, 1, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &q); MPI_Start(&q); MPI_Pready(0, q);",
			"MPI_ERR_REQUEST: MPI_Pready: the request is no partitioned send but a partitioned receive"},
		{"the arrival of a send", "int out[2] = {0, 1}; MPI_Request q; MPI_Psend_init(out, 2, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &q); MPI_Parrived(q, 0, &size);",
			"MPI_ERR_REQUEST: MPI_Parrived: the request is no partitioned receive but a partitioned send"},
		{"a wait for a send that lacks a partition", "int out[2] = {0, 1}; MPI_Request q; MPI_Psend_init(out, 2, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &q); MPI_Start(&q); MPI_Pready(0, q); MPI_Wait(&q, MPI_STATUS_IGNORE);",
			"in Wait: MPI_ERR_REQUEST: request 0 is a partitioned send whose partition 1 of 2 is not ready"},
		{"a partitioned send that is freed early", "int out[2] = {0, 1}; MPI_Request q; MPI_Psend_init(out, 2, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &q); MPI_Start(&q); MPI_Request_free(&q);",
			"MPI_ERR_REQUEST: MPI_Request_free: the request is of a partitioned message that is active"},
		{"a partitioned send that is cancelled", "int out[2] = {0, 1}; MPI_Request q; MPI_Psend_init(out, 2, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &q); MPI_Start(&q); MPI_Cancel(&q);",
			"in Cancel: MPI_ERR_REQUEST: a partitioned message that is active cannot be cancelled"},
		{"a partitioned message without room", "int out[2] = {0, 1}; MPI_Request q[2]; MPI_Psend_init(out, 2, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_INFO_NULL, &q[0]); MPI_Precv_init(&size, 1, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_INFO_NULL, &q[1]); MPI_Startall(2, q); MPI_Pready_range(0, 1, q[0]); MPI_Waitall(2, q, MPI_STATUSES_IGNORE);",
			"the message from rank 0 with tag 7 has 8 bytes, the receive has room for 4"},
		{"no message", "MPI_Message m = MPI_MESSAGE_NULL; MPI_Mrecv(&size, 1, MPI_INT, &m, MPI_STATUS_IGNORE);", "in Mrecv: MPI_ERR_"},
		{"no message, nonblocking", "MPI_Message m = MPI_MESSAGE_NULL; MPI_Request q; MPI_Imrecv(&size, 1, MPI_INT, &m, &q);", "in Imrecv: MPI_ERR_"},
		{"a predefined communicator that is freed", "MPI_Comm c = MPI_COMM_SELF; MPI_Comm_free(&c);", "in Comm_free: MPI_ERR_COMM: "},
		{"a grid that is too large", "MPI_Comm c; int d = 9, p = 0; MPI_Cart_create(MPI_COMM_WORLD, 1, &d, &p, 0, &c);", "in Cart_create: MPI_ERR_"},
		{"a plain call after a persistent one", "MPI_Request q; MPI_Send_init(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &q); MPI_Send(&rank, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);", "in Send: MPI_ERR_COUNT"},
		{"a second MPI_Finalize", "MPI_Finalize(); MPI_Finalize();", "MPI_ERR_OTHER: MPI_Finalize: called after MPI_Finalize"},
		{"a query after the end", "int n; MPI_Finalize(); MPI_Comm_rank(MPI_COMM_WORLD, &n);", "MPI_ERR_OTHER: MPI_Comm_rank: called after MPI_Finalize"},
		{"a second buffer", "char a[600], b[600]; MPI_Buffer_attach(a, 600); MPI_Buffer_attach(b, 600);", "MPI_ERR_BUFFER: MPI_Buffer_attach: a buffer is attached already"},
		{"a buffer that is not attached", "void *p; int n; MPI_Buffer_detach(&p, &n);", "MPI_ERR_BUFFER: MPI_Buffer_detach: no buffer is attached"},
		{"a wrong count of values to reduce", "int x = 0; MPI_Reduce_local(&rank, &x, -1, MPI_INT, MPI_SUM);", "in Reduce_local: MPI_ERR_COUNT: a count of -1"},
		{"an operation that is not for the values", "double x = 0, y = 1; MPI_Reduce_local(&x, &y, 1, MPI_DOUBLE, MPI_BAND);", "in Reduce_local: MPI_ERR_OP: "},
		{"a request that was waited for", "MPI_Request q, p; MPI_Isend(&rank, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, &q); p = q; MPI_Wait(&q, MPI_STATUS_IGNORE); MPI_Wait(&p, MPI_STATUS_IGNORE);",
			"in Wait: MPI_ERR_REQUEST: request 0 is no request of this rank, or it has been waited for or freed"},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			program := build(t, prelude+"int main(int argc, char **argv) {\n\tbegin(&argc, &argv);\n\tif (rank == 1) {\n\t\t"+c.does+"\n\t}\n\treturn MPI_Finalize();\n}\n")
			for _, engines := range []int{1, 3} {
				result, _, err := run(t, program, "xt5", 3, hosting{engines: engines})
				if c.says == "" {
					if err != nil || result.Finished != 3 {
						t.Errorf("%v, %d ranks finished", err, result.Finished)
					}
					continue
				}
				var failure *mpivirt.RankError
				if !errors.As(err, &failure) || failure.Rank != 1 || !strings.Contains(err.Error(), c.says) || failure.Time.Seconds() < 1e-3 {
					t.Errorf("%d engines: ended with %v, want rank 1 after 1 ms and %q", engines, err, c.says)
				}
			}
		})
	}
}

// The errors of calls that do not match, and of deadlocks, name calls as C does, also variants of a
// procedure.
func TestNamesOfCalls(t *testing.T) {
	const barrier, receive = "MPI_Barrier(MPI_COMM_WORLD);", "MPI_Recv(&rank, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
	const divided = "MPI_Comm half; MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &half); "
	const paired = "MPI_Comm half; MPI_Op op; MPI_Op_create(crash, 1, &op); MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half); "
	lists := "int in[8] = {0}, out[8], ones[4] = {1, 1, 1, 1}, at[4] = {0, 4, 8, 12}; MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT}; MPI_Comm made; MPI_Request q; " +
		"(void)in, (void)out, (void)ones, (void)at, (void)types, (void)made, (void)q; "
	for _, c := range []struct{ name, does, others, says string }{
		{"Alltoallw", "MPI_Alltoallw(in, ones, at, types, out, ones, at, types, MPI_COMM_WORLD);", barrier,
			"in Alltoallw: MPI_ERR_OTHER: Alltoallw, but rank 1 calls Barrier as collective 0 on WORLD"},
		{"Ialltoallw", "MPI_Ialltoallw(in, ones, at, types, out, ones, at, types, MPI_COMM_WORLD, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);", barrier,
			"in Wait: MPI_ERR_OTHER: Alltoallw, but rank 1 calls Barrier"},
		{"Alltoallw beside Alltoallv", "MPI_Alltoallw(in, ones, at, types, out, ones, at, types, MPI_COMM_WORLD);",
			"int to[3] = {0, 1, 2}; MPI_Alltoallv(in, ones, to, MPI_INT, out, ones, to, MPI_INT, MPI_COMM_WORLD);", "in Alltoallw: MPI_ERR_OTHER: Alltoallw, but rank 1 calls Alltoallv"},
		{"Reduce_scatter_block", "MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);", barrier, "in Reduce_scatter_block: MPI_ERR_OTHER: Reduce_scatter_block, but rank 1 calls Barrier"},
		{"Reduce_scatter", "MPI_Reduce_scatter(in, out, ones, MPI_INT, MPI_SUM, MPI_COMM_WORLD);", barrier, "in Reduce_scatter: MPI_ERR_OTHER: Reduce_scatter, but rank 1 calls Barrier"},
		{"a negative count of Alltoallw", "ones[1] = -1; MPI_Alltoallw(in, ones, at, types, out, ones, at, types, MPI_COMM_WORLD);", barrier, "in Alltoallw: MPI_ERR_COUNT: "},
		{"a negative count of a persistent Reduce_scatter_block", "MPI_Reduce_scatter_block_init(in, out, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &q);", barrier,
			"in Reduce_scatter_block_init: MPI_ERR_COUNT: "},
		{"a call after Alltoallw", "MPI_Alltoallw(in, ones, at, types, out, ones, at, types, MPI_COMM_SELF); MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);", barrier,
			"in Comm_split: MPI_ERR_OTHER: Comm_split, but rank 1 calls Barrier"},
		{"Comm_dup", "MPI_Comm_dup(MPI_COMM_WORLD, &made);", barrier, "in Comm_dup: MPI_ERR_OTHER: Comm_dup, but rank 1 calls Barrier"},
		{"Comm_split_type", "MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);", barrier,
			"in Comm_split_type: MPI_ERR_OTHER: Comm_split_type, but rank 1 calls Barrier"},
		{"Comm_idup", "MPI_Comm_idup(MPI_COMM_WORLD, &made, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);", barrier, "in Wait: MPI_ERR_OTHER: Comm_idup, but rank 1 calls Barrier"},
		{"Comm_idup beside Comm_dup", "MPI_Comm_dup(MPI_COMM_WORLD, &made);", "MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &made, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);",
			"in Comm_dup: MPI_ERR_OTHER: Comm_dup, but rank 1 calls Comm_idup"},
		{"a Comm_idup of no communicator", "MPI_Comm_idup(MPI_COMM_NULL, &made, &q);", barrier, "in Comm_idup: MPI_ERR_COMM: the communicator is MPI_COMM_NULL"},
		{"a Comm_idup of which nobody is there", "MPI_Comm_idup(MPI_COMM_WORLD, &made, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);", receive, "rank 0 waits in Wait for the end of Comm_idup on WORLD"},
		{"a Comm_idup whose copy of an attribute fails", "int key; MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &key, NULL); MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key); MPI_Comm_idup(MPI_COMM_WORLD, &made, &q);", barrier,
			"MPI_ERR_OTHER: MPI_Comm_idup: the function that copies attributes of key "},
		{"a barrier after Comm_idup", "MPI_Comm_idup(MPI_COMM_SELF, &made, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); MPI_Barrier(MPI_COMM_WORLD);", receive, "rank 0 waits in Barrier for "},
		{"a type of a split that is none", "MPI_Comm_split_type(MPI_COMM_WORLD, 77, 0, MPI_INFO_NULL, &made);", barrier, "in Comm_split_type: MPI_ERR_ARG: 77 is no type of a split"},
		{"Cart_create", "int no = 0; MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &no, 0, &made);", barrier, "in Cart_create: MPI_ERR_OTHER: Cart_create, but rank 1 calls Barrier"},
		{"Graph_create", "int at[3] = {1, 2, 2}, to[2] = {1, 0}; MPI_Graph_create(MPI_COMM_WORLD, 3, at, to, 0, &made);", barrier, "in Graph_create: MPI_ERR_OTHER: Graph_create, but rank 1 calls Barrier"},
		{"Dist_graph_create", "MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &(int){0}, ones, &(int){1}, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);", barrier,
			"in Dist_graph_create: MPI_ERR_OTHER: Dist_graph_create, but rank 1 calls Barrier"},
		{"Dist_graph_create_adjacent", "MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);", barrier,
			"in Dist_graph_create_adjacent: MPI_ERR_OTHER: Dist_graph_create_adjacent, but rank 1 calls Barrier"},
		{"a Reduce_scatter_block of which nobody is there", "MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);", receive, "rank 0 waits in Reduce_scatter_block for "},
		{"a nonblocking Reduce_scatter_block of which nobody is there", "MPI_Ireduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);", receive,
			"rank 0 waits in Wait for the end of Reduce_scatter_block on WORLD"},
		{"an Alltoallw between groups of which nobody is there", divided + "MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1, 7, &made); MPI_Alltoallw(in, ones, at, types, out, ones, at, types, made);",
			divided + "MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 0, 7, &made); " + receive, "rank 0 waits in Alltoallw for "},
		{"Cart_create between groups", divided + "int no = 0; MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1, 7, &made); MPI_Cart_create(made, 1, &(int){1}, &no, 0, &half);",
			divided + "MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 0, 7, &made); " + receive, "in Cart_create: MPI_ERR_COMM: called on an intercommunicator"},
		{"Comm_dup between groups", divided + "MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1, 7, &made); MPI_Comm_dup(made, &half);",
			divided + "MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 0, 7, &made); MPI_Barrier(made);", "rank 0 waits in Comm_dup for the end of Comm_dup on "},
		{"Comm_idup between groups", divided + "MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1, 7, &made); MPI_Comm_idup(made, &half, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);",
			divided + "MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 0, 7, &made); MPI_Ibarrier(made, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);", "rank 0 waits in Wait for the end of Comm_idup on "},
		{"an operation that crashes in a Reduce_scatter beside an Alltoallw", paired + "MPI_Reduce_scatter(in, out, ones, MPI_INT, op, half);",
			paired + "if (rank == 1) MPI_Reduce_scatter(in, out, ones, MPI_INT, op, half); else if (rank == 3) MPI_Alltoallw(in, ones, at, types, out, ones, at, types, half); " + receive,
			"in Reduce_scatter: the operation of the program was stopped by SIGSEGV"},
		{"an operation that crashes in a Reduce_scatter_block", paired + "MPI_Reduce_scatter_block(in, out, 1, MPI_INT, op, half);",
			paired + "if (rank == 1) MPI_Reduce_scatter_block(in, out, 1, MPI_INT, op, half); " + receive,
			"in Reduce_scatter_block: the operation of the program was stopped by SIGSEGV"},
		{"a Comm_split_type of which nobody is there", "MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);", receive, "rank 0 waits in Comm_split_type for "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			program := build(t, prelude+"static void crash(void *in, void *out, int *n, MPI_Datatype *type) { *(volatile int *)(8L * (*n - 1)) = 1; }\n"+
				"static int refuse(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag) { return MPI_ERR_OTHER; }\n"+
				"int main(int argc, char **argv) {\n\tbegin(&argc, &argv);\n\t(void)crash, (void)refuse;\n\t"+lists+
				"\n\tif (rank == 0) {\n\t\t"+c.does+"\n\t} else {\n\t\t"+c.others+"\n\t}\n\treturn MPI_Finalize();\n}\n")
			ranks := 3
			if strings.Contains(c.does, paired) {
				ranks = 4
			}
			for _, engines := range []int{1, 2, 3} {
				if _, _, err := run(t, program, "xt5", ranks, hosting{engines: engines}); err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%d engines: ended with %v, want %q", engines, err, c.says)
				}
			}
		})
	}
}

// MPI_Finalize holds ranks back as a barrier does: a failure of a rank after it ends the run once all ranks have come there.
// Until then ranks write their output, and all work of the run is done.
func TestEndingsAfterFinalize(t *testing.T) {
	for _, c := range []struct {
		why, does string // code of all ranks after MPI_Finalize
		finished  uint64
		rank      int
		says      string
	}{
		{"the code of main", "return 1;", 4, 1, "the program ended with exit code 1"},
		{"codes that differ", "exit(10 + rank);", 4, 1, "the program ended with exit code 11"},
		{"the code of the last", "usleep(100 - rank); return rank == 3 ? 7 : 0;", 4, 3, "the program ended with exit code 7"},
		{"the end at once", "_exit(3);", 4, 1, "the program ended with exit code 3"},
		{"abort", "abort();", 0, 1, "the rank has called abort"},
		{"a crash of one", "return rank == 2 ? raise(SIGSEGV) : 0;", 3, 2, "the rank's code was stopped by SIGSEGV"},
		{"MPI_Abort of one", "return rank == 3 ? MPI_Abort(MPI_COMM_WORLD, 9) : 5;", 3, 1, "the program ended with exit code 5"},
		{"a call of MPI", "MPI_Barrier(MPI_COMM_WORLD);", 0, 1, "in Barrier: MPI_ERR_OTHER: called "},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			for _, sessions := range []bool{false, true} {
				begin, end := "MPI_Init(&argc, &argv);", "MPI_Finalize();"
				if sessions {
					begin = "MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session); MPI_Group_from_session_pset(session, \"mpi://WORLD\", &group); " +
						"MPI_Comm_create_from_group(group, \"\", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);"
					end = "MPI_Comm_free(&comm); MPI_Session_finalize(&session);"
				}
				program := build(t, prelude+`int main(int argc, char **argv) {
	MPI_Session session = MPI_SESSION_NULL;
	MPI_Group group = MPI_GROUP_NULL;
	MPI_Comm comm = MPI_COMM_WORLD;
	int sum;
	(void)begin, (void)session, (void)group;
	`+begin+`
	MPI_Comm_rank(comm, &rank);
	gigarank_compute(rank ? 1e-6 : 1e-3);
	MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, comm);
	if (rank == 0)
		printf("the sum is %d\n", sum);
	`+end+`
	`+c.does+`
}
`)
				for _, engines := range []int{1, 2, 3} {
					result, lines, err := run(t, program, "xt5", 4, hosting{engines: engines})
					var failure *mpivirt.RankError
					if !errors.As(err, &failure) || failure.Rank != c.rank || !strings.Contains(err.Error(), c.says) || result.Finished != c.finished {
						t.Errorf("sessions %t, %d engines: ended with %v, %d ranks finished, want rank %d with %q, and %d", sessions, engines, err, result.Finished, c.rank, c.says, c.finished)
					}
					if !slices.Equal(lines, []string{"the sum is 6\n"}) {
						t.Errorf("sessions %t, %d engines: printed %q", sessions, engines, lines)
					}
				}
			}
		})
	}
}

// A rank that does not come to MPI_Finalize keeps the failures of ranks that have been there from ending the run.
func TestEndingsWithoutAll(t *testing.T) {
	for _, c := range []struct{ why, does, says string }{
		{"a rank that waits for ever", "MPI_Recv(&size, 1, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", "deadlock: 1 rank waits and cannot go on\n  rank 0 waits in Recv for a message from rank 1"},
		{"a rank that fails later, but before it", "gigarank_compute(1); exit(4);", "rank 0 failed at virtual time 1.001s: the program ended with exit code 4"},
		{"a rank that ends without it", "gigarank_compute(1); return 0;", "rank 0 failed at virtual time 1.001s: the program ended without MPI_Finalize"},
		{"a partitioned receive that waits for ever", "MPI_Request q; MPI_Precv_init(&size, 1, 1, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_INFO_NULL, &q); MPI_Start(&q); MPI_Wait(&q, MPI_STATUS_IGNORE);",
			"deadlock: 1 rank waits and cannot go on\n  rank 0 waits in Wait for a partitioned message from rank 1 of WORLD with tag 99"},
		{"a partitioned send that waits for ever", "static char large[1 << 20]; MPI_Request q; MPI_Psend_init(large, 2, 1 << 19, MPI_CHAR, 2, 99, MPI_COMM_WORLD, MPI_INFO_NULL, &q); MPI_Start(&q); MPI_Pready_range(0, 1, q); MPI_Wait(&q, MPI_STATUS_IGNORE);",
			"deadlock: 1 rank waits and cannot go on\n  rank 0 waits in Wait for rank 2 of WORLD to receive its partitioned message with tag 99"},
		{"a rank that calls a collective", "MPI_Barrier(MPI_COMM_WORLD);", "deadlock: 1 rank waits and cannot go on\n  rank 0 waits in Barrier"},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			program := build(t, prelude+"int main(int argc, char **argv) {\n\tbegin(&argc, &argv);\n\tif (rank == 0) {\n\t\t"+c.does+"\n\t}\n\tMPI_Finalize();\n\treturn 1;\n}\n")
			for _, engines := range []int{1, 2, 3} {
				if _, _, err := run(t, program, "xt5", 4, hosting{engines: engines}); err == nil || !strings.HasPrefix(err.Error(), c.says) ||
					strings.HasPrefix(c.says, "deadlock") && !strings.HasSuffix(err.Error(), "\nrank 1 failed at virtual time 1ms: the program ended with exit code 1 (when it had left MPI, as by MPI_Finalize, which not all ranks have done)") {
					t.Errorf("%d engines: ended with %v, want %q", engines, err, c.says)
				}
			}
		})
	}
}

// A failure after MPI_Finalize waits for a rank that computes before it, however long, and not for a rank that computes after
// it for ever.
func TestEndingsBesideOneThatComputes(t *testing.T) {
	for _, c := range []struct{ why, before, after, prints, says string }{
		{"before MPI_Finalize", "for (long i = 0; i < 500000000; i++) { x++; } puts(\"there\");", "", "there\n", ""},
		{"after it, for ever", "", "for (;;) x++;", "", "; rank 0 has computed since its latest call, at 0s of virtual time, and was not waited for"},
	} {
		program := build(t, prelude+"int main(int argc, char **argv) {\n\tvolatile int x = 0;\n\tbegin(&argc, &argv);\n\tif (rank == 0) {\n\t\t"+c.before+"\n\t}\n\tMPI_Finalize();\n"+
			"\tif (rank == 0) {\n\t\t"+c.after+"\n\t}\n\treturn rank + x * 0;\n}\n")
		for _, engines := range []int{1, 2} {
			_, lines, err := run(t, program, "xt5", 3, hosting{engines: engines, watchdog: 0.5})
			if err == nil || err.Error() != "rank 1 failed at virtual time 1ms: the program ended with exit code 1"+c.says || strings.Join(lines, "") != c.prints {
				t.Errorf("%s, %d engines: ended with %v, printed %q", c.why, engines, err, lines)
			}
		}
	}
}

// Output of ranks to files that they have left open is there after a failure, too.
func TestOpenFilesAfterFailure(t *testing.T) {
	program := build(t, prelude+`int main(int argc, char **argv) {
	begin(&argc, &argv);
	fprintf(fopen(argv[1 + rank], "w"), "%d\n", rank);
	gigarank_compute(rank);
	if (rank == 2)
		exit(6);
	return MPI_Finalize();
}
`)
	for _, engines := range []int{1, 2, 3} {
		dir := t.TempDir()
		files := []string{filepath.Join(dir, "0"), filepath.Join(dir, "1"), filepath.Join(dir, "2")}
		_, _, err := run(t, program, "xt5", 3, hosting{engines: engines}, files...)
		if err == nil || !strings.Contains(err.Error(), "rank 2 failed") {
			t.Errorf("%d engines: ended with %v", engines, err)
		}
		for rank, file := range files {
			if text, err := os.ReadFile(file); err != nil || string(text) != fmt.Sprintln(rank) {
				t.Errorf("%d engines: %v, the file of rank %d has %q", engines, err, rank, text)
			}
		}
	}
}

func TestMPIBeforeInit(t *testing.T) {
	program := build(t, "#include <mpi.h>\nint main(void) { return MPI_Barrier(MPI_COMM_WORLD); }\n")
	_, _, err := run(t, program, "xt5", 2, hosting{engines: 1})
	if err == nil || !strings.Contains(err.Error(), "in Barrier: MPI_ERR_OTHER: called before MPI_Init") {
		t.Errorf("ended with %v", err)
	}
}

// A call that an operation of the program must not make ends the run. The error names it, with a rank that takes
// part in the reduction.
func TestOperationsThatFail(t *testing.T) {
	for _, c := range []struct{ why, does, says string }{
		{"a crash", "*(volatile int *)(long)(*count - 1) = 1;", "in Allreduce: the operation of the program was stopped by SIGSEGV at address 0x0 in combine (program.c:"},
		{"a crash in the C library", "*count = (int)strlen((char *)(8L * *count));", "was stopped by SIGSEGV at address 0x8 in "},
		{"abort", "abort();", "in Allreduce: the operation of the program has called abort (SIGABRT) in combine (program.c:"},
		{"a call of MPI", "MPI_Comm_rank(MPI_COMM_WORLD, &rank);", "in Allreduce: MPI_Comm_rank was called by an operation of the program"},
		{"MPI_Abort", "MPI_Abort(MPI_COMM_WORLD, 0);", "in Allreduce: MPI_Abort was called by an operation of the program"},
		{"the end of the rank", "exit(0);", "in Allreduce: exit was called by an operation of the program"},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			program := build(t, prelude+`
static void combine(void *in, void *inout, int *count, MPI_Datatype *type) {
	`+c.does+`
}
int main(int argc, char **argv) {
	MPI_Op op;
	int sum;
	begin(&argc, &argv);
	MPI_Op_create(combine, 1, &op);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
	return MPI_Finalize();
}
`)
			for _, h := range []hosting{{engines: 1}, {engines: 3}, {engines: 1, stacks: native.Copied, collectives: mpivirt.Message}} {
				_, _, err := run(t, program, "xt5", 3, h)
				var failure *mpivirt.RankError
				if !errors.As(err, &failure) || !strings.Contains(err.Error(), c.says) || failure.Time.Seconds() < 1e-3 {
					t.Errorf("%+v: ended with %v, want %q", h, err, c.says)
				}
			}
		})
	}
}

// Ranks that crash side by side are told apart.
func TestCrashesAtOnce(t *testing.T) {
	program := build(t, prelude+`
static void first(void) { *(volatile int *)(8L * rank) = 1; }
static void second(void) { *(volatile int *)(8L * rank) = 1; }
int main(int argc, char **argv) {
	begin(&argc, &argv);
	if (rank == 1)
		first();
	if (rank == 2)
		second();
	return MPI_Finalize();
}
`, "-fno-inline")
	for _, stacks := range []native.Stacks{native.Own, native.Copied} {
		_, _, err := run(t, program, "xt5", 4, hosting{engines: 1, stacks: stacks})
		if err == nil || !strings.Contains(err.Error(), "rank 1 failed") || !strings.Contains(err.Error(), "at address 0x8 in first (program.c:") {
			t.Errorf("ended with %v", err)
		}
	}
}

// A crash in a library of the program's own is told by its file and line, whichever engine the rank is
// on, also where templates make several pieces of its code.
func TestCrashInLibrary(t *testing.T) {
	program := buildWithLibrary(t, "program.c", prelude+`
void crash(void *at);
int main(int argc, char **argv) {
	begin(&argc, &argv);
	if (rank == atoi(argv[1]))
		crash((void *)16);
	return MPI_Finalize();
}
`, "part.cc", `template <class T> T *first(T *p) { return p + 0; }
template <class T> T *second(T *p) { return first(p); }
extern "C" void crash(void *at) {
	*second((volatile int *)at) = 1;
}
`)
	for _, rank := range []string{"0", "1"} {
		_, _, err := run(t, program, "xt5", 2, hosting{engines: 2}, rank)
		if err == nil || !strings.Contains(err.Error(), "rank "+rank+" failed") || !strings.HasSuffix(err.Error(), "in crash (part.cc:4)") {
			t.Errorf("rank %s: ended with %v", rank, err)
		}
	}
}

// A rank may close its standard streams, or have its output go to a file. Other ranks keep theirs.
func TestClosedStreams(t *testing.T) {
	program := build(t, prelude+`
int main(int argc, char **argv) {
	begin(&argc, &argv);
	printf("rank %d begins\n", rank);
	if (rank == 1) {
		char name[64];
		snprintf(name, sizeof name, "%s", argv[1]);
		if (!freopen(name, "w", stdout))
			return 2;
		printf("rank %d", rank);
	}
	if (rank == 2 && (fclose(stdout) || puts("lost") != EOF || fclose(stdin) || close(2) || write(2, "lost", 4) != -1))
		return 3;
	MPI_Barrier(MPI_COMM_WORLD);
	printf(" goes on\n");
	return MPI_Finalize() || (rank == 0 && fclose(stdout));
}
`)
	file := filepath.Join(t.TempDir(), "output")
	_, lines, err := run(t, program, "xt5", 4, hosting{engines: 1}, file)
	want := []string{" goes on\n", " goes on\n", "rank 0 begins\n", "rank 1 begins\n", "rank 2 begins\n", "rank 3 begins\n"}
	if err != nil || !slices.Equal(lines, want) {
		t.Errorf("%v, printed %q, want %q", err, lines, want)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "rank 1 goes on\n" {
		t.Errorf("%v, the file of rank 1 has %q", err, text)
	}
}

// A stack that is too small is named with its option. The other ranks' stacks are whole.
func TestStackOverflow(t *testing.T) {
	program := build(t, prelude+`
static int deep(int n) {
	volatile char room[4096];
	room[0] = (char)n;
	return n == 0 ? room[0] : deep(n - 1) + room[0];
}
int main(int argc, char **argv) {
	begin(&argc, &argv);
	if (rank == 1)
		printf("%d\n", deep(1000));
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Finalize();
}
`)
	_, _, err := run(t, program, "xt5", 3, hosting{engines: 1})
	var failure *mpivirt.RankError
	if !errors.As(err, &failure) || failure.Rank != 1 || !strings.Contains(err.Error(), "has overrun its stack of 262144 bytes in deep (program.c:") || !strings.Contains(err.Error(), "--stack") {
		t.Errorf("ended with %v", err)
	}
}

// The standard streams have the numbers that they have in a process, which the C library's file of the
// ranks' standard output has not.
func TestNumbersOfStreams(t *testing.T) {
	program := build(t, "#define _GNU_SOURCE\n#include <sys/stat.h>\n"+prelude+`
int main(int argc, char **argv) {
	struct stat of;
	begin(&argc, &argv);
	if (fileno(stdin) != 0 || fileno(stdout) != 1 || fileno_unlocked(stdout) != 1 || fileno(stderr) != 2)
		return 2;
	if (fstat(fileno(stdout), &of) || write(fileno(stdout), "written\n", 8) != 8)
		return 3;
	if (!freopen(argv[1], "a", stdout) || fileno(stdout) < 3 || write(fileno(stdout), "elsewhere\n", 10) != 10)
		return 4;
	if (fclose(stdout) || fileno(stdout) != -1 || errno != EBADF)
		return 5;
	return MPI_Finalize();
}
`)
	file := filepath.Join(t.TempDir(), "output")
	_, lines, err := run(t, program, "xt5", 2, hosting{engines: 1, label: true}, file)
	if want := []string{"[0] written\n", "[1] written\n"}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("%v, printed %q, want %q", err, lines, want)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "elsewhere\nelsewhere\n" {
		t.Errorf("%v, the file has %q", err, text)
	}
}

// A rank that calls MPI on a stack of its own making fails where stacks are copied, and else goes on.
func TestStacksOfTheProgram(t *testing.T) {
	text := "#include <ucontext.h>\n" + prelude + `
static ucontext_t first, second;
static void on_second(void) {
	int sum;
	for (volatile long i = 0; i < 200000000; i++);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("sum %d\n", sum);
}
int main(int argc, char **argv) {
	begin(&argc, &argv);
	getcontext(&second);
	second.uc_stack.ss_sp = AREA;
	second.uc_stack.ss_size = 1 << 18;
	second.uc_link = &first;
	makecontext(&second, on_second, 0);
	if (rank != 1 || argc > 1)
		swapcontext(&first, &second);
	else
		on_second();
	return MPI_Finalize();
}
`
	program := build(t, text, "-DAREA=malloc(1<<18)")
	if notes := strings.Join(toolchain.Notes(program), "\n"); notes != "makecontext, swapcontext: a rank that calls MPI on a stack of the program's own wants --stacks own" {
		t.Errorf("noted %q", notes)
	}
	if _, lines, err := run(t, program, "xt5", 3, hosting{engines: 1, stacks: native.Own, watchdog: 0.2}); err != nil || !slices.Equal(lines, []string{"sum 3\n", "sum 3\n", "sum 3\n"}) {
		t.Errorf("%v, printed %q", err, lines)
	}
	for _, arguments := range [][]string{{}, {"all"}} {
		_, _, err := run(t, program, "xt5", 3, hosting{engines: 1, stacks: native.Copied, watchdog: 0.2}, arguments...)
		var failure *mpivirt.RankError
		if !errors.As(err, &failure) || !strings.Contains(err.Error(), "has called MPI on a stack that it has made itself") || !strings.Contains(err.Error(), "--stacks own") {
			t.Errorf("ended with %v", err)
		}
	}
	program = build(t, "static char area[1 << 18];\n"+text, "-DAREA=area")
	if _, _, err := run(t, program, "xt5", 3, hosting{engines: 1}); err == nil || !strings.Contains(err.Error(), "among its variables, where other ranks have theirs: take memory for it from malloc") {
		t.Errorf("ended with %v", err)
	}
}

// Variables of every sort belong to a rank each, as does errno. Collectives and messages use
// them as buffers while other ranks run.
func TestVariables(t *testing.T) {
	program := build(t, prelude+`
int common[1000];
static double sum, mine = 2.5;
static char text[] = "initial";
static int *const pointer = &common[7];
static int count(void) { static int calls = 10; return ++calls; }
int main(int argc, char **argv) {
	begin(&argc, &argv);
	int faults = common[3] != 0 || mine != 2.5 || strcmp(text, "initial") != 0;
	mine += rank, common[3] = rank, *pointer = 3 * rank;
	snprintf(text, sizeof text, "r%d", rank);
	errno = 1000 + rank;
	for (int i = 0; i < 5; i++) {
		MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		faults += sum != 2.5 * size + size * (size - 1) / 2 || mine != 2.5 + rank;
		MPI_Sendrecv(&common[7], 1, MPI_INT, (rank + 1) % size, 0, &common[8], 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		faults += common[8] != 3 * ((rank + size - 1) % size) || count() != 11 + i || errno != 1000 + rank;
	}
	char want[16];
	snprintf(want, sizeof want, "r%d", rank);
	faults += strcmp(text, want) != 0 || common[3] != rank;
	if (faults)
		printf("rank %d has %d faults\n", rank, faults);
	return MPI_Finalize();
}
`)
	if lines := everywhere(t, program, 7); len(lines) != 0 {
		t.Error(strings.Join(lines, ""))
	}
}

// The clocks show virtual time, and sleeping takes it.
func TestClocks(t *testing.T) {
	program := build(t, prelude+`
#include <sys/time.h>
#include <time.h>
int main(int argc, char **argv) {
	struct timeval a, b;
	struct timespec c, d, short_while = {0, 250000000};
	begin(&argc, &argv);
	double start = MPI_Wtime();
	time_t before = time(NULL);
	clock_t ticks = clock();
	gettimeofday(&a, NULL);
	clock_gettime(CLOCK_MONOTONIC, &c);
	sleep(2);
	usleep(500000);
	nanosleep(&short_while, NULL);
	gigarank_compute(0.25);
	gettimeofday(&b, NULL);
	clock_gettime(CLOCK_MONOTONIC, &d);
	if (rank == 0)
		printf("%.3f %.3f %.3f %ld %ld, day %ld\n", MPI_Wtime() - start, (double)(b.tv_sec - a.tv_sec) + 1e-6 * (double)(b.tv_usec - a.tv_usec),
			(double)(d.tv_sec - c.tv_sec) + 1e-9 * (double)(d.tv_nsec - c.tv_nsec), (long)(time(NULL) - before), (long)((clock() - ticks) / CLOCKS_PER_SEC), (long)before / 86400);
	return MPI_Finalize();
}
`)
	result, lines, err := run(t, program, "xt5", 2, hosting{engines: 2})
	if err != nil || len(lines) != 1 || lines[0] != "3.000 3.000 3.000 3 0, day 10957\n" || result.VirtualTime.Seconds() < 3.001 {
		t.Errorf("%v, %q, virtual time %v", err, lines, result.VirtualTime)
	}
}

// Each clock of the system is there, and no other. Clocks of CPU time leave out sleep. A wait of the threads of C11 takes virtual time.
func TestAllClocks(t *testing.T) {
	program := build(t, prelude+`
#include <time.h>
int main(int argc, char **argv) {
	clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE,
		CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME, CLOCK_REALTIME_ALARM, CLOCK_BOOTTIME_ALARM, CLOCK_TAI, 0};
	const int n = sizeof clocks / sizeof *clocks;
	struct timespec at[2], wrong = {-1, 5}, wait = {1, 500000000};
	begin(&argc, &argv);
	clock_getcpuclockid(0, &clocks[n - 1]);
	for (int i = 0; i < n; i++) {
		wait.tv_sec = 1;
		if (clock_gettime(clocks[i], &at[0]) || thrd_sleep(&wait, NULL) || clock_gettime(clocks[i], &at[1]))
			return 10 + i;
		if (at[1].tv_sec * 1000000000L + at[1].tv_nsec - at[0].tv_sec * 1000000000L - at[0].tv_nsec != (i == 2 || i == 3 || i == n - 1 ? 0 : 1500000000L))
			return 30 + i;
	}
	if (clock_gettime(77, &at[0]) != -1 || errno != EINVAL)
		return 1;
	if (clock_nanosleep(CLOCK_MONOTONIC, 0, &wrong, NULL) != EINVAL || thrd_sleep(&wrong, NULL) >= 0)
		return 2;
	if (clock_nanosleep(77, 0, &wait, NULL) != EINVAL || clock_nanosleep(77, TIMER_ABSTIME, &wait, NULL) != EINVAL || clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &wait, NULL) != EINVAL)
		return 3;
	return MPI_Finalize();
}
`)
	result, _, err := run(t, program, "xt5", 1, hosting{engines: 1})
	if err != nil || result.VirtualTime.Seconds() < 18 || result.VirtualTime.Seconds() > 18.1 {
		t.Errorf("%v, virtual time %v", err, result.VirtualTime)
	}
}

// A rank that waits for a condition with a thread of its own goes on when that signals, and else at the end
// of the time in virtual time.
func TestTimedWaitsWithThreads(t *testing.T) {
	program := build(t, prelude+`
#include <limits.h>
#include <pthread.h>
#include <time.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;
static void *tell(void *p) {
	pthread_mutex_lock(&mutex);
	ready = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	return p;
}
int main(int argc, char **argv) {
	struct timespec at;
	pthread_t thread;
	begin(&argc, &argv);
	pthread_mutex_lock(&mutex);
	pthread_create(&thread, NULL, tell, NULL);
	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_sec += 3600;
	double start = MPI_Wtime();
	while (!ready)
		if (pthread_cond_timedwait(&condition, &mutex, &at))
			return 1;
	pthread_join(thread, NULL);
	if (MPI_Wtime() != start)
		return 2;
	at.tv_sec -= 3600, at.tv_nsec += 50000000;
	int outcome = pthread_cond_timedwait(&condition, &mutex, &at);
	if (outcome != ETIMEDOUT || MPI_Wtime() < start + 0.0499 || MPI_Wtime() > start + 0.0501)
		return 3;
	at.tv_sec = LONG_MAX;
	ready = 0;
	pthread_create(&thread, NULL, tell, NULL);
	while (!ready)
		if (pthread_cond_timedwait(&condition, &mutex, &at))
			return 4;
	pthread_join(thread, NULL);
	return MPI_Finalize();
}
`)
	if _, _, err := run(t, program, "xt5", 1, hosting{engines: 1}); err != nil {
		t.Error(err)
	}
}

// Without computed time a rank sees its clock advance after 1,000 polls in a row:
// from then on each look takes a poll of the machine, 100 ns. A program that waits for a time by
// looking comes to an end, at the same time on any hosting.
func TestWaitByTheClock(t *testing.T) {
	program := build(t, prelude+`
#include <time.h>
int main(int argc, char **argv) {
	begin(&argc, &argv);
	double start = MPI_Wtime();
	for (int i = 0; i < 998; i++)
		if (MPI_Wtime() != start)
			printf("look %d shows %.12f\n", i, MPI_Wtime());
	while (MPI_Wtime() - start < 3e-3 * (rank + 1))
		;
	double waited = MPI_Wtime() - start;
	MPI_Barrier(MPI_COMM_WORLD);
	time_t second = time(NULL) + 1;
	while (time(NULL) < second)
		;
	printf("%d: %.4f ms, %.4f s\n", rank, 1e3 * waited, MPI_Wtime());
	return MPI_Finalize();
}
`)
	for _, h := range []hosting{{engines: 1}, {engines: 2}} {
		result, lines, err := run(t, program, "xt5", 2, h)
		slices.Sort(lines)
		want := []string{"0: 3.0001 ms, 1.0000 s\n", "1: 6.0001 ms, 1.0000 s\n"}
		if err != nil || !slices.Equal(lines, want) || result.VirtualTime.Seconds() < 1 {
			t.Errorf("%v, %q instead of %q, virtual time %v", err, lines, want, result.VirtualTime)
		}
	}
}

// The clocks of C++ and of Fortran's library show virtual time, and random numbers of the system are
// the same in each run, and differ between ranks.
func TestClocksOfLanguages(t *testing.T) {
	seconds := func(lines []string, rank, n int) string {
		return strings.Join(strings.Fields(lines[rank])[:n], " ")
	}
	inCXX := build(t, "clocks.cc", "-fopenmp")
	_, first, err := run(t, inCXX, "xt5", 2, hosting{engines: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, again, err := run(t, inCXX, "xt5", 2, hosting{engines: 2})
	if err != nil || !slices.Equal(first, again) {
		t.Errorf("%v, printed %q, then %q", err, first, again)
	}
	want := "5.000 5.000 5.000 5.000 5.000 5.000 0.000 5.000" // the CPU time of a process
	if seconds(first, 0, 8) != want || seconds(first, 1, 8) != want || first[0] == first[1] {
		t.Errorf("printed %q, want %s and other random numbers on each rank", first, want)
	}
	inFortran := buildFortran(t, filepath.Join("testdata", "clocks.f90"), "-fopenmp")
	_, lines, err := run(t, inFortran, "xt5", 2, hosting{engines: 1})
	if err != nil || !slices.Equal(lines, []string{"2.500 2.500 2.500 2.500 2.500\n"}) {
		t.Errorf("%v, printed %q", err, lines)
	}
}

// Lines of ranks stay whole, also those that are printed in pieces.
func TestOutput(t *testing.T) {
	program := build(t, prelude+`
int main(int argc, char **argv) {
	begin(&argc, &argv);
	printf("rank %d ", rank);
	MPI_Barrier(MPI_COMM_WORLD);
	fputs("of ", stdout);
	MPI_Barrier(MPI_COMM_WORLD);
	printf("%d\nand the end", size);
	return MPI_Finalize();
}
`)
	lines := everywhere(t, program, 3)
	want := []string{"and the end\n", "and the end\n", "and the end\n", "rank 0 of 3\n", "rank 1 of 3\n", "rank 2 of 3\n"}
	if fmt.Sprint(lines) != fmt.Sprint(want) {
		t.Errorf("printed %q, want %q", lines, want)
	}
}

// Lines begin with their rank if that is asked for, also those that are printed in pieces.
func TestLabels(t *testing.T) {
	program := build(t, prelude+`
int main(int argc, char **argv) {
	begin(&argc, &argv);
	printf("one of ");
	MPI_Barrier(MPI_COMM_WORLD);
	fwrite("two\nthree\n", 1, 10, stdout);
	printf("the end");
	return MPI_Finalize();
}
`)
	_, lines, err := run(t, program, "xt5", 11, hosting{engines: 2, label: true})
	var want []string
	for rank := range 11 {
		for _, text := range []string{"one of two", "three", "the end"} {
			want = append(want, fmt.Sprintf("[%d] %s\n", rank, text))
		}
	}
	if slices.Sort(want); err != nil || !slices.Equal(lines, want) {
		t.Errorf("%v, printed %q, want %q", err, lines, want)
	}
}

// Text that is printed to the number of the standard output goes where text of its stream goes. Compilers of
// some systems have calls checked.
func TestPrintedToNumbers(t *testing.T) {
	for _, checked := range []string{"0", "2"} {
		program := build(t, prelude+`
#include <stdarg.h>
static void print(const char *format, ...) {
	va_list list;
	va_start(list, format);
	vdprintf(1, format, list);
	va_end(list);
}
int main(int argc, char **argv) {
	begin(&argc, &argv);
	printf("one ");
	MPI_Barrier(MPI_COMM_WORLD);
	if (dprintf(1, "line of %d\n", size) != 10)
		return 2;
	print("another of %s", "it");
	close(1);
	if (dprintf(1, "lost") != -1)
		return 3;
	return MPI_Finalize();
}
`, "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE="+checked)
		_, lines, err := run(t, program, "xt5", 2, hosting{engines: 1, label: true})
		want := []string{"[0] another of it\n", "[0] one line of 2\n", "[1] another of it\n", "[1] one line of 2\n"}
		if err != nil || !slices.Equal(lines, want) {
			t.Errorf("_FORTIFY_SOURCE=%s: %v, printed %q, want %q", checked, err, lines, want)
		}
	}
}

// A rank that waits in the system is named, with the place. A rank that computes is not named.
func TestBlocked(t *testing.T) {
	for _, c := range []struct{ why, does, says string }{
		{"a pipe", "int ends[2]; char c; if (pipe(ends) == 0 && read(ends[0], &c, 1) == 1) return 2;", "read of pipe:["},
		{"nothing", "poll(NULL, 0, -1);", "in poll in main (program.c:"},
	} {
		program := build(t, "#include <poll.h>\n"+prelude+"int main(int argc, char **argv) {\n\tbegin(&argc, &argv);\n\tif (rank == 1) {\n\t\t"+c.does+"\n\t}\n\tMPI_Barrier(MPI_COMM_WORLD);\n\treturn MPI_Finalize();\n}\n")
		for _, stacks := range []native.Stacks{native.Own, native.Copied} {
			_, _, err := run(t, program, "xt5", 3, hosting{engines: 1, stacks: stacks, watchdog: 0.05})
			var failure *mpivirt.RankError
			if !errors.As(err, &failure) || failure.Rank != 1 || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "main (program.c:") {
				t.Errorf("%s: ended with %v, want rank 1 and %q", c.why, err, c.says)
			}
		}
	}
	program := build(t, prelude+"int main(int argc, char **argv) {\n\tbegin(&argc, &argv);\n\tfor (volatile long i = 0; i < 200000000; i++);\n\treturn MPI_Finalize();\n}\n")
	if _, _, err := run(t, program, "xt5", 1, hosting{engines: 1, watchdog: 0.05}); err != nil {
		t.Errorf("a rank that computes ends with %v", err)
	}
}

// A rank that computes for ever does not hold up the end of a run in which another rank fails, whichever
// rank the engine resumes first.
func TestEndBesideComputing(t *testing.T) {
	text := prelude + `int main(int argc, char **argv) {
	static volatile double x[32];
	begin(&argc, &argv);
	if (rank != atoi(argv[1]))
		for (int i = 0;; i = (i + 1) % 32)
			x[i] += argc > 2 ? sin(x[i] + rank) : 1;
	MPI_Abort(MPI_COMM_WORLD, 3);
	return 0;
}
`
	program := build(t, text, "-lm")
	for _, arguments := range [][]string{{"0"}, {"1"}, {"2"}, {"2", "sin"}} {
		for _, h := range []hosting{
			{engines: 1}, {engines: 1, stacks: native.Copied}, {engines: 2}, {engines: 3, stacks: native.Copied},
			{engines: 1, bursts: measured}, {engines: 3, bursts: measured},
		} {
			h.watchdog = 0.05
			_, _, err := run(t, program, "xt5", 3, h, arguments...)
			var failure *mpivirt.RankError
			want, and := "the program called Abort with code 3 in main (program.c:", ""
			if h.bursts == nil && arguments[0] != "0" { // an end that comes later is not asked for
				and = "; rank 0 has computed since its latest call, at 0s of virtual time, and was not waited for"
			}
			if !errors.As(err, &failure) || fmt.Sprint(failure.Rank) != arguments[0] || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), and) {
				t.Errorf("%q, %+v: ended with %v, want rank %s and %q", arguments, h, err, arguments[0], want+and)
			}
		}
	}
}

// Such an end comes soon: the first of the ranks that compute gives way after a fifth of the watchdog's
// time, which has its default here, and a failure waits as long for them.
func TestEndBesideComputingComesSoon(t *testing.T) {
	program := build(t, prelude+`int main(int argc, char **argv) {
	begin(&argc, &argv);
	if (rank != size - 1)
		for (volatile int i = 0;; i++)
			;
	MPI_Abort(MPI_COMM_WORLD, 3);
	return 0;
}
`)
	for _, h := range []hosting{{engines: 1}, {engines: 1, stacks: native.Copied}, {engines: 2}} {
		t.Run(fmt.Sprint(h.engines, h.stacks), func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			_, _, err := run(t, program, "xt5", 8, h)
			var failure *mpivirt.RankError
			if took := time.Since(start); !errors.As(err, &failure) || failure.Rank != 7 || took > 20*time.Second {
				t.Errorf("ended after %v with %v, want rank 7 within 20 s", took, err)
			}
		})
	}
}

// A computation that is interrupted, so that other ranks run meanwhile, goes on with its registers. Ranks
// note in a file where each of their computations begins and ends: another rank's note between the two
// shows an interruption.
func TestInterruptedComputing(t *testing.T) {
	text := "#include <fcntl.h>\n" + prelude + `static double sum, many[MANY];
int main(int argc, char **argv) {
	begin(&argc, &argv);
	for (int i = 0; i < MANY; i++)
		many[i] = rank;
	int notes = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
	double x[64];
	unsigned long bits = 1;
	for (int i = 0; i < 64; i++)
		x[i] = rank + i;
	for (int round = 0; round < 3; round++) {
		if (write(notes, &"012"[rank], 1) != 1)
			return 2;
		for (int n = 0; n < 1500000; n++) {
			bits = bits * 6364136223846793005u + (unsigned)rank;
			for (int i = 0; i < 64; i++)
				x[i] = 0.5 * x[i] + (double)(bits >> 60);
		}
		if (write(notes, &"012"[rank], 1) != 1)
			return 2;
		double mine = 0;
		for (int i = 0; i < 64; i++)
			mine += x[i] * (i + 1);
		for (int i = 0; i < MANY; i++)
			if (many[i] != rank)
				return 3;
		MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	errno = 0;
	printf("%d %.17g %lu\n", rank, sum, bits);
	return MPI_Finalize();
}
`
	for _, many := range []string{"1", "1000000"} { // variables that are copied, and variables that are mapped
		program := build(t, text, "-O3", "-lm", "-DMANY="+many)
		compute := func(h hosting) (result *mpivirt.Result, printed []string, interrupted bool, err error) {
			file := filepath.Join(t.TempDir(), "notes")
			result, printed, err = run(t, program, "xt5", 3, h, file)
			notes, unread := os.ReadFile(file)
			if unread != nil || len(notes) != 18 {
				t.Fatalf("%+v: %v, notes %q, %v", h, err, notes, unread)
			}
			for i := 0; i < len(notes); i += 2 {
				interrupted = interrupted || notes[i] != notes[i+1]
			}
			return result, printed, interrupted, err
		}
		plain, want, interrupted, err := compute(hosting{engines: 1, watchdog: -1})
		if err != nil || interrupted {
			t.Fatalf("%s variables, without a watchdog: %v, interrupted %t", many, err, interrupted)
		}
		for _, h := range []hosting{{engines: 1}, {engines: 1, stacks: native.Copied}, {engines: 2}, {engines: 2, stacks: native.Copied}} {
			h.watchdog = 0.002 // which interrupts the ranks some tens of times
			result, printed, interrupted, err := compute(h)
			if err != nil || !slices.Equal(printed, want) || result.Fingerprint != plain.Fingerprint {
				t.Errorf("%s variables, %+v: %v, printed\n%s, want\n%s", many, h, err, strings.Join(printed, ""), strings.Join(want, ""))
			}
			if h.engines == 1 && !interrupted {
				t.Errorf("%+v: no computation was interrupted", h)
			}
		}
	}
}

// lacking returns a directory with a library that has the text alone.
func lacking(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "part.c"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(toolchain.Compiler(), "-shared", "-fPIC", filepath.Join(dir, "part.c"), "-Wl,-soname,libpart.so", "-o", filepath.Join(dir, "libpart.so")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return dir
}

// Functions whose effects ranks share are named.
func TestNotes(t *testing.T) {
	program := build(t, "#include <mpi.h>\n#include <unistd.h>\n#include <stdio.h>\nint main(void) { printf(\"%s\", ttyname(0)); return fork() + (int)alarm(3); }\n")
	notes := strings.Join(toolchain.Notes(program), "\n")
	if want := "fork: would copy the simulator"; !strings.HasPrefix(notes, want) || !strings.Contains(notes, "\nalarm: go by the time of the host, and a rank does not get their signal: ") || !strings.Contains(notes, "\nttyname: ") {
		t.Errorf("noted\n%s", notes)
	}
	program = build(t, "#include <mpi.h>\n#include <math.h>\n#include <unistd.h>\n#include <sys/syscall.h>\nint main(void) { volatile double x = lgamma(-0.5); return signgam + (int)x + lockf(0, F_TEST, 0) + (int)syscall(SYS_getpid); }\n", "-D_GNU_SOURCE", "-lm")
	notes = strings.Join(toolchain.Notes(program), "\n")
	for _, want := range []string{"signgam: the ranks of a process share the sign", "lockf: a lock is the simulator's", "syscall: goes round"} {
		if !strings.Contains(notes, want) {
			t.Errorf("noted\n%s\nwithout %q", notes, want)
		}
	}
	notes = strings.Join(toolchain.Notes(build(t, "process.cc")), "\n")
	if want := "std::locale::global, std::set_new_handler, std::set_terminate: concern all ranks"; !strings.Contains(notes, want) {
		t.Errorf("noted\n%s\nwithout %q", notes, want)
	}
	if notes := toolchain.Notes(build(t, "ring.c")); len(notes) != 0 {
		t.Errorf("the ring has notes: %q", notes)
	}
}

// A program that cannot run is refused before anything runs, with the reason.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	object := filepath.Join(dir, "plain")
	if err := os.WriteFile(object+".c", []byte("int main(void) { return 0; }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(toolchain.Compiler(), object+".c", "-o", object).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	unsupported := build(t, "#include <mpi.h>\nint main(void) { return MPI_Win_fence(0, MPI_WIN_NULL) + MPI_Barrier(MPI_COMM_WORLD) + PMPI_File_sync(MPI_FILE_NULL); }\n")
	tools := build(t, "#include <mpi.h>\nint main(void) { int p; MPI_Session s = MPI_SESSION_NULL; return MPI_T_init_thread(MPI_THREAD_SINGLE, &p) + MPI_Session_attach_buffer(s, &p, 4) + MPI_Win_create_c(&p, (MPI_Aint)4, MPI_T_SCOPE_LOCAL, MPI_INFO_NULL, MPI_COMM_WORLD, 0); }\n")
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec ./program\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	ours, err := os.ReadFile(unsupported)
	if err != nil {
		t.Fatal(err)
	}
	// The header of ELF has the class in byte 4, and type and machine in bytes 16 and 18.
	altered := func(name string, at int, value byte) string {
		text := slices.Clone(ours)
		text[at] = value
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, text, 0o777); err != nil {
			t.Fatal(err)
		}
		return file
	}
	library := filepath.Join(dir, "libmpi.so.40")
	other := filepath.Join(dir, "other")
	for _, arguments := range [][]string{
		{"-shared", "-fPIC", "-Wl,-soname,libmpi.so.40", object + ".c", "-o", library},
		{object + ".c", "-Wl,--no-as-needed", library, "-o", other},
		{"-c", object + ".c", "-o", object + ".o"},
		{"-m32", "-shared", "-nostdlib", object + ".c", "-o", object + "32"},
	} {
		if text, err := exec.Command(toolchain.Compiler(), arguments...).CombinedOutput(); err != nil && arguments[0] != "-m32" {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	incomplete := build(t, "#include <mpi.h>\nint of_library(void);\nint main(void) { return of_library() + MPI_Barrier(MPI_COMM_WORLD); }\n",
		"-L"+lacking(t, "int of_library(void) { return 0; }"), "-lpart", "-Wl,-rpath,"+lacking(t, "int other(void) { return 0; }"))
	for program, want := range map[string]string{
		script:                           "is a script for /bin/sh; a rank is",
		other:                            "is linked with another MPI (libmpi.so.40)",
		object + ".o":                    "is an object file: link it",
		altered("foreign", 18, 0x2a):     "is for EM_SH, and this machine is ",
		altered("program.core", 16, 4):   "is a core file",
		"/dev/null":                      "is no file",
		incomplete:                       "undefined symbol: of_library",
		dir:                              "is a directory",
		object:                           "was not linked by gigarank cc, cxx or fc",
		object + ".c":                    "is source code in C",
		filepath.Join(dir, "no/program"): "no such file",
		tools:                            "uses MPI functions that native ranks do not have: MPI_Session_attach_buffer, MPI_T_init_thread, MPI_Win_create_c;",
		unsupported:                      "uses MPI functions that native ranks do not have: MPI_Win_fence, PMPI_File_sync;",
	} {
		if _, err := native.Open(program, nil, native.Options{StrictFunctions: true}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", program, err, want)
		}
	}
	if runtime.GOARCH == "amd64" { // other compilers know no 32 bits, or have no libraries for them
		if _, err := native.Open(object+"32", nil, native.Options{}); err == nil || !strings.Contains(err.Error(), "is a program of 32 bits") {
			t.Errorf("a program of 32 bits: %v", err)
		}
	}
	out, err := exec.Command(build(t, "ring.c")).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), "run it with gigarank run") {
		t.Errorf("a program that is run by hand ends with %v and says %q", err, out)
	}
}
