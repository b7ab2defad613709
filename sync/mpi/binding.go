//go:build mpi

package mpi

/*
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

// The communicators: messages of the engines, and heartbeats.
enum { gr_data, gr_beat, gr_comms };
static MPI_Comm gr_comm[gr_comms];

// What a call gives back; in C memory, so that no call allocates.
typedef struct { int flag, source, count; } gr_out;

static int gr_open(int *provided, int *rank, int *size) {
	int e = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, provided);
	if (e == MPI_SUCCESS) e = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (e == MPI_SUCCESS) e = MPI_Comm_rank(MPI_COMM_WORLD, rank);
	if (e == MPI_SUCCESS) e = MPI_Comm_size(MPI_COMM_WORLD, size);
	for (int i = 0; i < gr_comms && e == MPI_SUCCESS; i++) {
		e = MPI_Comm_dup(MPI_COMM_WORLD, &gr_comm[i]);
		if (e == MPI_SUCCESS) e = MPI_Comm_set_errhandler(gr_comm[i], MPI_ERRORS_RETURN);
	}
	return e;
}

static int gr_serialized(int provided) { return provided >= MPI_THREAD_SERIALIZED; }

static int gr_isend(int comm, void *bytes, int n, int dst, MPI_Request *request) {
	return MPI_Isend(bytes, n, MPI_BYTE, dst, 0, gr_comm[comm], request);
}

static int gr_probe(int comm, gr_out *out) {
	MPI_Status status;
	int e = MPI_Iprobe(MPI_ANY_SOURCE, 0, gr_comm[comm], &out->flag, &status);
	if (e != MPI_SUCCESS || !out->flag) return e;
	out->source = status.MPI_SOURCE;
	return MPI_Get_count(&status, MPI_BYTE, &out->count);
}

// Receives what gr_probe found; flag tells whether that is done at once.
static int gr_receive(int comm, void *bytes, int n, int source, MPI_Request *request, gr_out *out) {
	int e = MPI_Irecv(bytes, n, MPI_BYTE, source, 0, gr_comm[comm], request);
	return e == MPI_SUCCESS ? MPI_Test(request, &out->flag, MPI_STATUS_IGNORE) : e;
}

static int gr_barrier(MPI_Request *request) { return MPI_Ibarrier(gr_comm[gr_data], request); }

// MPICH's header makes GCC believe that MPI_STATUSES_IGNORE is written to.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

// Gives the indices of the requests that are done; count is 0 when none is.
static int gr_test(int n, MPI_Request *requests, int *indices, gr_out *out) {
	int e = MPI_Testsome(n, requests, &out->count, indices, MPI_STATUSES_IGNORE);
	if (out->count == MPI_UNDEFINED) out->count = 0;
	return e;
}

static void gr_null(MPI_Request *request) { *request = MPI_REQUEST_NULL; }
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"
)

// The communicators.
const (
	dataComm = C.gr_data
	beatComm = C.gr_beat
)

// check turns an error code of MPI into an error.
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

func finalise() error { return check("MPI_Finalize", C.MPI_Finalize()) }

func yieldThread() { C.sched_yield() }

// Available tells whether this build has MPI.
func Available() bool { return true }

// Version returns the name and version of the MPI library.
func Version() string {
	text := (*C.char)(C.malloc(C.MPI_MAX_LIBRARY_VERSION_STRING))
	defer C.free(unsafe.Pointer(text))
	var n C.int
	if C.MPI_Get_library_version(text, &n) != C.MPI_SUCCESS {
		return "MPI of an unknown version"
	}
	return C.GoStringN(text, n)
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

// outcome is what a call gave back, in C memory.
type outcome struct{ c *C.gr_out }

func newOutcome() outcome {
	return outcome{(*C.gr_out)(C.calloc(1, C.size_t(unsafe.Sizeof(C.gr_out{}))))}
}

// probe tells whether a message is there, of whom and how long.
func (o outcome) probe(comm C.int) (found bool, source, length int, err error) {
	err = check("MPI_Iprobe", C.gr_probe(comm, o.c))
	return err == nil && o.c.flag != 0, int(o.c.source), int(o.c.count), err
}

// requests is a table of operations that MPI has not completed, each with a
// buffer. A slot is used again when its operation is done.
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

// test calls completed with each slot whose operation is done, which may call
// done.
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

// send begins to send a buffer.
func (r *requests) send(comm C.int, dst int, buffer []byte) error {
	i, handle := r.slot(buffer)
	err := check("MPI_Isend", C.gr_isend(comm, unsafe.Pointer(unsafe.SliceData(buffer)), C.int(len(buffer)), C.int(dst), handle))
	if err != nil {
		C.gr_null(handle)
		r.done(i)
	}
	return err
}

// receive begins to receive a message that probe found. It returns the slot, and
// whether the message is there already.
func (r *requests) receive(comm C.int, src int, buffer []byte) (slot int, there bool, err error) {
	i, handle := r.slot(buffer)
	err = check("MPI_Irecv", C.gr_receive(comm, unsafe.Pointer(unsafe.SliceData(buffer)), C.int(len(buffer)), C.int(src), handle, r.out.c))
	return i, err == nil && r.out.c.flag != 0, err
}

// barrier begins a barrier of all processes.
func (r *requests) barrier() error {
	_, handle := r.slot(nil)
	return check("MPI_Ibarrier", C.gr_barrier(handle))
}
