package slice

import (
	"slices"
	"strings"

	"gigarank/mpivirt/native/skeleton/effects"
	"gigarank/mpivirt/native/skeleton/ir"
)

// trial is an attempt to keep what counts the iterations of a loop. It fails where that takes the content of messages, memory of more than a page, whether such memory is there,
// floating-point numbers in memory, or calls that do more than compute.
type trial struct {
	failed bool
	undo   []func()
}

// undo notes how to take back what has been kept, if that is an attempt.
func (s *Slice) undo(back func()) {
	if s.trial != nil {
		s.trial.undo = append(s.trial.undo, back)
	}
}

// allows reports whether an instruction may be kept.
func (s *Slice) allows(i *ir.Instr) bool {
	if s.trial == nil {
		return true
	}
	allowed := true
	switch e := effectOf(i); {
	case i.Op == ir.Alloca:
		allowed = len(i.Operands) == 0 && s.memory.isSmall(i.Type)
	case i.Op == ir.Load:
		allowed = !i.Type.IsFloat()
	case i.Op == ir.Store:
		allowed = !i.Operands[0].Of().IsFloat()
	case e == nil:
	case e.Kind == effects.Alloc:
		allowed = allocated(i) >= 0 && allocated(i) <= page
	case strings.ContainsRune(e.Roles, rune(effects.Allotted)):
		allowed = false
	case e.Kind != effects.Pure && e.Kind != effects.Copy && e.Kind != effects.Parse && e.Kind != effects.Hint && e.Kind != effects.Free || e.Clock:
		allowed = false
	}
	s.trial.failed = s.trial.failed || !allowed
	return allowed
}

// attempt keeps what a value or an instruction needs, or nothing, and reports which.
func (s *Slice) attempt(keep func()) bool {
	s.trial = &trial{}
	keep()
	s.close()
	t := s.trial
	s.trial = nil
	if !t.failed {
		return true
	}
	s.pending = s.pending[:0]
	for _, back := range slices.Backward(t.undo) {
		back()
	}
	return false
}

// count has the skeleton count the iterations of a region where it can. The timed form alone has the other counters, and tells what they count.
func (s *Slice) count(r *region) {
	if r.instr != nil {
		s.countBytes(r)
		return
	}
	var counted, others []*counter
	r.task.Told = len(r.task.Unknown) == 0
	for _, c := range r.counters {
		if s.attempt(func() { s.keep(c.step, c.step) }) {
			counted = append(counted, c)
			continue
		}
		others = append(others, c)
		if line := s.shortPlace(c.loop); !slices.Contains(r.task.Unknown, line) {
			r.task.Unknown = append(r.task.Unknown, line)
		}
	}
	r.task.Loops, r.task.Told = len(counted), r.task.Told && len(others) > 0
	for _, end := range r.ends {
		if r.task.Told {
			s.tell(end, others)
		}
		if sum, made := s.sumOf(end, counted); sum != nil {
			end.Operands[1] = sum
			for _, i := range made {
				s.kept[i] = end
			}
		}
	}
	if !r.task.Told {
		for _, c := range others {
			for _, i := range c.parts {
				i.Block.Instrs = slices.DeleteFunc(i.Block.Instrs, func(other *ir.Instr) bool { return other == i })
			}
		}
	}
	for _, c := range counted {
		for _, i := range c.parts { // those that set a counter to 0 among them
			s.keep(i, c.step)
		}
	}
	s.close()
}

// sumOf returns the sum of counters, each times the instructions of its loop, and what makes it in front of the call that ends a task.
func (s *Slice) sumOf(end *ir.Instr, counters []*counter) (sum ir.Value, made []*ir.Instr) {
	i64 := s.m.Int(64)
	add := func(op ir.Op, operands ...ir.Value) ir.Value {
		i := s.m.Make(end.Block, op, i64, operands...)
		i.Notes = placeOf(end)
		made = append(made, i)
		return i.Result
	}
	for _, c := range counters {
		product := add(ir.Mul, add(ir.Load, c.variable.Result), ir.Number(i64, c.weight))
		if sum == nil {
			sum = product
		} else {
			sum = add(ir.Add, sum, product)
		}
	}
	at := slices.Index(end.Block.Instrs, end)
	end.Block.Instrs = slices.Insert(end.Block.Instrs, at, made...)
	return sum, made
}

// tell has the timed form tell the sum of counters that the skeleton does not have, where a task ends.
func (s *Slice) tell(end *ir.Instr, counters []*counter) {
	sum, _ := s.sumOf(end, counters)
	call := s.m.Make(end.Block, ir.Call, nil, end.Operands[0], sum, s.m.Symbol(taskUncounted))
	call.Notes = placeOf(end)
	at := slices.Index(end.Block.Instrs, end)
	end.Block.Instrs = slices.Insert(end.Block.Instrs, at, call)
}

// countBytes has a task that copies memory count the bytes.
func (s *Slice) countBytes(r *region) {
	for _, end := range r.ends {
		size := end.Operands[1]
		if !s.attempt(func() { s.value(size, end) }) {
			end.Operands[1] = ir.Number(s.m.Int(64), 0)
			r.task.Loops, r.task.Unknown = 0, append(r.task.Unknown, s.shortPlace(r.instr))
		}
	}
}
