package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"gigarank/bench"
	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/mpivirt"
	"gigarank/mpivirt/record"
	"gigarank/trace"
	"gigarank/trace/dim"
)

// traceFlags are the flags on the trace that a run writes, as they are written.
type traceFlags struct{ file, compress string }

func (f *traceFlags) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "trace", "", "record the run as a trace in a `FILE`, for gigarank replay")
	defineCompression(flags, &f.compress)
}

// compressions are the values of --compress.
var compressions = []trace.Compression{trace.Zstd, trace.None}

func defineCompression(flags *pflag.FlagSet, value *string) {
	flags.StringVar(value, "compress", trace.Zstd.String(), "`WAY` in which a trace is compressed: zstd or none")
}

// newFile is the trace that a command makes of other files, as its flags are written.
type newFile struct{ name, compress string }

func (f *newFile) define(flags *pflag.FlagSet) {
	flags.StringVarP(&f.name, "output", "o", "", "`FILE` to write")
	defineCompression(flags, &f.compress)
}

// way returns the compression. A file without a name is an error.
func (f *newFile) way() (trace.Compression, error) {
	way, err := terminal.Choose("way", f.compress, compressions)
	switch {
	case err != nil:
		return way, terminal.UsageError{fmt.Errorf("--compress: %w", err)}
	case f.name == "":
		return way, terminal.UsageError{errors.New("-o: name the new file")}
	}
	return way, nil
}

// recording is the trace that a run writes. Of several host processes each writes a file with its ranks, beside that of host process 0, which takes them in at
// the end.
type recording struct {
	name    string
	file    *os.File // nil once it is discarded
	out     *bufio.Writer
	w       *trace.Writer
	trace   *record.Recording
	summary *trace.Summary // of the ranks of this process, once the run is over
}

// readTrace reads the flags on the trace to write, and begins its file if there is no fault.
func (r *request) readTrace(h *host.Processes, f *traceFlags, arguments []string, faults *terminal.UsageError) {
	if f.file == "" {
		return
	}
	way, err := terminal.Choose("way", f.compress, compressions)
	faults.Add("--compress", err)
	switch {
	case r.entry.Direct != nil:
		faults.Add("--trace", fmt.Errorf("%s makes no calls of MPI: there is nothing to record", r.entry.Name))
	default:
		name := fileOfHost(f.file, h.Index, min(h.Index+1, h.Size))
		faults.Add("--trace", terminal.CheckWritable(name))
		var to *trace.Header
		if len(*faults) == 0 {
			to, err = r.header(arguments)
			faults.Add("--trace", err)
		}
		if len(*faults) == 0 {
			faults.Add("--trace", r.record(name, to, way))
		}
	}
}

// header describes a recording of this run.
func (r *request) header(arguments []string) (*trace.Header, error) {
	h := &trace.Header{Origin: simulatedOrigin, Tasks: int(r.ranks), Program: r.entry.Name, Arguments: arguments, Machine: r.machine, Recorder: versionLine()}
	if isPath(r.entry.Name) {
		var err error
		h.Digest, err = host.DigestOf(r.entry.Name)
		return h, err
	}
	h.Arguments = []string{"--iterations", strconv.Itoa(r.options.Iterations), "--payload", strconv.FormatInt(r.options.Payload, 10)}
	if r.entry.Collectives != nil {
		if uses := r.entry.Collectives(r.options); len(uses) == 1 && uses[0].Alone {
			h.Repeats = &trace.Repeats{Operation: uses[0].Operation.String(), Bytes: uses[0].Bytes, Element: uses[0].Element, Data: uses[0].Data}
		}
	}
	return h, nil
}

// partial is what follows the name of a trace until it is complete.
const partial = ".part"

// record begins the file of a trace, and has the run recorded.
func (r *request) record(name string, h *trace.Header, way trace.Compression) (err error) {
	t := &recording{name: name}
	if t.file, err = os.Create(name + partial); err != nil {
		return err
	}
	t.out = bufio.NewWriterSize(t.file, 1<<20)
	if t.w, err = trace.NewWriter(t.out, *h, way); err != nil {
		return errors.Join(err, t.discard())
	}
	t.trace = record.New(t.w)
	r.trace, r.config.Recorder = t, t.trace.Recorder
	return nil
}

// discard removes the file that was begun.
func (t *recording) discard() error {
	if t == nil || t.file == nil {
		return nil
	}
	file := t.file
	t.file = nil
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// finish writes what is left of a run that is over. A run that has failed leaves a trace of what its ranks had done, whose tasks are cut there. On several
// host processes take ends the trace.
func (t *recording) finish(h *host.Processes, o *host.Outcome) error {
	if t == nil {
		return nil
	}
	if o.Result == nil {
		return t.discard()
	}
	var err error
	if t.summary, err = t.trace.Finish(); err != nil {
		return errors.Join(fmt.Errorf("--trace: %w", err), t.discard())
	}
	if o.Err != nil || !o.Result.Complete {
		t.summary.Note = "the run did not come to its end"
	}
	switch {
	case h.Size == 1:
		return t.complete()
	case h.Index == 0:
		return nil
	}
	if err = t.w.Close(*t.summary); err == nil {
		err = t.out.Flush()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("--trace: %w", err), t.discard())
	}
	return nil
}

// complete ends the file, which takes its name.
func (t *recording) complete() error {
	err := t.w.Close(*t.summary)
	if err == nil {
		err = t.out.Flush()
	}
	if err == nil {
		err = t.file.Sync()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("--trace: %w", err), t.discard())
	}
	file := t.file
	if t.file = nil; err == nil {
		err = file.Close()
	}
	if err == nil {
		err = os.Rename(file.Name(), t.name)
	}
	return err
}

// take has host process 0 take in what the others have recorded, and end the trace. All of them call it once they have agreed on the end of the run: on an
// exit code that tells that each has a file.
func (t *recording) take(c *terminal.Console, h *host.Processes, code int) (err error) {
	switch {
	case t == nil || h.Size == 1:
		return nil
	case code > terminal.ExitProgram || h.Apart:
		if h.Leads() {
			_, _ = fmt.Fprintf(c.Stderr, "gigarank: %s is not written: it wants the ranks of all host processes\n", t.name)
		}
		return t.discard()
	case h.Index > 0:
		err = h.AnswerParts(t.file)
		return errors.Join(err, t.discard())
	}
	for i := 1; i < h.Size && err == nil; i++ {
		err = t.include(h, i)
	}
	if err = errors.Join(err, h.EndParts()); err != nil {
		return errors.Join(fmt.Errorf("--trace: %w", err), t.discard())
	}
	return t.complete()
}

// include takes in what another host process has recorded.
func (t *recording) include(h *host.Processes, i int) error {
	part, err := h.OpenPart(i)
	if err != nil {
		return err
	}
	s, err := t.w.Include(fmt.Sprintf("the ranks of host process %d", i), part, part.Size())
	if err == nil {
		t.summary.Add(s)
	}
	return err
}

// formats are the formats of other tools that can be read.
var formats = []trace.Foreign{dim.Format}

// openTrace opens a trace, which stays open. A trace of another tool is converted.
func openTrace(name string) (*trace.File, error) {
	file, size, err := openInput(name)
	if err != nil {
		return nil, err
	}
	format, err := formatOf(file)
	if err == nil && format != nil {
		var converted bytes.Buffer
		if err = convertTrace(name, file, format, &converted, trace.Zstd); err == nil {
			f, err := trace.Open(name, bytes.NewReader(converted.Bytes()), int64(converted.Len()))
			if err == nil {
				f.Foreign = true
			}
			return f, errors.Join(err, file.Close())
		}
	}
	var f *trace.File
	if err == nil {
		f, err = trace.Open(name, file, size)
	}
	if err == nil {
		err = f.Verify()
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

// openInput opens a file that is read at several places, and returns its size.
func openInput(name string) (*os.File, int64, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file, and a trace is read at several places: name the file", name)
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// formatOf returns the format of a trace of another tool, nil for gigarank's own.
func formatOf(file io.ReaderAt) (*trace.Foreign, error) {
	first := make([]byte, 256)
	n, err := file.ReadAt(first, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for i := range formats {
		if formats[i].Begins(first[:n]) {
			return &formats[i], nil
		}
	}
	return nil, nil
}

// isTrace reports whether a file is a trace, of gigarank or of another tool.
func isTrace(name string) bool {
	file, size, err := openInput(name)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // it was only read
	if _, _, err := trace.ReadHeader(name, file, size); err == nil {
		return true
	}
	format, err := formatOf(file)
	return err == nil && format != nil
}

// convertTrace writes a trace of another tool as a trace of gigarank.
func convertTrace(name string, from io.ReadSeeker, format *trace.Foreign, to io.Writer, way trace.Compression) error {
	w, summary, err := format.Convert(name, from, func(h trace.Header) (*trace.Writer, error) {
		h.Recorder = versionLine()
		return trace.NewWriter(to, h, way)
	})
	if err == nil {
		err = w.Close(summary)
	}
	return err
}

// repeats returns the repeated collective of a trace, nil for none.
func repeats(p *trace.Repeats) (*mpivirt.Repeated, error) {
	if p == nil {
		return nil, nil
	}
	i := slices.Index(operationNames(), p.Operation)
	if i < 0 {
		return nil, fmt.Errorf("the trace repeats the unknown collective %q: read it with a later version of gigarank", p.Operation)
	}
	op, err := namedOperations([]string{p.Operation})
	if err != nil {
		return nil, err
	}
	return &mpivirt.Repeated{Operation: op[0], Bytes: p.Bytes, Element: p.Element, Data: p.Data}, nil
}

// entryOf returns a trace as a program.
func entryOf(name string, form mpivirt.Form, repeated *mpivirt.Repeated) *bench.Entry {
	return &bench.Entry{
		Name: filepath.Base(name), Summary: "a trace", Forms: []*mpivirt.Kind{form.Kind()},
		Build: func(bench.Options) (mpivirt.Program, error) {
			return mpivirt.Program{Forms: []mpivirt.Form{form}, Repeats: repeated}, nil
		},
	}
}
