package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"gigarank/mpivirt"
	"gigarank/result"
)

// document is the result of a run.
type document struct{ result.Document }

// newDocument describes the outcome of a run on all hosts; peak is their memory.
func newDocument(r *request, h *hosts, o outcome, peak int64) *document {
	simulated := o.result
	if simulated == nil {
		simulated = &mpivirt.Result{}
	}
	s := simulated.Statistics
	d := &document{result.Document{
		Schema: result.Schema, Program: r.entry.Name, Ranks: r.ranks, Hosts: h.size, Engines: h.size * r.engines,
		LP: r.config.Kind.String(), Sync: r.config.Protocol.String(), Strict: r.config.Strict,
		Machine: r.machine, Seed: r.config.Seed,
		Complete: o.err == nil && simulated.Complete, FinishedRanks: simulated.Finished,
		VirtualTime: int64(simulated.VirtualTime), Fingerprint: simulated.Fingerprint,
		Wall: round(o.wall), SetUp: simulated.SetupWall,
		Events: s.Events, Messages: s.Messages, RemoteMessages: s.RemoteMessages,
		SyncMessages: s.SyncMessages, TransportMessages: s.TransportMessages, Switches: s.Switches,
		PeakRSS: peak, BytesPerRank: float64(peak*100/r.ranks) / 100,
		Iterations: []result.Iteration{}, Operations: []result.Operation{},
		Finish: result.Distribution{
			Min: int64(simulated.Finish.Min), Mean: int64(simulated.Finish.Mean), Max: int64(simulated.Finish.Max),
			Histogram: histogram(simulated.Finish.Histogram),
		},
	}}
	for _, o := range simulated.Operations {
		d.Operations = append(d.Operations, result.Operation{Operation: o.Operation, Histogram: histogram(o.Histogram)})
	}
	if o.err != nil {
		d.Reason = o.err.Error()
	}
	finished := finishedIterations(simulated, d.Complete, uint64(r.ranks))
	d.Iterations = slices.Grow(d.Iterations, len(finished))
	for _, it := range finished {
		d.Iterations = append(d.Iterations, result.Iteration{
			Index: it.Index, Operation: it.Operation, Min: int64(it.Min), Mean: int64(it.Mean), Max: int64(it.Max), Wall: it.Wall,
		})
	}
	return d
}

// histogram converts a histogram to the form of a document.
func histogram(h mpivirt.Histogram) result.Histogram {
	return result.Histogram{Low: int64(h.Low), Width: int64(h.Width), Counts: append([]uint64{}, h.Counts...)}
}

// round rounds a wall time to microseconds and returns it in seconds.
func round(d time.Duration) float64 { return d.Round(time.Microsecond).Seconds() }

// finishedIterations returns the iterations of a run that were finished. Of an
// incomplete run it leaves out those that fewer ranks have recorded than the
// operation's first. The first itself counts if another one follows or all ranks have
// recorded it.
func finishedIterations(r *mpivirt.Result, complete bool, ranks uint64) []mpivirt.Iteration {
	if complete {
		return r.Iterations
	}
	first := map[string]mpivirt.Iteration{}
	followed := map[string]bool{}
	for _, it := range r.Iterations {
		if _, known := first[it.Operation]; known {
			followed[it.Operation] = true
		} else {
			first[it.Operation] = it
		}
	}
	var finished []mpivirt.Iteration
	for _, it := range r.Iterations {
		if it.Count == ranks || it.Count >= first[it.Operation].Count && followed[it.Operation] {
			finished = append(finished, it)
		}
	}
	return finished
}

// encode returns the JSON text.
func (d *document) encode() []byte {
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("gigarank: a document that is no JSON: %v", err))
	}
	text = countLists.ReplaceAllFunc(text, func(list []byte) []byte {
		return append([]byte(`"counts": `), strings.Join(strings.Fields(string(list[len(`"counts":`):])), "")...)
	})
	return append(text, '\n')
}

// countLists matches lists that are easier to read on one line.
var countLists = regexp.MustCompile(`"counts": \[[^]]*]`)

// write writes the document to the destination of --json: none, standard output, or a
// file. A regular file appears as a whole or not at all.
func (d *document) write(c *console, name string) error {
	switch name {
	case "":
		return nil
	case "-":
		_, err := c.stdout.Write(d.encode())
		return err
	}
	path, regular := destination(name)
	if !regular {
		return os.WriteFile(path, d.encode(), 0o666)
	}
	return replaceFile(path, d.encode())
}

// destination follows symbolic links, so that a rename replaces their target. It also
// reports whether the target is a regular file or does not exist. A device or a pipe is
// written to directly.
func destination(name string) (path string, regular bool) {
	path = name
	if resolved, err := filepath.EvalSymlinks(name); err == nil {
		path = resolved
	}
	info, err := os.Stat(path)
	return path, err != nil || info.Mode().IsRegular()
}

// replaceFile writes a file under another name in the same directory and renames it.
func replaceFile(path string, text []byte) error {
	name := temporary(path)
	err := writeFile(name, text)
	if err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		_ = os.Remove(name)
		return fmt.Errorf("the result was not written: %w", err)
	}
	return nil
}

// writeFile writes a file and waits until it is on the disk.
func writeFile(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// temporary returns the name under which a file is written before it is renamed.
func temporary(path string) string {
	return filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d.tmp", filepath.Base(path), os.Getpid()))
}

// checkWritable checks before a run whether its document can be written.
func checkWritable(name string) error {
	if name == "" || name == "-" {
		return nil
	}
	path, regular := destination(name)
	if !regular {
		return checkSpecial(path)
	}
	f, err := os.OpenFile(temporary(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w; name a file in a directory that exists and is writable", name, err)
	}
	_ = f.Close()
	return os.Remove(f.Name())
}

// checkSpecial checks a destination that exists and is no regular file. It does not
// open a pipe, which would wait for its reader.
func checkSpecial(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fmt.Errorf("%s is a directory: name a file in it", path)
	}
	return nil
}
