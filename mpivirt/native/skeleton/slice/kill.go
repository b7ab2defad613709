package slice

import (
	"slices"
	"strings"

	"gigarank/mpivirt/native/skeleton/effects"
	"gigarank/mpivirt/native/skeleton/ir"
)

// A store that covers the bytes of a load, and that each way to the load passes, ends what earlier writers have left there. The two have one address for
// sure if it is the same value plus constants: between the last such store and the load that value has not been made anew, since what makes it
// dominates both.

// address is a value plus a constant number of bytes.
type address struct {
	base ir.Value
	at   int64
}

// addressOf returns the address that a pointer is.
func (s *Slice) addressOf(v ir.Value) address {
	sum := int64(0)
	for {
		base, more, is := s.stepOf(v)
		if !is {
			return address{v, sum}
		}
		v, sum = base, sum+more
	}
}

// stepOf returns the pointer from which a pointer is a constant number of bytes away, and that number.
func (s *Slice) stepOf(v ir.Value) (base ir.Value, bytes int64, is bool) {
	source, operands := (*ir.Type)(nil), []ir.Value(nil)
	switch v := v.(type) {
	case *ir.Local:
		if v.Def == nil || v.Def.Op != ir.GetElementPtr {
			return nil, 0, false
		}
		source, operands = v.Def.Type, v.Def.Operands
	case *ir.Const:
		if v.Form != ir.Expression || v.Text != "getelementptr" {
			return nil, 0, false
		}
		source, operands = v.Source, v.Elems
	default:
		return nil, 0, false
	}
	constant, terms, err := s.m.Layout.Offset(source, operands[1:])
	return operands[0], constant, err == nil && len(terms) == 0
}

// stores returns the stores of a function by the bases of their addresses.
func (s *Slice) stores(f *ir.Function) map[ir.Value][]*ir.Instr {
	if s.storesTo[f] == nil {
		all := map[ir.Value][]*ir.Instr{}
		for _, b := range s.graphs[f].Blocks {
			for _, i := range b.Instrs {
				if i.Op == ir.Store {
					base := s.addressOf(i.Operands[1]).base
					all[base] = append(all[base], i)
				}
			}
		}
		s.storesTo[f] = all
		s.dominators[f] = s.graphs[f].Dominators()
	}
	return s.storesTo[f]
}

// reach is the part of a function from which a load may read what is written: from the last store on that covers the load's bytes.
type reach struct {
	from    map[*ir.Block]int // by block: the place of its last such store, 0 if it has none
	load    *ir.Instr
	since   int // the place in the load's block of the last such store in front of the load, 0 for none
	callees map[*ir.Function]bool
}

// reachOf returns the part of its function from which a load reads, nil if it may read what other functions or the function's callers have written.
func (s *Slice) reachOf(load *ir.Instr) *reach {
	f, size := load.Block.Func, s.memory.sizeOf(load.Type)
	at := s.addressOf(load.Operands[0])
	g, node := s.graphs[f], s.graphs[f].Node(load.Block)
	covers := map[*ir.Block][]int{} // places of stores, rising
	dominated, inBlock := false, false
	for _, i := range s.stores(f)[at.base] {
		bytes := s.written64(i.Operands[0].Of())
		if to := s.addressOf(i.Operands[1]); size == unbounded || to.at > at.at || to.at+bytes < at.at+size {
			continue
		}
		place := slices.Index(i.Block.Instrs, i)
		if place < 0 {
			continue // a counter that has been taken out
		}
		covers[i.Block] = append(covers[i.Block], place)
		if i.Block == load.Block {
			inBlock = inBlock || place < slices.Index(load.Block.Instrs, load)
			continue
		}
		for n := s.dominators[f][node]; n >= 0 && !dominated; n = s.dominators[f][n] {
			dominated = n == g.Node(i.Block)
		}
	}
	if !dominated && !inBlock {
		return nil
	}
	r := &reach{from: map[*ir.Block]int{}, load: load}
	for _, place := range covers[load.Block] {
		if place < slices.Index(load.Block.Instrs, load) {
			r.since = place
		}
	}
	if !inBlock {
		for stack := slices.Clone(g.From(node)); len(stack) > 0; {
			b := g.Blocks[stack[len(stack)-1]]
			stack = stack[:len(stack)-1]
			if _, met := r.from[b]; met {
				continue
			}
			if places := covers[b]; len(places) > 0 {
				r.from[b] = places[len(places)-1]
				continue
			}
			r.from[b] = 0
			stack = append(stack, g.From(g.Node(b))...)
		}
	}
	s.reachCallees(r)
	return r
}

// written64 returns the bytes that a store of a value writes, at most 64 bits; 0 for types in whose memory it may leave some as they are.
func (s *Slice) written64(t *ir.Type) int64 {
	bytes := s.memory.sizeOf(t)
	if bytes > 8 || !t.IsFloat() && t.Kind != ir.Pointer && (t.Kind != ir.Integer || int64(t.N) != 8*bytes) {
		return 0
	}
	return bytes
}

// reachCallees finds the functions that may run within a reach. MPI calls those of operations where it likes.
func (s *Slice) reachCallees(r *reach) {
	r.callees = map[*ir.Function]bool{}
	var stack []*ir.Function
	add := func(f *ir.Function) {
		if f != nil && !r.callees[f] {
			r.callees[f] = true
			stack = append(stack, f)
		}
	}
	for f := range s.operations {
		add(f)
	}
	visit := func(all []*ir.Instr) {
		for _, i := range all {
			add(definedCallee(i))
		}
	}
	for b, from := range r.from {
		visit(b.Instrs[from:])
	}
	visit(r.load.Block.Instrs[r.since:])
	for len(stack) > 0 {
		f := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, b := range s.graphs[f].Blocks {
			visit(b.Instrs)
		}
	}
}

// has reports whether the load may read what an instruction writes.
func (r *reach) has(w *ir.Instr) bool {
	if !writesAtOnce(w) || r.callees[w.Block.Func] {
		return true
	}
	if w.Block.Func != r.load.Block.Func {
		return false
	}
	place := slices.Index(w.Block.Instrs, w)
	if from, is := r.from[w.Block]; is && place >= from {
		return true
	}
	return w.Block == r.load.Block && place >= r.since && place < slices.Index(w.Block.Instrs, r.load)
}

// writesAtOnce reports whether an instruction writes memory while it runs, and not later, as statements of Fortran and messages without a wait may.
func writesAtOnce(i *ir.Instr) bool {
	if i.Op == ir.Store {
		return true
	}
	e := effectOf(i)
	if e == nil || e.Kind != effects.Pure && e.Kind != effects.Copy && e.Kind != effects.Course {
		return false
	}
	name := strings.ToLower(i.Calls())
	if strings.Contains(name, "comm_idup") {
		return false // the communicator is there when the request is complete
	}
	return e.Group == "" || !strings.HasPrefix(name, "mpi_i") && !strings.Contains(name, "_init")
}

// needLoad keeps what writes the memory that a load reads.
func (s *Slice) needLoad(load *ir.Instr) {
	all := s.places(load.Operands[0], load.Type)
	r := s.reachOf(load)
	if r == nil {
		s.needMemory(all, load)
		return
	}
	for _, at := range all {
		if s.trial != nil && s.memory.objects[at.object].large {
			s.trial.failed = true
			return
		}
		for _, w := range s.writers[at.object] {
			if at.overlaps(w.at) && r.has(w.Instr) {
				s.keep(w.Instr, load)
			}
		}
		for _, p := range s.receives[at.object] {
			if p.overlaps(at) && !s.isUnused(p) && (p.of != nil || r.has(p.call)) {
				s.needContent(p.group, p.kind, load)
			}
		}
	}
}
