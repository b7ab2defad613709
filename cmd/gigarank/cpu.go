package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	stdsync "sync"

	"github.com/spf13/pflag"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/cputime"
	"gigarank/mpivirt"
)

// cpuMode is the way in which the computing of ranks between MPI calls is charged.
type cpuMode string

// The modes of --cpu.
const (
	cpuIgnored  cpuMode = "ignored"  // only the time that programs declare
	cpuMeasured cpuMode = "measured" // the CPU time that it takes here
	cpuReplayed cpuMode = "replayed" // the CPU time in a recording
)

// cpuModes are the values of --cpu.
var cpuModes = []cpuMode{cpuMeasured, cpuIgnored}

func (m cpuMode) String() string { return string(m) }

// cpuFlags are the flags on CPU times as they are written.
type cpuFlags struct{ mode, record, replay string }

func (f *cpuFlags) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.mode, "cpu", "", "time of the code between MPI calls: `MODE` measured (CPU time here, times the machine's cpu_ratio) or ignored (default)")
	flags.StringVar(&f.record, "cpu-record", "", "measure CPU times, and keep them in a `FILE`")
	flags.StringVar(&f.replay, "cpu-replay", "", "charge the CPU times of a `FILE` that --cpu-record has written")
}

// cpuTimes is the source of CPU times of a run, and its recording.
type cpuTimes struct {
	mode    cpuMode
	header  cputime.Header // of a recording that this process would make now
	record  string         // file to write, empty for none
	files   []string
	asked   stdsync.Once // the system, to let bursts run
	refused error        // with which it has
	lock    stdsync.Mutex
	logs    []*cputime.Log // of the recording, one for each engine
	damage  error          // of the files
}

// String returns the mode. Without a source CPU times are ignored.
func (t *cpuTimes) String() string {
	if t == nil {
		return cpuIgnored.String()
	}
	return t.mode.String()
}

// readCPU reads the flags on CPU times. It reads the files of a recording once, so that a
// damaged one is refused before the run.
func (r *request) readCPU(h *host.Processes, f *cpuFlags, arguments []string, faults *terminal.UsageError) {
	t := &cpuTimes{mode: cpuIgnored, record: f.record}
	r.cpu = t
	if f.mode != "" {
		mode, err := terminal.Choose("mode", f.mode, cpuModes)
		faults.Add("--cpu", err)
		if err != nil {
			return
		}
		t.mode = mode
	}
	switch {
	case f.record != "" && f.replay != "":
		faults.Add("--cpu-record", errors.New("with --cpu-replay there is nothing to measure: give one of the two"))
		return
	case f.mode == string(cpuIgnored) && (f.record != "" || f.replay != ""):
		faults.Add("--cpu", errors.New("ignored, but a recording is to be made or used: leave --cpu out"))
		return
	case f.mode == string(cpuMeasured) && f.replay != "":
		faults.Add("--cpu", errors.New("measured, but --cpu-replay gives the CPU times: leave one of the two out"))
		return
	case f.record != "":
		t.mode = cpuMeasured
		t.record = fileOfHost(f.record, h.Index, h.Size)
		faults.Add("--cpu-record", terminal.CheckWritable(t.record))
		faults.Add("--cpu-record", unambiguous(f.record, h.Size))
		faults.Add("--cpu-record", t.identify(r, h, arguments))
	case f.replay != "":
		t.mode = cpuReplayed
		faults.Add("--cpu-replay", t.openFor(r, h, arguments, f.replay))
	}
	if t.mode == cpuIgnored {
		return
	}
	if r.config.Kind != nil {
		faults.Add("--cpu", r.config.Kind.Unmeasurable())
	}
	r.config.Bursts = t.bursts
}

// fileOfHost returns the name of a host's file of a recording: that of the flag if there is
// one host, else with the host's number.
func fileOfHost(name string, host, hosts int) string {
	if hosts == 1 {
		return name
	}
	return name + "." + strconv.Itoa(host)
}

// openFor identifies a run and opens the recording that it replays.
func (t *cpuTimes) openFor(r *request, h *host.Processes, arguments []string, name string) error {
	if err := t.identify(r, h, arguments); err != nil {
		return err
	}
	return t.open(name)
}

// open finds the files of a recording, and checks that they are whole and of this run.
func (t *cpuTimes) open(name string) error {
	hosts := 1
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		hosts = 2
		if _, err := os.Stat(fileOfHost(name, 0, hosts)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("there is neither %s nor %s: name the FILE of --cpu-record", name, fileOfHost(name, 0, hosts))
		}
	}
	if err := unambiguous(name, hosts); err != nil {
		return err
	}
	processes, run := 1, uint64(0)
	for i := 0; i < processes; i++ {
		file := fileOfHost(name, i, hosts)
		header, err := readRecording(file, nil)
		switch {
		case err != nil:
			return err
		case t.header.Program != "" && differs(header, t.header) != nil:
			return fmt.Errorf("%s is a recording of %w", file, differs(header, t.header))
		case header.Process != i || i > 0 && (header.Processes != processes || header.Run != run):
			return fmt.Errorf("%s is the file of process %d of %d of another recording: record it again", file, header.Process, header.Processes)
		}
		processes, run = header.Processes, header.Run
		t.files = append(t.files, file)
	}
	return nil
}

// unambiguous returns an error if a recording of one host and another of several would have one name.
func unambiguous(name string, hosts int) error {
	other := fileOfHost(name, 0, 2)
	if hosts > 1 {
		other = name
	}
	header, err := readRecording(other, nil)
	if err != nil || header.Processes == 1 != (hosts > 1) { // no file of such a recording
		return nil
	}
	if hosts > 1 {
		return fmt.Errorf("there is %s, a recording by one process: remove it, or give another name", other)
	}
	return fmt.Errorf("there is %s, of a recording by %d processes: remove its files, or give another name", other, header.Processes)
}

// readRecording reads a file of a recording.
func readRecording(name string, logs []*cputime.Log) (cputime.Header, error) {
	info, err := os.Stat(name)
	if err != nil {
		return cputime.Header{}, err
	}
	if !info.Mode().IsRegular() {
		return cputime.Header{}, fmt.Errorf("%s is no regular file, and a recording is read several times: name the file that --cpu-record has written", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return cputime.Header{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	header, err := cputime.Read(f, logs)
	if err != nil {
		return header, fmt.Errorf("%s %w", name, err)
	}
	return header, nil
}

// bursts returns the source for an engine with n ranks from first on.
func (t *cpuTimes) bursts(first, n int) mpivirt.Bursts {
	if t.mode == cpuMeasured {
		t.asked.Do(func() {
			err := cputime.LetRun()
			t.lock.Lock()
			t.refused = err
			t.lock.Unlock()
		})
	}
	if t.mode == cpuMeasured && t.record == "" {
		return cputime.NewMeasured(cputime.HostClock())
	}
	log := cputime.NewLog(first, n)
	if t.mode == cpuMeasured {
		t.lock.Lock()
		t.logs = append(t.logs, log)
		t.lock.Unlock()
		return cputime.NewRecorded(cputime.HostClock(), log)
	}
	for _, name := range t.files {
		if _, err := readRecording(name, []*cputime.Log{log}); err != nil {
			t.lock.Lock()
			t.damage = errors.Join(t.damage, err)
			t.lock.Unlock()
		}
	}
	return cputime.NewReplayed(log)
}

// warning returns a doubt about the CPU times that a process of several engines has measured, "" if there
// is none. A thread that wakes takes a processor without an engine if
// there is one.
func (t *cpuTimes) warning(engines, processors int) string {
	if t == nil || engines < processors {
		return ""
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.refused == nil {
		return ""
	}
	return fmt.Sprintf("the CPU times measured have in them what threads of this process interrupted: %v: "+
		"allow the system call sched_setattr, or give each process more processors than engines, as by mpirun --bind-to none", t.refused)
}

// finish writes the recording of this host, if there is to be one. A run that did not come
// to its end leaves none.
func (t *cpuTimes) finish(complete bool) error {
	if t == nil {
		return nil
	}
	if t.damage != nil {
		return t.damage
	}
	if t.record == "" || !complete {
		return nil
	}
	to, err := terminal.NewDestination(t.record)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := cputime.Write(&text, t.header, t.logs); err != nil {
		return err
	}
	return to.Write(text.Bytes())
}
