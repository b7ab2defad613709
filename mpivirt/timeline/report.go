package timeline

import (
	"encoding/binary"
	"encoding/json"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/vtime"
)

// The report of an engine for host process 0: the instant at which the picture became too long, -1 for none, and whether for the report;
// then the numbers of slices, parts, messages and ends of sends, and these, in words of 64 bits; then the communicators in JSON.

// mostReported is the greatest length in bytes of the report of a host process, so that it travels in one message.
const mostReported = 1 << 30

// The words of an item in a report.
const (
	sliceWords    = 8
	partWords     = 2
	messageWords  = 8
	departedWords = 4
)

// size returns the length of the report in bytes.
func (r *records) size() int64 {
	return 8 * int64(6+len(r.slices)*sliceWords+len(r.parts)*partWords+len(r.messages)*messageWords+len(r.departed)*departedWords)
}

// Report implements [kernel.Gatherer].
func (e *engine) Report() []byte {
	r := e.take()
	b := make([]byte, 0, r.size())
	add := func(words ...uint64) {
		for _, w := range words {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
	}
	tooLong, reported := int64(-1), uint64(0)
	if l := e.collector.TooLong(); l != nil {
		tooLong = int64(l.At)
		if l.Reported {
			reported = 1
		}
	}
	add(uint64(tooLong), reported, uint64(len(r.slices)), uint64(len(r.parts)), uint64(len(r.messages)), uint64(len(r.departed)))
	for i := range r.slices {
		s := &r.slices[i]
		add(uint64(s.Begin), uint64(s.End), uint64(s.Bytes), uint64(uint32(s.Rank))<<32|uint64(s.Procedure)<<8|uint64(s.count), uint64(s.parts),
			uint64(s.Obtained), s.Context, uint64(uint32(s.Root))<<32|flag(s.Collective))
	}
	for _, p := range r.parts {
		add(uint64(p.Time), uint64(p.Cause))
	}
	for i := range r.messages {
		m := &r.messages[i]
		add(uint64(m.Sent), uint64(m.Received), uint64(m.Bytes), uint64(uint32(m.From))<<32|uint64(uint32(m.To)), uint64(uint32(m.Tag)),
			uint64(m.Posted), m.Context, flag(m.Requested))
	}
	for _, d := range r.departed {
		add(uint64(d.sent), uint64(d.complete), uint64(uint32(d.from))<<32|uint64(uint32(d.to)), uint64(uint32(d.tag)))
	}
	comms, err := json.Marshal(r.comms)
	if err != nil {
		panic(err) // names and numbers
	}
	return append(b, comms...)
}

func flag(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}

// Gathers implements [kernel.Gatherer].
func (e *engine) Gathers(report []byte) {
	word := func() uint64 {
		w := binary.LittleEndian.Uint64(report)
		report = report[8:]
		return w
	}
	tooLong, reported := int64(word()), word() == 1
	if tooLong >= 0 {
		e.collector.exceeds(&LimitError{Limit: e.options.Limit, At: vtime.Time(tooLong), Reported: reported})
	}
	of := &engine{options: e.options, collector: e.collector, full: true}
	of.slices, of.parts, of.messages = make([]Slice, word()), make([]Part, word()), make([]Message, word())
	of.departed = make([]departed, word())
	for i := range of.slices {
		s := Slice{Begin: vtime.Time(word()), End: vtime.Time(word()), Bytes: int64(word())}
		w := word()
		s.Rank, s.Procedure, s.count, s.parts = int32(w>>32), uint8(w>>8), uint8(w), int32(word())
		s.Obtained, s.Context = int64(word()), word()
		w = word()
		s.Root, s.Collective = int32(w>>32), w&1 > 0
		of.slices[i] = s
	}
	for i := range of.parts {
		d := vtime.Duration(word())
		of.parts[i] = Part{kernel.Cause(word()), d}
	}
	for i := range of.messages {
		m := Message{Sent: vtime.Time(word()), Received: vtime.Time(word()), Bytes: int64(word())}
		w := word()
		m.From, m.To, m.Tag = int32(w>>32), int32(w), int32(word())
		m.Posted, m.Context, m.Requested = vtime.Time(word()), word(), word() > 0
		of.messages[i] = m
	}
	for i := range of.departed {
		d := departed{sent: vtime.Time(word()), complete: vtime.Time(word())}
		w := word()
		d.from, d.to, d.tag = int32(w>>32), int32(w), int32(word())
		of.departed[i] = d
	}
	if err := json.Unmarshal(report, &of.comms); err != nil {
		panic(err) // another process of this program has written it
	}
	c := e.collector
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.engines, c.reports = append(c.engines, of), c.reports+1
}
