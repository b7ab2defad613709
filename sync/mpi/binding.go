//go:build mpi

package mpi

/*
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The results of a call, in C memory, so that no call allocates.
typedef struct { int flag, source, tag, count; MPI_Count bytes; } gr_out;

static int gr_open(int *provided, int *rank, int *size) {
	int e = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, provided);
	if (e == MPI_SUCCESS) e = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (e == MPI_SUCCESS) e = MPI_Comm_rank(MPI_COMM_WORLD, rank);
	if (e == MPI_SUCCESS) e = MPI_Comm_size(MPI_COMM_WORLD, size);
	return e;
}

// Counts the processes of this host, and the processors that any of them may run on: 0 where
// the system does not say.
static int gr_share(int *processes, int *processors) {
	MPI_Comm host;
	int e = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
	if (e == MPI_SUCCESS) e = MPI_Comm_size(host, processes);
	*processors = 0;
#ifdef __linux__
	cpu_set_t own, any;
	CPU_ZERO(&own);
	int known = sched_getaffinity(0, sizeof own, &own) == 0, all;
	if (e == MPI_SUCCESS) e = MPI_Allreduce(&known, &all, 1, MPI_INT, MPI_MIN, host);
	if (e == MPI_SUCCESS) e = MPI_Allreduce(&own, &any, sizeof own, MPI_BYTE, MPI_BOR, host);
	if (e == MPI_SUCCESS && all) *processors = CPU_COUNT(&any);
#endif
	return e == MPI_SUCCESS ? MPI_Comm_free(&host) : e;
}

static int gr_serialized(int provided) { return provided >= MPI_THREAD_SERIALIZED; }

static int gr_duplicate(MPI_Comm *comm, MPI_Request *request) {
	return MPI_Comm_idup(MPI_COMM_WORLD, comm, request);
}

static int gr_return_errors(MPI_Comm *comm) { return MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN); }

static int gr_free(MPI_Comm *comm) { return MPI_Comm_free(comm); }

// Makes the type of n bytes, more than one count can hold: blocks of longest bytes and
// the rest.
static int gr_long_type(size_t n, size_t longest, MPI_Datatype *type) {
	MPI_Datatype block;
	int e = MPI_Type_contiguous((int)longest, MPI_BYTE, &block);
	if (e != MPI_SUCCESS) return e;
	int lengths[2] = {(int)(n / longest), (int)(n % longest)};
	MPI_Aint places[2] = {0, (MPI_Aint)(n - n % longest)};
	MPI_Datatype types[2] = {block, MPI_BYTE};
	e = MPI_Type_create_struct(2, lengths, places, types, type);
	if (e == MPI_SUCCESS) e = MPI_Type_commit(type);
	if (e == MPI_SUCCESS) e = MPI_Type_free(&block);
	return e;
}

// Sends n bytes; longest is the greatest count of a message.
static int gr_isend(MPI_Comm *comm, void *bytes, size_t n, size_t longest, int dst, int tag, MPI_Request *request) {
	if (n <= longest) return MPI_Isend(bytes, (int)n, MPI_BYTE, dst, tag, *comm, request);
	MPI_Datatype type;
	int e = gr_long_type(n, longest, &type);
	if (e == MPI_SUCCESS) e = MPI_Isend(bytes, 1, type, dst, tag, *comm, request);
	if (e == MPI_SUCCESS) e = MPI_Type_free(&type); // MPI keeps it until the message is sent
	return e;
}

static int gr_probe(MPI_Comm *comm, gr_out *out) {
	MPI_Status status;
	int e = MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, *comm, &out->flag, &status);
	if (e != MPI_SUCCESS || !out->flag) return e;
	out->source = status.MPI_SOURCE;
	out->tag = status.MPI_TAG;
	return MPI_Get_elements_x(&status, MPI_BYTE, &out->bytes);
}

// Receives the next message with a tag; flag says whether that is done at once.
static int gr_receive(MPI_Comm *comm, void *bytes, size_t n, size_t longest, int source, int tag, MPI_Request *request, gr_out *out) {
	int e;
	if (n <= longest) {
		e = MPI_Irecv(bytes, (int)n, MPI_BYTE, source, tag, *comm, request);
	} else {
		MPI_Datatype type;
		e = gr_long_type(n, longest, &type);
		if (e == MPI_SUCCESS) e = MPI_Irecv(bytes, 1, type, source, tag, *comm, request);
		if (e == MPI_SUCCESS) e = MPI_Type_free(&type);
	}
	return e == MPI_SUCCESS ? MPI_Test(request, &out->flag, MPI_STATUS_IGNORE) : e;
}

// Receives the short message that gr_probe found, and waits for it.
static int gr_receive_now(MPI_Comm *comm, void *bytes, size_t n, int source, int tag) {
	return MPI_Recv(bytes, (int)n, MPI_BYTE, source, tag, *comm, MPI_STATUS_IGNORE);
}

// Sums numbers[0] over all processes into numbers[1].
static int gr_sum(MPI_Comm *comm, long long *numbers, MPI_Request *request) {
	return MPI_Iallreduce(&numbers[0], &numbers[1], 1, MPI_LONG_LONG, MPI_SUM, *comm, request);
}

// MPICH's header makes GCC believe that MPI_STATUSES_IGNORE is written to.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

// Returns the indices of the requests that are done; count is 0 when none is.
static int gr_test(int n, MPI_Request *requests, int *indices, gr_out *out) {
	int e = MPI_Testsome(n, requests, &out->count, indices, MPI_STATUSES_IGNORE);
	if (out->count == MPI_UNDEFINED) out->count = 0;
	return e;
}

static void gr_sleep(long ns) {
	struct timespec t = {0, ns};
	nanosleep(&t, NULL);
}

static void gr_null(MPI_Request *request) { *request = MPI_REQUEST_NULL; }
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"
)

// check returns the error that an error code of MPI stands for, nil for success.
func check(call string, code C.int) error {
	if code == C.MPI_SUCCESS {
		return nil
	}
	text := (*C.char)(C.malloc(C.MPI_MAX_ERROR_STRING))
	defer C.free(unsafe.Pointer(text))
	var n C.int
	if C.MPI_Error_string(code, text, &n) != C.MPI_SUCCESS {
		return fmt.Errorf("%s failed with the code %d", call, int(code))
	}
	return fmt.Errorf("%s failed: %s", call, C.GoStringN(text, n))
}

// longestCount is the greatest number of bytes that is passed as a count of MPI, an
// int. A longer message goes as one element of a type of its length.
var longestCount = 1 << 30

// initialise initialises MPI on the calling thread.
func initialise() (rank, size int, err error) {
	var provided, r, s C.int
	if err := check("starting MPI", C.gr_open(&provided, &r, &s)); err != nil {
		return 0, 0, err
	}
	if C.gr_serialized(provided) == 0 {
		return 0, 0, errors.New("this MPI library cannot be called from several threads: use one that offers MPI_THREAD_SERIALIZED or more")
	}
	return int(r), int(s), nil
}

// hostShare returns the number of processes on this host, and of the processors that any of
// them may run on, 0 if that is not known. It is collective.
func hostShare() (processes, processors int, err error) {
	var n, p C.int
	err = check("counting the processes of a host", C.gr_share(&n, &p))
	return int(n), int(p), err
}

// communicator is a communicator between all processes, in C memory. sum uses numbers.
type communicator struct {
	c       *C.MPI_Comm
	numbers *C.longlong
}

func newCommunicator() communicator {
	return communicator{
		c:       (*C.MPI_Comm)(C.malloc(C.size_t(unsafe.Sizeof(*communicator{}.c)))),
		numbers: (*C.longlong)(C.calloc(2, C.size_t(unsafe.Sizeof(*communicator{}.numbers)))),
	}
}

// connected completes a communicator once duplicate is done.
func (c communicator) connected() error {
	return check("MPI_Comm_set_errhandler", C.gr_return_errors(c.c))
}

// sum returns the result of the last sum.
func (c communicator) sum() int64 {
	return int64(unsafe.Slice(c.numbers, 2)[1])
}

// free ends the use of a communicator over which no message is on its way.
func (c communicator) free() error {
	err := check("MPI_Comm_free", C.gr_free(c.c))
	C.free(unsafe.Pointer(c.c))
	C.free(unsafe.Pointer(c.numbers))
	return err
}

func finalise() error { return check("MPI_Finalize", C.MPI_Finalize()) }

func yieldThread() { C.sched_yield() }

// sleepThread lets the calling thread sleep for less than a second. Go runs other goroutines
// meanwhile.
func sleepThread(d time.Duration) { C.gr_sleep(C.long(d.Nanoseconds())) }

// Available reports whether this build has MPI.
func Available() bool { return true }

// Version returns the name and version of the MPI library.
func Version() string {
	text := (*C.char)(C.malloc(C.MPI_MAX_LIBRARY_VERSION_STRING))
	defer C.free(unsafe.Pointer(text))
	var n C.int
	if C.MPI_Get_library_version(text, &n) != C.MPI_SUCCESS {
		return "MPI of an unknown version"
	}
	return C.GoString(text) // Open MPI 4.1 counts the zero at its end
}

// Abort ends all processes of the run with an exit code. It does not return.
func Abort(code int) {
	var on C.int
	if C.MPI_Initialized(&on) == C.MPI_SUCCESS && on != 0 {
		C.MPI_Abort(C.MPI_COMM_WORLD, C.int(code))
	}
	os.Exit(code)
}

func allocate(size int) []byte {
	p := C.malloc(C.size_t(size))
	if p == nil {
		panic(fmt.Sprintf("mpi: no memory for a message buffer of %d bytes", size))
	}
	return unsafe.Slice((*byte)(p), size)
}

func release(buffer []byte) { C.free(unsafe.Pointer(unsafe.SliceData(buffer))) }

// outcome is the results of a call, in C memory.
type outcome struct{ c *C.gr_out }

func newOutcome() outcome {
	return outcome{(*C.gr_out)(C.calloc(1, C.size_t(unsafe.Sizeof(C.gr_out{}))))}
}

// envelope is the source, tag and size of a message, by a probe.
type envelope struct{ source, tag, length int }

// probe reports whether a message is there, and returns its envelope.
func (o outcome) probe(comm communicator) (found bool, v envelope, err error) {
	err = check("MPI_Iprobe", C.gr_probe(comm.c, o.c))
	return err == nil && o.c.flag != 0, envelope{int(o.c.source), int(o.c.tag), int(o.c.bytes)}, err
}

// requests is a table of operations that MPI has not completed, each with a buffer. A
// slot is reused when its operation is done.
type requests struct {
	handles *C.MPI_Request // slots of them, in C memory
	indices *C.int
	slots   int
	buffers [][]byte
	free    []int
	active  int
	out     outcome
}

// slot returns a free slot, with its handle, for an operation on buffer.
func (r *requests) slot(buffer []byte) (int, *C.MPI_Request) {
	if len(r.free) == 0 {
		r.grow()
	}
	last := len(r.free) - 1
	i := r.free[last]
	r.free = r.free[:last]
	r.buffers[i] = buffer
	r.active++
	return i, r.handle(i)
}

func (r *requests) handle(i int) *C.MPI_Request {
	return (*C.MPI_Request)(unsafe.Add(unsafe.Pointer(r.handles), uintptr(i)*unsafe.Sizeof(*r.handles)))
}

func (r *requests) grow() {
	slots := max(16, 2*r.slots)
	r.handles = (*C.MPI_Request)(C.realloc(unsafe.Pointer(r.handles), C.size_t(uintptr(slots)*unsafe.Sizeof(*r.handles))))
	r.indices = (*C.int)(C.realloc(unsafe.Pointer(r.indices), C.size_t(uintptr(slots)*unsafe.Sizeof(*r.indices))))
	if r.out.c == nil {
		r.out = newOutcome()
	}
	for i := slots - 1; i >= r.slots; i-- {
		C.gr_null(r.handle(i))
		r.free = append(r.free, i)
	}
	r.buffers = append(r.buffers, make([][]byte, slots-r.slots)...)
	r.slots = slots
}

// done frees a slot and returns its buffer.
func (r *requests) done(i int) []byte {
	buffer := r.buffers[i]
	r.buffers[i] = nil
	r.free = append(r.free, i)
	r.active--
	return buffer
}

// test calls completed with each slot whose operation is done. completed may call done.
func (r *requests) test(completed func(slot int)) error {
	if r.active == 0 {
		return nil
	}
	if err := check("MPI_Testsome", C.gr_test(C.int(r.slots), r.handles, r.indices, r.out.c)); err != nil {
		return err
	}
	for _, i := range unsafe.Slice(r.indices, int(r.out.c.count)) {
		completed(int(i))
	}
	return nil
}

// send begins to send bytes, and returns the slot. The slot has the buffer that is to be given
// back then, nil for none.
func (r *requests) send(comm communicator, dst, tag int, bytes, buffer []byte) (slot int, err error) {
	i, handle := r.slot(buffer)
	err = check("MPI_Isend", C.gr_isend(comm.c, unsafe.Pointer(unsafe.SliceData(bytes)), C.size_t(len(bytes)), C.size_t(longestCount), C.int(dst), C.int(tag), handle))
	if err != nil {
		C.gr_null(handle)
		r.done(i)
	}
	return i, err
}

// receive begins to receive the next message from a source with a tag into the end of a
// buffer, from an offset on. It returns the slot, and whether the message has been received already.
func (r *requests) receive(comm communicator, src, tag int, buffer []byte, from int) (slot int, there bool, err error) {
	i, handle := r.slot(buffer)
	bytes := buffer[from:]
	err = check("MPI_Irecv", C.gr_receive(comm.c, unsafe.Pointer(unsafe.SliceData(bytes)), C.size_t(len(bytes)), C.size_t(longestCount), C.int(src), C.int(tag), handle, r.out.c))
	return i, err == nil && r.out.c.flag != 0, err
}

// receiveNow receives a short message that probe found.
func receiveNow(comm communicator, v envelope, buffer []byte) error {
	return check("MPI_Recv", C.gr_receive_now(comm.c, unsafe.Pointer(unsafe.SliceData(buffer)), C.size_t(len(buffer)), C.int(v.source), C.int(v.tag)))
}

// duplicate begins to make a communicator. All processes do so in the same order.
func (r *requests) duplicate(comm communicator) error {
	_, handle := r.slot(nil)
	return check("MPI_Comm_idup", C.gr_duplicate(comm.c, handle))
}

// sum begins to sum a number over all processes.
func (r *requests) sum(comm communicator, number int64) error {
	_, handle := r.slot(nil)
	*comm.numbers = C.longlong(number)
	return check("MPI_Iallreduce", C.gr_sum(comm.c, comm.numbers, handle))
}

// release frees the memory of a table without operations.
func (r *requests) release() {
	C.free(unsafe.Pointer(r.handles))
	C.free(unsafe.Pointer(r.indices))
	C.free(unsafe.Pointer(r.out.c))
	*r = requests{}
}
