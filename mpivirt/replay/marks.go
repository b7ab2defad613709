package replay

import (
	"fmt"

	"gigarank/trace"
	"gigarank/vtime"
)

// Mark is the n-th beginning of a phase with a name in each task, from 1 on. The zero mark is the beginning of the task, or its end.
type Mark struct {
	Name string
	N    int
}

func (m Mark) String() string { return fmt.Sprintf("%s#%d", m.Name, m.N) }

// Window is the part of each task from one mark to another. What is under way at its beginning depends on the operations before it and on the
// machine: these are replayed, too.
type Window struct{ From, To Mark }

// WindowName is the name under which the length of a window is recorded.
const WindowName = "window"

// passage is how far a rank has come in the window.
type passage struct {
	from, to int32 // beginnings of the marks' phases so far
	began    vtime.Time
}

// passes replays a mark.
func (b *body) passes(lp int32, o *trace.Operation) {
	switch o.Function {
	case trace.MarkEnd:
		b.k.BeginPhase(lp, "")
	case trace.MarkBegin:
		b.k.BeginPhase(lp, string(o.Name))
		if b.window != nil {
			b.comes(lp, string(o.Name))
		}
	}
}

// comes counts a mark, and records the window that it ends.
func (b *body) comes(lp int32, name string) {
	p := &b.windows[lp]
	from, to := p.counts(b.window, name)
	if from {
		p.began = b.k.Clocks()[lp]
	}
	if to {
		b.leaves(lp)
	}
}

// counts counts a mark, and reports whether the window begins or ends there.
func (p *passage) counts(w *Window, name string) (from, to bool) {
	if name == w.From.Name && w.From.N > 0 {
		p.from++
		from = int(p.from) == w.From.N
	}
	if name == w.To.Name && w.To.N > 0 {
		p.to++
		to = int(p.to) == w.To.N
	}
	return from, to
}

// leaves records the window, which ends for a rank.
func (b *body) leaves(lp int32) {
	b.k.Record(0, WindowName, b.k.Clocks()[lp].Sub(b.windows[lp].began))
}

// Check returns the error of the first task in which a window does not begin, or does not end behind its beginning.
func (w *Window) Check(f *trace.File) error {
	blocks, err := trace.NewBlocks(f, 1<<20)
	if err != nil {
		return err
	}
	for task := range f.Header.Tasks {
		at, err := f.Task(task)
		if err != nil {
			return err
		}
		if err := w.check(f, &at, blocks); err != nil {
			return err
		}
	}
	return nil
}

// check is Check of one task.
func (w *Window) check(f *trace.File, at *trace.Cursor, blocks *trace.Blocks) error {
	var p passage
	var o trace.Operation
	for {
		more, err := at.Next(blocks, &o)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if o.Function != trace.MarkBegin {
			continue
		}
		if _, to := p.counts(w, string(o.Name)); to && int(p.from) >= w.From.N {
			return nil
		} else if to {
			return at.Fault(f, fmt.Sprintf("the window ends here, at %v, before it begins, at %v", w.To, w.From))
		}
	}
	for _, m := range []struct {
		Mark
		came int32
	}{{w.From, p.from}, {w.To, p.to}} {
		if int(m.came) < m.N {
			return at.Fault(f, fmt.Sprintf("the task ends without the mark %v: its last one of that phase is number %d", m.Mark, m.came))
		}
	}
	return nil
}
