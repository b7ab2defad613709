package timeline

import (
	"bufio"
	"fmt"

	"gigarank/vtime"
)

// The Trace Event Format of Chrome ("Trace Event Format", Google, 2016), which Perfetto reads. Times are microseconds with the
// picoseconds behind the point. Process 0 has a thread for each rank; a call is a slice, the causes of its time are slices within it,
// and a message is a flow from the slice of its send to the slice in which it is received. Process 1 has the critical path.

// reserved are the colours of causes, by the names that chrome://tracing reserves; Perfetto gives each name a colour by itself.
var reserved = map[string]string{
	"late sender": "terrible", "late receiver": "terrible", "late root": "terrible", "late member": "terrible", "wait at barrier": "bad", "wait at n-to-n": "bad",
	"network": "rail_response", "interface": "rail_load", "bus": "rail_load", "link": "rail_load", "memory": "rail_load", "processor": "yellow", "computing": "good",
}

// writeJSON writes a picture for Perfetto.
func writeJSON(w *bufio.Writer, t *Timeline) {
	put(w, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":%q,\"machine\":%q},\"traceEvents\":[\n", t.Program, t.Machine)
	put(w, `{"ph":"M","pid":0,"name":"process_name","args":{"name":%q}}`, t.Program)
	for _, rank := range t.Shown {
		put(w, ",\n"+`{"ph":"M","pid":0,"tid":%d,"name":"thread_name","args":{"name":"rank %d"}},`+"\n", rank, rank)
		put(w, `{"ph":"M","pid":0,"tid":%d,"name":"thread_sort_index","args":{"sort_index":%d}}`, rank, rank)
	}
	var b []byte
	for i := range t.Slices {
		s := &t.Slices[i]
		category := "MPI"
		if s.IsComputing() {
			category = "computing"
		}
		b = appendSlice(b[:0], int(s.Rank), t.NameOf(s.Procedure), category, s.Begin, s.End)
		b = fmt.Appendf(b, `,"args":{"bytes":%d}}`, s.Bytes)
		if !s.IsComputing() {
			at := s.Begin
			for _, p := range t.PartsOf(s) {
				b = appendSlice(b, int(s.Rank), p.Cause.String(), "cause", at, at.Add(p.Time))
				b = fmt.Appendf(b, `,"cname":%q}`, reserved[p.Cause.String()])
				at = at.Add(p.Time)
			}
		}
		_, _ = w.Write(b)
	}
	for i := range t.Messages {
		m := &t.Messages[i]
		b = append(b[:0], ",\n"...)
		b = fmt.Appendf(b, `{"ph":"s","pid":0,"tid":%d,"name":"message","cat":"message","id":%d,"ts":`, m.From, i)
		b = append(appendMicroseconds(b, m.Sent), "},\n"...)
		b = fmt.Appendf(b, `{"ph":"f","bp":"e","pid":0,"tid":%d,"name":"message","cat":"message","id":%d,"args":{"bytes":%d,"tag":%d},"ts":`, m.To, i, m.Bytes, m.Tag)
		_, _ = w.Write(append(appendMicroseconds(b, m.Received), '}'))
	}
	if len(t.Path) > 0 {
		_, _ = w.WriteString(",\n" + `{"ph":"M","pid":1,"name":"process_name","args":{"name":"critical path"}},` + "\n" + `{"ph":"M","pid":1,"tid":0,"name":"thread_name","args":{"name":"critical path"}}`)
	}
	for _, p := range t.Path {
		b = fmt.Appendf(b[:0], ",\n"+`{"ph":"X","pid":1,"tid":0,"name":%q,"cat":"path","ts":`, pathName(p.Rank, p.Sender, p.Function, p.Way))
		b = append(appendMicroseconds(b, p.From), `,"dur":`...)
		b = append(appendMicroseconds(b, vtime.Time(p.To.Sub(p.From))), '}')
		_, _ = w.Write(b)
	}
	_, _ = w.WriteString("\n]}\n")
}

// pathName returns the text of a segment of the critical path.
func pathName(rank, sender int, function string, way bool) string {
	if way {
		return fmt.Sprintf("to rank %d from %d, %s", rank, sender, function)
	}
	return fmt.Sprintf("rank %d, %s", rank, function)
}

// appendSlice appends a slice without its end.
func appendSlice(b []byte, rank int, name, category string, from, to vtime.Time) []byte {
	b = fmt.Appendf(b, ",\n"+`{"ph":"X","pid":0,"tid":%d,"name":%q,"cat":%q,"ts":`, rank, name, category)
	b = append(appendMicroseconds(b, from), `,"dur":`...)
	return appendMicroseconds(b, vtime.Time(to.Sub(from)))
}

// appendMicroseconds appends an instant in microseconds, exactly.
func appendMicroseconds(b []byte, t vtime.Time) []byte {
	return fmt.Appendf(b, "%d.%06d", uint64(t)/1_000_000, uint64(t)%1_000_000)
}
