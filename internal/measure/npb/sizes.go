package main

import (
	"fmt"
	"io"
	"os"

	"gigarank/trace"
)

// sizes are the bytes that the operations of a trace take in other forms.
type sizes struct {
	fixed   int64   // records of fields of fixed length
	text    int64   // text of Dimemas, without event records
	plain   int64   // a trace without compression that holds what the text holds: no durations of calls, no wall time of bursts
	packed  int64   // that trace, compressed
	stopped float64 // seconds of the wall time of all bursts that is no CPU time
}

// counter counts bytes.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// bare is a trace that is written to count its bytes.
type bare struct {
	bytes  counter
	writer *trace.Writer
	stream trace.Stream
}

// bares returns the traces without and with compression that take a header.
func bares(h trace.Header) (all []bare, err error) {
	all = make([]bare, 2)
	for i, way := range []trace.Compression{trace.None, trace.Zstd} {
		if all[i].writer, err = trace.NewWriter(&all[i].bytes, h, way); err != nil {
			return all, err
		}
	}
	return all, nil
}

// sizesOf returns the sizes of a trace.
func sizesOf(name string) (s sizes, err error) {
	r, err := os.Open(name)
	if err != nil {
		return s, err
	}
	defer func() { _ = r.Close() }()
	end, err := r.Seek(0, io.SeekEnd)
	if err != nil {
		return s, err
	}
	f, err := trace.Open(name, r, end)
	if err != nil {
		return s, err
	}
	blocks, err := trace.NewBlocks(f, 16<<20)
	if err != nil {
		return s, err
	}
	traces, err := bares(f.Header)
	if err != nil {
		return s, err
	}
	for task := range f.Header.Tasks {
		at, err := f.Task(task)
		if err != nil {
			return s, err
		}
		received := map[int64]string{} // by request
		var o trace.Operation
		for {
			more, err := at.Next(blocks, &o)
			if err != nil {
				return s, err
			}
			if !more {
				break
			}
			if o.Function == trace.Burst {
				s.stopped += float64(o.Wall-o.CPU) / 1e12
			}
			s.fixed += fixedBytes(&o)
			s.text += int64(len(dimText(task, &o, received)))
			o.Took, o.Wall = 0, o.CPU
			for i := range traces {
				if err := traces[i].stream.Append(traces[i].writer, task, &o); err != nil {
					return s, err
				}
			}
		}
		for i := range traces {
			if err := traces[i].stream.Flush(traces[i].writer, task); err != nil {
				return s, err
			}
			traces[i].stream = trace.Stream{}
		}
	}
	for i := range traces {
		if err := traces[i].writer.Close(trace.Summary{}); err != nil {
			return s, err
		}
	}
	s.plain, s.packed = int64(traces[0].bytes), int64(traces[1].bytes)
	return s, nil
}

// fixedBytes returns the bytes of an operation as a record of fields of fixed length, without those that it has no use for: 4 for the function, each rank,
// tag, communicator and request, 8 for each time and size. A burst has two times, and a call has how long it took.
func fixedBytes(o *trace.Operation) int64 {
	const number, long = 4, 8
	request := int64(0)
	switch o.Function {
	case trace.Isend, trace.Issend, trace.Irecv:
		request = number
	}
	if o.Form.Has(trace.Nonblocking) {
		request = number
	}
	switch o.Function.Class() {
	case trace.ClassBurst:
		return number + 2*long
	case trace.ClassSend, trace.ClassReceive: // partner, tag, communicator
		return number + 3*number + long + request + long
	case trace.ClassSendReceive:
		return number + 5*number + 2*long + long
	case trace.ClassWait, trace.ClassTest:
		return number + number + number*int64(len(o.Requests)) + long
	case trace.ClassCollective: // communicator, root; counts by member
		return number + 2*number + long + request + long*int64(len(o.Counts)+len(o.InCounts)+len(o.OutCounts)) + long
	case trace.ClassMark, trace.ClassEnd:
		return number
	}
	return number + number + long
}

// dimText returns the records of an operation in a trace of Dimemas: its burst, its message, the end of each receive that it waits for, or its collective. A
// nonblocking receive is kept in received, by its request. Nobody waits for a send there, and communicators are made in the header.
func dimText(task int, o *trace.Operation, received map[int64]string) (text string) {
	head := func(record int) string { return fmt.Sprintf("%d:%d:0:", record, task) }
	send := func(kind int) string {
		return fmt.Sprintf("%s%d:0:%d:%d:%d:%d\n", head(2), o.Peer, o.Bytes, o.Tag, o.Comm, kind)
	}
	receive := func(kind int) string {
		return fmt.Sprintf("%s%d:-1:%d:%d:%d:%d\n", head(3), o.Source, o.Room, o.SourceTag, o.Comm, kind)
	}
	switch o.Function.Class() {
	case trace.ClassBurst:
		return fmt.Sprintf("%s%.9f\n", head(1), float64(o.CPU)/1e12)
	case trace.ClassSend:
		return send(map[trace.Function]int{trace.Isend: 2, trace.Ssend: 1}[o.Function])
	case trace.ClassReceive:
		if o.Function == trace.Irecv {
			received[o.Request] = receive(2)
			return receive(1)
		}
		return receive(0)
	case trace.ClassSendReceive:
		return send(0) + receive(0)
	case trace.ClassWait:
		for _, request := range o.Named(nil) {
			text += received[request]
			delete(received, request)
		}
		return text
	case trace.ClassCollective:
		return fmt.Sprintf("%s%d:%d:%d:0:%d:%d:1\n", head(10), int(o.Function)%30, o.Comm, max(o.Root, 0), o.Vector, o.Vector)
	}
	return ""
}
