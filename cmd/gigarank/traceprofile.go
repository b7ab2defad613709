package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/spelling"
	"gigarank/trace"
	"gigarank/trace/record"
)

func newTraceProfile(c *terminal.Console) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "profile DIR|FILE",
		Short: "Print calls, time and bytes of each function of MPI in a recorded run",
		Long: `Profile prints what a real program has spent in MPI: for each task its run time from the end of MPI_Init to
MPI_Finalize, its CPU time and its time in MPI; for each function calls, time and bytes in all tasks, with the least and the most time of
a task; the counters of the processor, as far as the kernel allows them. It reads the directory that gigarank trace record has left, in any mode, or
a merged trace. With --json the notes of all tasks are one document.

` + terminal.ExitHelp,
		Example: "  gigarank trace record -n 4 --mode count ./prog\n  gigarank trace profile prog.trace",
		Args:    arguments(1, "one DIR or FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := readProfile(args[0])
			if err != nil {
				return terminal.UsageError{err}
			}
			if asJSON {
				return writeJSON(c.Stdout, p)
			}
			p.print(c.Stdout)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// tasksProfile is what the tasks of a real program have spent in MPI.
type tasksProfile struct {
	Schema int           `json:"schema"`
	Header trace.Header  `json:"header"`
	Tasks  []*trace.Note `json:"tasks"` // those that have come to an end, by number
}

// readProfile reads the notes of a trace, or of the files of its tasks.
func readProfile(name string) (*tasksProfile, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	files := []string{name}
	if info.IsDir() {
		if files, err = record.Files(name); err != nil {
			return nil, err
		}
	}
	p := &tasksProfile{Schema: 1, Tasks: []*trace.Note{}}
	for _, file := range files {
		if err := p.read(file); err != nil {
			return nil, err
		}
	}
	if len(p.Tasks) == 0 {
		return nil, fmt.Errorf("%s has no note of the end of a task: it is of no real program, or all tasks were killed", name)
	}
	slices.SortFunc(p.Tasks, func(a, b *trace.Note) int { return cmp.Compare(a.Task, b.Task) })
	return p, nil
}

// read reads the notes of a file.
func (p *tasksProfile) read(name string) error {
	file, size, err := openInput(name)
	if err != nil {
		return err
	}
	found, err := trace.Walk(name, file, size, func(*trace.Block, []byte) error { return nil }, func(n *trace.Note) error {
		if !n.Begins {
			p.Tasks = append(p.Tasks, n)
		}
		return nil
	})
	if err == nil {
		p.Header = found.Header
	}
	return errors.Join(err, file.Close())
}

// spent is what all tasks have spent in a function.
type spent struct {
	trace.Use
	tasks       int
	least, most int64 // time of a task that calls it
}

// print prints the profile as text.
func (p *tasksProfile) print(w io.Writer) {
	functions := map[string]*spent{}
	var run, inside, cpu int64
	for _, n := range p.Tasks {
		run, cpu = run+n.Took, cpu+n.CPU
		for name, use := range n.Functions {
			s := functions[name]
			if s == nil {
				s = &spent{least: use.Time}
				functions[name] = s
			}
			s.Use, s.tasks = s.Add(use), s.tasks+1
			s.least, s.most = min(s.least, use.Time), max(s.most, use.Time)
			inside += use.Time
		}
	}
	share := func(ns, of int64) float64 { return 100 * float64(ns) / float64(max(of, 1)) }
	_, _ = fmt.Fprintf(w, "%s, %s of %d\n", p.Header.Program, spelling.Count(len(p.Tasks), "task"), p.Header.Tasks)
	_, _ = fmt.Fprintf(w, "%6s  %14s  %14s  %14s  %6s  host\n", "task", "run time", "CPU time", "in MPI", "%")
	for _, n := range p.Tasks {
		of := int64(0)
		for _, use := range n.Functions {
			of += use.Time
		}
		_, _ = fmt.Fprintf(w, "%6d  %14v  %14v  %14v  %6.2f  %s\n", n.Task, time.Duration(n.Took), time.Duration(n.CPU), time.Duration(of), share(of, n.Took), n.Host)
	}
	_, _ = fmt.Fprintf(w, "%6s  %14v  %14v  %14v  %6.2f\n", "all", time.Duration(run), time.Duration(cpu), time.Duration(inside), share(inside, run))
	if len(functions) > 0 {
		_, _ = fmt.Fprintf(w, "\n%12s  %14s  %6s  %14s  %14s  %12s  function\n", "calls", "time", "%", "least of tasks", "most of tasks", "bytes")
	}
	for _, name := range slices.SortedFunc(maps.Keys(functions), func(a, b string) int {
		return cmp.Or(cmp.Compare(functions[b].Time, functions[a].Time), cmp.Compare(a, b))
	}) {
		s := functions[name]
		if s.tasks < len(p.Tasks) {
			s.least = 0
		}
		_, _ = fmt.Fprintf(w, "%12d  %14v  %6.2f  %14v  %14v  %12s  %s\n", s.Calls, time.Duration(s.Time), share(s.Time, run), time.Duration(s.least), time.Duration(s.most), terminal.Bytes(s.Bytes), name)
	}
	p.printCounters(w)
}

// printCounters prints the counters of the processor, and which of them there are not.
func (p *tasksProfile) printCounters(w io.Writer) {
	counters, remarks := map[string]int64{}, map[string]int{}
	for _, n := range p.Tasks {
		for name, v := range n.Counters {
			counters[name] += v
		}
		for _, r := range n.Remarks {
			remarks[r]++
		}
	}
	if len(counters) > 0 {
		_, _ = fmt.Fprintln(w)
	}
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		_, _ = fmt.Fprintf(w, "%20d  %s\n", counters[name], name)
	}
	for _, r := range slices.Sorted(maps.Keys(remarks)) {
		_, _ = fmt.Fprintf(w, "note: %s, on %s\n", r, spelling.Count(remarks[r], "task"))
	}
}
