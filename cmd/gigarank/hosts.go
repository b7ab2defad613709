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
	local       int             // processes on this machine
	over        *stashTransport // MPI; nil if this process is alone
	apart       bool            // some hosts do not answer
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
	t, err := mpi.Open()
	if err != nil {
		return nil, err
	}
	if t.Size() != processes {
		return nil, usageError{fmt.Errorf("%s has started %d processes and MPI connects %d of them: "+
			"use the launcher that belongs to the library (%s)", launcher, processes, t.Size(), mpi.Version())}
	}
	return &hosts{
		index: t.Rank(), size: processes, local: localProcesses(getenv, processes), over: &stashTransport{Transport: t},
	}, nil
}

// localSizes are the variables in which launchers tell how many processes they
// have started on this machine.
var localSizes = []string{"OMPI_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE"}

// localProcesses is the number of processes of the run on this machine: what the
// launcher says, or else one for each core.
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

// transports returns the transports of the engines in this process; alone is
// their number if there is no other process.
func (h *hosts) transports(alone int) []sync.Transport {
	if h.over == nil {
		return sync.NewInProcess(alone)
	}
	return []sync.Transport{h.over}
}

// report is what each host tells about itself, and what all of them add up to.
type report struct {
	code int   // exit code; the largest of all hosts counts
	peak int64 // bytes of memory; the sum of all hosts
}

const (
	reportMagic = 0x6769676172616e6b
	reportSize  = 24
)

// reportTime is how long host 0 may take to write its document after a failure.
const reportTime = 2 * time.Second

// agree combines the reports of all hosts. It is called by all of them, before
// their engines begin or after they have ended. After an error the hosts are no
// longer together, and close ends them.
func (h *hosts) agree(mine report, limit time.Duration) (report, error) {
	if h.over == nil {
		return mine, nil
	}
	all, err := h.combine(mine, time.Now().Add(limit))
	h.apart = h.apart || err != nil
	return all, err
}

func (h *hosts) combine(mine report, deadline time.Time) (report, error) {
	if h.index != 0 {
		if err := h.over.sendReport(0, mine); err != nil {
			return mine, err
		}
		return h.over.receiveReport(deadline)
	}
	for range h.size - 1 {
		theirs, err := h.over.receiveReport(deadline)
		if err != nil {
			return mine, err
		}
		mine = report{max(mine.code, theirs.code), mine.peak + theirs.peak}
	}
	for dst := 1; dst < h.size; dst++ {
		if err := h.over.sendReport(dst, mine); err != nil {
			return mine, err
		}
	}
	return mine, nil
}

// close ends the use of MPI. Hosts that are no longer together cannot end it in
// order: they are ended with an exit code, after host 0 has had the time to
// report.
func (h *hosts) close(code int) error {
	switch {
	case h.over == nil:
		return nil
	case !h.apart:
		return h.over.Close()
	case h.index != 0:
		time.Sleep(reportTime)
	}
	mpi.Abort(code)
	return nil
}

// stashTransport is a transport over which reports go besides the packets of the
// engines. Either may come while the other is waited for, since hosts begin and
// end at different times; it is kept.
type stashTransport struct {
	sync.Transport
	packets []packet
	reports []report
}

type packet struct {
	src     int
	message []byte
}

// Receive implements sync.Transport. It returns packets of engines only.
func (t *stashTransport) Receive() (int, []byte, error) {
	if len(t.packets) > 0 {
		first := t.packets[0]
		t.packets = t.packets[1:]
		return first.src, first.message, nil
	}
	for {
		src, message, err := t.Transport.Receive()
		if err != nil || message == nil || !t.takeReport(message) {
			return src, message, err
		}
	}
}

// takeReport keeps a message if it is a report. Packets of engines are longer.
func (t *stashTransport) takeReport(message []byte) bool {
	le := binary.LittleEndian
	if len(message) != reportSize || le.Uint64(message) != reportMagic {
		return false
	}
	t.reports = append(t.reports, report{code: int(le.Uint64(message[8:])), peak: int64(le.Uint64(message[16:]))})
	t.Free(message)
	return true
}

func (t *stashTransport) sendReport(dst int, r report) error {
	message := t.Alloc(reportSize)
	le := binary.LittleEndian
	le.PutUint64(message, reportMagic)
	le.PutUint64(message[8:], uint64(r.code))
	le.PutUint64(message[16:], uint64(r.peak))
	return t.Send(dst, message)
}

var errNoReport = errors.New("another host process does not answer: it has ended or lost its network")

// receiveReport waits for the next report.
func (t *stashTransport) receiveReport(deadline time.Time) (report, error) {
	for len(t.reports) == 0 {
		src, message, err := t.Transport.Receive()
		switch {
		case err != nil:
			return report{}, err
		case message == nil && time.Now().After(deadline):
			return report{}, errNoReport
		case message == nil:
			if err := t.Wait(10 * time.Millisecond); err != nil {
				return report{}, err
			}
		case !t.takeReport(message):
			t.packets = append(t.packets, packet{src, message})
		}
	}
	first := t.reports[0]
	t.reports = t.reports[1:]
	return first, nil
}
