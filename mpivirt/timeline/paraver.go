package timeline

import (
	"bufio"
	"cmp"
	"slices"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/vtime"
)

// The format of Paraver ("Paraver Trace format", Barcelona Supercomputing Center). Times are whole nanoseconds, rounded down. Each rank is a task with a
// thread, on a processor of its own. States are the causes of the rank's time; an event of type 50000000 has the number of the function, 0 at its end.
// The critical path has events of type 50000100 where it passes a rank.

const (
	functionType = 50_000_000
	pathType     = 50_000_100
)

// paraverEvent is a record: of a slice, of a part of it, or of a message.
type paraverEvent struct {
	at, to vtime.Time
	index  int32
	value  int32
	kind   uint8
}

// The kinds of records, as Paraver numbers them.
const (
	paraverState   uint8 = 1
	paraverChange  uint8 = 2
	paraverMessage uint8 = 3
	paraverPath    uint8 = 4 // a change, too
)

// writeParaver writes the trace of a picture for Paraver.
func writeParaver(w *bufio.Writer, t *Timeline) {
	place := map[int]int{} // of a rank, from 1 on
	for i, rank := range t.Shown {
		place[rank] = i + 1
	}
	put(w, "#Paraver (01/01/2000 at 00:00):%d_ns:1(%d):1:%d(", nanoseconds(t.To), len(t.Shown), len(t.Shown))
	for i := range t.Shown {
		if i > 0 {
			_, _ = w.WriteString(",")
		}
		_, _ = w.WriteString("1:1")
	}
	_, _ = w.WriteString(")\n")
	var events []paraverEvent
	for i := range t.Slices {
		s := &t.Slices[i]
		if !s.IsComputing() {
			events = append(events, paraverEvent{s.Begin, s.Begin, int32(i), int32(s.Procedure), paraverChange}, paraverEvent{s.End, s.End, int32(i), 0, paraverChange})
		}
		at := s.Begin
		for _, p := range t.PartsOf(s) {
			events = append(events, paraverEvent{at, at.Add(p.Time), int32(i), int32(p.Cause) + 1, paraverState})
			at = at.Add(p.Time)
		}
	}
	for i := range t.Messages {
		events = append(events, paraverEvent{t.Messages[i].Sent, 0, int32(i), 0, paraverMessage})
	}
	for i, p := range t.Path {
		if place[p.Rank] > 0 {
			events = append(events, paraverEvent{p.From, 0, int32(i), 1, paraverPath}, paraverEvent{p.To, 0, int32(i), 0, paraverPath})
		}
	}
	slices.SortStableFunc(events, func(a, b paraverEvent) int {
		return cmp.Or(cmp.Compare(nanoseconds(a.at), nanoseconds(b.at)), cmp.Compare(a.kind, b.kind))
	})
	for _, e := range events {
		switch e.kind {
		case paraverState:
			n := place[int(t.Slices[e.index].Rank)]
			put(w, "1:%d:1:%d:1:%d:%d:%d\n", n, n, nanoseconds(e.at), nanoseconds(e.to), e.value)
		case paraverChange:
			n := place[int(t.Slices[e.index].Rank)]
			put(w, "2:%d:1:%d:1:%d:%d:%d\n", n, n, nanoseconds(e.at), functionType, e.value)
		case paraverPath:
			n := place[t.Path[e.index].Rank]
			put(w, "2:%d:1:%d:1:%d:%d:%d\n", n, n, nanoseconds(e.at), pathType, e.value)
		case paraverMessage:
			m := &t.Messages[e.index]
			from, to := place[int(m.From)], place[int(m.To)]
			put(w, "3:%d:1:%d:1:%d:%d:%d:1:%d:1:%d:%d:%d:%d\n", from, from, nanoseconds(m.Sent), nanoseconds(m.Sent), to, to, nanoseconds(m.Received), nanoseconds(m.Received), m.Bytes, m.Tag)
		}
	}
}

func nanoseconds(t vtime.Time) int64 { return int64(t) / 1000 }

// writeColours writes what the numbers of a trace mean.
func writeColours(w *bufio.Writer, t *Timeline) {
	_, _ = w.WriteString("DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\nSTATES\n0    Idle\n")
	order := slices.Sorted(slices.Values(kernel.Passing()))
	for _, c := range order {
		put(w, "%d    %v\n", int(c)+1, c)
	}
	_, _ = w.WriteString("\nSTATES_COLOR\n0    {255,255,255}\n")
	for _, c := range order {
		rgb := colors[c.String()]
		put(w, "%d    {%d,%d,%d}\n", int(c)+1, rgb[0], rgb[1], rgb[2])
	}
	put(w, "\nEVENT_TYPE\n0    %d    MPI function\nVALUES\n0      End\n", functionType)
	for _, p := range t.procedures() {
		put(w, "%d      %s\n", p, t.NameOf(p))
	}
	put(w, "\nEVENT_TYPE\n0    %d    Critical path\nVALUES\n0      Elsewhere\n1      Here\n", pathType)
}

// writeRows writes the names of the rows of a picture.
func writeRows(w *bufio.Writer, t *Timeline) {
	put(w, "LEVEL CPU SIZE %d\n", len(t.Shown))
	for i := range t.Shown {
		put(w, "%d\n", i+1)
	}
	put(w, "\nLEVEL NODE SIZE 1\n1\n\nLEVEL THREAD SIZE %d\n", len(t.Shown))
	for _, rank := range t.Shown {
		put(w, "rank %d\n", rank)
	}
}
