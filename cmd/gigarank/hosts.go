package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"gigarank/sync"
	"gigarank/sync/mpi"
)

// hosts are the host processes of a run, as one of them sees them.
type hosts struct {
	index, size int
	local       int             // processes on this machine
	over        *stashTransport // MPI; nil if this process is alone
}

// openHosts joins the other host processes if a launcher has started several.
func openHosts(getenv func(string) string) (*hosts, error) {
	launch := mpi.Detect(getenv)
	if launch.Size <= 1 {
		return &hosts{size: 1, local: 1}, nil
	}
	if !mpi.Available() {
		return nil, usageError{fmt.Errorf("%s has started %d processes, and this build has no MPI: "+
			"build with go build -tags mpi ./cmd/gigarank, or start one process", launch.Launcher, launch.Size)}
	}
	t, err := mpi.Open()
	if err != nil {
		return nil, err
	}
	if t.Size() != launch.Size {
		return nil, fmt.Errorf("%s has started %d processes and MPI connects %d of them: "+
			"use the launcher that belongs to the library (%s)", launch.Launcher, launch.Size, t.Size(), mpi.Version())
	}
	return &hosts{t.Rank(), t.Size(), max(launch.Local, 1), &stashTransport{Transport: t}}, nil
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
	reportMagic = 0x6769676172616e6b // tells reports from what engines send
	reportSize  = 24
)

// agree combines the reports of all hosts. It is called by all of them, before
// their engines begin or after they have ended.
func (h *hosts) agree(mine report, limit time.Duration) (report, error) {
	if h.over == nil {
		return mine, nil
	}
	deadline := time.Now().Add(limit)
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

// abandon leaves MPI as it is: an engine that does not end may still use it.
func (h *hosts) abandon() { h.over = nil }

// close ends the use of MPI.
func (h *hosts) close() error {
	if h.over == nil {
		return nil
	}
	return h.over.Close()
}

// stashTransport is a transport over which reports go besides the messages of
// the engines. A host may get messages of another one's engine while it still
// waits for a report; they are kept for its own engine.
type stashTransport struct {
	sync.Transport
	stash []stashed
}

type stashed struct {
	src     int
	message []byte
}

// Receive implements sync.Transport.
func (t *stashTransport) Receive() (int, []byte, error) {
	if len(t.stash) == 0 {
		return t.Transport.Receive()
	}
	first := t.stash[0]
	t.stash = t.stash[1:]
	return first.src, first.message, nil
}

func (t *stashTransport) sendReport(dst int, r report) error {
	message := t.Alloc(reportSize)
	binary.LittleEndian.PutUint64(message, reportMagic)
	binary.LittleEndian.PutUint64(message[8:], uint64(r.code))
	binary.LittleEndian.PutUint64(message[16:], uint64(r.peak))
	return t.Send(dst, message)
}

var errNoReport = errors.New("another host process does not answer: it has ended or lost its network")

// receiveReport waits for the next report and stashes everything else.
func (t *stashTransport) receiveReport(deadline time.Time) (report, error) {
	for {
		src, message, err := t.Transport.Receive()
		switch {
		case err != nil:
			return report{}, err
		case message == nil:
			if time.Now().After(deadline) {
				return report{}, errNoReport
			}
			if err := t.Wait(10 * time.Millisecond); err != nil {
				return report{}, err
			}
		case len(message) == reportSize && binary.LittleEndian.Uint64(message) == reportMagic:
			r := report{
				code: int(binary.LittleEndian.Uint64(message[8:])),
				peak: int64(binary.LittleEndian.Uint64(message[16:])),
			}
			t.Free(message)
			return r, nil
		default:
			t.stash = append(t.stash, stashed{src, message})
		}
	}
}
