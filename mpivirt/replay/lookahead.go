package replay

import (
	"gigarank/trace"
)

// A receive with wildcards that begins takes the message that it took in the record. The operation that completed it says which that was. A look-ahead
// of the rank reads the operations behind, each of them once, and keeps what they say of the receives that have not begun yet.

// lookahead is the look-ahead of a rank.
type lookahead struct {
	at     trace.Cursor
	takes  []take          // of nonblocking receives with wildcards, in the order in which they begin, from those that have not begun on
	begun  int64           // receives that have begun
	passed int64           // receives that the look-ahead has passed
	named  []int64         // scratch
	open   map[int64]int64 // by request: the receive, which no operation so far has completed
}

// take is the message that a receive took. Before known is set nothing is known of it.
type take struct {
	source, tag   int64
	known, untold bool // untold: the operation that completed the receive does not say it
}

// looksAhead reports whether an operation begins a receive with wildcards that a later operation completes.
func looksAhead(o *trace.Operation) bool {
	switch o.Function.Class() {
	case trace.ClassReceive, trace.ClassSendReceive:
		return isWild(o) && !procedures[o.Function].Blocks() && !o.Form.Has(trace.Failed)
	}
	return false
}

// matched returns source and tag of the message that a receive with wildcards, which begins, took in the record. They are the wildcards for
// a receive that was cancelled or has not been completed.
func (b *body) matched(lp int32, r *rank, o *trace.Operation) (source, tag int64, err error) {
	a := b.aheads[lp]
	if a == nil {
		if b.aheads == nil {
			b.aheads = map[int32]*lookahead{}
		}
		a = &lookahead{at: r.at, open: map[int64]int64{}}
		b.aheads[lp] = a
		a.hears(o)
	}
	for len(a.takes) == 0 || !a.takes[0].known {
		more, err := a.at.Next(b.blocks, &b.ahead)
		if err != nil {
			return 0, 0, err
		}
		if !more {
			break
		}
		b.looked++
		a.hears(&b.ahead)
	}
	if a.begun++; len(a.takes) == 0 {
		return o.Source, o.SourceTag, nil
	}
	got := a.takes[0]
	a.takes = a.takes[1:]
	switch {
	case got.untold:
		return 0, 0, r.at.Fault(b.file, r.function.String()+": the trace does not say which message the receive took: give --matching virtual")
	case !got.known:
		return o.Source, o.SourceTag, nil
	}
	return got.source, got.tag, nil
}

// hears takes in an operation.
func (a *lookahead) hears(o *trace.Operation) {
	switch o.Function.Class() {
	case trace.ClassReceive, trace.ClassSendReceive:
		if !looksAhead(o) {
			return
		}
		a.takes = append(a.takes, take{source: o.Source, tag: o.SourceTag, known: o.Form.Has(trace.Freed)})
		if a.passed++; !o.Form.Has(trace.Freed) {
			a.open[o.Request] = a.passed - 1
		}
	case trace.ClassCancel:
		for _, request := range o.Requests {
			if t := a.ends(request); t != nil {
				t.known = true
			}
		}
	case trace.ClassWait, trace.ClassTest:
		if o.Form.Has(trace.Missed) || len(a.open) == 0 {
			return
		}
		for m := o.Matched; len(m) >= 3; m = m[3:] {
			if t := a.ends(m[0]); t != nil {
				*t = take{source: m[1], tag: m[2], known: true}
			}
		}
		a.named = o.Named(a.named[:0])
		for _, request := range a.named {
			if t := a.ends(request); t != nil {
				*t = take{known: true, untold: true}
			}
		}
	}
}

// ends returns what is to be told of the receive with a request, which an operation completes or cancels; nil for other requests.
func (a *lookahead) ends(request int64) *take {
	number, has := a.open[request]
	if !has {
		return nil
	}
	delete(a.open, request)
	return &a.takes[number-a.begun]
}
