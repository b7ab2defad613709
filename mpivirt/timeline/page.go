package timeline

import (
	"bufio"
	_ "embed" // of the page
	"encoding/json"
	"fmt"
	"strings"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/vtime"
)

// The page holds a row for each rank, drawn on a canvas by a script of its own. It loads nothing. Instants are picoseconds since the
// beginning of the window.

// The most that a page holds.
const (
	pageRanks  = 256
	pageEvents = 10_000 // of a rank: calls and messages that it receives
)

//go:embed page.html
var page string

// checkPage returns an error for a picture that is too large for a page.
func checkPage(t *Timeline) error {
	if n := len(t.Shown); n > pageRanks {
		return fmt.Errorf("%d ranks, and a page shows at most %d: give fewer --ranks-shown", n, pageRanks)
	}
	events := map[int32]int{}
	for i := range t.Slices {
		events[t.Slices[i].Rank]++
	}
	for i := range t.Messages {
		events[t.Messages[i].To]++
	}
	for _, rank := range t.Shown {
		if n := events[int32(rank)]; n > pageEvents {
			return fmt.Errorf("rank %d has %d calls and messages, and a page shows at most %d: give a shorter --window", rank, n, pageEvents)
		}
	}
	return nil
}

// writePage writes a picture as a page.
func writePage(w *bufio.Writer, t *Timeline) {
	before, after, _ := strings.Cut(page, "{{data}}")
	_, _ = w.WriteString(before)
	names := map[uint8]string{}
	for _, p := range t.procedures() {
		names[p] = t.NameOf(p)
	}
	type cause struct {
		Name  string `json:"name"`
		Color string `json:"color"`
	}
	causes := map[int]cause{}
	for _, c := range kernel.Passing() {
		rgb := colors[c.String()]
		causes[int(c)] = cause{c.String(), fmt.Sprintf("#%02x%02x%02x", rgb[0], rgb[1], rgb[2])}
	}
	put(w, "{\"program\":%s,\"machine\":%s,\"from\":%d,\"to\":%d,\"ranks\":%s,\n\"functions\":%s,\n\"causes\":%s,\n\"slices\":[", text(t.Program), text(t.Machine), t.From, t.To, text(t.Shown), text(names), text(causes))
	next := 0
	for i, rank := range t.Shown {
		if i > 0 {
			put(w, ",")
		}
		put(w, "\n[")
		for first := next; next < len(t.Slices) && int(t.Slices[next].Rank) == rank; next++ {
			s := &t.Slices[next]
			if next > first {
				put(w, ",")
			}
			put(w, "[%d,%d,%d,%d", s.Begin.Sub(t.From), s.End.Sub(s.Begin), s.Procedure, s.Bytes)
			for _, p := range t.PartsOf(s) {
				put(w, ",%d,%d", p.Cause, p.Time)
			}
			put(w, "]")
		}
		put(w, "]")
	}
	put(w, "],\n\"messages\":[")
	for i := range t.Messages {
		m := &t.Messages[i]
		put(w, "%s\n[%d,%d,%d,%d,%d,%d]", comma(i), m.From, m.To, m.Sent.Sub(t.From), m.Received.Sub(t.From), m.Bytes, m.Tag)
	}
	put(w, "],\n\"path\":[")
	for i, p := range t.Path {
		way := 0
		if p.Way {
			way = 1
		}
		put(w, "%s\n[%d,%d,%d,%d,%d,%s]", comma(i), p.Rank, p.Sender, p.From.Sub(t.From), vtime.Time(0).Add(p.To.Sub(t.From)), way, text(p.Function))
	}
	put(w, "]}")
	_, _ = w.WriteString(after)
}

// comma returns what comes before the element of a list with an index.
func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

// text returns a value as JSON, which may stand in a page.
func text(v any) string {
	b, err := json.Marshal(v) // < is escaped
	if err != nil {
		panic(err)
	}
	return string(b)
}
