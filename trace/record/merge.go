package record

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"gigarank/internal/spelling"
	"gigarank/trace"
)

// Merged is what Merge tells of the files that it has merged.
type Merged struct {
	Tasks    int
	Problems []string // why operations of tasks are missing: the first of them
	Count    int      // of problems
	Summary  trace.Summary
}

// mostProblems is the most problems that are kept.
const mostProblems = 20

func (m *Merged) problem(format string, arguments ...any) {
	if m.Count++; len(m.Problems) < mostProblems {
		m.Problems = append(m.Problems, fmt.Sprintf(format, arguments...))
	}
}

// Files returns the files that the tasks of a program have written into a directory, in the order of their names.
func Files(dir string) ([]string, error) {
	if _, err := os.ReadDir(dir); err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(dir, "task-*.grt"))
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("%s has no files task-*.grt: no task has called MPI_Init with libgigatrace", dir)
	}
	slices.Sort(names)
	return names, err
}

// source is a file of a task that is open.
type source struct {
	name string
	file *os.File
	size int64
}

func (s *source) close() error { return s.file.Close() }

func open(name string) (*source, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &source{name, file, info.Size()}, nil
}

// Merge writes a trace of the files of all tasks, one after the other. What is sound of each task is kept, up to the first operation that is missing. The
// problems tell what is not.
func Merge(names []string, w io.Writer, way trace.Compression) (*Merged, error) {
	m := &merge{names: names, to: w, way: way, seen: map[int]string{}}
	m.Summary.Functions, m.Summary.Unrecorded = map[string]int64{}, map[string]int64{}
	for _, name := range names {
		if err := m.add(name); err != nil {
			return nil, err
		}
	}
	if m.w == nil {
		return nil, errors.New("no file has a note of its task: nothing was recorded")
	}
	m.missing()
	if len(m.Summary.Unrecorded) == 0 {
		m.Summary.Unrecorded = nil
	}
	m.Summary.Problems = m.Problems
	return &m.Merged, m.w.Close(m.Summary)
}

// merge is the state of a merge.
type merge struct {
	Merged
	names  []string
	to     io.Writer
	way    trace.Compression
	w      *trace.Writer
	header trace.Header
	first  string // the file that header is of
	seen   map[int]string
}

// begin begins the trace with the header of the first task, or compares that of another one.
func (m *merge) begin(name string, h trace.Header, n *trace.Note) (err error) {
	h.Machine = n.Host
	switch {
	case m.w == nil:
		m.first, m.header = name, h
		m.w, err = trace.NewWriter(m.to, h, m.way)
	case h.Tasks != m.header.Tasks || h.Library != m.header.Library || h.Origin != m.header.Origin:
		err = fmt.Errorf("%s is of a program with %s on %s, and %s of a program with %s on %s: the directory has files of several runs", name, spelling.Count(h.Tasks, "task"), h.Library, m.first, spelling.Count(m.header.Tasks, "task"), m.header.Library)
	}
	return err
}

// add adds the file of a task.
func (m *merge) add(name string) error {
	s, err := open(name)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }() // it was only read
	task, next, ended, noted := -1, int64(0), false, false
	h, _, err := trace.ReadHeader(name, s.file, s.size)
	if err != nil {
		m.problem("%v", err)
		return nil
	}
	found, err := trace.Walk(name, s.file, s.size, func(k *trace.Block, operations []byte) error {
		if k.Task != task || k.First != next || ended {
			return nil
		}
		counts := map[trace.Function]int64{}
		problem, _ := k.Each(operations, func(_ int64, o *trace.Operation) error {
			counts[o.Function] += o.Calls()
			ended = o.Function == trace.End
			return nil
		})
		if problem != "" {
			m.problem("task %d: %s", task, problem)
			return nil
		}
		for f, n := range counts {
			if n > 0 {
				m.Summary.Functions[f.String()] += n
			}
		}
		next += k.Count
		return m.w.Write(task, k.First, k.Count, operations)
	}, func(n *trace.Note) error {
		if task < 0 {
			if other, twice := m.seen[n.Task]; twice {
				return fmt.Errorf("%s and %s are both of task %d: the directory has files of several runs", other, name, n.Task)
			}
			if err := m.begin(name, h, n); err != nil {
				return err
			}
			task = n.Task
			m.seen[task] = name
		}
		noted = noted || !n.Begins
		m.note(n)
		return m.w.WriteNote(n)
	})
	if err != nil {
		return err
	}
	if task < 0 {
		m.problem("%s has no note of its task", name)
		return nil
	}
	m.ends(task, next, ended, noted, found)
	return nil
}

// note adds up what a note tells.
func (m *merge) note(n *trace.Note) {
	for name, use := range n.Functions {
		if use.Unrecorded > 0 {
			m.Summary.Unrecorded[name] += use.Unrecorded
		}
	}
	for _, p := range n.Problems {
		m.problem("task %d: %s", n.Task, p)
	}
}

// ends tells how a task has come to its end.
func (m *merge) ends(task int, operations int64, ended, noted bool, found *trace.Found) {
	m.Tasks++
	m.Summary.Operations += operations
	for _, f := range found.Faults {
		if f.Offset != found.Size {
			m.problem("task %d: %v", task, f)
		}
	}
	switch {
	case ended:
		m.Summary.Ended++
	case noted:
		m.problem("task %d ends after %s, before MPI_Finalize", task, spelling.Count(operations, "operation"))
	default:
		m.problem("task %d was killed or has left by _exit: its operations end with the last full block, after %s", task, spelling.Count(operations, "operation"))
	}
}

// missing tells which tasks have no file.
func (m *merge) missing() {
	list := slices.Sorted(maps.Keys(m.seen))
	at := 0
	for task := 0; task < m.header.Tasks && m.Count <= mostProblems; task++ {
		i, is := slices.BinarySearchFunc(list[at:], task, cmp.Compare[int])
		if at += i; !is {
			m.problem("task %d has no file", task)
		}
	}
}
