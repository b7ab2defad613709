// Package mpi is the transport of package sync over MPI: one engine per host process.
//
// It is a thin binding to the C library. The tag mpi builds it through cgo and
// pkg-config. Without the tag it needs neither a C compiler nor MPI, and the error of
// Open says how to build with it.
//
//	go build -tags mpi ./...            Open MPI (pkg-config ompi-c)
//	go build -tags mpi,mpich ./...      MPICH and its kin (pkg-config mpich)
//	go build -tags mpi,mpiflags ./...   any other: CGO_CFLAGS and CGO_LDFLAGS, or CC=mpicc
//
// The test, under the launcher on the PATH, starts itself with 1 to 4 processes:
//
//	go test -tags mpi ./sync/mpi
//
// # Model
//
// A process opens MPI once and gets a [Job]. Each simulation takes a transport from it;
// a study runs hundreds of simulations under one launcher:
//
//	job, err := mpi.Open(mpi.UsualLimit)
//	for each simulation, in all processes alike {
//		transport, err := job.Transport()
//		simulate over transport, to the end or until stopped
//		err = transport.Close()
//	}
//	err = job.Close()
//
// A transport has a communicator of its own, a duplicate of MPI_COMM_WORLD. Its Close
// receives the messages that failed or stopped simulations have left behind. MPI may
// use the communicator's number again, and the later communicator must not get them.
// Transports may be in use at the same time.
//
// A message is one nonblocking send of bytes from C memory, which MPI may keep until it
// is done. Messages are probed for and received without blocking. A large message whose
// sender is busy therefore holds up only later messages from the same sender. MPI is asked
// for MPI_THREAD_SERIALIZED, and one lock serialises all calls.
//
// A goroutine of its own, bound to the thread that initialised MPI, lives as long as
// the job. It progresses sends while the engine computes. It also exchanges heartbeats
// with the neighbours in a tree over all processes. So a process counts as lost, with a
// *sync.Lost, when it is dead or cut off for some seconds, and not when its engine is
// busy. Who notices a loss tells the others over the tree: all name the same process. A
// loss breaks all transports of the job. Heartbeats go on: by RollCall processes find out after a
// loss who is still there.
//
// Wait polls: MPI has no portable way to sleep until a message comes. It spins briefly,
// then yields the processor, then sleeps for at most 100 us at a time.
//
// # Invariants
//
// Errors of MPI are values (MPI_ERRORS_RETURN) with MPI's own text. After one, and
// after a loss, the job cannot be closed; [Abort] ends it. MPI can be initialised once
// in the life of a process, so Open succeeds once.
//
// When a communicator is freed, no message is on its way over it.
package mpi
