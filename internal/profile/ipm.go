package profile

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ipm reads IPM's banner: the part of the whole program, which comes first.
func (r *reader) ipm() {
	const tail = "give the whole banner of IPM"
	number, begun, listed := 0, false, false
	countAt := 0
	tasksSeen := false
	for text := range strings.Lines(string(r.text)) {
		number++
		line := strings.TrimSpace(text)
		switch {
		case strings.HasPrefix(line, "##IPMv"):
			if begun {
				r.fault(number, "a second banner", "give the banner of one run")
				return
			}
			begun = true
			continue
		case !begun || !strings.HasPrefix(line, "#"):
			continue
		case listed && (strings.Trim(line, "#") == "" || strings.Contains(line, "[time]")):
			r.endIPM(number, tasksSeen) // regions follow
			return
		}
		fields := strings.Fields(strings.TrimLeft(line, "# "))
		if at := slices.Index(fields, "mpi_tasks"); at >= 0 && at+2 < len(fields) && fields[at+1] == ":" {
			n, err := strconv.Atoi(fields[at+2])
			if err != nil || n < 1 || n > mostTasks {
				r.fault(number, fmt.Sprintf("%q is no number of tasks", fields[at+2]), tail)
			}
			r.Tasks, tasksSeen = n, true
		}
		if len(fields) == 0 {
			continue
		}
		of := strings.ToLower(fields[0])
		numbers := slices.DeleteFunc(slices.Clone(fields[1:]), func(f string) bool { return f == ":" })
		switch {
		case slices.Contains(fields, "[time]"):
			countAt = max(slices.Index(fields, "[count]"), slices.Index(fields, "[calls]"))
			if listed = countAt == 1; !listed {
				r.fault(number, "no column [count] or [calls] behind [time]", tail)
				return
			}
		case listed && strings.HasPrefix(fields[0], "MPI_"):
			if len(fields) < 3 {
				r.fault(number, "a function without a time and a number of calls", tail)
				continue
			}
			r.add(fields[0], r.calls(number, fields[2]), r.time(number, fields[1]))
		case !listed && of == "wallclock" && len(numbers) == 4: // total, mean, least, greatest
			r.Run = r.time(number, numbers[3])
		case !listed && of == "mpi" && len(numbers) == 4 && r.InMPI < 0:
			r.InMPI = r.time(number, numbers[0])
		}
	}
	if !listed {
		r.fault(max(number, 1), "the banner has no times of functions", "run with IPM_REPORT=full, or give the XML file of IPM")
		return
	}
	r.endIPM(max(number, 1), tasksSeen)
}

// endIPM checks what a banner has told.
func (r *reader) endIPM(line int, tasks bool) {
	if !tasks {
		r.fault(line, "the banner tells no mpi_tasks", "give the whole banner of IPM")
	}
}

// time reads seconds of at least 0.
func (r *reader) time(line int, text string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		r.fault(line, fmt.Sprintf("%q is no time", strings.TrimSpace(text)), "give seconds of at least 0")
		return 0
	}
	return v
}

// calls reads a number of calls. Old versions of IPM print large numbers in powers of ten.
func (r *reader) calls(line int, text string) uint64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v < 0 || v != math.Trunc(v) || v >= 1<<63 {
		r.fault(line, fmt.Sprintf("%q is no number of calls", text), "give a whole number")
		return 0
	}
	return uint64(v)
}

// ipmXML reads IPM's XML.
func (r *reader) ipmXML() {
	d := xml.NewDecoder(bytes.NewReader(r.text))
	d.CharsetReader = latin1
	in := ipmTask{reader: r, d: d}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			line, _ := d.InputPos()
			r.fault(line, fmt.Sprintf("no well-formed XML: %v", err), "give the file as IPM writes it")
			return
		}
		switch t := token.(type) {
		case xml.StartElement:
			in.open(t)
		case xml.CharData:
			in.chars = append(in.chars, t...)
		case xml.EndElement:
			in.close(t.Name.Local)
		}
	}
	line, _ := d.InputPos()
	if r.ByTask == nil {
		r.fault(line, "the file has no <task>", "give the file as IPM writes it")
		return
	}
	r.settle(line)
}

// ipmTask is the place in the XML of IPM.
type ipmTask struct {
	*reader
	d       *xml.Decoder
	rank    int // of the task, negative outside
	regions int // depth of <regions>
	nested  int // depth of <region>
	inMPI   float64
	name    string // of the function
	count   uint64
	chars   []byte
}

func (t *ipmTask) line() int { line, _ := t.d.InputPos(); return line }

// attribute returns an attribute of an element, and faults if it is missing.
func (t *ipmTask) attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	t.fault(t.line(), fmt.Sprintf("<%s> has no %s", e.Name.Local, name), "give the file as IPM writes it")
	return "0"
}

// whole reads an attribute that is a number of at least some value.
func (t *ipmTask) whole(e xml.StartElement, name string, least int) int {
	text := t.attribute(e, name)
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > mostTasks {
		t.fault(t.line(), fmt.Sprintf("%s=%q of <%s> is out of range", name, text, e.Name.Local), "give the file as IPM writes it")
		return least
	}
	return n
}

func (t *ipmTask) open(e xml.StartElement) {
	t.chars = t.chars[:0]
	switch e.Name.Local {
	case "task":
		t.rank, t.inMPI, t.regions, t.nested = t.whole(e, "mpi_rank", 0), 0, 0, 0
		size := t.whole(e, "mpi_size", 1)
		switch {
		case t.Tasks != 0 && t.Tasks != size:
			t.fault(t.line(), fmt.Sprintf("a task of %d beside tasks of %d", size, t.Tasks), "give the file of one run")
		case t.rank >= size:
			t.fault(t.line(), fmt.Sprintf("rank %d of %d tasks", t.rank, size), "give the file as IPM writes it")
		case t.rank < len(t.ByTask) && t.ByTask[t.rank] >= 0:
			t.fault(t.line(), fmt.Sprintf("task %d is there twice", t.rank), "give the file of one run")
		}
		t.Tasks = size
	case "perf":
		t.Run = max(t.Run, t.time(t.line(), t.attribute(e, "wtime")))
	case "regions":
		t.regions++
	case "region":
		t.nested++
	case "func":
		t.name, t.count = t.attribute(e, "name"), t.calls(t.line(), t.attribute(e, "count"))
	}
}

func (t *ipmTask) close(element string) {
	switch element {
	case "func":
		seconds := t.time(t.line(), string(t.chars))
		// Regions within a region count in the outer one.
		if t.nested == 1 && strings.HasPrefix(t.name, "MPI_") {
			t.add(t.name, t.count, seconds)
			t.inMPI += seconds
		}
	case "region":
		t.nested--
	case "regions":
		t.regions--
	case "task":
		t.task(t.rank, t.inMPI)
	}
}

// latin1 returns a reader of ISO 8859-1, in which IPM says that its files are.
func latin1(charset string, in io.Reader) (io.Reader, error) {
	if !strings.EqualFold(charset, "iso-8859-1") {
		return nil, fmt.Errorf("unknown encoding %s", charset)
	}
	text, err := io.ReadAll(in)
	var out []byte
	for _, b := range text {
		out = append(out, string(rune(b))...)
	}
	return bytes.NewReader(out), err
}
