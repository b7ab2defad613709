package replay

import (
	"bytes"
	"testing"
	"unsafe"

	"gigarank/trace"
)

// A rank takes at most 512 bytes with eight requests under way and two communicators of its own.
func TestRanksAreSmall(t *testing.T) {
	if size := unsafe.Sizeof(rank{}) + 8*unsafe.Sizeof(int32(0)) + 2*unsafe.Sizeof(int32(0)); size > 512 {
		t.Errorf("a rank takes %d bytes", size)
	} else {
		t.Logf("%d bytes", size)
	}
}

// A look-ahead reads each operation once, however many receives with wildcards are under way: a window of them, or all until the end.
func TestLookAheadsAreLinear(t *testing.T) {
	for _, receives := range []int64{500, 4000} {
		for _, window := range []int64{1, 100, receives} {
			var written bytes.Buffer
			w, err := trace.NewWriter(&written, trace.Header{Origin: "simulated", Tasks: 1}, trace.Zstd)
			if err != nil {
				t.Fatal(err)
			}
			var s trace.Stream
			operations := uint64(0)
			add := func(o trace.Operation) {
				operations++
				if err := s.Append(w, 0, &o); err != nil {
					t.Fatal(err)
				}
			}
			wait := func(from, to int64) {
				o := trace.Operation{Function: trace.Waitall}
				for i := from; i < to; i++ {
					o.Requests, o.Matched = append(o.Requests, i%window), append(o.Matched, i%window, i, 2*i)
				}
				add(o)
			}
			for i := range receives {
				add(trace.Operation{Function: trace.Irecv, Source: trace.AnySource, SourceTag: trace.AnyTag, GotSource: trace.AnySource, GotTag: trace.AnyTag, Request: i % window})
				if (i+1)%window == 0 {
					wait(i+1-window, i+1)
				}
			}
			add(trace.Operation{Function: trace.End})
			if err := s.Flush(w, 0); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(trace.Summary{}); err != nil {
				t.Fatal(err)
			}
			f, err := trace.Open("file.grt", bytes.NewReader(written.Bytes()), int64(written.Len()))
			if err != nil {
				t.Fatal(err)
			}
			b, r := &body{file: f}, &rank{}
			if b.blocks, err = trace.NewBlocks(f, 1<<20); err != nil {
				t.Fatal(err)
			}
			if r.at, err = f.Task(0); err != nil {
				t.Fatal(err)
			}
			for next := int64(0); ; {
				more, err := r.at.Next(b.blocks, &b.o)
				if err != nil || !more {
					if err != nil || next != receives {
						t.Fatalf("%d receives, %v", next, err)
					}
					break
				}
				if !looksAhead(&b.o) {
					continue
				}
				if source, tag, err := b.matched(0, r, &b.o); err != nil || source != next || tag != 2*next {
					t.Fatalf("receive %d of %d in a window of %d took %d, %d, %v", next, receives, window, source, tag, err)
				}
				next++
			}
			if b.looked > operations {
				t.Errorf("%d receives in a window of %d: the look-ahead has read %d operations of %d", receives, window, b.looked, operations)
			}
		}
	}
}
