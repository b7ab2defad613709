//go:build mpi

package mpi

/*
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int gr_start(int *rank, int *size) {
	int e = MPI_Init(NULL, NULL);
	if (e == MPI_SUCCESS) e = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (e == MPI_SUCCESS) e = MPI_Comm_rank(MPI_COMM_WORLD, rank);
	if (e == MPI_SUCCESS) e = MPI_Comm_size(MPI_COMM_WORLD, size);
	return e;
}

// The processes that share the memory of this one.
static MPI_Comm gr_near;

// Stores for each process the least rank of the processes that share its memory.
static int gr_nodes(int rank, int *nodes) {
	int first = rank;
	int e = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &gr_near);
	if (e == MPI_SUCCESS) e = MPI_Bcast(&first, 1, MPI_INT, 0, gr_near);
	if (e == MPI_SUCCESS) e = MPI_Allgather(&first, 1, MPI_INT, nodes, 1, MPI_INT, MPI_COMM_WORLD);
	return e;
}

#define TRY(call) do { int code = (call); if (code != MPI_SUCCESS) return code; } while (0)
#define SEND(n) TRY(MPI_Send(buffer, (int)(n), MPI_BYTE, partner, 0, MPI_COMM_WORLD))
#define RECEIVE_INTO(into, n) TRY(MPI_Recv(into, (int)(n), MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE))
#define RECEIVE(n) RECEIVE_INTO(buffer, n)

// The size of each buffer, if long messages move on through it, else 0.
static long gr_room;
enum { GR_LONG = 1 << 20 };

static void gr_move_on(long room) { gr_room = room; }

static int gr_both_ways(long n) { return gr_room > 0 && n >= GR_LONG; }

// Returns where a message lies that takes n bytes of a buffer: at its begin, or, if it is a long
// one that moves on, behind the one before. So caches do not hold it any more.
static long gr_place(long n) {
	static long next;
	if (gr_room == 0 || n < GR_LONG) return 0;
	long place = next + n > gr_room ? 0 : next;
	next = place + n;
	return place;
}

// There and back; seconds is half of the mean of the exchanges after the first. Each process sends
// from one buffer and receives into another. What it has just received lies changed in its cache,
// and takes longer to send than what has stood there. Long messages that move on go both ways at a
// time, as those of a program that exchanges all its data; seconds is that of both.
static int gr_ping_pong(char *buffer, char *received, int partner, int begins, long n, int times, double *seconds) {
	double start = 0;
	char *first = buffer;
	for (int i = 0; i <= times; i++) {
		long place = gr_place(n);
		buffer = first + place;
		if (i == 1) start = MPI_Wtime();
		if (gr_both_ways(n)) {
			TRY(MPI_Sendrecv(buffer, (int)n, MPI_BYTE, partner, 0, received + place, (int)n, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		} else if (begins) { SEND(n); RECEIVE_INTO(received + place, n); } else { RECEIVE_INTO(received + place, n); SEND(n); }
	}
	*seconds = (MPI_Wtime() - start) / times / (gr_both_ways(n) ? 1 : 2);
	return MPI_SUCCESS;
}

// The time in the sender's call. An answer keeps messages from queueing.
static int gr_send_time(char *buffer, int partner, int begins, long n, int times, double *seconds) {
	double all = 0;
	for (int i = 0; i <= times; i++) {
		if (begins) {
			double start = MPI_Wtime();
			SEND(n);
			if (i > 0) all += MPI_Wtime() - start;
			RECEIVE(0);
		} else { RECEIVE(n); SEND(0); }
	}
	*seconds = all / times;
	return MPI_SUCCESS;
}

// The time in the receiver's call for a message that has come before: it asks for it and
// computes for the given seconds first.
static int gr_receive_time(char *buffer, int partner, int begins, long n, double wait, int times, double *seconds) {
	double all = 0;
	for (int i = 0; i <= times; i++) {
		if (begins) {
			SEND(0);
			double start = MPI_Wtime();
			while (MPI_Wtime() - start < wait) {}
			start = MPI_Wtime();
			RECEIVE(n);
			if (i > 0) all += MPI_Wtime() - start;
		} else { RECEIVE(0); SEND(n); }
	}
	*seconds = all / times;
	return MPI_SUCCESS;
}

// The time between two messages of a train, which an answer ends.
static int gr_gap(char *buffer, int partner, int begins, long n, int times, double *seconds) {
	double start = MPI_Wtime();
	for (int i = 0; i < times; i++) {
		if (begins) { SEND(n); } else { RECEIVE(n); }
	}
	if (begins) { RECEIVE(0); } else { SEND(0); }
	*seconds = (MPI_Wtime() - start) / times;
	return MPI_SUCCESS;
}

// The time in a sender's call that begins when its receiver is ready to be late.
static int gr_late_send(char *buffer, int partner, long n, double *took) {
	RECEIVE(0);
	double start = MPI_Wtime();
	SEND(n);
	*took = MPI_Wtime() - start;
	return MPI_SUCCESS;
}

// Whether the sender's call takes as long as its receiver is late. Before the receive the receiver
// probes for other messages, so that it makes progress; if the receive is posted, it computes after it.
// It is the least of some calls that counts.
static int gr_waits(char *buffer, int partner, int begins, long n, int posted, double late, int times, int *waits) {
	double least = 0;
	for (int i = 0; i < times; i++) {
		if (begins) {
			double took;
			TRY(gr_late_send(buffer, partner, n, &took));
			least = i == 0 || took < least ? took : least;
			continue;
		}
		MPI_Request request = MPI_REQUEST_NULL;
		if (posted) TRY(MPI_Irecv(buffer, (int)n, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &request));
		SEND(0);
		double start = MPI_Wtime();
		while (MPI_Wtime() - start < late) {
			int other;
			if (!posted) TRY(MPI_Iprobe(partner, 1, MPI_COMM_WORLD, &other, MPI_STATUS_IGNORE));
		}
		if (!posted) RECEIVE(n);
		TRY(MPI_Wait(&request, MPI_STATUS_IGNORE));
	}
	*waits = least > late / 2;
	if (begins) TRY(MPI_Send(waits, 1, MPI_INT, partner, 0, MPI_COMM_WORLD));
	else TRY(MPI_Recv(waits, 1, MPI_INT, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	return MPI_SUCCESS;
}

// Whether the sender's call takes until its receiver waits, who computes, posts the receive of a message that has come
// meanwhile, computes on and waits. It is the least of some calls that counts.
static int gr_waits_for_wait(char *buffer, int partner, int begins, long n, double late, int times, int *waits) {
	double least = 0;
	for (int i = 0; i < times; i++) {
		if (begins) {
			double took;
			TRY(gr_late_send(buffer, partner, n, &took));
			least = i == 0 || took < least ? took : least;
			continue;
		}
		MPI_Request request;
		SEND(0);
		double start = MPI_Wtime();
		while (MPI_Wtime() - start < late) {}
		TRY(MPI_Irecv(buffer, (int)n, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &request));
		start = MPI_Wtime();
		while (MPI_Wtime() - start < late) {}
		TRY(MPI_Wait(&request, MPI_STATUS_IGNORE));
	}
	*waits = least > 1.5 * late;
	if (begins) TRY(MPI_Send(waits, 1, MPI_INT, partner, 0, MPI_COMM_WORLD));
	else TRY(MPI_Recv(waits, 1, MPI_INT, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	return MPI_SUCCESS;
}

// The time of a collective that no process leaves before all have entered: the mean over
// calls in a row after the first.
static int gr_collective(char *buffer, int operation, int near, long n, int times, double *seconds) {
	MPI_Comm group = near ? gr_near : MPI_COMM_WORLD;
	double start = 0;
	for (int i = 0; i <= times; i++) {
		if (i == 1) start = MPI_Wtime();
		switch (operation) {
		case 0: TRY(MPI_Barrier(group)); break;
		case 1: TRY(MPI_Allreduce(MPI_IN_PLACE, buffer, (int)(n / 8), MPI_DOUBLE, MPI_SUM, group)); break;
		}
	}
	*seconds = (MPI_Wtime() - start) / times;
	return MPI_SUCCESS;
}

// The time of a bcast by process 0 and of a barrier after it, which keeps process 0 from running ahead: the mean over pairs in a
// row after the first. The others receive where a ping-pong does.
static int gr_bcast(char *buffer, char *received, int rank, long n, int times, double *seconds) {
	double start = 0;
	for (int i = 0; i <= times; i++) {
		if (i == 1) start = MPI_Wtime();
		TRY(MPI_Bcast(rank == 0 ? buffer : received, (int)n, MPI_BYTE, 0, MPI_COMM_WORLD));
		TRY(MPI_Barrier(MPI_COMM_WORLD));
	}
	*seconds = (MPI_Wtime() - start) / times;
	return MPI_SUCCESS;
}

// The time of a sum of doubles into others, without communication.
static int gr_reduce(char *buffer, long n, int times, double *seconds) {
	double start = 0;
	for (int i = 0; i <= times; i++) {
		if (i == 1) start = MPI_Wtime();
		TRY(MPI_Reduce_local(buffer, buffer + n, (int)(n / 8), MPI_DOUBLE, MPI_SUM));
	}
	*seconds = (MPI_Wtime() - start) / times;
	return MPI_SUCCESS;
}

// The time of a message to oneself, while the others of the node do likewise.
static int gr_local_copy(char *buffer, int rank, long n, int times, double *seconds) {
	double all = 0;
	for (int i = 0; i <= times; i++) {
		char *from = buffer + gr_place(2 * n);
		TRY(MPI_Barrier(gr_near));
		double start = MPI_Wtime();
		TRY(MPI_Sendrecv(from, (int)n, MPI_BYTE, rank, 0, from + n, (int)n, MPI_BYTE, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		if (i > 0) all += MPI_Wtime() - start;
	}
	*seconds = all / times;
	return MPI_SUCCESS;
}

// A process that waits here sleeps between tests, so that other processes can measure on processors that all of them share.
static int gr_most(int mine, int *most) {
	MPI_Request request;
	TRY(MPI_Iallreduce(&mine, most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request));
	for (int over = 0;;) {
		TRY(MPI_Test(&request, &over, MPI_STATUS_IGNORE));
		if (over) return MPI_SUCCESS;
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
	}
}
*/
import "C"

import (
	"errors"
	"runtime"
	"time"
	"unsafe"
)

// link implements Link.
type link struct {
	rank, size int
	cold       bool
	nodes      []int
	buffer     *C.char
	received   *C.char // of ping-pongs
}

// OpenLink initialises MPI for measurements. longest is the greatest size of a message in
// bytes. If cold, messages of 1 MiB or more in ping-pongs and of a process to itself come from and go
// to memory that caches do not hold, and those of ping-pongs go both ways at a time. A process opens either a link or a job, once.
func OpenLink(longest int, cold bool) (Link, error) {
	if !opened.CompareAndSwap(false, true) {
		return nil, errors.New("MPI is open already: a process can initialise it once only")
	}
	runtime.LockOSThread()
	l := &link{cold: cold, buffer: (*C.char)(C.calloc(C.size_t(longest), 1)), received: (*C.char)(C.calloc(C.size_t(longest), 1))}
	if l.buffer == nil || l.received == nil {
		return nil, errors.New("no memory for the buffers of messages")
	}
	// Pages that nothing was written to are all one page of the system, which caches hold.
	C.memset(unsafe.Pointer(l.buffer), 1, C.size_t(longest))
	C.memset(unsafe.Pointer(l.received), 1, C.size_t(longest))
	if cold {
		C.gr_move_on(C.long(longest))
	}
	var rank, size C.int
	if err := check("starting MPI", C.gr_start(&rank, &size)); err != nil {
		return nil, err
	}
	l.rank, l.size = int(rank), int(size)
	nodes := (*C.int)(C.calloc(C.size_t(size), C.size_t(unsafe.Sizeof(rank))))
	defer C.free(unsafe.Pointer(nodes))
	if err := check("finding the nodes", C.gr_nodes(rank, nodes)); err != nil {
		return nil, err
	}
	for _, first := range unsafe.Slice(nodes, l.size) {
		l.nodes = append(l.nodes, int(first))
	}
	return l, nil
}

func (l *link) Rank() int { return l.rank }

func (l *link) Nodes() []int { return l.nodes }

func (l *link) Cold() bool { return l.cold }

func (l *link) PingPong(partner int, begins bool, bytes, times int) (float64, error) {
	var seconds C.double
	err := check("a ping-pong", C.gr_ping_pong(l.buffer, l.received, C.int(partner), truth(begins), C.long(bytes), C.int(times), &seconds))
	return float64(seconds), err
}

func (l *link) SendTime(partner int, begins bool, bytes, times int) (float64, error) {
	var seconds C.double
	err := check("sending", C.gr_send_time(l.buffer, C.int(partner), truth(begins), C.long(bytes), C.int(times), &seconds))
	return float64(seconds), err
}

func (l *link) ReceiveTime(partner int, begins bool, bytes int, wait float64, times int) (float64, error) {
	var seconds C.double
	err := check("receiving", C.gr_receive_time(l.buffer, C.int(partner), truth(begins), C.long(bytes), C.double(wait), C.int(times), &seconds))
	return float64(seconds), err
}

func (l *link) Gap(partner int, begins bool, bytes, times int) (float64, error) {
	var seconds C.double
	err := check("a train of messages", C.gr_gap(l.buffer, C.int(partner), truth(begins), C.long(bytes), C.int(times), &seconds))
	return float64(seconds), err
}

func (l *link) Waits(partner int, begins bool, bytes int, posted bool, late float64, times int) (bool, error) {
	var waits C.int
	err := check("a late receiver", C.gr_waits(l.buffer, C.int(partner), truth(begins), C.long(bytes), truth(posted), C.double(late), C.int(times), &waits))
	return waits != 0, err
}

func (l *link) WaitsForWait(partner int, begins bool, bytes int, late float64, times int) (bool, error) {
	var waits C.int
	err := check("a receiver that posts late and computes on", C.gr_waits_for_wait(l.buffer, C.int(partner), truth(begins), C.long(bytes), C.double(late), C.int(times), &waits))
	return waits != 0, err
}

// The collectives that a link measures in a row.
var linkOperations = map[string]C.int{"barrier": 0, "allreduce": 1}

func (l *link) Collective(operation string, near bool, bytes, times int) (float64, error) {
	number, known := linkOperations[operation]
	if !known {
		return 0, errors.New("no measurement of the collective " + operation)
	}
	var seconds C.double
	err := check("a collective", C.gr_collective(l.buffer, number, truth(near), C.long(bytes), C.int(times), &seconds))
	return float64(seconds), err
}

func (l *link) Bcast(bytes, times int) (float64, error) {
	var seconds C.double
	err := check("a bcast", C.gr_bcast(l.buffer, l.received, C.int(l.rank), C.long(bytes), C.int(times), &seconds))
	return float64(seconds), err
}

func (l *link) Reduce(bytes, times int) (float64, error) {
	var seconds C.double
	err := check("MPI_Reduce_local", C.gr_reduce(l.buffer, C.long(bytes), C.int(times), &seconds))
	return float64(seconds), err
}

func (l *link) LocalCopy(bytes, times int) (float64, error) {
	var seconds C.double
	err := check("a message to oneself", C.gr_local_copy(l.buffer, C.int(l.rank), C.long(bytes), C.int(times), &seconds))
	return float64(seconds), err
}

func (l *link) Most(number int) (int, error) {
	var most C.int
	err := check("MPI_Allreduce", C.gr_most(C.int(number), &most))
	return int(most), err
}

// betweenRuns is long beside a run. On a virtual machine messages between two cores were seen to
// take twice as long for some seconds.
const betweenRuns = 200 * time.Millisecond

func (l *link) Pause() { time.Sleep(betweenRuns) }

func (l *link) Close() error {
	C.free(unsafe.Pointer(l.buffer))
	C.free(unsafe.Pointer(l.received))
	return finalise()
}

func truth(b bool) C.int {
	if b {
		return 1
	}
	return 0
}
