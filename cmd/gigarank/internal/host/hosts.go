package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/sync"
	"gigarank/sync/mpi"
)

// Processes are the host processes of a run, as one of them sees them.
type Processes struct {
	Index, Size int
	Local       int            // processes on this machine
	job         mpi.Job        // nil if this process is alone
	talk        sync.Transport // for messages between hosts outside simulations
	packets     sync.Transport // of the latest simulation
	Apart       bool           // some hosts do not answer
	orphaned    bool           // host 0 does not answer
	names       []string       // of the machines of all hosts, on host 0 once they have agreed on something
	// deputy reports for all if host 0 is lost: the first host on another machine, or else host 1.
	deputy  int
	present map[int]bool // the hosts that have answered the roll call after a loss
}

// Open joins the other host processes if a launcher has started several. A host that is
// silent for the time lostAfter counts as lost; a fault of that text is left to readHosting.
func Open(getenv func(string) string, lostAfter string) (*Processes, error) {
	limit, err := ReadLostAfter(lostAfter)
	if err != nil {
		limit = mpi.UsualLimit // until the hosts refuse together
	}
	launcher, processes := mpi.Launched(getenv)
	if processes <= 1 {
		return &Processes{Size: 1, Local: 1, deputy: 1}, nil
	}
	if !mpi.Available() {
		return nil, terminal.UsageError{fmt.Errorf("%s has started %d processes, and this build has no MPI: "+
			"build with go build -tags mpi ./cmd/gigarank, or start one process", launcher, processes)}
	}
	job, err := mpi.Open(limit)
	if err != nil {
		return nil, err
	}
	if job.Size() != processes {
		return nil, terminal.UsageError{fmt.Errorf("%s has started %d processes and MPI connects %d of them: "+
			"use the launcher that belongs to the library (%s)", launcher, processes, job.Size(), mpi.Version())}
	}
	return Join(job, localProcesses(getenv, processes))
}

// leastLostAfter is the least time after which a host may count as lost. A busy host is late
// now and then.
const leastLostAfter = time.Second

// ReadLostAfter reads the time after which a host counts as lost.
func ReadLostAfter(text string) (time.Duration, error) {
	limit, err := time.ParseDuration(text)
	if err != nil || limit < leastLostAfter {
		return 0, fmt.Errorf("%q is not a time of at least %v, such as 8s or 1m", text, leastLostAfter)
	}
	return limit, nil
}

// DefineLostAfter defines the flag on when a host counts as lost.
func DefineLostAfter(flags *pflag.FlagSet, value *string) {
	flags.StringVar(value, "lost-after", mpi.UsualLimit.String(), "wall time `DUR` of silence after which a host process counts as lost, over MPI")
}

// Join returns the hosts that are the processes of a job.
func Join(job mpi.Job, local int) (*Processes, error) {
	talk, err := job.Transport()
	if err != nil {
		return nil, err
	}
	return &Processes{Index: job.Rank(), Size: job.Size(), Local: local, job: job, talk: talk, deputy: 1}, nil
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

// Leads reports whether this host reports for all: host 0, or its deputy if host 0 is lost.
func (h *Processes) Leads() bool { return h.Index == 0 || h.Index == h.deputy && h.orphaned }

// Transports returns the transports of the engines in this process for a new
// simulation. alone is their number if there is no other process. All hosts call it in
// turn with agree, by which they know that the simulation before has ended on all of
// them, well or with a failure.
func (h *Processes) Transports(alone int) ([]sync.Transport, error) {
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
func (h *Processes) endSimulation() error {
	if h.packets == nil {
		return nil
	}
	ended := h.packets
	h.packets = nil
	return ended.Close()
}

// StopLimit returns how long a stopped simulation may take to end by itself.
func (h *Processes) StopLimit() time.Duration {
	if h.job == nil {
		return StopLimit
	}
	return hostsStopLimit
}

// Report is one host's report on itself, or the combination of those of all hosts.
type Report struct {
	Code int   // exit code; the largest of all hosts counts
	Peak int64 // bytes of memory; the sum of all hosts
	From int   // in a combination: the first host with that code
	// Signal ends this host, 0 if none does; in a combination: host From.
	Signal unix.Signal
	// Run is a number that no two runs share; that of host 0 counts.
	Run uint64
	// apart: host 0 has not heard from all hosts.
	apart bool
	// deputy is that of host 0, in a combination.
	deputy int
}

// ReportOn returns the report of a host that ends by an error, nil if it goes on.
func ReportOn(err error) Report {
	r := Report{Code: terminal.OwnCode(err)}
	var by terminal.Interrupted
	if r.Code != terminal.ExitDone && errors.As(err, &by) {
		r.Signal = by.Signal
	}
	return r
}

// The bytes of a report in a message. The name of the host's machine follows.
const (
	reportSize  = 40
	longestName = 64

	// Parts of the exit code's number.
	fromShift = 16
	apartBit  = 1 << 62
)

// reportTime is how long host 0 may take to write its document after a failure.
const reportTime = 2 * time.Second

// answerTime is how much longer other hosts wait for host 0 than that waits for them.
const answerTime = 80 * time.Millisecond

// Agree combines the reports of all hosts. All of them call it, before their engines
// begin or after they have ended. After an error the hosts are apart, and close ends
// them.
func (h *Processes) Agree(mine Report, limit time.Duration) (Report, error) {
	if h.job == nil {
		return mine, nil
	}
	all, err := h.combine(mine, time.Now().Add(limit))
	h.Apart = h.Apart || err != nil
	return all, err
}

func (h *Processes) combine(mine Report, deadline time.Time) (Report, error) {
	if h.Index != 0 {
		if err := h.sendReport(0, mine); err != nil {
			return mine, err
		}
		_, all, err := h.receiveReport(deadline.Add(answerTime))
		if errors.Is(err, ErrNoReport) {
			h.orphaned = true
			return all, missingHosts{"host process 0", 1}
		}
		h.Apart = h.Apart || all.apart
		h.deputy = max(all.deputy, 1)
		return all, err
	}
	if h.names == nil {
		h.names = make([]string, h.Size)
		h.names[0] = machineName()
	}
	mine.deputy = h.deputy
	heard := make([]bool, h.Size)
	heard[0] = true
	for range h.Size - 1 {
		src, theirs, err := h.receiveReport(deadline)
		if errors.Is(err, ErrNoReport) {
			mine.Code, mine.apart = max(mine.Code, terminal.ExitHost), true
			for dst := 1; dst < h.Size; dst++ {
				if heard[dst] {
					_ = h.sendReport(dst, mine) // who misses it knows as much by then
				}
			}
			return mine, h.missing(heard)
		}
		if err != nil {
			return mine, err
		}
		heard[src] = true
		if theirs.Code > mine.Code || theirs.Code == mine.Code && src < mine.From {
			mine.Code, mine.From, mine.Signal = theirs.Code, src, theirs.Signal
		}
		mine.Peak += theirs.Peak
	}
	h.deputy = max(slices.IndexFunc(h.names, func(name string) bool { return name != h.names[0] }), 1)
	mine.deputy = h.deputy
	for dst := 1; dst < h.Size; dst++ {
		if err := h.sendReport(dst, mine); err != nil {
			return mine, err
		}
	}
	return mine, nil
}

// rollTime is how long host 0 and its deputy wait for others after they have heard of a loss:
// others hear of it within two heartbeats. deputyTime is how much later the deputy writes its
// document, which then replaces that of a host 0 that is cut off.
const (
	rollTime   = 900 * time.Millisecond
	deputyTime = 300 * time.Millisecond
)

// callRoll finds out after a loss who reports for all: host 0, and its deputy if that hears
// nothing of host 0 and is not itself among the few.
func (h *Processes) callRoll() {
	if h.present != nil || h.job == nil {
		return
	}
	wait := time.Duration(0)
	if h.Index == 0 || h.Index == h.deputy {
		wait = rollTime
	}
	h.present = h.job.RollCall([]int{0, h.deputy}, wait)
	h.orphaned = h.Index == h.deputy && !h.present[0] && !h.isolated()
	if h.orphaned {
		time.Sleep(deputyTime)
	}
}

// isolated reports whether this host has heard from less than half of all after a loss.
func (h *Processes) isolated() bool { return 2*len(h.present) < h.Size }

// Close ends the use of MPI. Hosts that are apart cannot end it in order. It ends them
// with an exit code, after host 0 has had the time to report.
func (h *Processes) Close(code int) error {
	switch {
	case h.job == nil:
		return nil
	case !h.Apart:
		for _, end := range []func() error{h.endSimulation, h.talk.Close, h.job.Close} {
			if err := end(); err != nil {
				return err
			}
		}
		return nil
	case h.Index != 0:
		time.Sleep(reportTime)
	}
	mpi.Abort(code)
	return nil
}

// machineName returns the name of this machine as reports have it.
func machineName() string {
	name, err := os.Hostname()
	if err != nil {
		name = "a machine without a name"
	}
	return name[:min(len(name), longestName)]
}

func (h *Processes) sendReport(dst int, r Report) error {
	name := machineName()
	message := h.talk.Alloc(reportSize + len(name))
	copy(message[reportSize:], name)
	code := uint64(r.Code) | uint64(r.From)<<fromShift
	if r.apart {
		code |= apartBit
	}
	binary.LittleEndian.PutUint64(message, code)
	binary.LittleEndian.PutUint64(message[8:], uint64(r.Peak))
	binary.LittleEndian.PutUint64(message[16:], r.Run)
	binary.LittleEndian.PutUint64(message[24:], uint64(r.deputy))
	binary.LittleEndian.PutUint64(message[32:], uint64(r.Signal))
	return h.talk.Send(dst, message)
}

var ErrNoReport = errors.New("another host process does not answer: it has ended or lost its network")

// missing returns the error that names hosts from which nothing was heard.
func (h *Processes) missing(heard []bool) error {
	const mostNamed = 4
	var silent []string
	all := 0
	for i, known := range heard {
		if known {
			continue
		}
		if all++; all > mostNamed {
			continue
		}
		text := fmt.Sprintf("host process %d", i)
		if h.names[i] != "" {
			text += " on " + h.names[i]
		}
		silent = append(silent, text)
	}
	text := strings.Join(silent, ", ")
	if all > mostNamed {
		text += fmt.Sprintf(" and %d more", all-mostNamed)
	}
	return missingHosts{text, all}
}

// missingHosts names host processes that do not answer.
type missingHosts struct {
	text  string
	count int
}

func (m missingHosts) Error() string {
	verb := "does"
	if m.count > 1 {
		verb = "do"
	}
	return fmt.Sprintf("%s %s not answer: killed, out of memory or without a network; see the job's log there", m.text, verb)
}

// Is makes it an ErrNoReport.
func (m missingHosts) Is(target error) bool { return target == ErrNoReport }

// receiveReport waits for the next report and returns it with its sender.
func (h *Processes) receiveReport(deadline time.Time) (src int, r Report, err error) {
	for {
		src, message, err := h.talk.Receive()
		if message != nil {
			code := binary.LittleEndian.Uint64(message)
			r := Report{
				Code: int(code & (1<<fromShift - 1)), From: int(code &^ apartBit >> fromShift), apart: code&apartBit != 0,
				Peak: int64(binary.LittleEndian.Uint64(message[8:])), Run: binary.LittleEndian.Uint64(message[16:]),
				deputy: int(binary.LittleEndian.Uint64(message[24:])), Signal: unix.Signal(binary.LittleEndian.Uint64(message[32:])),
			}
			if h.names != nil {
				h.names[src] = string(message[reportSize:])
			}
			h.talk.Free(message)
			return src, r, nil
		}
		if err == nil && time.Now().After(deadline) {
			err = ErrNoReport
		}
		if err == nil {
			err = h.talk.Wait(10 * time.Millisecond)
		}
		if err != nil {
			return 0, Report{}, err
		}
	}
}
