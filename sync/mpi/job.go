package mpi

import (
	"time"

	"gigarank/sync"
)

// UsualLimit is how long a process may be silent before it counts as lost, unless the user
// says otherwise.
const UsualLimit = 7 * time.Second

// Job is the set of host processes that the launcher has started, connected by MPI, as
// one of them sees it. It serves any number of simulations, one after another.
type Job interface {
	// Rank returns the number of this process, from 0.
	Rank() int
	// Size returns the number of processes.
	Size() int
	// Transport returns this process's end of a new transport between all processes. It
	// is collective and returns when all have called it. Every process calls it equally
	// often, in one order with Close of the transports. A message of one transport is
	// never received from another.
	Transport() (sync.Transport, error)
	// RollCall tells some processes, after a loss, that this one is there. It returns the
	// processes that have told this one so when the wait is over, and this one.
	RollCall(to []int, wait time.Duration) map[int]bool
	// Close finalises MPI. It is collective, after the Close of all transports.
	Close() error
}
