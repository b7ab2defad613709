package slice

import (
	"slices"

	"gigarank/mpivirt/native/skeleton/effects"
	"gigarank/mpivirt/native/skeleton/ir"
)

// enders are the functions that end a rank.
var enders = []string{"MPI_Abort", "mpi_abort_", "exit", "_exit", "_Exit", "abort", "__assert_fail", "_FortranAStopStatement", "_FortranAStopStatementText", "_FortranAExit", "_FortranAAbort",
	"_FortranAReportFatalUserError"}

// finalizers are the functions behind which a rank may end without a failure of the run.
var finalizers = []string{"MPI_Finalize", "mpi_finalize_", "MPI_Session_finalize"}

// flow tells of the functions of a program how they end.
type flow struct {
	s        *Slice
	courses  map[*ir.Function]bool // that may make a call of the course
	lasts    map[*ir.Function]bool // that do not return: they end the rank, and make no call of the course before
	finishes map[*ir.Function]bool // that may call MPI_Finalize
	late     map[*ir.Function]bool // that may be called behind it
}

// closeEnds closes the ways of branches that lead to nothing but the end of the rank, before MPI_Finalize: a run in which a rank ends
// so fails. Branches of which a directive says where they go have the other way closed already; those that are open stay so.
func (s *Slice) closeEnds() {
	w := &flow{s: s, courses: map[*ir.Function]bool{}, lasts: map[*ir.Function]bool{}, finishes: map[*ir.Function]bool{}, late: map[*ir.Function]bool{}}
	w.solve()
	for _, f := range s.m.Functions() {
		g := s.graphs[f]
		if g == nil || w.late[f] {
			continue
		}
		last, late := w.last(f), w.behind(f)
		for n, b := range g.Blocks {
			branch := b.Last()
			if branch.Op != ir.Br || len(branch.Targets) != 2 || last[n] || late[n] || slices.ContainsFunc(b.Instrs, w.isFinish) || s.open[branch] {
				continue
			}
			if _, is := s.closed[branch]; is {
				continue
			}
			for way, to := range branch.Targets {
				if last[g.Node(to)] {
					s.closed[branch] = way
					s.ends = append(s.ends, branch)
				}
			}
		}
	}
}

// Failures returns the lines of the branches whose way to the end of a failing run is left out, and those of reductions that fail in the program if their two buffers
// are one. It is for a module that [Slice.Emit] has changed.
func (s *Slice) Failures() (lines []string) {
	lines = s.linesOf(s.ends)
	for _, line := range s.linesOf(s.unsure) {
		lines = append(lines, line+" (the buffers may be one)")
	}
	return lines
}

// linesOf returns the lines of instructions, each once.
func (s *Slice) linesOf(all []*ir.Instr) (lines []string) {
	for _, i := range all {
		if line := s.shortPlace(i); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// solve finds what functions do, those that they call included.
func (w *flow) solve() {
	for changed := true; changed; {
		changed = false
		set := func(of map[*ir.Function]bool, f *ir.Function, is bool) {
			if is && !of[f] {
				of[f], changed = true, true
			}
		}
		for _, f := range w.s.m.Functions() {
			g := w.s.graphs[f]
			if g == nil {
				continue
			}
			behind := w.behind(f)
			for n, b := range g.Blocks {
				late := behind[n] || w.late[f]
				for _, i := range b.Instrs {
					callee := definedCallee(i)
					set(w.courses, f, isCourse(i) || w.courses[callee])
					set(w.late, callee, callee != nil && late)
					late = late || w.isFinish(i)
				}
				set(w.finishes, f, slices.ContainsFunc(b.Instrs, w.isFinish))
			}
			set(w.lasts, f, w.last(f)[0])
		}
	}
}

// isCourse reports whether an instruction is a call of the course that does not end the rank.
func isCourse(i *ir.Instr) bool {
	e := effectOf(i)
	return e != nil && e.Kind == effects.Course && !slices.Contains(enders, i.Calls())
}

// isFinish reports whether an instruction may call MPI_Finalize.
func (w *flow) isFinish(i *ir.Instr) bool {
	return slices.Contains(finalizers, i.Calls()) || w.finishes[definedCallee(i)]
}

// behind returns, by node of a function, whether the function may have called MPI_Finalize where the block begins.
func (w *flow) behind(f *ir.Function) []bool {
	g := w.s.graphs[f]
	late := make([]bool, len(g.Blocks))
	var stack []int
	onward := func(n int) {
		for _, to := range g.To(n) {
			if !late[to] {
				late[to] = true
				stack = append(stack, to)
			}
		}
	}
	for n, b := range g.Blocks {
		if slices.ContainsFunc(b.Instrs, w.isFinish) {
			onward(n)
		}
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		onward(n)
	}
	return late
}

// end tells how ways from a block may end: the rank may end, and it may return or make a call of the course before.
type end struct{ ends, goes bool }

// endOf returns how a block ends the ways from it, and whether it does; else they go on to other blocks.
func (w *flow) endOf(b *ir.Block) (e end, is bool) {
	for _, i := range b.Instrs {
		callee := definedCallee(i)
		switch {
		case slices.Contains(enders, i.Calls()) || w.lasts[callee]:
			return end{ends: true}, true
		case i.Op == ir.Ret || isCourse(i) || w.courses[callee]:
			return end{goes: true}, true
		}
	}
	return end{}, false
}

// last returns, by node of a function, whether all ways from there end the rank without a call of the course before.
func (w *flow) last(f *ir.Function) []bool {
	g := w.s.graphs[f]
	ways, fixed := make([]end, len(g.Blocks)), make([]bool, len(g.Blocks))
	for n, b := range g.Blocks {
		ways[n], fixed[n] = w.endOf(b)
	}
	for changed := true; changed; {
		changed = false
		for n := range g.Blocks {
			if fixed[n] {
				continue
			}
			for _, to := range g.To(n) {
				if sum := (end{ways[n].ends || ways[to].ends, ways[n].goes || ways[to].goes}); sum != ways[n] {
					ways[n], changed = sum, true
				}
			}
		}
	}
	all := make([]bool, len(g.Blocks))
	for n, e := range ways {
		all[n] = e.ends && !e.goes
	}
	return all
}
