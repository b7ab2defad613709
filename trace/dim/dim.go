// Package dim reads traces of Dimemas, files .dim, which MPIDtrace and prv2dim write and PSINS reads.
//
// A file has a header, lines d: with communicators, records of tasks, and at its end the places of the tasks. The records are
//
//	1:task:thread:SECONDS                                                     burst
//	2:task:thread:dest:thread:bytes:tag:comm:sync                             send; bit 0: rendezvous, bit 1: immediate
//	3:task:thread:source:thread:bytes:tag:comm:kind                           0 receive, 1 Irecv, 2 or 3 the wait for it
//	10:task:thread:operation:comm:root:rootthread:sent:received:…             collective
//	20:task:thread:type:value                                                 event, which is left out
//	0:task:thread                                                             nothing
//
// Communicators of collectives are those of the lines d:. prv2dim gives each message a number of its own as its communicator: where
// that is none of the lines d:, a message is on WORLD. Nobody waits for an immediate send. The v-forms
// of collectives have no counts by member, so they are refused, and so are nonblocking ones, whose end is not in the file.
//
// [Machine] reads the machines of Dimemas, files .cfg.
package dim

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gigarank/internal/spelling"
	"gigarank/trace"
)

// Format is the reader of .dim files.
var Format = trace.Foreign{
	Name: origin, Summary: "Dimemas, files .dim",
	Begins:  func(first []byte) bool { return bytes.HasPrefix(first, []byte(begins)) },
	Convert: convert,
}

const (
	origin = "dimemas" // in headers
	begins = "#DIMEMAS:"
)

// reader is the state of a conversion.
type reader struct {
	name     string
	line     int
	text     string   // of the line
	fields   []string // of the record
	w        *trace.Writer
	tasks    []task
	comms    map[int64]*communicator
	crossing map[pair]bool
	tags     map[[2]int64]int64 // by communicator and tag, of messages of crossing pairs
	summary  trace.Summary
	events   int64
}

// communicator is a communicator of a line d:.
type communicator struct {
	number int64   // in all tasks that it has
	group  []int64 // runs; nil for WORLD
	tasks  []int64
}

// task is the state of a task.
type task struct {
	stream trace.Stream
	open   []receive // Irecvs without their wait
	used   []bool    // numbers of requests
	given  bool      // its communicators are there
}

// receive is an Irecv: what its wait repeats.
type receive struct {
	source, bytes, tag int64
	request            int64
}

func (r *reader) fault(format string, arguments ...any) error {
	return fmt.Errorf("%s: line %d: %s", r.name, r.line, fmt.Sprintf(format, arguments...))
}

// convert implements [trace.Foreign].
func convert(name string, from io.ReadSeeker, begin func(trace.Header) (*trace.Writer, error)) (*trace.Writer, trace.Summary, error) {
	crossing, err := crossingPairs(from)
	if err != nil {
		return nil, trace.Summary{}, err
	}
	r := &reader{crossing: crossing, name: name, comms: map[int64]*communicator{}, tags: map[[2]int64]int64{}, summary: trace.Summary{Functions: map[string]int64{}}}
	lines, places := linesOf(from), false
	for lines.Scan() {
		r.line++
		r.text = strings.TrimRight(lines.Text(), " \r")
		var err error
		switch {
		case r.line == 1:
			err = r.header(begin)
		case r.text == "":
		case strings.HasPrefix(r.text, "d:"):
			err = r.communicator()
		case strings.HasPrefix(r.text, "s:"):
			places = true
		case places:
			err = r.fault("a record behind the places of the tasks")
		default:
			err = r.record()
		}
		if err != nil {
			return r.w, r.summary, err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		r.line++
		return r.w, r.summary, r.fault("the line is longer than 64 MiB")
	case err != nil:
		return r.w, r.summary, err
	case r.line == 0:
		return nil, r.summary, fmt.Errorf("%s: the file is empty", name)
	case !places:
		return r.w, r.summary, fmt.Errorf("%s: the places of the tasks, lines s:, are missing behind line %d: the file is torn", name, r.line)
	}
	return r.w, r.summary, r.end()
}

// linesOf returns the lines of a file. A line d: names all tasks.
func linesOf(from io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 64<<10), 64<<20)
	return lines
}

// pair is a pair of tasks with a tag of the messages between them.
type pair struct{ source, destination, tag int64 }

// crossingPairs returns the pairs whose receives do not begin in the order of the sends, by their communicators: prv2dim gives each
// message a communicator of its own. It reads the file, and goes back to its beginning. Lines with faults are left to the reader.
func crossingPairs(file io.ReadSeeker) (map[pair]bool, error) {
	sent, received := map[pair]uint64{}, map[pair]uint64{}
	for lines := linesOf(file); lines.Scan(); {
		text := lines.Text()
		sends := strings.HasPrefix(text, "2:")
		if !sends && !strings.HasPrefix(text, "3:") {
			continue
		}
		var n [9]int64
		fields := strings.SplitN(text, ":", len(n)+1)
		for i := range min(len(n), len(fields)) {
			n[i], _ = strconv.ParseInt(fields[i], 10, 64)
		}
		task, partner, tag, comm := n[1], n[3], n[6], uint64(n[7])
		switch {
		case sends:
			of := pair{task, partner, tag}
			sent[of] = sent[of]*0x9e3779b97f4a7c15 + comm + 1
		case n[8] <= 1:
			of := pair{partner, task, tag}
			received[of] = received[of]*0x9e3779b97f4a7c15 + comm + 1
		}
	}
	crossing := map[pair]bool{}
	for of, order := range sent {
		if other, both := received[of]; both && other != order {
			crossing[of] = true
		}
	}
	_, err := file.Seek(0, io.SeekStart) // an error of the lines comes again
	return crossing, err
}

// header reads the first line: #DIMEMAS:"NAME":1,OFFSET:TASKS(threads,…),COMMUNICATORS,0,0.
func (r *reader) header(begin func(trace.Header) (*trace.Writer, error)) error {
	rest, is := strings.CutPrefix(r.text, begins+`"`)
	program, rest, quoted := strings.Cut(rest, `":`)
	_, rest, placed := strings.Cut(rest, ":")
	count, threads, listed := strings.Cut(rest, "(")
	threads, _, closed := strings.Cut(threads, ")")
	n, err := strconv.Atoi(count)
	if !is || !quoted || !placed || !listed || !closed || err != nil || n < 1 {
		return r.fault(`the header is not #DIMEMAS:"NAME":1,OFFSET:TASKS(threads,…),…`)
	}
	if list := strings.Split(threads, ","); len(list) != n {
		return r.fault("%d tasks, and threads of %d", n, len(list))
	}
	if strings.Trim(threads, "1,") != "" {
		return r.fault("tasks with several threads (%s) cannot be read", threads)
	}
	r.tasks = make([]task, n)
	r.w, err = begin(trace.Header{Origin: origin, Tasks: n, Program: program})
	return err
}

// communicator reads a line d:1:comm:n:task…
func (r *reader) communicator() error {
	fields := strings.Split(r.text, ":")
	list := make([]int64, len(fields))
	for i := 1; i < len(fields); i++ {
		var err error
		if list[i], err = strconv.ParseInt(fields[i], 10, 64); err != nil {
			return r.fault("%q is no number", fields[i])
		}
	}
	if len(list) < 4 || list[3] != int64(len(list)-4) {
		return r.fault("a communicator is d:1:NUMBER:TASKS:TASK:…, with as many tasks as it counts")
	}
	c := &communicator{tasks: list[4:]}
	for i, t := range c.tasks {
		if t < 0 || t >= int64(len(r.tasks)) || slices.Contains(c.tasks[:i], t) {
			return r.fault("task %d, of %d, or twice", t, len(r.tasks))
		}
	}
	if r.comms[list[2]] != nil {
		return r.fault("communicator %d again", list[2])
	}
	whole := len(c.tasks) == len(r.tasks)
	for i, t := range c.tasks {
		whole = whole && int64(i) == t
		c.group = append(c.group, t, 1, 1)
	}
	if whole {
		c.number, c.group = trace.World, nil
	} else {
		c.number = 2 + int64(len(r.comms))
	}
	r.comms[list[2]] = c
	return nil
}

// record reads a record of a task.
func (r *reader) record() error {
	r.fields = strings.Split(r.text, ":")
	n, err := r.numbers(0, min(3, len(r.fields)))
	switch {
	case err != nil:
		return err
	case len(n) < 3:
		return r.fault("%q is no record", r.text)
	case n[1] < 0 || n[1] >= int64(len(r.tasks)):
		return r.fault("task %d: the header has %d", n[1], len(r.tasks))
	case n[2] != 0:
		return r.fault("thread %d of task %d: only tasks with a single thread can be read", n[2], n[1])
	}
	t := int(n[1])
	switch n[0] {
	case 0:
		return nil
	case 1:
		return r.burst(t)
	case 2:
		return r.send(t)
	case 3:
		return r.receive(t)
	case 10:
		return r.collective(t)
	case 20:
		r.events++
		return nil
	}
	return r.fault("records of type %d are not known", n[0])
}

// numbers returns fields as numbers.
func (r *reader) numbers(from, to int) ([]int64, error) {
	if to > len(r.fields) {
		return nil, r.fault("%q has %d fields, and %d are wanted", r.text, len(r.fields), to)
	}
	list := make([]int64, 0, to-from)
	for _, f := range r.fields[from:to] {
		v, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return nil, r.fault("%q is no number", f)
		}
		list = append(list, v)
	}
	return list, nil
}

// add appends an operation to a task.
func (r *reader) add(t int, o *trace.Operation) error {
	if k := &r.tasks[t]; !k.given {
		k.given = true
		for _, number := range slices.Sorted(keys(r.comms)) {
			if c := r.comms[number]; c.group != nil && slices.Contains(c.tasks, int64(t)) {
				if err := r.add(t, &trace.Operation{Function: trace.CommGiven, Made: c.number, Group: c.group, Context: c.number}); err != nil {
					return err
				}
			}
		}
	}
	r.summary.Operations++
	if n := o.Calls(); n > 0 {
		r.summary.Functions[o.Function.String()] += n
	}
	return r.tasks[t].stream.Append(r.w, t, o)
}

// keys returns the keys of communicators.
func keys(m map[int64]*communicator) func(yield func(int64) bool) {
	return func(yield func(int64) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// mostSeconds is the end of virtual time.
const mostSeconds = math.MaxInt64 / 1_000_000_000_000

// burst reads a burst, whose time is decimal seconds.
func (r *reader) burst(t int) error {
	if len(r.fields) < 4 {
		return r.fault("a burst has no time")
	}
	whole, fraction, _ := strings.Cut(r.fields[3], ".")
	fraction = strings.TrimRight(fraction, "0")
	s, err := strconv.ParseUint(whole, 10, 63)
	ps := uint64(0)
	if err == nil && fraction != "" {
		ps, err = strconv.ParseUint((fraction + strings.Repeat("0", 12))[:max(12, len(fraction))], 10, 63)
	}
	if err != nil || len(fraction) > 12 || s >= mostSeconds {
		return r.fault("%q is no time in seconds, of picoseconds at most", r.fields[3])
	}
	d := int64(s*1e12 + ps)
	return r.add(t, &trace.Operation{Function: trace.Burst, CPU: d, Wall: d})
}

// mostTag is the greatest tag (MPI_TAG_UB).
const mostTag = 1<<31 - 1

// tagOf returns the tag on WORLD of a message of a task: that of the file, or, for a crossing pair, a great one for each pair of communicator
// and tag. Partners are tasks in any case.
func (r *reader) tagOf(t int, p pair, comm int64) (int64, error) {
	if c := r.comms[comm]; c != nil && !slices.Contains(c.tasks, int64(t)) {
		return 0, r.fault("task %d is not in communicator %d", t, comm)
	}
	if !r.crossing[p] {
		return p.tag, nil
	}
	of, known := r.tags[[2]int64{comm, p.tag}]
	if !known {
		of = mostTag - int64(len(r.tags))
		r.tags[[2]int64{comm, p.tag}] = of
	}
	return of, nil
}

func (r *reader) checkPartner(t int64) error {
	if t < 0 || t >= int64(len(r.tasks)) {
		return r.fault("partner %d: tasks are 0 to %d", t, len(r.tasks)-1)
	}
	return nil
}

// send reads a send.
func (r *reader) send(t int) error {
	n, err := r.numbers(3, 9)
	if err == nil {
		err = r.checkPartner(n[0])
	}
	if err != nil {
		return err
	}
	o := &trace.Operation{Function: trace.Send, Peer: n[0], Bytes: n[2]}
	if o.Tag, err = r.tagOf(t, pair{int64(t), n[0], n[3]}, n[4]); err != nil {
		return err
	}
	switch rendezvous, immediate := n[5]&1 != 0, n[5]&2 != 0; {
	case n[5] > 3 || n[5] < 0:
		return r.fault("a send of the unknown kind %d", n[5])
	case rendezvous && immediate:
		o.Function = trace.Issend
	case rendezvous:
		o.Function = trace.Ssend
	case immediate:
		o.Function = trace.Isend
	}
	if n[5]&2 != 0 {
		o.Form, o.Request = trace.Freed, -1
	}
	return r.add(t, o)
}

// receive reads a receive, an Irecv or the wait for it.
func (r *reader) receive(t int) error {
	n, err := r.numbers(3, 9)
	if err == nil {
		err = r.checkPartner(n[0])
	}
	if err != nil {
		return err
	}
	o := &trace.Operation{Function: trace.Recv, Source: n[0], GotSource: n[0], Room: n[2]}
	if o.SourceTag, err = r.tagOf(t, pair{n[0], int64(t), n[3]}, n[4]); err != nil {
		return err
	}
	o.GotTag = o.SourceTag
	k, same := &r.tasks[t], receive{source: n[0], bytes: n[2], tag: o.SourceTag}
	switch n[5] {
	case 0:
	case 1:
		o.Function = trace.Irecv
		same.request = int64(slices.Index(k.used, false))
		if same.request < 0 {
			same.request, k.used = int64(len(k.used)), append(k.used, false)
		}
		k.used[same.request], o.Request = true, same.request
		k.open = append(k.open, same)
	case 2, 3:
		i := slices.IndexFunc(k.open, func(x receive) bool { return x.source == same.source && x.bytes == same.bytes && x.tag == same.tag })
		if i < 0 {
			return r.fault("task %d waits for a receive of %d bytes from task %d with tag %d that it has not begun", t, n[2], n[0], n[3])
		}
		o = &trace.Operation{Function: trace.Wait, Requests: []int64{k.open[i].request}}
		k.used[k.open[i].request] = false
		k.open = slices.Delete(k.open, i, i+1)
	default:
		return r.fault("a receive of the unknown kind %d", n[5])
	}
	return r.add(t, o)
}

// operations are the collectives by their numbers.
var operations = map[int64]trace.Function{
	0: trace.Barrier, 1: trace.Bcast, 2: trace.Gather, 4: trace.Scatter, 6: trace.Allgather, 8: trace.Alltoall, 10: trace.Reduce, 11: trace.Allreduce,
	13: trace.ReduceScatterBlock, 14: trace.Scan,
}

// collective reads a collective.
func (r *reader) collective(t int) error {
	n, err := r.numbers(3, 9)
	if err != nil {
		return err
	}
	f, known := operations[n[0]]
	switch c := r.comms[n[1]]; {
	case !known && n[0] >= 16 && n[0] < 32:
		return r.fault("a nonblocking collective cannot be read: the file does not say who waits for it")
	case !known && n[0] >= 0 && n[0] < 16:
		return r.fault("collective %d has different counts by member, which the file does not have", n[0])
	case !known:
		return r.fault("there is no collective %d", n[0])
	case c == nil:
		return r.fault("there is no communicator %d", n[1])
	case !slices.Contains(c.tasks, int64(t)):
		return r.fault("task %d is not in communicator %d", t, n[1])
	default:
		o := &trace.Operation{Function: f, Comm: c.number, Element: 1}
		switch sent, received := n[4], n[5]; f {
		case trace.Barrier:
			o.Element = 0
		case trace.Bcast:
			o.Vector = max(sent, received)
		case trace.Scatter, trace.ReduceScatterBlock:
			o.Vector = received
		default:
			o.Vector = sent
		}
		switch f {
		case trace.Bcast, trace.Gather, trace.Scatter, trace.Reduce:
			o.Root = n[2]
		}
		return r.add(t, o)
	}
}

// end ends the tasks.
func (r *reader) end() error {
	for t := range r.tasks {
		if err := r.add(t, &trace.Operation{Function: trace.End}); err != nil {
			return err
		}
		r.summary.Ended++
		if err := r.tasks[t].stream.Flush(r.w, t); err != nil {
			return err
		}
	}
	if r.events > 0 {
		r.summary.Note = spelling.Count(r.events, "event record") + " left out"
	}
	return nil
}
