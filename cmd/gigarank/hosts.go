package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"gigarank/sync"
	"gigarank/sync/mpi"
)

// hosts are the host processes of a run, as one of them sees them.
type hosts struct {
	index, size int
	local       int            // processes on this machine
	job         mpi.Job        // nil if this process is alone
	talk        sync.Transport // for messages between hosts outside simulations
	packets     sync.Transport // of the latest simulation
	apart       bool           // some hosts do not answer
}

// openHosts joins the other host processes if a launcher has started several.
func openHosts(getenv func(string) string) (*hosts, error) {
	launcher, processes := mpi.Launched(getenv)
	if processes <= 1 {
		return &hosts{size: 1, local: 1}, nil
	}
	if !mpi.Available() {
		return nil, usageError{fmt.Errorf("%s has started %d processes, and this build has no MPI: "+
			"build with go build -tags mpi ./cmd/gigarank, or start one process", launcher, processes)}
	}
	job, err := mpi.Open()
	if err != nil {
		return nil, err
	}
	if job.Size() != processes {
		return nil, usageError{fmt.Errorf("%s has started %d processes and MPI connects %d of them: "+
			"use the launcher that belongs to the library (%s)", launcher, processes, job.Size(), mpi.Version())}
	}
	return joinHosts(job, localProcesses(getenv, processes))
}

// joinHosts returns the hosts that are the processes of a job.
func joinHosts(job mpi.Job, local int) (*hosts, error) {
	talk, err := job.Transport()
	if err != nil {
		return nil, err
	}
	return &hosts{index: job.Rank(), size: job.Size(), local: local, job: job, talk: talk}, nil
}

// localSizes are the variables that launchers set to the number of processes on this
// machine.
var localSizes = []string{"OMPI_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE"}

// localProcesses returns the number of processes of the run on this machine: the
// launcher's number, or else one for each core.
func localProcesses(getenv func(string) string, processes int) int {
	for _, name := range localSizes {
		if n, err := strconv.Atoi(getenv(name)); err == nil && n >= 1 && n <= processes {
			return n
		}
	}
	// "32(x2),16": 32 processes on each of two machines, 16 on a third.
	most, _, _ := strings.Cut(getenv("SLURM_STEP_TASKS_PER_NODE"), "(")
	most, _, _ = strings.Cut(most, ",")
	if n, err := strconv.Atoi(most); err == nil && n >= 1 && n <= processes {
		return n
	}
	return min(processes, runtime.NumCPU())
}

// transports returns the transports of the engines in this process for a new
// simulation. alone is their number if there is no other process. All hosts call it in
// turn with agree, by which they know that the simulation before has ended on all of
// them, well or with a failure.
func (h *hosts) transports(alone int) ([]sync.Transport, error) {
	if h.job == nil {
		return sync.NewInProcess(alone), nil
	}
	err := h.endSimulation()
	if err == nil {
		h.packets, err = h.job.Transport()
	}
	return []sync.Transport{h.packets}, err
}

// endSimulation closes the transport of the latest simulation.
func (h *hosts) endSimulation() error {
	if h.packets == nil {
		return nil
	}
	ended := h.packets
	h.packets = nil
	return ended.Close()
}

// stopLimit returns how long a stopped simulation may take to end by itself.
func (h *hosts) stopLimit() time.Duration {
	if h.job == nil {
		return stopLimit
	}
	return hostsStopLimit
}

// report is one host's report on itself, or the combination of those of all hosts.
type report struct {
	code int   // exit code; the largest of all hosts counts
	peak int64 // bytes of memory; the sum of all hosts
}

const reportSize = 16 // bytes of a message

// reportTime is how long host 0 may take to write its document after a failure.
const reportTime = 2 * time.Second

// agree combines the reports of all hosts. All of them call it, before their engines
// begin or after they have ended. After an error the hosts are apart, and close ends
// them.
func (h *hosts) agree(mine report, limit time.Duration) (report, error) {
	if h.job == nil {
		return mine, nil
	}
	all, err := h.combine(mine, time.Now().Add(limit))
	h.apart = h.apart || err != nil
	return all, err
}

func (h *hosts) combine(mine report, deadline time.Time) (report, error) {
	if h.index != 0 {
		if err := h.sendReport(0, mine); err != nil {
			return mine, err
		}
		return h.receiveReport(deadline)
	}
	for range h.size - 1 {
		theirs, err := h.receiveReport(deadline)
		if err != nil {
			return mine, err
		}
		mine = report{max(mine.code, theirs.code), mine.peak + theirs.peak}
	}
	for dst := 1; dst < h.size; dst++ {
		if err := h.sendReport(dst, mine); err != nil {
			return mine, err
		}
	}
	return mine, nil
}

// close ends the use of MPI. Hosts that are apart cannot end it in order. It ends them
// with an exit code, after host 0 has had the time to report.
func (h *hosts) close(code int) error {
	switch {
	case h.job == nil:
		return nil
	case !h.apart:
		for _, end := range []func() error{h.endSimulation, h.talk.Close, h.job.Close} {
			if err := end(); err != nil {
				return err
			}
		}
		return nil
	case h.index != 0:
		time.Sleep(reportTime)
	}
	mpi.Abort(code)
	return nil
}

func (h *hosts) sendReport(dst int, r report) error {
	message := h.talk.Alloc(reportSize)
	binary.LittleEndian.PutUint64(message, uint64(r.code))
	binary.LittleEndian.PutUint64(message[8:], uint64(r.peak))
	return h.talk.Send(dst, message)
}

var errNoReport = errors.New("another host process does not answer: it has ended or lost its network")

// receiveReport waits for the next report.
func (h *hosts) receiveReport(deadline time.Time) (report, error) {
	for {
		_, message, err := h.talk.Receive()
		if message != nil {
			r := report{code: int(binary.LittleEndian.Uint64(message)), peak: int64(binary.LittleEndian.Uint64(message[8:]))}
			h.talk.Free(message)
			return r, nil
		}
		if err == nil && time.Now().After(deadline) {
			err = errNoReport
		}
		if err == nil {
			err = h.talk.Wait(10 * time.Millisecond)
		}
		if err != nil {
			return report{}, err
		}
	}
}
