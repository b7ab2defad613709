package slice

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"

	"gigarank/mpivirt/native/skeleton/effects"
	"gigarank/mpivirt/native/skeleton/graph"
	"gigarank/mpivirt/native/skeleton/ir"
)

// Task is a piece of computing that the skeleton leaves out: a nest of loops, a call, or a function as a whole.
type Task struct {
	ID       string   `json:"id"`   // of its place in the source
	Line     string   `json:"line"` // file:line
	Function string   `json:"function"`
	Loops    int      `json:"loops"`               // whose iterations are counted
	Shape    string   `json:"shape"`               // of what an iteration computes, and of the loops that are counted
	Unknown  []string `json:"uncounted,omitempty"` // lines of loops and calls whose iterations the skeleton cannot count
	Told     bool     `json:"told,omitempty"`      // the timed form tells the iterations that the skeleton cannot count: they are those of loops alone
}

// The functions of the runtime that begin and end a task, as void (i32), and void (i32, i64) with the iterations; and that tells iterations, likewise.
const (
	taskBegins    = effects.TaskBegins
	taskEnds      = effects.TaskEnds
	taskUncounted = effects.TaskUncounted
)

// region is blocks of a function that the skeleton leaves out as a whole, or an instruction.
type region struct {
	function *ir.Function
	nodes    []int         // in rising order
	within   map[int]bool  // nodes
	loops    []*graph.Loop // outer loops before inner ones
	landing  *ir.Block     // where all ways out of the region meet; nil for a function as a whole
	entries  map[int]bool  // nodes outside from which ways lead into it
	instr    *ir.Instr     // a task of its own
	copies   []*ir.Instr   // of memory in it
	unknown  []*ir.Instr   // calls of functions of the program in it
	counters []*counter    // of loops and copies
	ends     []*ir.Instr   // the call that ends the task
	first    *ir.Instr     // with a place
	begins   []*ir.Block   // that begin the task, before the instruction that ends the block
	whole    bool          // the blocks are all blocks of the function
	task     *Task
}

// counter counts the iterations of a loop, in a variable.
type counter struct {
	weight   int64 // instructions of the body
	loop     *ir.Instr
	variable *ir.Instr
	step     *ir.Instr   // the store of an iteration
	parts    []*ir.Instr // all instructions of the counter
}

// certain returns, by node, whether the skeleton runs the block as often as the program does.
func (s *Slice) certain(f *ir.Function) []bool {
	g := s.graphs[f]
	all := make([]bool, len(g.Blocks))
	for n := range g.Blocks {
		all[n] = !slices.ContainsFunc(s.controls[f][n], func(by int) bool { return s.kept[g.Blocks[by].Last()] == nil })
	}
	return all
}

// live reports whether the skeleton has a function.
func (s *Slice) live(f *ir.Function) bool {
	return f.Symbol.Name == "main" || slices.ContainsFunc(s.calls[f], func(i *ir.Instr) bool { return s.kept[i] != nil })
}

// regions returns the regions of all functions of the skeleton, and of functions that it leaves out as a whole and calls from certain blocks alone.
func (s *Slice) regions() (all []*region) {
	whole := map[*ir.Function]bool{}
	alone := map[*ir.Instr]*ir.Function{} // calls in certain blocks
	for _, f := range s.m.Functions() {
		if s.graphs[f] == nil || !s.live(f) {
			continue
		}
		certain := s.certain(f)
		for n, b := range s.graphs[f].Blocks {
			if !certain[n] {
				continue
			}
			for _, i := range b.Instrs {
				if callee := definedCallee(i); callee != nil && s.kept[i] == nil {
					alone[i] = callee
				}
			}
		}
	}
	for _, f := range s.m.Functions() {
		if s.graphs[f] == nil || s.live(f) || !s.heavy(f) {
			continue
		}
		whole[f] = len(s.calls[f]) > 0 && !slices.ContainsFunc(s.calls[f], func(i *ir.Instr) bool { return alone[i] == nil })
	}
	for _, f := range s.m.Functions() {
		switch {
		case s.graphs[f] == nil:
		case s.live(f):
			all = append(all, s.regionsOf(f, whole)...)
		case whole[f]:
			if r := s.wholeRegion(f); r != nil {
				all = append(all, r)
			}
		}
	}
	return all
}

// definedCallee returns the function of the program that an instruction calls, nil for none.
func definedCallee(i *ir.Instr) *ir.Function {
	if i.Op != ir.Call {
		return nil
	}
	if callee, is := i.Callee().(*ir.Symbol); is && callee.Function != nil && callee.Function.Blocks != nil {
		return callee.Function
	}
	return nil
}

// heavy reports whether a function has loops or heavy instructions.
func (s *Slice) heavy(f *ir.Function) bool {
	g := s.graphs[f]
	return len(g.Loops()) > 0 || slices.ContainsFunc(g.Blocks, func(b *ir.Block) bool { return slices.ContainsFunc(b.Instrs, heavyInstr) })
}

// heavyInstr reports whether an instruction may take a time that is worth a task.
func heavyInstr(i *ir.Instr) bool {
	if definedCallee(i) != nil {
		return true
	}
	e := effectOf(i)
	return e != nil && isCopy(i) && !smallCopy(i)
}

// isCopy reports whether an instruction copies or fills memory.
func isCopy(i *ir.Instr) bool {
	e := effectOf(i)
	return e != nil && len(i.Args()) > 2 && (e.Kind == effects.Copy || e.Kind == effects.Pure && e.Role(0) == effects.Written && e.Role(2) == effects.Value && i.Args()[2].Of().Kind == ir.Integer)
}

// smallCopy reports whether the copy has a constant size of at most a page.
func smallCopy(i *ir.Instr) bool {
	n, is := ir.IntOf(i.Args()[2])
	return is && n <= page
}

// page is the size of memory up to which an object is small.
const page = 4096

// wholeRegion returns the region of a function that the skeleton leaves out, nil if it does not return at one place.
func (s *Slice) wholeRegion(f *ir.Function) *region {
	g := s.graphs[f]
	r := &region{function: f, whole: true, within: map[int]bool{}, loops: g.Loops()}
	returns := 0
	for n, b := range g.Blocks {
		r.nodes, r.within[n] = append(r.nodes, n), true
		if b.Last().Op == ir.Ret {
			returns++
		}
	}
	if returns != 1 {
		return nil
	}
	return r
}

// regionsOf returns the regions of a function of the skeleton: the connected parts of the blocks that are not certain, and heavy instructions in
// certain blocks. Functions that are regions as a whole have their calls timed there.
func (s *Slice) regionsOf(f *ir.Function, whole map[*ir.Function]bool) (all []*region) {
	g, certain := s.graphs[f], s.certain(f)
	loops := g.Loops()
	met := make([]bool, len(g.Blocks))
	for n, b := range g.Blocks {
		if certain[n] {
			for _, i := range b.Instrs {
				if s.kept[i] == nil && heavyInstr(i) && !whole[definedCallee(i)] {
					all = append(all, &region{function: f, instr: i})
				}
			}
			continue
		}
		if met[n] {
			continue
		}
		if r := s.connected(f, n, certain, met); r != nil {
			for _, l := range loops {
				if r.within[l.Header] {
					r.loops = append(r.loops, l)
				}
			}
			if len(r.loops) > 0 || slices.ContainsFunc(r.nodes, func(n int) bool { return slices.ContainsFunc(g.Blocks[n].Instrs, heavyInstr) }) {
				all = append(all, r)
			}
		}
	}
	return all
}

// connected returns the region around a node, nil if its ways do not meet in one block.
func (s *Slice) connected(f *ir.Function, start int, certain, met []bool) *region {
	g := s.graphs[f]
	r := &region{function: f, within: map[int]bool{}, entries: map[int]bool{}}
	met[start] = true
	single := true
	stack := []int{start}
	visit := func(n int) {
		if !met[n] {
			met[n] = true
			stack = append(stack, n)
		}
	}
	onward := func(n int) {
		for _, next := range g.To(n) {
			switch to := g.Blocks[next]; {
			case !certain[next]:
				visit(next)
			case r.landing == nil:
				r.landing = to
			default:
				single = single && r.landing == to
			}
		}
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		r.nodes, r.within[n] = append(r.nodes, n), true
		onward(n)
		single = single && len(g.To(n)) > 0
		for _, from := range g.From(n) {
			if !certain[from] {
				visit(from)
			} else if !r.entries[from] {
				r.entries[from] = true
				if s.kept[g.Blocks[from].Last()] == nil {
					onward(from) // the skeleton leaves this branch out: all its ways belong together
				}
			}
		}
	}
	if !single || r.landing == nil {
		return nil
	}
	slices.Sort(r.nodes)
	return r
}

// WithTasks marks the tasks of the program in its module, which is the program's timed form from here on, and returns the slice of that form and
// its tasks. A skeleton of the timed form counts iterations where it can.
func (s *Slice) WithTasks() (*Slice, []*Task, error) {
	m := s.m
	i32, i64 := m.Int(32), m.Int(64)
	if err := m.Declare(taskBegins, m.Void(), i32); err != nil {
		return nil, nil, err
	}
	for _, name := range []string{taskEnds, taskUncounted} {
		if err := m.Declare(name, m.Void(), i32, i64); err != nil {
			return nil, nil, err
		}
	}
	regions := s.regions()
	var tasks []*Task
	k := marker{s: s, m: m, ids: map[string]int{}}
	for n, r := range regions {
		r.task = k.describe(r)
		tasks = append(tasks, r.task)
		k.mark(r, n)
	}
	marked, err := of(m, s.directives, s.open)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range regions {
		marked.count(r)
		r.task.Shape = digest(fmt.Sprint(r.task.Shape, r.task.Loops, r.task.Unknown))
	}
	return marked, tasks, nil
}

// directories of a file are no part of the identity of a task: a program may be built for other sizes elsewhere.
var directories = regexp.MustCompile(`\S*/`)

// describe returns the task of a region.
func (k *marker) describe(r *region) *Task {
	t := &Task{Function: r.function.Symbol.Name}
	r.first = r.instr
	g := k.s.graphs[r.function]
	if r.instr == nil {
		from := r.nodes
		if len(r.loops) > 0 {
			from = r.loops[0].Nodes
		}
		for _, n := range from {
			for _, i := range g.Blocks[n].Instrs {
				if p := k.m.Position(i); p != nil && p.Line > 0 && (r.first == nil || earlier(p, k.m.Position(r.first))) {
					r.first = i
				}
			}
		}
		for _, n := range r.nodes {
			for _, i := range g.Blocks[n].Instrs {
				switch callee := definedCallee(i); {
				case callee != nil && k.s.heavy(callee):
					r.unknown = append(r.unknown, i)
				case callee == nil && heavyInstr(i):
					r.copies = append(r.copies, i)
				}
			}
		}
		if r.first == nil {
			r.first = k.beside(r, g)
		}
	} else if definedCallee(r.instr) != nil {
		r.unknown = []*ir.Instr{r.instr}
	}
	place := fmt.Sprintf("%s:%d", k.m.File, 0)
	t.Line = place
	if p := k.m.Position(r.first); p != nil && p.Line > 0 {
		t.Line = fmt.Sprintf("%s:%d", p.File, p.Line)
		place = directories.ReplaceAllString(fmt.Sprintf("%s, column %d", p, p.Column), "")
	}
	t.Shape = k.shapeOf(r, g)
	place += " of " + t.Function
	k.ids[place]++
	t.ID = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s, %d", place, k.ids[place])))[:12]
	for _, i := range r.unknown {
		if line := k.s.shortPlace(i); !slices.Contains(t.Unknown, line) {
			t.Unknown = append(t.Unknown, line)
		}
	}
	return t
}

// beside returns an instruction with a place near a region that has none: compilers give none to some code of their own.
func (k *marker) beside(r *region, g *graph.Graph) *ir.Instr {
	var blocks []*ir.Block
	if r.landing != nil {
		blocks = append(blocks, r.landing)
	}
	for n, b := range g.Blocks {
		if r.entries[n] {
			blocks = append(blocks, b)
		}
	}
	for _, b := range blocks {
		for _, i := range b.Instrs {
			if p := k.m.Position(i); p != nil && p.Line > 0 {
				return i
			}
		}
	}
	return g.Blocks[r.nodes[0]].Instrs[0]
}

// earlier reports whether a place comes before another one: in the outer function, or above it in the same one.
func earlier(p, q *ir.Position) bool {
	depth := func(p *ir.Position) (n int) {
		for ; p.Caller != nil; p = p.Caller {
			n++
		}
		return n
	}
	if a, b := depth(p), depth(q); a != b {
		return a < b
	}
	return p.File == q.File && (p.Line < q.Line || p.Line == q.Line && p.Column < q.Column)
}

// shortPlace returns where an instruction stands in the source, without the places to which it was inlined.
func (s *Slice) shortPlace(i *ir.Instr) string {
	if p := s.m.Position(i); p != nil && p.Line > 0 {
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return s.place(i)
}

// marker puts tasks into a module.
type marker struct {
	s   *Slice
	m   *ir.Module
	ids map[string]int // tasks of a place
}

// mark puts the calls that begin and end a task into the module, and counters into its loops.
func (k *marker) mark(r *region, number int) {
	m := k.m
	g := k.s.graphs[r.function]
	id := ir.Number(m.Int(32), int64(number))
	begin := func(b *ir.Block) []*ir.Instr {
		call := m.Make(b, ir.Call, nil, id, m.Symbol(taskBegins))
		call.Notes = placeOf(r.first)
		return []*ir.Instr{call}
	}
	end := func(b *ir.Block) []*ir.Instr {
		call := m.Make(b, ir.Call, nil, id, ir.Number(m.Int(64), 0), m.Symbol(taskEnds))
		call.Notes = placeOf(r.first)
		r.ends = append(r.ends, call)
		return []*ir.Instr{call}
	}
	switch {
	case r.instr != nil:
		b := r.instr.Block
		at := slices.Index(b.Instrs, r.instr)
		before := begin(b)
		after := end(b)
		if isCopy(r.instr) {
			r.task.Loops = 1
			k.countBytes(r, after[0])
		}
		b.Instrs = slices.Concat(b.Instrs[:at], before, []*ir.Instr{r.instr}, after, b.Instrs[at+1:])
		return
	case r.whole:
		first := r.function.Blocks[0]
		at := slices.IndexFunc(first.Instrs, func(i *ir.Instr) bool { return i.Op != ir.Alloca })
		first.Instrs = slices.Insert(first.Instrs, at, begin(first)...)
		r.begins = []*ir.Block{first}
		for _, b := range g.Blocks {
			if b.Last().Op == ir.Ret {
				b.Instrs = slices.Insert(b.Instrs, len(b.Instrs)-1, end(b)...)
			}
		}
	default:
		landing := k.land(r, g)
		landing.Instrs = slices.Insert(landing.Instrs, len(landing.Instrs)-1, end(landing)...)
		for n := range g.Blocks {
			if r.entries[n] {
				for _, b := range k.enter(r, g, n) {
					b.Instrs = slices.Insert(b.Instrs, len(b.Instrs)-1, begin(b)...)
					r.begins = append(r.begins, b)
				}
			}
		}
	}
	for _, l := range r.loops {
		k.countLoop(r, g, l)
	}
	for _, i := range r.copies {
		k.countCopy(r, i)
	}
}

// land returns a new block in front of the landing of a region, to which all ways out of the region lead.
func (k *marker) land(r *region, g *graph.Graph) *ir.Block {
	landing := k.m.NewBlock(r.function, r.landing)
	landing.Last().Notes = placeOf(r.first)
	out := map[*ir.Block]bool{}
	leave := func(n int) {
		b := g.Blocks[n]
		for at, to := range b.Last().Targets {
			if to == r.landing {
				b.Last().Targets[at], out[b] = landing, true
			}
		}
	}
	for _, n := range r.nodes {
		leave(n)
	}
	for n := range g.Blocks {
		// The skeleton has no branch of an entry from which a way leads around the region: that way ends the task, too.
		if r.entries[n] && k.s.kept[g.Blocks[n].Last()] == nil {
			leave(n)
		}
	}
	redirect(k.m, r.landing, landing, out)
	return landing
}

// redirect gives the operands of phis that come from some blocks to phis of a new block in between.
func redirect(m *ir.Module, to, between *ir.Block, out map[*ir.Block]bool) {
	for _, i := range to.Instrs {
		if i.Op != ir.Phi {
			return
		}
		made := m.Make(between, ir.Phi, i.Result.Type)
		made.Notes = placeOf(i)
		var operands []ir.Value
		var from []*ir.Block
		for n, source := range i.Targets {
			if out[source] {
				made.Operands, made.Targets = append(made.Operands, i.Operands[n]), append(made.Targets, source)
			} else {
				operands, from = append(operands, i.Operands[n]), append(from, source)
			}
		}
		i.Operands, i.Targets = append(operands, made.Result), append(from, between)
		at := slices.IndexFunc(between.Instrs, func(i *ir.Instr) bool { return i.Op != ir.Phi })
		between.Instrs = slices.Insert(between.Instrs, at, made)
	}
}

// enter returns the blocks that begin a task behind an entry: the entry itself, or, if its branch, which the skeleton keeps, leads elsewhere, too, new
// blocks on its ways into the region.
func (k *marker) enter(r *region, g *graph.Graph, n int) (all []*ir.Block) {
	b := g.Blocks[n]
	last := b.Last()
	if k.s.kept[last] == nil || !slices.ContainsFunc(last.Targets, func(to *ir.Block) bool { return to != last.Targets[0] }) {
		return []*ir.Block{b}
	}
	for _, to := range slices.Clone(last.Targets) {
		if node := g.Node(to); node < 0 || !r.within[node] || !slices.Contains(last.Targets, to) {
			continue
		}
		between := k.m.NewBlock(r.function, to)
		between.Last().Notes = placeOf(r.first)
		for at, target := range last.Targets {
			if target == to {
				last.Targets[at] = between
			}
		}
		redirect(k.m, to, between, map[*ir.Block]bool{b: true})
		all = append(all, between)
	}
	return all
}

// countLoop puts a counter of iterations into a loop of a region.
func (k *marker) countLoop(r *region, g *graph.Graph, l *graph.Loop) {
	header := g.Blocks[l.Header]
	c := &counter{weight: r.bodyOf(g, l), loop: header.Last()}
	for _, n := range l.Nodes {
		for _, i := range g.Blocks[n].Instrs {
			if p, q := k.m.Position(i), k.m.Position(c.loop); p != nil && p.Line > 0 && (q == nil || q.Line == 0 || earlier(p, q)) {
				c.loop = i
			}
		}
	}
	k.add(r, c, header, slices.IndexFunc(header.Instrs, func(i *ir.Instr) bool { return i.Op != ir.Phi }), ir.Number(k.m.Int(64), 1))
}

// bodyOf returns the number of instructions of a loop that are in no inner loop.
func (r *region) bodyOf(g *graph.Graph, l *graph.Loop) int64 { return int64(len(r.own(g, l))) }

// own returns the instructions of a loop that are in no inner loop, without hints.
func (r *region) own(g *graph.Graph, l *graph.Loop) (all []*ir.Instr) {
	for _, n := range l.Nodes {
		inner := slices.ContainsFunc(r.loops, func(other *graph.Loop) bool {
			_, within := slices.BinarySearch(l.Nodes, other.Header)
			_, is := slices.BinarySearch(other.Nodes, n)
			return other != l && within && is && other.Header != l.Header && len(other.Nodes) < len(l.Nodes)
		})
		if inner {
			continue
		}
		for _, i := range g.Blocks[n].Instrs {
			if e := effectOf(i); e == nil || !isHint(e) {
				all = append(all, i)
			}
		}
	}
	return all
}

// isHint reports whether a function only tells the compiler something.
func isHint(e *effects.Effect) bool { return e.Kind == effects.Hint }

// countCopy puts a counter of words in front of an instruction of a region that copies memory.
func (k *marker) countCopy(r *region, copies *ir.Instr) {
	size, b := copies.Args()[2], copies.Block
	if size.Of().N != 64 {
		return
	}
	words := k.m.Make(b, ir.LShr, size.Of(), size, ir.Number(size.Of(), 3))
	c := &counter{weight: 1, loop: copies, parts: []*ir.Instr{words}}
	at := slices.Index(b.Instrs, copies)
	b.Instrs = slices.Insert(b.Instrs, at, words)
	k.add(r, c, b, at+1, words.Result)
}

// add puts a counter into a module: a variable, which is 0 where the task begins, and instructions at a place of a block that add a number.
func (k *marker) add(r *region, c *counter, b *ir.Block, at int, number ir.Value) {
	m, i64, first := k.m, k.m.Int(64), r.function.Blocks[0]
	c.variable = m.Make(first, ir.Alloca, m.Pointer())
	c.variable.Type, c.variable.Suffix = i64, ", align 8"
	load := m.Make(b, ir.Load, i64, c.variable.Result)
	sum := m.Make(b, ir.Add, i64, load.Result, number)
	c.step = m.Make(b, ir.Store, nil, sum.Result, c.variable.Result)
	c.parts = append(c.parts, c.variable, load, sum, c.step)
	b.Instrs = slices.Insert(b.Instrs, at, load, sum, c.step)
	first.Instrs = slices.Insert(first.Instrs, 0, c.variable)
	for _, b := range r.begins {
		reset := m.Make(b, ir.Store, nil, ir.Number(i64, 0), c.variable.Result)
		c.parts = append(c.parts, reset)
		at := len(b.Instrs) - 1
		if r.whole {
			at = slices.IndexFunc(b.Instrs, func(i *ir.Instr) bool { return i.Op != ir.Alloca })
		}
		b.Instrs = slices.Insert(b.Instrs, at, reset)
	}
	r.counters = append(r.counters, c)
}

// countBytes has a task of an instruction that copies memory count bytes, in portions.
func (k *marker) countBytes(r *region, end *ir.Instr) {
	size := r.instr.Args()[2]
	if size.Of().N == 64 {
		end.Operands[1] = size
	}
}
