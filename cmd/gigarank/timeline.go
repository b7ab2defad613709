package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/spelling"
	"gigarank/mpivirt"
	"gigarank/mpivirt/timeline"
	"gigarank/vtime"
)

// timelineFlags are the flags on the picture that a run writes, as they are written.
type timelineFlags struct {
	file, ranks, window string
	yes                 bool
}

func (f *timelineFlags) define(flags *pflag.FlagSet) {
	var endings []string
	for _, format := range timeline.Formats {
		endings = append(endings, format.Ending)
	}
	flags.StringVar(&f.file, "timeline", "", "write a picture of what ranks do over virtual time to a `FILE`, whose ending is its format: "+strings.Join(endings, ", ")+"; collectives go by messages")
	flags.StringVar(&f.ranks, "ranks-shown", "", "ranks of the picture: a `LIST` such as 0-63 or 0,8-15 (default 0-63)")
	flags.StringVar(&f.window, "window", "", "virtual time of the picture: a `SPEC` such as 1s..1.2s, 5ms.. or ..3ms (default all)")
	flags.BoolVar(&f.yes, "yes", false, "write a picture of more than 1 GB, too")
}

// usualShown is the last rank that a picture shows unless told otherwise, and mostPicture the bytes beyond which it wants --yes.
const (
	usualShown  = 63
	mostPicture = 1_000_000_000
)

// picture is the picture that a run writes.
type picture struct {
	name      string
	format    *timeline.Format
	collector *timeline.Collector
}

// readTimeline reads the flags on the picture to write of a run, which may be recorded.
func (r *request) readTimeline(h *host.Processes, f *timelineFlags, recorded bool, faults *terminal.UsageError) {
	if f.file == "" {
		for flag, given := range map[string]bool{"--ranks-shown": f.ranks != "", "--window": f.window != "", "--yes": f.yes} {
			if given {
				faults.Add(flag, errors.New("it concerns a picture: give --timeline FILE, too"))
			}
		}
		return
	}
	o := timeline.Options{Native: isPath(r.entry.Name), Format: timeline.FormatOf(f.file), Limit: mostPicture, Reports: h.Size > 1}
	if f.yes {
		o.Limit = 0
	}
	switch {
	case o.Format == nil:
		faults.Add("--timeline", fmt.Errorf("%s: the ending says no format: use %s", f.file, describeFormats()))
	case r.entry.Direct != nil:
		faults.Add("--timeline", fmt.Errorf("%s makes no calls of MPI: there is nothing to draw", r.entry.Name))
	case recorded:
		faults.Add("--timeline", errors.New("a run is recorded or drawn: draw the replay of its trace"))
	case h.Index == 0:
		folder := strings.TrimSuffix(f.file, o.Format.Ending)
		if info, err := os.Stat(folder); o.Format.Folder && err == nil && !info.IsDir() {
			faults.Add("--timeline", fmt.Errorf("%s is a file, and the picture has a folder of that name: name the picture otherwise", folder))
		}
		for _, file := range o.Format.Files {
			faults.Add("--timeline", terminal.CheckWritable(fileOf(f.file, o.Format, &file)))
		}
	}
	var err error
	o.Shown, err = readShown(f.ranks, int(r.ranks))
	faults.Add("--ranks-shown", err)
	o.From, o.To, err = readWindow(f.window)
	faults.Add("--window", err)
	if len(*faults) == 0 {
		r.untold = r.untold || !r.config.Activities
		faults.Add("--timeline", r.countActivities(true))
		r.picture = &picture{f.file, o.Format, timeline.New(o)}
		r.config.Observer = func(first, n int) mpivirt.Observer { return r.picture.collector.Observer(first, n) }
	}
}

// describeFormats returns the endings of files with the tools that read them.
func describeFormats() string {
	var all []string
	for _, f := range timeline.Formats {
		all = append(all, fmt.Sprintf("%s (%s)", f.Ending, f.Tool))
	}
	return strings.Join(all, ", ")
}

// fileOf returns the name of a file of a picture.
func fileOf(name string, format *timeline.Format, file *timeline.File) string {
	return strings.TrimSuffix(name, format.Ending) + file.Ending
}

// readShown reads a list of ranks, which are ascending.
func readShown(text string, ranks int) (shown []timeline.Range, err error) {
	if text == "" {
		return []timeline.Range{{First: 0, Last: min(usualShown, max(ranks, 1)-1)}}, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(item, "-")
		if !isRange {
			high = low
		}
		first, err1 := strconv.Atoi(low)
		last, err2 := strconv.Atoi(high)
		n := len(shown)
		switch {
		case err1 != nil || err2 != nil || first > last:
			return nil, fmt.Errorf("%q is no rank and no range: write such as 0-63 or 0,8-15", item)
		case n > 0 && first <= shown[n-1].Last:
			return nil, fmt.Errorf("%q does not follow the ranks before: write ranks in ascending order, each once", item)
		case last >= ranks && ranks > 0:
			return nil, fmt.Errorf("rank %d, and the run has %d: ranks count from 0", last, ranks)
		}
		shown = append(shown, timeline.Range{First: first, Last: last})
	}
	return shown, nil
}

// readWindow reads a window of virtual time.
func readWindow(text string) (from, to vtime.Time, err error) {
	if to = vtime.Forever; text == "" {
		return from, to, nil
	}
	begin, end, isRange := strings.Cut(text, "..")
	if !isRange || begin == "" && end == "" {
		return 0, 0, fmt.Errorf("%q is no window: write FROM..TO such as 1s..1.2s", text)
	}
	if begin != "" {
		d, err := vtime.ParseDuration(begin)
		if err != nil {
			return 0, 0, err
		}
		from = vtime.Time(0).Add(d)
	}
	if end != "" {
		d, err := vtime.ParseDuration(end)
		if err != nil {
			return 0, 0, err
		}
		to = vtime.Time(0).Add(d)
	}
	if from < 0 || to <= from {
		return 0, 0, fmt.Errorf("%q is empty: write the earlier instant first", text)
	}
	return from, to, nil
}

// finish writes the files of a picture, on host process 0, which has the records of all. A run that has failed is drawn as far as it came.
func (p *picture) finish(c *terminal.Console, h *host.Processes, r *request, o *host.Outcome) error {
	if p == nil || o.Result == nil {
		return nil
	}
	if tooLong := p.collector.TooLong(); tooLong != nil {
		o.Err = nil
		return terminal.UsageError{tooLong}
	}
	if h.Index > 0 {
		return nil
	}
	if missing := h.Size - 1 - p.collector.Reports(); missing > 0 {
		return fmt.Errorf("--timeline: no picture is written, since the ranks of %s have not reported", spelling.Count(missing, "host process"))
	}
	var path []mpivirt.PathSegment
	if o.Result.Path != nil {
		path = o.Result.Path.Segments
	}
	t := p.collector.Timeline(r.entry.Name, r.machine, int(r.ranks), o.Result.VirtualTime, path)
	if err := p.format.Check(t); err != nil {
		return terminal.UsageError{fmt.Errorf("--timeline: %w", err)}
	}
	if size := p.format.Size(t); size > tellsSize {
		_, _ = fmt.Fprintf(c.Stderr, "gigarank: the picture takes about %s\n", terminal.Bytes(size))
	}
	for _, file := range p.format.FilesOf(t) {
		if err := p.write(&file, t); err != nil {
			return fmt.Errorf("--timeline: %w", err)
		}
	}
	return nil
}

// tellsSize is the size of a picture from which on its forecast is told before it is written.
const tellsSize = 50_000_000

// write writes a file of a picture, as a whole.
func (p *picture) write(file *timeline.File, t *timeline.Timeline) error {
	name := fileOf(p.name, p.format, file)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := os.Create(name + partial)
	if err != nil {
		return err
	}
	err = file.Write(bufio.NewWriterSize(f, 1<<20), t)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), name)
}
