package profile

import (
	"bytes"
	"fmt"
	"strings"

	"gigarank/internal/input"
)

// Profile says how long tasks spend where. Times are seconds.
type Profile struct {
	File     string
	Format   string
	Measured bool // by a tool, and not simulated
	// Tasks is the number of tasks, 0 if unknown.
	Tasks int
	// Run is the time of the run, that of its longest task; 0 if unknown. InMPI is the time of all tasks in MPI, negative if unknown.
	Run, InMPI float64
	// ByTask has the time of each task in MPI, nil if unknown.
	ByTask []float64
	// Functions are sums over the tasks, by name without MPI_, in the order of the file.
	Functions []Function
	// Benchmarks are the means of a call, or bandwidths.
	Benchmarks []Benchmark
	// Note says what the file leaves out; empty for nothing.
	Note string
}

// Function is the time of all tasks in a function of MPI.
type Function struct {
	Name    string
	Count   uint64
	Seconds float64
}

// UnknownBytes stands for the size of a call that the file does not tell.
const UnknownBytes = -1

// Benchmark is a row of a table of a benchmark: the value of a call of so many bytes.
type Benchmark struct {
	Name  string
	Bytes int64
	Value float64
	Rate  bool // bytes a second; else seconds
}

// String returns the name and the size.
func (b Benchmark) String() string {
	if b.Bytes == UnknownBytes {
		return b.Name
	}
	return fmt.Sprintf("%s of %d B", b.Name, b.Bytes)
}

// A format is a kind of file. is tells files of the format by their text.
type format struct {
	name string
	is   func(text []byte) bool
	read func(r *reader)
}

// formats are all formats. The first that takes a text reads it.
var formats = []format{
	{"gigarank's profile of a recorded run", isRecorded, (*reader).recorded},
	{"gigarank's JSON", func(text []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) }, (*reader).document},
	{"mpiP's report", lineWith("@ mpiP"), (*reader).mpiP},
	{"IPM's XML", holds("<ipm_job_profile"), (*reader).ipmXML},
	{"IPM's banner", lineWith("##IPMv"), (*reader).ipm},
	{"benchmarks", func(text []byte) bool { return lineWith("# OSU ")(text) || lineWith("# Benchmarking ")(text) }, (*reader).benchmarks},
}

// lineWith returns whether a line begins with some words.
func lineWith(words string) func([]byte) bool {
	return func(text []byte) bool {
		return bytes.HasPrefix(text, []byte(words)) || bytes.Contains(text, []byte("\n"+words))
	}
}

func holds(words string) func([]byte) bool {
	return func(text []byte) bool { return bytes.Contains(text, []byte(words)) }
}

// reader reads a file into a profile.
type reader struct {
	Profile
	text   []byte
	faults input.Faults
}

// Read returns the profile in a file. The error has all faults, with their lines.
func Read(name string, text []byte) (*Profile, error) {
	r := &reader{Profile: Profile{File: name, Measured: true, InMPI: -1}, text: text}
	for _, f := range formats {
		if !f.is(text) {
			continue
		}
		r.Format = f.name
		f.read(r)
		if len(r.faults) > 0 {
			r.faults.Sort()
			return nil, r.faults
		}
		return &r.Profile, nil
	}
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	r.fault(1, "no known format", "give "+strings.Join(names[:len(names)-1], ", ")+" or tables of the OSU micro-benchmarks")
	return nil, r.faults
}

func (r *reader) fault(line int, what, remedy string) {
	r.faults = append(r.faults, input.Fault{File: r.File, Line: line, What: what, Remedy: remedy})
}

// add adds calls of a function.
func (r *reader) add(name string, count uint64, seconds float64) {
	name = strings.TrimPrefix(name, "MPI_")
	for i := range r.Functions {
		if f := &r.Functions[i]; strings.EqualFold(f.Name, name) {
			f.Count += count
			f.Seconds += seconds
			return
		}
	}
	r.Functions = append(r.Functions, Function{name, count, seconds})
}

// task stores the time of a task in MPI.
func (r *reader) task(rank int, seconds float64) {
	for len(r.ByTask) <= rank {
		r.ByTask = append(r.ByTask, -1)
	}
	r.ByTask[rank] = seconds
}

// mostTasks bounds the ranks that a file may name.
const mostTasks = 1 << 24

// settle checks that each task has a time, and sums up.
func (r *reader) settle(line int) {
	if len(r.faults) > 0 {
		return
	}
	for rank, seconds := range r.ByTask {
		if seconds < 0 {
			r.fault(line, fmt.Sprintf("task %d has no time", rank), "give the whole file")
			return
		}
	}
	if r.Tasks == 0 {
		r.Tasks = len(r.ByTask)
	} else if r.ByTask != nil && len(r.ByTask) != r.Tasks {
		r.fault(line, fmt.Sprintf("%d of %d tasks have times", len(r.ByTask), r.Tasks), "give the whole file")
	}
	if r.InMPI < 0 && r.ByTask != nil {
		r.InMPI = 0
		for _, seconds := range r.ByTask {
			r.InMPI += seconds
		}
	}
}
