package mpi

import "gigarank/sync"

// Job is what the launcher has started: host processes connected by MPI, as one
// of them sees them. It serves any number of simulations, one after another.
type Job interface {
	// Rank is the number of this process, from 0.
	Rank() int
	// Size is the number of processes.
	Size() int
	// Transport returns this process's end of a new transport between all
	// processes. It is collective: every process calls it equally often, in one
	// order with Close of the transports, and it returns when all have. A message
	// of one transport is never received from another.
	Transport() (sync.Transport, error)
	// Close finalises MPI. It is collective, after the Close of all transports.
	Close() error
}
