package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/spelling"
	"gigarank/trace"
	"gigarank/vtime"
)

func newTrace(c *terminal.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trace",
		Short: "Record real programs as traces; look at traces, repair and convert them",
		Long: `Trace has commands on traces: what the ranks of an MPI program did. gigarank trace record records a real
program, gigarank run --trace a simulated run. gigarank replay simulates a trace on a machine.`,
	}
	cmd.AddCommand(newTraceRecord(c), newTraceLibrary(c), newTraceMerge(c), newTraceProfile(c), newTraceInfo(c), newTraceCheck(c), newTraceConvert(c))
	requireSubcommand(cmd)
	return cmd
}

func newTraceInfo(c *terminal.Console) *cobra.Command {
	var asJSON, repair bool
	var out string
	cmd := &cobra.Command{
		Use:   "info FILE",
		Short: "Tell what a trace holds, and repair a damaged one",
		Long: `Info reads a trace from its beginning to its end, and tells its tasks, calls, bytes and what is odd:
damages, with task and byte, tasks that are cut, calls that failed. A file with damages ends with exit code 2.

With --repair, what is sound goes to the file of -o: of each task the operations up to the first one that
is missing. A trace whose tasks end at different places replays up to the first operation that needs what is
missing.

` + terminal.ExitHelp,
		Example: "  gigarank trace info s.grt\n  gigarank trace info torn.grt --repair -o mended.grt",
		Args:    arguments(1, "one FILE, a trace"),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case repair && out == "":
				return terminal.UsageError{errors.New("--repair: name the new file by -o")}
			case out != "" && !repair:
				return terminal.UsageError{errors.New("-o: it names the file of --repair: add that")}
			case repair:
				return repairTrace(c, args[0], out)
			}
			return tellTrace(c, args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	cmd.Flags().BoolVar(&repair, "repair", false, "write what is sound to the file of -o")
	cmd.Flags().StringVarP(&out, "output", "o", "", "new `FILE` of --repair")
	return cmd
}

// toldFaults is the most faults that check tells.
const toldFaults = 20

func newTraceCheck(c *terminal.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Compare what the tasks of a trace say of each other",
		Long: `Check looks, without a replay, for messages that are sent and not received, or received and not sent,
between members of each communicator with each tag; for messages that are longer than their receive; for
collectives that not all members call, or call with other roots or lengths; for waits for unknown requests,
and for unknown communicators. It names the operations, and those of the partner that come nearest to fitting. A
trace with faults ends with exit code 1.

` + terminal.ExitHelp,
		Example: "  gigarank trace check s.grt",
		Args:    arguments(1, "one FILE, a trace"),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := openTrace(args[0])
			if err != nil {
				return terminal.UsageError{err}
			}
			faults, n, err := trace.Check(file, toldFaults)
			if err != nil {
				return terminal.UsageError{err}
			}
			if n == 0 {
				_, _ = fmt.Fprintf(c.Stdout, "%s: no faults\n", args[0])
				return nil
			}
			for _, fault := range faults {
				_, _ = fmt.Fprintf(c.Stdout, "%s\n", fault)
			}
			return terminal.Ended{Cause: fmt.Errorf("%s has %s", args[0], spelling.Count(n, "fault")), Code: terminal.ExitProgram}
		},
	}
}

// contentsOf is what info tells of a trace.
type contentsOf struct {
	Schema     int              `json:"schema"`
	File       string           `json:"file"`
	Header     trace.Header     `json:"header"`
	Operations int64            `json:"operations"`
	Blocks     int64            `json:"blocks"`
	Size       int64            `json:"file_bytes"`
	Contents   int64            `json:"operation_bytes"` // before compression
	Calls      map[string]int64 `json:"calls"`
	Bytes      int64            `json:"sent_bytes"` // point to point
	Computing  int64            `json:"computing_ps"`
	Failed     int64            `json:"failed_calls"`
	Missing    int              `json:"missing_tasks"`
	Cut        int              `json:"cut_tasks"`
	Complete   bool             `json:"complete"`
	Unknown    int              `json:"unknown_records"`
	Note       string           `json:"note,omitempty"`
	Unrecorded map[string]int64 `json:"unrecorded,omitempty"` // calls of a real program that moved data and are no operations
	Refused    map[string]int64 `json:"refused,omitempty"`    // calls of a real program that ended with an error and are no operations
	Problems   []string         `json:"problems,omitempty"`   // why operations of tasks are missing
	Damages    []string         `json:"damages"`
}

// taskEnd is how far a task has come.
type taskEnd struct {
	next  int64
	ended bool
}

// tellTrace prints what a trace holds.
func tellTrace(c *terminal.Console, name string, asJSON bool) error {
	file, size, err := openInput(name)
	if err != nil {
		return terminal.UsageError{err}
	}
	defer func() { _ = file.Close() }() // it was only read
	if format, err := formatOf(file); err != nil {
		return terminal.UsageError{err}
	} else if format != nil {
		return terminal.UsageError{fmt.Errorf("%s is a trace of %s: convert it by gigarank trace convert %s -o NEW.grt", name, format.Summary, name)}
	}
	x := &contentsOf{Schema: 1, File: name, Calls: map[string]int64{}, Unrecorded: map[string]int64{}, Refused: map[string]int64{}, Damages: []string{}}
	tasks := map[int]*taskEnd{}
	found, err := trace.Walk(name, file, size, func(k *trace.Block, operations []byte) error { return x.count(k, operations, tasks) }, x.note)
	if err != nil {
		return terminal.UsageError{err}
	}
	x.finish(found, tasks)
	if asJSON {
		err = writeJSON(c.Stdout, x)
	} else {
		x.print(c.Stdout, found)
	}
	if n := found.Damages; err == nil && n > 0 {
		err = terminal.UsageError{fmt.Errorf("%s has %s; gigarank trace info --repair -o NEW keeps what is sound", name, spelling.Count(n, "damage"))}
	}
	return err
}

// count counts the operations of a block.
func (x *contentsOf) count(k *trace.Block, operations []byte, tasks map[int]*taskEnd) error {
	t := tasks[k.Task]
	if t == nil {
		t = &taskEnd{}
		tasks[k.Task] = t
	}
	if k.First != t.next {
		x.Damages = append(x.Damages, fmt.Sprintf("task %d: operations %d to %d are missing", k.Task, t.next, k.First-1))
	}
	t.next = k.First + k.Count
	x.Blocks, x.Contents, x.Operations = x.Blocks+1, x.Contents+int64(len(operations)), x.Operations+k.Count
	problem, err := k.Each(operations, func(_ int64, o *trace.Operation) error {
		if n := o.Calls(); n > 0 {
			x.Calls[o.Function.String()] += n
		}
		switch o.Function.Class() {
		case trace.ClassBurst:
			x.Computing = int64(vtime.Duration(x.Computing).Plus(vtime.Duration(max(o.CPU, 0))))
		case trace.ClassSend, trace.ClassSendReceive:
			x.Bytes += o.Bytes
		case trace.ClassEnd:
			t.ended = true
		}
		if o.Form.Has(trace.Failed) && o.Function.Class() > trace.ClassEnd {
			x.Failed++
		}
		return nil
	})
	if problem != "" {
		x.Damages = append(x.Damages, fmt.Sprintf("task %d: %s", k.Task, problem))
	}
	return err
}

// note counts what a note tells.
func (x *contentsOf) note(n *trace.Note) error {
	for name, use := range n.Functions {
		if use.Unrecorded > 0 {
			x.Unrecorded[name] += use.Unrecorded
		}
		if use.Failed > 0 {
			x.Refused[name] += use.Failed
		}
	}
	return nil
}

// finish completes what is told.
func (x *contentsOf) finish(found *trace.Found, tasks map[int]*taskEnd) {
	x.Header, x.Size, x.Complete, x.Unknown = found.Header, found.Size, found.Complete, found.Unknown
	if found.Summary != nil {
		x.Note, x.Problems = found.Summary.Note, found.Summary.Problems
	}
	x.Missing = found.Header.Tasks - len(tasks)
	for _, t := range tasks {
		if !t.ended {
			x.Cut++
		}
	}
	for _, f := range found.Faults {
		x.Damages = append(x.Damages, f.Error())
	}
	found.Damages = max(found.Damages, len(x.Damages))
}

// print prints what a trace holds.
func (x *contentsOf) print(w io.Writer, found *trace.Found) {
	each := func(bytes int64) float64 { return float64(bytes) / float64(max(x.Operations, 1)) }
	_, _ = fmt.Fprintf(w, "%s: %s, %s in %s\n", x.File, spelling.Count(x.Header.Tasks, "task"), spelling.Count(x.Operations, "operation"), spelling.Count(x.Blocks, "block"))
	origin := x.Header.Origin
	if x.Header.Machine != "" {
		origin += " on " + x.Header.Machine
	}
	_, _ = fmt.Fprintf(w, "  program    %s\n  origin     %s\n", strings.Join(append([]string{x.Header.Program}, x.Header.Arguments...), " "), origin)
	_, _ = fmt.Fprintf(w, "  blocks     %s, %.2f bytes an operation; before compression %s, %.2f\n", terminal.Bytes(found.Packed), each(found.Packed), terminal.Bytes(x.Contents), each(x.Contents))
	_, _ = fmt.Fprintf(w, "  computing  %v in all tasks\n  messages   %s point to point\n", vtime.Duration(x.Computing), terminal.Bytes(x.Bytes))
	names := slices.SortedFunc(maps.Keys(x.Calls), func(a, b string) int { return cmp.Or(cmp.Compare(x.Calls[b], x.Calls[a]), cmp.Compare(a, b)) })
	for _, name := range names {
		_, _ = fmt.Fprintf(w, "  %12d  %s\n", x.Calls[name], name)
	}
	for _, odd := range []struct {
		n    int64
		text string
	}{
		{x.Failed, "calls ended with an error that the program took"},
		{int64(x.Missing), "tasks have no operations"},
		{int64(x.Cut), "tasks do not come to their end"},
		{int64(x.Unknown), "records of a later version of gigarank are left out"},
	} {
		if odd.n > 0 {
			_, _ = fmt.Fprintf(w, "odd: %d %s\n", odd.n, odd.text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(x.Unrecorded)) {
		_, _ = fmt.Fprintf(w, "odd: %s moved data, and is not recorded: %s\n", name, spelling.Count(x.Unrecorded[name], "call"))
	}
	for _, name := range slices.Sorted(maps.Keys(x.Refused)) {
		_, _ = fmt.Fprintf(w, "odd: %s ended with an error, and is left out: %s\n", name, spelling.Count(x.Refused[name], "call"))
	}
	for _, p := range x.Problems {
		_, _ = fmt.Fprintf(w, "odd: %s\n", p)
	}
	if x.Note != "" {
		_, _ = fmt.Fprintf(w, "note: %s\n", x.Note)
	}
	for _, d := range x.Damages {
		_, _ = fmt.Fprintf(w, "damage: %s\n", d)
	}
}

// tellUnrecorded says which calls of a real program moved data and are no operations.
func tellUnrecorded(c *terminal.Console, unrecorded map[string]int64) {
	for _, name := range slices.Sorted(maps.Keys(unrecorded)) {
		_, _ = fmt.Fprintf(c.Stderr, "gigarank: warning: %s moved data, and is not recorded: %s\n", name, spelling.Count(unrecorded[name], "call"))
	}
}

// repairTrace writes what is sound of a trace to another file.
func repairTrace(c *terminal.Console, name, out string) error {
	file, size, err := openInput(name)
	if err != nil {
		return terminal.UsageError{err}
	}
	defer func() { _ = file.Close() }() // it was only read
	var found *trace.Found
	var cuts []trace.Cut
	if err := writeTrace(out, func(w io.Writer) error {
		found, cuts, err = trace.Repair(name, file, size, w)
		return err
	}); err != nil {
		return err
	}
	for _, f := range found.Faults {
		_, _ = fmt.Fprintf(c.Stdout, "damage: %v\n", f)
	}
	for i, cut := range cuts {
		if i == 20 {
			_, _ = fmt.Fprintf(c.Stdout, "and %d more tasks\n", len(cuts)-i)
			break
		}
		_, _ = fmt.Fprintf(c.Stdout, "task %d is cut from operation %d on\n", cut.Task, cut.Operation)
	}
	_, _ = fmt.Fprintf(c.Stdout, "%s: %s of %d %s cut\n", out, spelling.Count(len(cuts), "task"), found.Header.Tasks, map[bool]string{true: "is", false: "are"}[len(cuts) == 1])
	return nil
}

// writeTrace writes a file that gets its name when it is complete.
func writeTrace(name string, write func(w io.Writer) error) error {
	if err := terminal.CheckWritable(name); err != nil {
		return terminal.UsageError{fmt.Errorf("-o: %w", err)}
	}
	file, err := os.Create(name + partial)
	if err != nil {
		return terminal.UsageError{fmt.Errorf("-o: %w", err)}
	}
	out := bufio.NewWriterSize(file, 1<<20)
	if err := write(out); err != nil {
		return errors.Join(terminal.UsageError{err}, file.Close(), os.Remove(file.Name()))
	}
	if err := errors.Join(out.Flush(), file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return os.Rename(file.Name(), name)
}

func newTraceConvert(c *terminal.Console) *cobra.Command {
	var to newFile
	var names []string
	for _, f := range formats {
		names = append(names, f.Summary)
	}
	cmd := &cobra.Command{
		Use:   "convert FILE -o NEW",
		Short: "Convert a trace of another tool",
		Long: `Convert reads a trace of another tool and writes it as a trace of gigarank. It reads ` + strings.Join(names, "; ") + `.
What a format does not have, such as the counts of MPI_Alltoallv by member, is refused with its line.
gigarank replay reads the same files itself.

` + terminal.ExitHelp,
		Example: "  gigarank trace convert lulesh-8.dim -o lulesh.grt",
		Args:    arguments(1, "one FILE, a trace of another tool"),
		RunE: func(_ *cobra.Command, args []string) error {
			way, err := to.way()
			if err != nil {
				return err
			}
			file, _, err := openInput(args[0])
			if err != nil {
				return terminal.UsageError{err}
			}
			defer func() { _ = file.Close() }() // it was only read
			format, err := formatOf(file)
			if err == nil && format == nil {
				err = fmt.Errorf("%s is in none of the formats that can be read: %s", args[0], strings.Join(names, "; "))
			}
			if err != nil {
				return terminal.UsageError{err}
			}
			return writeTrace(to.name, func(w io.Writer) error { return convertTrace(args[0], file, format, w, way) })
		},
	}
	to.define(cmd.Flags())
	return cmd
}
