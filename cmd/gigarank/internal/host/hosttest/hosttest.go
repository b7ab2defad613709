// Package hosttest has jobs of MPI whose processes are all in the process of a test.
package hosttest

import (
	stdsync "sync"
	"time"

	"gigarank/sync"
	"gigarank/sync/mpi"
)

// process is one process of a job. The first call of Transport makes the transport of all
// processes.
type process struct {
	rank, size int
	taken      int // transports of this process
	lock       *stdsync.Mutex
	made       *[][]sync.Transport // shared by the processes
}

func (j *process) Rank() int    { return j.rank }
func (j *process) Size() int    { return j.size }
func (j *process) Close() error { return nil }

func (j *process) RollCall([]int, time.Duration) map[int]bool { return map[int]bool{j.rank: true} }

func (j *process) Transport() (sync.Transport, error) {
	j.lock.Lock()
	defer j.lock.Unlock()
	if j.taken == len(*j.made) {
		*j.made = append(*j.made, sync.NewInProcess(j.size))
	}
	j.taken++
	return (*j.made)[j.taken-1][j.rank], nil
}

// New returns the n processes of a job.
func New(n int) []mpi.Job {
	all := make([]mpi.Job, n)
	var lock stdsync.Mutex
	var made [][]sync.Transport
	for i := range all {
		all[i] = &process{rank: i, size: n, lock: &lock, made: &made}
	}
	return all
}
